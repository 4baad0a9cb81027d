//! Drops the page cache, and finds how much of a file is in it. Asking touches no disk and warms nothing.
//!
//! A cold phase is prepared thus: open a sample of its files, [`drop_all`], ask for the residency
//! of the files still open, close them, [`drop_names`].
#![expect(unsafe_code, reason = "system calls that no safe wrapper has")]

use std::fs::File;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::ptr;

use linux_raw_sys::general::{__NR_cachestat, cachestat, cachestat_range};
use rustix::fs::{Advice, MemfdFlags, Mode, OFlags, ResolveFlags};
use rustix::mm::{MapFlags, ProtFlags};
use rustix::path::Arg;

use crate::errno;
use boatload_base::errno::Errno;
use boatload_base::failed_calls::note;
use boatload_base::files::{place_of, uninterrupted, write_all};
use boatload_base::named_enum;

/// mincore(2) is asked for this much of a file at a time, so that the answer stays small.
const MINCORE_STEP_BYTES: u64 = 64 << 20;

/// The number of a file's pages that are in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Residency {
    /// Pages in the page cache, dirty ones included.
    pub resident_pages: u64,
    /// Pages the file has; 0 for an empty file.
    pub pages: u64,
}

named_enum! {
    /// How the page cache can be looked into.
    pub enum CacheProbe {
        /// By cachestat(2). It fails with `EPERM` for files this process neither owns nor may write.
        Cachestat = "cachestat",
        /// By mincore(2) on a mapping. For files this process neither owns nor may write the kernel
        /// says that all is resident, since Linux 5.2: a false alarm, never a false proof.
        Mincore = "mincore",
        /// Not at all.
        None = "none",
    }
}

impl CacheProbe {
    /// The best one that works in this kernel, tried out on memory.
    pub fn detect() -> Self {
        let canary = rustix::fs::memfd_create(c"boatload-canary", MemfdFlags::CLOEXEC)
            .and_then(|fd| rustix::io::pwrite(&fd, b"seen", 0).map(|_| fd));
        canary.map_or(Self::None, |fd| Self::seeing(fd.as_fd(), 4))
    }

    /// The best one that sees a file of `len_bytes` that was just written, and so must be in
    /// memory. A proof needs this on the file system in question, for some keep pages where a
    /// probe does not look, and a blind probe would call everything cold: on overlayfs cachestat
    /// counts none of the pages that mincore sees (Linux 6.18), and ZFS has a cache of its own.
    pub fn seeing(canary: BorrowedFd<'_>, len_bytes: u64) -> Self {
        let sees = |probe: &Self| {
            let found = probe.resident(canary, len_bytes);
            found.is_ok_and(|found| found.pages > 0 && found.resident_pages == found.pages)
        };
        [Self::Cachestat, Self::Mincore].into_iter().find(sees).unwrap_or(Self::None)
    }

    /// How many pages of the first `len_bytes` of a file are in memory.
    ///
    /// # Errors
    /// `ENOSYS` where the kernel lacks the call, `EPERM` where it may not be asked of this file,
    /// `EACCES` if mincore is to look into a file not open for reading.
    pub fn resident(self, fd: BorrowedFd<'_>, len_bytes: u64) -> Result<Residency, Errno> {
        let pages = len_bytes.div_ceil(rustix::param::page_size() as u64);
        if pages == 0 && self != Self::None {
            return Ok(Residency::default());
        }
        let resident_pages = match self {
            Self::Cachestat => cached_pages(fd, len_bytes)?,
            Self::Mincore => mincore(fd, len_bytes)?,
            Self::None => return Err(Errno::ENOSYS),
        };
        Ok(Residency { resident_pages: resident_pages.min(pages), pages })
    }

    /// The share of all pages of a sample, open files with their lengths in bytes, that is in
    /// memory, from 0 to 1. `None` if there is no page to look at, or if one file cannot be looked
    /// into: part of a sample proves nothing.
    pub fn resident_fraction<F: AsFd>(self, sample: &[(F, u64)]) -> Option<f64> {
        let mut all = Residency::default();
        for (file, len_bytes) in sample {
            let unseen = |error: &Errno| note(self.as_str(), || place_of(file), *error);
            let one = self.resident(file.as_fd(), *len_bytes);
            let one = if self == Self::None { one } else { one.inspect_err(unseen) }.ok()?;
            all.resident_pages += one.resident_pages;
            all.pages += one.pages;
        }
        (all.pages > 0).then(|| all.resident_pages as f64 / all.pages as f64)
    }
}

