//! How far one run of the same lies from another: what no repeat of a single run can show.

use super::book::Book;
use super::conclusions::ratio::Ratio;
use super::history::{Stretch, same_target, spread, stretches};
use super::statistics::student::student_t;

/// With fewer other runs hardly anything is known of their spread, and no step can be told from it.
pub const OTHER_RUNS_MIN: usize = 6;

/// The spread of a figure between runs that do the same.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Between {
    /// Of the logarithm of one run's figure.
    variance: f64,
    degrees: f64,
}

impl Between {
    /// Of groups of runs that do the same, each the logarithms of its runs in the order of time. A
    /// step within a group is no spread, and a run that lies far from the others does not count. None with fewer than [`OTHER_RUNS_MIN`] runs in all.
    pub(super) fn of(groups: &[Vec<f64>]) -> Option<Self> {
        if groups.iter().map(Vec::len).sum::<usize>() < OTHER_RUNS_MIN {
            return None;
        }
        let all: Vec<Stretch> = groups.iter().flat_map(|logs| stretches(logs)).collect();
        let (squares, degrees) = spread(all.iter());
        (degrees > 0.0).then(|| Self { variance: squares / degrees, degrees })
    }

    /// Half the width of the interval of the logarithm of a ratio of two such runs, which misses the
    /// truth with the chance `miss`.
    pub(super) fn half(&self, miss: f64) -> Option<f64> {
        Some(student_t(miss, self.degrees)? * (2.0 * self.variance).sqrt())
    }
}

impl Ratio {
    /// With an interval that is at least that of two runs of the same, and whether that made it wider.
    /// The interval misses the truth with the chance `miss`.
    pub(super) fn no_surer_than(self, between: Option<Between>, miss: f64) -> (Self, bool) {
        let half = between.and_then(|between| between.half(miss));
        let wider = half.filter(|half| self.half.is_none_or(|own| *half > own));
        (Self { half: wider.or(self.half), ..self }.told(), wider.is_some())
    }
}

/// Other runs of what two runs did, as places among `others`: one group if both did the same, else
/// one for each.
pub(super) fn groups([a, b]: [&Book; 2], others: &[&Book]) -> Vec<Vec<usize>> {
    let of = |target: &Book| {
        let like = |other: &Book| {
            let itself = [&a.run.id, &b.run.id].contains(&&other.run.id);
            !itself && other.run.complete && same_target(target, other)
        };
        let all = others.iter().enumerate();
        all.filter(|(_, other)| like(other)).map(|(at, _)| at).collect::<Vec<_>>()
    };
    if same_target(a, b) { vec![of(a)] } else { vec![of(a), of(b)] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_of_two_runs_is_that_of_a_difference_of_two() {
        // Deviations of 0.01 with 5 degrees of freedom: 2.571 * sqrt(2) * 0.01.
        let logs = [1.0, 3.0, 2.0, 1.0, 3.0, 2.0].map(|at| at * 0.01);
        let deviation = (0.000_4_f64 / 5.0).sqrt();
        let half = Between::of(&[logs.to_vec()]).unwrap().half(0.05).unwrap();
        assert!((half - 2.570_582 * 2.0_f64.sqrt() * deviation).abs() < 1e-6, "{half}");
    }

    #[test]
    fn a_few_runs_tell_nothing_and_groups_are_pooled() {
        assert_eq!(Between::of(&[vec![1.0, 2.0, 3.0, 1.0, 2.0]]), None);
        assert_eq!(Between::of(&[]), None);
        let pooled = Between::of(&[vec![0.0, 0.02, 0.01], vec![5.0, 5.02, 5.01]]).unwrap();
        assert!((pooled.variance - 0.000_1).abs() < 1e-9 && pooled.degrees == 4.0, "{pooled:?}");
        assert_eq!(Between::of(&[[0.0; 6].map(f64::from).to_vec()]).unwrap().variance, 0.0);
        let apart: Vec<Vec<f64>> = (0..6).map(|at| vec![f64::from(at)]).collect();
        assert_eq!(Between::of(&apart), None, "no two runs of the same");
    }

    #[test]
    fn two_repeats_far_apart_do_not_become_sure_by_steady_other_runs() {
        let between = Between::of(&[[0.0, 0.02, 0.01, 0.0, 0.02, 0.01].to_vec()]);
        let with = |half| Ratio { log: 0.3, half }.no_surer_than(between, 0.05);
        assert_eq!(with(Some(23.0)), (Ratio { log: 0.3, half: None }, false));
        assert_eq!(with(Some(9.5)).0.half, Some(9.5));
        assert!(with(None).0.half.is_some_and(|half| half < 0.1), "only they are known");
    }

    #[test]
    fn a_step_in_the_history_does_not_widen_the_spread_and_nor_does_an_odd_run() {
        let noise = [0.0, 0.01, -0.01, 0.005, -0.005, 0.0, 0.01, -0.01];
        let before = noise.iter().copied();
        let stepped: Vec<f64> = before.chain(noise.iter().map(|log| log + 0.5)).collect();
        let flat: Vec<f64> = noise.iter().chain(&noise).copied().collect();
        let odd: Vec<f64> = flat.iter().copied().chain([0.7]).collect();
        let half = |logs: Vec<f64>| Between::of(&[logs]).unwrap().half(0.05).unwrap();
        assert!(half(stepped) < half(flat.clone()) * 1.1);
        assert!(half(odd) < half(flat) * 1.1);
    }
}
