//! Runs each cell on a file system made for it, one after the other on the same volume.

mod power;

use std::collections::BTreeMap;
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use super::directory::{ClosedSite, DirectorySite, write_out};
use super::{EngineSource, Settled, Site};

use crate::backing::{Backing, MadeOn, PagesLeft};
use crate::ballast::HeadwayListener;
use crate::cache::{CacheDrop, CacheDropper, CacheVerdict, Doubt};
use crate::clock::RealClock;
use crate::disk::ModelledDisk;
use crate::interrupt::Interrupt;
use crate::remove::Removal;
use crate::run_directory::RunDirectory;
use crate::unread::UnreadExtent;
use boatload_base::failed_calls;
use boatload_base::failure::{Failure, Result};
use boatload_host::block_device::{BlockDevice, DeviceCounters};
use boatload_host::disk_activity::DiskActivity;
use boatload_host::facts::HostFacts;
use boatload_host::making::Tool;
use boatload_host::mounts::Mount;
use boatload_host::space::Space;
use boatload_plan::filesystem::{FileSystemKind, VolumeSize};
use boatload_plan::phase::OnBallast;
use boatload_plan::{CacheAsked, CellPlan, FileSystem, Phase, Prepare};

/// A kind of file system with the program that makes it; `None` if mounting is all it takes.
pub type MkfsTools = Vec<(&'static FileSystemKind, Option<Tool>)>;

/// A site whose cells run on file systems of their own.
pub struct MadeSite {
    place: Option<Backing>,
    tools: MkfsTools,
    host: HostFacts,
    clock: RealClock,
    interrupt: Interrupt,
    /// How often the file system of each variant was made.
    times_made: BTreeMap<String, u32>,
    here: Option<MountedFileSystem>,
    /// States of the image that are kept, by number.
    kept: BTreeMap<u64, KeptState>,
}

/// What is known of the file system in a kept state.
struct KeptState {
    closed: ClosedSite,
    facts: MadeFacts,
    /// Extents that it was kept without.
    unread: Vec<UnreadExtent>,
}

/// The file system that is mounted now.
struct MountedFileSystem {
    filesystem: FileSystem,
    variant: String,
    /// Whether it stays from level to level.
    prepared: bool,
    disk: DirectorySite,
    facts: MadeFacts,
    /// Whether a phase of the cell ran since it was mounted.
    worked: bool,
    /// What the unmounts between phases of the cell did; none before the first.
    settled: Option<Settled>,
}

impl MountedFileSystem {
    fn new(
        cell: &CellPlan,
        filesystem: &FileSystem,
        disk: DirectorySite,
        facts: MadeFacts,
    ) -> Self {
        Self {
            filesystem: filesystem.clone(),
            variant: cell.variant.clone(),
            prepared: false,
            disk,
            facts,
            worked: false,
            settled: None,
        }
    }
}

/// The file system that is mounted, and the place it is made on.
fn mounted<'a>(
    here: &'a mut Option<MountedFileSystem>,
    place: &'a mut Option<Backing>,
) -> Result<(&'a mut MountedFileSystem, &'a mut Backing)> {
    here.as_mut().zip(place.as_mut()).ok_or_else(|| Failure::failed("no file system is mounted"))
}

/// Facts of a file system that was just made.
#[derive(Clone, Debug)]
pub struct MadeFacts {
    /// What the program that made it says of its version.
    pub version: Option<String>,
    /// The kernel's line on it.
    pub mount: Mount,
    /// Its room when it was empty.
    pub space: Space,
    /// The device under it.
    pub device: Option<BlockDevice>,
    /// Whether the device was trimmed before.
    pub trimmed: bool,
}

impl MadeSite {
    /// A place to make the file systems of `tools` on.
    pub fn new(
        place: Backing,
        tools: MkfsTools,
        host: HostFacts,
        clock: RealClock,
        interrupt: Interrupt,
    ) -> Self {
        let (times_made, here, kept) = (BTreeMap::new(), None, BTreeMap::new());
        Self { place: Some(place), tools, host, clock, interrupt, times_made, here, kept }
    }

