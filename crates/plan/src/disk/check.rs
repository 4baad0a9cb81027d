//! Turns the file of a disk model into a checked model, with all its problems at once.

use super::tables::{Bytes, DiskKey, DiskTable, SECTOR_BYTES};
use super::wire::WireDisk;
use super::{DiskMechanism, DiskModel};
use crate::report::{ProblemList, short};
use crate::source;
use boatload_base::problem::Problems;
use boatload_base::text_limits::NAME_BYTES_MAX;
use boatload_base::units::{counted, grouped};

const MECHANISMS: &str = "one of `[hard_disk]`, `[flash]`, `[network]`, `[memory]`";
const ABOUT_BYTES_MAX: usize = 200;
const LARGE_BLOCK_BYTES: u64 = 4096;

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
    let expected = wire.expected.as_ref().map(|wire| wire.read(&mut report));
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
    let Some(block) = &wire.block else { return Some(SECTOR_BYTES as u32) };
    let table = &mut DiskTable { name: "", report };
    let bytes = Bytes(SECTOR_BYTES..=LARGE_BLOCK_BYTES).read(table, "block", Some(block))?;
    if ![SECTOR_BYTES, LARGE_BLOCK_BYTES].contains(&bytes) {
        report.add("block", grouped(bytes), "512 or 4096");
        return None;
    }
    u32::try_from(bytes).ok()
}

fn mechanism(wire: &WireDisk, report: &mut ProblemList) -> Option<DiskMechanism> {
    let hard_disk = wire.hard_disk.as_ref().map(|w| w.read(report).map(DiskMechanism::HardDisk));
    let flash = wire.flash.as_ref().map(|w| w.read(report).map(DiskMechanism::Flash));
    let network = wire.network.as_ref().map(|w| w.read(report).map(DiskMechanism::Network));
    let memory = wire.memory.as_ref().map(|_| Some(DiskMechanism::Memory));
    let mut given: Vec<_> = [hard_disk, flash, network, memory].into_iter().flatten().collect();
    let is_broken = ["hard_disk", "flash", "network", "memory"]
        .iter()
        .any(|table| report.is_broken_inside(table));
    match given.len() {
        1 => given.pop()?,
        0 if is_broken => None,
        0 => {
            report.add("", "no table that says how the disk works", MECHANISMS);
            None
        }
        several => {
            let found = counted(several as u64, "table");
            report.add("", format!("{found} that say how the disk works"), MECHANISMS);
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::{BUILT_IN_DISKS, NetworkModel};

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
        assert!(none.contains("found no table that says how the disk works"), "{none}");
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
