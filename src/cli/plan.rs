//! Runs `boatload plan`: shows what would run, what it needs and how long it may take.

use std::fmt::Write;

use clap::Args;

use super::common::StorePlace;
use super::job::Job;
use super::out;
use super::plan_text::{level_lines, memory_line, outline, place_lines, space_lines};
use crate::analysis::estimate::{ProbeCosts, estimate, made_alike, same_work};
use crate::base::failure::{Exit, Failure, Result, shown};
use crate::base::units::{bytes, span};
use crate::host::facts::HostFacts;
use crate::host::process::is_root;
use crate::host::space::Space;
use crate::plan::filesystem::VolumeSize;
use crate::plan::phase::PhaseEnd;
use crate::plan::{CellPlan, Phase};
use crate::results::book::Book;
use crate::run::interrupt::Interrupt;
use crate::session::making::{lacks, room_asked, together};
use crate::session::probe::probe;
use crate::session::{HostSurvey, room};

const EXAMPLES: &str = "\
Examples:
  boatload plan smallfiles --scale original
  boatload plan my-job.toml --set files=1M --dir /mnt/x
  boatload plan fullness --no-probe               writes nothing at all
  boatload plan --filesystem ext4,xfs             the mkfs commands, and how large the image is
  boatload plan --filesystem ext4,xfs --disk hdd-7200";

const EFFECTS: &str = "\
Room is checked before anything is written, and what a run would lack to make file systems is \
listed after the plan; of --device it reads the size and what is on it, and writes nothing to it. The time is that of an earlier run of the same job here, \
if one is in the store. Otherwise a probe of about a second does a small copy of the plan in a \
directory boatload-ID of its own and removes it at once, also after an error or Ctrl-C; as root it drops the \
kernel's caches up to four times if the plan asks for cold ones. To make and mount a file system is taken \
to be 0.4 s, to unmount it and mount it again 0.1 s. With --no-probe nothing is written, \
and the time comes from earlier runs or is not stated. Where nothing can be written, the plan says so \
and gives no time.";

/// How many runs of the store are looked at for one that did the same.
const RUNS_MAX: usize = 20;

/// Show what would run, what it needs, and how long it may take
#[derive(Args)]
#[command(before_help = EXAMPLES, after_long_help = EFFECTS)]
pub(super) struct PlanCommand {
    #[command(flatten)]
    job: Job,
    /// Write nothing, not even for a moment
    #[arg(long)]
    no_probe: bool,
    /// Plan as `run --fill-real` would do it
    #[arg(long)]
    fill_real: bool,
}

impl PlanCommand {
    pub(super) fn run(&self, store: &StorePlace) -> Result<Exit> {
        let plan = self.job.plan()?;
        let asked = self.job.place(&plan)?;
        // A directory that is missing is a run that could not be, not a wrong command line.
        let survey = HostSurvey::new(&plan, &self.job.dir)
            .map_err(|failure| Failure { exit: Exit::Failed, ..failure })?
            .with_place(&asked, &self.job.dir);
        survey.check_turns()?;
        let plan = &survey.plan;
        let (room, _) = room_asked(&survey, &survey.place);
        let lacks = lacks(&survey, &survey.place, &self.job.dir);
        if let Some(wrong) = lacks.iter().find(|lack| lack.exit == Exit::Usage) {
            return Err(wrong.clone());
        }
        let planned = PlannedRun { command: self, store, survey: &survey, room };
        let mut text = outline(plan, room);
        let place = survey.check_place(&self.job.dir).err();
        let lack = match place {
            Some(place) => Some(place),
            None => together(planned.room_lines(&mut text).into_iter().chain(lacks)),
        };
        let device = survey.device.as_ref().filter(|_| plan.reads_device());
        if let Some(device) = device {
            let facts = &device.facts;
            let size = bytes(facts.total_bytes.unwrap_or_default());
            let _ = writeln!(text, "\nreads {} ({size}) and writes nothing", facts.name);
        }
        if lack.is_none() && (plan.as_if_there().makes_files() || device.is_some()) {
            text.push_str(&planned.time_line()?);
        }
        out::print(&text)?;
        lack.map_or(Ok(Exit::Good), Err)
    }
}

/// A plan, and the place it is checked against.
struct PlannedRun<'a> {
    command: &'a PlanCommand,
    store: &'a StorePlace,
    survey: &'a HostSurvey,
    /// The size of the file systems that are made; none if there are none.
    room: Option<VolumeSize>,
}

