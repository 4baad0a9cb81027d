//! How latency grows with the operations of a phase: the law and how many times longer the last
//! ones take than the first.

use serde_json::{Value, json};

use crate::base::units::counted;
use crate::measure::book::{Finding, Level, Measurement, Window};
use crate::measure::order::each_once;
use crate::op::{Effect, Subject, find_operation};

use super::course::{Course, WINDOWS_MIN, whole};
use super::curve::{Block, Law};
use super::fit::{mean, median};
use super::laws::{Verdict, judge};
use super::sample::{Sample, Values, lead};
use super::say;
use super::shape::{Shape, Spread};
use super::told::Told;
use crate::measure::statistics::student::student_t;

/// Both ends that are compared have at least so many windows, where there are enough.
const WINDOWS_OF_END: usize = 5;
/// Medians of windows have two digits: both ends together are sure to this share.
const RESOLUTION: f64 = 0.008;
/// An interval as wide as this tells nothing.
const LOG_HALF_MAX: f64 = 10.0;

/// One for each phase with windows, variant and level.
pub(super) fn growth(sample: &Sample<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for phase in sample.phases() {
        for variant in sample.variants() {
            for level in sample.levels(phase) {
                let cell = sample.cell(phase, variant, level);
                findings.extend(match Course::of(&cell) {
                    Some(course) => course.finding(phase, variant, level),
                    None => too_few(&cell, phase, variant, level),
                });
            }
        }
    }
    findings
}

/// How many times longer the end takes than the beginning.
pub(super) struct Ends {
    /// Operations of each end.
    pub(super) operations: u64,
    pub(super) first_ns: f64,
    pub(super) last_ns: f64,
    pub(super) ratio: f64,
    pub(super) interval: [f64; 2],
    pub(super) mean_ratio: f64,
}

impl Ends {
    /// Ends that differ by more than this went up or down.
    const APART: f64 = 1.1;

    /// Where the last ones may take so many times longer, nobody can say that they do not.
    const BLIND: f64 = 1.5;

    fn apart(&self) -> bool {
        self.interval[0] > Self::APART || self.interval[1] < 1.0 / Self::APART
    }

    /// Whether the ends do not tell if it got slower.
    pub(super) fn blind(&self) -> bool {
        !self.apart() && self.interval[1] > Self::BLIND
    }
}

impl Course<'_> {
    fn repeats_measured(&self) -> usize {
        each_once(self.measurements.iter().map(|m| m.cell.repeat)).len()
    }

    fn finding(&self, phase: &str, variant: &str, level: Option<&Level>) -> Option<Finding> {
        let verdict = judge(&self.blocks)?;
        let mut shape = Shape::of(self, &verdict);
        let ends = self.ends(&verdict, shape.spread(&verdict))?;
        let mut disagree = false;
        let unclear = match shape {
            Shape::Law if verdict.law == Law::Constant => ends.apart() || ends.blind(),
            // Repeats that do not agree on the way have none in common.
            Shape::Law | Shape::Monotone(_) => {
                disagree = ends.interval[0] <= 1.0 && ends.interval[1] >= 1.0;
                disagree
            }
            Shape::Threshold(_) | Shape::Unclear => false,
        };
        if unclear {
            shape = Shape::Unclear;
        }
        let (exponent, exponent_interval) = match verdict.law {
            Law::Constant => (0.0, None),
            _ => {
                let (exponent, interval) = verdict.fit.exponent(self.operations as f64);
                (exponent, Some(interval))
            }
        };
        let noun = noun(self.measurements.first()?);
        let told = Told { phase: place(phase, level), noun, operations: self.operations };
        let sentence = match disagree {
            true => told.disagree(&ends, self.repeats_measured()),
            false => told.sentence(&shape, verdict.law, (exponent, exponent_interval), &ends),
        };
        let sentence = format!("{}{sentence}{}.", lead(variant), told.mean(&ends));
        let threshold = shape.threshold();
        let mut figures = json!({
            "variant": variant, "phase": phase, "shape": shape.word(),
            "law": verdict.law.word(), "exponent": exponent,
            "exponent_interval": exponent_interval, "ratio": ends.ratio, "interval": ends.interval,
            "mean_ratio": ends.mean_ratio, "first_ns": ends.first_ns, "last_ns": ends.last_ns,
            "threshold_at": threshold.map(|found| found.at.round()),
            "threshold_interval": threshold.map(|found| found.interval.map(f64::round)),
            "threshold_shape": threshold.map(|found| found.word()),
            "threshold_ratio": threshold.map(|found| found.ratio),
            "threshold_ratio_interval": threshold.map(|found| found.ratio_interval),
            "operations": self.operations, "operations_of_end": ends.operations,
            "warm_up": verdict.warm_up > 0, "warm_up_blocks": verdict.warm_up,
            "n": self.measurements.len(), "blocks": self.plotted(&shape, &verdict),
        });
        if let Some(level) = level {
            figures["level"] = json!({"axis": level.axis, "value": level.value});
        }
        Some(say::finding("growth", sentence, figures))
    }

    /// What to draw: each block as it was seen, and as the shape has it.
    fn plotted(&self, shape: &Shape, verdict: &Verdict) -> Vec<Value> {
        let fitted = shape.fitted(&self.blocks, verdict);
        let point = |(block, fitted): (&Block, f64)| {
            json!({
                "operations": block.x.round(), "seen_ns": (block.log + self.middle).exp(),
                "fitted_ns": (fitted + self.middle).exp(),
                "residual": (block.log - fitted).exp_m1(),
            })
        };
        self.blocks.iter().zip(fitted).map(point).collect()
    }

    /// Compares the medians of the first and the last windows themselves, not the law's.
    fn ends(&self, verdict: &Verdict, spread: Spread) -> Option<Ends> {
        let of = |m: &Measurement, figure: fn(&[Window], &[Window]) -> f64| {
            let (first, last) = ends_of(&m.windows, verdict, self.blocks.len());
            Some(figure(first, last))
        };
        let over_all = |figure: fn(&[Window], &[Window]) -> f64| {
            let values = Values::of(&self.measurements, |m| of(m, figure)).all;
            values.into_iter().map(|(_, value)| value).collect::<Vec<f64>>()
        };
        let logs = over_all(|first, last| (middle_ns(last) / middle_ns(first)).ln());
        let means = over_all(|first, last| (mean_ns(last) / mean_ns(first)).ln());
        let windows = &self.measurements.first()?.windows;
        let (first, last) = ends_of(windows, verdict, self.blocks.len());
        // What a block is unsure of, an end is, by the number of its windows.
        let blocks_of_end = (last.len() * self.blocks.len()) as f64 / windows.len() as f64;
        let error = spread.deviation * (2.0 * spread.dependence / blocks_of_end).sqrt();
        let within = student_t(0.05, spread.degrees)? * error;
        let half = within.max(between(&logs)?) + RESOLUTION;
        let log = mean(&logs);
        let operations = |windows: &[Window]| windows.iter().map(|w| w.operations).sum::<u64>();
        let ends = Ends {
            operations: operations(first).max(operations(last)),
            first_ns: mean(&over_all(|first, _| middle_ns(first))),
            last_ns: mean(&over_all(|_, last| middle_ns(last))),
            ratio: log.exp(),
            interval: [(log - half).exp(), (log + half).exp()],
            mean_ratio: mean(&means).exp(),
        };
        (ends.ratio.is_finite() && half < LOG_HALF_MAX).then_some(ends)
    }
}

