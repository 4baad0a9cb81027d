//! What file systems are made on, one after the other: an image behind a loop device, a block
//! device, or memory. It leaves nothing behind.

use std::ffi::OsStr;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use rustix::fs::{Mode, OFlags};

use super::ground::{Ground, IMAGE, MEMORY, MOUNT_POINT, open_parent};
use super::remove::{Removal, remove_ground};
use crate::base::failure::{Failure, Result, shown};
use crate::host::block;
use crate::host::device::BlockDevice;
use crate::host::erase::{Erasable, check_erasable, recheck};
use crate::host::loop_device::LoopDevice;
use crate::host::making::{self, Tool};
use crate::host::mounting;
use crate::host::residency::CacheProbe;
use crate::plan::FileSystem;
use crate::plan::filesystem::{PlaceAsked, Room, mkfs_words, mount_options};

/// Beside the image a file system in memory needs a little for itself.
const MEMORY_BESIDE_BYTES: u64 = 16 << 20;

/// One flush may leave a few pages that something else has in hand.
const FLUSHES_MAX: u32 = 5;

/// A place to make file systems on.
pub struct Place {
    ground: Option<Ground>,
    /// The run's directory, as an absolute path without links.
    path: PathBuf,
    base: Option<Base>,
    room: Room,
    mounted: bool,
}

enum Base {
    /// An image, and whether it lies in memory.
    Image {
        device: LoopDevice,
        in_memory: bool,
    },
    Device(Erasable),
}

impl Base {
    fn path(&self) -> &Path {
        match self {
            Base::Image { device, .. } => device.path(),
            Base::Device(device) => &device.path,
        }
    }

    fn number(&self) -> (u32, u32) {
        match self {
            Base::Image { device, .. } => device.number(),
            Base::Device(device) => device.number,
        }
    }
}

/// Whether a device can forget what was written to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trimmed {
    /// It was told that nothing on it is needed any more.
    Yes,
    /// It cannot be told so.
    No,
}

impl Place {
    /// A place of the size of `room`, with all it needs in the marked directory `ground`.
    ///
    /// # Errors
    /// If it cannot be had; then nothing is left of it.
    pub fn make(ground: Ground, directory: &Path, asked: &PlaceAsked, room: Room) -> Result<Self> {
        let absolute = std::fs::canonicalize(directory)
            .map_err(|error| Failure::from_system(format!("find {}", shown(directory)), error))?;
        let path = absolute.join(ground.name());
        let mut place = Self { ground: Some(ground), path, base: None, room, mounted: false };
        place.make_directory(MOUNT_POINT)?;
        place.base = Some(match asked {
            PlaceAsked::Image { .. } => {
                let directory = place.ground()?.directory().try_clone_to_owned();
                place.image(directory.map_err(cannot_make)?, false)?
            }
            PlaceAsked::Memory { .. } => place.image_in_memory()?,
            PlaceAsked::Device { path, erase } => Base::Device(check_erasable(path, erase)?),
        });
        Ok(place)
    }

    fn ground(&self) -> Result<&Ground> {
        self.ground.as_ref().ok_or_else(|| Failure::failed("the run's directory is closed"))
    }

    fn make_directory(&self, name: &str) -> Result<()> {
        rustix::fs::mkdirat(self.ground()?.directory(), name, Mode::RWXU)
            .map_err(|error| Failure::from_system("make a directory to mount on", error))
    }

    fn image_in_memory(&self) -> Result<Base> {
        self.make_directory(MEMORY)?;
        let memory = self.path.join(MEMORY);
        let bytes = self.room.bytes + MEMORY_BESIDE_BYTES;
        mounting::mount(Path::new("boatload"), "tmpfs", &memory, &format!("size={bytes}"))?;
        let made = open_parent(&memory).and_then(|directory| self.image(directory, true));
        made.inspect_err(|_| {
            let _ = mounting::unmount(&memory);
        })
    }

