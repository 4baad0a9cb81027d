//! Finds which of two variants is faster at each level of the axis, and the crossover: where they are
//! equally fast.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ratio::{PooledVariance, Ratio, rates};
use super::sample::Sample;
use super::say;
use crate::analysis::statistics::Interval;
use crate::base::units::Unit;
use crate::results::book::Level;

/// Which of two variants is faster at which level of a phase, and where they are equally fast.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CrossoverFinding {
    /// The phase's name.
    pub phase: String,
    /// The axis's name.
    pub axis: String,
    /// The unit of its values.
    pub unit: Unit,
    /// The names of both variants.
    pub variants: [String; 2],
    /// The first level at which they are equally fast; none if they never are.
    pub at: Option<f64>,
    /// The 95% interval of that level.
    pub interval: Option<Interval>,
    /// All levels at which they are equally fast.
    pub meetings: Vec<MeetingPoint>,
    /// The levels at which they were compared.
    pub levels: Vec<LevelWinner>,
    /// The other levels of the phase: one of them has no measurements that count.
    pub uncompared: Vec<f64>,
}

/// A level at which two variants are equally fast.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MeetingPoint {
    /// The level.
    pub at: f64,
    /// Its 95% interval.
    pub interval: Interval,
}

/// The comparison of two variants at a level.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LevelWinner {
    /// The level.
    pub value: f64,
    /// How many times as fast the first variant is as the second.
    pub ratio: f64,
    /// Its 95% interval, such that those of all levels and pairs of variants hold together; none for too
    /// few measurements, or such as vary too much.
    pub interval: Option<Interval>,
    /// The faster variant; none without a significant difference.
    pub winner: Option<String>,
}

impl LevelWinner {
    /// How many times as fast the faster one is.
    pub(in crate::analysis) fn times(&self) -> f64 {
        self.ratio.max(1.0 / self.ratio)
    }

    /// The interval of that.
    pub(in crate::analysis) fn span(&self) -> Option<Interval> {
        let Interval { low, high } = self.interval?;
        Some(match self.ratio < 1.0 {
            true => Interval { low: 1.0 / high, high: 1.0 / low },
            false => Interval { low, high },
        })
    }
}

impl CrossoverFinding {
    /// The finding in one sentence.
    pub fn sentence(&self) -> String {
        let kind = |level: &LevelWinner| (level.winner.clone(), level.interval.is_some());
        let alike = self.neighbours(|a, b| kind(a) == kind(b)).into_iter();
        let mut parts: Vec<String> = alike.map(|levels| self.about(levels)).collect();
        for MeetingPoint { at, interval } in &self.meetings {
            let [at, low, high] =
                [*at, interval.low, interval.high].map(|value| say::about(value, self.unit));
            parts.push(format!("they are equally fast at about {at} ({low} to {high})"));
        }
        format!("{}: {}.", self.phase, parts.join("; "))
    }

    /// Levels that follow each other and are alike, with none between them at which nothing was compared.
    pub(in crate::analysis) fn neighbours(
        &self,
        alike: impl Fn(&LevelWinner, &LevelWinner) -> bool,
    ) -> Vec<&[LevelWinner]> {
        let has_none_between = |a: &LevelWinner, b: &LevelWinner| {
            !self.uncompared.iter().any(|value| a.value < *value && *value < b.value)
        };
        self.levels.chunk_by(|a, b| alike(a, b) && has_none_between(a, b)).collect()
    }

    /// The lowest and the highest level, also if nothing was compared there.
    pub(in crate::analysis) fn ends(&self) -> Interval {
        let all = || self.levels.iter().map(|level| level.value).chain(self.uncompared.clone());
        Interval {
            low: all().fold(f64::INFINITY, f64::min),
            high: all().fold(f64::NEG_INFINITY, f64::max),
        }
    }

    /// The comparison of these two at a level; none where it compares others.
    pub(super) fn at(&self, value: f64, pair: [&str; 2]) -> Option<&LevelWinner> {
        let is_of = self.variants.iter().all(|name| pair.contains(&name.as_str()));
        self.levels.iter().find(|level| is_of && level.value == value)
    }

    /// Neighbouring levels that the same variant wins, or none does for the same reason.
    fn about(&self, levels: &[LevelWinner]) -> String {
        let level = |one: &LevelWinner| say::quantity(one.value, self.unit);
        let place = match levels {
            [one] => format!("at {}", level(one)),
            [first, .., last] => format!("from {} to {}", level(first), level(last)),
            [] => String::new(),
        };
        let Some(winner) = levels.first().and_then(|one| one.winner.as_ref()) else {
            return self.about_undecided(levels, &place);
        };
        let other = &self.variants[usize::from(*winner == self.variants[0])];
        let by = match levels {
            [one] => {
                let span =
                    one.span().map_or(String::new(), |span| format!(", {}", say::span(span)));
                format!("{} times{span}", say::times(one.times()))
            }
            _ => {
                let least = levels.iter().map(LevelWinner::times).fold(f64::INFINITY, f64::min);
                let most = levels.iter().map(LevelWinner::times).fold(0.0, f64::max);
                format!("{} times", say::span(Interval { low: least, high: most }))
            }
        };
        format!("{winner} is faster than {other} {place} ({by})")
    }

