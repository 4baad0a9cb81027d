//! Knees: from which level of the axis on operations suddenly take longer.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::units::Unit;
use crate::results::book::{Level, Measurement};

use super::bend::{Bend, BendShape, Even, Grid};
use super::fit::mean;
use super::interval::ChangeShape;
use super::sample::{Sample, Values, lead, log_rate};
use super::say;
use crate::analysis::statistics::Interval;
use crate::analysis::statistics::student::student_t;

/// From this on a phase is judged by its bytes.
const BYTES_OF_OPERATION: u64 = 64 * 1024;
/// With fewer levels a knee is not to be told from an even change.
const LEVELS_MIN: usize = 5;
/// There must be so many orders in which levels could have come, or chance cannot be excluded.
const ORDERS_MIN: f64 = 100.0;
/// A knee after which operations take less than this share longer is none.
const RISE_MIN: f64 = 0.10;
/// A knee must explain this share of what levels differ by: one odd level is none.
const EXPLAINED_MIN: f64 = 0.5;
/// The chance of a gain as large without any knee, at most.
const CHANCE_MAX: f64 = 0.01;
/// Orders that are tried to find that chance.
const SHUFFLES: u64 = 299;
/// Places of a hinge in a gap between levels, in the test and in the interval.
const PLACES: usize = 1;
const PLACES_FINE: usize = 10;
/// A step of so many standard errors is seen nine times in ten: the even change that it could be
/// instead takes much of it.
const ERRORS_SEEN: f64 = 7.0;

/// From which level of the axis on operations suddenly take longer, of one variant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KneeFinding {
    /// The variant's name; none where no variant and phase has enough measurements.
    pub variant: Option<String>,
    /// The phase's name; none as for the variant.
    pub phase: Option<String>,
    /// The axis's name.
    pub axis: String,
    /// The unit of its values.
    pub unit: Unit,
    /// The lowest and the highest level that were measured.
    pub range: Interval,
    /// The level of the knee; none if there is none.
    pub at: Option<f64>,
    /// The 95% interval of that level.
    pub interval: Option<Interval>,
    /// Whether it is a step or a hinge.
    pub shape: Option<ChangeShape>,
    /// How many times as long operations take at the last level as before the knee.
    pub factor: Option<f64>,
    /// Its 95% interval.
    pub factor_interval: Option<Interval>,
    /// Whether there are enough measurements to find a knee.
    pub enough_data: bool,
    /// The smallest step that would have been found, as a share; none without enough data.
    pub smallest_detectable: Option<f64>,
    /// How many times as long operations take at the last level as at the first, where they change
    /// evenly; none where they stay the same.
    pub gradual_ratio: Option<f64>,
    /// Levels.
    pub levels: usize,
    /// Measurements of each level.
    pub repeats: usize,
}

impl KneeFinding {
    /// The finding in one sentence.
    pub fn sentence(&self) -> String {
        let variant = self.variant.as_deref().map_or(String::new(), lead);
        let told = match (self.at, self.interval, self.factor.zip(self.factor_interval)) {
            (Some(at), Some(interval), Some((factor, span))) => {
                let grows = format!("{} times as long ({})", say::times(factor), say::span(span));
                self.about_knee(at, interval, &grows)
            }
            _ => self.about_none(),
        };
        format!("{variant}{told}.")
    }

    fn phase(&self) -> &str {
        self.phase.as_deref().unwrap_or("any phase")
    }

    fn about_knee(&self, at: f64, interval: Interval, grows: &str) -> String {
        let (phase, axis) = (self.phase(), &self.axis);
        let value = |value: f64| say::quantity((value * 10.0).round() / 10.0, self.unit);
        let [low, high] = [value(interval.low), value(interval.high)];
        match self.shape {
            Some(ChangeShape::Hinge) => format!(
                "{phase} gets slower from about {} of {axis} on ({low} to {high}): at {} it takes \
                 {grows}",
                value(at),
                say::quantity(self.range.high, self.unit)
            ),
            Some(ChangeShape::Step) | None => format!(
                "{phase} gets slower between {low} and {high} of {axis}: from there on it takes {grows}"
            ),
        }
    }

