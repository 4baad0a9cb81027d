//! Keeps states of an image file, and restores them. Beside an image on a disk they are files of their own:
//! blocks are shared where the file system can (`FICLONE`, ioctl_ficlone(2)), else all but holes is copied. States of
//! an image in memory are memory of this process: each drop of the caches looks at all pages of files there.

use std::collections::BTreeMap;
use std::fs::File;
use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{AtFlags, FallocateFlags, Mode, OFlags, SeekFrom};
use rustix::io::Errno as OsErrno;

use super::run_directory::IMAGE;
use crate::base::failure::{Failure, Result};
use crate::base::names::{Name, NameBuffer, NameKind};
use crate::host::page_cache::evict;

/// Bytes copied between two looks at whether the user wants to stop: few enough to stay in a processor's cache.
const STEP_BYTES: usize = 512 << 10;

/// An image in an open directory that only boatload writes to, with the states of it that are kept.
pub struct ImageFile {
    file: File,
    directory: OwnedFd,
    bytes: u64,
    /// The states of an image in memory; none of one on a disk, where they are files.
    in_memory: Option<BTreeMap<u64, StateInMemory>>,
}

/// All data of an image.
struct StateInMemory {
    /// Where it lies in the image.
    ranges: Vec<Range<u64>>,
    /// What lies there, one range after the other.
    content: Vec<u8>,
}

impl ImageFile {
    /// A new image of so many bytes without a block of its own yet, in a directory that lies in memory or not.
    ///
    /// # Errors
    /// If there is one, or it cannot be so large.
    pub fn make(directory: OwnedFd, bytes: u64, in_memory: bool) -> std::io::Result<Self> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&directory, IMAGE, flags, Mode::RUSR | Mode::WUSR)?;
        rustix::fs::ftruncate(&file, bytes)?;
        Ok(Self { file: file.into(), directory, bytes, in_memory: in_memory.then(BTreeMap::new) })
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

    /// Keeps what the image holds as state `number`, on the disk when this returns.
    ///
    /// # Errors
    /// If it cannot be written, or was interrupted; then the state is not kept.
    pub fn keep(&mut self, number: u64, stop: &AtomicBool) -> Result<()> {
        if let Some(states) = &mut self.in_memory {
            let state = StateInMemory::of(&self.file, self.bytes, stop);
            states.insert(number, state.map_err(|error| failed_to("keep an image", &error))?);
            return Ok(());
        }
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let mode = Mode::RUSR | Mode::WUSR;
        let kept = rustix::fs::openat(&self.directory, name_of(number).as_c_str(), flags, mode);
        let kept = kept.map_err(|error| cannot("keep an image", error))?;
        let copied = rustix::fs::ftruncate(&kept, self.bytes).map_err(std::io::Error::from);
        let copied = copied.and_then(|()| self.copy(&self.file, &kept.into(), stop));
        copied.map_err(|error| {
            let _ = self.remove(number);
            failed_to("keep an image", &error)
        })
    }

    /// Brings the image back to state `number`, on the disk when this returns.
    ///
    /// # Errors
    /// If it cannot be read or written, or was interrupted; then the image holds neither state.
    pub fn restore(&self, number: u64, stop: &AtomicBool) -> Result<()> {
        if let Some(state) = self.in_memory.as_ref().and_then(|states| states.get(&number)) {
            let restored = state.restore(&self.file, self.bytes, stop);
            return restored.map_err(|error| failed_to("restore an image", &error));
        }
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut name = name_of(number);
        let kept = rustix::fs::openat(&self.directory, name.as_c_str(), flags, Mode::empty());
        let kept = kept.map_err(|error| cannot("restore an image", error))?;
        let copied = self.copy(&kept.into(), &self.file, stop);
        copied.map_err(|error| failed_to("restore an image", &error))
    }

    /// Removes state `number`.
    ///
    /// # Errors
    /// If it is not there, or cannot be removed.
    pub fn remove(&mut self, number: u64) -> Result<()> {
        if let Some(states) = &mut self.in_memory {
            states.remove(&number);
            return Ok(());
        }
        rustix::fs::unlinkat(&self.directory, name_of(number).as_c_str(), AtFlags::empty())
            .map_err(|error| cannot("remove a kept image", error))
    }

    /// Makes `to` hold what `from` holds, and nothing else.
    fn copy(&self, from: &File, to: &File, stop: &AtomicBool) -> std::io::Result<()> {
        if rustix::fs::ioctl_ficlone(to, from).is_err() {
            match copy_data(from, to, self.bytes, stop) {
                // Where no hole can be made in a file, it can be made anew.
                Err(error) if error.kind() == std::io::ErrorKind::Unsupported => {
                    clear(to, self.bytes)?;
                    copy_data(from, to, self.bytes, stop)
                }
                copied => copied,
            }?;
        }
        to.sync_all()?;
        // Neither may lie in memory when something is measured on a cold one.
        let evicted = evict(from.as_fd()).and_then(|()| evict(to.as_fd()));
        evicted.map_err(|errno| std::io::Error::from_raw_os_error(errno.0))
    }
}

