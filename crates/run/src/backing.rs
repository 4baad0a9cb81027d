//! Provides what file systems are made on, one after the other: an image behind a loop device, with or
//! without a modelled disk between them, a block device, or memory. It leaves nothing behind.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use rustix::fs::{AtFlags, Mode, OFlags};

use super::disk::{ModelledDisk, SOURCE};
use super::image::ImageFile;
use super::remove::{Removal, path_of, remove_own};
use super::run_directory::{DISK, IMAGE, MEMORY, MOUNT_POINT, RunDirectory, open_parent};
use super::unread::UnreadExtent;
use boatload_base::errno::Errno;
use boatload_base::failure::{Failure, Result, shown};
use boatload_base::named_enum;
use boatload_host::block;
use boatload_host::block_device::BlockDevice;
use boatload_host::erase::{Erasable, check_erasable, recheck_empty};
use boatload_host::fuse;
use boatload_host::loop_device::{FileNumbers, LoopDevice, backing_file};
use boatload_host::making::{self, CheckedState, Tool};
use boatload_host::mounts::{self, Mount};
use boatload_host::page_cache::{CacheProbe, Residency};
use boatload_plan::FileSystem;
use boatload_plan::disk::DiskModel;
use boatload_plan::filesystem::{
    FileSystemKind, Volume, VolumeSize, mkfs_arguments, mount_options,
};

/// Beside the image a file system in memory needs a little for itself.
const MEMORY_BESIDE_BYTES: u64 = 16 << 20;

/// One flush may leave a few pages that something else has in hand.
const FLUSHES_MAX: u32 = 5;

/// Checks this many times, with this pause after each, whether the pages of a device are gone: a program that reads it has one in
/// hand for a moment.
const LETS_GO_LOOKS: u32 = 200;
const LETS_GO_PAUSE: Duration = Duration::from_millis(20);

/// Pages of the device that may be in memory again at once: a scanner looks at its beginning.
const PAGES_LEFT_MAX: u64 = 16;

/// Attempts to unmount, each for half a second.
const UNMOUNTS_MAX: u32 = 10;

named_enum! {
    /// What a file system is made on.
    #[derive(Default)]
    pub enum MadeOn {
        /// An image behind a loop device.
        #[default]
        Image = "image",
        /// A block device.
        Device = "device",
        /// Memory, with or without an image in it.
        Memory = "memory",
    }
}

/// A place to make file systems on.
pub struct Backing {
    run_directory: Option<RunDirectory>,
    /// The run's directory, as users know it.
    path: PathBuf,
    base: Option<BackingDevice>,
    room: VolumeSize,
    mounted: bool,
    /// The disk that the modelled disk is now; none before it is known, and after its contents changed.
    disk_now: Option<Arc<DiskModel>>,
}

/// The modelled disk that an image is to lie behind.
#[derive(Clone, Copy)]
pub struct DiskOrder<'a> {
    /// The disk that it is at first.
    pub model: &'a DiskModel,
    /// Decides what models leave to chance.
    pub seed: u64,
    /// The most that its image and what is kept of it may take of memory; `None` if unknown.
    pub memory_bytes: Option<u64>,
}

enum BackingDevice {
    /// An image behind a loop device, and whether it lies in memory.
    Image { device: LoopDevice, file: ImageFile, in_memory: bool, disk: Option<ModelledDisk> },
    /// A device, and whether anything was written to it.
    Device { device: Erasable, written: bool },
}

impl BackingDevice {
    fn path(&self) -> &Path {
        match self {
            BackingDevice::Image { device, .. } => device.path(),
            BackingDevice::Device { device, .. } => &device.path,
        }
    }

    fn number(&self) -> (u32, u32) {
        match self {
            BackingDevice::Image { device, .. } => device.number(),
            BackingDevice::Device { device, .. } => device.number,
        }
    }
}