    /// The file system that is mounted now, with its figures when it was empty.
    pub fn made(&self) -> Option<(&FileSystem, &MadeFacts)> {
        self.here.as_ref().map(|here| (&here.filesystem, &here.facts))
    }

    /// The size of the place; `None` if it is closed.
    pub fn room(&self) -> Option<&VolumeSize> {
        self.place.as_ref().map(Backing::room)
    }

    /// What a file system of this kind is made on; none once it is closed.
    pub fn made_on(&self, kind: &FileSystemKind) -> Option<MadeOn> {
        self.place.as_ref().map(|place| place.made_on(kind))
    }

    /// Unmounts what is mounted and leaves the place as found.
    pub fn close(mut self) -> Result<Removal> {
        // What keeps it from being unmounted keeps the place from being closed, which tells of it.
        let _ = self.leave();
        self.place.take().map_or_else(|| Ok(Removal::default()), Backing::close)
    }

    fn disk_mut(&mut self) -> Result<&mut DirectorySite> {
        mounted(&mut self.here, &mut self.place).map(|(here, _)| &mut here.disk)
    }

    /// Makes and mounts the file system of a cell, over the one before.
    pub fn make_fresh(&mut self, cell: &CellPlan) -> Result<()> {
        let id = self.directory_id(cell);
        self.make_with(cell, &id)
    }

    /// The same, with a directory of this id.
    fn make_with(&mut self, cell: &CellPlan, id: &str) -> Result<()> {
        self.leave()?;
        let (Some(filesystem), Some(place)) = (&cell.filesystem, &mut self.place) else {
            return Err(Failure::failed("there is no place to make a file system on"));
        };
        let tool = self.tools.iter().find(|(kind, _)| *kind == filesystem.kind);
        let tool = tool.and_then(|(_, tool)| tool.as_ref());
        let trimmed = place.make_fresh(filesystem, tool, self.interrupt.flag())?;
        let root = place.mount(filesystem)?;
        let device = place.device(filesystem);
        let (space, mount) = (Space::read(root.as_fd())?, Mount::of(root.as_fd())?);
        let place = Path::new(filesystem.kind.name);
        let run_directory = RunDirectory::make(root, place, id, self.interrupt.flag())?;
        let host = self.host_on(filesystem);
        let disk = DirectorySite::new(run_directory, &host, device, self.clock.clone())?;
        let version = tool.and_then(|tool| tool.version.clone());
        // With what is known of its counters.
        let device = disk.device().cloned();
        let facts = MadeFacts { version, mount, space, device, trimmed };
        self.here = Some(MountedFileSystem::new(cell, filesystem, disk, facts));
        Ok(())
    }

    /// Nothing else is on a file system that was made, so the name of the run's directory there need not
    /// be its own. It is the same in all runs of a seed, and another in each repeat or history: ext4 places a
    /// directory by the hash of its name, and where that is decides how far a disk's head travels.
    fn directory_id(&mut self, cell: &CellPlan) -> String {
        let times = self.times_made.entry(cell.variant.clone()).or_default();
        *times += 1;
        format!("seed{}made{times}", cell.tree.seed)
    }

    /// The facts of the machine for a directory on a file system that was made.
    fn host_on(&self, filesystem: &FileSystem) -> HostFacts {
        let mut host = self.host.clone();
        host.filesystem.kind = filesystem.kind.name.into();
        host
    }

    /// Unmounts what is mounted, where nothing may be open, and adds what that did to what the
    /// cell's phases left to write. What was written before the first phase is the making of the cell.
    /// Gives in `lost` why not all could be written out: the unmount itself reports no such error.
    fn unmount_measured(&mut self, lost: &mut Option<Failure>) -> Result<()> {
        if !self.here.as_ref().is_some_and(|here| here.worked) {
            return self.place.as_mut().map_or(Ok(()), Backing::unmount);
        }
        self.time_disk(true)?;
        let (before, disk_before) = (self.counters(), self.disk_activity()?);
        let Some(place) = &mut self.place else { return Ok(()) };
        let (unmounted, seconds) = self.clock.time(|| {
            *lost = place.root().and_then(|root| write_out(&root)).err();
            place.unmount()
        });
        let device = self.counters().zip(before).and_then(|(after, before)| after.since(before));
        let disk = self.disk_activity()?.zip(disk_before);
        let disk = disk.map(|(after, before)| after.since(&before));
        self.time_disk(false)?;
        unmounted?;
        if let Some(here) = &mut self.here {
            here.worked = false;
            let settled = Settled { seconds, device, disk };
            here.settled = Some(match here.settled.take() {
                Some(before) => before.plus(settled),
                None => settled,
            });
        }
        Ok(())
    }

