//! Defines the figures that decide an answer: the numbers its sentence is made of, each with its interval and with what it
//! is of.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::analysis::findings::crossover::{CrossoverFinding, LevelWinner};
use crate::analysis::findings::growth::GrowthFinding;
use crate::analysis::findings::knee::{GeneralSlowdown, KneeFinding, SlowLevel};
use crate::analysis::findings::ranking::{ON_AVERAGE, RankingFinding, RankingStep};
use crate::analysis::findings::say;
use crate::analysis::findings::scaling::ScalingFinding;
use crate::analysis::findings::slope::SlopeFinding;
use crate::analysis::statistics::Interval;
use crate::analysis::summary::{PhaseSummary, VariantSummary};
use crate::analysis::thresholds::LOG_HALF_MIN;
use crate::base::named_enum::named_enum;
use crate::base::units::{Unit, grouped};

use super::words::{AxisWords, task};

named_enum! {
    /// What a figure that decides an answer is.
    pub enum FigureMeasure {
        /// One time or rate over another.
        Ratio = "ratio",
        /// The change of a rate, as a share of what it changes from.
        Change = "change",
        /// Operations in one second.
        OperationsPerSecond = "operations-per-second",
        /// Bytes in one second.
        BytesPerSecond = "bytes-per-second",
    }
}

/// A number that decides an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AnswerFigure {
    /// What it is of: `time of ext4 over that of ext3, over the whole job`.
    pub name: String,
    /// What it is.
    pub measure: FigureMeasure,
    /// The number.
    pub value: f64,
    /// Its interval, as the answer states it: those of an answer that tests something hold together. None for too few
    /// repeats.
    pub interval: Option<Interval>,
    /// The variants that it is of.
    pub variants: Vec<String>,
    /// The phase that it is of; none for the whole job, and for all phases together.
    pub phase: Option<String>,
}

impl AnswerFigure {
    fn ratio(name: String, value: f64, interval: Option<Interval>) -> Self {
        let measure = FigureMeasure::Ratio;
        Self { name, measure, value, interval, variants: Vec::new(), phase: None }
    }

    fn of(self, variants: &[&String], phase: Option<&String>) -> Self {
        let variants = variants.iter().map(|name| (*name).clone()).collect();
        Self { variants, phase: phase.cloned(), ..self }
    }

    /// How long each slower variant of a ranking takes.
    pub(super) fn of_ranking(one: &RankingFinding) -> Vec<Self> {
        let place = match &one.phase {
            None => "over the whole job".to_string(),
            Some(phase) => format!("in {phase}"),
        };
        let axis = AxisWords {
            name: one.axis.as_deref().unwrap_or_default(),
            unit: one.unit.unwrap_or_default(),
        };
        let levels = match one.levels.as_slice() {
            [] => String::new(),
            [only] => format!(" at {}", axis.level(*only)),
            [first, .., last] => {
                format!(" {ON_AVERAGE} from {} to {}", axis.value(*first), axis.level(*last))
            }
        };
        let first = one.order.first().map_or("", String::as_str);
        let figure = |step: &RankingStep| {
            let name = format!("time of {} over that of {first}, {place}{levels}", step.slower);
            let behind = step.behind_first;
            let variants: Vec<&String> =
                one.order.first().into_iter().chain([&step.slower]).collect();
            Self::ratio(name, behind.ratio, behind.interval).of(&variants, one.phase.as_ref())
        };
        one.steps.iter().map(figure).collect()
    }

    /// How many times as fast the first variant is at each level.
    pub(super) fn of_crossover(one: &CrossoverFinding) -> Vec<Self> {
        let [first, second] = &one.variants;
        let axis = AxisWords { name: &one.axis, unit: one.unit };
        let figure = |level: &LevelWinner| {
            let (phase, at) = (&one.phase, axis.level(level.value));
            let name = format!("rate of {first} over that of {second}, in {phase} at {at}");
            Self::ratio(name, level.ratio, level.interval).of(&[first, second], Some(phase))
        };
        one.levels.iter().map(figure).collect()
    }

    /// The change over the whole range, or how many times as long the highest level takes where that is told; where there
    /// is none, its interval is that of any level.
    pub(super) fn of_slope(one: &SlopeFinding) -> Self {
        let axis = AxisWords { name: &one.axis, unit: one.unit };
        let (task, over) = (task(&one.variant, &one.phase), axis.over(one.range));
        if let Some((times, ends)) = one.times_as_long().filter(|_| one.effect) {
            let [low, high] = [axis.value(one.range.low), axis.level(one.range.high)];
            let name = format!("time of {task} at {high} over that at {low}");
            return Self::ratio(name, times, Some(ends)).of(&[&one.variant], Some(&one.phase));
        }
        let figure = Self::ratio(
            format!("change of the rate of {task} {over}"),
            one.whole(),
            Some(if one.effect { one.whole_interval() } else { one.bounds() }),
        );
        Self { measure: FigureMeasure::Change, ..figure }.of(&[&one.variant], Some(&one.phase))
    }