impl Backing {
    /// A place of the size of `room`, with all it needs in the marked directory `run_directory`; without
    /// anything asked, for file systems that need only be mounted. `kept_bytes` is what states of an
    /// image may take that are kept next to it. An image can lie behind a modelled disk.
    ///
    /// # Errors
    /// If it cannot be had; then nothing is left of it.
    pub fn make(
        run_directory: RunDirectory,
        directory: &Path,
        asked: Option<&Volume>,
        room: VolumeSize,
        kept_bytes: u64,
        disk: Option<DiskOrder<'_>>,
    ) -> Result<Self> {
        // For users only; what is done goes by open directories.
        let absolute = std::fs::canonicalize(directory).unwrap_or_else(|_| directory.to_path_buf());
        let path = absolute.join(run_directory.name());
        let run_directory = Some(run_directory);
        let mut place =
            Self { run_directory, path, base: None, room, mounted: false, disk_now: None };
        place.make_directory(MOUNT_POINT)?;
        let Some(asked) = asked else { return Ok(place) };
        place.base = Some(match asked {
            Volume::Image { .. } => {
                let directory = place.run_directory()?.directory().try_clone_to_owned();
                place.image(directory.map_err(cannot_make)?, false, disk)?
            }
            Volume::Memory { .. } => place.image_in_memory(kept_bytes, disk)?,
            Volume::Device { path, erase } => {
                BackingDevice::Device { device: check_erasable(path, erase)?, written: false }
            }
        });
        Ok(place)
    }

    fn run_directory(&self) -> Result<&RunDirectory> {
        self.run_directory.as_ref().ok_or_else(|| Failure::failed("the run's directory is closed"))
    }

    /// A path in the run's directory that leads there whatever becomes of the directories above it.
    fn inside(&self, name: &str) -> Result<PathBuf> {
        let directory = self.run_directory()?.directory().as_raw_fd();
        Ok(PathBuf::from(format!("/proc/self/fd/{directory}")).join(name))
    }

    /// Mounts in the run's directory; an error of the kernel names the path that users know.
    fn mount_inside(&self, source: &Path, kind: &str, name: &str, options: &str) -> Result<()> {
        let target = self.inside(name)?;
        let mounted = mounts::mount(source, kind, &target, options).map_err(|failure| {
            let known = shown(self.path.join(name));
            Failure { sentence: failure.sentence.replace(&shown(&target), &known), ..failure }
        });
        self.explained(mounted)
    }

    /// Unmounts in the run's directory; whoever only looks gets some seconds to let go.
    fn unmount_inside(&self, name: &str) -> Result<()> {
        let target = self.inside(name)?;
        let mut refused = None;
        for _ in 0..UNMOUNTS_MAX {
            match mounts::unmount(&target) {
                Ok(()) => return Ok(()),
                Err(errno) => refused = Some(errno),
            }
            if refused != Some(Errno::EBUSY) {
                break;
            }
        }
        let why = refused.map_or_else(String::new, |errno| errno.about());
        let point = shown(self.path.join(name));
        self.explained(Err(Failure::failed(format!("cannot unmount {point}: {why}"))))
    }

    fn make_directory(&self, name: &str) -> Result<()> {
        rustix::fs::mkdirat(self.run_directory()?.directory(), name, Mode::RWXU)
            .map_err(|error| Failure::from_system("make a directory to mount on", error))
    }

    fn image_in_memory(
        &self,
        kept_bytes: u64,
        disk: Option<DiskOrder<'_>>,
    ) -> Result<BackingDevice> {
        self.make_directory(MEMORY)?;
        let bytes = self.room.bytes.saturating_add(kept_bytes).saturating_add(MEMORY_BESIDE_BYTES);
        // Its image may be larger than memory; what runs over must find that full, and not the machine.
        let most = disk.and_then(|order| order.memory_bytes);
        let bytes = most.map_or(bytes, |most| bytes.min(most));
        let mount = |options: &str| {
            self.mount_inside(Path::new(SOURCE), "tmpfs", MEMORY, &format!("size={bytes}{options}"))
        };
        // What is swapped out takes the time of another disk; Linux before 6.4 cannot prevent it.
        mount(",noswap").or_else(|_| mount(""))?;
        let directory = open_parent(&self.inside(MEMORY)?);
        let made = directory.and_then(|directory| self.image(directory, true, disk));
        made.inspect_err(|_| {
            let _ = self.unmount_inside(MEMORY);
        })
    }

