//! Rates of a phase from run to run: what the runs of a scenario measured, in the order they began.

use std::collections::BTreeSet;

use super::history::same_target;
use super::summary::{PhaseSummary, VariantSummary};
use crate::analysis::Analysis;
use crate::base::dates::seconds_of;
use crate::base::distinct::each_once;
use crate::results::book::Level;

/// The rate of a phase of one run, and when the run began.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct DatedRate<'a> {
    /// Seconds from 1970 to the begin of the run.
    pub(crate) seconds: f64,
    /// The index of the run.
    pub(crate) run: usize,
    pub(crate) variant: &'a str,
    /// Its row in the summary.
    pub(crate) row: &'a PhaseSummary,
}

/// One phase over the runs of a scenario.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PhaseHistory<'a> {
    pub(crate) scenario: &'a str,
    pub(crate) phase: &'a str,
    /// The level, the last one of the latest run; none without an axis.
    pub(crate) level: Option<&'a Level>,
    /// Rates of one unit, from the earliest on.
    pub(crate) rates: Vec<DatedRate<'a>>,
    /// Whether all runs are of the same job on the same machine, file system and device.
    pub(crate) same_target: bool,
}

/// Fewer runs are no history.
const RUNS_MIN: usize = 3;

/// A run that has a date.
struct DatedRun<'a> {
    index: usize,
    seconds: f64,
    analysis: &'a Analysis<'a>,
}

/// One for each phase of each scenario that three or more of the runs measured. Published figures
/// have no date to stand at; a run that is given twice stands there once.
pub(crate) fn phase_histories<'a>(all: &[&'a Analysis<'a>]) -> Vec<PhaseHistory<'a>> {
    let mut seen = BTreeSet::new();
    let mut runs = Vec::new();
    for (index, analysis) in all.iter().copied().enumerate() {
        let run = &analysis.book.run;
        if !seen.insert(&run.id) || run.reference.is_some() {
            continue;
        }
        if let Some(seconds) = seconds_of(&run.started) {
            runs.push(DatedRun { index, seconds, analysis });
        }
    }
    runs.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    let scenarios = each_once(runs.iter().map(|run| run.scenario()));
    scenarios.into_iter().flat_map(|scenario| of_scenario(scenario, &runs)).collect()
}

fn of_scenario<'a>(scenario: &'a str, runs: &[DatedRun<'a>]) -> Vec<PhaseHistory<'a>> {
    let runs: Vec<&DatedRun<'a>> = runs.iter().filter(|run| run.scenario() == scenario).collect();
    let Some(latest) = runs.last().filter(|_| runs.len() >= RUNS_MIN) else { return Vec::new() };
    let latest_book = latest.analysis.book;
    let same_target = runs.iter().all(|run| same_target(run.analysis.book, latest_book));
    let of_phase = |phase: &'a str| {
        let last = latest
            .analysis
            .summary()
            .groups
            .iter()
            .rev()
            .find_map(|group| Some((group.level.as_ref(), rate_row(group, phase)?.rate_unit)));
        let (level, unit) = last?;
        let mut rates = Vec::new();
        for run in &runs {
            let groups = run.analysis.summary().groups.iter();
            for group in groups.filter(|group| group.level.as_ref() == level) {
                let row = rate_row(group, phase).filter(|row| row.rate_unit == unit);
                let (seconds, variant) = (run.seconds, group.variant.as_str());
                rates.extend(row.map(|row| DatedRate { seconds, run: run.index, variant, row }));
            }
        }
        let measured = each_once(rates.iter().map(|rate| rate.run)).len();
        let enough = measured >= RUNS_MIN;
        enough.then_some(PhaseHistory { scenario, phase, level, rates, same_target })
    };
    latest.analysis.summary().phases().into_iter().filter_map(of_phase).collect()
}

impl<'a> DatedRun<'a> {
    fn scenario(&self) -> &'a str {
        &self.analysis.book.run.scenario
    }
}

/// The row of a phase that has a rate.
fn rate_row<'a>(group: &'a VariantSummary, phase: &str) -> Option<&'a PhaseSummary> {
    group.rows.iter().find(|row| row.phase == phase && row.rate.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::book::Book;
    use crate::results::fixture;
    use crate::results::reference::references;

    fn begun(day: u32) -> Book {
        let mut book = fixture::book();
        (book.run.id, book.run.started) =
            (format!("run{day:05}"), format!("2026-10-{day:02}T08:00:00Z"));
        book
    }

    /// Of each phase the runs that measured it, and whether they have the same target.
    fn histories(books: &[Book]) -> Vec<(String, Vec<usize>, bool)> {
        let analyses: Vec<Analysis<'_>> = books.iter().map(Analysis::of).collect();
        let runs_of = |one: PhaseHistory<'_>| {
            let runs = one.rates.iter().map(|rate| rate.run).collect();
            (one.phase.to_string(), runs, one.same_target)
        };
        phase_histories(&analyses.iter().collect::<Vec<_>>()).into_iter().map(runs_of).collect()
    }

    #[test]
    fn three_runs_stand_in_the_order_they_began_and_two_are_no_history() {
        let found = histories(&[begun(7), begun(5), begun(6)]);
        assert_eq!(found.len(), 5, "{found:?}");
        assert_eq!(found[0], ("create".into(), vec![1, 2, 0], true));
        assert_eq!(histories(&[begun(7), begun(5)]), []);
        assert_eq!(histories(&[begun(7), begun(5), begun(7)]), [], "one of them twice");
        assert_eq!(histories(&[begun(7), begun(5), begun(7), begun(6)])[0].1, [1, 3, 0]);
    }

    #[test]
    fn published_figures_and_other_scenarios_do_not_count() {
        let mut other = begun(6);
        other.run.scenario = "mine".into();
        let published = references().into_iter().find(|book| book.run.scenario == "smallfiles");
        assert_eq!(histories(&[begun(7), begun(5), other, published.unwrap()]), []);
    }

    #[test]
    fn runs_on_another_machine_have_another_target() {
        let mut other = begun(6);
        other.host.cpu = "another".into();
        assert!(histories(&[begun(7), begun(5), other]).iter().all(|(.., same)| !same));
    }

    #[test]
    fn with_an_axis_a_history_is_of_the_last_level_of_the_latest_run() {
        let books: Vec<Book> = (5..8)
            .map(|day| {
                let mut book = fixture::growing::chunks();
                (book.run.id, book.run.started) =
                    (format!("run{day:05}"), format!("2026-10-{day:02}T08:00:00Z"));
                book
            })
            .collect();
        let analyses: Vec<Analysis<'_>> = books.iter().map(Analysis::of).collect();
        let all: Vec<&Analysis<'_>> = analyses.iter().collect();
        let found = phase_histories(&all);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].level.map(|level| level.value), Some(4_096_000.0));
        assert_eq!(found[0].rates.len(), 9, "three variants of three runs");
    }
}
