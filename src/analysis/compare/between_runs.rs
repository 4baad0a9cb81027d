//! Estimates between-run variance from groups of equal runs, and the baseline: the runs of a history
//! since its last step.

use serde::Serialize;

use crate::analysis::findings::ratio::{Rate, RateWithError};
use crate::analysis::history::steps;
use crate::analysis::statistics::describe::{mean, squares};
use crate::analysis::statistics::student::{DEGREES_MANY, student_t};
use crate::analysis::thresholds::{INTERVAL_ALPHA, RUN_DEVIATION_DISTURBED, RUN_DEVIATION_QUIET};

/// With fewer other runs hardly anything is known of their variance, and no step is found in them.
pub(crate) const OTHER_RUNS_MIN: usize = 6;

/// The chance that a run is taken for an outlier where all are alike. Leaving out what belongs to them makes the rest look steadier
/// than it is.
const OUTLIER_ALPHA: f64 = 0.001;

/// No more than one in so many runs is an outlier.
const RUNS_PER_OUTLIER: usize = 4;

/// No smaller deviation makes an outlier; see the smallest width of a ratio.
const DEVIATION_LEAST: f64 = 0.005;

/// What the between-run variance rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum VarianceBasis {
    /// Other runs of the same job.
    Measured,
    /// Runs on quiet machines in general, for too few of this job are known.
    Assumed,
    /// Runs beside background load in general, for too few of this job are known.
    AssumedDisturbed,
}

/// The variance of a figure between runs of the same job.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct BetweenRunVariance {
    /// Of the logarithm of one run's figure.
    pub(super) variance: f64,
    pub(super) degrees: f64,
    pub(super) basis: VarianceBasis,
}

impl BetweenRunVariance {
    /// Of groups of equal runs, each the logarithms of its runs in the order of time. Neither a
    /// step within a group nor an outlier counts. None with fewer than [`OTHER_RUNS_MIN`] runs in
    /// all.
    pub(super) fn of_groups(groups: &[Vec<f64>]) -> Option<Self> {
        if groups.iter().map(Vec::len).sum::<usize>() < OTHER_RUNS_MIN {
            return None;
        }
        let all: Vec<Segment> = groups.iter().flat_map(|logs| segments(logs)).collect();
        Self::of_segments(&all)
    }

    /// Pooled over segments; none without two runs in one of them.
    pub(super) fn of_segments(segments: &[Segment]) -> Option<Self> {
        let (mut sum, mut degrees) = (0.0, 0.0);
        for Segment { kept, .. } in segments {
            sum += squares(kept);
            degrees += kept.len().saturating_sub(1) as f64;
        }
        let basis = VarianceBasis::Measured;
        (degrees > 0.0).then(|| Self { variance: sum / degrees, degrees, basis })
    }

    /// That of runs in general, beside background load or without it.
    pub(super) fn assumed(is_disturbed: bool) -> Self {
        let (deviation, basis) = match is_disturbed {
            true => (RUN_DEVIATION_DISTURBED, VarianceBasis::AssumedDisturbed),
            false => (RUN_DEVIATION_QUIET, VarianceBasis::Assumed),
        };
        Self { variance: deviation * deviation, degrees: DEGREES_MANY, basis }
    }

    /// The larger one.
    pub(super) fn at_least(self, other: Self) -> Self {
        if other.variance > self.variance { other } else { self }
    }

    /// Half the width of the interval of the logarithm of a ratio of the means of so many runs.
    pub(super) fn half_width(&self, alpha: f64, runs: [usize; 2]) -> Option<f64> {
        let parts: f64 = runs.iter().map(|runs| 1.0 / (*runs).max(1) as f64).sum();
        Some(student_t(alpha, self.degrees)? * (parts * self.variance).sqrt())
    }

    /// By how much two equal runs differ at most, in 95 of 100 pairs, as a share.
    pub(super) fn equal_runs_differ(&self) -> Option<f64> {
        self.half_width(INTERVAL_ALPHA, [1, 1]).map(f64::exp_m1)
    }
}

/// Consecutive runs between two steps.
pub(super) struct Segment {
    /// The index of the first.
    pub(super) from: usize,
    /// Which of them are outliers.
    pub(super) outliers: Vec<bool>,
    /// The logarithms of the others.
    pub(super) kept: Vec<f64>,
}

