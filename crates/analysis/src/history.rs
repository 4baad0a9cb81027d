//! Groups runs of the same job on the same machine and place into histories, and finds their change points.

use std::collections::BTreeSet;

use super::change::{ChangePoint, level_changes};
use super::compare::differences::job_lines;
use super::thresholds::{RUN_STEP_ALPHA, RUN_STEP_MIN};
use boatload_host::facts::DeviceFacts;
use boatload_results::book::{Book, CacheAsked, EngineName, MadeOn};

/// A row has this many fewer places than values: three lie on each side of a step.
const NO_PLACES: usize = 5;

/// A history has this number of runs, unless another number is asked for.
pub const HISTORY_RUNS: u32 = 30;

/// The steps in a row of logarithms of runs, in their order.
pub fn steps(values: &[f64]) -> Vec<ChangePoint> {
    steps_of_at_least(RUN_STEP_MIN, values)
}

/// The steps by this much or more in a row of logarithms, in their order.
pub(super) fn steps_of_at_least(smallest: f64, values: &[f64]) -> Vec<ChangePoint> {
    let places = values.len().saturating_sub(NO_PLACES).max(1);
    level_changes(values, RUN_STEP_ALPHA / places as f64, smallest)
}

/// Memory that differs by less is the same: how much of it the kernel manages changes with it.
const MEMORY_SAME: f64 = 0.02;

/// Whether a run is of the same job on the same machine, file system and device as another. The
/// kernel, mount options that nobody asked for and boatload itself may differ: a history is there
/// to show what they change. What lies beneath modelled disks may differ too.
pub fn same_target(a: &Book, b: &Book) -> bool {
    let (memory, other) = (a.host.memory_bytes as f64, b.host.memory_bytes as f64);
    let same_memory = (memory - other).abs() <= MEMORY_SAME * memory.max(other);
    let asked = |book: &Book| (book.run.scale, book.run.hosts.len(), book.host.cpus);
    same_memory
        && asked(a) == asked(b)
        && (&a.run.scenario, &a.run.parameters) == (&b.run.scenario, &b.run.parameters)
        && a.host.cpu == b.host.cpu
        && (same_place(a, b) || (lies_on_models(a) && lies_on_models(b)))
        && made(a) == made(b)
        && same_way(a, b)
        && job_lines(a) == job_lines(b)
}

fn same_place(a: &Book, b: &Book) -> bool {
    a.host.filesystem.kind == b.host.filesystem.kind && same_journal(a, b) && device(a) == device(b)
}

/// Whether all that was measured was measured on modelled disks.
fn lies_on_models(book: &Book) -> bool {
    !book.measurements.is_empty() && book.measurements.iter().all(|m| book.is_on_model(m))
}

/// Where it is not known of one, it does not tell them apart.
fn same_journal(a: &Book, b: &Book) -> bool {
    let known = a.host.filesystem.journal.zip(b.host.filesystem.journal);
    known.is_none_or(|(a, b)| a == b)
}

/// The block device, which may have another name after a restart if it has a model.
fn device(book: &Book) -> Option<(String, Option<u64>)> {
    book.host.device.as_ref().map(device_identity)
}

fn device_identity(device: &DeviceFacts) -> (String, Option<u64>) {
    (device.model_or_name().to_string(), device.total_bytes)
}

/// A file system that was made, and what it was made on.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct MadeTarget<'a> {
    /// Variant, type, mkfs and mount words.
    words: [&'a str; 4],
    bytes: u64,
    /// The figures of a modelled disk, which is the same wherever it lies.
    disk: Option<&'a str>,
    /// None on a modelled disk.
    place: Option<&'static str>,
    /// None elsewhere than on a device: images lie in the run's directory or in memory.
    device: Option<(String, Option<u64>)>,
}

/// The file systems that were made, in whatever order.
fn made(book: &Book) -> BTreeSet<MadeTarget<'_>> {
    let all = book.filesystems.iter();
    all.map(|made| {
        let mkfs = made.mkfs.as_deref().unwrap_or_default();
        let is_device = made.disk.is_none() && made.place == MadeOn::Device;
        MadeTarget {
            words: [&made.variant, &made.kind, mkfs, &made.mount_asked],
            bytes: made.device_bytes,
            disk: made.disk.as_ref().map(|disk| disk.model.as_str()),
            place: made.disk.is_none().then(|| made.place.as_str()),
            device: made.device.as_ref().filter(|_| is_device).map(device_identity),
        }
    })
    .collect()
}

/// Whether the phases were measured in the same way. A run that is not complete lacks some.
fn same_way(a: &Book, b: &Book) -> bool {
    let (how_a, how_b) = (how(a), how(b));
    let is_part =
        |part: &Book, one: &BTreeSet<_>, other| !part.run.complete && one.is_subset(other);
    how_a == how_b || is_part(a, &how_a, &how_b) || is_part(b, &how_b, &how_a)
}

/// What the command line may have changed.
fn how(book: &Book) -> BTreeSet<(&str, Option<EngineName>, Option<u32>, CacheAsked)> {
    let all = book.measurements.iter();
    all.map(|m| (m.phase.as_str(), m.engine, m.threads, m.cache.asked)).collect()
}

#[cfg(test)]
mod tests;
