//! The law of a variant's tree, checked.

use super::scope::Scope;
use crate::base::units::{Unit, bytes, grouped};
use crate::plan::report::{ProblemList, below};
use crate::plan::tree::{
    Chunks, Content, DEPTH_MAX, DIRECTORIES_MAX, DirectoryLayout, FilesEach, Sizes, Tree,
};
use crate::plan::wire::{
    Directories, FilesLaw, SizeLaw, Trees, WireContent, WireFilesEach, WireQuantity, WireSize,
    WireTree,
};

/// File numbers share 64 bits with the version of the content, which has the upper 20.
pub(super) const FILES_MAX: u64 = 1 << 44;

/// Bytes of a file, and of all files together: up to here a double holds every whole number.
const BYTES_MAX: u64 = 1 << 53;

/// The tree of one cell; none if anything is wrong with it. `workers` are the threads of the
/// phases, for trees of their own; none if they are not known.
pub(super) fn read(
    wire: &WireTree,
    (place, scope): (&str, &Scope),
    (workers, seed): (Option<u32>, u64),
    report: &mut ProblemList,
) -> Option<Tree> {
    let (files, chunks) = files_or_chunks(wire, place, scope, report).unzip();
    let law = (files, seed);
    let layout =
        layout(wire.directories.as_ref(), &below(place, "directories"), law, scope, report);
    let sizes = match wire.chunks {
        Some(_) => chunk_size(wire.size.as_ref(), &below(place, "size"), scope, report),
        None => sizes(wire.size.as_ref(), &below(place, "size"), scope, report),
    };
    let content = content(wire.content.as_ref(), &below(place, "content"), scope, report);
    let roots = match wire.trees.unwrap_or_default() {
        Trees::Shared => Some(1),
        Trees::Own => workers,
    };
    let (files, chunks, (layout, files_each)) = (files?, chunks?, layout?);
    let (sizes, content) = (sizes?, content?);
    let (parts, noun) = chunks.map_or((files, "files"), |chunks| (chunks.count, "chunks"));
    if parts.checked_mul(sizes.max()).is_none_or(|all| all > BYTES_MAX) {
        let found = format!("{} {noun} of up to {}", grouped(parts), bytes(sizes.max()));
        let expected = format!("at most {} in all", bytes(BYTES_MAX));
        report.add(&below(place, "size"), found, expected, None);
        return None;
    }
    let roots = roots?;
    if layout.directories().saturating_mul(u64::from(roots)) > DIRECTORIES_MAX {
        let each = grouped(layout.directories());
        let found = match roots {
            1 => format!("{each} directories, with those above them"),
            _ => format!("{each} directories for each of {roots} workers"),
        };
        let expected = format!("at most {} in all", grouped(DIRECTORIES_MAX));
        report.add(&below(place, "directories"), found, expected, None);
        return None;
    }
    let filling = wire.order.unwrap_or_default();
    Some(Tree { files, layout, filling, files_each, roots, sizes, chunks, content, seed })
}

/// How many files the tree can hold, and the chunks that they are made of, if they are.
fn files_or_chunks(
    wire: &WireTree,
    place: &str,
    scope: &Scope,
    report: &mut ProblemList,
) -> Option<(u64, Option<Chunks>)> {
    let before = report.count();
    let mut whole = |key, wire: Option<&WireQuantity>, least| {
        scope.whole(wire?, &below(place, key), (Unit::Count, least..=FILES_MAX), report)
    };
    let files = whole("files", wire.files.as_ref(), 0);
    let count = whole("chunks", wire.chunks.as_ref(), 0);
    let per_file = whole("chunks_per_file", wire.chunks_per_file.as_ref(), 1);
    match (&wire.files, &wire.chunks) {
        (Some(_), Some(_)) => {
            let expected = "`files` or `chunks`, not both";
            report.add(&below(place, "chunks"), "`chunks` beside `files`", expected, None);
        }
        (None, None) => {
            let known = ["files", "chunks"].iter().any(|key| report.is_broken(&below(place, key)));
            if !known {
                let hint = "add `files = 1_000`".to_string();
                report.add(place, "no `files`", "it, or `chunks`", Some(hint));
            }
            return None;
        }
        _ => {}
    }
    let of_chunks =
        [("chunks_per_file", wire.chunks_per_file.is_some()), ("handles", wire.handles.is_some())];
    for (key, is_there) in of_chunks {
        if is_there && wire.chunks.is_none() && !report.is_broken(&below(place, "chunks")) {
            let found = format!("`{key}` in a tree of files");
            report.add(&below(place, key), found, "it beside `chunks` only", None);
        }
    }
    if report.count() > before {
        return None;
    }
    let Some(count) = count else { return files.map(|files| (files, None)) };
    let handles = wire.handles.unwrap_or_default();
    let chunks = Chunks { count, per_file: per_file.unwrap_or(1), handles };
    Some((chunks.files(), Some(chunks)))
}

/// The size of all chunks alike: where each begins in its file follows from it.
fn chunk_size(
    wire: Option<&WireSize>,
    place: &str,
    scope: &Scope,
    report: &mut ProblemList,
) -> Option<Sizes> {
    match wire {
        Some(WireSize::Fixed(size)) => {
            scope.whole(size, place, (Unit::Bytes, 1..=BYTES_MAX), report).map(Sizes::Fixed)
        }
        Some(WireSize::Law(_)) => {
            report.add(place, "a size that is drawn", "the size of every chunk", None);
            None
        }
        None if report.is_broken_inside(place) => None,
        None => {
            let hint = "add `size = \"64KiB\"`".to_string();
            report.add(place, "no size", "the size of every chunk", Some(hint));
            None
        }
    }
}

