//! Finds how latency changes while a phase runs: the growth law, a change point, or no change.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::distinct::each_once;
use crate::base::units::{self, counted, grouped};
use crate::op::{Effect, Subject, find_operation};
use crate::results::book::{Level, Measurement, Window};
use crate::results::order::PhaseCell;

use super::curve::{Block, ChangeShape, Law};
use super::phase_shape::{
    BeyondLaw, GrowthThreshold, PhaseBlocks, PhaseShape, WINDOWS_MIN, has_whole_windows,
};
use super::sample::{Sample, Values};
use super::say::{self, lead, span, times};
use crate::analysis::statistics::Interval;
use crate::analysis::statistics::describe::{mean, median, squares};
use crate::analysis::statistics::student::student_t;
use crate::analysis::thresholds::{INTERVAL_ALPHA, LOG_HALF_MAX, WINDOWS_RESOLUTION};

/// Both ends that are compared have at least so many windows, where there are enough.
const END_WINDOWS_MIN: usize = 5;
/// Ends that differ by more than this went up or down.
const APART_MIN: f64 = 1.1;
/// Where the last ones may take so many times longer, it is not known whether they do.
const UNDERPOWERED_MIN: f64 = 1.5;
/// A mean that grows so many times more than the median does is stated.
const MEAN_APART: f64 = 1.5;

/// How the time of an operation changes while a phase runs, of one variant at one level.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GrowthFinding {
    /// The variant's name.
    pub variant: String,
    /// The phase's name.
    pub phase: String,
    /// The level; none without an axis.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub level: Option<Level>,
    /// What the change looks like.
    pub shape: GrowthShape,
    /// Why nothing can be said, where the shape is unclear.
    pub reason: Option<UnclearReason>,
    /// What each operation adds one of.
    pub counted: CountedThing,
    /// Windows of a measurement, at most.
    pub windows: u64,
    /// Measurements.
    pub n: usize,
    /// The figures; none for too few windows.
    #[serde(flatten)]
    pub figures: Option<GrowthFigures>,
}

/// The figures of a growth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GrowthFigures {
    /// The law that fits best, or that no law holds.
    pub law: Law,
    /// The exponent of a power that grows as fast at the end of the phase; 0 for a constant.
    pub exponent: f64,
    /// Its 95% interval; none for a constant.
    pub exponent_interval: Option<Interval>,
    /// Median latency at the end over that at the beginning.
    pub ratio: f64,
    /// Its 95% interval.
    pub interval: Interval,
    /// Mean latency at the end over that at the beginning.
    pub mean_ratio: f64,
    /// Median latency at the beginning, in nanoseconds.
    pub first_ns: f64,
    /// Median latency at the end, in nanoseconds.
    pub last_ns: f64,
    /// From where on it takes longer or shorter, where the shape is a threshold.
    pub threshold: Option<GrowthThreshold>,
    /// Operations of the phase.
    pub operations: u64,
    /// Operations of each of the ends that are compared.
    pub operations_of_end: u64,
    /// Blocks at the start that were left out as a warm-up.
    pub warm_up_blocks: usize,
    /// What to draw: the phase in blocks of windows.
    pub blocks: Vec<GrowthBlock>,
}

/// A part of a phase as it was measured and as the shape has it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GrowthBlock {
    /// Operations done at its middle.
    pub operations: f64,
    /// Its latency, in nanoseconds.
    pub seen_ns: f64,
    /// The latency that the law, the threshold or the one-way course gives it, in nanoseconds.
    pub fitted_ns: f64,
}

/// What the change of a latency looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GrowthShape {
    /// It follows a law, which may be that it stays the same.
    Law,
    /// It changes from some number of operations on.
    Threshold,
    /// It only rises, or only falls, by no law.
    Monotone,
    /// None of these.
    Unclear,
}

/// Why the shape of a growth is unclear.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum UnclearReason {
    /// Fewer windows were measured than show a law.
    TooFewWindows,
    /// The only repeat has a shape, and ends that may be equal.
    OneRepeat,
    /// Repeats change in different ways.
    RepeatsDisagree,
    /// The latency varies by more than what it may have grown by.
    TooVariable,
    /// The ends differ, and what lies between follows no law.
    UpAndDown,
}

/// What an operation adds one of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CountedThing {
    /// Files.
    Files,
    /// Directories.
    Directories,
    /// Operations, where no entry is added.
    Operations,
}

