//! Computes write, read and space amplification: bytes that the device moved, and space taken, for each
//! byte of content.

use std::ops::RangeInclusive;

use super::uncertainty::{Estimate, IntervalBasis};
use boatload_base::distinct::each_once;
use boatload_op::{Effect, Operation, Subject};
use boatload_plan::CacheAsked;
use boatload_results::book::{Book, Level, MadeFileSystem, Measurement};
use boatload_results::content::writes_content;
use boatload_results::order::{PhaseCell, levels_of, phase_cells, variants};

/// The space that a variant took for each file, over all its levels. A figure is `None` if it is not
/// known. Counted is the first phase that adds files, with its sync: later ones may add files of other
/// sizes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SpaceTaken {
    /// The variant's name.
    pub variant: String,
    /// Bytes of the file system's space for each file added.
    pub bytes_per_file: Option<Estimate>,
    /// Bytes of content for each file added.
    pub asked_per_file: Option<Estimate>,
    /// Inodes for each file added.
    pub inodes_per_file: Option<Estimate>,
}

impl SpaceTaken {
    /// Its figures.
    pub fn estimates(&self) -> impl Iterator<Item = Estimate> {
        [self.bytes_per_file, self.asked_per_file, self.inodes_per_file].into_iter().flatten()
    }
}

/// The smallest and the largest number of repeats behind figures.
pub fn repeats_behind(all: impl Iterator<Item = Estimate>) -> RangeInclusive<u32> {
    let counts: Vec<u32> = all.map(|mean| mean.n).collect();
    let (least, most) = (counts.iter().min(), counts.iter().max());
    least.copied().unwrap_or_default()..=most.copied().unwrap_or_default()
}

/// One for each variant with a known figure, in the job file's order. Only valid
/// measurements count.
pub(super) fn spaces_taken(book: &Book) -> Vec<SpaceTaken> {
    let of = |variant: &str| {
        let here = |m: &&Measurement| m.valid() && m.cell.variant == variant;
        of_variant(variant, &book.measurements.iter().filter(here).collect::<Vec<_>>())
    };
    let known = |one: &SpaceTaken| one.estimates().next().is_some();
    variants(book).into_iter().map(of).filter(known).collect()
}

fn of_variant(variant: &str, all: &[&Measurement]) -> SpaceTaken {
    let mut adding = filtered(all, adds_files);
    let first = adding.first().map(|m| m.phase.clone());
    adding.retain(|m| Some(&m.phase) == first.as_ref());
    let known = filtered(&adding, |m| m.space_bytes.is_some());
    let bytes_per_file = mean_ratio(&known, |m| Some(m.space_bytes? as f64), OPERATIONS);
    SpaceTaken {
        variant: variant.into(),
        bytes_per_file,
        asked_per_file: bytes_per_file.and_then(|_| mean_ratio(&known, CONTENT_BYTES, OPERATIONS)),
        inodes_per_file: mean_ratio(&adding, |m| Some(m.inodes? as f64), OPERATIONS),
    }
}

type MeasuredValue = fn(&Measurement) -> Option<f64>;

const OPERATIONS: MeasuredValue = |m| Some(m.operations as f64);
const CONTENT_BYTES: MeasuredValue = |m| Some(m.bytes? as f64);

/// What the device moved in one phase for each byte asked, over the passes of a repeat at the
/// phase's last level.
#[derive(Clone, Debug, PartialEq)]
pub struct PhaseAmplification {
    /// The variant's name.
    pub variant: String,
    /// The phase's name.
    pub phase: String,
    /// The level, the last one that the phase was measured at; none without an axis.
    pub level: Option<Level>,
    /// Whether the phase was measured at other levels too.
    pub other_levels: bool,
    /// Bytes that the device wrote for each byte of content, if the phase gives files content and ends
    /// in a sync (or all came to the device). What else was written meanwhile is in it.
    pub written: Option<Estimate>,
    /// Bytes that it read for each byte of content, if the phase reads content from cold caches.
    pub read: Option<Estimate>,
}

impl PhaseAmplification {
    /// Its figures.
    pub fn estimates(&self) -> impl Iterator<Item = Estimate> {
        [self.written, self.read].into_iter().flatten()
    }
}

/// One for each phase of each variant with a known figure.
pub(super) fn phase_amplifications(book: &Book) -> Vec<PhaseAmplification> {
    let of_cell = |cell: PhaseCell<'_>| {
        let [writing, reading] = [writes, reads].map(|is| filtered(&cell.measurements, is));
        PhaseAmplification {
            variant: cell.variant.into(),
            phase: cell.phase.into(),
            level: cell.level.cloned(),
            other_levels: levels_of(book, cell.phase).len() > 1,
            written: mean_ratio(&writing, |m| Some(m.device_write_bytes? as f64), CONTENT_BYTES),
            read: mean_ratio(&reading, |m| Some(m.device_read_bytes? as f64), CONTENT_BYTES),
        }
    };
    let mut all: Vec<_> = last_cells(book).into_iter().map(of_cell).collect();
    all.retain(|one| one.estimates().next().is_some());
    all
}