impl PlannedRun<'_> {
    /// Adds what room it needs; why there is too little. Nothing is written for either.
    fn room_lines(&self, text: &mut String) -> Option<Failure> {
        let HostSurvey { host, space, memory_free, plan, .. } = self.survey;
        let directory = &self.command.job.dir;
        let there = plan.in_place();
        let mut lack = self.survey.memory_need.check(self.survey.memory_room.as_ref()).err();
        if there.makes_files() {
            text.push_str(&space_lines(&there, space, host, directory));
            if room::fills_to(&there).is_some() && !self.command.fill_real {
                text.push_str("`run` wants --fill-real for it\n");
            }
            let wanted = room::bytes_at_most(&there, space);
            let fits = room::check(&there, 1, space, directory, true).and_then(|()| {
                room::check_memory(&host.filesystem.kind, wanted, *memory_free, directory)
            });
            lack = together(lack.into_iter().chain(fits.err()));
        }
        text.push_str(&level_lines(plan, self.survey.images.as_ref()));
        if let Some(room) = &self.room {
            text.push_str(&place_lines(plan, &self.survey.place, room, space, directory));
            if !is_root() {
                text.push_str("`run` wants root for it\n");
            }
        }
        text.push_str(&memory_line(self.survey));
        lack
    }

    fn time_line(&self) -> Result<String> {
        let HostSurvey { space, plan, .. } = self.survey;
        if let Some((seconds, id)) = self.same_run() {
            return Ok(format!("takes about {}, as run {id} did\n", span(seconds)));
        }
        if plan.cells.iter().all(CellPlan::reads_device)
            && let Some(seconds) = estimate(plan, &ProbeCosts::default(), space)
        {
            return Ok(format!("takes about {}\n", span(seconds)));
        }
        let why = match self.probed() {
            Ok(Some(costs)) => match estimate(plan, &costs, &self.filled()) {
                Some(seconds) => {
                    let (seconds, probe) = (span(seconds), costs.seconds.max(0.1));
                    let there = shown(&self.command.job.dir);
                    let elsewhere = match self.room {
                        Some(_) => {
                            format!(
                                "\n  on the file system of {there}, not on those that will be made"
                            )
                        }
                        None => String::new(),
                    };
                    return Ok(format!(
                        "takes about {seconds}, by a probe of {probe:.1} s{elsewhere}\n"
                    ));
                }
                None => "the probe did not come to all of it".to_string(),
            },
            Ok(None) if !plan.disks().is_empty() => {
                "a probe knows no modelled disk, and no run of it is stored".into()
            }
            Ok(None) => "no earlier run of it on this file system is stored".into(),
            Err(failure) if failure.exit == Exit::Interrupted => return Err(failure),
            Err(failure) => failure.sentence,
        };
        Ok(match self.seconds_by_rates() {
            Some(seconds) => format!(
                "takes about {} beside syncs and cleaning up, by an earlier run here\n",
                span(seconds)
            ),
            None => format!("no estimate of time: {why}\n"),
        })
    }

    /// What a probe found; none if there is to be none.
    fn probed(&self) -> Result<Option<ProbeCosts>> {
        let HostSurvey { host, space, plan, .. } = self.survey;
        let there = plan.as_if_there();
        if self.command.no_probe || !there.makes_files() || !plan.disks().is_empty() {
            return Ok(None);
        }
        let restores = |cell: &CellPlan| plan.restores(cell) && !cell.engine.is_simulated();
        let copies = plan.cells.iter().any(restores);
        let directory = &self.command.job.dir;
        probe(&there, host, directory, space, &Interrupt::listen()?, copies).map(Some)
    }

    /// The space that a plan fills: that of the file systems it makes, or what is there.
    fn filled(&self) -> Space {
        let Some(VolumeSize { bytes, inodes, .. }) = self.room else { return self.survey.space };
        Space {
            block_bytes: self.survey.space.block_bytes,
            total_bytes: bytes,
            free_bytes: bytes,
            available_bytes: bytes,
            available_inodes: Some(inodes),
            ..Space::default()
        }
    }

    /// How long the newest run of the same work here took, in seconds, and its id. A store that is
    /// missing or cannot be read has none: a plan does not make one.
    fn same_run(&self) -> Option<(f64, String)> {
        let HostSurvey { host, plan, .. } = self.survey;
        let device = |host: &HostFacts| host.device.as_ref().map(|device| device.name.clone());
        let is_here = |book: &Book| {
            book.host.filesystem.kind == host.filesystem.kind && device(&book.host) == device(host)
        };
        let store = self.store.open_to_read().ok()??;
        let runs = store.runs().ok()?.runs;
        let runs = runs.iter().map(|run| &run.book.run);
        let alike = runs.filter(|run| run.scenario == plan.name && run.complete);
        alike.take(RUNS_MAX).find_map(|run| {
            let is_alike = |book: &Book| made_alike(plan, &self.survey.place, self.room, book);
            let book = store.load(&run.id).ok().filter(is_here).filter(is_alike)?;
            same_work(plan, &book).map(|seconds| (seconds, book.run.id.clone()))
        })
    }

    /// Seconds by the rates of each phase in an earlier run of the scenario, at whatever scale. Rates
    /// of the place say nothing of a file system that is made anew on it.
    fn seconds_by_rates(&self) -> Option<f64> {
        let HostSurvey { host, plan, .. } = self.survey;
        if plan.cells.iter().any(|cell| cell.filesystem.is_some()) {
            return None;
        }
        let store = self.store.open_to_read().ok()??;
        let device = host.device.as_ref().map(|device| device.name.as_str());
        let rates = store.phase_rates(&plan.name, &host.filesystem.kind, device).ok()?;
        let seconds = |phase: &Phase| match phase.end {
            PhaseEnd::After(ns) => Some(ns as f64 / 1e9),
            _ => rates.get(&phase.name).map(|rate| phase.selection.count as f64 / rate),
        };
        let all: Option<f64> = plan.cells.iter().flat_map(|cell| &cell.phases).map(seconds).sum();
        all.map(|seconds| seconds * f64::from(plan.repeats))
    }
}
