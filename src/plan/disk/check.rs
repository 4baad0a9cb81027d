//! Turns the file of a disk model into a checked model, with all its problems at once.

use std::ops::RangeInclusive;

use super::wire::{WireDisk, WireExpected, WireFlash, WireHardDisk, WireNetwork};
use super::{DiskMechanism, DiskModel, ExpectedFigures, FlashModel, HardDiskModel, NetworkModel};
use crate::base::problem::Problems;
use crate::base::text_limits::NAME_BYTES_MAX;
use crate::base::units::{Quantity, Unit, bytes, bytes_per_second, counted, duration, grouped};
use crate::plan::report::{ProblemList, below, element, short};
use crate::plan::source;
use crate::plan::wire::WireQuantity;

const MECHANISMS: &str = "one of `[hard_disk]`, `[flash]`, `[network]`, `[memory]`";
const ABOUT_BYTES_MAX: usize = 200;
const ZONES_MAX: usize = 64;
const SECTOR_BYTES: u64 = 512;
const LARGE_BLOCK_BYTES: u64 = 4096;
/// A petabyte: sums of times over all sectors stay far below 2^64 nanoseconds.
const BYTES: RangeInclusive<u64> = 0..=1_000_000_000_000_000;
const RATE: RangeInclusive<u64> = 1_000..=1_000_000_000_000;
const TIME: RangeInclusive<u64> = 0..=10_000_000_000;
const MINUTE_NS: u64 = 60_000_000_000;

/// Reads the file of a disk model.
///
/// # Errors
/// All problems of the file, each with its line, what was found there and what was expected.
pub fn read_disk_model(text: &str) -> Result<DiskModel, Problems> {
    let (wire, mut report) = source::read::<WireDisk>(text)?;
    let name = line("name", &wire.name, NAME_BYTES_MAX, &mut report);
    let about = line("about", &wire.about, ABOUT_BYTES_MAX, &mut report);
    let block_bytes = block_bytes(&wire, &mut report);
    let honours_flush = wire.honours_flush.unwrap_or(true);
    let mechanism = mechanism(&wire, &mut report);
    let expected = wire.expected.as_ref().map(|wire| read_expected(wire, &mut report));
    // Whatever is missing here has been reported.
    let model = (|| {
        let expected = expected.map_or(Some(None), |figures| figures.map(Some))?;
        let text = text.to_string();
        let (name, about, block_bytes, mechanism) = (name?, about?, block_bytes?, mechanism?);
        Some(DiskModel { name, about, block_bytes, honours_flush, mechanism, expected, text })
    })();
    if model.is_none() && report.count() == 0 {
        report.add("", "an incomplete model", "all of its keys");
    }
    report.finish()?;
    model.ok_or_else(Problems::default)
}

/// A text of one line that is not empty.
fn line(key: &str, text: &Option<String>, most: usize, report: &mut ProblemList) -> Option<String> {
    let text = text.as_deref()?;
    if text.trim().is_empty() || text.len() > most || text.chars().any(char::is_control) {
        let expected = format!("up to {most} bytes, not empty, on one line");
        report.add(key, format!("`{}`", short(text)), expected);
        return None;
    }
    Some(text.to_string())
}

/// The sizes of blocks that disks have.
fn block_bytes(wire: &WireDisk, report: &mut ProblemList) -> Option<u32> {
    if wire.block.is_none() {
        return Some(SECTOR_BYTES as u32);
    }
    let keys = &mut DiskKeys { place: "", report };
    let bytes = keys.bytes("block", &wire.block, SECTOR_BYTES..=LARGE_BLOCK_BYTES)?;
    if ![SECTOR_BYTES, LARGE_BLOCK_BYTES].contains(&bytes) {
        report.add("block", grouped(bytes), "512 or 4096");
        return None;
    }
    u32::try_from(bytes).ok()
}

