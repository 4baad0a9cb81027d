//! Warns that from some operation on a phase takes longer or shorter, if repeats agree on it.

use std::cmp::Ordering;

use super::table::{JumpFigures, WarningCode, WarningFinding};
use crate::analysis::change::{LatencyStep, latency_steps};
use crate::analysis::figures::RunFigures;
use crate::analysis::findings::say;
use crate::analysis::statistics::describe::mean;
use crate::base::units::{counted, grouped};
use crate::plan::{CacheAsked, DEFAULT_VARIANT};
use crate::results::book::{Level, Measurement};
use crate::results::order::phase_cells;

/// Repeats agree on a place that differs by less than this share of the phase.
const PLACE_SAME: f64 = 0.07;

/// This share of the measurements, and at least two, must have a step at the place.
const SHARE_MIN: f64 = 0.5;
const MEASUREMENTS_MIN: usize = 2;

/// Where any of them was disturbed, all must, and at least three.
const DISTURBED_MIN: usize = 3;

/// A step by this ratio counts in a single measurement too, unless that was disturbed.
const ALONE_RATIO_MIN: f64 = 2.0;

/// A slice of fewer operations says more of these than of its time.
const SLICE_OPERATIONS_MIN: u64 = 10;

/// From one operation on, a phase took longer or shorter.
#[derive(Clone, Debug, PartialEq)]
struct PhaseJump {
    phase: String,
    level: Option<Level>,
    figures: JumpFigures,
}

impl PhaseJump {
    fn warning(self) -> WarningFinding {
        let Self { phase, level, figures } = self;
        let variant = Some(&figures.variant).filter(|name| *name != DEFAULT_VARIANT);
        let of = variant.map_or_else(String::new, |variant| format!(" of {variant}"));
        let at = level.map_or_else(String::new, |level| format!(" at {}", say::level(&level)));
        let sentence = format!(
            "{phase}{of}{at}: latency {} to {} times at operation {} of {} in {} of {}.",
            if figures.ratio > 1.0 { "jumps" } else { "falls" },
            say::times(figures.ratio),
            grouped(figures.at),
            grouped(figures.operations),
            figures.jumped,
            counted(figures.n as u64, "measurement")
        );
        let hint = "The mean lies between both. Look for what fills up there: a journal, a cache, \
                    memory.";
        let one = WarningFinding::about_phases(WarningCode::Jump, vec![phase], sentence, hint);
        WarningFinding { jump: Some(figures), ..one }
    }
}

/// The largest step of each phase and variant that repeats agree on, or that is large.
pub(super) fn jumped(analysis: &RunFigures<'_>) -> Vec<WarningFinding> {
    jumps(analysis).into_iter().map(PhaseJump::warning).collect()
}

fn jumps(analysis: &RunFigures<'_>) -> Vec<PhaseJump> {
    let judged = analysis.book.measurements.iter();
    let judged = judged.filter(|m| m.valid() && series(m).is_some());
    let mut found: Vec<PhaseJump> = Vec::new();
    let size = |jump: &PhaseJump| jump.figures.ratio.ln().abs();
    for jump in phase_cells(judged).iter().filter_map(|cell| of_cell(analysis, &cell.measurements))
    {
        let of = |jump: &PhaseJump| (jump.phase.clone(), jump.figures.variant.clone());
        match found.iter_mut().find(|known| of(known) == of(&jump)) {
            None => found.push(jump),
            Some(known) if size(known) < size(&jump) => *known = jump,
            Some(_) => {}
        }
    }
    found
}

/// Medians of windows, or means of slices. Not of a phase that begins cold: what it reads brings the
/// rest nearer.
fn series(m: &Measurement) -> Option<Vec<f64>> {
    let slices = m.slices_ns.len() as u64;
    let series: Vec<f64> = match m.windows.as_slice() {
        [] if m.operations < slices * SLICE_OPERATIONS_MIN => return None,
        [] => m.slices_ns.clone(),
        windows => windows.iter().map(|window| window.p50_ns as f64).collect(),
    };
    (m.cache.asked != CacheAsked::Cold && !series.is_empty()).then_some(series)
}

/// Steps of several measurements at one place, at most one of each.
struct AgreedStep {
    measurements: usize,
    /// The mean of their places.
    at: f64,
    /// The logarithm of how many times as long operations take from there on, in the geometric mean.
    log_ratio: f64,
}

impl AgreedStep {
    /// The steps at the place of this one, of each measurement the nearest.
    fn around(step: &LatencyStep, all: &[Vec<LatencyStep>]) -> Self {
        let distance = |other: &LatencyStep| (other.at - step.at).abs();
        let nearest = |own: &Vec<LatencyStep>| {
            let same_way = own.iter().filter(|other| (other.ratio > 1.0) == (step.ratio > 1.0));
            let near = same_way.filter(|other| distance(other) <= PLACE_SAME);
            near.min_by(|a, b| distance(a).total_cmp(&distance(b))).copied()
        };
        let near: Vec<LatencyStep> = all.iter().filter_map(nearest).collect();
        let mean_of =
            |of: fn(&LatencyStep) -> f64| mean(&near.iter().map(of).collect::<Vec<f64>>());
        let (at, log_ratio) = (mean_of(|step| step.at), mean_of(|step| step.ratio.ln()));
        Self { measurements: near.len(), at, log_ratio }
    }

