//! Defines an effect: a ratio of two times of a run, with its interval and its decision. All that is concluded is one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::effects::contrast::Contrast;
use super::effects::decide::Decision;
use super::findings::growth::GrowthCourse;
use super::findings::law::Law;
use super::findings::say;
use super::statistics::Interval;
use crate::base::named_enum::named_enum;
use crate::base::units::grouped;
use crate::plan::DEFAULT_VARIANT;
use crate::results::book::Level;

named_enum! {
    /// The ways to look at effects.
    pub enum Reading {
        /// Variants against each other.
        Ranking = "ranking",
        /// The highest level against the lowest.
        Levels = "levels",
        /// The last tenth of a phase against its second.
        Growth = "growth",
    }
}

named_enum! {
    /// Tenths of the operations of a phase that are compared. The first one is its start-up.
    pub enum PhaseTenth {
        /// Behind the start-up.
        Second = "second-tenth",
        /// At the end.
        Last = "last-tenth",
    }
}

/// What an effect compares, as far as it is not the same on both of its sides.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EffectCell {
    /// The variant; none for all of them together.
    pub variant: Option<String>,
    /// The level; none without an axis.
    pub level: Option<Level>,
    /// The part of the phase; none for all of it.
    pub part: Option<PhaseTenth>,
}

/// `to` takes `ratio` times as long as `from`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EffectFinding {
    /// The way to look at it.
    pub reading: Reading,
    /// The phase; none for the whole job, and for all phases together.
    pub phase: Option<String>,
    /// What is compared with.
    pub from: EffectCell,
    /// What takes so many times as long.
    pub to: EffectCell,
    /// The ratio of the times of an operation, or of a byte.
    pub ratio: f64,
    /// As tables state it: among these at most one decision in twenty is false (Benjamini and Hochberg, JRSS B 57, 1995).
    #[serde(flatten)]
    pub stated: StatedRatio,
    /// As a headline states it: with 95% none of a run's is false (Holm, Scandinavian Journal of Statistics 6, 1979).
    pub headline: StatedRatio,
    /// Repeats that it is of.
    pub repeats: usize,
    /// Each level above the lowest against the lowest, of effects over an axis.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub steps: Vec<LevelStep>,
    /// Whether the device took longer, or shorter, for the same requests: then it may be an effect of the device itself, and
    /// not of the level.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub device_itself: bool,
    /// How the time of an operation went on, of effects within a phase.
    #[serde(flatten)]
    pub course: Option<GrowthCourse>,
    /// What is known of the logarithm of the ratio; none of a single repeat.
    #[serde(skip)]
    pub(in crate::analysis) contrast: Option<Contrast>,
}

/// What is said of a ratio.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StatedRatio {
    /// What is decided.
    pub decision: Decision,
    /// Of the ratio; none of a single repeat.
    pub interval: Option<Interval>,
    /// The level of that interval, as a share: 0.95 and more.
    pub level: Option<f64>,
    /// The lowest level of the axis from which on all take longer than the lowest, or all shorter.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub since: Option<f64>,
}

/// The time at one level over the time at the lowest.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LevelStep {
    /// The level's value, in the unit's base.
    pub value: f64,
    /// The ratio.
    pub ratio: f64,
    /// Its interval, at the level of the effect's; none of a single repeat.
    pub interval: Option<Interval>,
}

impl StatedRatio {
    /// Of a single repeat, of which nothing is claimed.
    pub(in crate::analysis) const UNDECIDED: Self =
        Self { decision: Decision::Open, interval: None, level: None, since: None };
}

/// A ratio as it is said, in the direction in which it is said.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ComparedRatio {
    /// How many times as long it takes.
    pub ratio: f64,
    /// Its interval; none of a single repeat.
    pub interval: Option<Interval>,
    /// What is decided.
    pub decision: Decision,
}

impl ComparedRatio {
    /// The same seen from the other side.
    #[must_use]
    pub fn reversed(self) -> Self {
        let interval =
            self.interval.map(|one| Interval { low: 1.0 / one.high, high: 1.0 / one.low });
        Self { ratio: 1.0 / self.ratio, interval, decision: self.decision.reversed() }
    }

    /// `1.31 times as long (1.23 to 1.39)`
    #[must_use]
    pub fn as_long(self) -> String {
        let interval = self.told().map(|one| format!(" ({})", say::span(one)));
        format!("{} times as long{}", say::near(self.ratio), interval.unwrap_or_default())
    }

    /// What is said of an open one, with what it is compared with, which may be empty: `may take 0.94 to 1.40 times as long as xfs`;
    /// of a single repeat `took 1.20 times as long as xfs, measured once`.
    #[must_use]
    pub fn as_open(self, than: &str) -> String {
        let took = || format!("took {} times as long{than}", say::times(self.ratio));
        match (self.interval, self.told()) {
            (None, _) => format!("{}, measured once", took()),
            (_, Some(told)) => format!("may take {} times as long{than}", say::span(told)),
            (_, None) => format!("{} and varies too much to tell", took()),
        }
    }