    /// An image without a block of its own yet, behind a loop device.
    fn image(
        &self,
        directory: OwnedFd,
        in_memory: bool,
        disk: Option<DiskOrder<'_>>,
    ) -> Result<BackingDevice> {
        let file = ImageFile::make(directory, self.room.bytes).map_err(cannot_make)?;
        let disk = disk.map(|order| self.disk_before(&file, order)).transpose()?;
        let open = disk.as_ref().and_then(ModelledDisk::file).unwrap_or_else(|| file.file());
        // What lies in memory is not kept there a second time.
        let device = LoopDevice::attach(open, true)?;
        if disk.is_some() && !device.direct_io() {
            return Err(Failure::failed(format!(
                "{} reads and writes the modelled disk through the page cache, in which its times \
                 would be lost: this kernel's FUSE or loop driver is too old for direct I/O",
                shown(device.path())
            )));
        }
        Ok(BackingDevice::Image { device, file, in_memory, disk })
    }

    /// A modelled disk whose contents are an image.
    fn disk_before(&self, image: &ImageFile, order: DiskOrder<'_>) -> Result<ModelledDisk> {
        self.make_directory(DISK)?;
        let DiskOrder { model, seed, .. } = order;
        ModelledDisk::start(model, seed, image.file(), self.room.bytes, &self.inside(DISK)?)
    }

    /// The modelled disk that everything lies on, if it lies on one.
    pub fn disk(&self) -> Option<&ModelledDisk> {
        match &self.base {
            Some(BackingDevice::Image { disk, .. }) => disk.as_ref(),
            _ => None,
        }
    }

    /// From now on, or no longer, a modelled disk takes its time.
    ///
    /// # Errors
    /// If it does not answer.
    pub fn time_disk(&self, is_timed: bool) -> Result<()> {
        match &self.base {
            Some(BackingDevice::Image { device, disk: Some(disk), .. }) if is_timed => {
                disk.begin_time(device.path())
            }
            Some(BackingDevice::Image { disk: Some(disk), .. }) => disk.end_time(),
            _ => Ok(()),
        }
    }

    /// What an action came to; where it failed because the modelled disk has ended, that.
    fn explained<T>(&self, result: Result<T>) -> Result<T> {
        let failure = || self.disk().and_then(ModelledDisk::failure);
        result.map_err(|failed| failure().unwrap_or(failed))
    }

    /// Makes the modelled disk the one that a file system is to lie on, at rest and with empty caches;
    /// nothing on it is mounted.
    fn use_disk_of(&mut self, filesystem: &FileSystem) -> Result<()> {
        let (Some(BackingDevice::Image { device, disk: Some(disk), .. }), Some(model)) =
            (&self.base, &filesystem.disk)
        else {
            return Ok(());
        };
        disk.use_model(model)?;
        device.set_block_bytes(model.block_bytes)?;
        device.set_rotational(model.is_rotational());
        self.disk_now = Some(Arc::clone(model));
        Ok(())
    }

    /// What a file system of this kind is made on.
    pub fn made_on(&self, kind: &FileSystemKind) -> MadeOn {
        match &self.base {
            _ if kind.maker.is_none() => MadeOn::Memory,
            Some(BackingDevice::Image { in_memory: true, .. }) => MadeOn::Memory,
            Some(BackingDevice::Image { .. }) => MadeOn::Image,
            Some(BackingDevice::Device { .. }) | None => MadeOn::Device,
        }
    }

    /// Its size.
    pub fn room(&self) -> &VolumeSize {
        &self.room
    }

    /// The block device that a file system of this kind lies on; `None` if it needs none.
    pub fn device(&self, filesystem: &FileSystem) -> Option<BlockDevice> {
        let number = self.base.as_ref().filter(|_| filesystem.kind.maker.is_some())?.number();
        BlockDevice::numbered(Path::new("/sys"), number)
    }

    fn base_path(&self) -> Result<&Path> {
        let base = self.base.as_ref().ok_or_else(|| Failure::failed("the place is closed"))?;
        Ok(base.path())
    }

    /// The device, open for writing, which nothing else uses. Before a device is written for the first
    /// time, all that speaks against it is checked once more.
    fn open_alone(&mut self) -> Result<OwnedFd> {
        if let Some(BackingDevice::Device { device, written }) = &mut self.base {
            if !*written {
                recheck_empty(device)?;
            }
            let open = device.open_alone()?;
            *written = true;
            return Ok(open);
        }
        let path = self.base_path()?;
        let flags = OFlags::RDWR | OFlags::EXCL | OFlags::CLOEXEC;
        rustix::fs::open(path, flags, Mode::empty()).map_err(|error| match error {
            rustix::io::Errno::BUSY => Failure::failed(format!(
                "{} is still in use: something has the last file system on it mounted",
                shown(path)
            )),
            error => Failure::from_system(format!("open {}", shown(path)), error),
        })
    }

