//! Finds knees: the level of the axis from which on operations suddenly take longer.

use std::ops::Range;

use super::curve::{ChangeShape, StraightLine};
use super::sample::{LevelSeries, Sample, level_means, log_rate, whole_repeats};
use super::say::{self, lead};
use crate::analysis::statistics::Interval;
use crate::analysis::statistics::describe::{mean, squares};
use crate::analysis::statistics::student::{errors_found, student_t};
use crate::analysis::thresholds::{
    CHANGE_MIN, EFFECT_MIN, EXPLAINED_MIN, FINDING_ALPHA, INTERVAL_ALPHA, LOG_HALF_MIN,
    SLOWER_MARGIN, WINDOW_RESOLUTION,
};
use crate::base::random::{Stream, draw, shuffle};
use crate::base::units::Unit;
use crate::results::book::{Book, Measurement};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// With fewer levels a knee cannot be distinguished from a gradual change.
pub(in crate::analysis) const LEVELS_MIN: usize = 5;
/// There must be so many orders in which levels could have come, or chance cannot be excluded.
const ORDERS_MIN: f64 = 100.0;
/// Orders that are tried to find that chance.
const SHUFFLES: u64 = 299;
/// Places of a hinge in a gap between levels, in the test and in the interval.
const PLACES: usize = 1;
const PLACES_FINE: usize = 10;
/// The orders of the levels show a step of so many standard errors nine times in ten: the gradual change that it could be
/// instead takes much of it.
const ERRORS_DETECTED: f64 = 7.0;
/// What both tests find nine times in ten is larger than what each of them does.
const BOTH_TESTS_TIMES: f64 = 1.15;
/// A knee is told in one direction only, so an interval with two ends has twice the chance.
const KNEE_ALPHA: f64 = 2.0 * FINDING_ALPHA;

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
    /// The 99% interval of that level; 99% is the level of the test.
    pub interval: Option<Interval>,
    /// Whether it is a step or a hinge.
    pub shape: Option<ChangeShape>,
    /// How many times as long operations take at the last level as before the knee.
    pub factor: Option<f64>,
    /// Its 99% interval.
    pub factor_interval: Option<Interval>,
    /// Whether so many of the run's phases and variants have a knee as hardly would by chance; without that a
    /// knee is likely.
    pub proven: bool,
    /// Whether there are enough measurements to find a knee.
    pub enough_data: bool,
    /// The smallest step that would have been found, as a share; none without enough data.
    pub smallest_detectable: Option<f64>,
    /// The share by which operations take longer from any level on than below it, at most, such that those of
    /// all phases and variants hold together with 97.5%; none without enough data.
    pub slower_at_most: Option<f64>,
    /// How many times as long operations take at the upper half of the levels as at the lower, where they
    /// change without a knee; none where that is not proven.
    pub gradual_ratio: Option<f64>,
    /// Its interval, such that those of all phases and variants hold together with 99%.
    pub gradual_interval: Option<Interval>,
    /// Levels.
    pub levels: usize,
    /// Measurements of each level.
    pub repeats: usize,
}

impl KneeFinding {
    /// The finding in one sentence.
    pub fn sentence(&self) -> String {
        let variant = self.variant.as_deref().map_or(String::new(), lead);
        let sentence = match (self.at, self.interval, self.factor.zip(self.factor_interval)) {
            (Some(at), Some(interval), Some((factor, span))) => {
                let grows = format!("{} times as long ({})", say::times(factor), say::span(span));
                self.about_knee(at, interval, &grows)
            }
            _ => self.about_none(),
        };
        format!("{variant}{sentence}.")
    }

    /// Where it was looked for: `between 30% and 98% full`.
    pub fn between(&self) -> String {
        say::AxisRange { axis: &self.axis, unit: self.unit, range: self.range }.between()
    }

    fn phase(&self) -> &str {
        self.phase.as_deref().unwrap_or("any phase")
    }

