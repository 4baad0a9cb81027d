//! Suggests what a reader of a run may look at or do next.

use super::summary::{PhaseSummary, Summary};
use crate::base::units::Unit;
use crate::plan::{Scale, find_scenario};
use crate::results::book::Book;

/// One thing to look at or do next.
#[derive(Clone, Debug, PartialEq)]
pub enum NextStep {
    /// The phase with the fewest operations per second, where nothing grows and they are more
    /// than a few large transfers, and how far its tail is from its middle.
    SlowestPhase {
        /// Its name.
        phase: String,
        /// Its variant and level, as in the summary's group; none if there is only one group.
        group: Option<usize>,
        /// Half of its operations were shorter, in nanoseconds.
        p50_ns: u64,
        /// 99 in 100 were shorter, in nanoseconds.
        p99_ns: u64,
        /// The second over the first.
        ratio: f64,
    },
    /// The same at a larger scale.
    LargerScale {
        /// The word for it.
        scale: &'static str,
    },
    /// For published figures: how to have a run of one's own beside them.
    Beside {
        /// The scenario.
        scenario: String,
        /// The published figures, as a run is named.
        run: String,
    },
    /// How to see the run again.
    Show {
        /// Its id.
        run: String,
        /// Whether it has levels, whose phases can be shown in detail.
        levels: bool,
        /// Whether it has windows to show.
        windows: bool,
    },
}

/// What to look at next, most telling first; at most one of each kind.
pub(super) fn next_steps(book: &Book, summary: &Summary) -> Vec<NextStep> {
    let show = NextStep::Show {
        run: book.run.id.clone(),
        // Of published figures the windows are what is shown in the first place.
        windows: book.run.reference.is_none()
            && book.measurements.iter().any(|m| !m.windows.is_empty()),
        levels: !summary.levels().is_empty(),
    };
    let all = [slowest_phase(summary), larger_scale(book), published_beside(book), Some(show)];
    all.into_iter().flatten().collect()
}

fn slowest_phase(summary: &Summary) -> Option<NextStep> {
    if !summary.levels().is_empty() {
        return None;
    }
    let rows = summary.groups.iter().enumerate().flat_map(|(at, group)| {
        group.rows.iter().filter_map(move |row| Some((at, row, rate_of(row)?)))
    });
    let (at, row, _) = rows.min_by(|(_, _, a), (_, _, b)| a.total_cmp(b))?;
    let tail = row.tail?;
    let (p50_ns, p99_ns) = (tail.p50_ns.filter(|p50| *p50 > 0)?, tail.p99_ns?);
    Some(NextStep::SlowestPhase {
        phase: row.phase.clone(),
        group: (summary.groups.len() > 1).then_some(at),
        p50_ns,
        p99_ns,
        ratio: p99_ns as f64 / p50_ns as f64,
    })
}

fn rate_of(row: &PhaseSummary) -> Option<f64> {
    let operations = row.rate.filter(|_| row.rate_unit == Unit::Count);
    operations.map(|rate| rate.mean).filter(|mean| *mean > 0.0)
}

/// Only for a run that went well: more of what failed would fail again.
fn larger_scale(book: &Book) -> Option<NextStep> {
    let went_well = book.run.complete && book.measurements.iter().all(|m| m.valid());
    // Only a built-in scenario is known to do more at a larger scale.
    find_scenario(&book.run.scenario).filter(|scenario| scenario.text == book.run.job)?;
    let at = Scale::ALL.iter().position(|scale| *scale == book.run.scale)?;
    let scale = Scale::ALL.get(at + 1).filter(|_| went_well)?.as_str();
    Some(NextStep::LargerScale { scale })
}

fn published_beside(book: &Book) -> Option<NextStep> {
    book.run.reference.as_ref()?;
    let scenario = find_scenario(&book.run.scenario)?.name.to_string();
    Some(NextStep::Beside { scenario, run: book.run.id.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::Analysis;
    use crate::results::fixture;

    fn next_of(book: &Book) -> Vec<NextStep> {
        Analysis::of(book).next_steps()
    }

    #[test]
    fn the_slowest_phase_comes_first_with_the_ratio_of_its_tail() {
        let all = next_of(&fixture::book());
        let NextStep::SlowestPhase { phase, group: None, ratio, .. } = &all[0] else {
            panic!("{all:?}");
        };
        assert_eq!(phase, "read-random");
        assert!((ratio - 10.0).abs() < 0.05, "one in fifty is ten times slower: {ratio}");
        let windows = NextStep::Show { run: "k3j9x2ab".into(), levels: false, windows: true };
        assert_eq!(all[1..], [windows], "a phase failed, so no larger scale");
    }

    #[test]
    fn a_scenario_that_went_well_is_followed_by_a_larger_one_up_to_the_largest() {
        let mut book = fixture::book();
        book.run.job = find_scenario("smallfiles").map(|s| s.text.to_string()).unwrap_or_default();
        book.measurements.retain(|m| m.valid());
        for (scale, larger) in [
            (Scale::Quick, Some("standard")),
            (Scale::Standard, Some("original")),
            (Scale::Original, None),
        ] {
            book.run.scale = scale;
            let found = next_of(&book).into_iter().find_map(|next| match next {
                NextStep::LargerScale { scale } => Some(scale),
                _ => None,
            });
            assert_eq!(found, larger);
        }
    }

    #[test]
    fn an_empty_run_only_says_how_to_see_it() {
        let book = Book { run: fixture::run("k3j9x2ab"), ..Default::default() };
        assert_eq!(
            next_of(&book),
            [NextStep::Show { run: "k3j9x2ab".into(), levels: false, windows: false }]
        );
    }
}