/// The segments of a row of logarithms from step to step; one of all without steps.
pub(super) fn segments(values: &[f64]) -> Vec<Segment> {
    let starts = steps(values).into_iter().map(|step| step.index);
    let ends: Vec<usize> = [0].into_iter().chain(starts).chain([values.len()]).collect();
    ends.windows(2).map(|ends| segment(ends[0], &values[ends[0]..ends[1]])).collect()
}

fn segment(from: usize, logs: &[f64]) -> Segment {
    let outliers = outliers(logs);
    let kept = logs.iter().zip(&outliers).filter(|(_, outlier)| !**outlier);
    let kept = kept.map(|(log, _)| *log).collect();
    Segment { from, outliers, kept }
}

/// Takes away the run that lies furthest from the others, again and again, and goes back to the last that they exclude: one of two that
/// are off hides the other (generalized extreme studentized deviates; Rosner, Technometrics 25, 1983).
fn outliers(logs: &[f64]) -> Vec<bool> {
    let mut kept: Vec<usize> = (0..logs.len()).collect();
    let (mut off, mut sure) = (Vec::new(), 0);
    while off.len() < logs.len() / RUNS_PER_OUTLIER {
        let middle = mean(&kept.iter().map(|at| logs[*at]).collect::<Vec<_>>());
        let far = |at: &usize| (logs[*at] - middle).abs();
        let furthest = (0..kept.len()).max_by(|a, b| far(&kept[*a]).total_cmp(&far(&kept[*b])));
        let Some(furthest) = furthest else { break };
        let one = kept.swap_remove(furthest);
        off.push(one);
        let others: Vec<f64> = kept.iter().map(|at| logs[*at]).collect();
        sure = if is_excluded(logs[one], &others) { off.len() } else { sure };
    }
    off.truncate(sure);
    (0..logs.len()).map(|at| off.contains(&at)).collect()
}

/// Whether a run lies further from the others than the furthest of equal runs hardly ever does: Student's t.
fn is_excluded(log: f64, others: &[f64]) -> bool {
    let n = others.len() as f64;
    let deviation = (squares(others) / (n - 1.0)).sqrt().max(DEVIATION_LEAST);
    let t = student_t(OUTLIER_ALPHA / (n + 1.0), n - 1.0);
    t.is_some_and(|t| (log - mean(others)).abs() > t * deviation * (1.0 + 1.0 / n).sqrt())
}

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

/// The rate of the runs that are checked: of one, or the mean of several equal ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PooledRate {
    /// With the error that the repeats show.
    pub(super) rate: RateWithError,
    /// How many runs.
    pub(super) runs: usize,
}

impl PooledRate {
    /// Of runs; none of none.
    pub(super) fn of_runs(rates: &[Rate]) -> Option<Self> {
        let n = rates.len() as f64;
        let all: Vec<RateWithError> = rates.iter().map(Rate::with_error).collect();
        let first = *all.first()?;
        let logs: Vec<f64> = all.iter().map(|rate| rate.log).collect();
        let sum: Option<f64> = all.iter().map(|rate| rate.variance).sum();
        let rate = match rates.len() {
            1 => first,
            _ => RateWithError {
                log: mean(&logs),
                variance: sum.map(|sum| (sum / (n * n)).max(squares(&logs) / (n * (n - 1.0)))),
                degrees: all.iter().map(|rate| rate.degrees).sum(),
            },
        };
        Some(Self { rate, runs: rates.len() })
    }
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

    /// Those of all runs that it is made of.
    pub(super) fn members<T: Copy>(&self, all: impl Iterator<Item = T>) -> Vec<T> {
        let marked = all.zip(&self.marks).skip(self.since);
        let is_member = |(_, mark): &(T, &BaselineMark)| **mark != BaselineMark::Outlier;
        marked.filter(is_member).map(|(one, _)| one).collect()
    }

    /// The between-run variance that a run beside it is tested with: its own, or if that is not known the
    /// one of `others`. A disturbed run differs by at least what such runs do, unless the runs of the history
    /// were as disturbed.
    pub(super) fn variance(
        &self,
        others: BetweenRunVariance,
        is_beyond_history: bool,
    ) -> BetweenRunVariance {
        match self.between.filter(|_| self.only.is_none()) {
            Some(own) if is_beyond_history => own.at_least(BetweenRunVariance::assumed(true)),
            Some(own) => own,
            None => others,
        }
    }

