//! How much more the device moves, and the file system takes, than was asked for.

use super::book::{Measurement, ResultBook};
use super::order::{each_once, variants};
use crate::op::{Change, Effect, Operation, Subject, find_operation};
use crate::plan::CacheAsked;

/// A mean over repeats.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mean {
    /// The mean.
    pub value: f64,
    /// Over how many repeats.
    pub n: u32,
}

/// Of one variant, over all its levels and passes. Each figure is none where it is not known.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Amplification {
    /// The variant's name.
    pub variant: String,
    /// Bytes that the device wrote for each byte asked to be written. Counted are the phases that
    /// give files content, with their syncs; asked are the bytes of content. What else was written
    /// meanwhile is in it.
    pub written: Option<Mean>,
    /// Bytes that the device read for each byte asked to be read. Counted are the phases that read
    /// content from cold caches; asked are the bytes of content.
    pub read: Option<Mean>,
    /// Bytes of the file system's space for each file added. Counted are the phases that add files,
    /// with their syncs.
    pub bytes_per_file: Option<Mean>,
    /// Bytes of content for each file added, in the same phases.
    pub asked_per_file: Option<Mean>,
    /// Inodes for each file added, in the same phases.
    pub inodes_per_file: Option<Mean>,
}

impl Amplification {
    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        let all = [self.written, self.read, self.bytes_per_file, self.inodes_per_file];
        all.iter().all(Option::is_none)
    }
}

/// One for each variant of which anything is known, in the job file's order. Only valid
/// measurements count.
pub fn amplifications(book: &ResultBook) -> Vec<Amplification> {
    let of = |variant: &str| {
        let here = |m: &&Measurement| m.valid() && m.cell.variant == variant;
        of_variant(variant, &book.measurements.iter().filter(here).collect::<Vec<_>>())
    };
    variants(book).into_iter().map(of).filter(|one| !one.is_empty()).collect()
}

fn of_variant(variant: &str, all: &[&Measurement]) -> Amplification {
    let bytes = |m: &Measurement| Some(m.bytes as f64);
    let files = |m: &Measurement| Some(m.operations as f64);
    let space = |m: &Measurement| m.space_bytes.map(|bytes| bytes as f64);
    let added = |known: Figure| -> Vec<&Measurement> {
        all.iter().copied().filter(|m| adds_files(m) && known(m).is_some()).collect()
    };
    let bytes_per_file = ratio(&added(space), space, files);
    Amplification {
        variant: variant.into(),
        written: ratio(&filtered(all, writes), |m| Some(m.device_write_bytes? as f64), bytes),
        read: ratio(&filtered(all, reads), |m| Some(m.device_read_bytes? as f64), bytes),
        bytes_per_file,
        asked_per_file: bytes_per_file.and_then(|_| ratio(&added(space), bytes, files)),
        inodes_per_file: ratio(&filtered(all, adds_files), |m| Some(m.inodes? as f64), files),
    }
}

type Figure = fn(&Measurement) -> Option<f64>;

fn filtered<'a>(all: &[&'a Measurement], is: fn(&Measurement) -> bool) -> Vec<&'a Measurement> {
    all.iter().copied().filter(|m| is(m)).collect()
}

/// The mean over the repeats of what was moved or taken over what was asked for.
fn ratio(all: &[&Measurement], taken: Figure, asked: Figure) -> Option<Mean> {
    let of_repeat = |repeat: u32| {
        let here = || all.iter().filter(|m| m.cell.repeat == repeat);
        let sum = |of: Figure| here().map(|m| of(m)).sum::<Option<f64>>();
        let value = sum(taken)? / sum(asked)?;
        value.is_finite().then_some(value)
    };
    let repeats = each_once(all.iter().map(|m| m.cell.repeat));
    let values: Vec<f64> = repeats.into_iter().filter_map(of_repeat).collect();
    let value = values.iter().sum::<f64>() / values.len() as f64;
    value.is_finite().then_some(Mean { value, n: values.len() as u32 })
}

fn writes(m: &Measurement) -> bool {
    let gives_content = |change: Change| !matches!(change, Change::Nothing | Change::Renames);
    m.bytes > 0 && find_operation(&m.operation).is_some_and(|o| gives_content(o.change()))
}

/// Reads from memory would say how well the caches did, not what a read costs the device.
fn reads(m: &Measurement) -> bool {
    let cold = m.cache.asked == CacheAsked::Cold.word();
    m.bytes > 0 && cold && find_operation(&m.operation).is_some_and(|o| o.reads_content())
}

fn adds_files(m: &Measurement) -> bool {
    let adds = |o: &dyn Operation| o.effect() == Effect::AddsEntry && o.subject() == Subject::File;
    find_operation(&m.operation).is_some_and(adds)
}