/// Whether a name below an open directory, with all on the way to it, is in the kernel's memory, and
/// with it the inode. Asking reads nothing and brings nothing in (`RESOLVE_CACHED` of openat2(2),
/// Linux 5.12).
///
/// # Errors
/// `EINVAL` or `ENOSYS` in older kernels, and what else openat2(2) says but `EAGAIN`.
pub fn name_is_cached(directory: BorrowedFd<'_>, name: impl Arg) -> Result<bool, Errno> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match rustix::fs::openat2(directory, name, flags, Mode::empty(), ResolveFlags::CACHED) {
        Ok(_) => Ok(true),
        Err(rustix::io::Errno::AGAIN) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Pages in the cache, by cachestat(2), which Linux has since 6.5. A length of 0 would mean "to the end
/// of the file".
fn cached_pages(fd: BorrowedFd<'_>, len_bytes: u64) -> Result<u64, Errno> {
    let range = cachestat_range { off: 0, len: len_bytes };
    let mut found = MaybeUninit::<cachestat>::zeroed();
    let (number, flags) = (libc::c_long::from(__NR_cachestat), 0 as libc::c_uint);
    let (fd, answer) = (fd.as_raw_fd(), found.as_mut_ptr());
    // SAFETY: the descriptor is open for as long as it is borrowed; both structs have the kernel's
    // layout, live through the call, and the kernel writes only into the second.
    let code = unsafe { libc::syscall(number, fd, ptr::from_ref(&range), answer, flags) };
    if code < 0 {
        return Err(last_error());
    }
    // SAFETY: five numbers, for which zeros are valid, whatever the kernel has written.
    Ok(unsafe { found.assume_init() }.nr_cache)
}

fn mincore(fd: BorrowedFd<'_>, len_bytes: u64) -> Result<u64, Errno> {
    let mut states = Vec::new();
    let mut resident = 0;
    for offset in (0..len_bytes).step_by(MINCORE_STEP_BYTES as usize) {
        let len = (len_bytes - offset).min(MINCORE_STEP_BYTES) as usize;
        states.resize(len.div_ceil(rustix::param::page_size()), 0);
        mincore_step(fd, offset, len, &mut states)?;
        // Only the lowest bit is defined.
        resident += states.iter().filter(|state| **state & 1 == 1).count() as u64;
    }
    Ok(resident)
}

/// Asks for `len` bytes from `offset`, a multiple of the page size; one state for each page.
fn mincore_step(
    fd: BorrowedFd<'_>,
    offset: u64,
    len: usize,
    states: &mut [u8],
) -> Result<(), Errno> {
    let (protection, flags) = (ProtFlags::READ, MapFlags::SHARED);
    // SAFETY: the kernel chooses an address that nothing else uses, and the mapping is never read.
    let start = unsafe { rustix::mm::mmap(ptr::null_mut(), len, protection, flags, fd, offset) }?;
    // SAFETY: the mapping is `len` bytes long and `states` has a byte for each of its pages.
    let code = unsafe { libc::mincore(start, len, states.as_mut_ptr()) };
    let result = if code < 0 { Err(last_error()) } else { Ok(()) };
    // SAFETY: the mapping was made above with this length, and nothing refers to it.
    unsafe { rustix::mm::munmap(start, len) }?;
    result
}

fn last_error() -> Errno {
    errno(&std::io::Error::last_os_error())
}

/// Where the kernel takes orders to drop clean caches (proc_sys_vm(5)).
const DROP_CACHES: &str = "/proc/sys/vm/drop_caches";

/// Whether this process may drop the kernel's caches: the file is opened, and nothing written.
pub fn can_drop() -> bool {
    open_drop().is_ok()
}

/// Number of drops in a row: some caches (the buffers of xfs) only age at a drop and go at the next.
const DROPS: usize = 3;

/// Writes everything out, then drops cached contents, names and inodes. Only clean pages can be
/// dropped, hence the sync(2) first. It concerns every file system of the machine.
///
/// # Errors
/// `EACCES`, `EPERM` or `EROFS` without the right to it.
pub fn drop_all() -> Result<(), Errno> {
    let orders = open_drop()?;
    (0..DROPS).try_for_each(|_| {
        rustix::fs::sync();
        give(&orders, b"3\n")
    })
}

/// Drops cached names and inodes (dentries), and what only they kept in memory.
pub fn drop_names() -> Result<(), Errno> {
    give(&open_drop()?, b"2\n")
}

/// Puts one file's pages out of the cache, as far as an ordinary user can: writes them out, then
/// advises that they are not needed (posix_fadvise(2)). Pages that are mapped or locked by
/// others stay, and so do names and inodes: this is no proof of a cold file.
pub fn evict(fd: BorrowedFd<'_>) -> Result<(), Errno> {
    rustix::fs::fdatasync(fd)?;
    rustix::fs::fadvise(fd, 0, None, Advice::DontNeed)?;
    Ok(())
}

fn open_drop() -> Result<File, Errno> {
    let flags = OFlags::WRONLY | OFlags::CLOEXEC;
    Ok(uninterrupted(|| rustix::fs::open(DROP_CACHES, flags, Mode::empty()))?.into())
}

fn give(file: &File, order: &[u8]) -> Result<(), Errno> {
    write_all(file, order).map_err(|error| errno(&error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::OwnedFd;

    fn memory(pages_written: u64, len_bytes: u64) -> OwnedFd {
        let fd = rustix::fs::memfd_create(c"test", MemfdFlags::CLOEXEC).unwrap();
        rustix::fs::ftruncate(&fd, len_bytes).unwrap();
        for page in 0..pages_written {
            let at = page * rustix::param::page_size() as u64;
            assert_eq!(rustix::io::pwrite(&fd, b"x", at).unwrap(), 1);
        }
        fd
    }

    fn working() -> impl Iterator<Item = CacheProbe> {
        let fd = memory(1, 1);
        [CacheProbe::Cachestat, CacheProbe::Mincore]
            .into_iter()
            .filter(move |probe| probe.resident(fd.as_fd(), 1) != Err(Errno::ENOSYS))
    }

    #[test]
    fn written_pages_are_resident_and_holes_are_not() {
        let page = rustix::param::page_size() as u64;
        let half = memory(5, 10 * page);
        for probe in working() {
            let found = probe.resident(half.as_fd(), 10 * page).unwrap();
            assert_eq!(found, Residency { resident_pages: 5, pages: 10 }, "{probe:?}");
            let tail = probe.resident(half.as_fd(), 4 * page + 1).unwrap();
            assert_eq!(tail, Residency { resident_pages: 5, pages: 5 }, "{probe:?}");
        }
    }

    #[test]
    fn a_file_longer_than_one_step_of_mincore_is_counted_whole() {
        let page = rustix::param::page_size() as u64;
        let long = memory(3, 2 * MINCORE_STEP_BYTES + page);
        rustix::io::pwrite(&long, b"x", 2 * MINCORE_STEP_BYTES).unwrap();
        for probe in working() {
            let found = probe.resident(long.as_fd(), 2 * MINCORE_STEP_BYTES + page).unwrap();
            assert_eq!(found.resident_pages, 4, "{probe:?}");
        }
    }

    #[test]
    fn an_empty_file_has_no_pages_and_an_empty_sample_no_fraction() {
        let page = rustix::param::page_size() as u64;
        let (empty, full, hole) = (memory(0, 0), memory(1, page), memory(0, page));
        for probe in working() {
            assert_eq!(probe.resident(empty.as_fd(), 0), Ok(Residency::default()));
            assert_eq!(probe.resident_fraction(&[(&empty, 0)]), None);
            assert_eq!(probe.resident_fraction::<OwnedFd>(&[]), None);
            let sample = [(&full, page), (&empty, 0), (&hole, page)];
            assert_eq!(probe.resident_fraction(&sample), Some(0.5));
        }
        assert_eq!(CacheProbe::None.resident_fraction(&[(&full, page)]), None);
    }

    #[test]
    fn a_file_that_cannot_be_looked_into_spoils_the_proof() {
        let page = rustix::param::page_size() as u64;
        let (pipe, _other_end) = std::io::pipe().unwrap();
        let sample = [(memory(1, page), page), (OwnedFd::from(pipe), page)];
        assert_eq!(CacheProbe::Mincore.resident_fraction(&sample), None);
    }

    #[test]
    fn a_probe_that_does_not_see_the_canary_is_not_chosen() {
        let page = rustix::param::page_size() as u64;
        assert_eq!(CacheProbe::seeing(memory(0, page).as_fd(), page), CacheProbe::None);
        assert_eq!(CacheProbe::seeing(memory(1, page).as_fd(), page), CacheProbe::detect());
    }
}
