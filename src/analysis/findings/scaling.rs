//! Finds how far a variant scales: up to which level of the axis its operations take hardly longer than at
//! the lowest, and from which level on they do.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ratio::{PooledVariance, Rate, rates};
use super::sample::{LevelSeries, Sample, log_rate, lowest_first};
use super::say::{self, lead, listed};
use crate::analysis::statistics::Interval;
use crate::analysis::thresholds::SLOWER_MARGIN;
use crate::base::units::Unit;

/// Up to which level the operations of one variant take no longer than at the lowest, but for a
/// margin, and from which level on they do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScalingFinding {
    /// The variant's name.
    pub variant: String,
    /// The axis's name.
    pub axis: String,
    /// The unit of its values.
    pub unit: Unit,
    /// The share by which operations may take longer.
    pub margin: f64,
    /// The lowest and the highest level that were measured.
    pub range: Interval,
    /// The highest level up to which no phase is slower by more than the margin; none if not even
    /// the next to the lowest is known to be one.
    pub up_to: Option<f64>,
    /// Each phase that was measured at all levels, but for those with windows.
    pub phases: Vec<ScaledPhase>,
    /// The other phases, of which it says nothing.
    pub left_out: Vec<String>,
}

/// How far one phase scales.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScaledPhase {
    /// The phase's name.
    pub phase: String,
    /// The highest level up to which it is not slower by more than the margin; none as for all.
    pub up_to: Option<f64>,
    /// The level from which on it is slower by more than the margin at each; none if at the highest it
    /// is not known to be.
    pub slower_from: Option<f64>,
    /// The level from which on it is slower at each, by however little; none if at the highest it is not
    /// known to be.
    pub longer_from: Option<f64>,
    /// The levels above the lowest.
    pub levels: Vec<LevelTime>,
}

/// How many times as long operations take at a level as at the lowest.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LevelTime {
    /// The level.
    pub value: f64,
    /// The ratio.
    pub ratio: f64,
    /// Its interval, such that those of all phases and variants at one level hold together with 95%;
    /// none for too few measurements.
    pub interval: Option<Interval>,
}

impl LevelTime {
    /// Whether it takes longer by no more than a margin.
    pub(in crate::analysis) fn is_within(&self, margin: f64) -> bool {
        self.interval.is_some_and(|interval| interval.high <= 1.0 + margin)
    }

    fn in_words(&self, level: &str) -> String {
        let interval = self.interval.map(|interval| format!(", {}", say::span(interval)));
        format!("{} times with {level}{}", say::times(self.ratio), interval.unwrap_or_default())
    }

    /// Whether it takes longer by more than a margin.
    pub(in crate::analysis) fn is_slower(&self, margin: f64) -> bool {
        self.interval.is_some_and(|interval| interval.low > 1.0 + margin)
    }
}

impl ScaledPhase {
    fn new(phase: &str, levels: Vec<LevelTime>, margin: f64) -> Self {
        let within = levels.iter().take_while(|level| level.is_within(margin)).last();
        let beyond = |margin: f64| {
            let slower = levels.iter().rev().take_while(|level| level.is_slower(margin)).last();
            slower.map(|level| level.value)
        };
        Self {
            phase: phase.into(),
            up_to: within.map(|level| level.value),
            slower_from: beyond(margin),
            longer_from: beyond(0.0),
            levels,
        }
    }

    /// Whether it is known from which level on it is slower, or that it is slower at none.
    fn is_clear(&self, highest: f64) -> bool {
        self.longer_from.is_some() || self.up_to == Some(highest)
    }

    /// `stat, 1.02 times with 1,000,000 files (0.81 to 1.29)`
    fn unclear(&self, highest: &str) -> String {
        match self.levels.last() {
            Some(last) if last.interval.is_some() => {
                format!("{} ({})", self.phase, last.in_words(highest))
            }
            _ => self.phase.clone(),
        }
    }

    /// Whether it is slower, and by more than the margin or not is not known.
    pub(in crate::analysis) fn is_near_margin(&self, highest: f64) -> bool {
        self.longer_from.is_some() && self.slower_from.is_none() && self.up_to != Some(highest)
    }
}

