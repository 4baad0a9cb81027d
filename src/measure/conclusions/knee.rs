//! From which level of the axis on operations take longer.

use serde_json::{Value, json};

use crate::measure::book::{Finding, Level, Measurement};

use super::bend::{Bend, Even, Grid, Shape};
use super::fit::mean;
use super::sample::{Sample, Values, lead, log_rate};
use super::say;
use crate::measure::statistics::student::student_t;

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

/// One for each phase and variant that were measured over an axis; a single one if for none of them
/// there is enough to tell a knee.
pub(super) fn knee(sample: &Sample<'_>) -> Vec<Finding> {
    let mut all = Vec::new();
    for phase in sample.phases() {
        for variant in sample.variants() {
            let series = Series::of(sample, phase, variant);
            all.extend(series.map(|series| (phase, variant, series)));
        }
    }
    match all.iter().min_by_key(|(_, _, series)| series.levels.len()) {
        Some((_, _, least)) if all.len() > 1 && !all.iter().any(|(.., one)| one.tellable()) => {
            vec![least.finding_of_none()]
        }
        _ => all.iter().map(|(phase, variant, one)| one.finding(phase, variant)).collect(),
    }
}

/// Times of an operation over the axis.
struct Series<'a> {
    levels: Vec<&'a Level>,
    grid: Grid,
    /// The repeats that the rows are of; empty where there is one row, of the means of the levels.
    repeats: Vec<u32>,
}

/// A knee that was found.
struct Found {
    bend: Bend,
    at: f64,
    interval: [f64; 2],
    /// Interval of how many times longer operations take.
    factor: [f64; 2],
}