    fn about_undecided(&self, levels: &[LevelWinner], place: &str) -> String {
        let [a, b] = &self.variants;
        let ends = |level: &LevelWinner| {
            level.interval.unwrap_or(Interval { low: level.ratio, high: level.ratio })
        };
        let low = levels.iter().map(|one| ends(one).low).fold(f64::INFINITY, f64::min);
        let high = levels.iter().map(|one| ends(one).high).fold(0.0, f64::max);
        let times = |ratio: f64| match ratio < 1.0 {
            true => format!("{} times as slow", say::times(1.0 / ratio)),
            false => format!("{} times as fast", say::times(ratio)),
        };
        let times = match (low < high, low < 1.0, high < 1.0) {
            (false, _, _) => times(low),
            (true, true, true) => {
                format!("{} to {}", say::times(1.0 / high), times(low))
            }
            (true, true, false) => format!("{} to {}", times(low), times(high)),
            (true, false, _) => format!("{} to {}", say::times(low), times(high)),
        };
        match levels.iter().all(|one| one.interval.is_some()) {
            true => {
                format!("no significant difference between {a} and {b} {place} ({a} is {times})")
            }
            false => {
                format!(
                    "too few or too variable measurements to compare {a} and {b} {place} ({a} was {times})"
                )
            }
        }
    }
}

/// For each phase, each variant against another.
pub(super) fn crossover(sample: &Sample<'_>) -> Vec<CrossoverFinding> {
    let of_phase = |phase| pairs(sample, phase).into_iter().map(move |pair| (phase, pair));
    let all: Vec<_> = sample.phases().into_iter().flat_map(of_phase).collect();
    let pair = |(phase, pair): (_, _)| VariantPair::new(sample, phase, pair, all.len());
    all.iter().copied().filter_map(pair).map(|pair| pair.finding()).collect()
}

/// Each variant but the first, behind the first of the same durability; one that has no other of the
/// same, behind the first of all.
fn pairs<'a>(sample: &Sample<'a>, phase: &str) -> Vec<[&'a str; 2]> {
    let Some((first, others)) = sample.variants().split_first() else { return Vec::new() };
    let before = |other: &str| {
        let durability = sample.durability(phase, other);
        let alike = |name: &&str| sample.durability(phase, name) == durability;
        let mut alike = sample.variants().iter().copied().filter(alike);
        match (alike.next(), alike.next()) {
            (Some(before), _) if before != other => Some(before),
            (_, Some(_)) => None,
            (_, None) => Some(*first),
        }
    };
    others.iter().filter_map(|other| Some([before(other)?, *other])).collect()
}

