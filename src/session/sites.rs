//! Makes the places that the cells of a run need.

use std::os::fd::AsFd;

use super::making::Toolset;
use super::{HostSurvey, RunOrder};
use crate::base::failure::{Failure, Result};
use crate::host::facts::HostFacts;
use crate::plan::CellPlan;
use crate::run::clock::RealClock;
use crate::run::interrupt::Interrupt;
use crate::run::run_directory::{RunDirectory, open_parent};
use crate::run::site::{DeviceSite, DiskSite, MadeSite, SimSite, Site};

/// The places a run uses: cells with different engines are in different ones.
pub(super) struct Sites {
    pub(super) disk: Option<DiskSite>,
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
            // Beside it there may be the directory of cells that need no file system made.
            let id = if order.plan.makes_files() { format!("{id}fs") } else { id.to_string() };
            let run_directory = RunDirectory::make(parent, &order.directory, &id)?;
            let (host, clock) = (host.clone(), clock.clone());
            sites.made = Some(tools.site(run_directory, order, host, clock, interrupt)?);
        }
        if order.plan.makes_files() {
            let run_directory = match order.group {
                None => RunDirectory::make(parent, &order.directory, id)?,
                Some(group) => group.own_directory(parent.as_fd(), &order.directory)?,
            };
            let site = DiskSite::new(run_directory, &host, device, clock.clone())?;
            // What the kernel can do in general says little of this file system.
            host.rights.cache_probe = site.cache_probe().into();
            sites.disk = Some(site);
        }
        if order.plan.cells.iter().any(|cell| cell.engine.is_simulated()) {
            sites.sim = Some(SimSite::new(clock));
        }
        Ok((sites, host))
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