    /// How long an operation takes at the end; none for too few windows.
    pub(super) fn of_growth(one: &GrowthFinding) -> Option<Self> {
        let figures = one.figures.as_ref()?;
        let at =
            one.level.as_ref().map_or(String::new(), |level| format!(" at {}", say::level(level)));
        let name = format!(
            "time of {}{at} after {} {} over that {}",
            task(&one.variant, &one.phase),
            grouped(figures.operations),
            one.counted.noun(),
            figures.beginning()
        );
        // What windows of a single repeat say holds for that run only.
        let interval = Some(figures.interval).filter(|_| one.repeats > 1);
        let figure = Self::ratio(name, figures.ratio, interval);
        Some(figure.of(&[&one.variant], Some(&one.phase)))
    }

    /// How long each phase takes at the highest level.
    pub(super) fn of_scaling(one: &ScalingFinding) -> Vec<Self> {
        let axis = AxisWords { name: &one.axis, unit: one.unit };
        let figures = one.phases.iter().filter_map(|phase| {
            let last = phase.levels.last()?;
            let (task, at) = (task(&one.variant, &phase.phase), axis.level(last.value));
            let name = format!("time of {task} at {at} over that at {}", axis.value(one.range.low));
            let figure = Self::ratio(name, last.ratio, last.interval);
            Some(figure.of(&[&one.variant], Some(&phase.phase)))
        });
        figures.collect()
    }

    /// How long all tasks take on average from a level on: from the knee, or from the level from which on a slowdown is the
    /// least excluded.
    pub(super) fn of_slowdown(
        general: &GeneralSlowdown,
        axis: AxisWords<'_>,
        together: &str,
    ) -> Self {
        let named = |from: String, value, interval| {
            Self::ratio(
                format!("time of {together} from {from} on over that before"),
                value,
                interval,
            )
        };
        match &general.knee {
            Some(knee) => {
                named(axis.level(knee.interval.high), knee.factor, Some(knee.factor_interval))
            }
            None if general.is_slower() => {
                let halves = general.halves;
                named(axis.level(general.middle), halves.middle_ratio(), Some(halves))
            }
            None => {
                let most = general.most.interval;
                named(axis.level(general.most.from), most.middle_ratio(), Some(most))
            }
        }
    }

    /// How long all tasks take at the slowest level, compared with the lowest.
    pub(super) fn of_slow_level(slow: &SlowLevel, axis: AxisWords<'_>, together: &str) -> Self {
        let (at, lowest) = (axis.level(slow.at), axis.value(slow.lowest));
        let name = format!("time of {together} at {at} over that at {lowest}");
        Self::ratio(name, slow.interval.middle_ratio(), Some(slow.interval))
    }

    /// How long operations take after a knee, or where they change without a step; none where they do neither.
    pub(super) fn of_knee(one: &KneeFinding) -> Option<Self> {
        let axis = AxisWords { name: &one.axis, unit: one.unit };
        let (variant, phase) = (one.variant.as_ref()?, one.phase.as_ref()?);
        let task = task(variant, phase);
        let figure = match one.at {
            Some(at) => {
                let at = axis.level(at);
                let name = format!("time of {task} from about {at} on over that before");
                Self::ratio(name, one.factor?, one.factor_interval)
            }
            None => {
                let name = format!(
                    "time of {task} at the upper half of the levels over that at the lower"
                );
                Self::ratio(name, one.gradual_ratio?, one.gradual_interval)
            }
        };
        Some(figure.of(&[variant], Some(phase)))
    }

    /// The rate of a row, as it is stated; none without a valid measurement.
    pub(super) fn of_rate(row: &PhaseSummary, of: &VariantSummary) -> Option<Self> {
        let rate = row.rate.filter(|rate| rate.mean > 0.0)?;
        let measure = match row.rate_unit {
            Unit::Bytes => FigureMeasure::BytesPerSecond,
            _ => FigureMeasure::OperationsPerSecond,
        };
        let level = of.level.as_ref().map(say::level_in_words);
        let at = level.map_or(String::new(), |level| format!(" at {level}"));
        Some(Self {
            name: format!("{}{at}", task(&of.variant, &row.phase)),
            measure,
            value: rate.mean,
            interval: rate.interval.filter(|_| !rate.is_scattered()),
            variants: vec![of.variant.clone()],
            phase: Some(row.phase.clone()),
        })
    }

    /// Whether it says how fast something is, and compares nothing.
    pub(in crate::analysis) fn is_rate(&self) -> bool {
        match self.measure {
            FigureMeasure::OperationsPerSecond | FigureMeasure::BytesPerSecond => true,
            FigureMeasure::Ratio | FigureMeasure::Change => false,
        }
    }

    /// How far its interval reaches beyond it, as a share: of the rate, of the ratio, or of what changes. None without an
    /// interval.
    pub(in crate::analysis) fn half_width(&self) -> Option<f64> {
        let Interval { low, high } = self.interval?;
        Some(match self.measure {
            FigureMeasure::Ratio => (high / low).sqrt() - 1.0,
            FigureMeasure::Change => (high - low) / 2.0,
            FigureMeasure::OperationsPerSecond | FigureMeasure::BytesPerSecond => {
                (high - low) / 2.0 / self.value
            }
        })
    }

    /// The smallest half width that it is ever stated with, as a share.
    pub(in crate::analysis) fn half_width_min(&self) -> f64 {
        match self.measure {
            FigureMeasure::Ratio => LOG_HALF_MIN.exp_m1() * (1.0 + 1e-9),
            _ => 0.0,
        }
    }
}
