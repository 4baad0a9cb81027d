//! Runs of known variance, without any file system, that are repeated until the figures of their answer are precise: how
//! often is the precision reached, how often do the intervals then hold the truth, and what does it take?

use boatload::analysis::Analysis;
use boatload::analysis::repetition::{
    PassCost, PrecisionGoal, RepetitionCosts, choose_repetition, is_precise, precision_goals,
};
use boatload::analysis::statistics::Interval;
use boatload::plan::Conclusion;
use boatload::plan::repetition::{PILOT_PASSES, PILOT_REPEATS, Passes};
use boatload::results::book::{Book, CellKey, Level, Measurement};

use super::noise::Source;

/// What is so.
#[derive(Clone, Copy)]
pub(crate) struct AnsweredTruth {
    /// What the job asks for.
    pub(crate) kind: Conclusion,
    /// Variants, each so many times as slow as the one before it.
    pub(crate) variants: usize,
    pub(crate) times: f64,
    /// Levels of the axis; 0 without one.
    pub(crate) levels: usize,
    /// Standard deviation of a repeat of one variant at one level.
    pub(crate) repeats: f64,
    /// Standard deviation of a pass of `read`, which takes half of the time.
    pub(crate) passes: f64,
}

/// What came of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct AnsweredOutcome {
    pub(crate) repeats: u32,
    pub(crate) looks: u32,
    pub(crate) reached: bool,
    /// Whether all figures of the answer hold the truth together.
    pub(crate) held: bool,
}

/// Repeats after which a run ends that never becomes precise.
const REPEATS_MAX: u32 = 400;

impl AnsweredTruth {
    pub(crate) fn run(&self, precision: f64, source: &mut Source) -> AnsweredOutcome {
        let key = |variant: usize| (variant.to_string(), "read".to_string());
        let free: Passes = (0..self.variants).map(|v| (key(v), PILOT_PASSES)).collect();
        let phases = (0..self.variants).map(|v| PassCost { key: key(v), seconds: 1.0 }).collect();
        let costs = RepetitionCosts { repeat_seconds: 4.0 * self.variants as f64, phases };
        let mut book = self.book();
        let (mut passes, mut stop, mut done) = (free.clone(), PILOT_REPEATS, 0);
        let mut outcome = AnsweredOutcome::default();
        loop {
            while done < stop {
                done += 1;
                self.repeat(done, &passes, &mut book, source);
            }
            outcome.looks += 1;
            let analysis = Analysis::of(&book);
            let goals = precision_goals(&analysis, &free);
            let goal = PrecisionGoal { precision, seconds: f64::INFINITY };
            let choice = choose_repetition(&goals, &costs, done, goal).taken;
            if choice.more == 0 || done >= REPEATS_MAX {
                outcome.held = self.holds(&analysis);
                outcome.reached = is_precise(&goals, precision);
                outcome.repeats = done;
                return outcome;
            }
            stop = choice.looks_again_after();
            passes = choice.passes;
        }
    }

    fn book(&self) -> Book {
        let mut book = Book::default();
        book.run.conclude = vec![self.kind];
        book.run.complete = true;
        book.variants = (0..self.variants).map(|v| v.to_string()).collect();
        book.phases = vec!["create".into(), "read".into()];
        book.levels = (0..self.levels).map(level).collect();
        book
    }

    fn repeat(&self, repeat: u32, passes: &Passes, book: &mut Book, source: &mut Source) {
        for variant in 0..self.variants {
            for at in 0..self.levels.max(1) {
                let own = (self.repeats * source.normal()).exp() * self.times.powi(variant as i32);
                let level = (self.levels > 0).then(|| level(at));
                let cell = CellKey { variant: variant.to_string(), level, repeat };
                let of_phase = |phase: &str, pass: u32, seconds: f64| Measurement {
                    cell: cell.clone(),
                    phase: phase.into(),
                    operation: phase.into(),
                    pass,
                    operations: 1_000_000,
                    seconds,
                    ..Measurement::default()
                };
                book.measurements.push(of_phase("create", 1, own));
                for pass in 1..=passes[&(variant.to_string(), "read".to_string())] {
                    let off = (self.passes * source.normal()).exp();
                    book.measurements.push(of_phase("read", pass, own * off));
                }
            }
        }
    }

    /// Ratios are those of the variants in their order; over levels nothing changes.
    fn holds(&self, analysis: &Analysis<'_>) -> bool {
        let figures = analysis.answer().map_or(Vec::new(), |answer| answer.figures.clone());
        !figures.is_empty()
            && figures.iter().all(|figure| {
                let truth = match (self.kind, figure.variants.as_slice()) {
                    (Conclusion::Slope, _) => 0.0,
                    (Conclusion::Crossover | Conclusion::Ranking, [first, second]) => {
                        let number = |name: &String| name.parse().unwrap_or(0);
                        self.times.powi(number(second) - number(first))
                    }
                    _ => 1.0,
                };
                // Of the levels it is the one from which on a slowdown is the least excluded.
                let is_limit = self.kind == Conclusion::Knee;
                let holds = |interval: Interval| {
                    interval.contains(truth) || is_limit && truth <= interval.high
                };
                figure.interval.is_some_and(holds)
            })
    }
}

fn level(at: usize) -> Level {
    Level { axis: "files".into(), value: 1_000.0 * (at + 1) as f64, ..Level::default() }
}