impl CountedThing {
    /// What there are more of after each operation of a measurement.
    pub(super) fn by(m: &Measurement) -> Self {
        match find_operation(&m.operation).map(|o| (o.effect, o.subject)) {
            Some((Effect::AddsEntry, Subject::File)) => Self::Files,
            Some((Effect::AddsEntry, Subject::Directory)) => Self::Directories,
            _ => Self::Operations,
        }
    }

    /// The word for many.
    pub(super) fn noun(self) -> &'static str {
        match self {
            Self::Files => "files",
            Self::Directories => "directories",
            Self::Operations => "operations",
        }
    }
}

impl GrowthFinding {
    /// The finding in one sentence.
    pub fn sentence(&self) -> String {
        let at =
            self.level.as_ref().map_or(String::new(), |one| format!(" at {}", say::level(one)));
        let phase = format!("{}{at}", self.phase);
        let sentence = match &self.figures {
            None => format!(
                "cannot tell whether {phase} gets slower from {}: at least {WINDOWS_MIN} are needed",
                counted(self.windows, "window")
            ),
            Some(figures) => {
                figures.sentence(self.shape, self.reason, &phase, self.counted.noun())
                    + &figures.about_mean()
            }
        };
        format!("{}{sentence}.", lead(&self.variant))
    }

    /// What the curve of its blocks is, in a few words; none where the shape is unclear.
    pub fn curve_name(&self) -> Option<String> {
        let figures = self.figures.as_ref()?;
        match self.shape {
            GrowthShape::Law => Some(format!("{} law", figures.law.as_str())),
            GrowthShape::Threshold => Some("threshold".into()),
            GrowthShape::Monotone => Some("monotone course".into()),
            GrowthShape::Unclear => None,
        }
    }
}

impl GrowthFigures {
    fn sentence(
        &self,
        shape: GrowthShape,
        reason: Option<UnclearReason>,
        phase: &str,
        noun: &str,
    ) -> String {
        let compared = self.compared(noun);
        match (shape, &self.threshold) {
            (GrowthShape::Threshold, Some(found)) => found.sentence(phase, noun, self.operations),
            (GrowthShape::Monotone, _) => {
                let way = if self.ratio > 1.0 { "rises" } else { "falls" };
                format!(
                    "{}: its time {way} throughout, but follows no simple law",
                    self.change(phase, noun)
                )
            }
            (GrowthShape::Law, _) if self.law == Law::Constant => {
                format!("{phase} does not get slower: {compared}")
            }
            (GrowthShape::Law, _) => {
                let way = if self.ratio > 1.0 { "grows" } else { "falls" };
                format!("{}: its time {way} {}", self.change(phase, noun), self.by_law(noun))
            }
            _ => match reason {
                Some(UnclearReason::OneRepeat) => {
                    format!("cannot tell from one repeat whether {phase} gets slower: {compared}")
                }
                Some(UnclearReason::RepeatsDisagree) => {
                    format!("cannot tell whether {phase} gets slower: repeats disagree; {compared}")
                }
                Some(UnclearReason::TooVariable) => {
                    format!("cannot tell whether {phase} gets slower: its time varies; {compared}")
                }
                _ => format!("the time of {phase} goes up and down without a law: {compared}"),
            },
        }
    }

    fn change(&self, phase: &str, noun: &str) -> String {
        let faster = if self.ratio > 1.0 { "" } else { "gets faster: it " };
        format!(
            "{phase} {faster}takes {} times as long at {} {noun} as at the first {} ({})",
            times(self.ratio),
            grouped(self.operations),
            grouped(self.operations_of_end),
            span(self.interval)
        )
    }

    fn compared(&self, noun: &str) -> String {
        format!(
            "the last {} of {} {noun} take {} times ({}) as long as the first",
            grouped(self.operations_of_end),
            grouped(self.operations),
            times(self.ratio),
            span(self.interval)
        )
    }

    fn by_law(&self, noun: &str) -> String {
        match self.law {
            Law::Linear => format!("linearly with the number of {noun}"),
            Law::Logarithmic => format!("with the logarithm of the number of {noun}"),
            Law::Power | Law::Constant => {
                let interval =
                    self.exponent_interval.map_or(String::new(), |Interval { low, high }| {
                        format!(" ({low:.2} to {high:.2})")
                    });
                format!("as the number of {noun} to the power of {:.2}{interval}", self.exponent)
            }
        }
    }