    fn about_none(&self) -> String {
        let (phase, axis) = (self.phase(), &self.axis);
        let Some(smallest) = self.smallest_detectable else {
            return format!(
                "cannot tell from which {axis} on {phase} gets slower: too few measurements ({} \
                 levels, {} of each)",
                self.levels, self.repeats
            );
        };
        let gradual = self.gradual_ratio.map_or(String::new(), |ratio| {
            let way = if ratio > 1.0 { "rises" } else { "drops" };
            format!("; it {way} gradually to {} times the time", say::times(ratio))
        });
        let [low, high] = [self.range.low, self.range.high].map(|at| say::quantity(at, self.unit));
        format!(
            "no sudden slowdown of {phase} between {low} and {high} of {axis} (smallest detectable: \
             {}){gradual}",
            say::percent(smallest)
        )
    }
}

/// One for each phase and variant that were measured over an axis; a single one if for none of them
/// there is enough to find a knee.
pub(super) fn knee(sample: &Sample<'_>) -> Vec<KneeFinding> {
    let mut all = Vec::new();
    for phase in sample.phases() {
        for variant in sample.variants() {
            let series = KneeSeries::of(sample, phase, variant);
            all.extend(series.map(|series| (phase, variant, series)));
        }
    }
    match all.iter().min_by_key(|(_, _, series)| series.levels.len()) {
        Some((_, _, least)) if all.len() > 1 && !all.iter().any(|(.., one)| one.enough_data()) => {
            vec![least.finding(None, None)]
        }
        _ => all
            .iter()
            .map(|(phase, variant, one)| one.finding(Some(phase), Some(variant)))
            .collect(),
    }
}

/// Times of an operation over the axis.
struct KneeSeries<'a> {
    levels: Vec<&'a Level>,
    /// One row for each repeat, or one of the means of the levels.
    grid: Grid,
}

/// A knee that was found.
struct Found {
    bend: Bend,
    at: f64,
    interval: [f64; 2],
    /// Interval of how many times longer operations take.
    factor: [f64; 2],
}

impl<'a> KneeSeries<'a> {
    fn of(sample: &Sample<'a>, phase: &str, variant: &str) -> Option<Self> {
        let cells: Vec<(&Level, Vec<&Measurement>)> = sample
            .levels(phase)
            .into_iter()
            .flatten()
            .map(|level| (level, sample.cell(phase, variant, Some(level))))
            .filter(|(_, cell)| !cell.is_empty())
            .collect();
        let large = |m: &&Measurement| m.bytes / m.operations.max(1) >= BYTES_OF_OPERATION;
        let bytes = cells.iter().all(|(_, cell)| cell.iter().all(large));
        let values: Vec<(&Level, Values)> = cells
            .iter()
            .map(|(level, cell)| (*level, Values::of(cell, |m| longer(m, bytes))))
            .collect();
        let levels: Vec<&Level> = values.iter().map(|(level, _)| *level).collect();
        let heights = levels.iter().map(|level| level.value).collect();
        (levels.len() > 1).then(|| Self { levels, grid: Grid::new(heights, rows(&values)) })
    }

    fn finding(&self, phase: Option<&str>, variant: Option<&str>) -> KneeFinding {
        let found = self.enough_data().then(|| self.found()).flatten();
        let (even, heights, squares) = self.grid.even();
        let (first, last) = (self.levels[0], self.levels[self.levels.len() - 1]);
        let change = heights[heights.len() - 1] - heights[0];
        let gradual = found.is_none() && even != Even::Flat && change.abs() >= RISE_MIN.ln_1p();
        KneeFinding {
            variant: variant.map(String::from),
            phase: phase.map(String::from),
            axis: first.axis.clone(),
            unit: first.unit,
            range: Interval { low: first.value, high: last.value },
            at: found.as_ref().map(|found| found.at),
            interval: found.as_ref().map(|found| found.interval.into()),
            shape: found.as_ref().map(|found| match found.bend.shape {
                BendShape::Step(_) => ChangeShape::Step,
                BendShape::Hinge(_) => ChangeShape::Hinge,
            }),
            factor: found.as_ref().map(|found| found.bend.rise.exp()),
            factor_interval: found.as_ref().map(|found| found.factor.into()),
            enough_data: self.enough_data(),
            smallest_detectable: self.enough_data().then(|| self.smallest_detectable(squares)),
            gradual_ratio: gradual.then(|| change.exp()),
            levels: self.levels.len(),
            repeats: self.grid.rows.len(),
        }
    }

    /// Whether there are enough levels and repeats to exclude chance.
    fn enough_data(&self) -> bool {
        let levels = self.levels.len();
        let third = levels / 3;
        let orders: f64 = (0..third).map(|n| (levels - n) as f64 / (n + 1) as f64).product();
        levels >= LEVELS_MIN && orders.powf(self.grid.repeats()) >= ORDERS_MIN
    }