    /// An image without a block of its own yet, behind a loop device.
    fn image(&self, directory: OwnedFd, in_memory: bool) -> Result<Base> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let mode = Mode::RUSR | Mode::WUSR;
        let image = rustix::fs::openat(directory, IMAGE, flags, mode).map_err(cannot_make)?;
        rustix::fs::ftruncate(&image, self.room.bytes).map_err(cannot_make)?;
        // What lies in memory is not kept there a second time.
        let device = LoopDevice::attach(image.as_fd(), true)?;
        Ok(Base::Image { device, in_memory })
    }

    /// Its word in results.
    pub fn word(&self) -> &'static str {
        match &self.base {
            Some(Base::Image { in_memory: true, .. }) => "memory",
            Some(Base::Image { .. }) => "image",
            Some(Base::Device(_)) | None => "device",
        }
    }

    /// Its size.
    pub fn room(&self) -> &Room {
        &self.room
    }

    /// The block device that a file system of this kind lies on; none if it needs none.
    pub fn device(&self, filesystem: &FileSystem) -> Option<BlockDevice> {
        let number = self.base.as_ref().filter(|_| filesystem.kind.maker.is_some())?.number();
        BlockDevice::numbered(Path::new("/sys"), number)
    }

    /// The device, open for reading.
    fn open(&self, flags: OFlags) -> Result<OwnedFd> {
        let path = self.base_path()?;
        let flags = flags | OFlags::CLOEXEC;
        rustix::fs::open(path, flags, Mode::empty())
            .map_err(|error| Failure::from_system(format!("open {}", shown(path)), error))
    }

    fn base_path(&self) -> Result<&Path> {
        let base = self.base.as_ref().ok_or_else(|| Failure::failed("the place is closed"))?;
        Ok(base.path())
    }

    /// Makes a file system on all of it, after the device was told to forget what was there.
    ///
    /// # Errors
    /// What its mkfs says.
    pub fn make_fresh(
        &self,
        filesystem: &FileSystem,
        tool: Option<&Tool>,
        stop: &AtomicBool,
    ) -> Result<Trimmed> {
        let Some(tool) = tool else { return Ok(Trimmed::No) };
        if let Some(Base::Device(device)) = &self.base {
            recheck(device)?;
        }
        let device = self.open(OFlags::RDWR)?;
        let trimmed = block::discard(device.as_fd(), self.room.bytes);
        // What cannot be trimmed is the same for all; what fails in it, mkfs will meet too.
        let trimmed = if trimmed == Ok(true) { Trimmed::Yes } else { Trimmed::No };
        let _ = block::flush_buffers(device.as_fd());
        drop(device);
        making::make(tool, &mkfs_words(filesystem, &self.room, self.base_path()?), stop)?;
        Ok(trimmed)
    }

    /// Mounts what was made; gives its root.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn mount(&mut self, filesystem: &FileSystem) -> Result<OwnedFd> {
        let (kind, point) = (filesystem.kind.name, self.path.join(MOUNT_POINT));
        let options = mount_options(filesystem, &self.room);
        let below = open_parent(&point)?;
        let source = match filesystem.kind.maker {
            Some(_) => self.base_path()?,
            None => Path::new("boatload"),
        };
        mounting::mount(source, kind, &point, &options)?;
        self.mounted = true;
        let root = self.root()?;
        let device = |fd: &OwnedFd| rustix::fs::fstat(fd).map(|stat| stat.st_dev);
        if device(&root).ok() == device(&below).ok() {
            return Err(Failure::failed(format!("{} shows no {kind}", shown(&point))));
        }
        Ok(root)
    }

    /// The root of what is mounted.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn root(&self) -> Result<OwnedFd> {
        open_parent(&self.path.join(MOUNT_POINT))
    }

    /// Unmounts it, for which nothing of it may be open.
    ///
    /// # Errors
    /// If something holds it.
    pub fn unmount(&mut self) -> Result<()> {
        if !self.mounted {
            return Ok(());
        }
        let point = self.path.join(MOUNT_POINT);
        mounting::unmount(&point).map_err(|errno| {
            Failure::failed(format!("cannot unmount {}: {}", shown(&point), errno.about()))
        })?;
        self.mounted = false;
        Ok(())
    }

    /// Whether nothing of the unmounted file system is left in memory: no other namespace has it
    /// mounted, and the device's own pages are written and gone. Gives the share of the device's
    /// pages that are still in memory; none if it cannot be told.
    pub fn forget(&self) -> Option<f64> {
        let device = self.open(OFlags::RDONLY).ok()?;
        if mounting::is_unused(self.base_path().ok()?) != Ok(true) {
            return None;
        }
        let probe = CacheProbe::detect();
        let mut resident = None;
        for _ in 0..FLUSHES_MAX {
            block::flush_buffers(device.as_fd()).ok()?;
            resident = probe.resident_fraction(&[(device.as_fd(), self.room.bytes)]);
            if resident == Some(0.0) {
                break;
            }
        }
        resident
    }

    /// Leaves everything as it was found.
    ///
    /// # Errors
    /// What is left, and why.
    pub fn close(mut self) -> Result<Removal> {
        self.undo()
    }

    fn undo(&mut self) -> Result<Removal> {
        if self.unmount().is_err() {
            // Whoever still looks at it must not keep the device: it goes when they are done.
            let _ = mounting::unmount_lazily(&self.path.join(MOUNT_POINT));
        }
        match self.base.take() {
            Some(Base::Image { device, in_memory }) => {
                device.detach()?;
                if in_memory {
                    let memory = self.path.join(MEMORY);
                    mounting::unmount(&memory).map_err(|errno| {
                        let what = shown(&memory);
                        Failure::failed(format!("cannot unmount {what}: {}", errno.about()))
                    })?;
                }
            }
            Some(Base::Device(device)) => wipe(&device)?,
            None => {}
        }
        match self.ground.take() {
            Some(ground) => remove_ground(ground.parent(), OsStr::new(ground.name())),
            None => Ok(Removal::default()),
        }
    }
}

/// Unmounts what a killed run left mounted in its directory, which its marker must have proved to
/// be boatload's. With its last mount goes the loop device.
///
/// # Errors
/// If something holds it.
pub fn unmount_left(ground: &Path) -> Result<()> {
    let own = [MOUNT_POINT, MEMORY].map(|name| ground.join(name));
    for mount in mounting::mounts_below(ground) {
        if !own.contains(&mount.mount_point) {
            continue;
        }
        mounting::unmount(&mount.mount_point).map_err(|errno| {
            let what = shown(&mount.mount_point);
            Failure::failed(format!("cannot unmount {what}: {}", errno.about()))
        })?;
    }
    Ok(())
}

/// Takes what was made off the device, so that it is as empty as it was.
fn wipe(device: &Erasable) -> Result<()> {
    let path = shown(&device.path);
    recheck(device)?;
    let open = rustix::fs::open(&device.path, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty());
    let open = open.map_err(|error| Failure::from_system(format!("open {path}"), error))?;
    block::wipe(open.as_fd(), device.total_bytes).map_err(|failure| {
        let sentence = failure.sentence;
        Failure::failed(format!(
            "{path} still holds a file system of boatload's: {sentence}. `wipefs -a {path}` removes it"
        ))
    })
}

fn cannot_make(error: impl std::fmt::Display) -> Failure {
    Failure::from_system("make an image", error)
}

impl Drop for Place {
    /// A run that ends early, by an error or a panic, leaves nothing behind either.
    fn drop(&mut self) {
        let _ = self.undo();
    }
}
