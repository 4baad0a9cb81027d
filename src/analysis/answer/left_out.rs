//! Names the tasks of a run that its findings say nothing of, so that no answer says "nothing" of what was not compared.

use super::words::{number_of_words, task};
use crate::analysis::findings::say::listed;
use crate::analysis::observations::uncounted_cells;
use crate::base::distinct::each_once;
use crate::results::book::{Book, Level};

/// Names, and their words, that stand in an answer; of more it says how many tasks they are.
pub(super) const NAMED_MAX: usize = 2;
const NAMED_WORDS_MAX: usize = 6;

/// A phase of a variant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct MeasuredTask<'a> {
    pub(super) variant: &'a str,
    pub(super) phase: &'a str,
    /// Why none of its measurements counts, or is compared; none where some are.
    why: Option<&'static str>,
    /// Whether it is timed in windows.
    has_windows: bool,
}

impl<'a> MeasuredTask<'a> {
    pub(super) fn new(variant: &'a str, phase: &'a str) -> Self {
        Self { variant, phase, why: None, has_windows: false }
    }

    /// The same for answers that compare levels: they leave phases with windows to growth.
    pub(super) fn over_levels(self) -> Self {
        Self { why: self.why.or(self.has_windows.then_some("see its growth")), ..self }
    }

    fn is_of(&self, other: &Self) -> bool {
        (self.variant, self.phase) == (other.variant, other.phase)
    }
}

/// All that were measured, whether that is valid or not; what is written until the unmount is none.
pub(super) fn measured_tasks(book: &Book) -> Vec<MeasuredTask<'_>> {
    let uncounted = uncounted_cells(book);
    let cells = book
        .measurements
        .iter()
        .filter(|m| !m.is_settle())
        .map(|m| (MeasuredTask::new(&m.cell.variant, &m.phase), m.cell.level.as_ref()));
    let cells = each_once(cells);
    let why = |(task, level): &(MeasuredTask<'_>, Option<&Level>)| {
        let mut own = uncounted.iter().filter(|one| one.level == *level);
        own.find(|one| task.is_of(&MeasuredTask::new(one.variant, one.phase))).map(|one| one.why)
    };
    let reasoned = each_once(cells.iter().map(|one| one.0)).into_iter().map(|task| {
        let own = cells.iter().filter(|one| one.0.is_of(&task));
        let has_windows = book.measurements.iter().any(|m| {
            task.is_of(&MeasuredTask::new(&m.cell.variant, &m.phase)) && !m.windows.is_empty()
        });
        MeasuredTask { why: only(&each_once(own.map(why))), has_windows, ..task }
    });
    reasoned.collect()
}

