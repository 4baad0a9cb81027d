//! Attaches a file as a block device, through the kernel's loop driver (loop(4)).

use std::ffi::OsStr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use linux_raw_sys::loop_device::{
    LO_FLAGS_AUTOCLEAR, LO_FLAGS_DIRECT_IO, loop_config, loop_info64,
};
use rustix::fs::{Mode, OFlags};

use boatload_base::errno::{Errno, ErrnoResult};
use boatload_base::failure::{Failure, Result, shown};
use boatload_base::files::read_bytes;

use super::ioctl;
use super::sysfs::{device_link, device_number, number_in};

/// Other processes take loop devices too: a free one may be gone when it is opened.
const ATTEMPTS: u32 = 64;

/// Waits this many times, with this pause before each, for a device to become free: a scanner that
/// was woken by it may have it open for a moment.
const LOOKS: u32 = 100;
const PAUSE: Duration = Duration::from_millis(20);

/// Blocks a file system of any kind here can live on: the smallest first, then what direct I/O
/// needs on a disk with larger ones.
const BLOCK_BYTES: u32 = 512;
const LARGE_BLOCK_BYTES: u32 = 4096;

/// Whether the queue of a device counts its requests.
const COUNTS: &str = "iostats";

/// What the driver says of a device without a file, and open(2) of one without a driver.
const NOT_ATTACHED: Errno = Errno(libc::ENXIO);
const UNKNOWN_REQUEST: Errno = Errno(libc::ENOTTY);

/// Device and inode of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileNumbers {
    /// Device number of its file system, as stat(2) has it.
    pub device: u64,
    /// Its inode number there.
    pub inode: u64,
}

/// The file behind a loop device that is named by its node; `None` if it is none. The name may belong to another file by now.
pub fn backing_file(node: &OsStr) -> Option<FileNumbers> {
    Path::new(node).strip_prefix("/dev").ok()?;
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let device = rustix::fs::open(node, flags, Mode::empty()).ok()?;
    let info = ioctl::loop_status(device.as_fd()).ok()?;
    Some(FileNumbers { device: info.lo_device, inode: info.lo_inode })
}

/// An attached loop device, whose requests are counted. It is free again when this is dropped, and when the
/// process ends in any other way, for then the kernel closes it (`LO_FLAGS_AUTOCLEAR`).
#[derive(Debug)]
pub struct LoopDevice {
    path: PathBuf,
    number: (u32, u32),
    /// None once it is detached.
    device: Option<OwnedFd>,
    /// What its file is called in sysfs, by which it is told from the device's next user.
    file: Option<String>,
    /// Whether it was set not to count its requests: a setting that stays when its user goes.
    was_uncounted: bool,
}

impl LoopDevice {
    /// Attaches a file, open for reading and writing; with `direct`, around the page cache of the
    /// file system it lies on, where that can be had: [`LoopDevice::direct_io`] tells.
    ///
    /// # Errors
    /// If there is no loop driver, or this process may not use it.
    pub fn attach(image: BorrowedFd<'_>, direct: bool) -> Result<Self> {
        let open = OFlags::RDWR | OFlags::CLOEXEC;
        let control = rustix::fs::open("/dev/loop-control", open, Mode::empty())
            .map_err(|error| no_driver(error.into()))?;
        for _ in 0..ATTEMPTS {
            let free = ioctl::find_free_loop(control.as_fd()).map_err(no_driver)?;
            let path = PathBuf::from(format!("/dev/loop{free}"));
            let device = match rustix::fs::open(&path, open, Mode::empty()) {
                Ok(device) => device,
                // Its last user is just being freed from it.
                Err(rustix::io::Errno::NXIO) => {
                    boatload_base::patience::pause(PAUSE);
                    continue;
                }
                Err(error) => return Err(no_node(&path, error.into())),
            };
            match configure(device.as_fd(), image, direct) {
                Ok(()) => return Self::attached(path, device, direct),
                Err(Errno::EBUSY) => {}
                Err(error) => return Err(refused(&path, error)),
            }
        }
        Err(Failure::failed(
            "cannot get a loop device: others took every free one first. Try again",
        ))
    }

