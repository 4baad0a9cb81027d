//! Runs of known variance, without any file system: how often is a precision reached that was asked
//! for, how often does the interval then hold the truth, and what does it take?

use boatload::analysis::repetition::{
    PassCost, PrecisionGoal, RepetitionCosts, choose_repetition, is_precise, rate_forecasts,
    rate_precisions, repeat_seconds,
};
use boatload::plan::repetition::{PILOT_PASSES, PILOT_REPEATS, Passes};
use boatload::results::book::{CellKey, Measurement};

use super::noise::Source;

/// What is so.
#[derive(Clone, Copy)]
pub(crate) struct Truth {
    /// Standard deviation of repeats.
    pub(crate) repeats: f64,
    /// Standard deviation of passes.
    pub(crate) passes: f64,
    /// Variants, all alike.
    pub(crate) variants: usize,
    /// Seconds of a repeat of all variants outside of the phase.
    pub(crate) repeat_seconds: f64,
    /// Seconds of a pass of all variants.
    pub(crate) pass_seconds: f64,
}

/// What came of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Outcome {
    pub(crate) repeats: u32,
    /// Passes of the last repeat.
    pub(crate) passes: u32,
    pub(crate) looks: u32,
    pub(crate) seconds: f64,
    pub(crate) reached: bool,
    /// Whether the interval of the first variant holds the truth.
    pub(crate) held: bool,
}

const OPERATIONS: u64 = 1_000_000;

impl Truth {
    /// A run that is to be so sure, within so many seconds.
    pub(crate) fn run(&self, precision: f64, seconds: f64, source: &mut Source) -> Outcome {
        let key = |variant: usize| (variant.to_string(), "read".to_string());
        let free: Passes = (0..self.variants).map(|v| (key(v), PILOT_PASSES)).collect();
        let each = self.pass_seconds / self.variants as f64;
        let phases = (0..self.variants).map(|v| PassCost { key: key(v), seconds: each });
        let costs =
            RepetitionCosts { repeat_seconds: self.repeat_seconds, phases: phases.collect() };
        let mut all: Vec<Measurement> = Vec::new();
        let (mut passes, mut stop, mut done) = (free.clone(), PILOT_REPEATS, 0);
        let mut outcome = Outcome::default();
        loop {
            while done < stop {
                done += 1;
                outcome.seconds += repeat_seconds(&costs, &passes);
                for variant in 0..self.variants {
                    let passes = passes[&key(variant)];
                    self.repeat(variant, (done, passes), &mut all, source);
                    outcome.passes = passes;
                }
            }
            outcome.looks += 1;
            let measured: Vec<&Measurement> = all.iter().collect();
            let found = rate_precisions(&measured, &free);
            let goals = rate_forecasts(&measured, &free);
            let left = seconds - outcome.seconds;
            let choice =
                choose_repetition(&goals, &costs, done, PrecisionGoal { precision, seconds: left })
                    .taken;
            if choice.more == 0 {
                let means = means(&all, "0");
                let mean = means.iter().sum::<f64>() / means.len() as f64;
                let half = found[0].half_width.unwrap_or(f64::INFINITY) * mean;
                outcome.held = (mean - 1.0).abs() <= half;
                outcome.reached = is_precise(&goals, precision);
                outcome.repeats = done;
                return outcome;
            }
            stop = choice.looks_again_after();
            passes = choice.passes;
        }
    }

    fn repeat(
        &self,
        variant: usize,
        (repeat, passes): (u32, u32),
        all: &mut Vec<Measurement>,
        source: &mut Source,
    ) {
        let own = self.repeats * source.normal();
        for pass in 1..=passes {
            let rate = (1.0 + own + self.passes * source.normal()).max(0.1);
            let variant = variant.to_string();
            all.push(Measurement {
                cell: CellKey { variant, level: None, repeat },
                phase: "read".into(),
                pass,
                operations: OPERATIONS,
                seconds: OPERATIONS as f64 / rate / 1e6,
                ..Measurement::default()
            });
        }
    }
}

/// Mean rates of the repeats, of which the truth is 1.
fn means(all: &[Measurement], variant: &str) -> Vec<f64> {
    let of = |m: &&Measurement| m.cell.variant == variant;
    let mut repeats: Vec<Vec<f64>> = Vec::new();
    for m in all.iter().filter(of) {
        let at = m.cell.repeat as usize - 1;
        repeats.resize(repeats.len().max(at + 1), Vec::new());
        repeats[at].push(m.operations_per_second() / 1e6);
    }
    repeats.iter().map(|passes| passes.iter().sum::<f64>() / passes.len() as f64).collect()
}
