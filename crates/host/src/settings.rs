//! Collects the settings of the kernel and the processors that a reader needs to repeat a run, and
//! nothing that names a person or a machine.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::control_group::OwnGroup;
use super::memory::group_limit_bytes;
use super::sysfs::{bracketed, first_line};
use boatload_base::files::{names_in, paths_in};

/// Each is null where the kernel does not tell it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct MachineSettings {
    /// The governor of the first processor's frequency.
    pub governor: Option<String>,
    /// The driver that sets it.
    pub frequency_driver: Option<String>,
    /// Whether processors share cores.
    pub smt: Option<bool>,
    /// Mitigations of the processors' faults: `on`, `off`, or the names of faults left open.
    pub mitigations: Option<String>,
    /// Whether this is a virtual machine.
    pub virtual_machine: Option<bool>,
    /// The machine's maker and kind.
    pub product: Option<String>,
    /// The kernel's clock source.
    pub clock_source: Option<String>,
    /// `vm.swappiness`.
    pub swappiness: Option<u64>,
    /// `vm.vfs_cache_pressure`.
    pub vfs_cache_pressure: Option<u64>,
    /// `vm.dirty_ratio`, in percent; 0 where bytes are set instead.
    pub dirty_ratio: Option<u64>,
    /// `vm.dirty_background_ratio`, in percent; 0 where bytes are set instead.
    pub dirty_background_ratio: Option<u64>,
    /// `vm.dirty_bytes`; 0 where a ratio is set instead.
    pub dirty_bytes: Option<u64>,
    /// `vm.dirty_background_bytes`; 0 where a ratio is set instead.
    pub dirty_background_bytes: Option<u64>,
    /// `vm.dirty_expire_centisecs`.
    pub dirty_expire_centiseconds: Option<u64>,
    /// `vm.dirty_writeback_centisecs`.
    pub dirty_writeback_centiseconds: Option<u64>,
    /// Whether large pages are used: `always`, `madvise` or `never`.
    pub transparent_hugepage: Option<String>,
    /// Whether the host of a virtual machine takes back memory that is free (virtio-balloon's free page
    /// reporting).
    pub free_page_reporting: Option<bool>,
    /// Processors' time that the control group may use, in processors; null for no limit.
    pub group_cpus_max: Option<f64>,
    /// Memory that it may use, in bytes; null for no limit.
    pub group_memory_max_bytes: Option<u64>,
}

impl MachineSettings {
    /// The settings of this machine now; `cpuinfo` is the text of `/proc/cpuinfo`.
    pub fn gather(cpuinfo: &str) -> Self {
        let group = OwnGroup::find();
        Self {
            virtual_machine: virtual_machine(cpuinfo),
            group_cpus_max: group.as_ref().and_then(OwnGroup::processors_max),
            group_memory_max_bytes: group_limit_bytes(),
            ..Self::below(Path::new("/"))
        }
    }

    /// What files of `/proc/sys` and `/sys` below another root say.
    fn below(root: &Path) -> Self {
        let text = |path: &str| first_line(&root.join(path));
        let number = |name: &str| text(&format!("proc/sys/vm/{name}"))?.parse().ok();
        let frequency = "sys/devices/system/cpu/cpu0/cpufreq";
        Self {
            governor: text(&format!("{frequency}/scaling_governor")),
            frequency_driver: text(&format!("{frequency}/scaling_driver")),
            smt: text("sys/devices/system/cpu/smt/active").map(|active| active == "1"),
            mitigations: mitigations(&root.join("sys/devices/system/cpu/vulnerabilities")),
            product: product(
                text("sys/class/dmi/id/sys_vendor"),
                text("sys/class/dmi/id/product_name"),
            ),
            clock_source: text(CLOCK_SOURCE),
            swappiness: number("swappiness"),
            vfs_cache_pressure: number("vfs_cache_pressure"),
            dirty_ratio: number("dirty_ratio"),
            dirty_background_ratio: number("dirty_background_ratio"),
            dirty_bytes: number("dirty_bytes"),
            dirty_background_bytes: number("dirty_background_bytes"),
            dirty_expire_centiseconds: number("dirty_expire_centisecs"),
            dirty_writeback_centiseconds: number("dirty_writeback_centisecs"),
            transparent_hugepage: text("sys/kernel/mm/transparent_hugepage/enabled")
                .and_then(|text| bracketed(&text)),
            free_page_reporting: free_page_reporting(&root.join(VIRTIO_DRIVERS)),
            ..Self::default()
        }
    }
}

const CLOCK_SOURCE: &str = "sys/devices/system/clocksource/clocksource0/current_clocksource";

/// The clock source that the kernel uses now.
pub(super) fn clock_source() -> Option<String> {
    first_line(&Path::new("/").join(CLOCK_SOURCE))
}

/// Below the root.
const VIRTIO_DRIVERS: &str = "sys/bus/virtio/drivers";

/// Whether the host of this virtual machine takes back memory that is free.
pub fn host_takes_free_memory() -> bool {
    free_page_reporting(&Path::new("/").join(VIRTIO_DRIVERS)) == Some(true)
}

