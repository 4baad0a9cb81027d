//! What earlier runs tell of the next: where they lie since the last step, and how far one run may
//! lie from another.

use super::Mark;
use crate::measure::conclusions::fit::mean;
use crate::measure::conclusions::ratio::{Centre, Rate};
use crate::measure::history::stretches;

/// With fewer runs since a step none is told to be odd.
const ODD_RUNS_MIN: usize = 5;

/// As many deviations from the middle make a run odd.
const ODD_FROM: f64 = 4.0;

/// The median absolute deviation is this part of a normal distribution's standard deviation.
const DEVIATION: f64 = 1.482_6;

/// Runs lie no closer than this; see the least width of a ratio.
const DEVIATION_LEAST: f64 = 0.005;

pub(super) struct Baseline {
    /// The mean of the logarithms since the last step.
    pub(super) log: f64,
    /// Where that step is.
    pub(super) since: usize,
    /// How many runs it is the mean of.
    pub(super) runs: usize,
    /// What each run is to it.
    pub(super) marks: Vec<Mark>,
    /// The variance between runs and its degrees of freedom; none with fewer than two to a stretch.
    spread: Option<(f64, f64)>,
    /// The only run, if there is no more than one.
    only: Option<Rate>,
}

impl Baseline {
    /// Of runs, oldest first.
    pub(super) fn of(rates: &[Rate]) -> Self {
        let logs: Vec<f64> = rates.iter().map(|rate| rate.log).collect();
        let stretches = stretches(&logs);
        let since = stretches.last().map_or(0, |last| last.start);
        let mut marks = vec![Mark::Earlier; logs.len()];
        let (mut squares, mut degrees) = (0.0, 0.0);
        for stretch in stretches {
            let from = stretch.start;
            let odd = odd(&logs[stretch.clone()]);
            let kept = kept(&logs[stretch], &odd);
            let middle = mean(&kept);
            squares += kept.iter().map(|log| (log - middle).powi(2)).sum::<f64>();
            degrees += kept.len().saturating_sub(1) as f64;
            for (at, is_odd) in odd.iter().enumerate() {
                marks[from + at] = match (is_odd, at) {
                    (true, _) => Mark::Odd,
                    (_, 0) if from > 0 => Mark::Step,
                    _ if from == since => Mark::Baseline,
                    _ => Mark::Earlier,
                };
            }
        }
        let last = kept(&logs[since..], &odd(&logs[since..]));
        Self {
            log: mean(&last),
            since,
            runs: last.len(),
            marks,
            spread: (degrees > 0.0).then(|| (squares / degrees, degrees)),
            only: (logs.len() == 1).then(|| rates.first().copied()).flatten(),
        }
    }

    /// Itself and a run, each with its error. Where runs lie apart by what repeats of one run do
    /// not show, that counts; where the run's own repeats lie further apart, they count too.
    pub(super) fn against(&self, run: &Rate) -> (Centre, Centre) {
        if let Some(only) = &self.only {
            return (only.centre(run), run.centre(only));
        }
        let own = run.centre(run);
        let (spread, degrees) = match self.spread {
            Some((spread, degrees)) => (Some(spread), degrees),
            None => (None, own.degrees),
        };
        let variance = spread.map(|spread| spread * (1.0 + 1.0 / self.runs.max(1) as f64));
        let more = own.variance.unwrap_or(0.0) - spread.unwrap_or(0.0);
        (
            Centre { log: self.log, variance, degrees },
            Centre { variance: Some(more.max(0.0)), ..own },
        )
    }
}

/// Which values lie far from the middle of all.
fn odd(logs: &[f64]) -> Vec<bool> {
    if logs.len() < ODD_RUNS_MIN {
        return vec![false; logs.len()];
    }
    let middle = median(logs);
    let off: Vec<f64> = logs.iter().map(|log| (log - middle).abs()).collect();
    let deviation = (DEVIATION * median(&off)).max(DEVIATION_LEAST);
    off.iter().map(|off| *off > ODD_FROM * deviation).collect()
}

fn kept(logs: &[f64], odd: &[bool]) -> Vec<f64> {
    logs.iter().zip(odd).filter(|(_, odd)| !**odd).map(|(log, _)| *log).collect()
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let half = sorted.len() / 2;
    match sorted.get(half) {
        Some(upper) if sorted.len().is_multiple_of(2) => f64::midpoint(sorted[half - 1], *upper),
        Some(middle) => *middle,
        None => f64::NAN,
    }
}
