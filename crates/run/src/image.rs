//! Keeps states of an image file as files of their own next to it, and restores them: by sharing their
//! blocks where the file system can (`FICLONE`, ioctl_ficlone(2)), else by copying what is not a hole.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{AtFlags, FallocateFlags};
use rustix::io::Errno as OsErrno;

use super::run_directory::{IMAGE, create_new, open_note};
use super::unread::{UnreadExtent, are_in_place};
use boatload_base::failure::{Failure, Result};
use boatload_base::names::{NameBuffer, NameKind};
use boatload_base::units::bytes;
use boatload_host::page_cache::evict;
use boatload_host::space::Space;

/// Bytes copied between two looks at whether the user wants to stop.
const STEP_BYTES: u64 = 16 << 20;

/// What statfs(2) calls tmpfs (`TMPFS_MAGIC` in linux/magic.h).
const TMPFS: i64 = 0x0102_1994;

/// An image in an open directory that only boatload writes to, with the states of it that are kept.
pub struct ImageFile {
    file: File,
    directory: OwnedFd,
    bytes: u64,
}

/// What is copied, until it is to stop.
struct ImageCopy<'a> {
    left_out: &'a [UnreadExtent],
    left_out_before: &'a [UnreadExtent],
    /// Whether it takes room that nothing took before.
    is_new: bool,
    stop: &'a AtomicBool,
}

impl ImageFile {
    /// A new image of `bytes` bytes without a block of its own yet.
    ///
    /// # Errors
    /// If there is one, or it cannot be so large.
    pub fn make(directory: OwnedFd, bytes: u64) -> std::io::Result<Self> {
        let file = create_new(directory.as_fd(), IMAGE)?;
        rustix::fs::ftruncate(&file, bytes)?;
        Ok(Self { file: file.into(), directory, bytes })
    }

