//! Which mount a directory lies on, from `/proc/thread-self/mountinfo` (proc_pid_mountinfo(5)).

use std::ffi::{OsStr, OsString};
use std::os::fd::{AsRawFd, BorrowedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, StatxFlags};

use crate::base::failure::{Failure, Result, shown};

/// What this thread sees mounted: threads may have views of their own.
pub(super) const MOUNTS: &str = "/proc/thread-self/mountinfo";

/// One line of `/proc/thread-self/mountinfo`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    /// The kernel's number for this mount.
    pub id: u64,
    /// Major and minor number of the device, as `st_dev` has it for most file systems. The major
    /// number is 0 where no block device stands behind it, and for btrfs.
    pub device: (u32, u32),
    /// Which directory of the file system is mounted: `/` but for bind mounts and subvolumes.
    pub root: PathBuf,
    /// Where it is mounted.
    pub mount_point: PathBuf,
    /// The file system's type: `ext4`, `fuse.sshfs`.
    pub kind: String,
    /// What is mounted, in words the file system chose: a device's path, `tmpfs`, `host:/export`.
    pub source: OsString,
    /// The mount's options, then those of the file system that are not among them.
    pub options: String,
}

impl Mount {
    /// The mount on which an open file or directory lies.
    ///
    /// The kernel is asked for the mount's number (statx(2), `STATX_MNT_ID`, Linux 5.8); an older
    /// one is answered by the longest mount point above the path, else by the device.
    ///
    /// # Errors
    /// If `/proc` cannot be read, or shows no mount that fits (in a chroot, say).
    pub fn of(fd: BorrowedFd<'_>) -> Result<Self> {
        let text = std::fs::read(MOUNTS)
            .map_err(|error| Failure::from_system(format!("read {MOUNTS}"), error))?;
        let stat = rustix::fs::fstat(fd)
            .map_err(|error| Failure::from_system("look at the directory", error))?;
        let device = (rustix::fs::major(stat.st_dev), rustix::fs::minor(stat.st_dev));
        let path = std::fs::read_link(format!("/proc/self/fd/{}", fd.as_raw_fd())).ok();
        choose(&parse(&text), mount_id(fd), path.as_deref(), device).ok_or_else(|| {
            let place = path.map_or_else(|| "the directory".into(), shown);
            Failure::failed(format!(
                "cannot tell which file system {place} is on: {MOUNTS} does not show \
                 its mount. Inside a chroot, bind-mount /proc and the file system there."
            ))
        })
    }
}

/// The number of the mount a descriptor lies on; none before Linux 5.8.
fn mount_id(fd: BorrowedFd<'_>) -> Option<u64> {
    let stat = rustix::fs::statx(fd, c"", AtFlags::EMPTY_PATH, StatxFlags::MNT_ID).ok()?;
    (stat.stx_mask & StatxFlags::MNT_ID.bits() != 0).then_some(stat.stx_mnt_id)
}

fn choose(
    mounts: &[Mount],
    id: Option<u64>,
    path: Option<&Path>,
    device: (u32, u32),
) -> Option<Mount> {
    if let Some(found) = mounts.iter().find(|mount| Some(mount.id) == id) {
        return Some(found.clone());
    }
    // Of two mounts on one point the later line covers the earlier; `max_by_key` keeps the last.
    let above = |mount: &&Mount| path.is_some_and(|path| path.starts_with(&mount.mount_point));
    let depth = |mount: &&Mount| mount.mount_point.as_os_str().len();
    let by_path = mounts.iter().filter(above).max_by_key(depth);
    by_path.or_else(|| mounts.iter().find(|mount| mount.device == device)).cloned()
}

/// Reads the whole of a mountinfo file; lines that do not have its form are left out.
pub fn parse(text: &[u8]) -> Vec<Mount> {
    text.split(|byte| *byte == b'\n').filter_map(parse_line).collect()
}

fn parse_line(line: &[u8]) -> Option<Mount> {
    const FIXED_FIELDS: usize = 6;
    let fields: Vec<&[u8]> = line.split(|byte| *byte == b' ').collect();
    // Between the fixed fields and a lone hyphen stand any number of optional ones.
    let hyphen = FIXED_FIELDS + fields.get(FIXED_FIELDS..)?.iter().position(|f| *f == b"-")?;
    let [kind, source, superblock] = fields.get(hyphen + 1..hyphen + 4)? else { return None };
    let (major, minor) = std::str::from_utf8(fields[2]).ok()?.split_once(':')?;
    Some(Mount {
        id: std::str::from_utf8(fields[0]).ok()?.parse().ok()?,
        device: (major.parse().ok()?, minor.parse().ok()?),
        root: PathBuf::from(unescaped(fields[3])),
        mount_point: PathBuf::from(unescaped(fields[4])),
        kind: shown(unescaped(kind)),
        source: unescaped(source),
        options: merged(&shown(unescaped(fields[5])), &shown(unescaped(superblock))),
    })
}

