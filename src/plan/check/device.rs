//! Phases that read the block device instead of files.

use super::phases::Outline;
use crate::base::units::grouped;
use crate::op::{Operation, Subject, find_operation};
use crate::plan::phase::CacheAsked;
use crate::plan::report::{ProblemList, below, element};
use crate::plan::selection::Selection;
use crate::plan::wire::{WireJob, WirePhase};

/// Whether all phases, as far as their operations are known, read the device. Some that do and
/// some that do not are a problem: a run that only reads the device writes nothing at all, and
/// that must hold for all of it.
pub(super) fn only(job: &WireJob, report: &mut ProblemList) -> bool {
    let operation = |phase: &WirePhase| find_operation(&phase.operation.as_ref()?.0);
    let known: Vec<_> =
        (0..).zip(job.phases()).filter_map(|(at, p)| Some((at, operation(p)?))).collect();
    let on_device = |operation: &dyn Operation| operation.subject() == Subject::Block;
    let Some((at, first)) = known.iter().find(|(_, operation)| on_device(*operation)) else {
        return false;
    };
    let alone = known.iter().all(|(_, operation)| on_device(*operation));
    if !alone {
        let found = format!("`{}` beside operations on files", first.name());
        let expected = "a job file of its own, which then writes nothing";
        report.add(&below(&element("phase", *at), "operation"), found, expected, None);
    }
    alone
}

/// The blocks a phase reads: how many there are is known when it runs.
pub(super) fn selection(
    outline: &Outline<'_>,
    count: Option<u64>,
    (seed, salt): (u64, u64),
    report: &mut ProblemList,
) -> Option<Selection> {
    if count == Some(0) {
        report.add(&below(&outline.place, "count"), grouped(0), "at least 1 block", None);
        return None;
    }
    if outline.cache == CacheAsked::Warm && count.is_none() {
        let (found, hint) = ("a warm cache without a count", "add `count = 2`".to_string());
        let expected = "`count`, the blocks that are to be in memory";
        report.add(&below(&outline.place, "count"), found, expected, Some(hint));
        return None;
    }
    let order = outline.wire.order.unwrap_or_default();
    Some(Selection::new((0, 0, count.unwrap_or_default()), order, 1, seed, salt))
}
