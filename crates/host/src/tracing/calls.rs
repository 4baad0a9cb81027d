//! Lists the system calls that are traced, and what each works on.

use libc::c_long;

use boatload_base::named_enum;

named_enum! {
    /// What a traced system call does.
    pub enum TracedOperation {
        /// An open with `O_CREAT`, whether the file existed.
        Create = "create",
        /// Any other open.
        Open = "open",
        /// A read from a file.
        Read = "read",
        /// A write to a file.
        Write = "write",
        /// A close of a file or directory.
        Close = "close",
        /// fsync, fdatasync, sync_file_range, syncfs or sync.
        Fsync = "fsync",
        /// stat and its kin.
        Stat = "stat",
        /// One read of directory entries.
        List = "list",
        /// A rename.
        Rename = "rename",
        /// A file's name is removed.
        Unlink = "unlink",
        /// A directory is made.
        Mkdir = "mkdir",
        /// A directory is removed.
        Rmdir = "rmdir",
        /// A hard link is made.
        Link = "link",
        /// A symbolic link is made.
        Symlink = "symlink",
        /// A file's length is set.
        Truncate = "truncate",
        /// Extended attributes are read, set, listed or removed.
        Xattr = "xattr",
        /// Whether a file may be read, written or executed, or exists.
        Access = "access",
        /// A symbolic link is read.
        Readlink = "readlink",
        /// A file's mode is set.
        Chmod = "chmod",
        /// A file's owner is set.
        Chown = "chown",
        /// A file's times are set.
        Utime = "utime",
        /// The kernel copies from one file into another.
        Copy = "copy",
        /// Space is given to a file, or taken.
        Fallocate = "fallocate",
    }
}

impl TracedOperation {
    /// Its number in the script, from 1: 0 is none.
    pub fn number(self) -> u64 {
        1 + self as u64
    }

    /// The operation of this number.
    pub fn of_number(number: u64) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.number() == number)
    }

    /// The name of the operation of a job that it is nearest to.
    pub fn job_operation(self) -> &'static str {
        match self {
            Self::Unlink => "delete",
            other => other.as_str(),
        }
    }
}

/// How a call names what it works on, by the places of its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallTarget {
    /// A descriptor, the first argument.
    Descriptor,
    /// A path; relative to the working directory.
    Path(u8),
    /// A path; relative to a descriptor.
    PathAt(u8, u8),
    /// None: the file system of the working directory stands for all.
    Everything,
}

/// What a call does, where an argument decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallMeaning {
    /// Always this.
    Always(TracedOperation),
    /// Create or open, by the flags in this argument.
    OpenBy(u8),
    /// The same, by the flags that this argument points to.
    OpenByPointed(u8),
    /// Unlink or rmdir, by the flags in this argument.
    RemoveBy(u8),
}

/// A system call.
#[derive(Clone, Copy, Debug)]
pub(super) struct TracedCall {
    pub(super) number: c_long,
    pub(super) meaning: CallMeaning,
    pub(super) place: CallTarget,
}

impl TracedCall {
    /// What it may do.
    pub(super) fn operations(self) -> Vec<TracedOperation> {
        match self.meaning {
            Always(one) => vec![one],
            OpenBy(_) | OpenByPointed(_) => {
                vec![Create, TracedOperation::Open]
            }
            RemoveBy(_) => vec![Unlink, Rmdir],
        }
    }
}

use CallMeaning::{Always, OpenBy, OpenByPointed, RemoveBy};
use CallTarget::{Descriptor, Everything, Path, PathAt};
use TracedOperation::{
    Access, Chmod, Chown, Close, Create, Fallocate, Fsync, Link, List, Mkdir, Read, Readlink,
    Rename, Rmdir, Stat, Symlink, Truncate, Unlink, Utime, Write, Xattr,
};

const fn call(number: c_long, meaning: CallMeaning, place: CallTarget) -> TracedCall {
    TracedCall { number, meaning, place }
}