    /// The open image.
    pub fn file(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// Makes one hole of it.
    ///
    /// # Errors
    /// Of the file system that it lies on.
    pub fn clear(&self) -> std::io::Result<()> {
        clear(&self.file, self.bytes)
    }

    /// Keeps what the image holds as state `number`, on the disk when this returns; where blocks are copied,
    /// without the unread extents, which are in the order of the image.
    ///
    /// # Errors
    /// If it cannot be written, or was interrupted; then the state is not kept.
    pub fn keep(&self, number: u64, unread: &[UnreadExtent], stop: &AtomicBool) -> Result<()> {
        let kept =
            create_new(self.directory.as_fd(), NameBuffer::of(NameKind::Image, number).as_c_str());
        let kept = File::from(kept.map_err(|error| cannot("keep an image", error))?);
        let unread = if are_in_place(self.file(), unread) { unread } else { &[] };
        let copy = ImageCopy { left_out: unread, left_out_before: &[], is_new: true, stop };
        let copied = self.copy(&self.file, &kept, &copy);
        drop(kept);
        copied.map_err(|error| {
            let _ = self.remove(number);
            cannot("keep an image", error)
        })
    }

    /// Brings the image back to state `number`, on the disk when this returns; unread extents have blocks again,
    /// and no contents.
    ///
    /// # Errors
    /// If it cannot be read or written, or was interrupted; then the image holds neither state.
    pub fn restore(&self, number: u64, unread: &[UnreadExtent], stop: &AtomicBool) -> Result<()> {
        let kept =
            open_note(self.directory.as_fd(), NameBuffer::of(NameKind::Image, number).as_c_str());
        let kept = kept.map_err(|error| cannot("restore an image", error))?;
        let copy = ImageCopy { left_out: &[], left_out_before: unread, is_new: false, stop };
        let copied = self.copy(&kept.into(), &self.file, &copy);
        copied.map_err(|error| cannot("restore an image", error))
    }

    /// Removes state `number`.
    ///
    /// # Errors
    /// If it is not there, or cannot be removed.
    pub fn remove(&self, number: u64) -> Result<()> {
        rustix::fs::unlinkat(
            &self.directory,
            NameBuffer::of(NameKind::Image, number).as_c_str(),
            AtFlags::empty(),
        )
        .map_err(|error| cannot("remove a kept image", error))
    }

    /// Whether a copy of these ranges leaves as much free as boatload leaves others. On a file system without holes all of
    /// an image is data, many times the estimate. Memory is watched elsewhere.
    fn check_room(&self, copied: &[Range<u64>]) -> std::io::Result<()> {
        let kind = rustix::fs::fstatfs(&self.directory)?.f_type;
        let wanted: u64 = copied.iter().map(|range| range.end - range.start).sum();
        let space = Space::of(self.directory.as_fd())
            .map_err(|errno| std::io::Error::from_raw_os_error(errno.0))?;
        let is_short = space.available_bytes < wanted.saturating_add(space.reserve_bytes());
        match is_short && space.is_stated() {
            true if kind != TMPFS => {
                let [wanted, reserve, left] =
                    [wanted, space.reserve_bytes(), space.available_bytes].map(bytes);
                Err(std::io::Error::other(format!(
                    "it takes {wanted}, {reserve} more stay free as a reserve, and {left} are available"
                )))
            }
            _ => Ok(()),
        }
    }

    /// Makes `to` hold what `from` holds but for what is left out, and nothing else; what was left out before has
    /// blocks again.
    fn copy(&self, from: &File, to: &File, copy: &ImageCopy<'_>) -> std::io::Result<()> {
        if rustix::fs::ioctl_ficlone(to, from).is_err() {
            let ranges = |extents: &[UnreadExtent]| -> Vec<Range<u64>> {
                extents.iter().map(UnreadExtent::range).collect()
            };
            let data = data_of(from, self.bytes)?;
            let copied = without(&data, &ranges(copy.left_out));
            if copy.is_new {
                self.check_room(&copied)?;
            }
            to.set_len(self.bytes)?;
            clear(to, self.bytes)?;
            if !copy.left_out_before.is_empty() {
                allocate(to, &data, &ranges(copy.left_out_before));
            }
            for range in copied {
                copy_range(from, to, range, copy.stop)?;
            }
        }
        to.sync_all()?;
        // Neither may lie in memory when something is measured on a cold one.
        let evicted = evict(from.as_fd()).and_then(|()| evict(to.as_fd()));
        evicted.map_err(|errno| std::io::Error::from_raw_os_error(errno.0))
    }
}

/// What is not a hole in the first `bytes` bytes, in order.
fn data_of(file: &File, bytes: u64) -> std::io::Result<Vec<Range<u64>>> {
    let (mut data, mut end) = (Vec::new(), 0);
    while let Some(first) = next(file, rustix::fs::SeekFrom::Data(end))? {
        end = next(file, rustix::fs::SeekFrom::Hole(first))?.unwrap_or(bytes);
        data.push(first..end);
    }
    Ok(data)
}

/// Allocates the blocks of all these ranges from the first to the last, so that what is copied does not lie closer
/// together than it did: a disk's head would find it faster. Where that cannot be done, it does without.
fn allocate(file: &File, data: &[Range<u64>], unread: &[Range<u64>]) {
    let mut all: Vec<&Range<u64>> = data.iter().chain(unread).collect();
    all.sort_unstable_by_key(|range| range.start);
    for together in all.chunk_by(|one, next| one.end >= next.start) {
        let (Some(first), Some(last)) = (together.first(), together.last()) else { continue };
        let bytes = last.end.saturating_sub(first.start);
        let _ = rustix::fs::fallocate(file, FallocateFlags::KEEP_SIZE, first.start, bytes);
    }
}

/// What of these ranges is not in any of those, both in order and without overlaps.
fn without(all: &[Range<u64>], left_out: &[Range<u64>]) -> Vec<Range<u64>> {
    let (mut rest, mut at) = (Vec::new(), 0);
    for range in all {
        let mut first = range.start;
        while let Some(gap) = left_out.get(at).filter(|gap| gap.start < range.end) {
            if first < gap.start {
                rest.push(first..gap.start);
            }
            first = first.max(gap.end);
            if gap.end > range.end {
                break;
            }
            at += 1;
        }
        if first < range.end {
            rest.push(first..range.end);
        }
    }
    rest
}

/// Copies a range of bytes.
fn copy_range(from: &File, to: &File, range: Range<u64>, stop: &AtomicBool) -> std::io::Result<()> {
    for at in range.clone().step_by(STEP_BYTES as usize) {
        if stop.load(Ordering::Relaxed) {
            return Err(std::io::ErrorKind::Interrupted.into());
        }
        let (mut from, mut to) = (from, to);
        from.seek(SeekFrom::Start(at))?;
        to.seek(SeekFrom::Start(at))?;
        // The kernel copies from file to file (copy_file_range(2)) where it can.
        std::io::copy(&mut from.take(STEP_BYTES.min(range.end - at)), &mut to)?;
    }
    Ok(())
}

fn clear(file: &File, bytes: u64) -> std::io::Result<()> {
    let holes = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    if rustix::fs::fallocate(file, holes, 0, bytes).is_err() {
        file.set_len(0)?;
        file.set_len(bytes)?;
    }
    Ok(())
}

/// Where the next data or the next hole begins; none behind the last data.
fn next(file: &File, from: rustix::fs::SeekFrom) -> std::io::Result<Option<u64>> {
    match rustix::fs::seek(file, from) {
        Ok(at) => Ok(Some(at)),
        Err(OsErrno::NXIO) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn cannot(doing: &str, error: impl Into<std::io::Error>) -> Failure {
    let error = error.into();
    match error.kind() {
        std::io::ErrorKind::Interrupted => Failure::interrupted("interrupted"),
        _ => Failure::from_system(format!("{doing} in the run's directory"), error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{FileExt, MetadataExt};

    const BYTES: u64 = 8 << 20;

    fn image() -> (tempfile::TempDir, ImageFile) {
        let directory = tempfile::tempdir().unwrap();
        let open = File::open(directory.path()).unwrap();
        let image = ImageFile::make(open.into(), BYTES).unwrap();
        (directory, image)
    }

    fn byte_at(file: &File, at: u64) -> u8 {
        let mut byte = [0];
        file.read_exact_at(&mut byte, at).unwrap();
        byte[0]
    }

    #[test]
    fn an_image_is_restored_to_each_state_that_was_kept_and_holes_stay_holes() {
        let (directory, image) = image();
        let go_on = AtomicBool::new(false);
        image.file.write_all_at(&[1; 4096], 0).unwrap();
        image.keep(1, &[], &go_on).unwrap();
        image.file.write_all_at(&[2; 4096], 5 << 20).unwrap();
        image.keep(2, &[], &go_on).unwrap();
        image.file.write_all_at(&[3; 4096], 0).unwrap();
        for (state, first, later) in [(1, 1, 0), (2, 1, 2), (1, 1, 0)] {
            image.restore(state, &[], &go_on).unwrap();
            assert_eq!((byte_at(&image.file, 0), byte_at(&image.file, 5 << 20)), (first, later));
        }
        let metadata = image.file.metadata().unwrap();
        assert_eq!(metadata.len(), BYTES);
        assert!(metadata.blocks() * 512 < BYTES / 2, "{} blocks", metadata.blocks());
        image.remove(1).unwrap();
        let names = std::fs::read_dir(directory.path()).unwrap();
        let mut names: Vec<_> = names.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["i0000000002", IMAGE]);
    }

    #[test]
    fn what_is_unread_is_not_copied_unless_the_image_holds_something_else_there() {
        let go_on = AtomicBool::new(false);
        let run = |number: u64, stamp| UnreadExtent { first: number << 20, length: 1 << 20, stamp };
        for (stamp_there, copied) in [([7; 16], false), ([8; 16], true)] {
            let (directory, image) = image();
            image.file.write_all_at(&vec![7; 4 << 20], 0).unwrap();
            image.keep(1, &[run(1, [7; 16]), run(2, stamp_there)], &go_on).unwrap();
            let kept = File::open(directory.path().join("i0000000001")).unwrap();
            assert_eq!([0, 3].map(|at| byte_at(&kept, (at << 20) + 5000)), [7, 7]);
            // Where blocks are shared nothing is left out.
            let shared = rustix::fs::ioctl_ficlone(image.file(), &kept).is_ok();
            let byte = if copied || shared { 7 } else { 0 };
            assert_eq!([1, 2].map(|at| byte_at(&kept, (at << 20) + 5000)), [byte; 2], "{copied}");
            image.restore(1, &[run(1, [7; 16]), run(2, [7; 16])], &go_on).unwrap();
            assert_eq!([0, 3].map(|at| byte_at(&image.file, (at << 20) + 5000)), [7, 7]);
            let blocks = image.file.metadata().unwrap().blocks();
            assert!(blocks * 512 >= 4 << 20, "{blocks} blocks: unread extents have none");
        }
    }

    #[test]
    fn what_is_left_out_may_begin_and_end_inside_of_what_there_is_or_beyond_it() {
        let all = [10..20, 30..40, 50..60];
        assert_eq!(without(&all, &[]), all);
        assert_eq!(without(&all, &[0..5, 20..30, 60..70]), all);
        assert_eq!(without(&all, &[12..14, 16..33, 38..55]), [10..12, 14..16, 33..38, 55..60]);
        assert_eq!(without(&all, std::slice::from_ref(&(0..100))), []);
    }

    #[test]
    fn an_interrupted_copy_leaves_no_state() {
        let (directory, image) = image();
        image.file.write_all_at(&[1; 4096], 0).unwrap();
        let kept = image.keep(1, &[], &AtomicBool::new(true));
        // Where blocks are shared nothing takes long enough to be interrupted.
        let left = std::fs::read_dir(directory.path()).unwrap().count();
        assert!(kept.is_ok() && left == 2 || kept.is_err() && left == 1, "{kept:?}, {left} left");
    }
}