    fn counters(&self) -> Option<DeviceCounters> {
        self.device()?.counters()
    }

    /// Unmounts what is mounted; the next file system is made over it.
    fn leave(&mut self) -> Result<()> {
        if let Some(mut here) = self.here.take() {
            // All that it made stays: the file system goes as a whole.
            here.disk.close_for_unmount();
        }
        self.place.as_mut().map_or(Ok(()), Backing::unmount)
    }
}

impl Site for MadeSite {
    fn inside(&self) -> Option<&dyn Site> {
        self.here.as_ref().map(|here| &here.disk as &dyn Site)
    }

    /// The names of later directories are those that they would have had. Where cells are prepared, their history names them.
    fn skip_cell(&mut self, cell: &CellPlan, _: u64, _: u64) {
        if cell.prepare.is_none() {
            self.directory_id(cell);
        }
    }

    fn begin_cell(&mut self, cell: &CellPlan) -> Result<()> {
        if cell.prepare.is_none() {
            self.make_fresh(cell)?;
        }
        self.disk_mut()?.begin_cell(cell)
    }

    fn prepare(
        &mut self,
        cell: &CellPlan,
        prepare: &Prepare,
        stop: &AtomicBool,
        listener: HeadwayListener<'_>,
    ) -> Result<()> {
        // What was only tried out has not begun with the first level.
        let is_same_place =
            |here: &MountedFileSystem| here.variant == cell.variant && here.prepared;
        if !self.here.as_ref().is_some_and(is_same_place) {
            self.make_with(cell, &format!("seed{}", prepare.ballast.tree.seed))?;
        }
        if let Some(here) = &mut self.here {
            here.prepared = true;
        }
        self.disk_mut()?.prepare(cell, prepare, stop, listener)
    }

    fn keep_state(
        &mut self,
        number: u64,
        read: Option<&[OnBallast]>,
        stop: &AtomicBool,
    ) -> Result<()> {
        let (here, place) = mounted(&mut self.here, &mut self.place)?;
        here.disk.discard_free();
        let unread = read.map_or_else(Vec::new, |read| here.disk.unread_extents(read, stop));
        let closed = here.disk.close_for_unmount();
        place.unmount()?;
        place.keep(number, &unread, stop)?;
        let root = place.mount(&here.filesystem)?;
        let facts = here.facts.clone();
        self.kept.insert(number, KeptState { closed: closed.clone(), facts, unread });
        here.disk.reopen(closed, root)
    }

    fn restore_state(&mut self, cell: &CellPlan, number: u64, stop: &AtomicBool) -> Result<()> {
        self.leave()?;
        let (Some(kept), Some(place)) = (self.kept.get(&number), &mut self.place) else {
            return Err(Failure::failed("the state of the place was not kept"));
        };
        let Some(filesystem) = &cell.filesystem else {
            return Err(Failure::failed("no file system was made for this cell"));
        };
        place.restore(number, &kept.unread, stop)?;
        let root = place.mount(filesystem)?;
        let (closed, facts) = (kept.closed.clone(), kept.facts.clone());
        let (device, clock) = (facts.device.clone(), self.clock.clone());
        let host = self.host_on(filesystem);
        let disk = DirectorySite::restored(closed, root, &host, device, clock)?;
        self.here = Some(MountedFileSystem::new(cell, filesystem, disk, facts));
        Ok(())
    }

    fn forget_state(&mut self, number: u64) -> Result<()> {
        self.kept.remove(&number);
        self.place.as_ref().map_or(Ok(()), |place| place.forget_state(number))
    }

    fn end_cell(&mut self) -> Removal {
        match &mut self.here {
            Some(here) if here.prepared => here.disk.end_cell(),
            _ => self.remove_ballast(),
        }
    }