    fn about_knee(&self, at: f64, interval: Interval, grows: &str) -> String {
        let (phase, noun) = (self.phase(), say::behind_value(&self.axis, self.unit));
        let value = |value: f64| say::quantity(say::rounded(value), self.unit);
        let [low, high] = [value(interval.low), value(interval.high)];
        let knee = match self.shape {
            Some(ChangeShape::Hinge) => format!(
                "{phase} gets slower from about {} {noun} on ({low} to {high}): at {} it takes \
                 {grows}",
                value(at),
                say::quantity(self.range.high, self.unit)
            ),
            Some(ChangeShape::Step) | None => format!(
                "{phase} gets slower between {low} and {high} {noun}: from there on it takes {grows}"
            ),
        };
        if self.proven { knee } else { format!("{knee}; likely, not proven") }
    }

    fn about_none(&self) -> String {
        let (phase, axis) = (self.phase(), &self.axis);
        let Some((smallest, most)) = self.smallest_detectable.zip(self.slower_at_most) else {
            return format!(
                "cannot tell from which {axis} on {phase} gets slower: too few measurements ({} \
                 levels, {} of each)",
                self.levels, self.repeats
            );
        };
        let range = say::AxisRange { axis, unit: self.unit, range: self.range };
        if let Some((ratio, interval)) = self.gradual_ratio.zip(self.gradual_interval) {
            format!(
                "{phase} has no proven step {}, but at the upper half of the levels it takes {} times as \
                 long as at the lower ({})",
                range.between(),
                say::near(ratio),
                say::span(interval)
            )
        } else if self.is_bounded() {
            format!(
                "{phase} gets slower by at most {} from any level on {}",
                say::percent(most),
                range.between()
            )
        } else {
            format!(
                "{} may take up to {} times as long from some level on (smallest detectable step: {})",
                range.cannot_tell(phase),
                say::times(1.0 + most),
                say::percent(smallest)
            )
        }
    }

    /// Whether it says that nothing takes much longer from any level on.
    pub(in crate::analysis) fn is_bounded(&self) -> bool {
        self.at.or(self.gradual_ratio).is_none()
            && self.slower_at_most.is_some_and(say::is_within_margin)
    }

    /// Whether it takes longer at the higher levels without a knee.
    pub(in crate::analysis) fn is_gradually_slower(&self) -> bool {
        self.gradual_ratio.is_some_and(|ratio| ratio > 1.0)
    }

    /// Whether it does, and by more than what is still called none.
    pub(in crate::analysis) fn is_gradually_slower_by_much(&self) -> bool {
        let most = self.gradual_interval.map_or(0.0, |interval| interval.high - 1.0);
        self.is_gradually_slower() && !say::is_within_margin(most)
    }
}

/// Whether all phases and variants together get slower over the axis.
#[derive(Clone, Debug, PartialEq)]
pub struct GeneralSlowdown {
    /// The knee of all of them; none if there is none.
    pub knee: Option<GeneralKnee>,
    /// How many times as long operations take at the upper half of the levels as at the lower, with 95%.
    pub halves: Interval,
    /// The lowest level of the upper half.
    pub middle: f64,
    /// The level from which on a slowdown is the least excluded.
    pub most: LevelSplit,
    /// The slowest level of those that are proven to take longer than the lowest by more than the margin; none
    /// if there is none.
    pub slow_level: Option<SlowLevel>,
}

/// A level at which operations take longer than at the lowest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlowLevel {
    /// The level.
    pub at: f64,
    /// The lowest level.
    pub lowest: f64,
    /// How many times as long operations take, such that the intervals of all levels hold together with 99%.
    pub interval: Interval,
}

/// A level that parts those from it on from those below.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LevelSplit {
    /// The lowest level of the upper part.
    pub from: f64,
    /// How many times as long operations take there as below, with 95%.
    pub interval: Interval,
}