    /// What the median does not show.
    fn about_mean(&self) -> String {
        let apart = self.mean_ratio / self.ratio;
        if apart < MEAN_APART && apart > 1.0 / MEAN_APART {
            return String::new();
        }
        format!("; the mean, which includes rare slow operations, {} times", times(self.mean_ratio))
    }

    /// Whether the ends differ.
    fn apart(&self) -> bool {
        self.interval.low > APART_MIN || self.interval.high < 1.0 / APART_MIN
    }

    /// Whether the ends do not show if it got slower.
    fn underpowered(&self) -> bool {
        !self.apart() && self.interval.high > UNDERPOWERED_MIN
    }
}

impl GrowthThreshold {
    fn sentence(&self, phase: &str, noun: &str, operations: u64) -> String {
        let [at, low, high] = [self.at, self.interval.low, self.interval.high]
            .map(|value| units::figures(value.max(0.0), 3));
        let (ratio, span) = (times(self.ratio), span(self.ratio_interval));
        match (self.shape, self.ratio < 1.0) {
            (ChangeShape::Step, falls) => {
                let verb = if falls { "gets faster: it takes" } else { "takes" };
                format!(
                    "{phase} {verb} {ratio} times ({span}) as long from about {at} {noun} on ({low} \
                     to {high})"
                )
            }
            (ChangeShape::Hinge, falls) => {
                let verb = if falls { "falls" } else { "grows" };
                format!(
                    "{phase} takes the same time up to about {at} {noun} ({low} to {high}); from \
                     there on its time {verb}: to {ratio} times as long at {} ({span})",
                    grouped(operations)
                )
            }
        }
    }
}

/// One for each phase with windows, variant and level.
pub(super) fn growth(sample: &Sample<'_>) -> Vec<GrowthFinding> {
    let found =
        sample.cells().into_iter().filter_map(|cell| match PhaseBlocks::new(&cell.measurements) {
            Some(phase) => finding(&cell, &phase),
            None => too_few(&cell),
        });
    found.collect()
}

fn finding(cell: &PhaseCell<'_>, phase: &PhaseBlocks<'_>) -> Option<GrowthFinding> {
    let mut found = PhaseShape::new(phase)?;
    let mut figures = figures(phase, &found)?;
    let mut shape = match found.beyond_law {
        BeyondLaw::Nothing => GrowthShape::Law,
        BeyondLaw::Threshold(..) => GrowthShape::Threshold,
        BeyondLaw::Monotone(_) => GrowthShape::Monotone,
    };
    let reason = doubt(phase, shape, &figures);
    // Where the shape is unclear the median is drawn, or the law that does not hold.
    if reason.is_some() {
        (shape, found.beyond_law) = (GrowthShape::Unclear, BeyondLaw::Nothing);
    }
    if let BeyondLaw::Threshold(_, threshold) = found.beyond_law {
        figures.threshold = Some(threshold);
    }
    figures.blocks = plotted(phase, &found);
    let windows = phase.measurements.iter().map(|m| m.windows.len() as u64).max()?;
    let n = phase.measurements.len();
    Some(GrowthFinding {
        shape,
        reason,
        n,
        figures: Some(figures),
        ..without_figures(cell, windows)
    })
}

/// Why the shape cannot be stated, if it cannot.
fn doubt(
    phase: &PhaseBlocks<'_>,
    shape: GrowthShape,
    figures: &GrowthFigures,
) -> Option<UnclearReason> {
    match shape {
        GrowthShape::Law if figures.law == Law::Constant && figures.underpowered() => {
            Some(UnclearReason::TooVariable)
        }
        GrowthShape::Law if figures.law == Law::Constant => {
            figures.apart().then_some(UnclearReason::UpAndDown)
        }
        // Repeats that do not agree on the way have none in common.
        GrowthShape::Law | GrowthShape::Monotone if figures.interval.contains(1.0) => {
            Some(match each_once(phase.measurements.iter().map(|m| m.cell.repeat)).len() {
                1 => UnclearReason::OneRepeat,
                _ => UnclearReason::RepeatsDisagree,
            })
        }
        _ => None,
    }
}

