//! Where the bytes of a run came from and went to: memory, the device, or a cache beneath it that
//! the kernel does not see.

use serde_json::{Map, Value, json};

use super::book::{Book, Finding, Measurement};
use super::statistics::student::{DEGREES_MANY, student_t};
use crate::base::units::{Quantity, bytes, figures};
use crate::op::{Operation, Subject, find_operation};
use crate::run::cache::CacheState;

/// The device delivered at least this share of what was read: it came from there.
const FROM_DEVICE_MIN: f64 = 0.9;
/// At most this share: it came from memory.
const FROM_MEMORY_MAX: f64 = 0.1;
/// Without a device to ask, this much in memory at the start speaks for itself.
const RESIDENT_MIN: f64 = 0.99;
/// A device that wrote less than this share of what was asked did not write it as it was.
const WRITTEN_MIN: f64 = 0.9;
/// A second reading must be surely faster than this to speak of a cache: by less, devices differ
/// from one minute to the next.
const BENEATH_MIN: f64 = 1.2;
/// While it may be as much faster as this, nobody knows that there is none.
const NONE_BENEATH_MAX: f64 = 1.5;

/// One phase of one variant at one level, over its repeats and passes.
struct Group<'a> {
    name: String,
    operation: &'static dyn Operation,
    members: Vec<&'a Measurement>,
}

/// What a book tells of the source of all that was read and the destination of what was written,
/// and whether something beneath the kernel caches.
pub fn source(book: &Book) -> Vec<Finding> {
    let groups = groups(book);
    let moved = groups.iter().filter_map(|group| match group.operation.reads_content() {
        true => Some(group.read()),
        false => group.written(),
    });
    moved.chain(groups.iter().filter_map(Group::beneath)).collect()
}

fn groups(book: &Book) -> Vec<Group<'_>> {
    let valid = || book.measurements.iter().filter(|m| m.valid() && m.bytes > 0);
    let several = valid().any(|m| valid().next().is_some_and(|f| f.cell.variant != m.cell.variant));
    let mut groups: Vec<Group<'_>> = Vec::new();
    for m in valid() {
        let same = |other: &Measurement| {
            let (a, b) = (&other.cell, &m.cell);
            a.variant == b.variant && a.level == b.level && other.phase == m.phase
        };
        if let Some(group) = groups.iter_mut().find(|group| same(group.members[0])) {
            group.members.push(m);
        } else if let Some(operation) = find_operation(&m.operation) {
            groups.push(Group { name: name(m, several), operation, members: vec![m] });
        }
    }
    // Variants were measured in a random order; levels and phases in that of the job file.
    groups.sort_by(|a, b| a.members[0].cell.variant.cmp(&b.members[0].cell.variant));
    groups
}

/// What a phase is called in a sentence: `zeros, files 1,000: read`.
fn name(m: &Measurement, several: bool) -> String {
    let level = m.cell.level.as_ref().map(|level| {
        let value = Quantity { value: level.value, unit: level.unit };
        format!("{} {value}", level.axis)
    });
    let variant = several.then(|| m.cell.variant.clone());
    match [variant, level].into_iter().flatten().collect::<Vec<_>>().join(", ") {
        place if place.is_empty() => m.phase.clone(),
        place => format!("{place}: {}", m.phase),
    }
}

