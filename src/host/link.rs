//! Finds the link (SATA, USB, PCIe) of a block device and its bandwidth (sysfs: `sata_spd` of libata,
//! `current_link_speed` of PCI, `speed` of USB).

use std::path::Path;

use super::sysfs::first_line;

/// A link with what it carries at most.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceLink {
    /// `SATA of 6.0 Gbit/s`.
    pub name: String,
    /// Bytes in a second, without the bits of the line code.
    pub bytes_per_second: f64,
    /// It is SATA, whose disks know whether they turn.
    pub is_sata: bool,
}

impl DeviceLink {
    /// The link of the block device with this name; `None` if it has none of these, as a virtual disk.
    pub fn of(device: &str) -> Option<Self> {
        Self::below(Path::new("/sys"), device)
    }

    fn below(sys: &Path, device: &str) -> Option<Self> {
        let place = sys.join("class/block").join(device).canonicalize().ok()?;
        place
            .ancestors()
            .take_while(|above| *above != sys)
            .find_map(|above| usb(above).or_else(|| sata(above)).or_else(|| nvme(above)))
    }
}

/// A USB device has its speed in Mbit/s; 5 Gbit/s are coded with 10 bits a byte, faster ones with 8.25, slower ones
/// lose more to packets than that.
fn usb(place: &Path) -> Option<DeviceLink> {
    place.join("bMaxPacketSize0").exists().then_some(())?;
    let megabits: f64 = first_line(&place.join("speed"))?.parse().ok()?;
    let bits = if megabits > 5_000.0 { 8.25 } else { 10.0 };
    let name = format!("USB of {megabits} Mbit/s");
    (megabits > 0.0).then(|| DeviceLink {
        name,
        bytes_per_second: megabits * 1e6 / bits,
        is_sata: false,
    })
}

/// `ata1` has `link1/ata_link/link1/sata_spd`: 10 bits a byte.
fn sata(place: &Path) -> Option<DeviceLink> {
    let number = place.file_name()?.to_str()?.strip_prefix("ata")?;
    let link = format!("link{number}");
    let speed = first_line(&place.join(&link).join("ata_link").join(&link).join("sata_spd"))?;
    let gigabits: f64 = speed.split(' ').next()?.parse().ok()?;
    let name = format!("SATA of {gigabits} Gbit/s");
    (gigabits > 0.0).then(|| DeviceLink {
        name,
        bytes_per_second: gigabits * 1e9 / 10.0,
        is_sata: true,
    })
}

/// The PCI function right above an NVMe controller: 10 bits a byte up to 5 GT/s, then 130 for 128 (256 in flits, from
/// 64 GT/s on, take no more).
fn nvme(place: &Path) -> Option<DeviceLink> {
    place.join("nvme").is_dir().then_some(())?;
    let number = |name: &str| -> Option<f64> {
        first_line(&place.join(name))?.split(' ').next()?.parse().ok()
    };
    let (transfers, lanes) = (number("current_link_speed")?, number("current_link_width")?);
    let bits = if transfers > 5.0 { 8.0 * 130.0 / 128.0 } else { 10.0 };
    let name = format!("PCIe of {transfers} GT/s, {lanes} lanes");
    let rate = transfers * lanes * 1e9 / bits;
    (rate > 0.0).then_some(DeviceLink { name, bytes_per_second: rate, is_sata: false })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The link of a device in a sysfs with these files.
    fn link(place: &str, files: &[(&str, &str)]) -> Option<(String, u64)> {
        let sys = tempfile::tempdir().unwrap();
        let device = sys.path().join("devices").join(place);
        std::fs::create_dir_all(&device).unwrap();
        for (name, text) in files {
            let path = sys.path().join("devices").join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        std::fs::create_dir_all(sys.path().join("class/block")).unwrap();
        std::os::unix::fs::symlink(&device, sys.path().join("class/block/x")).unwrap();
        let found = DeviceLink::below(&sys.path().canonicalize().unwrap(), "x")?;
        Some((found.name, (found.bytes_per_second / 1e6) as u64))
    }

    #[test]
    fn each_kind_of_link_carries_what_its_speed_and_code_allow() {
        let spd = ("pci0/ata3/link3/ata_link/link3/sata_spd", "6.0 Gbps\n");
        let found = link("pci0/ata3/host2/target/block/sda", &[spd]);
        assert_eq!(found, Some(("SATA of 6 Gbit/s".into(), 600)));
        let speed = ("pci0/0000:01/current_link_speed", "16.0 GT/s PCIe\n");
        let files = [speed, ("pci0/0000:01/current_link_width", "4\n")];
        let found = link("pci0/0000:01/nvme/nvme0/nvme0n1", &files);
        assert_eq!(found, Some(("PCIe of 16 GT/s, 4 lanes".into(), 7_876)));
        let files = [("usb2/2-1/speed", "5000\n"), ("usb2/2-1/bMaxPacketSize0", "9\n")];
        let found = link("usb2/2-1/2-1:1.0/host5/block/sdb", &files);
        assert_eq!(found, Some(("USB of 5000 Mbit/s".into(), 500)));
    }

    #[test]
    fn a_device_without_a_link_or_with_a_strange_one_has_none() {
        assert_eq!(link("virtio0/block/vda", &[]), None);
        let spd = ("pci0/ata3/link3/ata_link/link3/sata_spd", "<unknown>\n");
        assert_eq!(link("pci0/ata3/host2/target/block/sda", &[spd]), None);
        assert_eq!(DeviceLink::of("no such device"), None);
    }
}
