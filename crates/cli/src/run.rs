//! Runs `boatload run`: runs a scenario and reports it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};

use super::common::{StorePlace, Stored, exit_of};
use super::job::Job;
use super::progress::{Progress, Quiet};
use super::runs::{known_origin, open_run};
use super::{out, report, show};
use boatload_analysis::history::same_target;
use boatload_base::failure::{Exit, Failure, Result, shown};
use boatload_base::patience::soon;
use boatload_base::shell::{is_command_text, words};
use boatload_plan::Plan;
use boatload_results::book::Book;
use boatload_results::store::{Store, TAG_RULE, is_tag};
use boatload_run::communicator::Communicator;
use boatload_run::communicator::collectives::Collectives;
use boatload_run::interrupt::Interrupt;
use boatload_session::{self as session, Nobody, RunOrder, RunOutcome, UnfinishedRun, Watcher};

const EXAMPLES: &str = "\
Examples:
  boatload run                                smallfiles, here, under a minute
  boatload run smallfiles --dir /mnt/x --scale original
  boatload run --filesystem ext4,xfs,btrfs    each made fresh (root)
  boatload run my-job.toml --set files=50k --threads 4 --json -";

const EFFECTS: &str = "\
What it touches: a directory boatload-RUN in --dir, which is removed at the end, also after an error or Ctrl-C; `boatload clean` \
removes what a killed run leaves. 5% of the file system or 1 GiB stay free, unless --fill-real is given. As root it drops the \
kernel's caches before cold phases, which slows down the rest of the machine for a moment.

--filesystem takes root. Each is made fresh on an image in --dir, or on --disk, --device or in memory, and every variant runs on \
each: TYPE[:mkfs=WORDS][:mount=OPTIONS][:disk=MODEL][:name=NAME],...

The same --seed gives the same operations in the same order. `boatload scenarios show NAME` lists what --set changes; lists are \
written KEY=30,50,70. Without --repeats a run ends when its answer is decided, after 3 to 12 repeats.";

/// Run a scenario and report it
#[derive(Args)]
#[command(before_help = EXAMPLES, after_long_help = EFFECTS)]
pub(super) struct Run {
    #[command(flatten)]
    job: Job,
    #[command(flatten)]
    output: RunOutput,
    /// Let a scenario fill the file system of --dir
    #[arg(long, hide_short_help = true)]
    fill_real: bool,
    /// A name for the run, which commands take instead of its id
    #[arg(long, value_name = "NAME", value_parser = tag, hide_short_help = true)]
    tag: Option<String>,
}

/// Where a run shows its progress, and where its results are written.
#[derive(Args, Clone)]
pub(super) struct RunOutput {
    /// Write the run document too; - writes it alone
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write a page for a browser too
    #[arg(long, value_name = "FILE.html", hide_short_help = true)]
    report: Option<PathBuf>,
    /// Report everything, not only the answer
    #[arg(long)]
    details: bool,
    #[command(flatten)]
    quiet: Quiet,
}

fn tag(word: &str) -> std::result::Result<String, &'static str> {
    if is_tag(word) { Ok(word.into()) } else { Err(TAG_RULE) }
}

impl RunOutput {
    /// Whether all of it can be written, as far as that is known beforehand.
    ///
    /// # Errors
    /// If it cannot.
    pub(super) fn check(&self) -> Result<()> {
        report::check_place(self.report.as_deref())?;
        self.json.as_deref().map_or(Ok(()), out::check_file)
    }

    /// The same for another working directory.
    ///
    /// # Errors
    /// If this one has no name.
    pub(super) fn with_absolute_paths(&self) -> Result<Self> {
        let absolute = |path: &Option<PathBuf>| match path {
            Some(path) if path != Path::new("-") => from_anywhere(path).map(Some),
            path => Ok(path.clone()),
        };
        Ok(Self { json: absolute(&self.json)?, report: absolute(&self.report)?, ..self.clone() })
    }

