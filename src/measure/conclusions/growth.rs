//! How latency grows with the operations of a phase: the law and how many times longer the last
//! ones take than the first.

use serde_json::json;

use crate::base::units::grouped;
use crate::measure::book::{Finding, Level, Measurement, Window};
use crate::op::{Effect, Subject, find_operation};

use super::fit::{mean, median};
use super::laws::{Block, Law, Verdict, judge};
use super::sample::{Sample, Values, lead};
use super::say;
use crate::measure::statistics::student::student_t;

/// Fewer windows than this show no law.
const WINDOWS_MIN: usize = 8;
/// A phase is judged by at most so many blocks of windows.
const BLOCKS_MAX: usize = 20;
/// Windows in a block, so that a wild one does not carry it, where there are enough.
const WINDOWS_OF_BLOCK: usize = 3;
/// Both ends that are compared have at least so many windows, where there are enough.
const WINDOWS_OF_END: usize = 5;
/// Medians of windows have two digits: both ends together are sure to this share.
const RESOLUTION: f64 = 0.008;
/// An interval as wide as this tells nothing.
const LOG_HALF_MAX: f64 = 10.0;
/// A mean that grows so many times more than the median does is told.
const MEAN_APART: f64 = 1.5;

/// One for each phase with windows, variant and level.
pub(super) fn growth(sample: &Sample<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for phase in sample.phases() {
        for variant in sample.variants() {
            for level in sample.levels(phase) {
                let cell = sample.cell(phase, variant, level);
                if let Some(course) = Course::of(&cell) {
                    findings.extend(course.finding(phase, variant, level));
                }
            }
        }
    }
    findings
}

/// Whether it has windows enough, and whole ones.
pub(super) fn tellable(m: &Measurement) -> bool {
    m.windows.len() >= WINDOWS_MIN && m.windows.iter().all(|w| w.p50_ns > 0 && w.operations > 0)
}

/// The windows of all repeats and passes of a phase.
struct Course<'a> {
    measurements: Vec<&'a Measurement>,
    operations: u64,
    blocks: Vec<Block>,
}

/// How many times longer the end takes than the beginning.
struct Ends {
    /// Operations of each end.
    operations: u64,
    first_ns: f64,
    last_ns: f64,
    ratio: f64,
    interval: [f64; 2],
    mean_ratio: f64,
}