impl ScalingFinding {
    /// The finding in one sentence.
    pub fn sentence(&self) -> String {
        let (lowest, highest) = (self.level(self.range.low), self.level(self.range.high));
        let margin = say::percent(self.margin).replace(".0%", "%");
        let longer = format!("more than {margin} longer than with {lowest}");
        let mut parts = Vec::new();
        if let Some(up_to) = self.up_to {
            let apart = match self.left_out.as_slice() {
                [] => String::new(),
                names => format!("apart from {}, ", listed(names)),
            };
            parts.push(format!("{apart}up to {} nothing takes {longer}", self.level(up_to)));
        }
        for phase in &self.phases {
            let Some((from, last)) = phase.slower_from.zip(phase.levels.last()) else { continue };
            let takes = if parts.is_empty() { format!("takes {longer}") } else { "does".into() };
            let (name, from) = (&phase.phase, say::quantity(from, self.unit));
            let most = last.in_words(&highest);
            parts.push(format!("{name} {takes} from {from} on ({most})"));
        }
        for phase in self.phases.iter().filter(|phase| phase.is_near_margin(self.range.high)) {
            let Some((from, last)) = phase.longer_from.zip(phase.levels.last()) else { continue };
            let (name, from) = (&phase.phase, say::quantity(from, self.unit));
            parts.push(format!("{name} takes longer from {from} on ({})", last.in_words(&highest)));
        }
        let never =
            |phase: &ScaledPhase| self.up_to.is_none() && phase.up_to == Some(self.range.high);
        if let Some(names) = self.named(never) {
            let than = match parts.is_empty() {
                true => format!(" than with {lowest}"),
                false => String::new(),
            };
            parts.push(format!("up to {highest} at most {margin} longer{than}: {names}"));
        }
        let unclear = self.phases.iter().filter(|phase| !phase.is_clear(self.range.high));
        let unclear: Vec<String> = unclear.map(|phase| phase.unclear(&highest)).collect();
        if !unclear.is_empty() {
            let unclear = listed(&unclear);
            parts.push(match parts.is_empty() {
                true => format!("cannot tell from where on anything takes {longer}: {unclear}"),
                false => format!("cannot tell for {unclear}"),
            });
        }
        format!("{}{}.", lead(&self.variant), parts.join("; "))
    }

    fn level(&self, value: f64) -> String {
        say::value_in_words(&self.axis, value, self.unit)
    }

    /// The names of some phases; none if there are none.
    fn named(&self, is_one: impl Fn(&ScaledPhase) -> bool) -> Option<String> {
        let names = self.phases.iter().filter(|phase| is_one(phase));
        let names: Vec<String> = names.map(|phase| phase.phase.clone()).collect();
        (!names.is_empty()).then(|| listed(&names))
    }
}

/// One for each variant with a phase that was measured at all of its levels, two or more.
pub(super) fn scaling(sample: &Sample<'_>) -> Vec<ScalingFinding> {
    let (cells, mut series) = (sample.cells(), sample.series());
    let levels = |variant: &str| {
        let own = cells.iter().filter(|cell| cell.variant == variant);
        lowest_first(own.map(|cell| cell.level))
    };
    // What a phase with windows does grows with the level: growth describes it.
    series.retain(|one| !one.has_windows() && one.levels.len() == levels(one.variant).len());
    let of_variant = |variant: &&str| {
        let own: Vec<_> = series.iter().filter(|one| one.variant == *variant).collect();
        let (low, high) = own.first()?.levels.first().zip(own.first()?.levels.last())?;
        let phase = |one: &&LevelSeries<'_>| {
            let times = level_times(one, sample.in_turns(), series.len());
            ScaledPhase::new(one.phase, times, SLOWER_MARGIN)
        };
        let phases: Vec<ScaledPhase> = own.iter().map(phase).collect();
        let up_to = phases.iter().map(|phase| phase.up_to).collect::<Option<Vec<f64>>>();
        let mut left_out = sample.phases_of(variant);
        left_out.retain(|phase| own.iter().all(|one| one.phase != *phase));
        Some(ScalingFinding {
            variant: (*variant).into(),
            axis: low.axis.clone(),
            unit: low.unit,
            margin: SLOWER_MARGIN,
            range: Interval { low: low.value, high: high.value },
            up_to: up_to.and_then(|all| all.into_iter().reduce(f64::min)),
            phases,
            left_out: left_out.into_iter().map(String::from).collect(),
        })
    };
    sample.variants().iter().filter_map(of_variant).collect()
}

/// Levels are tested in order, from the lowest on for whether they are within the margin and from the
/// highest on for whether they are beyond, each up to the first that is not. So the levels of each
/// direction share one half of alpha (Hsu and Berger, "Stepwise confidence intervals without multiplicity adjustment for dose-response and
/// toxicity studies", JASA 94, 1999), and only phases and variants, `comparisons`, divide it.
fn level_times(series: &LevelSeries<'_>, in_turns: bool, comparisons: usize) -> Vec<LevelTime> {
    let values = series.values(|m, amount| Some(log_rate(m)? + amount.ln()));
    let rates = rates(&values.iter().collect::<Vec<_>>(), in_turns);
    let pooled = PooledVariance::new(&rates);
    let Some((lowest, others)) = rates.split_first().filter(|_| rates.len() == values.len()) else {
        return Vec::new();
    };
    let level = |at: usize, rate: Rate| {
        let pair = [&values[0], &values[at]];
        let ratio = pooled.ratio_in_turns([*lowest, rate], pair, comparisons);
        let value = series.levels[at].value;
        LevelTime { value, ratio: ratio.times(), interval: ratio.interval() }
    };
    (1..).zip(others).map(|(at, rate)| level(at, *rate)).collect()
}