    /// Its rate and that of the runs beside it, with their errors. A history has the variance between runs in
    /// it, and the repeats of the others count as far as they vary more.
    pub(super) fn beside(
        &self,
        run: &PooledRate,
        between: BetweenRunVariance,
    ) -> [RateWithError; 2] {
        if let Some(only) = &self.only {
            return [only.with_error(), run.rate];
        }
        let of_run = between.variance / run.runs as f64;
        let of_history = between.variance / self.runs.max(1) as f64;
        let own = run.rate.variance.unwrap_or(0.0);
        [
            RateWithError {
                log: self.log,
                variance: Some(of_run + of_history),
                degrees: between.degrees,
            },
            RateWithError { variance: Some((own - of_run).max(0.0)), ..run.rate },
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::findings::tests::Noise;

    #[test]
    fn the_interval_of_two_runs_is_that_of_a_difference_of_two() {
        // Deviations of 0.01 with 5 degrees of freedom: 2.571 * sqrt(2) * 0.01.
        let logs = [1.0, 3.0, 2.0, 1.0, 3.0, 2.0].map(|at| at * 0.01);
        let deviation = (0.000_4_f64 / 5.0).sqrt();
        let between = BetweenRunVariance::of_groups(&[logs.to_vec()]).unwrap();
        let half = between.half_width(0.05, [1, 1]).unwrap();
        assert!((half - 2.570_582 * 2.0_f64.sqrt() * deviation).abs() < 1e-6, "{half}");
    }

    #[test]
    fn a_few_runs_are_too_few_and_groups_are_pooled() {
        let of = BetweenRunVariance::of_groups;
        assert_eq!(of(&[vec![1.0, 2.0, 3.0, 1.0, 2.0]]), None);
        assert_eq!(of(&[]), None);
        let pooled = of(&[vec![0.0, 0.02, 0.01], vec![5.0, 5.02, 5.01]]).unwrap();
        assert!((pooled.variance - 0.000_1).abs() < 1e-9 && pooled.degrees == 4.0, "{pooled:?}");
        assert_eq!(of(&[[0.0; 6].map(f64::from).to_vec()]).unwrap().variance, 0.0);
        let apart: Vec<Vec<f64>> = (0..6).map(|at| vec![f64::from(at)]).collect();
        assert_eq!(of(&apart), None, "no two runs of the same");
    }

    #[test]
    fn of_runs_that_are_alike_hardly_any_is_an_outlier() {
        for runs in [4, 6, 12, 40] {
            let has_one = |seed: &u64| {
                let mut noise = Noise::new(*seed);
                let logs: Vec<f64> = (0..runs).map(|_| 0.05 * noise.normal()).collect();
                outliers(&logs).contains(&true)
            };
            let found = (0..500).filter(has_one).count();
            assert!(found <= 5, "{found} of 500 with {runs} runs");
        }
    }

    #[test]
    fn two_runs_that_are_off_do_not_hide_each_other() {
        let logs = [0.0, 0.01, -0.01, 0.5, 0.0, 0.01, 0.51, 0.0, -0.01];
        let found = outliers(&logs);
        assert_eq!(found, logs.map(|log| log > 0.4).to_vec());
    }

    #[test]
    fn neither_a_step_nor_an_outlier_adds_to_the_variance() {
        let noise = [0.0, 0.01, -0.01, 0.005, -0.005, 0.0, 0.01, -0.01];
        let before = noise.iter().copied();
        let stepped: Vec<f64> = before.chain(noise.iter().map(|log| log + 0.5)).collect();
        let flat: Vec<f64> = noise.iter().chain(&noise).copied().collect();
        let with_outlier: Vec<f64> = flat.iter().copied().chain([0.7]).collect();
        let half = |logs: Vec<f64>| {
            BetweenRunVariance::of_groups(&[logs]).unwrap().half_width(0.05, [1, 1]).unwrap()
        };
        assert!(half(stepped) < half(flat.clone()) * 1.1);
        assert!(half(with_outlier) < half(flat) * 1.1);
    }
}
