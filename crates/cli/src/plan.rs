//! Runs `boatload plan`: shows what would run, what it needs and how long it may take.

use std::fmt::Write;
use std::path::PathBuf;

use clap::Args;

use super::common::StorePlace;
use super::job::Job;
use super::out;
use super::plan_document::{PlanDocument, PlannedNeed, PlannedTime};
use super::plan_text::{level_lines, memory_line, outline, place_lines, space_lines};
use boatload_analysis::forecast::{RunForecast, made_alike, same_work};
use boatload_base::failure::{Exit, Failure, Result};
use boatload_base::units::{bytes, counted, span};
use boatload_host::facts::HostFacts;
use boatload_host::process::is_root;
use boatload_plan::Phase;
use boatload_plan::filesystem::VolumeSize;
use boatload_plan::phase::PhaseEnd;
use boatload_plan::repetition::{REPEATS_MAX, REPEATS_MIN, Repetition};
use boatload_results::book::Book;
use boatload_session::make_filesystems::{lacks, room_asked, together};
use boatload_session::{HostSurvey, room};

const EXAMPLES: &str = "\
Examples:
  boatload plan smallfiles --scale original
  boatload plan my-job.toml --set files=1M --dir /mnt/x
  boatload plan --filesystem ext4,xfs             the mkfs commands, and how large the image is
  boatload plan --filesystem ext4,xfs --disk hdd-7200";

const EFFECTS: &str = "\
Nothing is written. Room is checked, and what a run would lack to make file systems is listed after the plan; of --device \
it reads the size and what is on it. The time is the time of an earlier run of the same job here, if the store has one; else it \
is computed from the rates of an earlier run of the scenario on the file system of --dir. A run that repeats until its answer \
is decided makes 3 to 12 repeats, so two times are stated, and the number of repeats that the earlier run made.";

/// How many runs of the store are looked at for one that did the same.
const RUNS_MAX: usize = 20;

/// Show what would run, what it needs, and how long it may take
#[derive(Args)]
#[command(before_help = EXAMPLES, after_long_help = EFFECTS)]
pub(super) struct PlanCommand {
    #[command(flatten)]
    job: Job,
    /// Plan as `run --fill-real` would do it
    #[arg(long)]
    fill_real: bool,
    /// Also write the plan (JSON) to FILE; - writes it instead of the text
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
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
        if lack.is_none() && plan.cells.iter().any(|cell| !cell.engine.is_simulated()) {
            text.push_str(&planned.time_line());
        }
        out::print_and_keep(&text, self.json.as_deref(), || planned.document(lack.as_ref()))?;
        lack.map_or(Ok(Exit::Good), Err)
    }
}

/// A plan, and the place it is checked against.
struct PlannedRun<'a> {
    command: &'a PlanCommand,
    store: &'a StorePlace,
    survey: &'a HostSurvey,
    /// The size of the file systems that are made; `None` when there are none.
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

    /// The plan as data, with why it could not run here.
    fn document(&self, lack: Option<&Failure>) -> Result<String> {
        let HostSurvey { space, plan, .. } = self.survey;
        let mut document = PlanDocument::of(plan);
        let there = plan.in_place();
        let need = there.makes_files().then(|| room::need(&there, space.block_bytes));
        document.need = need.map(|need| PlannedNeed::new(need, space));
        document.made_bytes = self.room.map(|room| room.bytes);
        document.memory_bytes = self.survey.memory_need.bytes;
        let earlier = self.same_run();
        let estimate = earlier.map(|earlier| (earlier.forecast, Some(earlier.id)));
        let estimate = estimate.or_else(|| Some((self.by_rates()?, None)));
        document.estimate = estimate.map(|(time, run)| PlannedTime::new(&time, &document, run));
        document.obstacle = lack.map(|lack| lack.sentence.clone());
        out::json_line("write the plan", &document)
    }

    fn time_line(&self) -> String {
        if let Some(EarlierRun { id, forecast, repeats }) = self.same_run() {
            let made = match self.survey.plan.repetition() {
                Repetition::Fixed(_) => String::new(),
                Repetition::UntilDecided(_) => {
                    format!(", which ended after {}", counted(u64::from(repeats), "repeat"))
                }
            };
            return format!("takes {}, by run {id}{made}\n", self.times(&forecast));
        }
        match self.by_rates() {
            Some(forecast) => format!(
                "takes {}, without syncs and cleaning up, by the rates of an earlier run here\n",
                self.times(&forecast)
            ),
            None => {
                "no estimate of time: no earlier run of it on this file system is stored\n".into()
            }
        }
    }

    /// The times of the fewest repeats and of the most.
    fn times(&self, forecast: &RunForecast) -> String {
        let time = |repeats| span(forecast.seconds(repeats));
        match self.survey.plan.repetition() {
            Repetition::Fixed(repeats) => {
                format!("about {} for {}", time(repeats), counted(u64::from(repeats), "repeat"))
            }
            Repetition::UntilDecided(_) => {
                let [least, most] = [REPEATS_MIN, REPEATS_MAX].map(time);
                format!("about {least} for {REPEATS_MIN} repeats and {most} for {REPEATS_MAX}")
            }
        }
    }

    /// The newest run of the same work here. A store that is missing or cannot be read has none: a plan does not make one.
    fn same_run(&self) -> Option<EarlierRun> {
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
            let is_alike = |book: &Book| {
                same_work(plan, book) && made_alike(plan, &self.survey.place, self.room, book)
            };
            let book = store.load(&run.id).ok().filter(is_here).filter(is_alike)?;
            let cells = store.origin_of(&run.id).ok().flatten().map(|(_, cells)| cells);
            let forecast = RunForecast::of(&book, &cells.unwrap_or_default())?;
            Some(EarlierRun { id: book.run.id, forecast, repeats: book.run.repeats })
        })
    }

    /// By the rates of each phase in an earlier run of the scenario, at whatever scale. Rates of the place say nothing of a
    /// file system that is made anew on it.
    fn by_rates(&self) -> Option<RunForecast> {
        let HostSurvey { host, plan, .. } = self.survey;
        if plan.makes_filesystems() {
            return None;
        }
        let store = self.store.open_to_read().ok().flatten();
        let device = host.device.as_ref().map(|device| device.name.as_str());
        let kind = &host.filesystem.kind;
        let rates = store.and_then(|store| store.phase_rates(&plan.name, kind, device).ok());
        let rates = rates.unwrap_or_default();
        let seconds = |phase: &Phase| match phase.end {
            PhaseEnd::After(ns) => Some(ns as f64 / 1e9),
            _ => rates.get(&phase.name).map(|rate| phase.selection.count as f64 / rate),
        };
        let all: Option<f64> = plan.cells.iter().flat_map(|cell| &cell.phases).map(seconds).sum();
        all.map(|repeat_seconds| RunForecast { once_seconds: 0.0, repeat_seconds })
    }
}

/// An earlier run of the same work.
struct EarlierRun {
    id: String,
    forecast: RunForecast,
    /// Repeats that it made.
    repeats: u32,
}
