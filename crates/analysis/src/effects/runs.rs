//! Compares runs of the same job: B with A, or one run with its history.
//!
//! The error is the variance between equal runs, from stored runs, moderated over the rows. It is never below what the
//! repeats show. A row is one variant, phase and level. Values are natural logarithms of times.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::contrast::{Contrast, S2_MIN};
use super::decide::holm;
use super::moderation::{log_variance, moderate, prior_degrees, prior_variance, weighed};
use crate::statistics::describe::{mean, squares};
use crate::statistics::distributions::trigamma;

/// The standard deviation of the log time between equal runs, where no stored runs show it.
const RUN_DEVIATION: f64 = 0.055;

/// The same where a row was measured next to background load.
const RUN_DEVIATION_LOADED: f64 = 0.2;

/// The degrees of freedom of these two without two stored runs.
const RUN_D0: f64 = 4.0;

/// The variance of the logarithm of the variance between runs, between rows.
const RUN_SPREAD: f64 = 0.6;

/// The same between machines.
const MACHINE_SPREAD: f64 = 1.0;

/// What a check says about one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CheckDecision {
    /// It takes more than the accepted factor as long.
    Regression,
    /// It takes less than the accepted factor as long.
    Ok,
    /// Neither is proven.
    Unsure,
}

/// One row of B and of what it is compared with, as the contrast is made from it.
#[derive(Clone, Debug, PartialEq)]
pub struct RunRow {
    estimate: f64,
    /// The sum of squared deviations of the repeats, and their degrees of freedom.
    repeat_squares: f64,
    repeat_degrees: f64,
    /// The variance of the estimate as a multiple of the variance of one repeat.
    per_repeat: f64,
    /// The same as a multiple of the variance between runs.
    per_run: f64,
    /// The mean of each stored run.
    stored: Vec<f64>,
    /// Whether B is compared with the runs before it.
    pub is_history: bool,
    is_loaded: bool,
}

impl RunRow {
    /// B, the repeats of `runs` runs, against A, each with two or more. The variance is 1 + 1/runs times the variance
    /// between stored runs of the same job, or what the repeats of A and B show if this is larger.
    #[must_use]
    pub fn of_runs(a: &[f64], b: &[f64], stored: Vec<f64>, is_loaded: bool, runs: usize) -> Self {
        Self {
            estimate: mean(b) - mean(a),
            repeat_squares: squares(a) + squares(b),
            repeat_degrees: (a.len() + b.len()) as f64 - 2.0,
            per_repeat: 1.0 / a.len() as f64 + 1.0 / b.len() as f64,
            per_run: 1.0 + 1.0 / runs as f64,
            stored,
            is_history: false,
            is_loaded,
        }
    }

    /// The repeats of `runs` runs, one or more, against the means of the H runs of their history. The variance is
    /// 1/runs + 1/H times the variance between runs, or what the repeats show if this is larger.
    #[must_use]
    pub fn of_history(values: &[f64], history: Vec<f64>, is_loaded: bool, runs: usize) -> Self {
        Self {
            estimate: mean(values) - mean(&history),
            repeat_squares: squares(values),
            repeat_degrees: values.len() as f64 - 1.0,
            per_repeat: 1.0 / values.len() as f64,
            per_run: 1.0 / runs as f64 + 1.0 / history.len() as f64,
            stored: history,
            is_history: true,
            is_loaded,
        }
    }

    fn stored_degrees(&self) -> f64 {
        self.stored.len().saturating_sub(1) as f64
    }

    /// The variance between stored runs. `None` with fewer than two.
    fn stored_variance(&self) -> Option<f64> {
        let d = self.stored_degrees();
        (d > 0.0).then(|| (squares(&self.stored) / d).max(S2_MIN))
    }

    /// The variance between runs of all machines.
    fn library_variance(&self) -> f64 {
        let deviation = if self.is_loaded { RUN_DEVIATION_LOADED } else { RUN_DEVIATION };
        deviation * deviation
    }
}

/// The moderated variance between equal runs, with its degrees of freedom.
struct RunVariance {
    s2: f64,
    df: f64,
}

/// Of each row, moderated over the other rows that have two stored runs or more.
fn run_variances(rows: &[RunRow]) -> Vec<RunVariance> {
    let log = |row: &RunRow| Some(log_variance(row.stored_variance()?, row.stored_degrees()));
    let logs: Vec<Option<f64>> = rows.iter().map(log).collect();
    let moderated = |(at, row): (usize, &RunRow)| {
        let library = row.library_variance();
        let Some(s2) = row.stored_variance() else {
            return RunVariance { s2: library, df: RUN_D0 };
        };
        let d = row.stored_degrees();
        let others = logs.iter().enumerate().filter(|(other, _)| *other != at);
        let others: Vec<f64> = others.filter_map(|(_, log)| *log).collect();
        let (mut centre, mut variance) = (library.ln(), RUN_SPREAD + MACHINE_SPREAD);
        if !others.is_empty() {
            let error = (RUN_SPREAD + trigamma(d / 2.0)) / others.len() as f64;
            // How far the other rows are trusted to show this machine.
            let trust = MACHINE_SPREAD / (MACHINE_SPREAD + error);
            centre += trust * (mean(&others) - centre);
            variance = RUN_SPREAD + trust * error;
        }
        let d0 = prior_degrees(variance);
        RunVariance { s2: weighed(prior_variance(centre, d0), d0, s2, d), df: d0 + d }
    };
    rows.iter().enumerate().map(moderated).collect()
}

/// B against A or against its history, row by row.
#[must_use]
pub fn between_runs(rows: &[RunRow]) -> Vec<Contrast> {
    // A single repeat shows no variance of repeats.
    let repeated = || rows.iter().filter(|row| row.repeat_degrees > 0.0);
    let d: Vec<f64> = repeated().map(|row| row.repeat_degrees).collect();
    let pooled: Vec<f64> = repeated().map(|row| row.repeat_squares / row.repeat_degrees).collect();
    let mut moderated = moderate(&pooled, &d, &vec![0; d.len()], &[d.len()]).s2.into_iter();
    let repeat = |row: &RunRow| (row.repeat_degrees > 0.0).then(|| moderated.next()).flatten();
    let repeats: Vec<Option<f64>> = rows.iter().map(repeat).collect();
    let of_each = rows.iter().zip(run_variances(rows)).zip(repeats);
    let contrasts = of_each.map(|((row, runs), repeat)| {
        let error = (row.per_run * runs.s2).max(row.per_repeat * repeat.unwrap_or(0.0)).sqrt();
        Contrast { estimate: row.estimate, error, df: runs.df }
    });
    contrasts.collect()
}

/// Checks each row against an accepted ratio `factor` (1.05 accepts 5% more time): "the ratio is `factor` or less" is
/// one family of hypotheses, "the ratio is `factor` or more" another. Each is tested one-sided at alpha, by Holm.
#[must_use]
pub fn check(contrasts: &[Contrast], factor: f64, alpha: f64) -> Vec<CheckDecision> {
    let above: Vec<f64> = contrasts.iter().map(|contrast| contrast.p_above(factor)).collect();
    let below: Vec<f64> = contrasts.iter().map(|contrast| contrast.p_below(factor)).collect();
    let decision = |(is_above, is_below)| match (is_above, is_below) {
        (true, _) => CheckDecision::Regression,
        (_, true) => CheckDecision::Ok,
        _ => CheckDecision::Unsure,
    };
    holm(&above, alpha).into_iter().zip(holm(&below, alpha)).map(decision).collect()
}