impl StateInMemory {
    /// What a file of so many bytes holds.
    fn of(file: &File, bytes: u64, stop: &AtomicBool) -> std::io::Result<Self> {
        let ranges = data_ranges(file, bytes)?;
        let data_bytes = ranges.iter().map(|range| range.end - range.start).sum::<u64>();
        let mut content = Vec::new();
        content.try_reserve_exact(data_bytes as usize).map_err(std::io::Error::other)?;
        for range in &ranges {
            for step in steps(range) {
                check_stop(stop)?;
                let begins = content.len();
                content.resize(begins + (step.end - step.start) as usize, 0);
                file.read_exact_at(&mut content[begins..], step.start)?;
            }
        }
        Ok(Self { ranges, content })
    }

    /// Makes a file hold this and nothing else.
    fn restore(&self, file: &File, bytes: u64, stop: &AtomicBool) -> std::io::Result<()> {
        let (mut end, mut content) = (0, self.content.as_slice());
        for range in &self.ranges {
            make_hole(file, end..range.start)?;
            for step in steps(range) {
                check_stop(stop)?;
                let (data, rest) = content.split_at((step.end - step.start) as usize);
                file.write_all_at(data, step.start)?;
                content = rest;
            }
            end = range.end;
        }
        make_hole(file, end..bytes)
    }
}

/// Copies a file of so many bytes over another: data over what is there, for to free blocks and to allocate others
/// takes longer than to copy, and holes over data.
fn copy_data(from: &File, to: &File, bytes: u64, stop: &AtomicBool) -> std::io::Result<()> {
    let mut buffer = vec![0; STEP_BYTES];
    let mut end = 0;
    for range in data_ranges(from, bytes)? {
        make_hole(to, end..range.start)?;
        for step in steps(&range) {
            check_stop(stop)?;
            let data = &mut buffer[..(step.end - step.start) as usize];
            from.read_exact_at(data, step.start)?;
            to.write_all_at(data, step.start)?;
        }
        end = range.end;
    }
    make_hole(to, end..bytes)
}

/// Where a file of so many bytes has data.
fn data_ranges(file: &File, bytes: u64) -> std::io::Result<Vec<Range<u64>>> {
    let (mut ranges, mut end) = (Vec::new(), 0);
    while let Some(first) = next(file, SeekFrom::Data(end))?.filter(|first| *first < bytes) {
        end = next(file, SeekFrom::Hole(first))?.unwrap_or(bytes).min(bytes);
        ranges.push(first..end);
    }
    Ok(ranges)
}

/// Its parts that are copied one at a time.
fn steps(range: &Range<u64>) -> impl Iterator<Item = Range<u64>> {
    let end = range.end;
    let step_bytes = STEP_BYTES as u64;
    range.clone().step_by(STEP_BYTES).map(move |at| at..end.min(at + step_bytes))
}

fn check_stop(stop: &AtomicBool) -> std::io::Result<()> {
    if stop.load(Ordering::Relaxed) {
        return Err(std::io::ErrorKind::Interrupted.into());
    }
    Ok(())
}

