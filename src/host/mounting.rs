//! Mounting and unmounting the file systems that boatload makes.

use std::ffi::CString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{Mode, OFlags};
use rustix::mount::{MountFlags, UnmountFlags};

use crate::base::errno::Errno;
use crate::base::failure::{Failure, Result, shown};

use super::kernel_log::KernelLog;
use super::mount::{MOUNTS, Mount, parse};

/// A process that only looked has let go after this many pauses.
const UNMOUNT_ATTEMPTS: u32 = 10;
const PAUSE: Duration = Duration::from_millis(50);

/// The kernel may say much; the first lines have the cause.
const KERNEL_LINES_MAX: usize = 3;

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

/// Mounts a file system of this kind. Options are those of mount(8), separated by commas; whatever
/// they say, no program in it gains rights and no device node in it works.
///
/// # Errors
/// If the kernel refuses, with what it says in its log.
pub fn mount(source: &Path, kind: &str, target: &Path, options: &str) -> Result<()> {
    let (flags, data) = split(options);
    let data = CString::new(data)
        .map_err(|_| Failure::usage("mount options with a zero byte cannot be passed on"))?;
    let log = KernelLog::end();
    rustix::mount::mount(source, target, kind, flags, data.as_c_str()).map_err(|error| {
        let said = log.map(|log| log.said_about(&device_name(source), kind));
        let place = shown(target);
        refusal(source, kind, &place, options, error.into(), said.as_deref())
    })
}

/// Mount flags, and what is left for the file system.
fn split(options: &str) -> (MountFlags, String) {
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

/// What the kernel calls a device in its log; that of `/dev/mapper/x` is `dm-0`.
fn device_name(source: &Path) -> String {
    let by_number = rustix::fs::stat(source).ok().and_then(|stat| {
        let (major, minor) = (rustix::fs::major(stat.st_rdev), rustix::fs::minor(stat.st_rdev));
        std::fs::read_link(format!("/sys/dev/block/{major}:{minor}")).ok()
    });
    let path = by_number.as_deref().unwrap_or(source);
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn refusal(
    source: &Path,
    kind: &str,
    target: &str,
    options: &str,
    error: Errno,
    said: Option<&[String]>,
) -> Failure {
    let with = match options {
        "" => String::new(),
        some => format!(" with the options {}", shown(some)),
    };
    let why = match (error, said) {
        (_, Some(lines)) if !lines.is_empty() => {
            let first: Vec<_> = lines.iter().take(KERNEL_LINES_MAX).map(shown).collect();
            format!("; the kernel says: {}", first.join("; "))
        }
        (Errno::ENODEV, _) => format!(": this kernel does not know {kind}"),
        (Errno::EPERM, _) => {
            ". That takes root, and in a container the right to mount (CAP_SYS_ADMIN)".into()
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
pub fn unmount(target: &Path) -> std::result::Result<(), Errno> {
    for _ in 1..UNMOUNT_ATTEMPTS {
        match rustix::mount::unmount(target, UnmountFlags::NOFOLLOW) {
            Err(rustix::io::Errno::BUSY) => std::thread::sleep(PAUSE),
            other => return other.map_err(Errno::from),
        }
    }
    rustix::mount::unmount(target, UnmountFlags::NOFOLLOW).map_err(Errno::from)
}

/// Takes it out of sight at once; it is unmounted when the last user lets go.
///
/// # Errors
/// `EINVAL` if nothing is mounted there.
pub fn unmount_lazily(target: &Path) -> std::result::Result<(), Errno> {
    rustix::mount::unmount(target, UnmountFlags::NOFOLLOW | UnmountFlags::DETACH)
        .map_err(Errno::from)
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
    std::fs::read(MOUNTS).map(|text| parse(&text)).unwrap_or_default()
}

/// Whether no file system, array or other driver holds a block device, be it in a view of the
/// mounts that this process cannot see: the kernel lets only one of them have it at a time.
///
/// # Errors
/// What open(2) says.
pub fn is_unused(device: &Path) -> std::result::Result<bool, Errno> {
    let flags = OFlags::RDONLY | OFlags::EXCL | OFlags::CLOEXEC | OFlags::NONBLOCK;
    match rustix::fs::open(device, flags, Mode::empty()) {
        Ok(_) => Ok(true),
        Err(rustix::io::Errno::BUSY) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
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
    fn a_refusal_has_the_kernels_words_or_says_where_they_are() {
        let say = |said: Option<&[String]>, error| {
            refusal("/dev/loop3".as_ref(), "ext4", "/x", "foo", error, said).sentence
        };
        let lines: Vec<_> = ["a", "b", "c", "d"].map(String::from).into();
        assert_eq!(
            say(Some(&lines), Errno::EINVAL),
            "cannot mount the ext4 on /dev/loop3 at /x with the options foo: Invalid argument; the \
             kernel says: a; b; c"
        );
        assert!(say(None, Errno::EINVAL).ends_with("Invalid argument. `dmesg` may tell why"));
        assert!(say(Some(&[]), Errno::ENODEV).ends_with("this kernel does not know ext4"));
    }
}
