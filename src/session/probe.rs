//! Runs a small copy of a plan in a marked directory that is removed at once, to learn what each kind of
//! work costs here.

use std::path::Path;

use super::{new_id, none_left, room};
use crate::analysis::estimate::{BallastCost, CellCost, ProbeCosts, ProbedPhase, mean_bytes};
use crate::base::failure::{Failure, Result};
use crate::host::block_device::BlockDevice;
use crate::host::facts::HostFacts;
use crate::host::space::Space;
use crate::plan::{CellPlan, Phase, Plan};
use crate::results::recorder::PhaseRecorder;
use crate::run::cache::OwnDropper;
use crate::run::clock::RealClock;
use crate::run::drive::DoneCount;
use crate::run::image::ImageFile;
use crate::run::interrupt::Interrupt;
use crate::run::run_directory::{RunDirectory, open_parent};
use crate::run::site::{DirectorySite, Site};

/// No cell begins after so many seconds.
const SECONDS_MAX: f64 = 1.0;

/// Bytes of the image that is copied.
const COPIED_BYTES: u64 = 32 << 20;

/// Does a small copy of what a plan makes below a directory, and removes it. Phases on a device or
/// a simulated file system are left out. If it is to run with `copies` of images, it makes one.
///
/// # Errors
/// If it cannot be done there, or was interrupted; then too nothing is left.
pub(crate) fn probe(
    plan: &Plan,
    host: &HostFacts,
    directory: &Path,
    space: &Space,
    interrupt: &Interrupt,
    copies: bool,
) -> Result<ProbeCosts> {
    let small = plan.shrunken();
    room::check(&small, 1, space, directory, false)?;
    let clock = RealClock::new();
    let parent = open_parent(directory)?;
    let id = new_id()?;
    let mount = crate::host::mounts::Mount::of(std::os::fd::AsFd::as_fd(&parent));
    let device = mount.ok().and_then(|mount| BlockDevice::under(&mount));
    let run_directory = RunDirectory::make(parent, directory, &id, interrupt.flag())?;
    let copied = match copies {
        true => copy_seconds_per_byte(&run_directory, &clock, interrupt),
        false => Ok(0.0),
    };
    let mut site = DirectorySite::new(run_directory, host, device, clock.clone())?;
    let mut probing = Probing {
        clock: &clock,
        interrupt,
        costs: ProbeCosts { drops: host.rights.drop_caches, ..ProbeCosts::default() },
    };
    let (done, seconds) = clock.time(|| probing.cells(&small, &mut site));
    let mut costs = probing.costs;
    none_left(&site.close()?, "the directory of the probe")?;
    done?;
    costs.copy_seconds_per_byte = copied?;
    if interrupt.is_set() {
        return Err(Failure::interrupted("interrupted; what the probe made is removed"));
    }
    costs.seconds = seconds;
    Ok(costs)
}

/// Seconds to copy a byte of an image in a run directory.
fn copy_seconds_per_byte(
    run_directory: &RunDirectory,
    clock: &RealClock,
    interrupt: &Interrupt,
) -> Result<f64> {
    let failed = |error: std::io::Error| Failure::from_system("make an image", error);
    let directory = run_directory.directory().try_clone_to_owned().map_err(failed)?;
    let image = ImageFile::make(directory, COPIED_BYTES).map_err(failed)?;
    let content = vec![0xa5; COPIED_BYTES as usize];
    let mut written = 0;
    while written < content.len() {
        let rest = &content[written..];
        written += rustix::io::pwrite(image.file(), rest, written as u64)
            .map_err(|error| failed(error.into()))?;
    }
    let (kept, seconds) = clock.time(|| image.keep(0, &[], interrupt.flag()));
    kept.map(|()| seconds / COPIED_BYTES as f64)
}

struct Probing<'a> {
    clock: &'a RealClock,
    interrupt: &'a Interrupt,
    costs: ProbeCosts,
}

impl Probing<'_> {
    fn cells(&mut self, small: &Plan, site: &mut DirectorySite) -> Result<()> {
        let mut spent = 0.0;
        for cell in small.cells.iter().filter(|cell| cell.makes_files()) {
            if self.interrupt.is_set() || spent > SECONDS_MAX {
                return Ok(());
            }
            let clock = self.clock;
            let (done, seconds) = clock.time(|| self.cell(cell, site));
            done?;
            spent += seconds;
        }
        Ok(())
    }

    fn cell(&mut self, cell: &CellPlan, site: &mut DirectorySite) -> Result<()> {
        let clock = self.clock;
        let mut ballast = BallastCost { variant: cell.variant.clone(), ..BallastCost::default() };
        if let Some(prepare) = &cell.prepare {
            let stop = self.interrupt.flag();
            let (made, seconds) = clock.time(|| site.prepare(cell, prepare, stop, &|_| ()));
            made?;
            if let crate::plan::BallastGoal::Files(files) = prepare.goal {
                (ballast.files, ballast.seconds) = (files as f64, seconds);
            }
        }
        let (begun, begin_seconds) = clock.time(|| site.begin_cell(cell));
        begun?;
        for phase in &cell.phases {
            if self.interrupt.is_set() {
                return Ok(());
            }
            let phase = site.resolved(phase);
            let cost = self.phase(cell, &phase, site)?;
            self.costs.phases.push(cost);
        }
        let entries = site.count_entries().unwrap_or_default() as f64;
        let (removal, end_seconds) = clock.time(|| site.end_cell());
        none_left(&removal, "the tree of the probe")?;
        self.costs.cells.push(CellCost {
            directories: cell.tree.layout_directories() as f64,
            begin_seconds,
            entries,
            end_seconds,
        });
        let (removal, seconds) = clock.time(|| site.remove_ballast());
        none_left(&removal, "the files of the probe")?;
        ballast.removal_seconds = seconds;
        self.costs.stocks.push(ballast);
        Ok(())
    }

    fn phase(
        &self,
        cell: &CellPlan,
        phase: &Phase,
        site: &mut DirectorySite,
    ) -> Result<ProbedPhase> {
        let stop = self.interrupt.flag();
        let treat = || {
            let found = site.prepare_caches(phase, stop, &OwnDropper)?;
            site.recheck_caches(found, phase, &OwnDropper)
        };
        let (treated, cache_seconds) = self.clock.time(treat);
        treated?;
        let done: Vec<DoneCount> = DoneCount::of_workers(phase.threads);
        let mut recorders: Vec<PhaseRecorder> = (0..phase.threads)
            .map(|worker| PhaseRecorder::new(phase.turns(worker), None))
            .collect();
        let run = site.engines().work(phase, stop, &done, &mut recorders);
        // A sync that fails says nothing of how long a good one takes.
        let sync_seconds = site.sync().unwrap_or_default();
        Ok(ProbedPhase {
            variant: cell.variant.clone(),
            phase: phase.name.clone(),
            cache: phase.cache,
            mean_bytes: mean_bytes(phase, cell),
            operations: run.operations as f64,
            seconds: run.seconds,
            cache_seconds,
            sync_seconds,
        })
    }
}