/// Undoes the kernel's `\040` for space, `\011` for tab, `\012` for newline, `\134` for backslash.
fn unescaped(field: &[u8]) -> OsString {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((first, after)) = rest.split_first() {
        match (first, octal(after)) {
            (b'\\', Some(byte)) => {
                bytes.push(byte);
                rest = &after[3..];
            }
            _ => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    OsString::from_vec(bytes)
}

fn octal(bytes: &[u8]) -> Option<u8> {
    let digits = std::str::from_utf8(bytes.get(..3)?).ok()?;
    digits.bytes().all(|b| b.is_ascii_digit()).then(|| u8::from_str_radix(digits, 8).ok())?
}

/// One list of options from the mount's and the superblock's: read-only if either is.
fn merged(mount: &str, superblock: &str) -> String {
    let (mount, superblock): (Vec<_>, Vec<_>) =
        (mount.split(',').collect(), superblock.split(',').collect());
    let read_only = mount.contains(&"ro") || superblock.contains(&"ro");
    let mut options = vec![if read_only { "ro" } else { "rw" }];
    for option in mount.into_iter().chain(superblock) {
        if !matches!(option, "" | "ro" | "rw") && !options.contains(&option) {
            options.push(option);
        }
    }
    options.join(",")
}

/// Whether a mount's source is a path, which only a device's is among the file systems asked.
pub(super) fn source_path(source: &OsStr) -> Option<&Path> {
    source.as_bytes().starts_with(b"/").then(|| Path::new(source))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLE: &[u8] = b"\
27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,discard\n\
31 27 0:28 / /srv/with\\040space\\011tab\\012line\\134end\xff rw,nosuid - tmpfs tmp\\040fs rw,size=4k\n\
44 27 254:0 /home/data /mnt/bind ro,relatime shared:1 master:2 - ext4 /dev/vda rw,discard\n\
51 27 0:47 /@home /home rw,noatime - btrfs /dev/nvme0n1p2 rw,ssd,subvol=/@home\n\
60 27 0:52 / /merged rw,relatime - overlay overlay rw,lowerdir=/a,upperdir=/b,workdir=/c\n\
61 27 0:53 / /empty rw - tmpfs  rw\n\
70 51 0:60 / /home rw - tmpfs tmpfs rw\n\
not a mount line\n";

    fn mount(id: u64) -> Mount {
        parse(SAMPLE).into_iter().find(|mount| mount.id == id).unwrap()
    }

    #[test]
    fn a_plain_line_gives_all_its_fields() {
        let root = mount(27);
        assert_eq!(root.device, (254, 0));
        assert_eq!((root.root.as_path(), root.mount_point.as_path()), ("/".as_ref(), "/".as_ref()));
        assert_eq!((root.kind.as_str(), root.source.as_os_str()), ("ext4", "/dev/vda".as_ref()));
        assert_eq!(root.options, "rw,relatime,discard");
    }

    #[test]
    fn escaped_and_raw_bytes_come_back_as_they_are_on_disk() {
        let odd = mount(31);
        let bytes = odd.mount_point.as_os_str().as_bytes();
        assert_eq!(bytes, b"/srv/with space\ttab\nline\\end\xff");
        assert_eq!(odd.source, "tmp fs");
    }

    #[test]
    fn a_backslash_without_three_octal_digits_is_a_backslash() {
        for text in ["\\", "\\04", "\\999", "\\+12", "a\\b"] {
            assert_eq!(unescaped(text.as_bytes()), text);
        }
        assert_eq!(unescaped(b"\\134040"), "\\040");
    }

    #[test]
    fn bind_mounts_subvolumes_overlays_and_empty_sources_are_read() {
        let bind = mount(44);
        assert_eq!(bind.root, Path::new("/home/data"));
        assert_eq!(bind.options, "ro,relatime,discard");
        assert_eq!((mount(51).device.0, mount(51).root), (0, "/@home".into()));
        assert_eq!(mount(60).kind, "overlay");
        assert_eq!(mount(61).source, "");
        assert_eq!(parse(SAMPLE).len(), 7);
    }

    #[test]
    fn without_a_mount_id_the_longest_and_latest_mount_point_is_taken() {
        let by_path = |path: &str| choose(&parse(SAMPLE), None, Some(path.as_ref()), (0, 0));
        assert_eq!(by_path("/mnt/bind/x").unwrap().id, 44);
        assert_eq!(by_path("/mnt/binder").unwrap().id, 27, "a name is not cut in its middle");
        assert_eq!(by_path("/home/x").unwrap().id, 70, "the later mount covers the earlier");
        assert_eq!(choose(&parse(SAMPLE), None, None, (0, 52)).unwrap().id, 60);
        assert_eq!(choose(&parse(SAMPLE), Some(51), Some("/x".as_ref()), (0, 0)).unwrap().id, 51);
        assert_eq!(choose(&parse(SAMPLE), Some(99), None, (7, 7)), None);
    }
}
