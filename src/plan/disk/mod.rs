//! Describes modelled disks: what lies under a file system in place of the machine's own disk. Each
//! is a TOML file with figures and their sources; `run/disk` simulates it.

mod check;
mod wire;

pub use check::read_disk_model;

/// A disk whose times are known.
#[derive(Clone, Debug, PartialEq)]
pub struct DiskModel {
    /// Its name.
    pub name: String,
    /// What it stands for, in a line.
    pub about: String,
    /// Bytes of a logical block: 512 or 4,096.
    pub block_bytes: u32,
    /// Whether a flush makes what was written before durable. A disk that ignores it loses that when power is cut.
    pub honours_flush: bool,
    /// How it works.
    pub mechanism: DiskMechanism,
    /// What such disks are expected to do; the model is checked against it.
    pub expected: Option<ExpectedFigures>,
    /// The file that describes it.
    pub text: String,
}

impl DiskModel {
    /// Whether it turns, as the kernel wants to know of a disk.
    pub fn is_rotational(&self) -> bool {
        matches!(self.mechanism, DiskMechanism::HardDisk(_))
    }

    /// One that works so, without a name or a file.
    #[cfg(test)]
    pub(crate) fn of(mechanism: DiskMechanism) -> Self {
        let (name, about, text) = (String::new(), String::new(), String::new());
        let (block_bytes, honours_flush, expected) = (512, true, None);
        Self { name, about, block_bytes, honours_flush, mechanism, expected, text }
    }
}

/// How a disk works.
#[derive(Clone, Debug, PartialEq)]
pub enum DiskMechanism {
    /// An arm over turning platters.
    HardDisk(HardDiskModel),
    /// Flash chips behind a link.
    Flash(FlashModel),
    /// A volume behind a network.
    Network(NetworkModel),
    /// No time at all.
    Memory,
}

/// A hard disk. Times are in nanoseconds, rates in bytes a second.
#[derive(Clone, Debug, PartialEq)]
pub struct HardDiskModel {
    /// Bytes that it holds.
    pub capacity: u64,
    /// Surfaces, each with its head.
    pub heads: u64,
    /// Sectors of 512 bytes on a track of each zone, from the outermost zone in. Zones have equal
    /// numbers of cylinders.
    pub sectors_per_track: Vec<u64>,
    /// Time of a turn.
    pub turn_ns: u64,
    /// A seek to the next cylinder.
    pub track_to_track_ns: u64,
    /// A seek over a third of the cylinders.
    pub average_seek_ns: u64,
    /// A seek over all cylinders.
    pub full_seek_ns: u64,
    /// Until another head of the same cylinder is on its track.
    pub head_switch_ns: u64,
    /// What the head needs longer before it may write.
    pub write_settle_ns: u64,
    /// Fixed time of each command.
    pub command_ns: u64,
    /// Between the disk's memory and the host.
    pub link_rate: u64,
    /// Commands that the disk orders as it likes.
    pub queue: usize,
    /// How much sooner it serves a command for each second that this has waited.
    pub ageing_ns: u64,
    /// Memory for what was read and read ahead, in all segments together.
    pub read_buffer: u64,
    /// Places of the disk that the read buffer follows at one time; 0 for no buffer.
    pub segments: usize,
    /// Memory for writes that are acknowledged before they are on the platter; 0 for none.
    pub write_cache: u64,
    /// Separate places that may wait in the write cache.
    pub write_places: usize,
    /// Time without requests after which cached writes go to the platters, in nanoseconds.
    pub write_delay_ns: u64,
}

/// A disk of flash chips. Times are in nanoseconds, rates in bytes a second.
#[derive(Clone, Debug, PartialEq)]
pub struct FlashModel {
    /// Between the disk and the host.
    pub link_rate: u64,
    /// Time that each command takes of the link.
    pub command_ns: u64,
    /// Until a write that is in the buffer is acknowledged.
    pub acknowledge_ns: u64,
    /// Chips, or planes of chips, that work side by side.
    pub units: usize,
    /// Bytes that a unit reads or programs at once.
    pub page: u64,
    /// Time to read a page.
    pub read_ns: u64,
    /// Time to program a page.
    pub program_ns: u64,
    /// Memory for writes that are not programmed yet.
    pub write_buffer: u64,
    /// Time of a discard.
    pub discard_ns: u64,
}

/// A volume behind a network. Times are in nanoseconds, rates in bytes a second.
#[derive(Clone, Debug, PartialEq)]
pub struct NetworkModel {
    /// Median time of a request.
    pub round_trip_ns: u64,
    /// 99 of 100 requests take less.
    pub round_trip_p99_ns: u64,
    /// Of all requests together.
    pub bandwidth: u64,
    /// Requests that are let through in a second.
    pub operations_per_second: u64,
}

/// What disks as the model is one are expected to do: published, derived from that, or chosen. Rates are
/// in bytes a second.
#[derive(Clone, Debug, PartialEq)]
pub struct ExpectedFigures {
    /// Mean time of a random read of 4 KiB when nothing else is asked, over the whole disk, in
    /// nanoseconds.
    pub random_read_ns: u64,
    /// Requests under way at once for the next figure.
    pub queue_depth: u64,
    /// Random reads of 4 KiB in a second at `queue_depth`.
    pub queued_reads: u64,
    /// Sequential reading at the beginning of the disk.
    pub sequential_read: u64,
    /// Sequential reading at the end of the disk, if it differs.
    pub sequential_read_inner: Option<u64>,
}

/// A model that comes with boatload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuiltInDisk {
    /// Its name.
    pub name: &'static str,
    /// Its file.
    pub text: &'static str,
}

/// All of them, from the slowest to the fastest.
pub const BUILT_IN_DISKS: &[BuiltInDisk] = &[
    BuiltInDisk { name: "hdd-5400", text: include_str!("../../../disks/hdd-5400.toml") },
    BuiltInDisk { name: "hdd-7200", text: include_str!("../../../disks/hdd-7200.toml") },
    BuiltInDisk { name: "network-block", text: include_str!("../../../disks/network-block.toml") },
    BuiltInDisk { name: "sata-ssd", text: include_str!("../../../disks/sata-ssd.toml") },
    BuiltInDisk { name: "nvme", text: include_str!("../../../disks/nvme.toml") },
    BuiltInDisk { name: "ram", text: include_str!("../../../disks/ram.toml") },
];

/// The built-in model with this name.
pub fn find_disk(name: &str) -> Option<DiskModel> {
    let found = BUILT_IN_DISKS.iter().find(|disk| disk.name == name)?;
    read_disk_model(found.text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_disk_is_valid_and_named_as_its_file() {
        for disk in BUILT_IN_DISKS {
            let model = read_disk_model(disk.text).map_err(|problems| problems.report(disk.name));
            assert_eq!(model.unwrap().name, disk.name);
            assert_eq!(find_disk(disk.name).map(|model| model.text), Some(disk.text.into()));
        }
        assert_eq!(find_disk("hdd"), None);
    }

    #[test]
    fn every_expected_figure_has_its_source_beside_it() {
        for disk in BUILT_IN_DISKS {
            let figures = disk.text.lines().skip_while(|line| *line != "[expected]").skip(1);
            for line in figures.filter(|line| line.contains('=') && !line.starts_with('#')) {
                assert!(line.contains('#'), "{}: {line}", disk.name);
            }
        }
    }
}
