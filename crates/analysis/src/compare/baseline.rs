//! Finds the runs of a history that a run is compared with: those since its last step, without outliers.

use schemars::JsonSchema;
use serde::Serialize;

use crate::history::steps;
use crate::statistics::describe::{mean, squares};
use crate::statistics::distributions::student_t;

/// The chance that a run is taken for an outlier where all are alike. Leaving out what belongs to them makes the rest look steadier
/// than it is.
const OUTLIER_ALPHA: f64 = 0.001;

/// At most one of this number of runs is an outlier.
const RUNS_PER_OUTLIER: usize = 4;

/// No smaller deviation makes an outlier; see the smallest width of a ratio.
const DEVIATION_LEAST: f64 = 0.005;

/// Consecutive runs between two steps.
struct Segment {
    /// The index of the first.
    from: usize,
    /// Which of them are outliers.
    outliers: Vec<bool>,
    /// The logarithms of the others.
    kept: Vec<f64>,
}

/// The longest row of runs of one of these groups without a step, and without outliers. Each group has the logarithms of
/// equal runs, oldest first.
pub(super) fn longest_segment(groups: &[Vec<f64>]) -> Vec<f64> {
    let all = groups.iter().flat_map(|logs| segments(logs)).map(|segment| segment.kept);
    all.max_by_key(Vec::len).unwrap_or_default()
}

/// The segments of a row of logarithms from step to step; one of all without steps.
fn segments(values: &[f64]) -> Vec<Segment> {
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
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

/// The runs that a run is compared with.
pub(super) struct Baseline {
    /// The first of them.
    pub(super) since: usize,
    /// What each run of the history is to them.
    pub(super) marks: Vec<BaselineMark>,
}

impl Baseline {
    /// Of the logarithms of runs, oldest first.
    pub(super) fn of_runs(logs: &[f64]) -> Self {
        let segments = segments(logs);
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
        Self { since, marks }
    }

    /// The runs of the baseline among all.
    pub(super) fn members<T>(&self, all: impl Iterator<Item = T>) -> Vec<T> {
        let marked = all.zip(&self.marks).skip(self.since);
        let members = marked.filter(|(_, mark)| **mark != BaselineMark::Outlier);
        members.map(|(one, _)| one).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::tests::Noise;

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
    fn neither_a_step_nor_an_outlier_adds_to_the_scatter() {
        let noise = [0.0, 0.01, -0.01, 0.005, -0.005, 0.0, 0.01, -0.01];
        let after = noise.map(|log| log + 0.5);
        let stepped = [&noise[1..], &after].concat();
        assert_eq!(longest_segment(&[stepped, vec![9.0; 3]]), after);
        let with_outlier = [&noise[..], &[0.7]].concat();
        assert_eq!(longest_segment(&[with_outlier]), noise);
        assert_eq!(longest_segment(&[]), Vec::<f64>::new());
    }
}