fn mechanism(wire: &WireDisk, report: &mut ProblemList) -> Option<DiskMechanism> {
    let hard_disk = wire.hard_disk.as_ref();
    let hard_disk = hard_disk.map(|w| read_hard_disk(w, report).map(DiskMechanism::HardDisk));
    let flash = wire.flash.as_ref().map(|w| read_flash(w, report).map(DiskMechanism::Flash));
    let network = wire.network.as_ref();
    let network = network.map(|w| read_network(w, report).map(DiskMechanism::Network));
    let memory = wire.memory.as_ref().map(|_| Some(DiskMechanism::Memory));
    let mut given: Vec<_> = [hard_disk, flash, network, memory].into_iter().flatten().collect();
    let is_broken = ["hard_disk", "flash", "network", "memory"]
        .iter()
        .any(|table| report.is_broken_inside(table));
    match given.len() {
        1 => given.pop()?,
        0 if is_broken => None,
        0 => {
            report.add("", "none that says how the disk works", MECHANISMS);
            None
        }
        several => {
            let found = counted(several as u64, "table");
            report.add("", format!("{found} that say how the disk works"), MECHANISMS);
            None
        }
    }
}

fn read_hard_disk(wire: &WireHardDisk, report: &mut ProblemList) -> Option<HardDiskModel> {
    let keys = &mut DiskKeys { place: "hard_disk", report };
    let capacity = keys.bytes("capacity", &wire.capacity, 1_000_000..=*BYTES.end());
    let heads = keys.count("heads", &wire.heads, 1..=64);
    let zones = keys.zones(wire);
    let turn_ns = keys.count("rpm", &wire.rpm, 600..=60_000).map(|rpm| MINUTE_NS / rpm);
    let track_to_track_ns = keys.time("track_to_track", &wire.track_to_track);
    let average_seek_ns = keys.time("average_seek", &wire.average_seek);
    let full_seek_ns = keys.time("full_seek", &wire.full_seek);
    keys.not_less("average_seek", average_seek_ns, "track_to_track", track_to_track_ns);
    keys.not_less("full_seek", full_seek_ns, "average_seek", average_seek_ns);
    let head_switch_ns = keys.time("head_switch", &wire.head_switch);
    let write_settle_ns = keys.time("write_settle", &wire.write_settle);
    let command_ns = keys.time("command", &wire.command);
    let link_rate = keys.rate("link", &wire.link);
    let queue = keys.number("queue", &wire.queue, 1..=1_024);
    let ageing_ns = keys.time("ageing", &wire.ageing);
    let read_buffer = keys.bytes("read_buffer", &wire.read_buffer, BYTES);
    let segments = keys.number("segments", &wire.segments, 0..=256);
    let write_cache = keys.bytes("write_cache", &wire.write_cache, BYTES);
    let write_places = keys.number("write_places", &wire.write_places, 1..=65_536);
    let write_delay_ns = keys.time("write_delay", &wire.write_delay);
    Some(HardDiskModel {
        capacity: capacity?,
        heads: heads?,
        sectors_per_track: zones?,
        turn_ns: turn_ns?,
        track_to_track_ns: track_to_track_ns?,
        average_seek_ns: average_seek_ns?,
        full_seek_ns: full_seek_ns?,
        head_switch_ns: head_switch_ns?,
        write_settle_ns: write_settle_ns?,
        command_ns: command_ns?,
        link_rate: link_rate?,
        queue: queue?,
        ageing_ns: ageing_ns?,
        read_buffer: read_buffer?,
        segments: segments?,
        write_cache: write_cache?,
        write_places: write_places?,
        write_delay_ns: write_delay_ns?,
    })
}

