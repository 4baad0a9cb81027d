//! Rates of a phase over runs of the same scenario, as they began one after the other.

use std::collections::BTreeSet;

use super::book::{Book, Level};
use super::history::same_target;
use super::order::each_once;
use super::summary::{PhaseSummary, Summary};
use crate::base::dates::seconds_of;

/// A row of a summary and when its run began.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Dated<'a> {
    /// Seconds from 1970 to the begin of the run.
    pub(crate) seconds: f64,
    /// Which of the books it is of.
    pub(crate) run: usize,
    /// The variant's name.
    pub(crate) variant: &'a str,
    /// The row.
    pub(crate) row: &'a PhaseSummary,
}

/// One phase over the runs of a scenario.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Timeline<'a> {
    /// The scenario's name.
    pub(crate) scenario: &'a str,
    /// The phase's name.
    pub(crate) phase: &'a str,
    /// The level, the last one of the latest run; none without an axis.
    pub(crate) level: Option<&'a Level>,
    /// Rows with a rate of one unit, from the earliest on.
    pub(crate) rows: Vec<Dated<'a>>,
    /// Whether all runs are of the same job on the same machine, file system and device.
    pub(crate) same_target: bool,
}

/// Fewer runs are no history.
const RUNS_MIN: usize = 3;

/// One for each phase of each scenario that three or more of the books measured. Published figures
/// have no date to stand at; a run that is given twice stands there once.
pub(crate) fn timelines<'a>(all: &[(&'a Book, &'a Summary)]) -> Vec<Timeline<'a>> {
    let dated = |(at, (book, summary)): (usize, &(&'a Book, &'a Summary))| {
        let seconds = seconds_of(&book.run.started).filter(|_| book.run.reference.is_none())?;
        Some(Run { at, seconds, book, summary })
    };
    let mut seen = BTreeSet::new();
    let runs = all.iter().enumerate().filter(|(_, (book, _))| seen.insert(&book.run.id));
    let mut runs: Vec<Run<'a>> = runs.filter_map(dated).collect();
    runs.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    let scenarios = each_once(runs.iter().map(|run| run.book.run.scenario.as_str()));
    let of = |scenario: &'a str| {
        let own = runs.iter().filter(|run| run.book.run.scenario == scenario);
        of_scenario(scenario, &own.collect::<Vec<_>>())
    };
    scenarios.into_iter().flat_map(of).collect()
}

struct Run<'a> {
    at: usize,
    seconds: f64,
    book: &'a Book,
    summary: &'a Summary,
}

fn of_scenario<'a>(scenario: &'a str, runs: &[&Run<'a>]) -> Vec<Timeline<'a>> {
    let Some(latest) = runs.last().filter(|_| runs.len() >= RUNS_MIN) else { return Vec::new() };
    let same_target = runs.iter().all(|run| same_target(run.book, latest.book));
    let of_phase = |phase: &'a str| {
        let has = |group: &&&'a super::summary::VariantSummary| {
            group.rows.iter().any(|row| row.phase == phase && row.rate.is_some())
        };
        let groups: Vec<_> = latest.summary.groups.iter().collect();
        let last = groups.iter().rev().find(has)?;
        let level = last.level.as_ref();
        let unit = last.rows.iter().find(|row| row.phase == phase)?.rate_unit;
        let rows_of = |run: &&Run<'a>| {
            let (seconds, at) = (run.seconds, run.at);
            let here = run.summary.groups.iter().filter(move |g| g.level.as_ref() == level);
            here.flat_map(move |group| {
                let own = group.rows.iter().filter(move |row| {
                    row.phase == phase && row.rate.is_some() && row.rate_unit == unit
                });
                own.map(move |row| Dated { seconds, run: at, variant: &group.variant, row })
            })
        };
        let rows: Vec<Dated<'a>> = runs.iter().flat_map(rows_of).collect();
        let measured = each_once(rows.iter().map(|row| row.run)).len();
        (measured >= RUNS_MIN).then_some(Timeline { scenario, phase, level, rows, same_target })
    };
    latest.summary.phases().into_iter().filter_map(of_phase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::analysis::Analysis;
    use crate::measure::fixture;
    use crate::measure::reference::references;

    fn begun(day: u32) -> Book {
        let mut book = fixture::book();
        (book.run.id, book.run.started) =
            (format!("run{day:05}"), format!("2026-10-{day:02}T08:00:00Z"));
        book
    }

    fn told(books: &[Book]) -> Vec<(String, Vec<usize>, bool)> {
        let summaries: Vec<Summary> =
            books.iter().map(|book| Analysis::of(book).summary().clone()).collect();
        let all: Vec<_> = books.iter().zip(&summaries).collect();
        let tell = |one: Timeline<'_>| {
            (one.phase.to_string(), one.rows.iter().map(|row| row.run).collect(), one.same_target)
        };
        timelines(&all).into_iter().map(tell).collect()
    }

    #[test]
    fn three_runs_stand_in_the_order_they_began_and_two_are_no_history() {
        let found = told(&[begun(7), begun(5), begun(6)]);
        assert_eq!(found.len(), 5, "{found:?}");
        assert_eq!(found[0], ("create".into(), vec![1, 2, 0], true));
        assert_eq!(told(&[begun(7), begun(5)]), []);
        assert_eq!(told(&[begun(7), begun(5), begun(7)]), [], "one of them twice");
        assert_eq!(told(&[begun(7), begun(5), begun(7), begun(6)])[0].1, [1, 3, 0]);
    }

    #[test]
    fn published_figures_and_other_scenarios_do_not_count() {
        let mut other = begun(6);
        other.run.scenario = "mine".into();
        let published = references().into_iter().find(|book| book.run.scenario == "smallfiles");
        assert_eq!(told(&[begun(7), begun(5), other, published.unwrap()]), []);
    }

    #[test]
    fn runs_on_another_machine_are_told_to_be() {
        let mut other = begun(6);
        other.host.cpu = "another".into();
        assert!(told(&[begun(7), begun(5), other]).iter().all(|(.., same)| !same));
    }

    #[test]
    fn of_an_axis_the_last_level_of_the_latest_run_is_told() {
        let books: Vec<Book> = (5..8)
            .map(|day| {
                let mut book = fixture::growing::chunks();
                (book.run.id, book.run.started) =
                    (format!("run{day:05}"), format!("2026-10-{day:02}T08:00:00Z"));
                book
            })
            .collect();
        let summaries: Vec<Summary> =
            books.iter().map(|book| Analysis::of(book).summary().clone()).collect();
        let all: Vec<_> = books.iter().zip(&summaries).collect();
        let found = timelines(&all);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].level.map(|level| level.value), Some(4_096_000.0));
        assert_eq!(found[0].rows.len(), 9, "three variants of three runs");
    }
}