impl<'a> Course<'a> {
    fn of(cell: &[&'a Measurement]) -> Option<Self> {
        let measurements: Vec<_> = cell.iter().filter(|m| tellable(m)).copied().collect();
        let windows = measurements.iter().map(|m| m.windows.len()).min()?;
        let number = (windows / WINDOWS_OF_BLOCK).clamp(WINDOWS_MIN, BLOCKS_MAX);
        let all: Vec<Vec<Block>> =
            measurements.iter().map(|m| blocks(&m.windows, number)).collect();
        // Repeats as a whole may be faster or slower; that is no growth.
        let middles: Vec<f64> = all
            .iter()
            .map(|blocks| median(&blocks.iter().map(|b| b.log).collect::<Vec<_>>()))
            .collect();
        let at = |n: usize| {
            let logs: Vec<f64> =
                all.iter().zip(&middles).map(|(b, middle)| b[n].log - middle).collect();
            Block { x: all[0][n].x, log: if logs.len() > 2 { median(&logs) } else { mean(&logs) } }
        };
        let blocks = (0..number).map(at).collect();
        let last = measurements.first()?.windows.last()?;
        Some(Self { operations: last.first + last.operations, blocks, measurements })
    }

    fn finding(&self, phase: &str, variant: &str, level: Option<&Level>) -> Option<Finding> {
        let verdict = judge(&self.blocks)?;
        let ends = self.ends(&verdict)?;
        let (exponent, exponent_interval) = match verdict.law {
            Law::Constant => (0.0, None),
            _ => {
                let (exponent, interval) = verdict.fit.exponent(self.operations as f64);
                (exponent, Some(interval))
            }
        };
        let noun = noun(self.measurements.first()?);
        let place = level.map_or(String::new(), |level| format!(" at {}", say::level(level)));
        let told = Told { phase: format!("{phase}{place}"), noun, operations: self.operations };
        let sentence = format!(
            "{}{}{}.",
            lead(variant),
            told.sentence(verdict.law, exponent, exponent_interval, &ends),
            told.mean(&ends)
        );
        let mut figures = json!({
            "variant": variant, "phase": phase, "law": verdict.law.word(), "exponent": exponent,
            "exponent_interval": exponent_interval, "ratio": ends.ratio, "interval": ends.interval,
            "mean_ratio": ends.mean_ratio, "first_ns": ends.first_ns, "last_ns": ends.last_ns,
            "operations": self.operations, "operations_of_end": ends.operations,
            "warm_up": verdict.warm_up > 0, "n": self.measurements.len(),
        });
        if let Some(level) = level {
            figures["level"] = json!({"axis": level.axis, "value": level.value});
        }
        Some(say::finding("growth", sentence, figures))
    }

    /// Compares the medians of the first and the last windows themselves, not the law's.
    fn ends(&self, verdict: &Verdict) -> Option<Ends> {
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
        let error = verdict.fit.deviation * (2.0 * verdict.fit.dependence / blocks_of_end).sqrt();
        let within = student_t(0.05, verdict.fit.degrees)? * error;
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

/// Medians of equal numbers of windows.
fn blocks(windows: &[Window], number: usize) -> Vec<Block> {
    let block = |n: usize| {
        let part = &windows[n * windows.len() / number..(n + 1) * windows.len() / number];
        let logs: Vec<f64> = part.iter().map(|w| (w.p50_ns as f64).ln()).collect();
        let middles: Vec<f64> =
            part.iter().map(|w| w.first as f64 + w.operations as f64 / 2.0).collect();
        Block { x: mean(&middles), log: median(&logs) }
    };
    (0..number).map(block).collect()
}

/// What there are more of after each operation.
pub(super) fn noun(m: &Measurement) -> &'static str {
    match find_operation(&m.operation).map(|o| (o.effect(), o.subject())) {
        Some((Effect::AddsEntry, Subject::File)) => "files",
        Some((Effect::AddsEntry, Subject::Directory)) => "directories",
        _ => "operations",
    }
}

/// What a sentence is about.
struct Told {
    phase: String,
    noun: &'static str,
    operations: u64,
}

impl Told {
    fn sentence(
        &self,
        law: Law,
        exponent: f64,
        exponent_interval: Option<[f64; 2]>,
        ends: &Ends,
    ) -> String {
        let Self { phase, noun, operations } = self;
        let (all, few) = (grouped(*operations), grouped(ends.operations));
        let (ratio, span) = (say::times(ends.ratio), say::span(ends.interval));
        let compared = format!(
            "{ratio} times ({span}) as long in the last {few} of {all} {noun} as in the first"
        );
        if law == Law::Constant {
            return match ends.interval {
                [low, _] if low > 1.1 => {
                    format!("{phase} goes up and down without a law: {compared}")
                }
                [_, high] if high < 1.0 / 1.1 => {
                    format!("{phase} goes up and down without a law: {compared}")
                }
                _ => format!("{phase} does not get slower: {compared}"),
            };
        }
        let grows = ends.last_ns > ends.first_ns;
        let (lead, verb) = match grows {
            true => ("takes", "grows"),
            false => ("gets faster: it takes", "falls"),
        };
        let how = match law {
            Law::Linear => format!("linearly with the number of {noun}"),
            Law::Logarithmic => format!("with the logarithm of the number of {noun}"),
            _ => format!(
                "as the number of {noun} to the power of {exponent:.2}{}",
                exponent_interval
                    .map_or(String::new(), |[low, high]| format!(" ({low:.2} to {high:.2})"))
            ),
        };
        format!(
            "{phase} {lead} {ratio} times as long at {all} {noun} as at the first {few} ({span}): \
             it {verb} {how}"
        )
    }

    /// What the median does not show.
    fn mean(&self, ends: &Ends) -> String {
        let apart = ends.mean_ratio / ends.ratio;
        if apart < MEAN_APART && apart > 1.0 / MEAN_APART {
            return String::new();
        }
        format!("; the mean, with its rare slow ones, {} times", say::times(ends.mean_ratio))
    }
}