/// `VIRTIO_BALLOON_F_REPORTING` in the kernel's include/uapi/linux/virtio_balloon.h.
const REPORTING_BIT: usize = 5;

/// Whether some balloon device was agreed to report free pages; null where no driver for virtio is.
fn free_page_reporting(drivers: &Path) -> Option<bool> {
    if !drivers.is_dir() {
        return None;
    }
    // A driver's directory has files of its own beside its devices.
    let devices = paths_in(drivers.join("virtio_balloon")).into_iter();
    let features = devices.map(|device| device.join("features")).filter(|path| path.exists());
    // A digit for each feature, the first of them first.
    let reports =
        features.map(|path| Some(first_line(&path)?.as_bytes().get(REPORTING_BIT)? == &b'1'));
    Some(reports.collect::<Option<Vec<bool>>>()?.contains(&true))
}

/// The maker and the kind, where the maker's name is not part of the kind.
fn product(maker: Option<String>, kind: Option<String>) -> Option<String> {
    match (maker, kind) {
        (Some(maker), Some(kind)) if !kind.starts_with(&maker) => Some(format!("{maker} {kind}")),
        (maker, kind) => kind.or(maker),
    }
}

/// `on` if no fault is left open, `off` if all that the processor has are, else those that are.
fn mitigations(directory: &Path) -> Option<String> {
    let mut open = Vec::new();
    let mut closed = 0;
    for name in names_in(directory).ok()? {
        let state = first_line(&directory.join(&name))?;
        if state.starts_with("Vulnerable") {
            open.push(name.to_string_lossy().into_owned());
        } else if state.starts_with("Mitigation") {
            closed += 1;
        }
    }
    open.sort();
    Some(match (open.len(), closed) {
        (0, _) => "on".into(),
        (_, 0) => "off".into(),
        _ => format!("all but {}", open.join(", ")),
    })
}

/// The flag `hypervisor` of the processors; only x86 has flags.
pub(super) fn virtual_machine(cpuinfo: &str) -> Option<bool> {
    let flags = cpuinfo.lines().find_map(|line| line.strip_prefix("flags"))?;
    Some(flags.split_whitespace().any(|flag| flag == "hypervisor"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::put;

    #[test]
    fn what_the_kernel_tells_is_kept_and_what_it_does_not_is_none() {
        let root = tempfile::tempdir().unwrap();
        put(root.path(), "proc/sys/vm/swappiness", "60\n");
        put(root.path(), "proc/sys/vm/dirty_bytes", "0\n");
        put(root.path(), "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
        put(root.path(), "sys/devices/system/cpu/smt/active", "1\n");
        put(root.path(), "sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
        put(root.path(), "sys/class/dmi/id/sys_vendor", "ACME\n");
        put(root.path(), "sys/class/dmi/id/product_name", "Box 9\n");
        put(root.path(), "sys/class/dmi/id/product_serial", "SECRET\n");
        let expected = MachineSettings {
            swappiness: Some(60),
            dirty_bytes: Some(0),
            governor: Some("powersave".into()),
            smt: Some(true),
            transparent_hugepage: Some("madvise".into()),
            product: Some("ACME Box 9".into()),
            ..MachineSettings::default()
        };
        assert_eq!(MachineSettings::below(root.path()), expected);
    }

    #[test]
    fn free_memory_is_taken_back_where_a_balloon_reports_it() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(free_page_reporting(&root.path().join("none")), None);
        put(root.path(), "virtio_blk/virtio1/features", "1111111100\n");
        assert_eq!(free_page_reporting(root.path()), Some(false));
        put(root.path(), "virtio_balloon/virtio0/features", "0110000100\n");
        assert_eq!(free_page_reporting(root.path()), Some(false));
        put(root.path(), "virtio_balloon/virtio0/features", "0110010100\n");
        assert_eq!(free_page_reporting(root.path()), Some(true));
        put(root.path(), "virtio_balloon/virtio2/features", "011\n");
        assert_eq!(free_page_reporting(root.path()), None, "one of them does not tell");
    }

    #[test]
    fn mitigations_are_one_word_or_the_faults_left_open() {
        let root = tempfile::tempdir().unwrap();
        let word = || mitigations(root.path()).unwrap();
        put(root.path(), "meltdown", "Not affected\n");
        put(root.path(), "spectre_v1", "Mitigation: barriers\n");
        assert_eq!(word(), "on");
        put(root.path(), "spectre_v2", "Vulnerable\n");
        assert_eq!(word(), "all but spectre_v2");
        put(root.path(), "spectre_v1", "Vulnerable: no\n");
        assert_eq!(word(), "off");
        put(root.path(), "retbleed", "\n");
        assert_eq!(mitigations(root.path()), None, "one of them does not tell");
        assert_eq!(mitigations(&root.path().join("none")), None);
    }

    #[test]
    fn a_virtual_machine_is_told_by_its_processors_flag() {
        assert_eq!(virtual_machine("flags\t\t: fpu hypervisor tsc\n"), Some(true));
        assert_eq!(virtual_machine("flags\t\t: fpu tsc\nbugs : hypervisor\n"), Some(false));
        assert_eq!(virtual_machine("Features : fp asimd\n"), None);
    }
}