fn read_flash(wire: &WireFlash, report: &mut ProblemList) -> Option<FlashModel> {
    let keys = &mut DiskKeys { place: "flash", report };
    let link_rate = keys.rate("link", &wire.link);
    let command_ns = keys.time("command", &wire.command);
    let acknowledge_ns = keys.time("acknowledge", &wire.acknowledge);
    let units = keys.number("units", &wire.units, 1..=1_024);
    let page = keys.bytes("page", &wire.page, SECTOR_BYTES..=1 << 20);
    let read_ns = keys.time("read", &wire.read);
    let program_ns = keys.time("program", &wire.program);
    let write_buffer = keys.bytes("write_buffer", &wire.write_buffer, BYTES);
    keys.not_less("write_buffer", write_buffer, "page", page);
    let discard_ns = keys.time("discard", &wire.discard);
    Some(FlashModel {
        link_rate: link_rate?,
        command_ns: command_ns?,
        acknowledge_ns: acknowledge_ns?,
        units: units?,
        page: page?,
        read_ns: read_ns?,
        program_ns: program_ns?,
        write_buffer: write_buffer?,
        discard_ns: discard_ns?,
    })
}

fn read_network(wire: &WireNetwork, report: &mut ProblemList) -> Option<NetworkModel> {
    let keys = &mut DiskKeys { place: "network", report };
    let round_trip_ns = keys.time("round_trip", &wire.round_trip);
    let round_trip_p99_ns = keys.time("round_trip_p99", &wire.round_trip_p99);
    keys.not_less("round_trip_p99", round_trip_p99_ns, "round_trip", round_trip_ns);
    let bandwidth = keys.rate("bandwidth", &wire.bandwidth);
    let operations = &wire.operations_per_second;
    let operations = keys.count("operations_per_second", operations, 1..=1_000_000_000);
    Some(NetworkModel {
        round_trip_ns: round_trip_ns?,
        round_trip_p99_ns: round_trip_p99_ns?,
        bandwidth: bandwidth?,
        operations_per_second: operations?,
    })
}

fn read_expected(wire: &WireExpected, report: &mut ProblemList) -> Option<ExpectedFigures> {
    let keys = &mut DiskKeys { place: "expected", report };
    let random_read_ns = keys.time("random_read", &wire.random_read);
    let queue_depth = keys.count("queue_depth", &wire.queue_depth, 1..=1_024);
    let queued_reads = keys.count("queued_reads", &wire.queued_reads, 1..=1_000_000_000);
    let sequential_read = keys.rate("sequential_read", &wire.sequential_read);
    let inner = &wire.sequential_read_inner;
    let sequential_read_inner = keys.rate("sequential_read_inner", inner);
    Some(ExpectedFigures {
        random_read_ns: random_read_ns?,
        queue_depth: queue_depth?,
        queued_reads: queued_reads?,
        sequential_read: sequential_read?,
        sequential_read_inner,
    })
}

/// Reads the keys of one table, and reports what is wrong with them. A key that is absent is none; that
/// it is missing has been reported.
struct DiskKeys<'a> {
    place: &'static str,
    report: &'a mut ProblemList,
}