/// The median of the windows' medians.
pub(super) fn middle_ns(windows: &[Window]) -> f64 {
    median(&windows.iter().map(|w| w.p50_ns as f64).collect::<Vec<_>>())
}

fn mean_ns(windows: &[Window]) -> f64 {
    let operations: u64 = windows.iter().map(|w| w.operations).sum();
    windows.iter().map(|w| w.mean_ns * w.operations as f64).sum::<f64>() / operations as f64
}

/// Half the width of the interval that repeats give: Student's t, or of two both.
fn between(logs: &[f64]) -> Option<f64> {
    let (n, middle) = (logs.len() as f64, mean(logs));
    let squares: f64 = logs.iter().map(|log| (log - middle).powi(2)).sum();
    match logs {
        [] => None,
        [_] => Some(0.0),
        [a, b] => Some((a - b).abs() / 2.0),
        _ => Some(student_t(0.05, n - 1.0)? * (squares / (n - 1.0) / n).sqrt()),
    }
}

/// The windows at both ends: of a phase that grows only few, so that little growth is averaged
/// away; of another a tenth, so that ups and downs are. A warm-up is left out.
fn ends_of<'a>(
    windows: &'a [Window],
    verdict: &Verdict,
    blocks: usize,
) -> (&'a [Window], &'a [Window]) {
    let share = if verdict.law == Law::Constant { 10 } else { 50 };
    let number = (windows.len() / share).max(WINDOWS_OF_END).min(windows.len() / 4);
    let start = windows.len() * verdict.warm_up / blocks;
    (&windows[start..start + number], &windows[windows.len() - number..])
}

/// What there are more of after each operation.
pub(super) fn noun(m: &Measurement) -> &'static str {
    match find_operation(&m.operation).map(|o| (o.effect(), o.subject())) {
        Some((Effect::AddsEntry, Subject::File)) => "files",
        Some((Effect::AddsEntry, Subject::Directory)) => "directories",
        _ => "operations",
    }
}

/// A phase and the level it was measured at.
fn place(phase: &str, level: Option<&Level>) -> String {
    let at = level.map_or(String::new(), |level| format!(" at {}", say::level(level)));
    format!("{phase}{at}")
}

/// That fewer windows were asked for than show anything.
fn too_few(
    cell: &[&Measurement],
    phase: &str,
    variant: &str,
    level: Option<&Level>,
) -> Option<Finding> {
    let some = |m: &&&Measurement| !m.windows.is_empty() && whole(m);
    let (most, n) = (cell.iter().filter(some).map(|m| m.windows.len()).max()?, cell.len());
    let nothing = Value::Null;
    let mut figures = json!({
        "variant": variant, "phase": phase, "shape": Shape::Unclear.word(), "law": nothing,
        "exponent": nothing, "ratio": nothing, "interval": nothing, "n": n,
    });
    if let Some(level) = level {
        figures["level"] = json!({"axis": level.axis, "value": level.value});
    }
    let sentence = format!(
        "{}whether {} gets slower cannot be told from {}: it takes {WINDOWS_MIN}.",
        lead(variant),
        place(phase, level),
        counted(most as u64, "window")
    );
    (most < WINDOWS_MIN).then(|| say::finding("growth", sentence, figures))
}
