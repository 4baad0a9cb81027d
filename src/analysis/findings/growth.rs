//! Finds how latency changes while a phase runs: the growth law, a change point, or no change.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::distinct::each_once;
use crate::base::units::{self, counted, grouped};
use crate::op::{Effect, Subject, find_operation};
use crate::results::book::{Level, Measurement};
use crate::results::order::PhaseCell;

use super::curve::{ChangeShape, Law};
use super::phase_parts::{PhasePart, PhaseParts, WINDOWS_MIN, in_windows};
use super::phase_shape::{
    BeyondLaw, GrowthThreshold, PhaseBlocks, PhaseShape, own_place, start_up_share,
};
use super::sample::Sample;
use super::say::{self, lead, percent, span, times};
use crate::analysis::statistics::describe::{mean, squares};
use crate::analysis::statistics::student::student_t;
use crate::analysis::statistics::{Interval, dependence, mean_interval};
use crate::analysis::thresholds::{
    CHANGE_MIN, INTERVAL_ALPHA, LOG_HALF_MAX, LOG_HALF_MIN, SLOWER_MARGIN,
};

/// No fewer degrees of freedom are left to blocks that depend on each other.
const DEGREES_MIN: f64 = 3.0;
/// A curve that leads from end to end by more than so many halves of the interval off what was measured
/// does not hold.
const CURVE_OFF_MAX: f64 = 2.0;
/// At so many places of a part the mean of a curve is taken.
const CURVE_PLACES: u32 = 16;

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
    /// Repeats that they are of; of a single one nothing is said beyond that run.
    pub repeats: usize,
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
    /// Its 95% interval, by repeats and windows; of a single repeat by its windows alone. None for a
    /// constant, and where the law does not fit each repeat.
    pub exponent_interval: Option<Interval>,
    /// Mean latency at the end over that at the beginning: `last_ns` over `first_ns`.
    pub ratio: f64,
    /// Its interval, by repeats and windows, such that those of all growths of a run hold together with
    /// 95%; of a single repeat by its windows alone.
    pub interval: Interval,
    /// The smallest growth that such an interval would exclude, as a share.
    pub smallest_detectable: f64,
    /// Mean latency of the first part after the start-up, in nanoseconds.
    pub first_ns: f64,
    /// Mean latency of the last part, in nanoseconds.
    pub last_ns: f64,
    /// From where on it takes longer or shorter, where the shape is a threshold.
    pub threshold: Option<GrowthThreshold>,
    /// Operations of the phase.
    pub operations: u64,
    /// Operations of each of the ends that are compared.
    pub operations_of_end: u64,
    /// What comes before the first part; none if nothing does.
    pub start_up: Option<StartUp>,
    /// What to draw: the parts of the phase after its start-up.
    pub blocks: Vec<GrowthBlock>,
}

/// The beginning of a phase that is apart from its growth.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StartUp {
    /// Its operations.
    pub operations: u64,
    /// Their mean latency, in nanoseconds.
    pub mean_ns: f64,
    /// That over the mean latency of the part that follows.
    pub ratio: f64,
}

/// A part of a phase as it was measured and as the shape has it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GrowthBlock {
    /// Operations done at its middle.
    pub operations: f64,
    /// Its mean latency, in nanoseconds.
    pub seen_ns: f64,
    /// The latency that the law, the threshold or the one-way course gives it, in nanoseconds; none
    /// where none of them holds.
    pub fitted_ns: Option<f64>,
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
    /// The end differs from the beginning; what lies between follows none of these.
    NoLaw,
    /// Whether it changes is not known.
    Unclear,
}

/// Why the shape of a growth is unclear.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum UnclearReason {
    /// Fewer windows were measured than show a law.
    TooFewWindows,
    /// Repeats change in different ways.
    RepeatsDisagree,
    /// The latency varies by more than what it may have grown by.
    TooVariable,
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
    pub(crate) fn noun(self) -> &'static str {
        match self {
            Self::Files => "files",
            Self::Directories => "directories",
            Self::Operations => "operations",
        }
    }
}

/// An interval whose ends are further apart than that is not worth a word.
const UNTOLD: f64 = 100.0;

impl GrowthFinding {
    /// The finding in one sentence.
    pub fn sentence(&self) -> String {
        let phase = format!("{}{}", self.phase, self.at_level());
        let sentence = match &self.figures {
            None => format!(
                "cannot tell whether {phase} gets slower from {}: at least {WINDOWS_MIN} are needed",
                counted(self.windows, "window")
            ),
            Some(figures) => self.of_figures(figures, &phase) + &self.about_start_up(figures),
        };
        format!("{}{sentence}.", lead(&self.variant))
    }