/// What to draw: each block as it was measured, and as the shape has it.
fn plotted(phase: &PhaseBlocks<'_>, shape: &PhaseShape) -> Vec<GrowthBlock> {
    let drawn = |(block, fitted): (&Block, f64)| GrowthBlock {
        operations: block.x.round(),
        seen_ns: (block.log + phase.middle).exp(),
        fitted_ns: (fitted + phase.middle).exp(),
    };
    phase.blocks.iter().zip(shape.fitted(&phase.blocks)).map(drawn).collect()
}

/// Compares the medians of the first and the last windows themselves, not the law's. Without the
/// threshold and what is drawn.
fn figures(phase: &PhaseBlocks<'_>, shape: &PhaseShape) -> Option<GrowthFigures> {
    let blocks = phase.blocks.len();
    let over_all = |figure: fn(&[Window], &[Window]) -> f64| {
        let of_ends = |m: &Measurement| {
            let (first, last) = ends_of(&m.windows, shape, blocks);
            Some(figure(first, last))
        };
        Values::new(&phase.measurements, of_ends).figures()
    };
    let logs = over_all(|first, last| (middle_ns(last) / middle_ns(first)).ln());
    let means = over_all(|first, last| (mean_ns(last) / mean_ns(first)).ln());
    let windows = &phase.measurements.first()?.windows;
    let (first, last) = ends_of(windows, shape, blocks);
    // What a block is unsure of, an end is, by the number of its windows.
    let within = shape.half_width_of_ends((last.len() * blocks) as f64 / windows.len() as f64)?;
    let half = within.max(half_width(&logs)?) + WINDOWS_RESOLUTION;
    let log = mean(&logs);
    let operations = |windows: &[Window]| windows.iter().map(|w| w.operations).sum::<u64>();
    let (exponent, exponent_interval) = match shape.law {
        Law::Constant => (0.0, None),
        _ => {
            let (exponent, interval) = shape.fit.exponent(phase.operations as f64);
            (exponent, Some(interval))
        }
    };
    let figures = GrowthFigures {
        law: shape.law,
        exponent,
        exponent_interval,
        ratio: log.exp(),
        interval: Interval { low: (log - half).exp(), high: (log + half).exp() },
        mean_ratio: mean(&means).exp(),
        first_ns: mean(&over_all(|first, _| middle_ns(first))),
        last_ns: mean(&over_all(|_, last| middle_ns(last))),
        threshold: None,
        operations: phase.operations,
        operations_of_end: operations(first).max(operations(last)),
        warm_up_blocks: shape.warm_up,
        blocks: Vec::new(),
    };
    (figures.ratio.is_finite() && half < LOG_HALF_MAX).then_some(figures)
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
fn half_width(logs: &[f64]) -> Option<f64> {
    let n = logs.len() as f64;
    match logs {
        [] => None,
        [_] => Some(0.0),
        [a, b] => Some((a - b).abs() / 2.0),
        _ => {
            let t = student_t(INTERVAL_ALPHA, n - 1.0)?;
            Some(t * (squares(logs) / (n - 1.0) / n).sqrt())
        }
    }
}

/// The windows at both ends: of a phase that grows only few, so that little growth is averaged
/// away; of another a tenth, so that ups and downs are. A warm-up is left out.
fn ends_of<'a>(
    windows: &'a [Window],
    shape: &PhaseShape,
    blocks: usize,
) -> (&'a [Window], &'a [Window]) {
    let share = if shape.law == Law::Constant { 10 } else { 50 };
    let number = (windows.len() / share).max(END_WINDOWS_MIN).min(windows.len() / 4);
    let start = windows.len() * shape.warm_up / blocks;
    (&windows[start..start + number], &windows[windows.len() - number..])
}

/// That fewer windows were measured than show anything.
fn too_few(cell: &PhaseCell<'_>) -> Option<GrowthFinding> {
    let has_some = |m: &&&Measurement| !m.windows.is_empty() && has_whole_windows(m);
    let most = cell.measurements.iter().filter(has_some).map(|m| m.windows.len()).max()?;
    (most < WINDOWS_MIN).then(|| without_figures(cell, most as u64))
}

fn without_figures(cell: &PhaseCell<'_>, windows: u64) -> GrowthFinding {
    GrowthFinding {
        variant: cell.variant.into(),
        phase: cell.phase.into(),
        level: cell.level.cloned(),
        shape: GrowthShape::Unclear,
        reason: Some(UnclearReason::TooFewWindows),
        counted: CountedThing::by(cell.measurements[0]),
        windows,
        n: cell.measurements.len(),
        figures: None,
    }
}