impl DiskKeys<'_> {
    fn zones(&mut self, wire: &WireHardDisk) -> Option<Vec<u64>> {
        let list = wire.sectors_per_track.as_deref()?;
        if list.is_empty() || list.len() > ZONES_MAX {
            let found = counted(list.len() as u64, "zone");
            let place = below(self.place, "sectors_per_track");
            self.report.add(&place, found, format!("1 to {ZONES_MAX}"));
            return None;
        }
        let each = list.iter().enumerate().map(|(at, one)| {
            self.count(&element("sectors_per_track", at), &Some(one.clone()), 1..=1_000_000)
        });
        // All are read, so that every problem is reported.
        each.collect::<Vec<_>>().into_iter().collect()
    }

    fn time(&mut self, key: &str, wire: &Option<WireQuantity>) -> Option<u64> {
        self.whole(key, wire, TIME, &A_TIME)
    }

    fn rate(&mut self, key: &str, wire: &Option<WireQuantity>) -> Option<u64> {
        self.whole(key, wire, RATE, &A_RATE)
    }

    fn bytes(
        &mut self,
        key: &str,
        wire: &Option<WireQuantity>,
        range: RangeInclusive<u64>,
    ) -> Option<u64> {
        self.whole(key, wire, range, &A_SIZE)
    }

    fn count(
        &mut self,
        key: &str,
        wire: &Option<WireQuantity>,
        range: RangeInclusive<u64>,
    ) -> Option<u64> {
        self.whole(key, wire, range, &A_COUNT)
    }

    fn number(
        &mut self,
        key: &str,
        wire: &Option<WireQuantity>,
        range: RangeInclusive<u64>,
    ) -> Option<usize> {
        self.count(key, wire, range).and_then(|number| usize::try_from(number).ok())
    }
    fn whole(
        &mut self,
        key: &str,
        wire: &Option<WireQuantity>,
        range: RangeInclusive<u64>,
        kind: &KeyKind,
    ) -> Option<u64> {
        let wire = wire.as_ref()?;
        let whole = (kind.read)(wire).filter(|value| value.is_finite() && *value >= 0.0);
        let whole = whole.map(|value| value.round() as u64).filter(|value| range.contains(value));
        if whole.is_none() {
            let found = match wire {
                WireQuantity::Number(number) => number.to_string(),
                WireQuantity::Text(text) => format!("`{}`", short(text)),
            };
            let [least, most] = [range.start(), range.end()].map(|end| (kind.write)(*end));
            let expected = format!("{} from {least} to {most}", kind.words);
            self.report.add(&below(self.place, key), found, expected);
        }
        whole
    }

    /// Reports a figure that is less than another one that it cannot be less than.
    fn not_less(&mut self, key: &str, value: Option<u64>, other: &str, least: Option<u64>) {
        if value.zip(least).is_some_and(|(value, least)| value < least) {
            let expected = format!("no less than `{other}`");
            self.report.add(&below(self.place, key), "less", expected);
        }
    }
}

/// How a key's value is read, and named in a problem.
struct KeyKind {
    words: &'static str,
    write: fn(u64) -> String,
    read: fn(&WireQuantity) -> Option<f64>,
}

const A_TIME: KeyKind = KeyKind {
    words: "a time such as \"8.5ms\",",
    write: |ns| duration(ns as f64),
    read: |wire| quantity(wire, Unit::Nanoseconds),
};
const A_RATE: KeyKind = KeyKind {
    words: "a rate such as \"150MB/s\",",
    write: |rate| format!("{}/s", bytes(rate)),
    read: |wire| match wire {
        WireQuantity::Text(text) => bytes_per_second(text),
        WireQuantity::Number(_) => None,
    },
};
const A_SIZE: KeyKind = KeyKind {
    words: "bytes such as \"64MiB\",",
    write: bytes,
    read: |wire| quantity(wire, Unit::Bytes),
};
const A_COUNT: KeyKind = KeyKind {
    words: "a whole number",
    write: grouped,
    read: |wire| quantity(wire, Unit::Count).filter(|count| count.fract() == 0.0),
};