    /// Makes a file system on all of it, after the device was trimmed; false if it cannot be trimmed.
    ///
    /// # Errors
    /// What its mkfs says, or that something else uses the device.
    pub fn make_fresh(
        &mut self,
        filesystem: &FileSystem,
        tool: Option<&Tool>,
        stop: &AtomicBool,
    ) -> Result<bool> {
        let Some(tool) = tool else { return Ok(false) };
        self.use_disk_of(filesystem)?;
        let device = self.open_alone()?;
        // What cannot be trimmed is the same for all; what fails in it, mkfs will meet too.
        let trimmed = block::discard(device.as_fd(), self.room.bytes) == Ok(true);
        let _ = block::flush_buffers(device.as_fd());
        // The image can be emptied too where its loop device cannot be trimmed.
        let trimmed = trimmed || self.image_file().is_ok_and(|image| image.clear().is_ok());
        drop(device);
        let words = mkfs_arguments(filesystem, &self.room, self.base_path()?);
        let made = making::make(tool, &words, &self.inside(MOUNT_POINT)?, stop);
        self.explained(made)?;
        Ok(trimmed)
    }

    fn image_file(&self) -> Result<&ImageFile> {
        match &self.base {
            Some(BackingDevice::Image { file, .. }) => Ok(file),
            _ => Err(Failure::failed("there is no image whose state could be kept")),
        }
    }

    /// Keeps the image with the file system on it, which is not mounted, as state `number`; what is unread
    /// may be left out.
    ///
    /// # Errors
    /// If something else uses it, there is no room, or it was interrupted.
    pub fn keep(&mut self, number: u64, unread: &[UnreadExtent], stop: &AtomicBool) -> Result<()> {
        let device = self.open_alone()?;
        flush(device.as_fd())?;
        self.image_file()?.keep(number, unread, stop)
    }

    /// Brings the image back to state `number`, which was kept without these extents; no file system on it is
    /// mounted.
    ///
    /// # Errors
    /// If something else uses it, or it was interrupted.
    pub fn restore(
        &mut self,
        number: u64,
        unread: &[UnreadExtent],
        stop: &AtomicBool,
    ) -> Result<()> {
        let device = self.open_alone()?;
        flush(device.as_fd())?;
        self.disk_now = None;
        // Blocks that nobody reads need no place where places take no time.
        let has_places =
            matches!(self.base, Some(BackingDevice::Image { in_memory: false, disk: None, .. }));
        let unread = if has_places { unread } else { &[] };
        self.image_file()?.restore(number, unread, stop)?;
        // Whoever looked at the device meanwhile left pages of the old state.
        flush(device.as_fd())
    }

    /// Removes state `number`.
    ///
    /// # Errors
    /// If it cannot be removed.
    pub fn forget_state(&self, number: u64) -> Result<()> {
        self.image_file()?.remove(number)
    }

    /// Mounts what was made; gives its root.
    pub fn mount(&mut self, filesystem: &FileSystem) -> Result<OwnedFd> {
        if self.disk_now != filesystem.disk {
            self.use_disk_of(filesystem)?;
        }
        let kind = filesystem.kind.name;
        let options = mount_options(filesystem, &self.room);
        let below = self.root()?;
        let source = match filesystem.kind.maker {
            Some(_) => self.base_path()?,
            None => Path::new(SOURCE),
        };
        self.mount_inside(source, kind, MOUNT_POINT, &options)?;
        self.mounted = true;
        let root = self.root()?;
        let device = |fd: &OwnedFd| rustix::fs::fstat(fd).map(|stat| stat.st_dev);
        if device(&root).ok() == device(&below).ok() {
            let point = shown(self.path.join(MOUNT_POINT));
            return Err(Failure::failed(format!("{point} shows no {kind}")));
        }
        Ok(root)
    }

    /// The root of what is mounted.
    pub fn root(&self) -> Result<OwnedFd> {
        open_parent(&self.inside(MOUNT_POINT)?)
    }