    /// Does the `work` of a plan until this interrupt, shows its progress, keeps it in this store, and gives the results.
    ///
    /// # Errors
    /// If nothing was measured; or, when all that there is was given, why that is not all.
    fn give_run(
        &self,
        plan: &Plan,
        store: StoreOfRun<'_>,
        interrupt: &Interrupt,
        work: impl FnOnce(&mut Store, &dyn Watcher) -> Result<RunOutcome>,
    ) -> Result<Exit> {
        let StoreOfRun { place, mut store, unusable } = store;
        let last_words = |outcome: Result<RunOutcome>| {
            let given = outcome.and_then(|outcome| self.deliver(outcome, place, false));
            given.err().iter().for_each(|failure| out::complain(&failure.sentence));
        };
        let progress = Progress::new(Some(plan), self.quiet).with_last_words(&last_words);
        unusable
            .iter()
            .for_each(|failure| progress.notice(&session::continues_without_store(failure)));
        let outcome = work(&mut store, &progress)?;
        drop(progress);
        self.deliver(outcome, place, interrupt.is_set())
    }

    /// Gives the results of a run, and says how it ended.
    ///
    /// # Errors
    /// Why they are not all.
    fn deliver(
        &self,
        outcome: RunOutcome,
        place: &StorePlace,
        is_interrupted: bool,
    ) -> Result<Exit> {
        let RunOutcome { book, failure, is_kept } = outcome;
        let mut exit = if is_interrupted { Exit::Interrupted } else { exit_of(&book) };
        let shown_all = show::deliver(&book, self.details, self.json.as_deref());
        let kept = self.report.as_deref().map_or(Ok(()), |path| report::keep_run(&book, path));
        // One that cannot be given keeps no other, and no code that tells of the run itself.
        for failure in [shown_all, kept].into_iter().filter_map(Result::err) {
            out::complain(&failure.sentence);
            if exit == Exit::Good {
                exit = failure.exit;
            }
        }
        let id = &book.run.id;
        if is_interrupted && failure.is_none() {
            out::note(&format!("interrupted; what was done is kept as run {id}"));
        }
        if !is_kept {
            keep_elsewhere(&book, self.json.as_deref(), place)?;
        } else if !book.run.complete && is_command_text() && book.run.hosts.is_empty() {
            out::note(&format!("`{}` continues it", shown(book.run.resume_command())));
        }
        failure.map_or(Ok(exit), Err)
    }
}

/// The store of a run, open, or a stand-in for it.
struct StoreOfRun<'a> {
    place: &'a StorePlace,
    store: Store,
    /// Why it is a stand-in; `None` when it is not.
    unusable: Option<Failure>,
}

impl<'a> StoreOfRun<'a> {
    fn open(place: &'a StorePlace) -> Result<Self> {
        let (store, unusable) = Store::open_for_run(place.path()?)?;
        Ok(Self { place, store, unusable })
    }
}

/// A path as it is from any working directory.
///
/// # Errors
/// If this one has no name.
pub(super) fn from_anywhere(path: &Path) -> Result<PathBuf> {
    std::path::absolute(path)
        .map_err(|error| Failure::from_system(format!("find {}", shown(path)), error))
}

impl Run {
    pub(super) fn run(&self, place: &StorePlace, communicator: &dyn Communicator) -> Result<Exit> {
        if communicator.size() > 1 {
            return self.run_with_ranks(communicator, place);
        }
        self.output.check()?;
        let plan = self.job.plan()?;
        let order = self.job.order(&plan, self.fill_real)?;
        let order = RunOrder { tag: self.tag.clone(), ..order };
        let (interrupt, store) = (Interrupt::listen()?, StoreOfRun::open(place)?);
        self.output.give_run(&plan, store, &interrupt, |store, watcher| {
            session::run(&order, store, watcher, &interrupt)
        })
    }

