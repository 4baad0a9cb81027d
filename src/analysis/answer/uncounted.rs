//! Names the levels of a run at which some of its tasks were measured and do not count, so that no answer passes over them:
//! what took longer than a phase may is the slowest of all.

use super::words::task;
use crate::analysis::findings::say::level_in_words;
use crate::analysis::observations::{UncountedCell, uncounted_cells};
use crate::base::distinct::each_once;
use crate::plan::Conclusion;
use crate::results::book::{Book, Level, Measurement};

/// The parts of a run that were measured and do not count: of tasks that count at other levels, the levels at which they
/// do not; of a ranking, the phases.
pub(super) struct UncountedParts<'a>(Vec<UncountedPart<'a>>);

/// What does not count for one reason at one level.
struct UncountedPart<'a> {
    level: Option<&'a Level>,
    why: &'static str,
    tasks: Vec<String>,
    /// Whether no answer excepts these tasks by itself.
    is_unsaid: bool,
}

impl<'a> UncountedParts<'a> {
    /// Those that an answer of this kind passes over; none if there are none.
    pub(super) fn of(book: &'a Book, kind: Conclusion) -> Option<Self> {
        let all = UncountedCells { book, cells: uncounted_cells(book) };
        all.parts(|one| all.is_passed_over(one, kind), |one| all.is_unsaid(one, kind))
    }

    /// All of a run, for an answer that has no findings; none if there are none.
    pub(super) fn all(book: &'a Book) -> Option<Self> {
        UncountedCells { book, cells: uncounted_cells(book) }.parts(|_| true, |_| true)
    }

    /// Names all of them.
    pub(super) fn sentence(&self) -> String {
        let part = |UncountedPart { level, why, tasks, .. }: &UncountedPart<'_>| {
            let at = level.map(|level| format!(" at {}", level_in_words(level)));
            format!("{}{} ({why})", tasks.join(", "), at.unwrap_or_default())
        };
        let parts: Vec<String> = self.0.iter().map(part).collect();
        format!("Not counted: {}.", parts.join("; "))
    }

    /// The levels that stand in an answer: `at 1,000,000 files create does not count (reached its limit)`; none where it
    /// excepts all of it by itself.
    pub(super) fn levels(&self) -> Option<String> {
        let unsaid: Vec<&UncountedPart<'_>> = self.0.iter().filter(|part| part.is_unsaid).collect();
        let levels = each_once(unsaid.iter().filter_map(|part| part.level));
        match (unsaid.as_slice(), levels.as_slice()) {
            (_, []) => None,
            ([UncountedPart { why, tasks, .. }], [level]) => {
                let counts = match tasks.as_slice() {
                    [task] => format!("{task} does not count"),
                    tasks => format!("{} tasks do not count", tasks.len()),
                };
                Some(format!("at {} {counts} ({why})", level_in_words(level)))
            }
            (_, [level]) => Some(format!("at {} not all tasks count", level_in_words(level))),
            (_, levels) => Some(format!("at {} levels not all tasks count", levels.len())),
        }
    }
}

/// All cells of a run none of whose measurements counts.
struct UncountedCells<'a> {
    book: &'a Book,
    cells: Vec<UncountedCell<'a>>,
}

impl<'a> UncountedCells<'a> {
    /// Those among them that are wanted, by level and reason; none if there are none.
    fn parts(
        &self,
        is_wanted: impl Fn(&UncountedCell<'a>) -> bool,
        is_unsaid: impl Fn(&UncountedCell<'a>) -> bool,
    ) -> Option<UncountedParts<'a>> {
        let wanted = self.cells.iter().filter(|one| has_finite_level(one.level));
        let wanted: Vec<&UncountedCell<'a>> = wanted.filter(|one| is_wanted(one)).collect();
        let name = |one: &UncountedCell<'a>| match one.level {
            None if !self.any_counts(|m| m.phase == one.phase) => one.phase.to_string(),
            _ => task(one.variant, one.phase),
        };
        let part = |(level, why)| {
            let own = || wanted.iter().filter(move |one| (one.level, one.why) == (level, why));
            let tasks = each_once(own().map(|one| name(one)));
            UncountedPart { level, why, tasks, is_unsaid: own().any(|one| is_unsaid(one)) }
        };
        let parts = each_once(wanted.iter().map(|one| (one.level, one.why)));
        (!parts.is_empty()).then(|| UncountedParts(parts.into_iter().map(part).collect()))
    }

    /// Whether the findings speak of what such a cell belongs to, and so of all of it.
    fn is_passed_over(&self, one: &UncountedCell<'_>, kind: Conclusion) -> bool {
        match (kind, one.level) {
            (Conclusion::Source, _) => false,
            (Conclusion::Ranking, None) => !self.any_counts(|m| m.phase == one.phase),
            (_, None) => false,
            (_, Some(_)) => {
                self.any_counts(|m| (&*m.cell.variant, &*m.phase) == (one.variant, one.phase))
            }
        }
    }

    /// Whether no other phase of the variant counts at the level: answers over an axis except those that lack levels which
    /// others have.
    fn is_unsaid(&self, one: &UncountedCell<'_>, kind: Conclusion) -> bool {
        let excepts = kind == Conclusion::Levels;
        let here =
            |m: &Measurement| (&*m.cell.variant, m.cell.level.as_ref()) == (one.variant, one.level);
        !(excepts && self.any_counts(here))
    }

    /// Whether any of these measurements is of a cell that counts.
    fn any_counts(&self, is_it: impl Fn(&Measurement) -> bool) -> bool {
        let is_uncounted = |m: &Measurement| {
            let level = m.cell.level.as_ref();
            self.cells.iter().any(|one| {
                (one.phase, one.variant, one.level) == (&*m.phase, &*m.cell.variant, level)
            })
        };
        let is_level = |m: &Measurement| has_finite_level(m.cell.level.as_ref());
        let all = self.book.measurements.iter().filter(|m| !m.is_settle() && is_level(m));
        all.filter(|m| is_it(m)).any(|m| !is_uncounted(m))
    }
}

/// Nothing equals a level that is no number, not even itself.
fn has_finite_level(level: Option<&Level>) -> bool {
    level.is_none_or(|level| level.value.is_finite())
}