    /// What stands behind its name: ` at 64 KiB`.
    pub(in crate::analysis) fn at_level(&self) -> String {
        self.level.as_ref().map_or(String::new(), |one| match say::axis_noun(&one.axis, one.unit) {
            Some(noun) => format!(" with {} {noun}", say::quantity(one.value, one.unit)),
            None => format!(" at {}", say::level(one)),
        })
    }

    fn of_figures(&self, figures: &GrowthFigures, phase: &str) -> String {
        let noun = self.counted.noun();
        let run = self.extent_of_runs();
        let basis = self.basis();
        let compared = |ratio_and_interval: String| {
            format!(
                "the last {} of {} {noun} take {ratio_and_interval} as long as the first",
                grouped(figures.operations_of_end),
                grouped(figures.operations),
            )
        };
        let rough = || {
            compared(format!("{} times ({}{basis})", times(figures.ratio), span(figures.interval)))
        };
        let faster = figures.ratio < 1.0;
        let course = match (self.shape, &figures.threshold) {
            (GrowthShape::Unclear, _) => {
                let why = match self.reason {
                    Some(UnclearReason::RepeatsDisagree) => "repeats differ",
                    _ => "its time varies",
                };
                if figures.is_untold() {
                    let about = compared(format!("{} times", times(figures.ratio)));
                    return format!(
                        "cannot tell whether {run}{phase} gets slower ({why} by too much for an interval): {about}"
                    );
                }
                return format!(
                    "cannot tell whether {run}{phase} gets slower ({why}): {} (smallest \
                     detectable: {})",
                    rough(),
                    percent(figures.smallest_detectable)
                );
            }
            (GrowthShape::Law, _) if figures.law == Law::Constant => {
                let margin = percent(SLOWER_MARGIN);
                let both = rough();
                return format!("{run}{phase} does not get slower by more than {margin}: {both}");
            }
            (GrowthShape::Threshold, Some(found)) => found.course(faster, noun, basis),
            (GrowthShape::Law, _) => {
                let way = if faster { "falls" } else { "grows" };
                format!("its time {way} {}", figures.by_law(noun, basis))
            }
            (GrowthShape::Monotone, _) => {
                let way = if faster { "falls" } else { "rises" };
                format!("its time {way} throughout, but follows no simple law")
            }
            _ => "its time follows no simple law".into(),
        };
        let way = if faster { "faster" } else { "slower" };
        let (ratio, interval) = (say::near(figures.ratio), span(figures.interval));
        let both = compared(format!("{ratio} times ({interval}{basis})"));
        format!("{run}{phase} gets {way}: {both}; {course}")
    }

    /// Stands before a sentence: parts of a single repeat describe that one.
    pub(in crate::analysis) fn extent_of_runs(&self) -> &'static str {
        if self.repeats > 1 { "" } else { "in this run " }
    }

    /// Stands behind an interval: what it is by, where a single repeat says nothing of others.
    pub(in crate::analysis) fn basis(&self) -> &'static str {
        if self.repeats > 1 { "" } else { " by its windows" }
    }

    fn about_start_up(&self, figures: &GrowthFigures) -> String {
        let Some(start_up) = figures.slow_start_up() else { return String::new() };
        format!(
            "; apart from the start-up: the first {} {} take {} times as long as the next {}",
            grouped(start_up.operations),
            self.counted.noun(),
            times(start_up.ratio),
            grouped(figures.operations_of_end)
        )
    }

    /// What the curve of its blocks is, in a few words; none where there is none.
    pub fn curve_name(&self) -> Option<String> {
        let figures = self.figures.as_ref()?;
        match self.shape {
            GrowthShape::Law => Some(format!("{} law", figures.law.as_str())),
            GrowthShape::Threshold => Some("threshold".into()),
            GrowthShape::Monotone => Some("monotone course".into()),
            GrowthShape::NoLaw | GrowthShape::Unclear => None,
        }
    }
}

impl GrowthFigures {
    /// The start-up, where it is slower by enough to matter.
    pub(crate) fn slow_start_up(&self) -> Option<StartUp> {
        self.start_up.filter(|one| one.ratio >= 1.0 + CHANGE_MIN)
    }

