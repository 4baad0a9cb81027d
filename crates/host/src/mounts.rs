//! Lists mounts from `/proc/thread-self/mountinfo` (proc_pid_mountinfo(5)); mounts and unmounts in a
//! mount namespace of this process alone.
#![expect(unsafe_code, reason = "system calls that no safe wrapper has")]

use std::ffi::{CStr, CString, OsStr, OsString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{AtFlags, Mode, OFlags, StatxAttributes, StatxFlags, statx};
use rustix::mount::{MountFlags, MountPropagationFlags, UnmountFlags, mount_change};
use rustix::process::{chdir, chroot, fchdir};
use rustix::thread::{UnshareFlags, unshare_unsafe};

use crate::open::mount_id;
use crate::sysfs::{DeviceNumber, device_number};
use boatload_base::errno::{Errno, ErrnoResult};
use boatload_base::failure::{Failure, Result, shown};
use boatload_base::files::{path_of, place_of, read_bytes};

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
    /// The mount's options, then the file system's options that are not among them.
    pub options: String,
}

/// File systems that several hosts see at once: over a network, on a device that they share, or of a virtual machine's host.
const SHARED: [&str; 27] = [
    "9p", "acfs", "afs", "beegfs", "ceph", "cifs", "coda", "gfs2", "glusterfs", "gpfs", "lustre",
    "ncpfs", "nfs", "nfs4", "ocfs2", "orangefs", "panfs", "prl_fs", "pvfs2", "scoutfs", "smb3",
    "smbfs", "vboxsf", "virtiofs", "vmhgfs", "vxfs", "wekafs",
];

/// File systems that only one host mounts at a time, for they are on a device or in memory. In FUSE each is one of its own
/// (`fuse.sshfs`), and most are for a network; none on a block device is (`fuseblk`).
const OF_ONE_HOST: [&str; 18] = [
    "bcachefs", "btrfs", "ext2", "ext3", "ext4", "f2fs", "fuse.exfat", "fuse.lowntfs-3g",
    "fuse.ntfs-3g", "fuse.zfs", "fuseblk", "jfs", "nilfs2", "ramfs", "reiserfs", "tmpfs", "xfs",
    "zfs",
];

/// Whether file systems of this kind live in memory, where what is written takes it from all processes.
pub fn is_in_memory(kind: &str) -> bool {
    matches!(kind, "tmpfs" | "ramfs")
}

/// Whether file systems of this kind have no disk of this machine: they live in memory, come over a network, or from a
/// program in FUSE.
pub fn is_diskless(kind: &str) -> bool {
    is_in_memory(kind) || is_shared(kind)
}

fn is_shared(kind: &str) -> bool {
    let is_program = kind == "fuse" || kind.starts_with("fuse.");
    SHARED.contains(&kind) || is_program && !OF_ONE_HOST.contains(&kind)
}

impl Mount {
    /// Whether it is known that no other host mounts it. Of a kind that is not known it is not.
    pub fn is_of_one_host(&self) -> bool {
        OF_ONE_HOST.contains(&self.kind.as_str())
    }

    /// Whether other hosts may see the same directories.
    pub fn is_shared(&self) -> bool {
        is_shared(&self.kind)
    }

    /// The mount on which an open file or directory lies.
    ///
    /// The kernel is asked for the mount's number (statx(2), `STATX_MNT_ID`, Linux 5.8); an older
    /// one is answered by the longest mount point above the path, else by the device.
    ///
    /// # Errors
    /// If `/proc` cannot be read, or shows no mount that fits (in a chroot, say).
    pub fn of(fd: BorrowedFd<'_>) -> Result<Self> {
        let text = read_bytes(MOUNTS)
            .map_err(|error| Failure::from_system(format!("read {MOUNTS}"), error))?;
        let stat = rustix::fs::fstat(fd).map_err(|error| {
            Failure::from_system(format!("look at {} (fstat)", place_of(fd)), error)
        })?;
        let device = device_number(stat.st_dev);
        let path = path_of(fd);
        choose(&parse(&text), mount_id(fd).ok(), path.as_deref(), device).ok_or_else(|| {
            let place = path.map_or_else(|| "the directory".into(), shown);
            Failure::failed(format!(
                "cannot tell which file system {place} is on: {MOUNTS} does not show \
                 its mount. Before a chroot into ROOT: `mount --bind ROOT ROOT && mount -t proc proc ROOT/proc`"
            ))
        })
    }
}

