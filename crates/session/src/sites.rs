//! Makes the places that the cells of a run need, and removes them.

use std::os::fd::AsFd;

use super::make_filesystems::{self, Toolset};
use super::{HostSurvey, RankGroup, RunOrder, Watcher};
use boatload_base::failure::{Failure, Result};
use boatload_host::facts::HostFacts;
use boatload_plan::{CellPlan, Plan};
use boatload_results::book::MadeFileSystem;
use boatload_run::clock::RealClock;
use boatload_run::interrupt::Interrupt;
use boatload_run::remove::Removal;
use boatload_run::run_directory::{RunDirectory, open_parent};
use boatload_run::site::{DeviceSite, DirectorySite, MadeSite, SimSite, Site};

/// The places a run uses: cells with different engines are in different ones.
pub(super) struct Sites {
    pub(super) disk: Option<DirectorySite>,
    pub(super) made: Option<MadeSite>,
    pub(super) device: Option<DeviceSite>,
    pub(super) sim: Option<SimSite>,
}

impl Sites {
    /// The places that an order needs, and the host's facts with what they found.
    pub(super) fn make(
        order: &RunOrder<'_>,
        survey: HostSurvey,
        tools: Option<Toolset>,
        id: &str,
        clock: RealClock,
        interrupt: &Interrupt,
    ) -> Result<(Self, HostFacts)> {
        let HostSurvey { parent, mut host, device, .. } = survey;
        let mut sites = Self { disk: None, made: None, device: None, sim: None };
        if let Some(device) = device.clone().filter(|_| order.plan.reads_device()) {
            let site = DeviceSite::new(device, host.rights.drop_caches, clock.clone())?;
            host.rights.cache_probe = site.cache_probe().into();
            sites.device = Some(site);
        }
        if let Some(tools) = tools {
            let parent = open_parent(&order.directory)?;
            // Cells that need no file system made may have another directory there.
            let id = if order.plan.makes_files() { format!("{id}fs") } else { id.to_string() };
            let run_directory =
                RunDirectory::make(parent, &order.directory, &id, interrupt.flag())?;
            let (host, clock) = (host.clone(), clock.clone());
            sites.made = Some(tools.site(run_directory, order, host, clock, interrupt)?);
        }
        if order.plan.makes_files() {
            let run_directory = match order.group {
                None => RunDirectory::make(parent, &order.directory, id, interrupt.flag())?,
                Some(group) => {
                    group.own_directory(parent.as_fd(), &order.directory, interrupt.flag())?
                }
            };
            let site = DirectorySite::new(run_directory, &host, device, clock.clone())?;
            // What the kernel can do in general says little of this file system.
            host.rights.cache_probe = site.cache_probe().into();
            sites.disk = Some(site);
        }
        if order.plan.cells.iter().any(|cell| cell.engine.is_simulated()) {
            sites.sim = Some(SimSite::new(clock));
        }
        Ok((sites, host))
    }

    /// Makes and mounts the file system of each variant once; where one cannot be made, what that leaves behind is told
    /// too.
    pub(super) fn try_out(
        &mut self,
        plan: &Plan,
        watcher: &dyn Watcher,
    ) -> Result<Vec<MadeFileSystem>> {
        let Some(site) = &mut self.made else { return Ok(Vec::new()) };
        make_filesystems::try_out(plan, site, watcher).map_err(|failure| match self.close(None) {
            Ok(()) => failure,
            Err(left) => failure.then(&left),
        })
    }

    /// Removes the run's directories, with what was mounted in them.
    pub(super) fn close(&mut self, group: Option<&RankGroup<'_>>) -> Result<()> {
        (self.sim, self.device) = (None, None);
        let made = self.made.take().map_or_else(|| Ok(Removal::default()), MadeSite::close);
        let disk = self.disk.take().map_or_else(|| Ok(Removal::default()), DirectorySite::close);
        let shared = group.map_or_else(|| Ok(Removal::default()), RankGroup::close);
        let (mut left, mut failures) = (Vec::new(), Vec::new());
        for removal in [made, disk, shared] {
            match removal {
                Ok(removal) => left.extend(removal.left),
                Err(failure) => failures.push(failure),
            }
        }
        failures.extend(none_stays(&left).err());
        let all = failures.into_iter().reduce(|first, next| first.then(&next));
        all.map_or(Ok(()), Err)
    }

    /// The place that a cell runs in.
    pub(super) fn for_cell(&mut self, cell: &CellPlan) -> Result<&mut dyn Site> {
        let site = if cell.engine.is_simulated() {
            self.sim.as_mut().map(|site| site as &mut dyn Site)
        } else if cell.reads_device() {
            self.device.as_mut().map(|site| site as _)
        } else if cell.filesystem.is_some() {
            self.made.as_mut().map(|site| site as _)
        } else {
            self.disk.as_mut().map(|site| site as _)
        };
        site.ok_or_else(|| Failure::failed("the run has no place for this engine"))
    }
}

/// Whether the run's directory is gone, in which this is left.
pub(super) fn none_stays(left: &[String]) -> Result<()> {
    match left {
        [] => Ok(()),
        left => Err(Failure::failed(format!(
            "the run's directory is still there, because this is in it: {}. \
             `boatload clean` removes what boatload made",
            left.join(", ")
        ))),
    }
}