/// Valid measurements of each phase of each variant, at the last level that the phase was measured at.
pub(super) fn last_cells(book: &Book) -> Vec<PhaseCell<'_>> {
    let phases = each_once(book.measurements.iter().map(|m| m.phase.as_str()));
    let variants = variants(book);
    let mut cells = phase_cells(book.measurements.iter().filter(|m| m.valid()));
    cells.retain(|cell| levels_of(book, cell.phase).last() == Some(&cell.level));
    let place = |all: &[&str], name: &str| all.iter().position(|one| *one == name);
    cells.sort_by_key(|cell| (place(&phases, cell.phase), place(&variants, cell.variant)));
    cells
}

fn filtered<'a>(all: &[&'a Measurement], is: fn(&Measurement) -> bool) -> Vec<&'a Measurement> {
    all.iter().copied().filter(|m| is(m)).collect()
}

/// The mean over the repeats of what was moved or taken over what was asked for.
fn mean_ratio(
    all: &[&Measurement],
    taken: MeasuredValue,
    requested: MeasuredValue,
) -> Option<Estimate> {
    let of_repeat = |repeat: u32| {
        let here = || all.iter().filter(|m| m.cell.repeat == repeat);
        let all_taken = here().map(|m| taken(m)).sum::<Option<f64>>()?;
        let value = all_taken / here().map(|m| requested(m)).sum::<Option<f64>>()?;
        value.is_finite().then_some(value)
    };
    let repeats = each_once(all.iter().map(|m| m.cell.repeat));
    let values: Vec<f64> = repeats.into_iter().filter_map(of_repeat).collect();
    Estimate::of(&values, None, IntervalBasis::Repeats)
}

/// Whether a phase gave files content, and the device got all of it until the end of its sync.
/// Without one much is written later, and this would say how little the device had done until then.
fn writes(m: &Measurement) -> bool {
    let all_written =
        m.sync_seconds > Some(0.0) || m.device_write_bytes.is_some_and(|w| Some(w) >= m.bytes);
    writes_content(m) && all_written
}

/// Reads from memory would say how well the caches did, not what a read costs the device.
fn reads(m: &Measurement) -> bool {
    let cold = m.cache.asked == CacheAsked::Cold;
    m.bytes > Some(0) && cold && m.job_operation().is_some_and(|o| o.reads_content)
}

fn adds_files(m: &Measurement) -> bool {
    let adds = |o: &Operation| o.effect == Effect::AddsEntry && o.subject == Subject::File;
    m.job_operation().is_some_and(adds)
}

/// The devices whose counters were read, each with those beneath it; empty if none were.
pub fn devices_counted(book: &Book) -> String {
    let chain = |made: &MadeFileSystem| match &made.disk {
        Some(disk) => Some(disk.name.clone()),
        None => made.device.as_ref().map(|device| device.beneath.join(" on ")),
    };
    let mut chains = each_once(book.filesystems.iter().filter_map(chain));
    chains.retain(|chain| !chain.is_empty());
    chains.join(", ")
}

#[cfg(test)]
mod tests {
    use boatload_base::errno::Errno;
    use boatload_results::fixture::failing;
    use boatload_results::operation::MeasuredOperation;
    use std::fmt::Debug;

    use super::*;
    use boatload_results::book::{CacheReport, CellKey};
    use boatload_results::fixture;

    fn phase(operation: &str, repeat: u32, operations: u64, bytes: u64) -> Measurement {
        Measurement {
            cell: CellKey { variant: "a".into(), level: None, repeat },
            operation: MeasuredOperation::find(operation),
            operations,
            bytes: Some(bytes),
            cache: CacheReport { asked: CacheAsked::Cold, ..CacheReport::default() },
            ..Measurement::default()
        }
    }

    fn moved(m: Measurement, read: u64, written: u64) -> Measurement {
        let (device_reads, device_writes) = (Some(read / 100), Some(written / 100));
        let (device_read_bytes, device_write_bytes) = (Some(read), Some(written));
        Measurement { device_read_bytes, device_write_bytes, device_reads, device_writes, ..m }
    }

    fn by_phase(book: &Book) -> Vec<PhaseAmplification> {
        phase_amplifications(book)
    }

    fn figure(estimate: Option<Estimate>) -> Option<(f64, u32)> {
        estimate.map(|one| (one.mean, one.n))
    }

    #[test]
    fn each_phase_has_its_own_share_and_repeats_give_it_an_interval() {
        let write = |repeat, written| moved(phase("create", repeat, 10, 1_000), 0, written);
        let read = |repeat, read| moved(phase("read", repeat, 10, 1_000), read, 0);
        let mut all =
            vec![write(1, 2_000), write(2, 4_000), read(1, 1_500), phase("stat", 1, 9, 0)];
        all.iter_mut().for_each(|m| m.phase = m.operation.unwrap().name().into());
        let found = by_phase(&Book { measurements: all, ..Book::default() });
        let told: Vec<_> = found.iter().map(|one| one.phase.as_str()).collect();
        assert_eq!(told, ["create", "read"]);
        let written = found[0].written.unwrap();
        assert_eq!((written.mean, written.n, found[0].read), (3.0, 2, None));
        assert!(written.interval.unwrap().width() > 2.0);
        let read = found[1].read.unwrap();
        assert_eq!((read.mean, read.interval, found[1].written), (1.5, None, None));
    }

