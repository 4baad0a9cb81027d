//! Checks and makes the place where the file systems of a run are made.

use std::path::Path;

use super::lacks::{has_image, kinds, lacks, room_asked};
use super::{RunOrder, Watcher};
use crate::base::failure::{Failure, Result};
use crate::host::facts::{FilesystemFacts, HostFacts};
use crate::host::making::probe_all;
use crate::host::mounts::enter_private_mounts;
use crate::host::space::Space;
use crate::plan::filesystem::{self, Volume, VolumeSize};
use crate::plan::{CellPlan, FileSystem, Plan};
use crate::results::book::MadeFileSystem;
use crate::run::backing::Backing;
use crate::run::clock::RealClock;
use crate::run::interrupt::Interrupt;
use crate::run::run_directory::Ground;
use crate::run::site::{MadeFacts, MadeSite, MkfsTools};

/// What is there to make file systems with.
pub(super) struct Toolset {
    tools: MkfsTools,
    room: VolumeSize,
}

/// Looks whether the file systems of a plan can be made, and touches nothing. None if it wants
/// none.
pub(super) fn means(
    plan: &Plan,
    asked: &Volume,
    host: &HostFacts,
    space: &Space,
    directory: &Path,
) -> Result<Option<Toolset>> {
    if plan.makes_filesystems() && !rustix::process::geteuid().is_root() {
        return Err(Failure::failed(
            "making and mounting file systems takes root. Nothing was written. Run it with sudo, or \
             name a directory on a mounted file system with --dir, and no --filesystem",
        ));
    }
    let lacks = lacks(plan, asked, host, space, directory);
    if let Some(Failure { exit, .. }) = lacks.first() {
        let sentences: Vec<_> = lacks.iter().map(|lack| lack.sentence.as_str()).collect();
        return Err(Failure { exit: *exit, sentence: sentences.join("\n") });
    }
    let (room, _) = room_asked(plan, asked);
    let Some(room) = room else { return Ok(None) };
    Ok(Some(Toolset { tools: probe_all(&kinds(plan))?, room }))
}

/// What is mounted from now on is seen by this process alone, and goes with it however it ends.
/// Where that is refused, mounts are seen by all, and `clean` finds those of a killed run.
pub(super) fn enter_own_mounts(plan: &Plan) {
    if plan.makes_filesystems() {
        let _ = enter_private_mounts();
    }
}

impl Toolset {
    /// Whether anything is made with a mkfs, which takes a device.
    fn makes(&self) -> bool {
        self.tools.iter().any(|(_, tool)| tool.is_some())
    }

    /// What an image in the directory may grow to, in bytes; 0 without one.
    pub(super) fn image_bytes(&self, asked: &Volume) -> u64 {
        let kinds: Vec<_> = self.tools.iter().map(|(kind, _)| *kind).collect();
        if has_image(&kinds, asked) { self.room.bytes } else { 0 }
    }

    /// The place, in the marked directory `ground`.
    ///
    /// # Errors
    /// If it cannot be made; then nothing is left of it.
    pub(super) fn site(
        self,
        ground: Ground,
        order: &RunOrder<'_>,
        host: HostFacts,
        clock: RealClock,
        id: &str,
        interrupt: &Interrupt,
    ) -> Result<MadeSite> {
        let asked = self.makes().then_some(&order.place);
        let place = Backing::make(ground, &order.directory, asked, self.room)?;
        Ok(MadeSite::new(place, self.tools, host, clock, id, interrupt.clone()))
    }
}

/// Makes and mounts the file system of each variant once, so that what cannot be made is known before
/// anything is measured; gives what they are like, in the plan's order.
pub(super) fn try_out(
    plan: &Plan,
    site: &mut MadeSite,
    watcher: &dyn Watcher,
) -> Result<Vec<MadeFileSystem>> {
    let mut made: Vec<(&FileSystem, MadeFileSystem)> = Vec::new();
    for cell in &plan.cells {
        let Some(filesystem) = &cell.filesystem else { continue };
        if made.last().is_some_and(|(_, last)| last.variant == cell.variant) {
            continue;
        }
        if let Some((_, same)) = made.iter().find(|(known, _)| *known == filesystem) {
            made.push((
                filesystem,
                MadeFileSystem { variant: cell.variant.clone(), ..same.clone() },
            ));
            continue;
        }
        watcher.status(&format!("trying to make {}", filesystem.label()));
        site.make_fresh(cell)?;
        made.extend(record(cell, site).map(|record| (filesystem, record)));
    }
    Ok(made.into_iter().map(|(_, record)| record).collect())
}

/// What is kept of a file system that was made for a cell.
fn record(cell: &CellPlan, site: &MadeSite) -> Option<MadeFileSystem> {
    let (made, MadeFacts { version, mount, space, device, trimmed, .. }) = site.made()?;
    let facts = FilesystemFacts::new(mount, *space);
    Some(MadeFileSystem {
        variant: cell.variant.clone(),
        kind: made.kind.name.into(),
        mkfs: filesystem::shown_command(made, site.room()?),
        mkfs_version: version.clone(),
        mount_asked: filesystem::mount_options(made, site.room()?),
        options: facts.options,
        place: site.made_on(made.kind).unwrap_or_default(),
        device_bytes: site.room()?.bytes,
        device: device.as_ref().map(|device| device.facts.clone()),
        block_bytes: facts.block_bytes,
        total_bytes: facts.total_bytes,
        available_bytes: facts.available_bytes,
        inodes: facts.available_inodes,
        trimmed: *trimmed,
    })
}
