//! `boatload plan`: what would run, what it needs, how long it may take.

use std::fmt::Write;

use clap::Args;

use super::job::Job;
use super::plan_text::{outline, place_lines, space_lines};
use super::{StorePlace, out};
use crate::analysis::estimate::{ProbeCosts, estimate, made_alike, same_work};
use crate::base::failure::{Exit, Failure, Result, shown};
use crate::base::units::{bytes, span};
use crate::host::facts::HostFacts;
use crate::host::space::Space;
use crate::plan;
use crate::plan::filesystem::{Volume, VolumeSize};
use crate::plan::phase::PhaseEnd;
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
  boatload plan --filesystem ext4,xfs --in-memory";

const EFFECTS: &str = "\
Room is checked before anything is written, and what a run would lack to make file systems is \
listed after the plan; of --device it reads the size and what is on it, and writes nothing to it. The time is that of an earlier run of the same job here, \
if one is in the store. Otherwise a probe of about a second does a small copy of the plan in a \
directory boatload-ID of its own and removes it at once, also after an error or Ctrl-C; as root it drops the \
kernel's caches up to four times if the plan asks for cold ones. With --no-probe nothing is written, \
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

/// The place a plan is checked against.
struct PlannedPlace<'a> {
    host: &'a HostFacts,
    space: &'a Space,
    directory: &'a std::path::Path,
    asked: &'a Volume,
    /// That of the file systems that are made; none if there are none.
    room: Option<VolumeSize>,
}

impl PlanCommand {
    pub(super) fn run(&self, store: &StorePlace) -> Result<Exit> {
        let plan = self.job.plan()?;
        let asked = self.job.place()?;
        let HostSurvey { host, space, device, plan, .. } = HostSurvey::new(&plan, &self.job.dir)?;
        let device = device.filter(|_| plan.reads_device());
        let (room, _) = room_asked(&plan, &asked);
        let directory = &self.job.dir;
        let place = PlannedPlace { host: &host, space: &space, directory, asked: &asked, room };
        let lacks = lacks(&plan, &asked, &host, &space, directory);
        if let Some(wrong) = lacks.iter().find(|lack| lack.exit == Exit::Usage) {
            return Err(wrong.clone());
        }
        let mut text = outline(&plan, room);
        let (said, lack) = self.room_lines(&plan, &place);
        let lack = together(lack.into_iter().chain(lacks));
        text.push_str(&said);
        if let Some(device) = &device {
            let facts = &device.facts;
            let size = bytes(facts.total_bytes.unwrap_or_default());
            let _ = writeln!(text, "\nreads {} ({size}) and writes nothing", facts.name);
        }
        if lack.is_none() && (plan.as_if_there().makes_files() || device.is_some()) {
            text.push_str(&self.time_line(&plan, store, &place)?);
        }
        out::print(&text)?;
        lack.map_or(Ok(Exit::Good), Err)
    }

    /// What room it needs, and why there is too little; nothing is written for either.
    fn room_lines(&self, plan: &plan::Plan, place: &PlannedPlace<'_>) -> (String, Option<Failure>) {
        let (mut text, mut lack) = (String::new(), None);
        let (there, kind) = (plan.in_place(), &place.host.filesystem.kind);
        if there.makes_files() {
            text.push_str(&space_lines(&there, place.space, place.host, place.directory));
            if room::fills_to(&there).is_some() && !self.fill_real {
                text.push_str("`run` wants --fill-real for it\n");
            }
            let wanted = room::bytes_at_most(&there, place.space);
            lack = room::check(&there, place.space, place.directory, true)
                .and_then(|()| room::check_memory(kind, wanted, place.directory))
                .err();
        }
        if let Some(room) = &place.room {
            text.push_str(&place_lines(plan, place.asked, room, place.space, place.directory));
            if !rustix::process::geteuid().is_root() {
                text.push_str("`run` wants root for it\n");
            }
        }
        (text, lack)
    }