/// The reason of all; none where there are several, or where one has none.
fn only(reasons: &[Option<&'static str>]) -> Option<&'static str> {
    match reasons {
        [reason] => *reason,
        _ => None,
    }
}

/// The tasks that were measured and not compared.
pub(super) struct LeftOutTasks {
    /// Variants and phases of which nothing was compared, and single tasks; with the reason where all have one.
    names: Vec<(String, Option<&'static str>)>,
    number: usize,
    measured: usize,
}

impl LeftOutTasks {
    /// Those among `measured` that are not among `compared`.
    pub(super) fn new(measured: &[MeasuredTask<'_>], compared: &[MeasuredTask<'_>]) -> Self {
        let is_compared = |task: &&MeasuredTask<'_>| compared.iter().any(|one| one.is_of(task));
        let left_out: Vec<_> = measured.iter().filter(|task| !is_compared(task)).collect();
        let has_variant = |name: &str| compared.iter().any(|one| one.variant == name);
        let has_phase = |name: &str| compared.iter().any(|one| one.phase == name);
        let name = |one: &&MeasuredTask<'_>| match (has_variant(one.variant), has_phase(one.phase))
        {
            (false, _) => one.variant.to_string(),
            (true, false) => one.phase.to_string(),
            (true, true) => task(one.variant, one.phase),
        };
        let reasoned = each_once(left_out.iter().map(name)).into_iter().map(|known| {
            let own = left_out.iter().filter(|one| name(one) == known);
            let reasons = each_once(own.map(|one| one.why));
            (known, only(&reasons))
        });
        Self { names: reasoned.collect(), number: left_out.len(), measured: measured.len() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    fn listed(&self) -> String {
        listed(&self.names.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>())
    }

    /// Whether an answer has room for all names.
    fn is_short(&self) -> bool {
        self.names.len() <= NAMED_MAX && number_of_words(&self.listed()) <= NAMED_WORDS_MAX
    }

    /// What stands before a statement on all others: `apart from create and read (xfs), `.
    pub(super) fn apart(&self) -> String {
        if self.is_empty() {
            return String::new();
        }
        match self.is_short() {
            true => format!("apart from {}, ", self.listed()),
            false => format!("apart from {} of {} tasks, ", self.number, self.measured),
        }
    }

    /// A sentence with all names for each reason; none where there are none.
    pub(super) fn sentence(&self) -> Option<String> {
        let sentence = |why: Option<&str>| {
            let own = self.names.iter().filter(|(_, reason)| *reason == why);
            let own: Vec<&str> = own.map(|(name, _)| name.as_str()).collect();
            let why = why.map(|why| format!(" ({why})")).unwrap_or_default();
            format!("Left out{why}: {}.", own.join(", "))
        };
        let reasons = each_once(self.names.iter().map(|(_, reason)| *reason));
        let all: Vec<String> = reasons.into_iter().map(sentence).collect();
        (!all.is_empty()).then(|| all.join(" "))
    }

    /// The same where it tells more than [`Self::apart`], which has names or their number.
    pub(super) fn sentence_beside_apart(&self) -> Option<String> {
        let is_reasoned = self.names.iter().any(|(_, reason)| reason.is_some());
        self.sentence().filter(|_| is_reasoned || !self.is_short())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_compared_is_named_as_a_variant_a_phase_or_a_task() {
        let all = ["ext4", "xfs", "btrfs"].into_iter().flat_map(|variant| {
            ["create", "read", "delete"].map(|phase| MeasuredTask::new(variant, phase))
        });
        let mut all: Vec<MeasuredTask<'_>> = all.collect();
        let but = |is_left_out: fn(&MeasuredTask<'_>) -> bool| {
            let compared: Vec<_> = all.iter().copied().filter(|one| !is_left_out(one)).collect();
            LeftOutTasks::new(&all, &compared)
        };
        assert_eq!(but(|_| false).apart(), "");
        assert_eq!(but(|_| false).sentence(), None);
        assert_eq!(but(|one| one.variant == "btrfs").apart(), "apart from btrfs, ");
        assert_eq!(but(|one| one.phase == "read").apart(), "apart from read, ");
        let two = but(|one| one.phase == "read" || (one.variant, one.phase) == ("xfs", "create"));
        assert_eq!(two.apart(), "apart from read and create (xfs), ");
        assert_eq!(two.sentence_beside_apart(), None);
        let many = but(|one| one.phase != "read" && one.variant != "ext4" || one.phase == "delete");
        assert_eq!(many.apart(), "apart from 5 of 9 tasks, ");
        assert_eq!(
            many.sentence_beside_apart().unwrap(),
            "Left out: delete, create (xfs), create (btrfs)."
        );
        all.iter_mut().filter(|one| one.phase == "delete").for_each(|one| {
            one.why = Some("reached its limit");
        });
        let compared: Vec<_> = all.iter().copied().filter(|one| one.phase == "create").collect();
        let named = LeftOutTasks::new(&all, &compared);
        assert_eq!(named.apart(), "apart from read and delete, ");
        let reasoned = "Left out: read. Left out (reached its limit): delete.";
        assert_eq!(named.sentence_beside_apart().unwrap(), reasoned);
    }
}
