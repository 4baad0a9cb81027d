//! Modelled disks: a block device whose requests take the time that a model of a disk says. The loop
//! driver sends them to a file system with one file (FUSE), which a process of its own serves: a thread of
//! this one that waits for the disk cannot keep it from being served.

mod control;
pub mod figures;
mod filesystem;
mod flash;
mod geometry;
mod hard_disk;
mod network;
mod path;
mod power;
mod ranges;
mod replies;
mod request;
mod server;
pub mod simulator;
mod watchdog;

pub use power::PowerCut;
pub use server::serve;

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

use self::control::{ServerAnswer, ServerCommand, Timing};
use self::path::path_ns;
use self::power::CutOrder;
use self::watchdog::Watchdog;
use crate::run_directory::IMAGE;
use boatload_base::errno::Errno;
use boatload_base::failure::{Failure, Result, shown};
use boatload_host::disk_activity::DiskActivity;
use boatload_host::io_server::take_precedence;
use boatload_host::{fuse, mounts};
use boatload_plan::disk::DiskModel;

/// What is mounted that has no device is called so.
pub(super) const SOURCE: &str = "boatload";

/// A disk that is served by a process of its own. The process ends with this, and with the thread that
/// started it, which goes before other processes from then on.
pub struct ModelledDisk {
    watchdog: Watchdog,
    /// Where the file system with the file is mounted; `None` if it is not.
    mounted: Option<PathBuf>,
    /// None once it is closed.
    file: Option<OwnedFd>,
}

impl ModelledDisk {
    /// A disk of `bytes` bytes whose contents are `image`, mounted at `mount_point`. Requests take no time
    /// yet. The seed decides what the model leaves to chance.
    ///
    /// # Errors
    /// If it cannot be served here; then nothing is left of it.
    pub fn start(
        model: &DiskModel,
        seed: u64,
        image: BorrowedFd<'_>,
        bytes: u64,
        mount_point: &Path,
    ) -> Result<Self> {
        let connection = fuse::open()?;
        let watchdog = Watchdog::start()?;
        take_precedence();
        let mut disk = Self { watchdog, mounted: None, file: None };
        let begin = ServerCommand::Begin { model: model.text.clone(), seed, bytes };
        disk.watchdog.ask_with(&begin, &[connection.as_fd(), image])?;
        fuse::mount(connection.as_fd(), Path::new(SOURCE), mount_point)?;
        disk.mounted = Some(mount_point.to_path_buf());
        disk.watchdog.serves_at(mount_point);
        // The connection must end with the process that serves it, whatever this one has open.
        drop(connection);
        disk.watchdog.ask(&ServerCommand::Serve)?;
        let path = mount_point.join(IMAGE);
        let opened = rustix::fs::open(&path, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty());
        let opened = opened.map_err(|error| {
            disk.failure().unwrap_or_else(|| {
                Failure::from_system(format!("open the modelled disk {}", shown(&path)), error)
            })
        });
        disk.file = Some(opened?);
        Ok(disk)
    }

    /// The file that is the disk; none once it is closed.
    pub fn file(&self) -> Option<BorrowedFd<'_>> {
        self.file.as_ref().map(AsFd::as_fd)
    }

    /// Puts another disk in its place, with the same contents, at rest and with empty caches.
    ///
    /// # Errors
    /// If the server has ended.
    pub fn use_model(&self, model: &DiskModel) -> Result<()> {
        self.watchdog.ask(&ServerCommand::UseModel(model.text.clone())).map(drop)
    }

    /// Lets requests take their time from now on. What the way from here to the disk and back takes, and
    /// differs by machine and load, is measured on its block device and becomes part of that time.
    ///
    /// # Errors
    /// If the server has ended.
    pub fn begin_time(&self, device: &Path) -> Result<()> {
        self.set_timing(Timing::Probed)?;
        let path_ns = path_ns(device);
        self.set_timing(Timing::Timed { path_ns })
    }

    /// Lets requests take no time of the disk from now on.
    ///
    /// # Errors
    /// If the server has ended.
    pub fn end_time(&self) -> Result<()> {
        self.set_timing(Timing::Untimed)
    }

    fn set_timing(&self, timing: Timing) -> Result<()> {
        self.watchdog.ask(&ServerCommand::SetTiming(timing)).map(drop)
    }

    /// What the disk saw while requests took their time.
    ///
    /// # Errors
    /// If the server has ended.
    pub fn activity(&self) -> Result<DiskActivity> {
        match self.watchdog.ask(&ServerCommand::TellActivity)? {
            ServerAnswer::Activity(activity) => Ok(*activity),
            _ => Err(other_answer()),
        }
    }

    /// Follows its write cache from now on, so that its power can be cut. All that was written before is
    /// durable.
    ///
    /// # Errors
    /// If the server has ended.
    pub fn follow_cache(&self) -> Result<()> {
        self.watchdog.ask(&ServerCommand::FollowCache).map(drop)
    }

    /// Cuts its power after `after` more writes and flushes, or at once. Which of the writes that no flush has
    /// followed are left decides the seed. Then all requests fail.
    ///
    /// # Errors
    /// If the server has ended, or its image fails.
    pub fn cut_power(&self, after: u64, seed: u64) -> Result<()> {
        self.watchdog.ask(&ServerCommand::CutPower(CutOrder { after, seed })).map(drop)
    }

    /// The power cut, once it has happened.
    ///
    /// # Errors
    /// If the server has ended.
    pub fn power_cut(&self) -> Result<Option<PowerCut>> {
        match self.watchdog.ask(&ServerCommand::TellCut)? {
            ServerAnswer::Cut(cut) => Ok(cut),
            _ => Err(other_answer()),
        }
    }

    /// Gives it power again, with what the cut left. Its cache is no longer followed.
    ///
    /// # Errors
    /// If the server has ended.
    pub fn restore_power(&self) -> Result<()> {
        self.watchdog.ask(&ServerCommand::RestorePower).map(drop)
    }

    /// Why nothing on it can be read or written any more, if that is so.
    pub fn failure(&self) -> Option<Failure> {
        self.watchdog.failure()
    }

    /// Unmounts it and ends the process; nothing may have the file open.
    ///
    /// # Errors
    /// If it cannot be unmounted. The process ends all the same.
    pub fn stop(mut self) -> Result<()> {
        self.close()
    }

    fn close(&mut self) -> Result<()> {
        self.file = None;
        let unmounted = match self.mounted.take() {
            Some(mount_point) => unmount(&mount_point),
            None => Ok(()),
        };
        self.watchdog.stop();
        unmounted
    }
}

fn other_answer() -> Failure {
    Failure::failed("the server of a modelled disk gave an unexpected answer")
}

fn unmount(mount_point: &Path) -> Result<()> {
    match mounts::unmount(mount_point) {
        // A server that was given up may have lost it already.
        Ok(()) | Err(Errno::EINVAL) => Ok(()),
        Err(errno) => {
            // It goes when nothing has it open any more.
            let _ = mounts::unmount_lazily(mount_point);
            let why = errno.about();
            Err(Failure::failed(format!("cannot unmount the modelled disk: {why}")))
        }
    }
}

impl Drop for ModelledDisk {
    fn drop(&mut self) {
        let _ = self.close();
    }
}