    /// The knee, if it is large enough, explains enough, and is no chance.
    fn found(&self) -> Option<Found> {
        let grid = &self.grid;
        let bends = grid.bends(PLACES_FINE);
        let best = bends.iter().min_by(|a, b| a.squares.total_cmp(&b.squares))?;
        let means = grid.means();
        let explained = 1.0 - best.squares / grid.flat(&means).2;
        if best.rise < RISE_MIN.ln_1p() || explained < EXPLAINED_MIN {
            return None;
        }
        let (gain, heights) = (grid.gain(PLACES), grid.even().1);
        let as_large = |number: &u64| grid.shuffled(&heights, *number).gain(PLACES) >= gain;
        let most = ((SHUFFLES + 1) as f64 * CHANCE_MAX) as usize;
        let chance = (1..=SHUFFLES).filter(as_large).take(most).count() + 1 > most;
        (!chance).then(|| self.placed(*best, &bends))
    }

    /// Where the knee is: all places that fit nearly as well (profile likelihood).
    fn placed(&self, best: Bend, bends: &[Bend]) -> Found {
        let grid = &self.grid;
        let left = |bend: &Bend| grid.within() + grid.repeats() * bend.squares;
        let degrees = (grid.points() - grid.repeats() - 2.0).max(1.0);
        let t = student_t(0.05, degrees).unwrap_or(f64::INFINITY);
        let variance = left(&best) / degrees;
        let as_good = bends.iter().filter(|b| left(b) - left(&best) <= t * t * variance);
        let ends = |bend: &Bend| match bend.shape {
            BendShape::Step(gap) => [grid.levels[gap], grid.levels[gap + 1]],
            BendShape::Hinge(from) => [from, from],
        };
        let [mut low, mut high] = ends(&best);
        for [one_low, one_high] in as_good.map(ends) {
            (low, high) = (low.min(one_low), high.max(one_high));
        }
        let [from, to] = ends(&best);
        let half = t * (variance * best.spread / grid.repeats()).sqrt();
        Found {
            at: f64::midpoint(from, to),
            interval: [low, high],
            factor: [(best.rise - half).exp(), (best.rise + half).exp()],
            bend: best,
        }
    }

    /// The smallest step over the last quarter of the levels that would most likely have been
    /// seen, as a share.
    fn smallest_detectable(&self, squares: f64) -> f64 {
        let grid = &self.grid;
        let degrees = (grid.points() - grid.repeats() - 1.0).max(1.0);
        let variance = (grid.within() + grid.repeats() * squares) / degrees;
        let beyond = (self.levels.len() / 4).max(1) as f64;
        let before = self.levels.len() as f64 - beyond;
        let error = (variance / grid.repeats() * (1.0 / beyond + 1.0 / before)).sqrt();
        (ERRORS_SEEN * error).exp_m1().max(RISE_MIN)
    }
}

/// The logarithm of seconds for each operation, or for each byte: the files of one level may be
/// larger than those of another.
fn longer(m: &Measurement, bytes: bool) -> Option<f64> {
    let amount = if bytes { m.bytes as f64 / m.operations as f64 } else { 1.0 };
    log_rate(m, false).map(|log| -log - amount.ln())
}

/// One row for each repeat that has all levels. Passes of one repeat share what the level is like,
/// so of them, and where no repeat is whole, there is one row: the means of the levels.
fn rows(values: &[(&Level, Values)]) -> Vec<Vec<f64>> {
    let repeats: Vec<u32> = match values.first() {
        Some((_, first)) if values.iter().all(|(_, values)| values.repeated) => {
            first.all.iter().map(|(repeat, _)| *repeat).collect()
        }
        _ => Vec::new(),
    };
    let row = |repeat: &u32| -> Option<Vec<f64>> {
        let of = |(_, values): &(&Level, Values)| {
            values.all.iter().find(|(key, _)| key == repeat).map(|(_, value)| *value)
        };
        values.iter().map(of).collect()
    };
    let rows: Vec<Vec<f64>> = repeats.iter().filter_map(row).collect();
    if !rows.is_empty() {
        return rows;
    }
    let of_level = |(_, values): &(&Level, Values)| {
        mean(&values.all.iter().map(|(_, value)| *value).collect::<Vec<_>>())
    };
    vec![values.iter().map(of_level).collect()]
}