/// Makes a hole where there is data.
fn make_hole(file: &File, range: Range<u64>) -> std::io::Result<()> {
    let data = if range.is_empty() { None } else { next(file, SeekFrom::Data(range.start))? };
    if data.is_none_or(|data| data >= range.end) {
        return Ok(());
    }
    let holes = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    Ok(rustix::fs::fallocate(file, holes, range.start, range.end - range.start)?)
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
fn next(file: &File, from: SeekFrom) -> std::io::Result<Option<u64>> {
    match rustix::fs::seek(file, from) {
        Ok(at) => Ok(Some(at)),
        Err(OsErrno::NXIO) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn name_of(number: u64) -> NameBuffer {
    let mut name = NameBuffer::default();
    name.push(Name { kind: NameKind::Image, number, generation: 0 });
    name
}

fn cannot(doing: &str, error: OsErrno) -> Failure {
    failed_to(doing, &error.into())
}

fn failed_to(doing: &str, error: &std::io::Error) -> Failure {
    match error.kind() {
        std::io::ErrorKind::Interrupted => Failure::interrupted("interrupted"),
        _ => Failure::from_system(format!("{doing} in the run's directory"), error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BYTES: u64 = 8 << 20;

    fn image(in_memory: bool) -> (tempfile::TempDir, ImageFile) {
        let directory = tempfile::tempdir().unwrap();
        let open = File::open(directory.path()).unwrap();
        let image = ImageFile::make(open.into(), BYTES, in_memory).unwrap();
        (directory, image)
    }

    fn byte_at(file: &File, at: u64) -> u8 {
        let mut byte = [0];
        file.read_exact_at(&mut byte, at).unwrap();
        byte[0]
    }

    fn names_in(directory: &tempfile::TempDir) -> Vec<String> {
        let names = std::fs::read_dir(directory.path()).unwrap();
        let name = |entry: std::fs::DirEntry| entry.file_name().into_string().unwrap();
        let mut names: Vec<_> = names.map(|entry| name(entry.unwrap())).collect();
        names.sort();
        names
    }

    #[test]
    fn an_image_is_restored_to_each_state_that_was_kept_and_holes_stay_holes() {
        for in_memory in [false, true] {
            let (directory, mut image) = image(in_memory);
            let go_on = AtomicBool::new(false);
            image.file.write_all_at(&[1; 4096], 0).unwrap();
            image.keep(1, &go_on).unwrap();
            image.file.write_all_at(&[2; 4096], 5 << 20).unwrap();
            image.keep(2, &go_on).unwrap();
            image.file.write_all_at(&[3; 4096], 0).unwrap();
            image.file.write_all_at(&[3; 4096], BYTES - 4096).unwrap();
            for (state, first, later) in [(1, 1, 0), (2, 1, 2), (1, 1, 0)] {
                image.restore(state, &go_on).unwrap();
                let bytes = [0, 5 << 20, BYTES - 1].map(|at| byte_at(&image.file, at));
                assert_eq!(bytes, [first, later, 0], "{in_memory}");
            }
            let ranges = data_ranges(&image.file, BYTES).unwrap();
            assert!(ranges.iter().all(|range| range.end <= 1 << 20), "{ranges:?}");
            assert_eq!(image.file.metadata().unwrap().len(), BYTES);
            image.remove(1).unwrap();
            let left: &[&str] = if in_memory { &[IMAGE] } else { &["i0000000002", IMAGE] };
            assert_eq!(names_in(&directory), left);
            assert!(image.restore(1, &go_on).is_err());
        }
    }

    #[test]
    fn more_data_than_is_copied_at_a_time_is_restored_whole() {
        for in_memory in [false, true] {
            let (_directory, mut image) = image(in_memory);
            let go_on = AtomicBool::new(false);
            let content: Vec<u8> = (0..BYTES / 2).map(|at| (at / 4096 % 251) as u8 + 1).collect();
            image.file.write_all_at(&content, 1 << 20).unwrap();
            image.keep(1, &go_on).unwrap();
            image.file.write_all_at(&vec![0; BYTES as usize], 0).unwrap();
            image.restore(1, &go_on).unwrap();
            let mut found = vec![9; BYTES as usize];
            image.file.read_exact_at(&mut found, 0).unwrap();
            let (before, rest) = found.split_at(1 << 20);
            let (restored, behind) = rest.split_at(content.len());
            assert!(restored == content, "{in_memory}");
            assert!(before.iter().chain(behind).all(|byte| *byte == 0), "{in_memory}");
        }
    }

    #[test]
    fn an_interrupted_copy_leaves_no_state() {
        for in_memory in [false, true] {
            let (directory, mut image) = image(in_memory);
            image.file.write_all_at(&[1; 4096], 0).unwrap();
            let kept = image.keep(1, &AtomicBool::new(true));
            // Where blocks are shared nothing takes long enough to be interrupted.
            let left = names_in(&directory).len();
            assert!(
                kept.is_ok() && left == 2 || kept.is_err() && left == 1,
                "{kept:?}, {left} left"
            );
            assert_eq!(image.restore(1, &AtomicBool::new(false)).is_ok(), kept.is_ok());
        }
    }
}