fn layout(
    wire: Option<&Directories>,
    place: &str,
    (files, seed): (Option<u64>, u64),
    scope: &Scope,
    report: &mut ProblemList,
) -> Option<(DirectoryLayout, FilesEach)> {
    let some = (Unit::Count, 1..=DIRECTORIES_MAX);
    let even = |layout| (layout, FilesEach::Even);
    match wire {
        None => Some(even(DirectoryLayout::flat(1))),
        Some(Directories::Count(count)) => {
            scope.whole(count, place, some, report).map(DirectoryLayout::flat).map(even)
        }
        Some(Directories::AsNeeded(law)) => {
            let place = below(place, "files_each");
            let each = files_each(law.files_each.as_ref()?, &place, (files?, seed), scope, report)?;
            // A single one is a directory of its own too, so that names stay as files are added.
            let fan_out = each.directories(files?)?.max(1);
            Some((DirectoryLayout { fan_out, depth: 1 }, each))
        }
        Some(Directories::Nested(nested)) => {
            let depth = (Unit::Count, 1..=u64::from(DEPTH_MAX));
            let fan_out = scope.whole(&nested.fan_out, &below(place, "fan_out"), some, report);
            let depth = scope.whole(&nested.depth, &below(place, "depth"), depth, report);
            Some(even(DirectoryLayout { fan_out: fan_out?, depth: u32::try_from(depth?).ok()? }))
        }
    }
}

/// How many files each directory gets, with directories for `files` of them.
pub(super) fn files_each(
    wire: &WireFilesEach,
    place: &str,
    (files, seed): (u64, u64),
    scope: &Scope,
    report: &mut ProblemList,
) -> Option<FilesEach> {
    let law = match wire {
        WireFilesEach::Fixed(each) => {
            let some = (Unit::Count, 1..=FILES_MAX);
            return scope.whole(each, place, some, report).map(FilesEach::Fixed);
        }
        WireFilesEach::Law(FilesLaw::Uniform(law)) => law,
    };
    let place = below(place, "uniform");
    let any = (Unit::Count, 0..=FILES_MAX);
    let min = scope.whole(law.min.as_ref()?, &below(&place, "min"), any.clone(), report);
    let max = scope.whole(law.max.as_ref()?, &below(&place, "max"), any, report);
    let (min, max) = (min?, max?);
    if max < min.max(1) {
        let expected = format!("at least {}", grouped(min.max(1)));
        report.add(&below(&place, "max"), grouped(max), expected, None);
        return None;
    }
    if files / (min + max).div_ceil(2) > DIRECTORIES_MAX {
        let found = format!("{} files in so small directories", grouped(files));
        let expected = format!("at most {} directories", grouped(DIRECTORIES_MAX));
        report.add(&place, found, expected, None);
        return None;
    }
    Some(FilesEach::drawn((min, max), files, seed))
}

pub(super) fn sizes(
    wire: Option<&WireSize>,
    place: &str,
    scope: &Scope,
    report: &mut ProblemList,
) -> Option<Sizes> {
    match wire {
        None => Some(Sizes::Fixed(0)),
        Some(WireSize::Fixed(size)) => {
            scope.whole(size, place, (Unit::Bytes, 0..=BYTES_MAX), report).map(Sizes::Fixed)
        }
        Some(WireSize::Law(SizeLaw::Uniform(law))) => {
            let place = below(place, "uniform");
            let (min, max) = min_max((&law.min, &law.max), &place, scope, report)?;
            let step = match &law.step {
                Some(step) => {
                    let range = (Unit::Bytes, 1..=BYTES_MAX);
                    scope.whole(step, &below(&place, "step"), range, report)?
                }
                None => 1,
            };
            if !(max - min).is_multiple_of(step) {
                let expected = format!("whole steps of {} from {}", bytes(step), bytes(min));
                report.add(&below(&place, "max"), bytes(max), expected, None);
                return None;
            }
            Some(Sizes::Uniform { min, max, step })
        }
        Some(WireSize::Law(SizeLaw::Exponential(law))) => {
            let place = below(place, "exponential");
            let range = min_max((&law.min, &law.max), &place, scope, report);
            let wanted = (Unit::Count, 0.0..=100.0);
            let k = scope.number(law.k.as_ref()?, &below(&place, "k"), wanted, report);
            let ((min, max), k) = (range?, k?);
            Some(Sizes::Exponential { min, max, k })
        }
    }
}

fn min_max(
    (min, max): (&Option<WireQuantity>, &Option<WireQuantity>),
    place: &str,
    scope: &Scope,
    report: &mut ProblemList,
) -> Option<(u64, u64)> {
    let mut read = |key, wire: &Option<WireQuantity>| {
        let range = (Unit::Bytes, 0..=BYTES_MAX);
        scope.whole(wire.as_ref()?, &below(place, key), range, report)
    };
    let (min, max) = (read("min", min), read("max", max));
    let (min, max) = (min?, max?);
    if min > max {
        let expected = format!("at least {}, the smallest size", bytes(min));
        report.add(&below(place, "max"), bytes(max), expected, None);
        return None;
    }
    Some((min, max))
}

pub(super) fn content(
    wire: Option<&WireContent>,
    place: &str,
    scope: &Scope,
    report: &mut ProblemList,
) -> Option<Content> {
    match wire {
        None | Some(WireContent::Random) => Some(Content::Random),
        Some(WireContent::Zeros) => Some(Content::Zeros),
        Some(WireContent::Compressible(share)) => {
            let place = below(place, "compressible");
            let share = scope.whole(share, &place, (Unit::Percent, 0..=100), report)?;
            u8::try_from(share).ok().map(Content::Compressible)
        }
    }
}