/// The level from which on all phases and variants together get slower.
#[derive(Clone, Debug, PartialEq)]
pub struct GeneralKnee {
    /// The 99% interval of the level.
    pub interval: Interval,
    /// How many times as long operations take at the last level as before.
    pub factor: f64,
    /// Its 99% interval.
    pub factor_interval: Interval,
}

impl GeneralSlowdown {
    /// Whether it is proven, and larger than what is still called none.
    pub(in crate::analysis) fn is_slower(&self) -> bool {
        self.knee.is_some() || (self.halves.low > 1.0 && self.slower_at_most() > SLOWER_MARGIN)
    }

    /// The share by which operations take longer from any level on than below it, at most: whatever the level, with
    /// 97.5%.
    pub(in crate::analysis) fn slower_at_most(&self) -> f64 {
        (self.most.interval.high - 1.0).max(0.0)
    }
}

/// The mean over all phases and variants that were measured at the same levels in the same repeats; none
/// where they were not, or too seldom.
pub(in crate::analysis) fn general_slowdown(
    book: &Book,
    variants: &[&str],
) -> Option<GeneralSlowdown> {
    let sample = Sample::new(book, variants);
    let grids: Vec<LevelGrid> = sample.series().iter().map(grid_of).collect();
    let first = grids.first()?;
    let is_alike =
        |grid: &LevelGrid| grid.levels == first.levels && grid.rows.len() == first.rows.len();
    if !grids.iter().all(|grid| is_alike(grid) && grid.has_enough_data()) {
        return None;
    }
    let mean_at = |row: usize, at: usize| {
        mean(&grids.iter().map(|grid| grid.rows[row][at]).collect::<Vec<_>>())
    };
    let row = |row: usize| (0..first.levels.len()).map(|at| mean_at(row, at)).collect();
    let all = LevelGrid::new(first.levels.clone(), (0..first.rows.len()).map(row).collect());
    let middle = all.levels.len() / 2;
    Some(GeneralSlowdown {
        knee: all.knee().map(|knee| GeneralKnee {
            interval: knee.interval,
            factor: knee.factor,
            factor_interval: knee.factor_interval,
        }),
        halves: all.later_over_earlier(middle, INTERVAL_ALPHA)?,
        middle: all.levels[middle],
        most: all.slowest_split(INTERVAL_ALPHA)?,
        slow_level: all.slow_level(FINDING_ALPHA),
    })
}

/// One for each phase and variant that were measured over an axis; a single one if for none of them
/// there is enough to find a knee.
pub(super) fn knee(sample: &Sample<'_>) -> Vec<KneeFinding> {
    let series = sample.series();
    let all: Vec<_> = series.iter().map(|series| (series, grid_of(series))).collect();
    let least = all.iter().min_by_key(|(series, _)| series.levels.len());
    if let Some((series, grid)) =
        least.filter(|_| all.len() > 1 && !all.iter().any(|(_, grid)| grid.has_enough_data()))
    {
        return vec![KneeFinding { variant: None, phase: None, ..finding(series, grid, 1) }];
    }
    let judged = all.iter().filter(|(_, grid)| grid.has_enough_data()).count();
    let mut findings: Vec<KneeFinding> =
        all.iter().map(|(series, grid)| finding(series, grid, judged)).collect();
    let found = findings.iter().filter(|one| one.at.is_some()).count();
    findings.iter_mut().for_each(|one| one.proven = one.at.is_some() && are_proven(found, judged));
    findings
}

/// Whether so many tasks of all with a knee are hardly chance. Each shows one with [`FINDING_ALPHA`] where there is none, and
/// tasks of a cell share what it was like; however they depend on each other, at least so many do with no more than
/// `all / found` times that chance (Rueger, "Das maximale Signifikanzniveau des Tests: Lehne H0 ab, wenn k unter n gegebenen Tests
/// zur Ablehnung fuehren", Metrika 25, 1978).
fn are_proven(found: usize, all: usize) -> bool {
    all as f64 * FINDING_ALPHA <= found as f64 * INTERVAL_ALPHA * (1.0 + 1e-9)
}