fn choose(
    mounts: &[Mount],
    id: Option<u64>,
    path: Option<&Path>,
    device: DeviceNumber,
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

/// A process that only looked has let go after this many pauses.
const UNMOUNT_ATTEMPTS: u32 = 10;
const PAUSE: Duration = Duration::from_millis(50);

/// Words that mount(2) takes as flags: set by the first, taken back by the second. The others go to
/// the file system.
const FLAGS: [(MountFlags, &str, &str); 11] = [
    (MountFlags::RDONLY, "ro", "rw"),
    (MountFlags::NOSUID, "nosuid", "suid"),
    (MountFlags::NODEV, "nodev", "dev"),
    (MountFlags::NOEXEC, "noexec", "exec"),
    (MountFlags::SYNCHRONOUS, "sync", "async"),
    (MountFlags::DIRSYNC, "dirsync", ""),
    (MountFlags::NOATIME, "noatime", "atime"),
    (MountFlags::NODIRATIME, "nodiratime", "diratime"),
    (MountFlags::RELATIME, "relatime", "norelatime"),
    (MountFlags::STRICTATIME, "strictatime", "nostrictatime"),
    (MountFlags::LAZYTIME, "lazytime", "nolazytime"),
];

/// Mounts a file system of this kind. Options are written as for mount(8), separated by commas; whatever
/// they say, no program in it gains rights and no device node in it works.
///
/// # Errors
/// If the kernel refuses.
pub fn mount(source: &Path, kind: &str, target: &Path, options: &str) -> Result<()> {
    let (flags, data) = split(options);
    let data = CString::new(data)
        .map_err(|_| Failure::usage("mount options with a zero byte cannot be passed on"))?;
    rustix::mount::mount(source, target, kind, flags, data.as_c_str())
        .map_err(|error| refusal(source, kind, &shown(target), options, error.into()))
}

/// Mount flags, and what is left for the file system.
pub(super) fn split(options: &str) -> (MountFlags, String) {
    let mut flags = MountFlags::empty();
    let mut data = Vec::new();
    for word in options.split(',').map(str::trim) {
        if matches!(word, "" | "defaults") {
            continue;
        }
        match FLAGS.iter().find(|(_, set, clear)| [*set, *clear].contains(&word)) {
            Some((flag, set, _)) => flags.set(*flag, word == *set),
            None => data.push(word),
        }
    }
    (flags | MountFlags::NOSUID | MountFlags::NODEV, data.join(","))
}

fn refusal(source: &Path, kind: &str, target: &str, options: &str, error: Errno) -> Failure {
    let with = match options {
        "" => String::new(),
        some => format!(" with the options {}", shown(some)),
    };
    let why = match error {
        Errno::ENODEV => format!(": this kernel does not know {kind}"),
        Errno::EPERM => {
            ". That takes root, and in a container the right to mount: `docker run --privileged`"
                .into()
        }
        _ => ". `dmesg` may tell why".into(),
    };
    let source = shown(source);
    let doing = format!("mount the {kind} on {source} at {target}{with}");
    Failure::failed(format!("{}{why}", Failure::from_system(doing, error.about())))
}

/// Unmounts what is mounted here; a process that only looks gets half a second to let go.
///
/// # Errors
/// `EBUSY` if something stays in use; `EINVAL` if nothing is mounted there.
pub fn unmount(target: &Path) -> ErrnoResult<()> {
    for _ in 1..UNMOUNT_ATTEMPTS {
        match rustix::mount::unmount(target, UnmountFlags::NOFOLLOW) {
            Err(rustix::io::Errno::BUSY) => boatload_base::patience::pause(PAUSE),
            other => return other.map_err(Errno::from),
        }
    }
    rustix::mount::unmount(target, UnmountFlags::NOFOLLOW).map_err(Errno::from)
}

/// Takes it out of sight at once; it is unmounted when the last user lets go.
///
/// # Errors
/// `EINVAL` if nothing is mounted there.
pub fn unmount_lazily(target: &Path) -> ErrnoResult<()> {
    rustix::mount::unmount(target, UnmountFlags::NOFOLLOW | UnmountFlags::DETACH)
        .map_err(Errno::from)
}

/// Lets all requests to a file system that a process serves fail, even if that process cannot end, and
/// unmounts it if nothing of it is open (umount2(2), `MNT_FORCE`).
pub fn abort(target: &Path) {
    let _ = rustix::mount::unmount(target, UnmountFlags::NOFOLLOW | UnmountFlags::FORCE);
}

/// What is mounted below a directory, not at it, the newest first: they can be unmounted in this
/// order. Empty where `/proc` cannot be read.
pub fn mounts_below(directory: &Path) -> Vec<Mount> {
    let directory: PathBuf = directory.canonicalize().unwrap_or_else(|_| directory.into());
    let mut below = all_mounts();
    below.retain(|m| m.mount_point != directory && m.mount_point.starts_with(&directory));
    below.reverse();
    below
}

/// What the calling thread sees mounted.
pub(super) fn all_mounts() -> Vec<Mount> {
    read_bytes(MOUNTS).map(|text| parse(&text)).unwrap_or_default()
}

/// Whether no file system, array or other driver holds a block device, be it in a view of the
/// mounts that this process cannot see: the kernel lets only one of them have it at a time.
pub fn is_unused(device: &Path) -> ErrnoResult<bool> {
    let flags = OFlags::RDONLY | OFlags::EXCL | OFlags::CLOEXEC | OFlags::NONBLOCK;
    match rustix::fs::open(device, flags, Mode::empty()) {
        Ok(_) => Ok(true),
        Err(rustix::io::Errno::BUSY) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// From here on nothing this process and its children mount is seen outside, and all of it goes
/// with the last of them, however that ends. What is unmounted outside still goes here too, so that
/// no disk of the user is held.
///
/// To be called before any thread is started: of a process with threads only the calling one would
/// get the view, and those it starts.
///
/// # Errors
/// `EPERM` without the right to mount (`CAP_SYS_ADMIN`), which containers seldom give, and in a chroot whose root is no mount
/// point without that to change the root (`CAP_SYS_CHROOT`).
pub fn enter_private_mounts() -> ErrnoResult<()> {
    // SAFETY: a new mount namespace changes what paths mean, not which descriptors are open.
    unsafe { unshare_unsafe(UnshareFlags::NEWNS) }?;
    let flags = MountPropagationFlags::DOWNSTREAM | MountPropagationFlags::REC;
    match mount_change(c"/", flags) {
        Err(rustix::io::Errno::INVAL) => at_the_top(|| mount_change(c".", flags))?,
        other => other?,
    }
    Ok(())
}

/// Whether the root of this process is a mount point, as it is but in a chroot; also where the kernel does not tell (before
/// Linux 5.8).
pub(super) fn root_is_mount_point() -> bool {
    let is_mount_root = StatxAttributes::MOUNT_ROOT;
    let root = statx(rustix::fs::CWD, c"/", AtFlags::empty(), StatxFlags::empty());
    root.map_or(true, |root| {
        !root.stx_attributes_mask.contains(is_mount_root)
            || root.stx_attributes.contains(is_mount_root)
    })
}

/// Does something in the topmost directory of this process's view of the mounts, to which no path leads from the root of a
/// chroot. To bind that root on itself would not do: where the mount above it is shared, everybody would see the new one.
fn at_the_top(act: impl FnOnce() -> rustix::io::Result<()>) -> rustix::io::Result<()> {
    let (here, root) = (open_path(c".")?, open_path(c"/")?);
    // With a root further down, `..` leads on upwards from what was the root.
    chroot(c"/proc")?;
    let acted = fchdir(&root).and_then(|()| climb()).and_then(|()| act());
    // What was just the root can be it again.
    fchdir(&root).and_then(|()| chroot(c".")).and_then(|()| fchdir(&here)).and(acted)
}

fn climb() -> rustix::io::Result<()> {
    let here = || -> rustix::io::Result<(u64, u64)> {
        let here = open_path(c".")?;
        Ok((mount_id(here.as_fd())?, rustix::fs::fstat(&here)?.st_ino))
    };
    let mut before = here()?;
    loop {
        chdir(c"..")?;
        let now = here()?;
        if now == before {
            return Ok(());
        }
        before = now;
    }
}

fn open_path(path: &CStr) -> rustix::io::Result<OwnedFd> {
    rustix::fs::open(path, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
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
    fn an_unknown_fuse_file_system_may_be_seen_by_other_hosts_and_one_on_a_block_device_is_not() {
        let is_shared = |kind: &str| Mount { kind: kind.into(), ..mount(27) }.is_shared();
        for kind in ["fuse", "fuse.sshfs", "fuse.unheard-of", "nfs4", "vboxsf", "wekafs"] {
            assert!(is_shared(kind), "{kind}");
        }
        for kind in ["ext4", "overlay", "tmpfs", "fuseblk", "fuse.ntfs-3g", "fusectl"] {
            assert!(!is_shared(kind), "{kind}");
        }
        assert!([&SHARED[..], &OF_ONE_HOST].iter().all(|list| list.is_sorted()));
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

#[cfg(test)]
mod mounting_tests {
    use super::*;

    const ALWAYS: MountFlags = MountFlags::NOSUID.union(MountFlags::NODEV);

    #[test]
    fn words_of_mount_become_flags_and_the_others_go_to_the_file_system() {
        let (flags, data) = split("noatime,data=writeback, ro ,,defaults,commit=5,lazytime");
        let expected = MountFlags::NOATIME | MountFlags::RDONLY | MountFlags::LAZYTIME | ALWAYS;
        assert_eq!((flags, data.as_str()), (expected, "data=writeback,commit=5"));
        assert_eq!(split(""), (ALWAYS, String::new()));
    }

    #[test]
    fn the_last_word_counts_but_no_word_gives_rights_or_devices() {
        assert_eq!(split("ro,noatime,rw,atime").0, ALWAYS);
        assert_eq!(split("suid,dev").0, ALWAYS);
        for (flag, set, clear) in FLAGS {
            assert!(split(set).0.contains(flag), "{set}");
            assert_eq!(
                split(&format!("{set},{clear}")).0 - ALWAYS,
                if clear.is_empty() { flag } else { MountFlags::empty() }
            );
        }
    }

    #[test]
    fn a_refusal_says_why_or_where_that_may_stand() {
        let say = |error| refusal("/dev/loop3".as_ref(), "ext4", "/x", "foo", error).sentence;
        assert_eq!(
            say(Errno::EINVAL),
            "cannot mount the ext4 on /dev/loop3 at /x with the options foo: Invalid argument. `dmesg` may tell why"
        );
        assert!(say(Errno::ENODEV).ends_with("this kernel does not know ext4"));
    }
}
