//! Describes modelled disks: what lies under a file system in place of the machine's own disk. Each
//! is a TOML file with figures and their sources; `run/disk` simulates it.

mod check;
mod tables;
mod wire;

pub use check::read_disk_model;
pub use tables::{ExpectedFigures, FlashModel, HardDiskModel, NetworkModel};

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
    #[cfg(any(test, feature = "fixtures"))]
    pub fn of(mechanism: DiskMechanism) -> Self {
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
    BuiltInDisk { name: "hdd-5400", text: include_str!("../../disks/hdd-5400.toml") },
    BuiltInDisk { name: "hdd-7200", text: include_str!("../../disks/hdd-7200.toml") },
    BuiltInDisk { name: "network-block", text: include_str!("../../disks/network-block.toml") },
    BuiltInDisk { name: "sata-ssd", text: include_str!("../../disks/sata-ssd.toml") },
    BuiltInDisk { name: "nvme", text: include_str!("../../disks/nvme.toml") },
    BuiltInDisk { name: "ram", text: include_str!("../../disks/ram.toml") },
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