/// One of so many of which there is enough data. It is not known yet whether as many have a knee by chance.
fn finding(series: &LevelSeries<'_>, grid: &LevelGrid, judged: usize) -> KneeFinding {
    let enough_data = grid.has_enough_data();
    let found = if enough_data { grid.knee() } else { None };
    let even = grid.gradual();
    let (first, last) = (series.levels[0], series.levels[series.levels.len() - 1]);
    let share_of = |alpha: f64| alpha / judged.max(1) as f64;
    let halves = grid.later_over_earlier(grid.levels.len() / 2, share_of(FINDING_ALPHA));
    let is_effect = |halves: &Interval| {
        !halves.contains(1.0) && halves.middle_ratio().ln().abs() >= EFFECT_MIN.ln_1p()
    };
    let most = grid.slowest_split(share_of(INTERVAL_ALPHA)).filter(|_| enough_data);
    let gradual = halves.filter(|halves| enough_data && found.is_none() && is_effect(halves));
    KneeFinding {
        variant: Some(series.variant.into()),
        phase: Some(series.phase.into()),
        axis: first.axis.clone(),
        unit: first.unit,
        range: Interval { low: first.value, high: last.value },
        at: found.as_ref().map(|found| found.at),
        interval: found.as_ref().map(|found| found.interval),
        shape: found.as_ref().map(|found| found.shape),
        factor: found.as_ref().map(|found| found.factor),
        factor_interval: found.as_ref().map(|found| found.factor_interval),
        proven: false,
        enough_data,
        smallest_detectable: enough_data.then(|| grid.smallest_detectable(even.squares)),
        slower_at_most: most.map(|most| (most.interval.high - 1.0).max(0.0)),
        gradual_ratio: gradual.map(|halves| halves.middle_ratio()),
        gradual_interval: gradual,
        levels: series.levels.len(),
        repeats: grid.rows.len(),
    }
}

/// Logarithms of seconds for each operation, or for each byte. One row for each repeat that has all
/// levels. Passes of one repeat share what the level is like, so of them, and where no repeat is whole,
/// there is one row: the means of the levels.
fn grid_of(series: &LevelSeries<'_>) -> LevelGrid {
    let log_seconds = |m: &Measurement, amount: f64| Some(-log_rate(m)? - amount.ln());
    let values = series.values(log_seconds);
    let levels = series.levels.iter().map(|level| level.value).collect();
    let mut rows = whole_repeats(&values);
    if rows.is_empty() {
        rows.push(values.iter().map(|values| mean(&values.figures())).collect());
    }
    LevelGrid::new(levels, rows)
}

/// Logarithms of seconds: one row for each repeat, one column for each level, every row around
/// zero.
struct LevelGrid {
    levels: Vec<f64>,
    rows: Vec<Vec<f64>>,
}

/// To the scale on which a model is straight, or back.
type ScaleFunction = fn(f64) -> f64;

/// How a series without a knee changes over its levels.
#[derive(Clone, Copy, Debug, PartialEq)]
enum GradualChange {
    /// It is the same at all levels.
    None,
    /// Straight in the logarithm of seconds.
    Exponential,
    /// Straight in seconds.
    Seconds,
    /// Straight in the rate.
    Rate,
}

/// A gradual change as it fits best.
struct GradualFit {
    change: GradualChange,
    /// What it gives each level.
    heights: Vec<f64>,
    /// Squares of the levels' means that it leaves.
    squares: f64,
}

/// Where a knee is.
#[derive(Clone, Copy, Debug, PartialEq)]
enum KneePlace {
    /// Between the level of this number and the next, all at once.
    Step(usize),
    /// From here on, more with every bit.
    Hinge(f64),
}

/// A knee as it fits best.
#[derive(Clone, Copy, Debug)]
struct KneeFit {
    place: KneePlace,
    /// How much the logarithm rises from the knee to the last level.
    rise: f64,
    /// Variance of the rise for points of variance one.
    spread: f64,
    /// Squares of the levels' means that are left.
    squares: f64,
}