    /// Runs this rank's part. Rank 0 shows, keeps and says all; what another rank fails with, it says too.
    fn run_with_ranks(&self, communicator: &dyn Communicator, place: &StorePlace) -> Result<Exit> {
        let is_first = communicator.rank() == 0;
        let interrupt = Interrupt::listen()?;
        let collectives = Collectives::new(communicator, interrupt.flag());
        let checked = if is_first { self.output.check() } else { Ok(()) };
        let plan = checked.and_then(|()| self.job.plan()).map(Plan::for_ranks);
        let order = plan.as_ref().map_err(Clone::clone);
        let order = order.and_then(|plan| self.job.order(plan, self.fill_real));
        let order = order.map(|order| RunOrder { tag: self.tag.clone(), ..order });
        let asked = order.as_ref().map_err(Clone::clone);
        let group = session::agree_on_run(collectives, asked, |seed| {
            self.job.plan_with_seed(seed).map(Plan::for_ranks)
        });
        let outcome = group.and_then(|group| {
            let (order, plan) = (order?, group.own_plan());
            let plan = plan.ok_or_else(|| Failure::failed("this rank has no plan"))?;
            let order = RunOrder { plan, group: Some(&group), ..order };
            if is_first {
                // Before anything is made, so that nobody waits for a rank 0 that cannot keep anything.
                let store = group.each_with(StoreOfRun::open(place))?;
                return self.output.give_run(plan, store, &interrupt, |store, watcher| {
                    session::run(&order, store, watcher, &interrupt)
                });
            }
            let mut store = group.each_with(Store::in_memory())?;
            // Of ranks other than the first nobody sees how far they are.
            session::run(&order, &mut store, &Nobody, &interrupt)?.whole().map(|_| Exit::Good)
        });
        match outcome {
            // Rank 0 says it.
            Err(failure) if !is_first => Ok(failure.exit),
            outcome => outcome,
        }
    }

    /// Continues a stored run of this command, in the working directory of its beginning; `again` holds what the user
    /// named again.
    ///
    /// # Errors
    /// If it cannot continue, or would destroy what was not named again.
    pub(super) fn go_on(
        &self,
        unfinished: UnfinishedRun,
        again: &NamedAgain,
        output: &RunOutput,
        place: &StorePlace,
    ) -> Result<Exit> {
        again.check(&unfinished.book.run.id, self.fill_real, self.job.erases())?;
        let book = &unfinished.book;
        let plan = self.job.stored_plan(book, unfinished.origin.memory_bytes)?;
        if self.job.is_other_than(book) {
            let id = &book.run.id;
            out::note(&format!(
                "the job has changed since; run {id} continues with the job that it began with"
            ));
        }
        let order = self.job.order(&plan, self.fill_real)?;
        let order = RunOrder { command: book.run.command.clone(), ..order };
        let (interrupt, store) = (Interrupt::listen()?, StoreOfRun::open(place)?);
        output.give_run(&plan, store, &interrupt, |store, watcher| {
            session::resume(&order, unfinished, store, watcher, &interrupt)
        })
    }

    /// Does a stored run again: the same job with its options, in the same place. The result is kept, and `why` is
    /// said first.
    ///
    /// # Errors
    /// If it cannot be done again, would do something else now, or was interrupted.
    pub(super) fn again(
        book: &Book,
        why: &str,
        store: &StorePlace,
        quiet: Quiet,
        interrupt: &Interrupt,
    ) -> Result<Book> {
        let (id, command) = (&book.run.id, &book.run.command);
        if !book.run.hosts.is_empty() {
            let ranks = book.run.hosts.len();
            return Err(Failure::usage(format!(
                "{id} was made by {ranks} ranks, which one process cannot do again: run it with as many, and check that run"
            )));
        }
        // Its command may come from elsewhere.
        let (origin, _) = known_origin(&open_run(id, store)?.0, id, "run again")?;
        let stored = run_of(command).map_err(|why| {
            let (command, why) = (shown(command), shown(why));
            Failure::usage(format!("{id} cannot be run again by its command {command}: {why}"))
        })?;
        // What it destroys must be asked for by who is here.
        if stored.fill_real || stored.job.erases().is_some() {
            return Err(Failure::usage(format!(
                "{id} erased a device or filled a file system, which is not done again unasked: repeat its \
                 command yourself, and check that run"
            )));
        }
        let plan = stored.job.plan()?;
        let same = (&plan.job, plan.scale, &plan.parameters)
            == (&book.run.job, book.run.scale, &book.run.parameters);
        if !same {
            return Err(Failure::usage(format!(
                "{id} cannot be run again: its job file or scenario has changed since"
            )));
        }
        let order = stored.job.order(&plan, stored.fill_real)?;
        let order = RunOrder { command: command.clone(), ..order };
        session::check_same_place(book, &origin, &order)?;
        let mut store = store.open()?;
        let progress = Progress::new(Some(&plan), quiet);
        progress.notice(why);
        let again = session::run(&order, &mut store, &progress, interrupt)?.whole()?;
        drop(progress);
        if interrupt.is_set() {
            let sentence = format!("interrupted while {id} was run again");
            return Err(Failure { exit: Exit::Interrupted, sentence });
        }
        if !same_target(book, &again) {
            return Err(Failure::failed(format!(
                "{id} was measured on another machine or place than run {} of the same now; \
                 `boatload compare {id} {}` says which",
                again.run.id, again.run.id
            )));
        }
        Ok(again)
    }
}