/// Two variants over the axis.
struct VariantPair<'a> {
    phase: &'a str,
    variants: [&'a str; 2],
    /// How many times faster the first is than the second, from the lowest level.
    ratios: Vec<(&'a Level, Ratio)>,
    /// Seconds of an operation of the second at these levels.
    seconds: Vec<f64>,
    uncompared: Vec<f64>,
}

impl<'a> VariantPair<'a> {
    /// All intervals of so many pairs hold together.
    fn new(
        sample: &Sample<'a>,
        phase: &'a str,
        variants: [&'a str; 2],
        pairs_in_all: usize,
    ) -> Option<Self> {
        let values_at = |level: &Level| {
            let cells = variants.map(|variant| sample.cell(phase, variant, Some(level)));
            cells.map(|cell| sample.log_rates(&cell))
        };
        let comparisons = sample.levels(phase).into_iter().flatten().count() * pairs_in_all;
        let (mut ratios, mut seconds, mut uncompared) = (Vec::new(), Vec::new(), Vec::new());
        for level in sample.measured_levels(phase) {
            let values = values_at(level);
            let [a, b] = *rates(&values.each_ref(), sample.in_turns()) else {
                uncompared.push(level.value);
                continue;
            };
            // By this level alone: another may spread less, and what a turn was like is common to all of them.
            let own = PooledVariance::new([&a, &b]);
            ratios.push((level, own.ratio_in_turns([a, b], values.each_ref(), comparisons)));
            seconds.push((-b.log).exp());
        }
        (!ratios.is_empty()).then_some(Self { phase, variants, ratios, seconds, uncompared })
    }

    fn finding(&self) -> CrossoverFinding {
        let (meetings, level) = (self.meetings(), self.ratios[0].0);
        let compared = |(level, ratio): &(&Level, Ratio)| LevelWinner {
            value: level.value,
            ratio: ratio.times(),
            interval: ratio.interval(),
            winner: self.winner(ratio).map(String::from),
        };
        CrossoverFinding {
            phase: self.phase.into(),
            axis: level.axis.clone(),
            unit: level.unit,
            variants: self.variants.map(String::from),
            at: meetings.first().map(|meeting| meeting.at),
            interval: meetings.first().map(|meeting| meeting.interval),
            meetings,
            levels: self.ratios.iter().map(compared).collect(),
            uncompared: self.uncompared.clone(),
        }
    }

    fn winner(&self, ratio: &Ratio) -> Option<&'a str> {
        (!ratio.tie()).then_some(self.variants[usize::from(ratio.log < 0.0)])
    }

    /// Each place where one wins at a level and the other at a higher one, with nothing but ties
    /// between.
    fn meetings(&self) -> Vec<MeetingPoint> {
        let wins: Vec<usize> =
            (0..self.ratios.len()).filter(|at| !self.ratios[*at].1.tie()).collect();
        let turns = wins.windows(2).filter(|pair| {
            (self.ratios[pair[0]].1.log > 0.0) != (self.ratios[pair[1]].1.log > 0.0)
        });
        let meeting = |pair: &[usize]| {
            meeting(&self.ratios[pair[0]..=pair[1]], &self.seconds[pair[0]..=pair[1]])
        };
        turns.filter_map(meeting).collect()
    }
}

/// How the two may change between neighbouring levels.
#[derive(Clone, Copy)]
enum PathBetweenLevels {
    /// The ratio is a power of the level, or where levels have no logarithm exponential in it.
    Powers,
    /// Each takes a fixed time and so much more for each unit of the level.
    Times,
}

/// Where the two are equally fast. What lies between levels was not measured: the place is in the
/// middle of what powers and what times give, and the interval holds the limits of both.
fn meeting(ratios: &[(&Level, Ratio)], seconds: &[f64]) -> Option<MeetingPoint> {
    let places = [PathBetweenLevels::Powers, PathBetweenLevels::Times]
        .map(|between| place(ratios, seconds, between));
    let ends = places.into_iter().flatten().flatten();
    let (low, high) = (ends.clone().fold(f64::INFINITY, f64::min), ends.fold(0.0, f64::max));
    let [[_, powers, _], [_, times, _]] = [places[0]?, places[1]?];
    let both_positive = powers > 0.0 && times > 0.0;
    let at = if both_positive { (powers * times).sqrt() } else { f64::midpoint(powers, times) };
    Some(MeetingPoint { at, interval: Interval { low, high } })
}

/// Where the ratio is one on the lines between neighbouring levels, between the places where the
/// ends of its interval are.
fn place(
    ratios: &[(&Level, Ratio)],
    seconds: &[f64],
    between: PathBetweenLevels,
) -> Option<[f64; 3]> {
    let powers = matches!(between, PathBetweenLevels::Powers);
    let logarithmic = powers && ratios.iter().all(|(level, _)| level.value > 0.0);
    let place = |value: f64| if logarithmic { value.ln() } else { value };
    let back = |place: f64| if logarithmic { place.exp() } else { place };
    let sign = ratios.first()?.1.log.signum();
    let line = |side: f64| -> Vec<(f64, f64)> {
        let height = |((_, ratio), seconds): (&(&Level, Ratio), &f64)| {
            let log = sign * ratio.log + side * ratio.half.unwrap_or(0.0);
            // How much longer the slower one takes; in powers, the logarithm of how many times.
            if powers { log } else { sign * seconds * (1.0 - (-sign * log).exp()) }
        };
        let heights = ratios.iter().zip(seconds).map(height);
        ratios
            .iter()
            .zip(heights)
            .map(|((level, _), height)| (place(level.value), height))
            .collect()
    };
    let (middle, low, high) = (zeros(&line(0.0)), zeros(&line(-1.0)), zeros(&line(1.0)));
    let at = f64::midpoint(*middle.first()?, *middle.last()?);
    Some([*low.first()?, at, *high.last()?].map(back))
}

/// Where a line of straight parts crosses zero.
fn zeros(line: &[(f64, f64)]) -> Vec<f64> {
    let crossing = |pair: &[(f64, f64)]| {
        let [(x, y), (x2, y2)] = [pair[0], pair[1]];
        ((y > 0.0) != (y2 > 0.0)).then(|| x + (x2 - x) * y / (y - y2))
    };
    line.windows(2).filter_map(crossing).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_lie_on_the_lines_between_points() {
        assert_eq!(zeros(&[(0.0, 1.0), (2.0, -1.0), (3.0, 1.0)]), [1.0, 2.5]);
        assert_eq!(zeros(&[(0.0, 1.0), (2.0, 3.0)]), [0.0; 0]);
    }
}