/// A knee that was found.
struct LocatedKnee {
    shape: ChangeShape,
    at: f64,
    interval: Interval,
    /// How many times as long operations take.
    factor: f64,
    factor_interval: Interval,
}

impl GradualChange {
    const CHANGES: [Self; 3] = [Self::Exponential, Self::Seconds, Self::Rate];

    /// From the logarithm of seconds to where the model is straight, and back.
    fn scale(self) -> (ScaleFunction, ScaleFunction) {
        match self {
            Self::None | Self::Exponential => (|y| y, |y| y),
            Self::Seconds => (f64::exp, |y| y.max(1e-9).ln()),
            Self::Rate => (|y| (-y).exp(), |y| -y.max(1e-9).ln()),
        }
    }
}

impl LevelGrid {
    /// Rows around zero.
    fn new(levels: Vec<f64>, rows: Vec<Vec<f64>>) -> Self {
        let centred = |row: Vec<f64>| {
            let middle = mean(&row);
            row.into_iter().map(|value| value - middle).collect()
        };
        Self { levels, rows: rows.into_iter().map(centred).collect() }
    }

    fn means(&self) -> Vec<f64> {
        level_means(&self.rows)
    }

    fn repeats(&self) -> f64 {
        self.rows.len() as f64
    }

    fn points(&self) -> f64 {
        self.repeats() * self.levels.len() as f64
    }

    fn has_enough_data(&self) -> bool {
        is_enough_for_knee(self.levels.len(), self.rows.len())
    }

    /// Squares that are left of all points where a model leaves so many of the levels' means: those
    /// around the means too, which no model of the levels can explain, and what the resolution leaves.
    fn left(&self, squares: f64) -> f64 {
        let means = self.means();
        let of_row = |row: &Vec<f64>| squared_distance(row, &means);
        let within = self.rows.iter().map(of_row).sum::<f64>()
            + self.points() * WINDOW_RESOLUTION * WINDOW_RESOLUTION;
        within + self.repeats() * squares
    }

    /// How many times as long operations take at the levels from this number on as at those below.
    fn later_over_earlier(&self, from: usize, alpha: f64) -> Option<Interval> {
        self.ratio(from..self.levels.len(), 0..from, alpha)
    }

    /// How many times as long operations take at some levels as at others, each the mean of theirs, with an
    /// interval that holds with all but this chance: Student's t with the variance of single points around their
    /// level's mean, or that of what the repeats differ by with its own degrees of freedom, whichever is wider.
    fn ratio(&self, these: Range<usize>, those: Range<usize>, alpha: f64) -> Option<Interval> {
        let (n, levels) = (self.repeats(), self.levels.len() as f64);
        let means = self.means();
        let within: f64 = self.rows.iter().map(|row| squared_distance(row, &means)).sum();
        let degrees = (n - 1.0) * (levels - 1.0);
        let expected = within / degrees * (1.0 / these.len() as f64 + 1.0 / those.len() as f64);
        let ratio = |row: &Vec<f64>| mean(&row[these.clone()]) - mean(&row[those.clone()]);
        let ratios: Vec<f64> = self.rows.iter().map(ratio).collect();
        let own = squares(&ratios) / (n - 1.0);
        let of_points = student_t(alpha, degrees)? * (expected / n).sqrt();
        let of_repeats = student_t(alpha, n - 1.0)? * (own / n).sqrt();
        let half = of_points.max(of_repeats);
        let (middle, half) = (mean(&ratios), half.max(LOG_HALF_MIN));
        Interval::new((middle - half).exp(), (middle + half).exp())
    }