/// What a run destroys is not destroyed again unless it is named again.
#[derive(Args)]
pub(super) struct NamedAgain {
    /// Let the run fill the file system of its directory again
    #[arg(long)]
    fill_real: bool,
    /// The device of the run once more, to say that it may be erased again
    #[arg(long, value_name = "DEV")]
    erase: Option<PathBuf>,
}

impl NamedAgain {
    /// Whether what a run destroys is named, and nothing else.
    ///
    /// # Errors
    /// If it is not.
    pub(super) fn check(&self, id: &str, fills: bool, erases: Option<&Path>) -> Result<()> {
        if (fills, erases) == (self.fill_real, self.erase.as_deref()) {
            return Ok(());
        }
        let erases = erases.map(|device| format!("--erase {}", shown(device)));
        let named: Vec<String> =
            fills.then(|| "--fill-real".to_string()).into_iter().chain(erases).collect();
        Err(Failure::usage(match named.is_empty() {
            true => format!("run {id} was begun without --fill-real and without --erase"),
            false => format!(
                "run {id} destroys what it is allowed to: say that it may again, with {}",
                named.join(" ")
            ),
        }))
    }
}

/// Writes the document of a run that the store lacks to a file: the one that was asked for, else, for its owner alone,
/// beside the store, in the working directory, or where temporary files lie.
pub(super) fn keep_elsewhere(book: &Book, asked: Option<&Path>, place: &StorePlace) -> Result<()> {
    let name = format!("boatload-{}.json", book.run.id);
    let beside = place.path().ok().and_then(|path| Some(path.parent()?.join(&name)));
    let others = [PathBuf::from(&name), std::env::temp_dir().join(&name)];
    let document = show::document(book)?;
    let takes = |path: &Path, is_asked: bool| {
        let (path, document) = (path.to_path_buf(), document.clone());
        let write = move || match is_asked {
            // A pipe has had it; a file may not have taken it.
            true => path.is_file() && out::write_file(&path, &document).is_ok(),
            false => out::write_private_file(&path, &document).is_ok(),
        };
        soon(write).unwrap_or(false)
    };
    let kept = asked.filter(|path| takes(path, true)).map(Path::to_path_buf);
    let kept = kept.or_else(|| beside.into_iter().chain(others).find(|path| takes(path, false)));
    if let Some(path) = kept {
        let path = shown(&path);
        out::note(&format!(
            "the run is in {path}; `boatload import {path}` brings it into a store"
        ));
    }
    Ok(())
}

#[derive(Parser)]
struct RunLine {
    #[command(subcommand)]
    command: RunCommand,
}

#[derive(Subcommand)]
enum RunCommand {
    Run(Box<Stored<Run>>),
    #[command(external_subcommand)]
    #[expect(dead_code, reason = "clap takes the words of any other command")]
    Other(Vec<OsString>),
}

/// No variable of the environment.
const NOTHING: Option<&str> = None;

/// The `boatload run` that a stored command line is, or why it is none now.
pub(super) fn run_of(command: &str) -> std::result::Result<Run, String> {
    let words = words(command).ok_or("its quotes do not end")?;
    // What the environment named then is in the command; what it names now is another matter.
    let line = RunLine::command().mut_subcommands(|run| run.mut_args(|arg| arg.env(NOTHING)));
    let line = line.try_get_matches_from(words);
    match line.and_then(|line| RunLine::from_arg_matches(&line)).map(|line| line.command) {
        Ok(RunCommand::Run(stored)) => Ok(stored.command),
        Ok(RunCommand::Other(_)) => Err("it is no `boatload run`".into()),
        Err(error) => {
            let text = error.to_string();
            let first = text.lines().next().unwrap_or_default();
            Err(first.trim_start_matches("error: ").to_string())
        }
    }
}