    fn attached(path: PathBuf, device: OwnedFd, direct: bool) -> Result<Self> {
        let stat = rustix::fs::fstat(&device).map_err(|error| refused(&path, error.into()))?;
        let number = device_number(stat.st_rdev);
        let mut attached =
            Self { path, number, device: Some(device), file: None, was_uncounted: false };
        attached.file = attached.setting("backing_file");
        let counts = attached.queue_setting(COUNTS);
        attached.was_uncounted =
            number_in(&counts) == Some(0) && std::fs::write(counts, "1").is_ok();
        if direct && !attached.direct_io() {
            attached.try_large_blocks();
        }
        Ok(attached)
    }

    /// Direct I/O takes blocks as large as the blocks of the disk below.
    fn try_large_blocks(&self) {
        let Some(device) = self.device.as_ref().map(AsFd::as_fd) else { return };
        let done = ioctl::set_loop_block_size(device, LARGE_BLOCK_BYTES)
            .and_then(|()| ioctl::set_loop_direct(device));
        if done.is_err() || !self.direct_io() {
            // Nothing is gained; smaller blocks let more kinds of file systems be made. A device
            // that keeps the large ones works too, so an error changes nothing.
            let _ = ioctl::set_loop_block_size(device, BLOCK_BYTES);
        }
    }

    /// Gives it logical blocks of this size, a power of two from 512 to the size of a page; nothing on it
    /// is mounted.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn set_block_bytes(&self, bytes: u32) -> Result<()> {
        let Some(device) = self.device.as_ref().map(AsFd::as_fd) else { return Ok(()) };
        ioctl::set_loop_block_size(device, bytes).map_err(|error| {
            let doing = format!("give {} blocks of {bytes} bytes", self.path.display());
            Failure::from_system(doing, error.about())
        })
    }

    /// Says whether what is behind it rotates, which some file systems place files by. The kernel forgets
    /// it when the device is attached anew.
    pub fn set_rotational(&self, rotational: bool) {
        let _ =
            std::fs::write(self.queue_setting("rotational"), if rotational { "1" } else { "0" });
    }

    fn queue_setting(&self, name: &str) -> PathBuf {
        device_link(Path::new("/sys"), self.number).join("queue").join(name)
    }

    /// Its node: `/dev/loop3`.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its major and minor number.
    pub fn number(&self) -> (u32, u32) {
        self.number
    }

    /// Whether the kernel goes around the page cache for it, as sysfs says and not as was asked.
    pub fn direct_io(&self) -> bool {
        self.setting("dio").is_some_and(|text| text == "1")
    }

    /// What sysfs says of the attached file; `None` if none is attached.
    fn setting(&self, name: &str) -> Option<String> {
        let device = device_link(Path::new("/sys"), self.number);
        let text = read_bytes(device.join("loop").join(name)).ok()?;
        Some(String::from_utf8_lossy(&text).trim_end_matches('\n').to_string())
    }

    /// Frees it, and waits until it is really free.
    ///
    /// # Errors
    /// If something still holds it: then the kernel frees it when that lets go.
    pub fn detach(mut self) -> Result<()> {
        self.let_go().map_err(|error| {
            Failure::from_system(format!("free {}", self.path.display()), error.about())
        })?;
        for _ in 0..LOOKS {
            if self.is_free() {
                return Ok(());
            }
            boatload_base::patience::pause(PAUSE);
        }
        Err(Failure::failed(format!(
            "{} is still in use by something else; it becomes free when that lets go of it. \
             `losetup --list` and `lsof {0}` may tell what it is",
            self.path.display()
        )))
    }

    fn let_go(&mut self) -> ErrnoResult<()> {
        let Some(device) = self.device.take() else { return Ok(()) };
        // Afterwards it may be somebody else's.
        if std::mem::take(&mut self.was_uncounted) {
            let _ = std::fs::write(self.queue_setting(COUNTS), "0");
        }
        match ioctl::clear_loop(device.as_fd()) {
            Err(NOT_ATTACHED) | Ok(()) => Ok(()),
            other => other,
        }
    }

    fn is_free(&self) -> bool {
        let now = self.setting("backing_file");
        now.is_none() || without_end(now.as_deref()) != without_end(self.file.as_deref())
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        // The last to close it frees it in any case.
        let _ = self.let_go();
    }
}