    /// The level from which on operations may take the longest, compared with those below: the largest of the upper
    /// limits, of which each may be tested at the full level.
    fn slowest_split(&self, alpha: f64) -> Option<LevelSplit> {
        let split = |from: usize| {
            let interval = self.later_over_earlier(from, alpha)?;
            Some(LevelSplit { from: self.levels[from], interval })
        };
        let all: Vec<LevelSplit> = (1..self.levels.len()).map(split).collect::<Option<_>>()?;
        all.into_iter().max_by(|a, b| a.interval.high.total_cmp(&b.interval.high))
    }

    /// The level at which operations take the longest, if that is more than the margin longer than at the lowest; the
    /// intervals of all levels hold together with all but this chance.
    fn slow_level(&self, alpha: f64) -> Option<SlowLevel> {
        let others = self.levels.len().checked_sub(1)?;
        let level = |at: usize| {
            let interval = self.ratio(at..at + 1, 0..1, alpha / others as f64)?;
            Some(SlowLevel { at: self.levels[at], lowest: self.levels[0], interval })
        };
        let slow = (1..=others).filter_map(level);
        let slow = slow.filter(|level| level.interval.low > 1.0 + SLOWER_MARGIN);
        slow.max_by(|a, b| a.interval.middle_ratio().total_cmp(&b.interval.middle_ratio()))
    }

    /// The gradual change that fits best; a change of any kind must be worth its parameter (BIC,
    /// Schwarz, Annals of Statistics 6, 1978).
    fn gradual(&self) -> GradualFit {
        let (means, n) = (self.means(), self.points());
        let score = |fit: &GradualFit| {
            let parameters = if fit.change == GradualChange::None { 0.0 } else { n.ln() };
            n * self.left(fit.squares).ln() + parameters
        };
        let heights = vec![mean(&means); means.len()];
        let none = GradualFit {
            change: GradualChange::None,
            squares: squared_distance(&means, &heights),
            heights,
        };
        let changes = GradualChange::CHANGES.into_iter();
        changes
            .filter_map(|change| self.gradual_fit(change, &means))
            .fold(none, |best, fit| if score(&fit) < score(&best) { fit } else { best })
    }

    fn gradual_fit(&self, change: GradualChange, means: &[f64]) -> Option<GradualFit> {
        let (there, back) = change.scale();
        let points = self.levels.iter().zip(means).map(|(x, y)| (*x, there(*y), 1.0));
        let line = StraightLine::through(points)?;
        let heights: Vec<f64> = self.levels.iter().map(|x| back(line.at(*x))).collect();
        Some(GradualFit { change, squares: squared_distance(means, &heights), heights })
    }

    /// All knees towards slower, hinges at so many places in each gap.
    fn knee_fits(&self, places: usize) -> Vec<KneeFit> {
        let means = self.means();
        let gaps = self.levels.len() - 1;
        let steps = (0..gaps).map(|gap| (KneePlace::Step(gap), GradualChange::None));
        // A hinge in the first gap is a gradual change, one in the last a step.
        let hinges = (1..gaps.saturating_sub(1)).flat_map(|gap| {
            let (low, high) = (self.levels[gap], self.levels[gap + 1]);
            (0..places).map(move |n| low + (high - low) * n as f64 / places as f64)
        });
        let hinges = hinges
            .flat_map(|from| GradualChange::CHANGES.map(|change| (KneePlace::Hinge(from), change)));
        let all = steps.chain(hinges);
        all.filter_map(|(place, change)| self.knee_fit(place, change, &means)).collect()
    }

    /// The knee at this place; a hinge is straight on the scale of the change.
    fn knee_fit(&self, place: KneePlace, change: GradualChange, means: &[f64]) -> Option<KneeFit> {
        let (there, back) = change.scale();
        let points = means.iter().enumerate();
        let points = points.map(|(at, y)| (self.basis(place, at), there(*y), 1.0));
        let line = StraightLine::through(points)?;
        let rise = back(line.at(1.0)) - back(line.at(0.0));
        let height = |at: usize| back(line.at(self.basis(place, at)));
        let squares = means.iter().enumerate().map(|(at, y)| (y - height(at)).powi(2)).sum();
        (rise > 0.0).then_some(KneeFit { place, rise, spread: line.spread[2], squares })
    }

