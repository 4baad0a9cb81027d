//! Finds how many of the bytes that a phase read came from the device and not from memory, how much of what it wrote reached the
//! device, and, from repeated cold reads, whether a hypervisor or a controller caches below the kernel.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::say::{self, lead, percent, span, times};
use crate::effects::contrast::Contrast;
use crate::statistics::Interval;
use crate::statistics::describe::mean;
use crate::statistics::distributions::DEGREES_MANY;
use crate::thresholds::INTERVAL_ALPHA;
use boatload_base::units::bytes;
use boatload_op::{Operation, Subject};
use boatload_results::book::{Book, Level, Measurement};
use boatload_results::order::{PhaseCell, phase_cells};
use boatload_run::cache::CacheState;

/// The device delivered at least this share of what was read: it came from there.
const FROM_DEVICE_MIN: f64 = 0.9;
/// At most this share: it came from memory.
const FROM_MEMORY_MAX: f64 = 0.1;
/// Without a device to ask, this much in memory at the start speaks for itself.
const RESIDENT_MIN: f64 = 0.99;
/// A device that wrote less than this share of what was asked did not write it as it was.
const WRITTEN_MIN: f64 = 0.9;
/// A second reading must be significantly faster than this to show a cache: by less, devices differ
/// from one minute to the next.
const LOWER_CACHE_MIN: f64 = 1.2;
/// While it may be as much faster as this, nobody knows that there is none.
const NO_LOWER_CACHE_MAX: f64 = 1.5;

/// Where what a phase read came from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SourceFinding {
    /// The variant's name.
    pub variant: String,
    /// The level; none without an axis.
    pub level: Option<Level>,
    /// The phase's name.
    pub phase: String,
    /// Where its bytes came from.
    pub from: ByteSource,
    /// Bytes of one measurement.
    pub bytes: u64,
    /// The share of them that the device delivered; none if its reads could not be counted.
    pub device_share: Option<f64>,
    /// The share of the files that was in memory at the start; none if unknown.
    pub resident_fraction: Option<f64>,
}

/// Where bytes came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ByteSource {
    /// The device.
    Device,
    /// Memory.
    Memory,
    /// Both.
    Both,
    /// It is not known.
    Unknown,
}

/// How much of what a phase wrote reached the device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DestinationFinding {
    /// The variant's name.
    pub variant: String,
    /// The level; none without an axis.
    pub level: Option<Level>,
    /// The phase's name.
    pub phase: String,
    /// Bytes of one measurement.
    pub bytes: u64,
    /// What the device wrote during the phase and its sync, as a share of them.
    pub written_share: f64,
    /// Whether the phase ended with a sync.
    pub synced: bool,
}

/// Whether something below the kernel, a hypervisor or a controller, caches what a phase read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LowerCacheFinding {
    /// The variant's name.
    pub variant: String,
    /// The level; none without an axis.
    pub level: Option<Level>,
    /// The phase's name.
    pub phase: String,
    /// How many times as fast later passes over the same blocks were as the first.
    pub ratio: f64,
    /// Its 95% interval; none for too few measurements.
    pub interval: Option<Interval>,
}

/// What a phase is called in a sentence: `zeros, files 1,000: read`.
fn phase_name(variant: &str, level: Option<&Level>, phase: &str) -> String {
    let Some(level) = level else { return format!("{}{phase}", lead(variant)) };
    let level = format!("{} {}", level.axis, say::level(level));
    match lead(variant) {
        none if none.is_empty() => format!("{level}: {phase}"),
        _ => format!("{variant}, {level}: {phase}"),
    }
}

impl SourceFinding {
    /// The finding in one sentence.
    pub fn sentence(&self) -> String {
        let name = phase_name(&self.variant, self.level.as_ref(), &self.phase);
        let delivered = self.device_share.map_or(String::new(), |share| {
            format!("the device delivered {} of {}", percent(share), bytes(self.bytes))
        });
        match (self.from, self.device_share) {
            (ByteSource::Device, _) => format!("{name} came from the device: {delivered}."),
            (ByteSource::Memory, Some(_)) => format!("{name} came from memory: {delivered}."),
            (ByteSource::Memory, None) => {
                format!("{name} came from memory: all of it was there at the start.")
            }
            (ByteSource::Both, _) => {
                format!("{name} came from memory and the device: {delivered}.")
            }
            (ByteSource::Unknown, _) => format!(
                "cannot tell where {name} came from: the reads of the device could not be counted."
            ),
        }
    }
}