    /// The order of the number of measurements, then of the size.
    fn compare(&self, other: &Self) -> Ordering {
        let size = self.log_ratio.abs().total_cmp(&other.log_ratio.abs());
        self.measurements.cmp(&other.measurements).then(size)
    }
}

/// The step that most measurements agree on, the largest of these.
fn of_cell(analysis: &RunFigures<'_>, cell: &[&Measurement]) -> Option<PhaseJump> {
    let steps = |m: &&Measurement| series(m).map_or(Vec::new(), |series| latency_steps(&series));
    let all: Vec<Vec<LatencyStep>> = cell.iter().map(steps).collect();
    let disturbed = cell.iter().any(|m| analysis.disturbed(m));
    let share = (SHARE_MIN * cell.len() as f64).ceil() as usize;
    let enough =
        if disturbed { DISTURBED_MIN.max(cell.len()) } else { share.max(MEASUREMENTS_MIN) };
    let counts = |step: &AgreedStep| {
        let is_large = !disturbed && step.log_ratio.abs() >= ALONE_RATIO_MIN.ln();
        step.measurements >= enough || is_large
    };
    let agreed = all.iter().flatten().map(|step| AgreedStep::around(step, &all)).filter(counts);
    let best = agreed.max_by(AgreedStep::compare)?;
    let m = cell.first()?;
    let figures = JumpFigures {
        variant: m.cell.variant.clone(),
        at: (best.at * m.operations as f64).round() as u64,
        operations: m.operations,
        ratio: best.log_ratio.exp(),
        jumped: best.measurements,
        n: cell.len(),
    };
    Some(PhaseJump { phase: m.phase.clone(), level: m.cell.level.clone(), figures })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::Analysis;
    use crate::results::book::Book;
    use crate::results::fixture;

    /// A book of measurements whose slices take three times as long from a place on; none for 1.
    fn book(places: &[f64]) -> Book {
        let mut book = fixture::book();
        let like = book.measurements.remove(0);
        let measurement = |(at, place): (usize, &f64)| {
            let slice = |n: usize| {
                let wave = 1.0 + (n * 7 % 5) as f64 / 100.0;
                if n as f64 / 64.0 < *place { 1_000.0 * wave } else { 1_600.0 * wave }
            };
            let mut m = Measurement { operations: 20_000, ..like.clone() };
            m.cell.repeat = at as u32 + 1;
            m.slices_ns = (0..64).map(slice).collect();
            m.windows.clear();
            m.cache.asked = CacheAsked::AsIs;
            m
        };
        book.measurements = places.iter().enumerate().map(measurement).collect();
        book
    }

    fn found(book: &Book) -> Vec<PhaseJump> {
        jumps(&Analysis::of(book))
    }

    #[test]
    fn a_jump_that_repeats_agree_on_is_told_with_its_place() {
        let found = found(&book(&[0.5, 0.52, 1.0]));
        let [one] = found.as_slice() else { panic!("{found:?}") };
        let JumpFigures { at, ratio, .. } = one.figures;
        assert_eq!((one.figures.jumped, one.figures.n, one.figures.operations), (2, 3, 20_000));
        assert!((9_900..10_600).contains(&at) && (ratio - 1.6).abs() < 0.1, "{one:?}");
        let sentence = one.clone().warning().sentence;
        let start = "create: latency jumps to 1.6";
        assert!(sentence.starts_with(start), "{sentence}");
        assert!(sentence.ends_with(" of 20,000 in 2 of 3 measurements."), "{sentence}");
    }

    #[test]
    fn a_jump_of_one_repeat_or_at_other_places_is_not_told_unless_it_is_large() {
        assert_eq!(found(&book(&[0.5, 1.0, 1.0])), []);
        assert_eq!(found(&book(&[0.2, 0.5, 0.8])), []);
        assert_eq!(found(&book(&[0.5])), []);
        let mut large = book(&[0.5, 1.0, 1.0]);
        large.measurements[0].slices_ns[32..].iter_mut().for_each(|ns| *ns *= 2.0);
        assert_eq!(found(&large).len(), 1);
        for m in &mut large.measurements {
            m.disturbance.as_mut().unwrap().core_throttles = Some(1);
        }
        assert_eq!(found(&large), [], "something else was going on");
        let mut all = book(&[0.5, 0.5, 0.5]);
        all.measurements[0].disturbance.as_mut().unwrap().core_throttles = Some(1);
        assert_eq!(found(&all).len(), 1, "which hardly happens at one place three times");
    }

    #[test]
    fn what_begins_cold_is_not_told() {
        let mut cold = book(&[0.5, 0.5]);
        cold.measurements.iter_mut().for_each(|m| m.cache.asked = CacheAsked::Cold);
        assert_eq!(found(&cold), []);
    }
}
