//! Which of two variants wins at which level, and where they meet.

use serde_json::json;

use crate::measure::book::{Finding, Level};

use super::ratio::{Family, Rate, Ratio};
use super::sample::{Sample, Values, log_rate};
use super::say;

/// The first variant against each other one, for each phase, without the sync and with it.
pub(super) fn crossover(sample: &Sample<'_>) -> Vec<Finding> {
    let Some((first, others)) = sample.variants().split_first() else { return Vec::new() };
    let synced: &[bool] = if sample.synced() { &[false, true] } else { &[false] };
    let mut findings = Vec::new();
    for phase in sample.phases() {
        for other in others {
            for synced in synced {
                let duel = Duel::of(sample, phase, [first, other], *synced);
                findings.extend(duel.map(|duel| duel.finding()));
            }
        }
    }
    findings
}

/// Two variants over the axis.
struct Duel<'a> {
    phase: &'a str,
    variants: [&'a str; 2],
    synced: bool,
    /// How many times faster the first is than the second, from the lowest level.
    ratios: Vec<(&'a Level, Ratio)>,
    /// Seconds of an operation of the second at these levels.
    seconds: Vec<f64>,
}

/// Where one leaves off winning and the other begins.
#[derive(Clone, Copy)]
struct Meeting {
    at: f64,
    interval: [f64; 2],
}

impl<'a> Duel<'a> {
    fn of(
        sample: &Sample<'a>,
        phase: &'a str,
        variants: [&'a str; 2],
        synced: bool,
    ) -> Option<Self> {
        let values = |variant: &str, level: &Level| {
            let cell = sample.cell(phase, variant, Some(level));
            Values::of(&cell, |m| log_rate(m, synced))
        };
        let rates = |level: &Level| {
            let both = variants.map(|variant| values(variant, level));
            let both = both.each_ref();
            let in_turns = || <[Rate; 2]>::try_from(Rate::of_turns(&both)).ok();
            let rates = in_turns().filter(|_| sample.in_turns());
            rates.map_or_else(|| Rate::of(both[0]).zip(Rate::of(both[1])), |[a, b]| Some((a, b)))
        };
        let pairs: Vec<(&Level, (Rate, Rate))> = sample
            .levels(phase)
            .into_iter()
            .flatten()
            .filter_map(|level| Some((level, rates(level)?)))
            .collect();
        let family = Family::of(pairs.iter().flat_map(|(_, (a, b))| [a, b]));
        let ratio = |(level, pair): &(&'a Level, (Rate, Rate))| {
            (*level, family.ratio(&[*pair], pairs.len()))
        };
        let ratios: Vec<_> = pairs.iter().map(ratio).collect();
        let seconds = pairs.iter().map(|(_, (_, second))| (-second.log).exp()).collect();
        (!ratios.is_empty()).then_some(Self { phase, variants, synced, ratios, seconds })
    }

    fn finding(&self) -> Finding {
        let meetings = self.meetings();
        let first = meetings.first();
        let what = if self.synced { " with its sync" } else { "" };
        let level = self.ratios[0].0;
        let mut parts = self.parts();
        for Meeting { at, interval: [low, high] } in &meetings {
            let [at, low, high] = [*at, *low, *high].map(|value| say::about(level, value));
            parts.push(format!("they meet at about {at} ({low} to {high})"));
        }
        let figures = json!({
            "phase": self.phase, "axis": level.axis, "variants": self.variants, "sync": self.synced,
            "at": first.map(|meeting| meeting.at), "interval": first.map(|meeting| meeting.interval),
            "meetings": meetings.iter().map(|m| m.at).collect::<Vec<_>>(),
            "levels": self.ratios.iter().map(|(level, ratio)| json!({
                "value": level.value, "ratio": ratio.times(), "interval": ratio.interval(),
                "winner": self.winner(ratio),
            })).collect::<Vec<_>>(),
        });
        let sentence = format!("{}{what}: {}.", self.phase, parts.join("; "));
        say::finding("crossover", sentence, figures)
    }

    fn winner(&self, ratio: &Ratio) -> Option<&'a str> {
        (!ratio.tie()).then_some(self.variants[usize::from(ratio.log < 0.0)])
    }

    /// What is told of neighbouring levels that the same variant wins.
    fn parts(&self) -> Vec<String> {
        let mut parts = Vec::new();
        let mut from = 0;
        while from < self.ratios.len() {
            let winner = self.winner(&self.ratios[from].1);
            let alike = self.ratios[from..].iter().take_while(|(_, r)| self.winner(r) == winner);
            let to = from + alike.count();
            parts.push(self.part(winner, &self.ratios[from..to]));
            from = to;
        }
        parts
    }

    fn part(&self, winner: Option<&str>, ratios: &[(&Level, Ratio)]) -> String {
        let place = match ratios {
            [(one, _)] => format!("at {}", say::level(one)),
            [(first, _), .., (last, _)] => {
                format!("from {} to {}", say::level(first), say::level(last))
            }
            [] => String::new(),
        };
        let Some(winner) = winner else { return format!("no difference seen {place}") };
        let other = self.variants[usize::from(winner == self.variants[0])];
        let turned = |ratio: &Ratio| Ratio { log: ratio.log.abs(), ..*ratio };
        let by = match ratios {
            [(_, one)] => {
                let one = turned(one);
                let span = one.interval().map_or(String::new(), |i| format!(", {}", say::span(i)));
                format!("{} times{span}", say::times(one.times()))
            }
            _ => {
                let times = ratios.iter().map(|(_, ratio)| turned(ratio).times());
                let least = times.clone().fold(f64::INFINITY, f64::min);
                format!("{} times", say::span([least, times.fold(0.0, f64::max)]))
            }
        };
        format!("{winner} is faster than {other} {place} ({by})")
    }

    /// Each place where one wins at a level and the other at a higher one, with nothing but ties
    /// between.
    fn meetings(&self) -> Vec<Meeting> {
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

/// How the two may go between neighbouring levels.
#[derive(Clone, Copy)]
enum Between {
    /// The ratio is a power of the level, or where levels have no logarithm exponential in it.
    Powers,
    /// Each takes a fixed time and so much more for each unit of the level.
    Times,
}

/// Where the two are equally fast. What lies between levels was not measured: the place is in the
/// middle of what powers and what times give, and the interval holds the limits of both.
fn meeting(ratios: &[(&Level, Ratio)], seconds: &[f64]) -> Option<Meeting> {
    let places = [Between::Powers, Between::Times].map(|between| place(ratios, seconds, between));
    let ends = places.into_iter().flatten().flatten();
    let (low, high) = (ends.clone().fold(f64::INFINITY, f64::min), ends.fold(0.0, f64::max));
    let [[_, powers, _], [_, times, _]] = [places[0]?, places[1]?];
    let both_positive = powers > 0.0 && times > 0.0;
    let at = if both_positive { (powers * times).sqrt() } else { f64::midpoint(powers, times) };
    Some(Meeting { at, interval: [low, high] })
}

/// Where the ratio is one on the lines between neighbouring levels, between the places where the
/// ends of its interval are.
fn place(ratios: &[(&Level, Ratio)], seconds: &[f64], between: Between) -> Option<[f64; 3]> {
    let powers = matches!(between, Between::Powers);
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