impl DestinationFinding {
    /// Whether the device had written all of it, as it was.
    pub fn is_written(&self) -> bool {
        self.written_share >= WRITTEN_MIN
    }

    /// The finding in one sentence.
    pub fn sentence(&self) -> String {
        let name = phase_name(&self.variant, self.level.as_ref(), &self.phase);
        let until = if self.synced { "by the end of the sync" } else { "by its end" };
        let why = match self.synced {
            _ if self.is_written() => "",
            true => ", although it was synced: the file system compresses it or leaves it out",
            false => ": the rest was not yet written, or was compressed",
        };
        format!(
            "{name}: the device had written {} of {} {until}{why}.",
            percent(self.written_share),
            bytes(self.bytes)
        )
    }
}

impl LowerCacheFinding {
    /// The finding in one sentence.
    pub fn sentence(&self) -> String {
        let name = phase_name(&self.variant, self.level.as_ref(), &self.phase);
        let again =
            format!("a second pass over the same blocks was {} times as fast", times(self.ratio));
        let Some(interval) = self.interval else {
            return format!(
                "{name}: cannot tell whether something below the kernel caches: {again}; too few \
                 measurements for an interval."
            );
        };
        let again = format!("{again} ({})", span(interval));
        if interval.low > LOWER_CACHE_MIN {
            format!(
                "{name}: something below the kernel (a hypervisor, a controller) caches: {again}."
            )
        } else if interval.high > NO_LOWER_CACHE_MAX {
            format!("{name}: cannot tell whether something below the kernel caches: {again}.")
        } else {
            let large = if interval.low > 1.0 { "large " } else { "" };
            format!(
                "{name}: no {large}cache below the kernel was seen: {again}. A cache that already held \
                 the blocks before the first pass would not show."
            )
        }
    }
}

/// One phase of one variant at one level, over its repeats and passes.
struct MovedBytes<'a> {
    operation: &'static Operation,
    members: Vec<&'a Measurement>,
}

/// Where what was read came from, of each phase that reads.
pub fn source(book: &Book) -> Vec<SourceFinding> {
    let all = moved_bytes(book).into_iter();
    all.filter(|one| one.operation.reads_content).map(|one| one.source()).collect()
}

/// Where what was written went to, of each phase that writes.
pub fn destination(book: &Book) -> Vec<DestinationFinding> {
    moved_bytes(book).iter().filter_map(MovedBytes::destination).collect()
}

/// Whether something below the kernel caches, of each phase that read cold content several times.
pub(crate) fn lower_cache(book: &Book) -> Vec<LowerCacheFinding> {
    let all = moved_bytes(book);
    // Below a modelled disk nothing is faster than it.
    let real = all.iter().filter(|one| !book.is_on_model(one.members[0]));
    real.filter_map(MovedBytes::lower_cache).collect()
}

fn moved_bytes(book: &Book) -> Vec<MovedBytes<'_>> {
    let moved = book.measurements.iter().filter(|m| m.valid() && m.bytes > Some(0));
    let known = phase_cells(moved).into_iter().filter_map(|PhaseCell { measurements, .. }| {
        let operation = measurements[0].job_operation()?;
        Some(MovedBytes { operation, members: measurements })
    });
    let mut all: Vec<MovedBytes<'_>> = known.collect();
    // Variants were measured in a random order; levels and phases in that of the job file.
    all.sort_by(|a, b| a.members[0].cell.variant.cmp(&b.members[0].cell.variant));
    all
}

