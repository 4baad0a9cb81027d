//! What earlier runs tell of the next: where they lie since the last step, and how far one run may
//! lie from another.

use super::Mark;
use crate::measure::conclusions::fit::mean;
use crate::measure::conclusions::ratio::{Centre, Rate};
use crate::measure::history::{Stretch, spread, stretches};

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
        let since = stretches.last().map_or(0, |last| last.from);
        let mark = |stretch: &Stretch, (at, is_odd): (usize, &bool)| match (is_odd, at) {
            (true, _) => Mark::Odd,
            (_, 0) if stretch.from > 0 => Mark::Step,
            _ if stretch.from == since => Mark::Baseline,
            _ => Mark::Earlier,
        };
        let marks = |stretch: &Stretch| {
            stretch.odd.iter().enumerate().map(|odd| mark(stretch, odd)).collect::<Vec<_>>()
        };
        let marks = stretches.iter().flat_map(marks).collect();
        let (squares, degrees) = spread(stretches.iter());
        let last = stretches.last().map(|last| last.kept.as_slice()).unwrap_or_default();
        Self {
            log: mean(last),
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