    /// The interval, unless it is so wide that its ends say nothing.
    #[must_use]
    pub fn told(self) -> Option<Interval> {
        self.interval.filter(|one| one.high <= TOLD_SPAN_MAX * one.low)
    }
}

/// An interval whose ends are further apart than that, as a factor, is said to be open and not printed.
pub(crate) const TOLD_SPAN_MAX: f64 = 30.0;

impl EffectFinding {
    /// As a table states it.
    pub fn stated(&self) -> ComparedRatio {
        self.compared(self.stated)
    }

    /// As a headline states it.
    pub fn headline(&self) -> ComparedRatio {
        self.compared(self.headline)
    }

    fn compared(&self, as_stated: StatedRatio) -> ComparedRatio {
        let StatedRatio { decision, interval, .. } = as_stated;
        ComparedRatio { ratio: self.ratio, interval, decision }
    }
}

impl EffectFinding {
    /// The effect in one sentence, as tables state it.
    pub fn sentence(&self) -> String {
        let text = match (self.reading, &self.course) {
            (Reading::Growth, Some(course)) => self.of_course(course),
            (Reading::Ranking, _) => self.of_variants(),
            _ => self.of_levels(),
        };
        format!("{text}.")
    }

    fn of_variants(&self) -> String {
        let name = |cell: &EffectCell| cell.variant.clone().unwrap_or_default();
        let what = self.phase.as_deref().unwrap_or("the whole job");
        let at = self.to.level.as_ref().map(|level| format!(" at {}", say::level_in_words(level)));
        let takes = takes(self.stated(), &format!(" as {}", name(&self.from)));
        format!("{what}{}: {} {takes}", at.unwrap_or_default(), name(&self.to))
    }

    fn of_levels(&self) -> String {
        let what = self.task();
        let Some((low, high)) = self.from.level.as_ref().zip(self.to.level.as_ref()) else {
            let takes = takes(self.stated(), " as at the lowest");
            return format!("all phases together: at the highest level it {takes}");
        };
        let takes = takes(self.stated(), &format!(" as at {}", say::level(low)));
        let since = self.stated.since.filter(|since| *since < high.value).map(|since| {
            let from = Level { value: since, ..high.clone() };
            let way = if self.ratio < 1.0 { "shorter" } else { "longer" };
            format!(", {way} from {} on", say::level(&from))
        });
        let device = if self.device_itself { DEVICE_ITSELF } else { "" };
        let since = since.unwrap_or_default();
        format!("{what} at {} {takes}{since}{device}", say::level_in_words(high))
    }

    /// A phase of a variant: `write`, `create-file (fresh)`; of the whole `all phases`.
    pub(in crate::analysis) fn task(&self) -> String {
        let phase = self.phase.as_deref().unwrap_or("all phases");
        match self.to.variant.as_deref() {
            None | Some(DEFAULT_VARIANT) => phase.to_string(),
            Some(variant) => format!("{phase} ({variant})"),
        }
    }

    fn of_course(&self, course: &GrowthCourse) -> String {
        let at = self.to.level.as_ref().map(|level| format!(" at {}", say::level_in_words(level)));
        let noun = course.counted.noun();
        let tenth = grouped(course.operations_of_tenth);
        let start_up = course.slow_start_up().map(|times| {
            format!(
                "; the first {tenth}, its start-up, take {} times as long as the second",
                say::times(times)
            )
        });
        let way = if self.ratio < 1.0 { "falling" } else { "growing" };
        format!(
            "{}{}: the last {tenth} of {} {noun} {}{}{}",
            self.task(),
            at.unwrap_or_default(),
            grouped(course.operations),
            takes(self.stated(), &format!(" as the second {tenth}")).replacen("takes", "take", 1),
            course.by_law().map(|law| format!(", {way} {law}")).unwrap_or_default(),
            start_up.unwrap_or_default(),
        )
    }
}

/// `takes 1.31 times as long (1.23 to 1.39) as xfs`, or what is said of what is open or equal.
fn takes(compared: ComparedRatio, than: &str) -> String {
    match compared.decision {
        Decision::Open => compared.as_open(than),
        Decision::Within => format!("takes as long within 10%: {}{than}", compared.as_long()),
        Decision::Longer | Decision::Shorter => format!("takes {}{than}", compared.as_long()),
    }
}

/// What stands behind an effect that may be the device's own.
const DEVICE_ITSELF: &str = ", but the device had the same requests: it may be the device itself";

impl GrowthCourse {
    /// `linearly with the number of files`; none where no law grows.
    pub(in crate::analysis) fn by_law(&self) -> Option<String> {
        let noun = self.counted.noun();
        match self.law? {
            Law::Constant => None,
            Law::Linear => Some(format!("linearly with the number of {noun}")),
            Law::Logarithmic => Some(format!("with the logarithm of the number of {noun}")),
            Law::Power => {
                let exponent = self.exponent?;
                Some(format!("as the number of {noun} to the power of {exponent:.2}"))
            }
        }
    }
}
