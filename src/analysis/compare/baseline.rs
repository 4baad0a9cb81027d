//! What a run is compared with: one earlier run, or a history of them since its last step.

use serde::Serialize;

use super::between_runs::{BetweenRunVariance, segments};
use crate::analysis::findings::ratio::{Rate, RateWithError};
use crate::analysis::statistics::describe::mean;

/// What a run of the history is to the baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BaselineMark {
    /// It lies before the last step.
    Earlier,
    /// The first after a step.
    Step,
    /// It is one of those that make the baseline.
    Baseline,
    /// It lies too far from the others to count.
    Outlier,
}

/// The rates of the runs that a run is compared with.
pub(super) struct Baseline {
    /// The mean of the logarithms since the last step.
    pub(super) log: f64,
    /// Where that step is.
    pub(super) since: usize,
    /// How many runs it is the mean of.
    pub(super) runs: usize,
    /// What each run is to it.
    pub(super) marks: Vec<BaselineMark>,
    /// None with fewer than two runs in every segment.
    between: Option<BetweenRunVariance>,
    /// The only run, if there is no more than one.
    only: Option<Rate>,
}

impl Baseline {
    /// Of runs, oldest first.
    pub(super) fn of_runs(rates: &[Rate]) -> Self {
        let logs: Vec<f64> = rates.iter().map(|rate| rate.log).collect();
        let segments = segments(&logs);
        let since = segments.last().map_or(0, |last| last.from);
        let mut marks = Vec::new();
        for segment in &segments {
            for (at, is_outlier) in segment.outliers.iter().enumerate() {
                marks.push(match at {
                    _ if *is_outlier => BaselineMark::Outlier,
                    0 if segment.from > 0 => BaselineMark::Step,
                    _ if segment.from == since => BaselineMark::Baseline,
                    _ => BaselineMark::Earlier,
                });
            }
        }
        let last = segments.last().map(|last| last.kept.as_slice()).unwrap_or_default();
        Self {
            log: mean(last),
            since,
            runs: last.len(),
            marks,
            between: BetweenRunVariance::of_segments(&segments),
            only: if let [only] = rates { Some(*only) } else { None },
        }
    }

    /// Its rate beside a run. Of a history it has the variance between runs.
    pub(super) fn beside(&self, run: &Rate) -> RateWithError {
        if let Some(only) = &self.only {
            return only.beside(run);
        }
        let of_one = 1.0 + 1.0 / self.runs.max(1) as f64;
        RateWithError {
            log: self.log,
            variance: self.between.map(|between| between.variance * of_one),
            degrees: self.between.map_or(run.beside(run).degrees, |between| between.degrees),
        }
    }

    /// The rate of a run beside it. The run's own repeats count as far as they vary more than
    /// runs of the history do.
    pub(super) fn of_run_beside(&self, run: &Rate) -> RateWithError {
        if let Some(only) = &self.only {
            return run.beside(only);
        }
        let own = run.beside(run);
        let between = self.between.map_or(0.0, |between| between.variance);
        RateWithError { variance: Some((own.variance.unwrap_or(0.0) - between).max(0.0)), ..own }
    }
}