impl MovedBytes<'_> {
    /// A figure over the bytes that were requested; none if one measurement lacks it.
    fn share(&self, moved: impl Fn(&Measurement) -> Option<u64>) -> Option<f64> {
        let moved: Option<Vec<u64>> = self.members.iter().map(|m| moved(m)).collect();
        let requested: f64 = self.members.iter().map(|m| m.bytes.unwrap_or_default() as f64).sum();
        Some(moved?.into_iter().map(|n| n as f64).sum::<f64>() / requested)
    }

    /// Bytes of one measurement.
    fn bytes(&self) -> u64 {
        let all: u128 = self.members.iter().map(|m| u128::from(m.bytes.unwrap_or_default())).sum();
        u64::try_from(all / self.members.len() as u128).unwrap_or(u64::MAX)
    }

    /// What was read, judged by what the device delivered.
    fn source(&self) -> SourceFinding {
        let device_share = self.share(|m| m.device_read_bytes);
        let resident: Option<Vec<f64>> =
            self.members.iter().map(|m| m.cache.resident_fraction).collect();
        let resident_fraction = resident.map(|all| all.iter().sum::<f64>() / all.len() as f64);
        let from = match device_share {
            Some(share) if share >= FROM_DEVICE_MIN => ByteSource::Device,
            Some(share) if share <= FROM_MEMORY_MAX => ByteSource::Memory,
            Some(_) => ByteSource::Both,
            None if resident_fraction.is_some_and(|share| share >= RESIDENT_MIN) => {
                ByteSource::Memory
            }
            None => ByteSource::Unknown,
        };
        let m = self.members[0];
        SourceFinding {
            variant: m.cell.variant.clone(),
            level: m.cell.level.clone(),
            phase: m.phase.clone(),
            from,
            bytes: self.bytes(),
            device_share,
            resident_fraction,
        }
    }

    /// What was written, judged by what the device wrote during the phase and its sync.
    fn destination(&self) -> Option<DestinationFinding> {
        if self.operation.reads_content || !self.operation.change.writes_content() {
            return None;
        }
        let m = self.members[0];
        Some(DestinationFinding {
            variant: m.cell.variant.clone(),
            level: m.cell.level.clone(),
            phase: m.phase.clone(),
            bytes: self.bytes(),
            written_share: self.share(|m| m.device_write_bytes)?,
            synced: self.members.iter().all(|m| m.sync_seconds > Some(0.0)),
        })
    }

    /// How much faster a repeat's later passes were than its first, as a logarithm, with the error
    /// that the passes have in themselves.
    fn again(&self, repeat: u32) -> Option<Speedup> {
        let of_repeat = || self.members.iter().filter(move |m| m.cell.repeat == repeat);
        let first = of_repeat().find(|m| m.pass == 1)?;
        let later: Vec<_> = of_repeat().filter(|m| m.pass > 1).collect();
        let (n, log) = (later.len() as f64, |m: &Measurement| {
            (m.bytes.unwrap_or_default() as f64 / m.seconds.unwrap_or(f64::NAN)).ln()
        });
        let faster = later.iter().map(|m| log(m)).sum::<f64>() / n - log(first);
        let squares: Option<f64> = later.iter().map(|m| m.rate_error.map(|e| e * e)).sum();
        let error = first.rate_error.zip(squares).map(|(e, squares)| e.hypot(squares.sqrt() / n));
        faster.is_finite().then_some(Speedup { log: faster, error })
    }

    /// Whether reading again what was read cold was faster than the first time.
    fn lower_cache(&self) -> Option<LowerCacheFinding> {
        let cold = |m: &&Measurement| m.cache.found == CacheState::ColdVerified;
        if !self.operation.reads_content || !self.members.iter().all(cold) {
            return None;
        }
        // Files are new in each repeat; a device has the same blocks, read first in the first one.
        let mut repeats: Vec<u32> = self.members.iter().map(|m| m.cell.repeat).collect();
        repeats.sort_unstable();
        repeats.dedup();
        if self.operation.subject == Subject::Block {
            repeats.truncate(1);
        }
        let again = repeats.iter().filter_map(|repeat| self.again(*repeat)).collect::<Vec<_>>();
        let (ratio, interval) = speedup(&again)?;
        let m = self.members[0];
        Some(LowerCacheFinding {
            variant: m.cell.variant.clone(),
            level: m.cell.level.clone(),
            phase: m.phase.clone(),
            ratio,
            interval,
        })
    }
}

/// How much faster a repeat's later passes were than its first.
struct Speedup {
    /// As a logarithm.
    log: f64,
    /// Its standard error, from what the passes vary by in themselves; none if that is unknown.
    error: Option<f64>,
}

/// How many times as fast later passes were, with a 95% interval: of several repeats Student's t
/// over the logarithms of theirs, of one the error that its passes have in themselves.
fn speedup(again: &[Speedup]) -> Option<(f64, Option<Interval>)> {
    let logs: Vec<f64> = again.iter().map(|one| one.log).collect();
    let contrast = match again {
        [] => return None,
        [one] => one.error.map(|error| Contrast { estimate: one.log, error, df: DEGREES_MANY }),
        _ => Contrast::plain(&logs),
    };
    let interval = contrast.map(|contrast| contrast.interval(INTERVAL_ALPHA));
    let ratio = mean(&logs).exp();
    ratio.is_finite().then_some((ratio, interval))
}