    fn time_line(
        &self,
        plan: &plan::Plan,
        store: &StorePlace,
        place: &PlannedPlace<'_>,
    ) -> Result<String> {
        if let Some((seconds, id)) = same_run(plan, store, place) {
            return Ok(format!("takes about {}, as run {id} did\n", span(seconds)));
        }
        if let Some(seconds) = known(plan, place) {
            return Ok(format!("takes about {}\n", span(seconds)));
        }
        let why = match self.probed(plan, place) {
            Ok(costs) => match costs.as_ref().map(|c| (c, estimate(plan, c, &filled(place)))) {
                Some((costs, Some(seconds))) => {
                    let probe = format!("{:.1} s", costs.seconds.max(0.1));
                    let line = format!("takes about {}, by a probe of {probe}", span(seconds));
                    return Ok(line + &elsewhere(place));
                }
                Some((_, None)) => "the probe did not come to all of it".to_string(),
                None => "no earlier run of it on this file system is stored".into(),
            },
            Err(failure) if failure.exit == Exit::Interrupted => return Err(failure),
            Err(failure) => failure.sentence,
        };
        let rates = plan.in_place().cells.len() == plan.cells.len();
        let rates = rates.then(|| by_rates(plan, store, place)).flatten();
        Ok(match rates {
            Some(seconds) => format!(
                "takes about {} beside syncs and cleaning up, by an earlier run here\n",
                span(seconds)
            ),
            None => format!("no estimate of time: {why}\n"),
        })
    }

    /// What a probe found; none if there is to be none.
    fn probed(&self, plan: &plan::Plan, place: &PlannedPlace<'_>) -> Result<Option<ProbeCosts>> {
        let there = plan.as_if_there();
        if self.no_probe || !there.makes_files() {
            return Ok(None);
        }
        let interrupt = Interrupt::listen()?;
        probe(&there, place.host, place.directory, place.space, &interrupt).map(Some)
    }
}

/// The space that a plan fills: that of the file systems it makes, or what is there.
fn filled(place: &PlannedPlace<'_>) -> Space {
    let Some(image) = place.room else { return *place.space };
    let bytes = image.bytes;
    let available_inodes = Some(image.inodes);
    let block_bytes = place.space.block_bytes;
    Space {
        block_bytes,
        total_bytes: bytes,
        free_bytes: bytes,
        available_bytes: bytes,
        available_inodes,
    }
}

/// The end of an estimate, which says so where the probe was not made where the run will be.
fn elsewhere(place: &PlannedPlace<'_>) -> String {
    match place.room {
        Some(_) => {
            let there = shown(place.directory);
            format!("\n  on the file system of {there}, not on those that will be made\n")
        }
        None => "\n".into(),
    }
}

/// The seconds of a plan all of whose phases end after a time.
fn known(plan: &plan::Plan, place: &PlannedPlace<'_>) -> Option<f64> {
    let mut cells = plan.cells.iter();
    let is_known = cells.all(|cell| cell.reads_device());
    is_known.then(|| estimate(plan, &ProbeCosts::default(), place.space))?
}

fn is_here(host: &HostFacts, place: &PlannedPlace<'_>) -> bool {
    let device = |host: &HostFacts| host.device.as_ref().map(|device| device.name.clone());
    host.filesystem.kind == place.host.filesystem.kind && device(host) == device(place.host)
}

/// How long the newest run of the same work here took, in seconds, and its id. A store that is
/// missing or cannot be read has none: a plan does not make one.
fn same_run(
    plan: &plan::Plan,
    store: &StorePlace,
    place: &PlannedPlace<'_>,
) -> Option<(f64, String)> {
    let store = store.open_to_read().ok()??;
    let runs = store.runs().ok()?;
    let alike =
        runs.iter().filter(|run| run.book.run.scenario == plan.name && run.book.run.complete);
    alike.take(RUNS_MAX).find_map(|run| {
        let (volume, size) = (place.asked, place.room);
        let here = |book: &Book| is_here(&book.host, place) && made_alike(plan, volume, size, book);
        let book = store.load(&run.book.run.id).ok().filter(here)?;
        same_work(plan, &book).map(|seconds| (seconds, book.run.id.clone()))
    })
}

/// Seconds by the rates of each phase in an earlier run of the scenario, at whatever scale.
fn by_rates(plan: &plan::Plan, store: &StorePlace, place: &PlannedPlace<'_>) -> Option<f64> {
    // Rates of the place say nothing of a file system that is made anew on it.
    if plan.cells.iter().any(|cell| cell.filesystem.is_some()) {
        return None;
    }
    let store = store.open_to_read().ok()??;
    let device = place.host.device.as_ref().map(|device| device.name.as_str());
    let rates = store.phase_rates(&plan.name, &place.host.filesystem.kind, device).ok()?;
    let phases = plan.cells.iter().flat_map(|cell| &cell.phases);
    let seconds: Option<f64> = phases
        .map(|phase| match phase.end {
            PhaseEnd::After(ns) => Some(ns as f64 / 1e9),
            _ => rates.get(&phase.name).map(|rate| phase.selection.count as f64 / rate),
        })
        .sum();
    seconds.map(|seconds| seconds * f64::from(plan.repeats))
}