    /// What the end is compared with: the first operations, but where these are slower, those behind them.
    pub(in crate::analysis) fn beginning(&self) -> &'static str {
        if self.slow_start_up().is_none() { "at first" } else { "after the start-up" }
    }

    /// Whether the interval reaches so far that it is not worth a word.
    pub(in crate::analysis) fn is_untold(&self) -> bool {
        self.interval.high > UNTOLD * self.interval.low
    }

    /// `linearly with the number of files`
    pub(in crate::analysis) fn by_law(&self, noun: &str, basis: &str) -> String {
        match self.law {
            Law::Linear => format!("linearly with the number of {noun}"),
            Law::Logarithmic => format!("with the logarithm of the number of {noun}"),
            Law::Power | Law::Constant => {
                let interval =
                    self.exponent_interval.map_or(String::new(), |Interval { low, high }| {
                        format!(" ({low:.2} to {high:.2}{basis})")
                    });
                format!("as the number of {noun} to the power of {:.2}{interval}", self.exponent)
            }
        }
    }
}

impl GrowthThreshold {
    /// From where on it changes, in a few words.
    fn course(&self, faster: bool, noun: &str, basis: &str) -> String {
        let [at, low, high] = [self.at, self.interval.low, self.interval.high]
            .map(|value| units::figures(value.max(0.0), 3));
        let way = if faster { "falls" } else { "grows" };
        match self.shape {
            ChangeShape::Step => {
                format!("its time {way} in one step, at about {at} {noun} ({low} to {high}{basis})")
            }
            ChangeShape::Hinge => format!(
                "its time stays the same up to about {at} {noun} ({low} to {high}{basis}), from where \
                 on it {way}"
            ),
        }
    }
}

/// One for each phase with windows, variant and level. Where the levels count the files that the phase
/// makes, only of the highest.
pub(super) fn growth(sample: &Sample<'_>) -> Vec<GrowthFinding> {
    let cells = sample.cells();
    let counts_up_to = |cell: &PhaseCell<'_>| {
        let level = cell.level.filter(|one| say::axis_noun(&one.axis, one.unit).is_some())?;
        let makes_all = |m: &&Measurement| m.operations as f64 == level.value;
        cell.measurements.iter().all(makes_all).then_some(level.value)
    };
    let is_contained = |cell: &PhaseCell<'_>, in_other: &PhaseCell<'_>| {
        let ends = counts_up_to(cell).zip(counts_up_to(in_other));
        (cell.phase, cell.variant) == (in_other.phase, in_other.variant)
            && ends.is_some_and(|(own, other)| own < other)
    };
    let largest = cells.iter().filter(|cell| {
        !in_windows(&cell.measurements).is_empty()
            && !cells.iter().any(|other| is_contained(cell, other))
    });
    let largest: Vec<&PhaseCell<'_>> = largest.collect();
    let found = largest.iter().filter_map(|cell| {
        let others = sample.variants().iter();
        let others = others.map(|name| sample.cell(cell.phase, name, cell.level));
        finding(cell, start_up_share(&others.collect::<Vec<_>>()), largest.len())
    });
    found.collect()
}

/// The interval is such that those of so many findings hold together (Bonferroni).
fn finding(cell: &PhaseCell<'_>, start_up: f64, findings: usize) -> Option<GrowthFinding> {
    let measurements = in_windows(&cell.measurements);
    let windows = measurements.iter().map(|m| m.windows.len()).max()?;
    let mut finding = GrowthFinding {
        variant: cell.variant.into(),
        phase: cell.phase.into(),
        level: cell.level.cloned(),
        shape: GrowthShape::Unclear,
        reason: Some(UnclearReason::TooFewWindows),
        counted: CountedThing::by(measurements.first()?),
        windows: windows as u64,
        n: measurements.len(),
        repeats: each_once(measurements.iter().map(|m| m.cell.repeat)).len(),
        figures: None,
    };
    if windows >= WINDOWS_MIN {
        let phase = PhaseBlocks::new(&measurements, start_up)?;
        let parts = PhaseParts::new(&measurements, start_up)?;
        let estimate = GrowthEstimate {
            shape: PhaseShape::new(&phase)?,
            phase,
            repeats: PhaseBlocks::of_repeats(&measurements, start_up),
            parts,
            alpha: INTERVAL_ALPHA / findings as f64,
        };
        let figures;
        (finding.shape, finding.reason, figures) = estimate.concluded()?;
        finding.figures = Some(figures);
    }
    Some(finding)
}