    /// 0 before a knee, 1 at the last level.
    fn basis(&self, place: KneePlace, at: usize) -> f64 {
        match place {
            KneePlace::Step(gap) => f64::from(u8::from(at > gap)),
            KneePlace::Hinge(from) => {
                let last = self.levels.last().copied().unwrap_or(from);
                (self.levels[at] - from).max(0.0) / (last - from)
            }
        }
    }

    /// How much better the best knee explains all points than the gradual change, as a share of what
    /// is left.
    fn gain(&self) -> f64 {
        let knees = self.knee_fits(PLACES);
        let best = knees.iter().map(|knee| knee.squares).fold(f64::INFINITY, f64::min);
        self.left(self.gradual().squares) / self.left(best) - 1.0
    }

    /// The grid with each row's deviations from the gradual change in another order (Freedman and
    /// Lane, "A nonstochastic interpretation of reported significance levels", 1983).
    fn shuffled(&self, heights: &[f64], number: u64) -> Self {
        let row = |(at, row): (usize, &Vec<f64>)| {
            let mut off: Vec<f64> = row.iter().zip(heights).map(|(y, h)| y - h).collect();
            shuffle(&mut off, draw(number, Stream::Noise, at as u64), Stream::Noise, number);
            off.iter().zip(heights).map(|(off, height)| off + height).collect()
        };
        Self::new(self.levels.clone(), self.rows.iter().enumerate().map(row).collect())
    }

    /// The knee, if it is large enough, explains enough, and is no chance.
    fn knee(&self) -> Option<LocatedKnee> {
        let fits = self.knee_fits(PLACES_FINE);
        let best = fits.iter().min_by(|a, b| a.squares.total_cmp(&b.squares))?;
        let explained = 1.0 - best.squares / squares(&self.means());
        if best.rise < CHANGE_MIN.ln_1p() || explained < EXPLAINED_MIN {
            return None;
        }
        let (gain, heights) = (self.gain(), self.gradual().heights);
        let is_as_large = |number: &u64| self.shuffled(&heights, *number).gain() >= gain;
        let most = ((SHUFFLES + 1) as f64 * FINDING_ALPHA) as usize;
        let is_chance = (1..=SHUFFLES).filter(is_as_large).take(most).count() + 1 > most;
        let located =
            (!is_chance && self.is_seen_in_repeats(best.place)).then(|| self.located(*best, &fits));
        located.filter(|located| located.factor_interval.low > 1.0)
    }

    /// Whether levels behind a knee take longer by what the repeats differ by. The orders alone would take one level that spreads
    /// more than the others for a knee.
    fn is_seen_in_repeats(&self, place: KneePlace) -> bool {
        let behind = (0..self.levels.len()).find(|at| self.basis(place, *at) > 0.0);
        let apart = behind.and_then(|from| self.later_over_earlier(from, KNEE_ALPHA));
        apart.is_some_and(|apart| apart.low > 1.0)
    }

    /// Where the knee is: all places that fit nearly as well (profile likelihood).
    fn located(&self, best: KneeFit, fits: &[KneeFit]) -> LocatedKnee {
        let degrees = (self.points() - self.repeats() - 2.0).max(1.0);
        let t = student_t(FINDING_ALPHA, degrees).unwrap_or(f64::INFINITY);
        let least = self.left(best.squares);
        let variance = least / degrees;
        let as_good = fits.iter().filter(|fit| self.left(fit.squares) - least <= t * t * variance);
        let ends = |fit: &KneeFit| match fit.place {
            KneePlace::Step(gap) => [self.levels[gap], self.levels[gap + 1]],
            KneePlace::Hinge(from) => [from, from],
        };
        let [from, to] = ends(&best);
        let mut interval = Interval { low: from, high: to };
        for [low, high] in as_good.map(ends) {
            interval = Interval { low: interval.low.min(low), high: interval.high.max(high) };
        }
        let half = t * (variance * best.spread / self.repeats()).sqrt();
        LocatedKnee {
            shape: match best.place {
                KneePlace::Step(_) => ChangeShape::Step,
                KneePlace::Hinge(_) => ChangeShape::Hinge,
            },
            at: f64::midpoint(from, to),
            interval,
            factor: best.rise.exp(),
            factor_interval: Interval {
                low: (best.rise - half).exp(),
                high: (best.rise + half).exp(),
            },
        }
    }