impl Group<'_> {
    /// A figure over the bytes that were asked for; none if one measurement lacks it.
    fn share(&self, moved: impl Fn(&Measurement) -> Option<u64>) -> Option<f64> {
        let moved: Option<Vec<u64>> = self.members.iter().map(|m| moved(m)).collect();
        let sum = |all: &mut dyn Iterator<Item = u64>| all.map(|n| n as f64).sum::<f64>();
        let asked = sum(&mut self.members.iter().map(|m| m.bytes));
        Some(sum(&mut moved?.into_iter()) / asked)
    }

    /// Bytes of one measurement, for people.
    fn each(&self) -> String {
        let all: u128 = self.members.iter().map(|m| u128::from(m.bytes)).sum();
        bytes(u64::try_from(all / self.members.len() as u128).unwrap_or(u64::MAX))
    }

    fn finding(&self, kind: &str, sentence: String, of_kind: Value) -> Finding {
        let m = self.members[0];
        let mut figures = Map::new();
        figures.insert("variant".into(), json!(m.cell.variant));
        figures.insert("level".into(), json!(m.cell.level.as_ref().map(|level| level.value)));
        figures.insert("phase".into(), json!(m.phase));
        if let Value::Object(of_kind) = of_kind {
            figures.extend(of_kind);
        }
        Finding { kind: kind.into(), sentence, figures }
    }

    /// What was read, judged by what the device delivered.
    fn read(&self) -> Finding {
        let (name, each) = (&self.name, self.each());
        let share = self.share(|m| m.device_read_bytes);
        let resident: Option<Vec<f64>> =
            self.members.iter().map(|m| m.cache.resident_fraction).collect();
        let resident = resident.map(|all| all.iter().sum::<f64>() / all.len() as f64);
        let (from, sentence) = match share {
            Some(share) if share >= FROM_DEVICE_MIN => (
                "device",
                format!(
                    "{name} came from the device, which delivered {} of {each}",
                    percent(share)
                ),
            ),
            Some(share) if share <= FROM_MEMORY_MAX => (
                "memory",
                format!(
                    "{name} came from memory: the device delivered {} of {each}",
                    percent(share)
                ),
            ),
            Some(share) => (
                "both",
                format!(
                    "{name} came from memory and from the device, which delivered {} of {each}",
                    percent(share)
                ),
            ),
            None if resident.is_some_and(|share| share >= RESIDENT_MIN) => {
                ("memory", format!("{name} came from memory: all of it was there at the start"))
            }
            None => (
                "unknown",
                format!("where {name} came from is not known: no device's reads could be counted"),
            ),
        };
        let figures = json!({ "from": from, "device_share": share, "resident_fraction": resident });
        self.finding("source", sentence, figures)
    }

    /// What was written, judged by what the device wrote during the phase and its sync.
    fn written(&self) -> Option<Finding> {
        if !self.operation.change().writes_content() {
            return None;
        }
        let share = self.share(|m| m.device_write_bytes)?;
        let synced = self.members.iter().all(|m| m.sync_seconds > 0.0);
        let why = match synced {
            _ if share >= WRITTEN_MIN => "",
            true => ", although it was synced: the file system compresses it or leaves it out",
            false => ": the rest was not yet written, or was compressed",
        };
        let until = if synced { " by the end of the sync" } else { " by its end" };
        let (name, each) = (&self.name, self.each());
        let sentence =
            format!("{name}: the device had written {} of {each}{until}{why}", percent(share));
        Some(self.finding("source", sentence, json!({ "written_share": share, "synced": synced })))
    }

    /// How much faster a repeat's later passes were than its first, as a logarithm, with the error
    /// that the passes have in themselves.
    fn again(&self, repeat: u32) -> Option<(f64, Option<f64>)> {
        let of_repeat = || self.members.iter().filter(move |m| m.cell.repeat == repeat);
        let first = of_repeat().find(|m| m.pass == 1)?;
        let later: Vec<_> = of_repeat().filter(|m| m.pass > 1).collect();
        let (n, log) = (later.len() as f64, |m: &Measurement| (m.bytes as f64 / m.seconds).ln());
        let faster = later.iter().map(|m| log(m)).sum::<f64>() / n - log(first);
        let squares: Option<f64> = later.iter().map(|m| m.rate_error.map(|e| e * e)).sum();
        let error = first.rate_error.zip(squares).map(|(e, squares)| e.hypot(squares.sqrt() / n));
        faster.is_finite().then_some((faster, error))
    }

    /// Whether reading again what was read cold was faster than the first time.
    fn beneath(&self) -> Option<Finding> {
        let cold = |m: &&Measurement| m.cache.found == CacheState::ColdVerified;
        if !self.operation.reads_content() || !self.members.iter().all(cold) {
            return None;
        }
        // Files are new in each repeat; a device has the same blocks, read first in the first one.
        let mut repeats: Vec<u32> = self.members.iter().map(|m| m.cell.repeat).collect();
        repeats.sort_unstable();
        repeats.dedup();
        if self.operation.subject() == Subject::Block {
            repeats.truncate(1);
        }
        let again = repeats.iter().filter_map(|repeat| self.again(*repeat)).collect::<Vec<_>>();
        let (ratio, interval) = faster(&again)?;
        let sentence = format!("{}: {}", self.name, about_beneath(ratio, interval));
        let interval = interval.map(|(low, high)| json!([low, high]));
        Some(self.finding("beneath", sentence, json!({ "ratio": ratio, "interval": interval })))
    }
}

fn about_beneath(ratio: f64, interval: Option<(f64, f64)>) -> String {
    let again =
        format!("a second pass over the same blocks was {} times as fast", figures(ratio, 2));
    let Some((low, high)) = interval else {
        return format!("whether something beneath the kernel caches is not known: {again}");
    };
    let again = format!("{again} ({} to {})", figures(low, 2), figures(high, 2));
    if low > BENEATH_MIN {
        format!("something beneath the kernel (a hypervisor, a controller) caches: {again}")
    } else if high > NONE_BENEATH_MAX {
        format!("whether something beneath the kernel caches cannot be told: {again}")
    } else {
        format!(
            "no cache beneath the kernel was seen: {again}. One that held them before would not show"
        )
    }
}

/// How many times as fast later passes were, with a 95% interval: of several repeats Student's t
/// over the logarithms of theirs, of one the error that its passes have in themselves.
fn faster(again: &[(f64, Option<f64>)]) -> Option<(f64, Option<(f64, f64)>)> {
    let n = again.len() as f64;
    let mean = again.iter().map(|(log, _)| log).sum::<f64>() / n;
    let quantile = |degrees| student_t(0.05, degrees);
    let half = match again {
        [] => return None,
        [(_, error)] => quantile(DEGREES_MANY).zip(*error).map(|(z, error)| z * error),
        _ => {
            let squares = again.iter().map(|(log, _)| (log - mean).powi(2)).sum::<f64>();
            quantile(n - 1.0).map(|t| t * (squares / (n - 1.0) / n).sqrt())
        }
    };
    let interval = half.map(|half| ((mean - half).exp(), (mean + half).exp()));
    let finite = |(low, high): &(f64, f64)| low.is_finite() && high.is_finite();
    let ratio = mean.exp();
    ratio.is_finite().then(|| (ratio, interval.filter(finite)))
}

/// A share in percent: one digit after the point below ten, none above.
fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent < 9.95 { format!("{percent:.1}%") } else { format!("{percent:.0}%") }
}

#[cfg(test)]
mod tests;
