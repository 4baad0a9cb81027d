//! How a phase moves content and when it ends: direct I/O and a duration, each checked against what
//! else the phase asks.

use super::phases::Outline;
use super::scope::{Scope, described};
use crate::base::units::{Unit, bytes};
use crate::op::Subject;
use crate::plan::phase::{CacheAsked, DIRECT_BYTES, End};
use crate::plan::report::{ProblemList, below};
use crate::plan::tree::{Sizes, Tree};
use crate::plan::wire::WireQuantity;

const DURATION_NS: std::ops::RangeInclusive<f64> = 1e6..=3.6e12;

/// When a phase with this `duration` ends; none if it cannot be read. A plain number is seconds.
pub(super) fn end(
    wire: Option<&WireQuantity>,
    place: &str,
    scope: &Scope,
    report: &mut ProblemList,
) -> Option<End> {
    let place = below(place, "duration");
    let Some(wire) = wire else {
        // What stands there was no quantity.
        return (!report.is_broken(&place)).then_some(End::Targets);
    };
    let quantity = scope.quantity(wire, &place, report)?;
    let ns = match quantity.unit {
        Unit::Nanoseconds => quantity.value,
        Unit::Count => quantity.value * 1e9,
        Unit::Bytes | Unit::Percent => f64::NAN,
    };
    if !DURATION_NS.contains(&ns) {
        let expected = "seconds, or a time with its unit, from 1 ms to 1 hour";
        report.add(&place, described(wire, quantity), expected, None);
        return None;
    }
    Some(End::After(ns as u64))
}

/// Holds `direct` and `duration` against the rest of the phase; `cache_place` is where its cache
/// was asked for.
pub(super) fn check(
    outline: &Outline<'_>,
    tree: Option<&Tree>,
    cache_place: &str,
    report: &mut ProblemList,
) {
    if outline.wire.direct == Some(true) {
        check_direct(outline, tree, cache_place, report);
    }
    if outline.end != End::Targets {
        check_duration(outline, report);
    }
}

fn check_direct(
    outline: &Outline<'_>,
    tree: Option<&Tree>,
    cache_place: &str,
    report: &mut ProblemList,
) {
    let (operation, place) = (outline.operation, below(&outline.place, "direct"));
    if !operation.moves_content() {
        let found = format!("`direct` for `{}`", operation.name());
        report.add(&place, found, "an operation that reads or writes content", None);
        return;
    }
    if outline.cache == CacheAsked::Warm {
        let found = "direct I/O with a warm cache";
        let expected = "`cache = \"cold\"` or `\"as-is\"`: direct I/O goes around the cache";
        let own = below(cache_place, "cache");
        report.add(
            if cache_place.starts_with("--") { cache_place } else { &own },
            found,
            expected,
            None,
        );
    }
    if !outline.block.is_multiple_of(DIRECT_BYTES) {
        let found = bytes(u64::from(outline.block));
        let expected = "whole blocks of 4 KiB, which direct I/O needs";
        report.add(&below(&outline.place, "block"), found, expected, None);
    }
    let Some(tree) = tree.filter(|_| operation.subject() == Subject::File) else { return };
    match tree.sizes {
        Sizes::Fixed(size) if size.is_multiple_of(u64::from(DIRECT_BYTES)) => {}
        sizes => {
            let found = match sizes {
                Sizes::Fixed(size) => format!("direct I/O of files of {}", bytes(size)),
                _ => "direct I/O of files whose sizes are drawn".to_string(),
            };
            let expected = "a tree with one `size` in whole blocks of 4 KiB";
            report.add(&place, found, expected, None);
        }
    }
}

fn check_duration(outline: &Outline<'_>, report: &mut ProblemList) {
    let operation = outline.operation;
    if !operation.only_looks() {
        let found = format!("`duration` for `{}`", operation.name());
        let expected = "an operation that changes nothing, such as `read`";
        report.add(&below(&outline.place, "duration"), found, expected, None);
    }
    if outline.windows > 0 {
        let expected = "none with `duration`: they divide a number of operations that is known";
        report.add(&below(&outline.place, "windows"), "windows", expected, None);
    }
}