/// The traced calls of every processor architecture.
const CALLS: [TracedCall; 54] = [
    call(libc::SYS_openat, OpenBy(2), PathAt(0, 1)),
    call(libc::SYS_openat2, OpenByPointed(2), PathAt(0, 1)),
    call(libc::SYS_read, Always(Read), Descriptor),
    call(libc::SYS_pread64, Always(Read), Descriptor),
    call(libc::SYS_readv, Always(Read), Descriptor),
    call(libc::SYS_preadv, Always(Read), Descriptor),
    call(libc::SYS_preadv2, Always(Read), Descriptor),
    call(libc::SYS_write, Always(Write), Descriptor),
    call(libc::SYS_pwrite64, Always(Write), Descriptor),
    call(libc::SYS_writev, Always(Write), Descriptor),
    call(libc::SYS_pwritev, Always(Write), Descriptor),
    call(libc::SYS_pwritev2, Always(Write), Descriptor),
    call(libc::SYS_close, Always(Close), Descriptor),
    call(libc::SYS_fsync, Always(Fsync), Descriptor),
    call(libc::SYS_fdatasync, Always(Fsync), Descriptor),
    call(libc::SYS_syncfs, Always(Fsync), Descriptor),
    call(libc::SYS_sync_file_range, Always(Fsync), Descriptor),
    call(libc::SYS_sync, Always(Fsync), Everything),
    call(libc::SYS_fstat, Always(Stat), Descriptor),
    call(libc::SYS_newfstatat, Always(Stat), PathAt(0, 1)),
    call(libc::SYS_statx, Always(Stat), PathAt(0, 1)),
    call(libc::SYS_getdents64, Always(List), Descriptor),
    call(libc::SYS_renameat, Always(Rename), PathAt(0, 1)),
    call(libc::SYS_renameat2, Always(Rename), PathAt(0, 1)),
    call(libc::SYS_unlinkat, RemoveBy(2), PathAt(0, 1)),
    call(libc::SYS_mkdirat, Always(Mkdir), PathAt(0, 1)),
    call(libc::SYS_linkat, Always(Link), PathAt(2, 3)),
    call(libc::SYS_symlinkat, Always(Symlink), PathAt(1, 2)),
    call(libc::SYS_truncate, Always(Truncate), Path(0)),
    call(libc::SYS_ftruncate, Always(Truncate), Descriptor),
    call(libc::SYS_getxattr, Always(Xattr), Path(0)),
    call(libc::SYS_lgetxattr, Always(Xattr), Path(0)),
    call(libc::SYS_fgetxattr, Always(Xattr), Descriptor),
    call(libc::SYS_setxattr, Always(Xattr), Path(0)),
    call(libc::SYS_lsetxattr, Always(Xattr), Path(0)),
    call(libc::SYS_fsetxattr, Always(Xattr), Descriptor),
    call(libc::SYS_listxattr, Always(Xattr), Path(0)),
    call(libc::SYS_llistxattr, Always(Xattr), Path(0)),
    call(libc::SYS_flistxattr, Always(Xattr), Descriptor),
    call(libc::SYS_removexattr, Always(Xattr), Path(0)),
    call(libc::SYS_lremovexattr, Always(Xattr), Path(0)),
    call(libc::SYS_fremovexattr, Always(Xattr), Descriptor),
    call(libc::SYS_faccessat, Always(Access), PathAt(0, 1)),
    call(libc::SYS_faccessat2, Always(Access), PathAt(0, 1)),
    call(libc::SYS_readlinkat, Always(Readlink), PathAt(0, 1)),
    call(libc::SYS_fchmod, Always(Chmod), Descriptor),
    call(libc::SYS_fchmodat, Always(Chmod), PathAt(0, 1)),
    call(FCHMODAT2, Always(Chmod), PathAt(0, 1)),
    call(libc::SYS_fchown, Always(Chown), Descriptor),
    call(libc::SYS_fchownat, Always(Chown), PathAt(0, 1)),
    call(libc::SYS_utimensat, Always(Utime), PathAt(0, 1)),
    call(libc::SYS_copy_file_range, Always(TracedOperation::Copy), Descriptor),
    call(libc::SYS_sendfile, Always(TracedOperation::Copy), Descriptor),
    call(libc::SYS_fallocate, Always(Fallocate), Descriptor),
];

/// fchmodat2(2), which not every list of calls has; its number is the same on all processors.
const FCHMODAT2: c_long = 452;

/// Those that only older processors have.
#[cfg(target_arch = "x86_64")]
const OLDER_CALLS: [TracedCall; 19] = [
    call(libc::SYS_open, OpenBy(1), Path(0)),
    call(libc::SYS_creat, Always(Create), Path(0)),
    call(libc::SYS_stat, Always(Stat), Path(0)),
    call(libc::SYS_lstat, Always(Stat), Path(0)),
    call(libc::SYS_rename, Always(Rename), Path(0)),
    call(libc::SYS_unlink, Always(Unlink), Path(0)),
    call(libc::SYS_mkdir, Always(Mkdir), Path(0)),
    call(libc::SYS_rmdir, Always(Rmdir), Path(0)),
    call(libc::SYS_link, Always(Link), Path(1)),
    call(libc::SYS_symlink, Always(Symlink), Path(1)),
    call(libc::SYS_getdents, Always(List), Descriptor),
    call(libc::SYS_access, Always(Access), Path(0)),
    call(libc::SYS_readlink, Always(Readlink), Path(0)),
    call(libc::SYS_chmod, Always(Chmod), Path(0)),
    call(libc::SYS_chown, Always(Chown), Path(0)),
    call(libc::SYS_lchown, Always(Chown), Path(0)),
    call(libc::SYS_utime, Always(Utime), Path(0)),
    call(libc::SYS_utimes, Always(Utime), Path(0)),
    call(libc::SYS_futimesat, Always(Utime), PathAt(0, 1)),
];

#[cfg(not(target_arch = "x86_64"))]
const OLDER_CALLS: [TracedCall; 0] = [];

/// All of them.
pub(super) fn calls() -> impl Iterator<Item = TracedCall> {
    CALLS.into_iter().chain(OLDER_CALLS)
}
