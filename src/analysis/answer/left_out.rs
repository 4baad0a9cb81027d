//! Names the tasks of a run that its findings say nothing of, so that no answer says "nothing" of what was not compared.

use super::words::{number_of_words, task};
use crate::analysis::findings::say::listed;
use crate::base::distinct::each_once;
use crate::results::book::Book;

/// Names, and their words, that stand in an answer; of more it says how many tasks they are.
const NAMED_MAX: usize = 2;
const NAMED_WORDS_MAX: usize = 6;

/// A phase of a variant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct MeasuredTask<'a> {
    pub(super) variant: &'a str,
    pub(super) phase: &'a str,
}

/// All that were measured, whether that is valid or not; what is written until the unmount is none.
pub(super) fn measured_tasks(book: &Book) -> Vec<MeasuredTask<'_>> {
    let all = book.measurements.iter().filter(|m| !m.is_settle());
    each_once(all.map(|m| MeasuredTask { variant: &m.cell.variant, phase: &m.phase }))
}

/// The tasks that were measured and not compared.
pub(super) struct LeftOutTasks {
    /// Variants and phases of which nothing was compared, and single tasks.
    names: Vec<String>,
    number: usize,
    measured: usize,
}

impl LeftOutTasks {
    /// Those among `measured` that are not among `compared`.
    pub(super) fn new(measured: &[MeasuredTask<'_>], compared: &[MeasuredTask<'_>]) -> Self {
        let left_out: Vec<&MeasuredTask<'_>> =
            measured.iter().filter(|task| !compared.contains(task)).collect();
        let has_variant = |name: &str| compared.iter().any(|one| one.variant == name);
        let has_phase = |name: &str| compared.iter().any(|one| one.phase == name);
        let name = |one: &&MeasuredTask<'_>| match (has_variant(one.variant), has_phase(one.phase))
        {
            (false, _) => one.variant.to_string(),
            (true, false) => one.phase.to_string(),
            (true, true) => task(one.variant, one.phase),
        };
        let names = each_once(left_out.iter().map(name));
        Self { names, number: left_out.len(), measured: measured.len() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Whether an answer has room for all names.
    fn is_short(&self) -> bool {
        self.names.len() <= NAMED_MAX && number_of_words(&listed(&self.names)) <= NAMED_WORDS_MAX
    }

    /// What stands before a statement on all others: `apart from create and read (xfs), `.
    pub(super) fn apart(&self) -> String {
        if self.is_empty() {
            return String::new();
        }
        match self.is_short() {
            true => format!("apart from {}, ", listed(&self.names)),
            false => format!("apart from {} of {} tasks, ", self.number, self.measured),
        }
    }

    /// A sentence with all names; none where there are none.
    pub(super) fn sentence(&self) -> Option<String> {
        (!self.is_empty()).then(|| format!("Left out: {}.", self.names.join(", ")))
    }

    /// The same where [`Self::apart`] has only their number.
    pub(super) fn sentence_beside_apart(&self) -> Option<String> {
        self.sentence().filter(|_| !self.is_short())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_compared_is_named_as_a_variant_a_phase_or_a_task() {
        let all = ["ext4", "xfs", "btrfs"].into_iter().flat_map(|variant| {
            ["create", "read", "delete"].map(|phase| MeasuredTask { variant, phase })
        });
        let all: Vec<MeasuredTask<'_>> = all.collect();
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
    }
}