    /// Unmounts it, for which nothing of it may be open.
    pub fn unmount(&mut self) -> Result<()> {
        if !self.mounted {
            return Ok(());
        }
        self.unmount_inside(MOUNT_POINT)?;
        self.mounted = false;
        Ok(())
    }

    /// What is left in memory of the file system that was unmounted, after the device's own pages were
    /// written and let go of.
    pub fn forget(&self) -> PagesLeft {
        let Ok(path) = self.base_path() else { return PagesLeft::Unknown };
        match mounts::is_unused(path) {
            Ok(true) => {}
            Ok(false) => return PagesLeft::StillMounted,
            Err(_) => return PagesLeft::Unknown,
        }
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let Ok(device) = rustix::fs::open(path, flags, Mode::empty()) else {
            return PagesLeft::Unknown;
        };
        let probe = CacheProbe::detect();
        let mut found = None;
        for _ in 0..FLUSHES_MAX {
            if block::flush_buffers(device.as_fd()).is_err() {
                return PagesLeft::Unknown;
            }
            found = probe.resident(device.as_fd(), self.room.bytes).ok();
            if found.is_some_and(|found| found.resident_pages <= PAGES_LEFT_MAX) {
                return PagesLeft::Nothing;
            }
        }
        match found {
            Some(Residency { resident_pages, pages }) if pages > 0 => {
                PagesLeft::Pages(resident_pages as f64 / pages as f64)
            }
            _ => PagesLeft::Unknown,
        }
    }

    /// Lets go of all pages of the device, on which nothing is mounted, also of those that cannot be written.
    ///
    /// # Errors
    /// If some stay.
    pub fn drop_pages(&self) -> Result<()> {
        let path = self.base_path()?;
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let device = rustix::fs::open(path, flags, Mode::empty())
            .map_err(|error| Failure::from_system(format!("open {}", shown(path)), error))?;
        let probe = CacheProbe::detect();
        for _ in 0..LETS_GO_LOOKS {
            let _ = block::flush_buffers(device.as_fd());
            let found = probe.resident(device.as_fd(), self.room.bytes);
            if found.map_or(true, |found| found.resident_pages == 0) {
                return Ok(());
            }
            boatload_base::patience::pause(LETS_GO_PAUSE);
        }
        Err(Failure::failed(format!("{} cannot be made to forget what it held", shown(path))))
    }

    /// Has the file system checked, which is not mounted; nothing on it is changed.
    ///
    /// # Errors
    /// If it was stopped, or could not be checked.
    pub fn check(&self, kind: &FileSystemKind, stop: &AtomicBool) -> Result<CheckedState> {
        making::check(kind, self.base_path()?, &self.inside(MOUNT_POINT)?, stop)
    }

    /// Leaves everything as found.
    ///
    /// # Errors
    /// All that is left, and why.
    pub fn close(mut self) -> Result<Removal> {
        self.undo()
    }

    /// Goes through all steps, whatever becomes of one of them.
    fn undo(&mut self) -> Result<Removal> {
        let mut wrong = Vec::new();
        if let Err(failure) = self.unmount() {
            wrong.push(failure.sentence);
            // Whoever still looks at it must not keep the device: it goes when they are done.
            let _ = self.inside(MOUNT_POINT).map(|point| mounts::unmount_lazily(&point));
            self.mounted = false;
        }
        let given_back = self.base.take().map_or(Ok(()), |base| self.give_back(base));
        wrong.extend(given_back.err().map(|failure| failure.sentence));
        let Some(run_directory) = self.run_directory.take() else { return Ok(Removal::default()) };
        let removal = remove_own(&run_directory);
        if wrong.is_empty() {
            return removal;
        }
        wrong.extend(removal.unwrap_or_else(Removal::failed).left);
        Err(Failure::failed(format!(
            "{}. When nothing uses it any more, `boatload clean` removes the rest of {}",
            wrong.join("; "),
            shown(&self.path)
        )))
    }

