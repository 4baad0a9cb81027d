//! Finds the repeat from which on a whole run takes longer, or shorter: the machine changed while it measured.

use std::collections::BTreeSet;

use super::change::ChangePoint;
use super::history::steps_of_at_least;
use super::observations::{LogTimes, Observations};
use super::statistics::describe::mean;
use super::thresholds::CHANGE_MIN;
use boatload_results::book::Book;
use boatload_results::order::variants;

/// From one repeat on all phases together take longer, or shorter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RepeatStep {
    /// The first repeat after the step.
    pub(crate) from_repeat: u32,
    /// How many times as long everything takes from there on, in the geometric mean of all phases.
    pub ratio: f64,
}

/// The largest step by 10% or more over the repeats of a run, if any. It needs six repeats, three on each side.
pub(crate) fn step_over_repeats(book: &Book) -> Option<RepeatStep> {
    let tables = Observations::new(book, &variants(book)).tables();
    step_of(tables.into_iter().flat_map(|table| table.rows).map(|row| row.times).collect())
}

/// Of rows that have all repeats; the others are left out.
fn step_of(mut rows: Vec<LogTimes>) -> Option<RepeatStep> {
    let all: BTreeSet<u32> = rows.iter().flat_map(|row| row.keys().copied()).collect();
    rows.retain(|row| row.len() == all.len());
    let off: Vec<Vec<f64>> = rows.iter().map(deviations).collect();
    let of_repeat = |at: usize| mean(&off.iter().map(|row| row[at]).collect::<Vec<_>>());
    let means: Vec<f64> = (0..all.len()).map(of_repeat).collect();
    let found = steps_of_at_least(CHANGE_MIN.ln_1p(), &means);
    let size = |step: &ChangePoint| step.after - step.before;
    let largest = found.iter().max_by(|a, b| size(a).abs().total_cmp(&size(b).abs()))?;
    let from_repeat = *all.iter().nth(largest.index)?;
    Some(RepeatStep { from_repeat, ratio: size(largest).exp() })
}

/// The distance of each repeat from the mean of the row.
fn deviations(row: &LogTimes) -> Vec<f64> {
    let times: Vec<f64> = row.values().copied().collect();
    let middle = mean(&times);
    times.iter().map(|time| time - middle).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::tests::Noise;

    /// Rows whose repeats differ by 5% all together, and by another 10% each. From this repeat on all take `times` times as
    /// long.
    fn rows(seed: u64, repeats: u32, from: u32, times: f64) -> Vec<LogTimes> {
        let mut noise = Noise::new(seed);
        let mut rows = vec![LogTimes::new(); 4];
        for repeat in 1..=repeats {
            let step = if repeat < from { 0.0 } else { times.ln() };
            let common = 0.05 * noise.normal() + step;
            for row in &mut rows {
                row.insert(repeat, common + 0.1 * noise.normal());
            }
        }
        rows
    }

    #[test]
    fn a_run_in_which_nothing_changes_hardly_ever_has_a_step() {
        for repeats in [6, 10, 20] {
            let has_step = |seed: &u64| step_of(rows(*seed, repeats, repeats + 1, 1.0)).is_some();
            let found = (0..500).filter(has_step).count();
            assert!(found <= 10, "{found} of 500 with {repeats} repeats");
        }
    }

    #[test]
    fn a_machine_that_gets_slower_in_the_middle_of_a_run_is_found() {
        let found = (0..100).filter_map(|seed| step_of(rows(seed, 10, 5, 1.8)));
        let found: Vec<RepeatStep> = found.collect();
        assert!(found.len() >= 99, "{found:?}");
        let at_place = found.iter().filter(|step| step.from_repeat == 5).count();
        assert!(at_place >= 95, "{found:?}");
        assert!(found.iter().all(|step| (1.6..2.0).contains(&step.ratio)), "{found:?}");
    }

    #[test]
    fn five_repeats_are_too_few_and_a_phase_that_lacks_one_does_not_count() {
        assert_eq!(step_of(rows(1, 5, 3, 3.0)), None);
        let mut all = rows(1, 10, 5, 1.8);
        let whole = step_of(all.clone());
        all.push(LogTimes::from([(9, 9.0)]));
        assert!(whole.is_some());
        assert_eq!(step_of(all), whole);
    }
}