impl<'a> Series<'a> {
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
        let (repeats, rows) = rows(&values);
        (levels.len() > 1).then(|| Self { levels, grid: Grid::new(heights, rows), repeats })
    }

    fn finding(&self, phase: &str, variant: &str) -> Finding {
        let found = self.tellable().then(|| self.found()).flatten();
        let (even, heights, squares) = self.grid.even();
        let seen = self.smallest_seen(squares);
        let told = match &found {
            Some(found) => self.told(phase, found),
            None => self.told_none(phase, even, &heights, seen),
        };
        let bent = found.as_ref().and_then(|found| self.grid.heights(&found.bend));
        let fitted = bent.unwrap_or(heights);
        let figures = json!({
            "variant": variant, "phase": phase, "axis": self.levels[0].axis,
            "at": found.as_ref().map(|found| found.at),
            "interval": found.as_ref().map(|found| found.interval),
            "shape": found.as_ref().map(|found| match found.bend.shape {
                Shape::Step(_) => "step",
                Shape::Hinge(_) => "hinge",
            }),
            "factor": found.as_ref().map(|found| found.bend.rise.exp()),
            "factor_interval": found.as_ref().map(|found| found.factor),
            "tellable": self.tellable(), "smallest_step": self.tellable().then_some(seen),
            "levels": self.levels.len(), "n": self.grid.points(),
            "points": self.plotted(&fitted),
        });
        say::finding("knee", format!("{}{told}.", lead(variant)), figures)
    }

    /// What to draw: each level of each repeat over the geometric mean of that repeat, as it was
    /// seen and as the knee, or what there is without one, has it.
    fn plotted(&self, heights: &[f64]) -> Vec<Value> {
        let middle = mean(heights);
        let point = |(row, at): (usize, usize)| {
            json!({
                "level": self.levels[at].value, "repeat": self.repeats.get(row),
                "seen": self.grid.rows[row][at].exp(), "fitted": (heights[at] - middle).exp(),
            })
        };
        let rows = 0..self.grid.rows.len();
        rows.flat_map(|row| (0..heights.len()).map(move |at| (row, at))).map(point).collect()
    }

    /// That no knee can be told, of any phase and variant.
    fn finding_of_none(&self) -> Finding {
        let nothing = Value::Null;
        let (axis, levels) = (&self.levels[0].axis, self.levels.len());
        let figures = json!({
            "variant": nothing, "phase": nothing, "axis": axis, "at": nothing,
            "interval": nothing, "tellable": false, "levels": levels, "n": self.grid.points(),
        });
        let sentence = format!(
            "from which {axis} on operations get slower cannot be told with so few measurements: \
             {levels} levels, {} of each.",
            self.grid.repeats()
        );
        say::finding("knee", sentence, figures)
    }

    /// Whether there are enough levels and repeats to exclude chance.
    fn tellable(&self) -> bool {
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
            Shape::Step(gap) => [grid.levels[gap], grid.levels[gap + 1]],
            Shape::Hinge(from) => [from, from],
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
    fn smallest_seen(&self, squares: f64) -> f64 {
        let grid = &self.grid;
        let degrees = (grid.points() - grid.repeats() - 1.0).max(1.0);
        let variance = (grid.within() + grid.repeats() * squares) / degrees;
        let beyond = (self.levels.len() / 4).max(1) as f64;
        let before = self.levels.len() as f64 - beyond;
        let error = (variance / grid.repeats() * (1.0 / beyond + 1.0 / before)).sqrt();
        (ERRORS_SEEN * error).exp_m1().max(RISE_MIN)
    }

    fn told(&self, phase: &str, found: &Found) -> String {
        let axis = &self.levels[0].axis;
        let value = |value: f64| say::value(self.levels[0], (value * 10.0).round() / 10.0);
        let [low, high] = found.interval.map(value);
        let times = say::times(found.bend.rise.exp());
        let span = say::span(found.factor);
        match found.bend.shape {
            Shape::Step(_) => format!(
                "{phase} gets slower between {low} and {high} of {axis}: from there on it takes \
                 {times} times as long ({span})"
            ),
            Shape::Hinge(_) => format!(
                "{phase} gets slower from about {} of {axis} on ({low} to {high}): at {} it takes \
                 {times} times as long ({span})",
                value(found.at),
                say::level(self.levels[self.levels.len() - 1])
            ),
        }
    }

    fn told_none(&self, phase: &str, even: Even, heights: &[f64], seen: f64) -> String {
        let (first, last) = (self.levels[0], self.levels[self.levels.len() - 1]);
        let (axis, levels) = (&first.axis, self.levels.len());
        if !self.tellable() {
            return format!(
                "from which {axis} on {phase} gets slower cannot be told with so few \
                 measurements: {levels} levels, {} of each",
                self.grid.repeats()
            );
        }
        let change = heights[heights.len() - 1] - heights[0];
        let evenly = match even {
            Even::Flat => String::new(),
            _ if change.abs() < RISE_MIN.ln_1p() => String::new(),
            _ => format!("; it changes evenly, to {} times as long", say::times(change.exp())),
        };
        format!(
            "no knee of {phase} found between {} and {} of {axis}: a step of {} would have been \
             seen{evenly}",
            say::level(first),
            say::level(last),
            say::percent(seen)
        )
    }
}

/// The logarithm of seconds for each operation, or for each byte: the files of one level may be
/// larger than those of another.
fn longer(m: &Measurement, bytes: bool) -> Option<f64> {
    let amount = if bytes { m.bytes as f64 / m.operations as f64 } else { 1.0 };
    log_rate(m, false).map(|log| -log - amount.ln())
}

/// One row for each repeat that has all levels, with these repeats. Passes of one repeat share what the level is like,
/// so of them, and where no repeat is whole, there is one row: the means of the levels.
fn rows(values: &[(&Level, Values)]) -> (Vec<u32>, Vec<Vec<f64>>) {
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
    let whole = repeats.iter().filter_map(|repeat| Some((*repeat, row(repeat)?)));
    let (repeats, rows): (Vec<u32>, Vec<Vec<f64>>) = whole.unzip();
    if !rows.is_empty() {
        return (repeats, rows);
    }
    let of_level = |(_, values): &(&Level, Values)| {
        mean(&values.all.iter().map(|(_, value)| *value).collect::<Vec<_>>())
    };
    (Vec::new(), vec![values.iter().map(of_level).collect()])
}