    fn give_back(&self, base: BackingDevice) -> Result<()> {
        match base {
            BackingDevice::Image { device, file, in_memory, disk } => {
                let detached = device.detach();
                // The loop device has the disk's file open, the disk's server the image.
                let stopped = disk.map_or(Ok(()), ModelledDisk::stop);
                // What is open in memory could not be unmounted.
                drop(file);
                let unmounted = if in_memory { self.unmount_inside(MEMORY) } else { Ok(()) };
                detached.and(stopped).and(unmounted)
            }
            BackingDevice::Device { device, written: true } => wipe(&device),
            BackingDevice::Device { written: false, .. } => Ok(()),
        }
    }
}

/// Pages of an unmounted file system that are still in memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PagesLeft {
    /// Nothing.
    Nothing,
    /// This share of the device's pages.
    Pages(f64),
    /// All of it may be: something else has it mounted.
    StillMounted,
    /// Nobody knows.
    Unknown,
}

/// Unmounts what a killed run left mounted in its open directory, which its marker must have proved to be boatload's: memory and
/// a modelled disk of its own, and the file system on its image. With the last mount goes the loop device.
///
/// # Errors
/// If it cannot be unmounted, or something else is mounted there, or in a directory that others may write to.
pub fn unmount_left(open: BorrowedFd<'_>) -> Result<()> {
    let failed = |error| Failure::from_system("look at the run's directory", error);
    let stat = rustix::fs::fstat(open).map_err(failed)?;
    let is_closed = stat.st_uid == rustix::process::geteuid().as_raw() && stat.st_mode & 0o022 == 0;
    let Some(path) = path_of(open) else { return Ok(()) };
    let points = [MOUNT_POINT, MEMORY, DISK].map(|name| path.join(name));
    let mut mounts = mounts::mounts_below(&path);
    mounts.retain(|mount| points.contains(&mount.mount_point));
    let is_bare = |mount: &Mount| {
        ["tmpfs", fuse::KIND].contains(&mount.kind.as_str()) && mount.source == SOURCE
    };
    // A modelled disk whose server has ended does not tell of its file; it has no other one.
    let bare = mounts.iter().filter(|mount| is_bare(mount)).map(|mount| mount.device);
    let bare: Vec<_> = bare.collect();
    let image = rustix::fs::statat(open, IMAGE, AtFlags::SYMLINK_NOFOLLOW).ok();
    let image = image.map(|image| FileNumbers { device: image.st_dev, inode: image.st_ino });
    let is_of_image = |mount: &Mount| {
        backing_file(&mount.source).is_some_and(|file| {
            let device = (rustix::fs::major(file.device), rustix::fs::minor(file.device));
            Some(file) == image || bare.contains(&device)
        })
    };
    for mount in &mounts {
        let point = shown(&mount.mount_point);
        if !is_closed || !is_bare(mount) && !is_of_image(mount) {
            let (kind, source) = (&mount.kind, shown(&mount.source));
            return Err(Failure::failed(format!(
                "the {kind} on {source} is mounted at {point} and is not known to be the run's own. If it is nobody \
                 else's, `umount {point}`"
            )));
        }
        let name = mount.mount_point.file_name().unwrap_or_default();
        // Whoever may rename above it could lead a path elsewhere meanwhile.
        let sure = PathBuf::from(format!("/proc/self/fd/{}", open.as_raw_fd())).join(name);
        mounts::unmount(&sure).map_err(|errno| {
            Failure::failed(format!("cannot unmount {point}: {}", errno.about()))
        })?;
    }
    Ok(())
}

/// Takes what was made off the device, which is empty then, as before.
fn wipe(device: &Erasable) -> Result<()> {
    let path = shown(&device.path);
    let wiped = device.open_alone().and_then(|open| block::wipe(open.as_fd(), device.total_bytes));
    wiped.map_err(|Failure { exit, sentence }| {
        let what = format!("{path} may still hold a file system of boatload's ({sentence})");
        Failure { exit, sentence: format!("{what}; `wipefs -a {path}` removes it") }
    })
}

fn flush(device: BorrowedFd<'_>) -> Result<()> {
    let failed = |error: Errno| Failure::from_system("flush the loop device", error.about());
    block::flush_buffers(device).map_err(failed)
}

fn cannot_make(error: impl std::fmt::Display) -> Failure {
    Failure::from_system("make an image", error)
}

impl Drop for Backing {
    /// A run that ends early, by an error or a panic, leaves nothing behind either.
    fn drop(&mut self) {
        let _ = self.undo();
    }
}