    #[test]
    fn a_phase_over_levels_is_told_at_the_last_one_alone() {
        let at = |value: f64, written| {
            let mut m = moved(phase("create", 1, 10, 1_000), 0, written);
            m.cell.level = Some(Level { value, ..Level::default() });
            m
        };
        let mut failed = at(3.0, 9_000);
        failed.invalid = vec![failing(Errno::EIO, 1)];
        let of = |measurements| by_phase(&Book { measurements, ..Book::default() });
        let found = of(vec![at(1.0, 9_000), at(2.0, 2_000)]);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].written.map(|one| one.mean), Some(2.0));
        assert_eq!(found[0].level.as_ref().map(|level| level.value), Some(2.0));
        assert!(found[0].other_levels);
        assert_eq!(of(vec![at(1.0, 9_000), failed]), []);
    }

    #[track_caller]
    fn only<T: Debug>(all: Vec<T>) -> T {
        assert_eq!(all.len(), 1, "{all:?}");
        all.into_iter().next().unwrap()
    }

    #[track_caller]
    fn space(measurements: Vec<Measurement>) -> SpaceTaken {
        only(spaces_taken(&Book { measurements, ..Book::default() }))
    }

    #[track_caller]
    fn traffic(measurements: Vec<Measurement>) -> PhaseAmplification {
        only(by_phase(&Book { measurements, ..Book::default() }))
    }

    #[test]
    fn bytes_of_the_device_are_held_against_what_the_phase_asked() {
        let of_repeat = |repeat: u32, more: u64| {
            [
                moved(phase("create", repeat, 10, 1_000), 70, 4_000 + more),
                moved(phase("rewrite", repeat, 10, 100), 900, 2_000),
                moved(phase("read", repeat, 10, 500), 1_500, 80),
                moved(phase("delete", repeat, 10, 0), 99, 99),
            ]
        };
        let mut measurements = [of_repeat(1, 0), of_repeat(2, 400)].concat();
        measurements.iter_mut().for_each(|m| m.phase = m.operation.unwrap().name().into());
        let found = by_phase(&Book { measurements, ..Book::default() });
        let [create, rewrite, read] = &found[..] else { panic!("{found:?}") };
        assert_eq!(figure(create.written), Some((4.2, 2)));
        assert_eq!(figure(rewrite.written), Some((20.0, 2)), "not hidden by what was created");
        assert_eq!((figure(read.read), figure(read.written)), (Some((3.0, 2)), None));
    }

    #[test]
    fn what_a_file_takes_is_asked_of_phases_that_add_files() {
        let taking = |m: Measurement, space: i64, inodes| Measurement {
            space_bytes: Some(space),
            inodes,
            ..m
        };
        let found = space(vec![
            taking(phase("create", 1, 10, 10_000), 40_960, Some(11)),
            taking(phase("create", 2, 10, 10_000), 40_960, None),
            taking(phase("rewrite", 1, 10, 10_000), 4_096, Some(0)),
            taking(phase("mkdir", 1, 10, 0), 81_920, Some(10)),
            taking(phase("delete", 1, 10, 0), -40_960, Some(-10)),
        ]);
        assert_eq!(figure(found.bytes_per_file), Some((4_096.0, 2)));
        assert_eq!(figure(found.asked_per_file), Some((1_000.0, 2)));
        assert_eq!(figure(found.inodes_per_file), Some((1.1, 1)));
    }

    #[test]
    fn what_was_written_later_says_nothing_of_a_phase_without_a_sync() {
        let early = moved(phase("create", 1, 10, 1_000), 0, 10);
        assert_eq!(by_phase(&Book { measurements: vec![early.clone()], ..Book::default() }), []);
        let synced = Measurement { sync_seconds: Some(0.1), ..early };
        assert_eq!(figure(traffic(vec![synced]).written), Some((0.01, 1)));
    }

    #[test]
    fn what_is_invalid_or_was_read_from_memory_does_not_count() {
        let mut warm = moved(phase("read", 1, 10, 500), 0, 0);
        warm.cache.asked = CacheAsked::Warm;
        let mut failed = moved(phase("create", 2, 10, 1_000), 0, 9_999_999);
        failed.invalid = vec![failing(Errno::ENOSPC, 3)];
        let found = traffic(vec![warm, failed, moved(phase("create", 1, 10, 1_000), 0, 2_000)]);
        assert_eq!((found.read, figure(found.written)), (None, Some((2.0, 1))));
    }

    #[test]
    fn odd_books_give_numbers_or_nothing() {
        for seed in 0..200 {
            let book = fixture::Odd::new(seed).book();
            let is_number = |m: Estimate| m.mean.is_finite() && m.n > 0;
            for one in spaces_taken(&book) {
                assert!(one.estimates().all(is_number), "{one:?}");
            }
            for one in by_phase(&book) {
                assert!(one.estimates().all(is_number), "{one:?}");
            }
        }
    }
}