/// What a growth is concluded from.
struct GrowthEstimate<'a> {
    phase: PhaseBlocks<'a>,
    /// Each repeat for itself; of a single one, each pass.
    repeats: Vec<PhaseBlocks<'a>>,
    parts: PhaseParts,
    shape: PhaseShape,
    /// The chance that its interval does not hold the truth.
    alpha: f64,
}

impl GrowthEstimate<'_> {
    /// Shape, reason and figures. The one ratio is that of the first and the last part; a shape is
    /// stated only where its curve leads from the one to the other.
    fn concluded(&self) -> Option<(GrowthShape, Option<UnclearReason>, GrowthFigures)> {
        let [first, last] = self.ends();
        let ratio = last.mean_ns / first.mean_ns;
        let of_repeats = self.half_width_of_repeats();
        let of_windows = self.half_width_of_windows();
        let half = of_windows.max(of_repeats.unwrap_or(0.0));
        let mut half = half.clamp(LOG_HALF_MIN, LOG_HALF_MAX);
        let curve = self.curve();
        let off = (curve.last()? / curve.first()?).ln() - ratio.ln();
        let differs = ratio.ln().abs() > half;
        // However wide the interval becomes, it must not contain 1.
        let holds = differs && off.abs() <= (CURVE_OFF_MAX * half).min(0.99 * ratio.ln().abs());
        let (shape, reason) = match &self.shape.beyond_law {
            _ if !differs && (ratio.ln() + half).exp() < 1.0 + SLOWER_MARGIN => {
                (GrowthShape::Law, None)
            }
            _ if !differs && of_repeats.is_some_and(|half| half > SLOWER_MARGIN.ln_1p()) => {
                (GrowthShape::Unclear, Some(UnclearReason::RepeatsDisagree))
            }
            _ if !differs => (GrowthShape::Unclear, Some(UnclearReason::TooVariable)),
            BeyondLaw::Threshold(..) if holds => (GrowthShape::Threshold, None),
            BeyondLaw::Monotone(_) if holds => (GrowthShape::Monotone, None),
            BeyondLaw::Nothing if holds && self.shape.law != Law::Constant => {
                (GrowthShape::Law, None)
            }
            _ => (GrowthShape::NoLaw, None),
        };
        let constant = shape == GrowthShape::Law && !differs;
        let is_drawn = !matches!(shape, GrowthShape::NoLaw | GrowthShape::Unclear);
        if is_drawn && !constant {
            half = half.max(off.abs() * (1.0 + 1e-9));
        }
        let law = if constant { Law::Constant } else { self.shape.law };
        let interval = Interval::new((ratio.ln() - half).exp(), (ratio.ln() + half).exp())?;
        let (exponent, exponent_interval) = match law {
            Law::Constant => (0.0, None),
            _ => self.exponent(),
        };
        let figures = GrowthFigures {
            law,
            exponent,
            exponent_interval,
            ratio,
            interval,
            smallest_detectable: half.exp_m1(),
            first_ns: first.mean_ns,
            last_ns: last.mean_ns,
            threshold: (shape == GrowthShape::Threshold).then(|| self.threshold()).flatten(),
            operations: last.operations.end,
            operations_of_end: last.operations.end - last.operations.start,
            start_up: self.parts.start_up.as_ref().map(|part| StartUp {
                operations: part.operations.end - part.operations.start,
                mean_ns: part.mean_ns,
                ratio: part.mean_ns / first.mean_ns,
            }),
            blocks: self.plotted(is_drawn.then_some(&*curve), constant),
        };
        Some((shape, reason, figures))
    }

    fn ends(&self) -> [&PhasePart; 2] {
        let parts = &self.parts.parts;
        [&parts[0], &parts[parts.len() - 1]]
    }

    /// The exponent of the law at the end, with its interval.
    fn exponent(&self) -> (f64, Option<Interval>) {
        let [_, last] = self.ends();
        let end = last.operations.end as f64;
        let own = |repeat: &PhaseBlocks<'_>| {
            let fit = repeat.fine_fit(self.shape.fit.curve)?;
            fit.is_positive_at(end).then(|| fit.exponent(end).0)
        };
        let fit = self.phase.fine_fit(self.shape.fit.curve).unwrap_or(self.shape.fit);
        let (exponent, interval) = fit.exponent(end);
        (exponent, self.by_repeats(interval, own))
    }

    /// The step or hinge, if it is one. Where not all repeats have it, it may be anywhere.
    fn threshold(&self) -> Option<GrowthThreshold> {
        let BeyondLaw::Threshold(fit, found) = &self.shape.beyond_law else { return None };
        let [first, last] = self.ends();
        let (start, end) = (first.operations.start as f64, last.operations.end as f64);
        let interval = self.by_repeats(found.interval, |repeat| own_place(fit, repeat));
        let interval = interval.map_or(Interval { low: start, high: end }, |one| Interval {
            low: one.low.max(start).round(),
            high: one.high.min(end).round(),
        });
        Some(GrowthThreshold { interval, ..*found })
    }

    /// The interval of a figure by the windows of all repeats, made as wide as that of the mean of what
    /// each repeat by itself gives: windows of a repeat have in common what it differs by from others.
    /// None where a repeat gives nothing.
    fn by_repeats(
        &self,
        of_windows: Interval,
        own: impl Fn(&PhaseBlocks<'_>) -> Option<f64>,
    ) -> Option<Interval> {
        if self.repeats.len() < 2 {
            return Some(of_windows);
        }
        let figures = self.repeats.iter().map(own).collect::<Option<Vec<f64>>>()?;
        let of_repeats = mean_interval(&figures, 1.0 - INTERVAL_ALPHA)?;
        Some(Interval {
            low: of_windows.low.min(of_repeats.low),
            high: of_windows.high.max(of_repeats.high),
        })
    }

    /// Half the width of the interval of the logarithm that repeats, or passes of one, give by Student's
    /// t; none of a single measurement.
    fn half_width_of_repeats(&self) -> Option<f64> {
        let [first, last] =
            self.ends().map(|part| part.means_ns.iter().map(|ns| ns / part.mean_ns));
        let apart: Vec<f64> = last.zip(first).map(|(last, first)| last - first).collect();
        let n = apart.len() as f64;
        let t = student_t(self.alpha, n - 1.0)?;
        Some(t * (squares(&apart) / (n - 1.0) / n).sqrt())
    }

    /// The same from what the means of blocks are off the curve, or off their mean where that is less;
    /// outliers count in full, and neighbours that depend on each other less.
    fn half_width_of_windows(&self) -> f64 {
        let curve = self.phase.blocks.iter().map(|block| self.shape.latency(block.x));
        let means = self.phase.means_ns.iter();
        let over_curve: Vec<f64> = means.zip(curve).map(|(ns, curve)| ns / curve).collect();
        let of_curve = self.half_width_of(&over_curve, self.shape.parameters());
        of_curve.min(self.half_width_of(&self.phase.means_ns, 1.0)).min(LOG_HALF_MAX)
    }

    /// Of blocks that would be the same but for chance, after so many numbers were fitted.
    fn half_width_of(&self, blocks: &[f64], parameters: f64) -> f64 {
        let middle = mean(blocks);
        let off: Vec<f64> = blocks.iter().map(|one| one / middle - 1.0).collect();
        let number = off.len() as f64;
        let variance = squares(&off) / (number - parameters).max(1.0);
        let dependence = dependence(&off);
        let degrees = (number / dependence - parameters).max(DEGREES_MIN);
        let blocks_of_end = number / self.parts.parts.len() as f64;
        let error = (2.0 * variance * dependence / blocks_of_end).sqrt();
        student_t(self.alpha, degrees).map_or(f64::INFINITY, |t| t * error)
    }

    /// The mean of the curve over each part; only ratios count.
    fn curve(&self) -> Vec<f64> {
        let of_part = |part: &PhasePart| {
            let (start, end) = (part.operations.start as f64, part.operations.end as f64);
            let place = |at: u32| {
                let share = (f64::from(at) + 0.5) / f64::from(CURVE_PLACES);
                self.shape.latency(start + share * (end - start))
            };
            mean(&(0..CURVE_PLACES).map(place).collect::<Vec<_>>())
        };
        self.parts.parts.iter().map(of_part).collect()
    }

    /// Each part as it was measured, and as the curve has it, which is as high as all of them are.
    fn plotted(&self, curve: Option<&[f64]>, constant: bool) -> Vec<GrowthBlock> {
        let parts = &self.parts.parts;
        let seen = mean(&parts.iter().map(|part| part.mean_ns).collect::<Vec<_>>());
        let fitted = |at: usize| {
            let curve = curve?;
            Some(if constant { seen } else { curve[at] * seen / mean(curve) })
        };
        let block = |(at, part): (usize, &PhasePart)| GrowthBlock {
            operations: part.operations.start.midpoint(part.operations.end) as f64,
            seen_ns: part.mean_ns,
            fitted_ns: fitted(at),
        };
        parts.iter().enumerate().map(block).collect()
    }
}