/// The kernel marks a file that was removed meanwhile.
pub(super) fn without_end(file: Option<&str>) -> Option<&str> {
    file.map(|file| file.strip_suffix(" (deleted)").unwrap_or(file))
}

fn configure(device: BorrowedFd<'_>, image: BorrowedFd<'_>, direct: bool) -> ErrnoResult<()> {
    let config = loop_config {
        fd: image.as_raw_fd().unsigned_abs(),
        block_size: BLOCK_BYTES,
        info: info(image, direct),
        __reserved: [0; 8],
    };
    match ioctl::configure_loop(device, &config) {
        // Before Linux 5.8.
        Err(Errno::EINVAL | UNKNOWN_REQUEST) => configure_in_steps(device, image, &config.info),
        other => other,
    }
}

fn configure_in_steps(
    device: BorrowedFd<'_>,
    image: BorrowedFd<'_>,
    info: &loop_info64,
) -> ErrnoResult<()> {
    ioctl::set_loop_file(device, image)?;
    if let Err(error) = ioctl::set_loop_status(device, info) {
        // The first error is the one to tell.
        let _ = ioctl::clear_loop(device);
        return Err(error);
    }
    if info.lo_flags & LO_FLAGS_DIRECT_IO as u32 != 0 {
        // Where it cannot be had the device still works; sysfs tells which it is.
        let _ = ioctl::set_loop_direct(device);
    }
    Ok(())
}

fn info(image: BorrowedFd<'_>, direct: bool) -> loop_info64 {
    let direct = if direct { LO_FLAGS_DIRECT_IO as u32 } else { 0 };
    let mut info = loop_info64 {
        lo_device: 0,
        lo_inode: 0,
        lo_rdevice: 0,
        lo_offset: 0,
        lo_sizelimit: 0,
        lo_number: 0,
        lo_encrypt_type: 0,
        lo_encrypt_key_size: 0,
        lo_flags: LO_FLAGS_AUTOCLEAR as u32 | direct,
        lo_file_name: [0; 64],
        lo_crypt_name: [0; 64],
        lo_encrypt_key: [0; 32],
        lo_init: [0; 2],
    };
    // For losetup(8) run by others than root, who cannot read the name in sysfs. The last byte
    // stays zero.
    let name = std::fs::read_link(format!("/proc/self/fd/{}", image.as_raw_fd()));
    let name = name.unwrap_or_default();
    let room = info.lo_file_name.len() - 1;
    for (place, byte) in info.lo_file_name[..room].iter_mut().zip(name.as_os_str().as_bytes()) {
        *place = *byte;
    }
    info
}

fn no_driver(error: Errno) -> Failure {
    let hint = match error {
        Errno::ENOENT | Errno::ENODEV | NOT_ATTACHED => {
            "the kernel's loop driver is not there: `modprobe loop`; in a container, run outside of \
             it, or let it have /dev/loop-control and the loop devices"
        }
        Errno::EACCES => "that takes root",
        Errno::EPERM => {
            "a container's rules for devices forbid it: run outside of it, or `docker run --privileged`"
        }
        _ => return Failure::from_system("get a loop device", error.about()),
    };
    Failure::failed(format!("cannot open /dev/loop-control ({}): {hint}", error.about()))
}

fn no_node(path: &Path, error: Errno) -> Failure {
    let hint = match error {
        Errno::ENOENT => {
            ". The kernel made the device, but not its node here: a container without its devices. \
             Run outside of it, or make the node"
        }
        Errno::EPERM | Errno::EACCES => {
            ". That takes root, and in a container a rule that allows loop devices"
        }
        _ => "",
    };
    Failure::failed(format!("cannot open {}: {}{hint}", shown(path), error.about()))
}

fn refused(path: &Path, error: Errno) -> Failure {
    Failure::from_system(format!("attach an image to {}", shown(path)), error.about())
}