    /// The smallest step that would most likely have been found, as a share; the gradual change leaves so
    /// many squares.
    fn smallest_detectable(&self, squares: f64) -> f64 {
        let degrees = (self.points() - self.repeats() - 1.0).max(1.0);
        smallest_step(self.levels.len(), self.rows.len(), self.left(squares) / degrees)
    }
}

/// Whether there are enough levels and repeats to exclude chance.
pub(in crate::analysis) fn is_enough_for_knee(levels: usize, repeats: usize) -> bool {
    let third = levels / 3;
    let orders: f64 = (0..third).map(|n| (levels - n) as f64 / (n + 1) as f64).product();
    repeats > 1 && levels >= LEVELS_MIN && orders.powf(repeats as f64) >= ORDERS_MIN
}

/// The smallest step over the last quarter of so many levels that is most likely found, as a share, where the
/// logarithms of single points have this variance.
pub(in crate::analysis) fn smallest_step(levels: usize, repeats: usize, variance: f64) -> f64 {
    let beyond = (levels / 4).max(1) as f64;
    let before = levels as f64 - beyond;
    let error = (variance / repeats as f64 * (1.0 / beyond + 1.0 / before)).sqrt();
    // Of few repeats little is known of how they differ.
    let errors = errors_found(KNEE_ALPHA, repeats as f64 - 1.0).unwrap_or(f64::INFINITY);
    (BOTH_TESTS_TIMES * errors.max(ERRORS_DETECTED) * error).exp_m1().max(CHANGE_MIN)
}

fn squared_distance(values: &[f64], heights: &[f64]) -> f64 {
    values.iter().zip(heights).map(|(value, height)| (value - height).powi(2)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::findings::tests::Noise;

    /// How often the interval of the upper half over the lower one holds 1 where only chance parts them: the noise
    /// of a measurement is 1, and each repeat has a slope of its own of this deviation over all levels.
    fn halves_held(repeats: u64, levels: u64, slopes: f64) -> f64 {
        const DRAWS: u64 = 2_000;
        let mut noise = Noise::new(1);
        let mut row = || {
            let slope = slopes * noise.normal() / (levels - 1) as f64;
            (0..levels).map(|at| slope * at as f64 + noise.normal()).collect()
        };
        let holds = |_: &u64| {
            let rows = (0..repeats).map(|_| row()).collect();
            let grid = LevelGrid::new((0..levels).map(|at| at as f64).collect(), rows);
            grid.later_over_earlier(levels as usize / 2, 0.05).unwrap().contains(1.0)
        };
        (0..DRAWS).filter(holds).count() as f64 / DRAWS as f64
    }

    #[test]
    fn an_interval_of_later_levels_holds_the_truth_also_where_repeats_differ_in_their_slopes() {
        for (repeats, levels) in [(3, 5), (4, 5), (5, 12)] {
            for slopes in [0.0, 1.0, 3.0, 10.0] {
                let held = halves_held(repeats, levels, slopes);
                assert!(held > 0.94, "{repeats} of {levels}, {slopes}: {held}");
            }
        }
    }

    #[test]
    fn one_in_five_tasks_with_a_knee_is_no_chance_however_they_depend_on_each_other() {
        for (found, all, expected) in
            [(1, 1, true), (1, 5, true), (1, 6, false), (2, 6, true), (3, 18, false), (4, 18, true)]
        {
            assert_eq!(are_proven(found, all), expected, "{found} of {all}");
        }
    }
}
