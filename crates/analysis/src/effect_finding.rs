//! Defines an effect: how many times as long one variant, level or part of a phase takes as another in the same run, with its
//! interval and decision, and the words in which tables and sentences state it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::effects::contrast::{Contrast, MARGIN_RATIO};
use super::effects::decide::Decision;
use super::findings::growth::GrowthCourse;
use super::findings::say;
use super::statement::{Part, parts};
use super::statistics::Interval;
use boatload_base::named_enum;
use boatload_plan::DEFAULT_VARIANT;
use boatload_results::book::Level;

/// The ways to look at effects: what a job concludes.
pub use boatload_plan::Conclusion;

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
    /// The geometric mean of the time in nanoseconds: of the whole job, an operation, a byte in phases whose operations are
    /// large, a byte of entries in listings. None of all phases together.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ns: Option<f64>,
}

/// `to` takes `ratio` times as long as `from`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EffectFinding {
    /// The way to look at it.
    pub reading: Conclusion,
    /// The phase; none for the whole job, and for all phases together.
    pub phase: Option<String>,
    /// What is compared with.
    pub from: EffectCell,
    /// What takes `ratio` times as long.
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
    pub contrast: Option<Contrast>,
    /// The effect in words, as tables state it: its reading says it.
    #[serde(skip)]
    pub text: String,
}

/// What is stated about a ratio.
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

impl LevelStep {
    /// Whether it is proven to take at most 10% longer.
    pub(crate) fn is_no_longer(&self) -> bool {
        self.interval.is_some_and(|interval| interval.high < MARGIN_RATIO)
    }
}

impl StatedRatio {
    /// Of a single repeat: nothing is claimed.
    pub(crate) const UNDECIDED: Self =
        Self { decision: Decision::Open, interval: None, level: None, since: None };
}

/// A ratio as it is said, in the direction in which it is said.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ComparedRatio {
    /// How many times as long it takes.
    pub ratio: f64,
    /// Its interval; none of a single repeat.
    pub interval: Option<Interval>,
    /// The level of that interval, as a share.
    pub level: Option<f64>,
    /// What is decided.
    pub decision: Decision,
}

impl ComparedRatio {
    /// The same seen from the other side.
    #[must_use]
    pub fn reversed(self) -> Self {
        let interval =
            self.interval.map(|one| Interval { low: 1.0 / one.high, high: 1.0 / one.low });
        Self { ratio: 1.0 / self.ratio, interval, decision: self.decision.reversed(), ..self }
    }

    /// `1.31 times as long as xfs (1.23 to 1.39)`, with what it is compared with, which may be empty.
    pub(crate) fn as_long(self, than: Vec<Part>) -> Vec<Part> {
        parts![self.times(), " times as long", than, self.in_brackets()]
    }

    /// `1.31`
    pub fn times(self) -> Part {
        Part::Figure(say::near(self.ratio))
    }

    /// ` (1.23 to 1.39)`; of a single repeat `, measured once`.
    pub(crate) fn in_brackets(self) -> Vec<Part> {
        match self.interval {
            Some(interval) => parts![" (", Part::Interval(say::span(interval)), ")"],
            None => parts![", measured once"],
        }
    }

    /// `up to 31% longer cannot be excluded`; none of a single repeat.
    pub(crate) fn not_excluded(self) -> Vec<Part> {
        let most = match self.interval.map(|interval| interval.high) {
            None => return Vec::new(),
            Some(high) if high < 1.095 => {
                Part::Figure(format!("{:.1}% longer", (high - 1.0) * 100.0))
            }
            Some(high) if high < 2.0 => {
                Part::Figure(format!("{:.0}% longer", (high - 1.0) * 100.0))
            }
            Some(high) => Part::Figure(format!("{} times as long", say::near(high))),
        };
        parts!["up to ", most, " cannot be excluded"]
    }

    /// What a table says of it: `takes as long within 10%: 1.02 times as long`, `takes 1.31 times as long`, each with its
    /// interval; of what is open `may take`.
    pub fn takes(self, than: Vec<Part>) -> Vec<Part> {
        let verb = match self.decision {
            Decision::Open if self.interval.is_none() => "took ",
            Decision::Open => "may take ",
            Decision::Within => "takes as long within 10%: ",
            Decision::Longer | Decision::Shorter => "takes ",
        };
        parts![verb, self.as_long(than)]
    }
}

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
        let StatedRatio { decision, interval, level, .. } = as_stated;
        ComparedRatio { ratio: self.ratio, interval, level, decision }
    }

    /// The effect in one sentence, as tables state it.
    pub fn sentence(&self) -> String {
        format!("{}.", self.text)
    }

    /// The size of the effect: the distance of the ratio from 1, as a logarithm.
    pub fn size(&self) -> f64 {
        self.ratio.ln().abs()
    }

    /// A phase of a variant: `write`, `create-file (fresh)`; of the whole `all phases`.
    pub fn task(&self) -> Vec<Part> {
        task_parts(self.to.variant.as_deref(), self.phase.as_deref().unwrap_or("all phases"))
    }
}

/// A phase of a variant: `write`, `create-file (fresh)`.
pub(crate) fn task_parts(variant: Option<&str>, phase: &str) -> Vec<Part> {
    let variant = variant.filter(|variant| *variant != DEFAULT_VARIANT);
    let variant = variant.map(|variant| parts![" (", Part::Variant(variant.into()), ")"]);
    parts![Part::Phase(phase.into()), variant]
}
