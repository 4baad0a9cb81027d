//! Estimates between-run variance from groups of equal runs, and the baseline: the runs of a history
//! since its last step.

use serde::Serialize;

use crate::analysis::findings::ratio::{Rate, RateWithError};
use crate::analysis::history::steps;
use crate::analysis::statistics::describe::{mean, median, squares};
use crate::analysis::statistics::student::student_t;

/// With fewer other runs hardly anything is known of their variance, and no step is found in them.
pub(crate) const OTHER_RUNS_MIN: usize = 6;

/// With fewer runs since a step none is an outlier.
const OUTLIER_RUNS_MIN: usize = 5;

/// A run so many deviations from the median is an outlier.
const OUTLIER_DEVIATIONS: f64 = 4.0;

/// Standard deviation of a normal distribution over its median absolute deviation.
const DEVIATION_SCALE: f64 = 1.482_6;

/// No smaller deviation makes an outlier; see the smallest width of a ratio.
const DEVIATION_LEAST: f64 = 0.005;

/// The variance of a figure between runs of the same job.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct BetweenRunVariance {
    /// Of the logarithm of one run's figure.
    pub(super) variance: f64,
    pub(super) degrees: f64,
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
        (degrees > 0.0).then(|| Self { variance: sum / degrees, degrees })
    }

    /// Half the width of the interval of the logarithm of a ratio of two such runs.
    pub(super) fn half_width(&self, alpha: f64) -> Option<f64> {
        Some(student_t(alpha, self.degrees)? * (2.0 * self.variance).sqrt())
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

fn outliers(logs: &[f64]) -> Vec<bool> {
    if logs.len() < OUTLIER_RUNS_MIN {
        return vec![false; logs.len()];
    }
    let middle = median(logs);
    let off: Vec<f64> = logs.iter().map(|log| (log - middle).abs()).collect();
    let deviation = (DEVIATION_SCALE * median(&off)).max(DEVIATION_LEAST);
    off.iter().map(|off| *off > OUTLIER_DEVIATIONS * deviation).collect()
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
            return only.with_error();
        }
        let of_one = 1.0 + 1.0 / self.runs.max(1) as f64;
        RateWithError {
            log: self.log,
            variance: self.between.map(|between| between.variance * of_one),
            degrees: self.between.map_or(run.with_error().degrees, |between| between.degrees),
        }
    }

    /// The rate of a run beside it. The run's own repeats count as far as they vary more than
    /// runs of the history do.
    pub(super) fn of_run_beside(&self, run: &Rate) -> RateWithError {
        let own = run.with_error();
        if self.only.is_some() {
            return own;
        }
        let between = self.between.map_or(0.0, |between| between.variance);
        RateWithError { variance: Some((own.variance.unwrap_or(0.0) - between).max(0.0)), ..own }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_of_two_runs_is_that_of_a_difference_of_two() {
        // Deviations of 0.01 with 5 degrees of freedom: 2.571 * sqrt(2) * 0.01.
        let logs = [1.0, 3.0, 2.0, 1.0, 3.0, 2.0].map(|at| at * 0.01);
        let deviation = (0.000_4_f64 / 5.0).sqrt();
        let between = BetweenRunVariance::of_groups(&[logs.to_vec()]).unwrap();
        let half = between.half_width(0.05).unwrap();
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
    fn neither_a_step_nor_an_outlier_adds_to_the_variance() {
        let noise = [0.0, 0.01, -0.01, 0.005, -0.005, 0.0, 0.01, -0.01];
        let before = noise.iter().copied();
        let stepped: Vec<f64> = before.chain(noise.iter().map(|log| log + 0.5)).collect();
        let flat: Vec<f64> = noise.iter().chain(&noise).copied().collect();
        let with_outlier: Vec<f64> = flat.iter().copied().chain([0.7]).collect();
        let half = |logs: Vec<f64>| {
            BetweenRunVariance::of_groups(&[logs]).unwrap().half_width(0.05).unwrap()
        };
        assert!(half(stepped) < half(flat.clone()) * 1.1);
        assert!(half(with_outlier) < half(flat) * 1.1);
    }
}