/// The value in a unit; a plain number takes it, except that a time without a unit must be 0.
fn quantity(wire: &WireQuantity, unit: Unit) -> Option<f64> {
    let quantity = match wire {
        WireQuantity::Number(number) => Quantity::count(*number),
        WireQuantity::Text(text) => Quantity::parse(text)?,
    };
    let is_plain = quantity.unit == Unit::Count;
    let takes_unit = is_plain && (unit != Unit::Nanoseconds || quantity.value == 0.0);
    (quantity.unit == unit || takes_unit).then_some(quantity.value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::disk::BUILT_IN_DISKS;

    const NETWORK: &str = "name = \"san\"\nabout = \"a volume\"\n[network]\nround_trip = \"0.7ms\"\n\
                           round_trip_p99 = \"2ms\"\nbandwidth = \"125MiB/s\"\n\
                           operations_per_second = 3_000\n";

    fn problems(text: &str) -> String {
        read_disk_model(text).expect_err("it has problems").report("mine.toml")
    }

    #[test]
    fn a_model_is_read_with_its_units() {
        let model = read_disk_model(NETWORK).map_err(|problems| problems.report("x")).unwrap();
        let network = NetworkModel {
            round_trip_ns: 700_000,
            round_trip_p99_ns: 2_000_000,
            bandwidth: 131_072_000,
            operations_per_second: 3_000,
        };
        assert_eq!(model.mechanism, DiskMechanism::Network(network));
        assert_eq!(
            (model.name.as_str(), model.expected, model.text.as_str()),
            ("san", None, NETWORK)
        );
    }

    #[test]
    fn a_key_that_is_missing_is_named() {
        for disk in BUILT_IN_DISKS {
            let disk = disk.text;
            for (at, left_out) in disk.lines().enumerate() {
                let Some((key, value)) = left_out.split_once('=') else { continue };
                if key.starts_with('#') || value.trim_end().ends_with('[') {
                    continue;
                }
                let others = disk.lines().enumerate().filter(|(other, _)| *other != at);
                let text: Vec<&str> = others.map(|(_, line)| line).collect();
                if let Err(problems) = read_disk_model(&text.join("\n")) {
                    let told = problems.report("mine.toml");
                    assert!(told.contains(key.trim()), "without {key}: {told}");
                }
            }
        }
    }

    #[test]
    fn all_problems_are_told_at_once_with_their_lines() {
        let text = NETWORK
            .replace("\"san\"", "\"\"")
            .replace("\"2ms\"", "\"0.1ms\"")
            .replace("125MiB/s", "125MiB")
            .replace("operations_per_second", "operation_per_second");
        let told = problems(&text);
        for part in [
            "has 5 problems",
            "line 1: name: found ``",
            "line 5: network.round_trip_p99: found less, expected no less than `round_trip`",
            "line 6: network.bandwidth: found `125MiB`, expected a rate such as \"150MB/s\"",
            "line 7: network.operation_per_second: found the key `operation_per_second`",
            "did you mean `operations_per_second`?",
            "network.operations_per_second: found nothing, expected a value such as 3000",
        ] {
            assert!(told.contains(part), "{part}\n{told}");
        }
    }

    #[test]
    fn blocks_have_512_or_4096_bytes_and_512_where_nothing_is_said() {
        let block = |line: &str| read_disk_model(&format!("{line}{NETWORK}"));
        let bytes = |line| block(line).map(|model| model.block_bytes).ok();
        assert_eq!([bytes(""), bytes("block = 512\n")], [Some(512); 2]);
        assert_eq!([bytes("block = 4096\n"), bytes("block = \"4KiB\"\n")], [Some(4096); 2]);
        let told = problems(&format!("block = 1024\n{NETWORK}"));
        assert!(told.contains("line 1: block: found 1,024, expected 512 or 4096"), "{told}");
    }

    #[test]
    fn a_disk_works_in_exactly_one_way() {
        let none = problems("name = \"x\"\nabout = \"y\"\n");
        assert!(none.contains("found none that says how the disk works"), "{none}");
        let two = problems(&format!("{NETWORK}[memory]\n"));
        assert!(two.contains("found 2 tables"), "{two}");
    }

    #[test]
    fn a_key_that_is_missing_is_told_with_an_example_of_its_own() {
        let told = problems("name = \"x\"\nabout = \"y\"\n[hard_disk]\n");
        for part in [
            "hard_disk.heads: found nothing, expected a value such as 4",
            "hard_disk.average_seek: found nothing, expected a value such as \"8.5ms\"",
            "hard_disk.link: found nothing, expected a value such as \"150MB/s\"",
        ] {
            assert!(told.contains(part), "{part}\n{told}");
        }
    }

    #[test]
    fn a_time_needs_its_unit_and_a_count_is_whole() {
        let told = problems(&NETWORK.replace("\"0.7ms\"", "7").replace("3_000", "2.5"));
        assert!(told.contains("round_trip: found 7, expected a time"), "{told}");
        assert!(told.contains("found 2.5, expected a whole number from 1"), "{told}");
    }
}