    fn remove_ballast(&mut self) -> Removal {
        self.leave().map_or_else(Removal::failed, |()| Removal::default())
    }

    fn prepare_caches(
        &mut self,
        phase: &Phase,
        stop: &AtomicBool,
        dropper: &dyn CacheDropper,
    ) -> Result<CacheVerdict> {
        let (here, _) = mounted(&mut self.here, &mut self.place)?;
        if phase.cache != CacheAsked::Cold || here.filesystem.kind.maker.is_none() {
            return here.disk.prepare_caches(phase, stop, dropper);
        }
        let closed = here.disk.close_for_unmount();
        let mut lost = None;
        let unmounted = self.unmount_measured(&mut lost);
        let (here, place) = mounted(&mut self.here, &mut self.place)?;
        if unmounted.is_err() {
            here.disk.reopen(closed, place.root()?)?;
            // Else something has a file of it open: what is left is to drop the caches.
            return lost.map_or_else(|| here.disk.prepare_caches(phase, stop, dropper), Err);
        }
        let memory = place.forget();
        let cached_beneath = here.facts.device.as_ref().is_some_and(|d| d.reads_through_cache());
        let root = place.mount(&here.filesystem)?;
        here.disk.reopen(closed, root)?;
        if let Some(lost) = lost {
            return Err(lost);
        }
        // Opening directories brings in inodes that lie near theirs.
        let is_dropped = dropper.drop_caches(CacheDrop::All, true)? || !cached_beneath;
        Ok(match (memory, is_dropped) {
            (_, false) => CacheVerdict::unverified(None, Doubt::CachedLoop),
            (PagesLeft::Nothing, true) => CacheVerdict::after_drop(Some(0.0)),
            (PagesLeft::Pages(share), true) => {
                CacheVerdict::unverified(Some(share), Doubt::StillCached)
            }
            (PagesLeft::StillMounted, true) => CacheVerdict::unverified(None, Doubt::StillMounted),
            (PagesLeft::Unknown, true) => CacheVerdict::after_drop(None),
        })
    }

    fn recheck_caches(
        &mut self,
        found: CacheVerdict,
        phase: &Phase,
        dropper: &dyn CacheDropper,
    ) -> Result<CacheVerdict> {
        match &mut self.here {
            Some(here) => {
                here.worked = true;
                here.disk.recheck_caches(found, phase, dropper)
            }
            None => Ok(found),
        }
    }

    fn settle(&mut self) -> Result<Option<Settled>> {
        let is_made = |here: &&mut MountedFileSystem| here.filesystem.kind.maker.is_some();
        let Some(here) = self.here.as_mut().filter(is_made) else { return Ok(None) };
        let closed = here.disk.close_for_unmount();
        let mut lost = None;
        let unmounted = self.unmount_measured(&mut lost);
        let (Some(here), Some(place)) = (&mut self.here, &mut self.place) else { return Ok(None) };
        let root = if unmounted.is_ok() { place.mount(&here.filesystem)? } else { place.root()? };
        here.disk.reopen(closed, root)?;
        let settled = here.settled.take().unwrap_or_default();
        // Where it is still mounted, mostly something has a file of it open.
        if let Err(failure) = &unmounted {
            failed_calls::keep(failure.sentence.clone());
        }
        lost.map_or_else(|| Ok(unmounted.is_ok().then_some(settled)), Err)
    }

    fn time_disk(&self, is_timed: bool) -> Result<()> {
        self.place.as_ref().map_or(Ok(()), |place| place.time_disk(is_timed))
    }

    fn disk_activity(&self) -> Result<Option<DiskActivity>> {
        self.place.as_ref().and_then(Backing::disk).map(ModelledDisk::activity).transpose()
    }

    fn engines(&self) -> EngineSource<'_> {
        self.here.as_ref().map_or(EngineSource::Nothing, |here| EngineSource::Directory(&here.disk))
    }
}

impl Drop for MadeSite {
    /// Before the place is closed nothing of it may be open.
    fn drop(&mut self) {
        let _ = self.leave();
    }
}
