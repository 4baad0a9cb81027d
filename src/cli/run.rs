//! Runs `boatload run`: runs a scenario and reports it.

use std::path::{Path, PathBuf};

use clap::Args;

use super::job::Job;
use super::progress::{Progress, Quiet};
use super::{StorePlace, exit_of, out, report, show};
use crate::analysis::history::same_target;
use crate::base::failure::{Exit, Failure, Result, shown};
use crate::results::book::Book;
use crate::run::interrupt::Interrupt;
use crate::session::{self, RunOrder, RunOutcome, Watcher};

const EXAMPLES: &str = "\
Examples:
  boatload run                                    smallfiles, here, in under a minute
  boatload run smallfiles --dir /mnt/x --scale original
  boatload run --filesystem ext4,xfs,btrfs        each made fresh, run on, and ranked (root)
  boatload run my-job.toml --set files=50k --threads 4 --json -";

const EFFECTS: &str = "\
What it touches: a directory boatload-RUN that it makes in --dir and removes at the end, also \
after an error or Ctrl-C (a second Ctrl-C ends it at once; `boatload clean` removes what that \
leaves). It does not begin unless 5% of the file system or 1 GiB, whichever is less, would stay free. As root it syncs and \
drops the kernel's caches before each cold phase, which slows down everything else on the machine \
for a moment. File systems of --filesystem or of the job file are made on an image file in that \
directory, unless --device and --erase name a device for it, or --in-memory or --disk is given. Results go to standard output, progress to standard error.";

/// Run a scenario and report it
#[derive(Args)]
#[command(before_help = EXAMPLES, after_long_help = EFFECTS)]
pub(super) struct Run {
    #[command(flatten)]
    job: Job,
    /// Also write the run document (JSON) to FILE; - writes it alone
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Also write the report for a browser to FILE.html
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
    /// Report everything, not only the answer
    ///
    /// `boatload show RUN --details` does so later.
    #[arg(long)]
    details: bool,
    /// Show the run on the whole terminal while it goes on
    ///
    /// q leaves the view and the run goes on with plain progress; Ctrl-C stops the run. Shown are cells
    /// done and to come, rate and mean latency of the last second, the device, the processors, and phases
    /// that are over. It is drawn on standard error four times a second, from 40 columns and 10 rows on.
    /// Where that is no terminal, one sentence says so and progress comes as without it.
    #[arg(long, conflicts_with = "quiet")]
    live: bool,
    #[command(flatten)]
    quiet: Quiet,
    /// Let a scenario fill the file system of --dir
    ///
    /// Nothing else should need it: everything on it would feel that.
    #[arg(long)]
    fill_real: bool,
}

impl Run {
    pub(super) fn run(&self, place: &StorePlace) -> Result<Exit> {
        report::check_place(self.report.as_deref())?;
        let plan = self.job.plan()?;
        let order = self.job.order(&plan, self.fill_real)?;
        // With a view, the terminal is given back before a signal may end the process at once.
        let interrupt = if self.live { Interrupt::listen_unarmed()? } else { Interrupt::listen()? };
        let mut store = place.open()?;
        let progress = match self.live {
            true => Progress::live(&plan, &interrupt),
            false => Progress::plain(Some(&plan), self.quiet),
        };
        let RunOutcome { book, failure, is_kept } =
            session::run(&order, &mut store, &progress, &interrupt)?;
        drop(progress);
        let is_interrupted = interrupt.is_set();
        let exit = if is_interrupted { Exit::Interrupted } else { exit_of(&book) };
        let exit = self.give(&book, exit);
        if is_interrupted && failure.is_none() {
            out::note(&format!("interrupted; what was done is kept as run {}", book.run.id));
        }
        if !is_kept {
            keep_elsewhere(&book, self.json.as_deref(), place)?;
        }
        failure.map_or(Ok(exit), Err)
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
        let stored = super::run_of(command).ok_or_else(|| {
            Failure::usage(format!(
                "{id} cannot be run again: {} is no such command",
                shown(command)
            ))
        })?;
        // Its command may come from elsewhere; what it destroys must be asked for by who is here.
        if stored.fill_real || stored.job.erases() {
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
        let mut store = store.open()?;
        let progress = Progress::plain(Some(&plan), quiet);
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

    /// Gives the results wherever they were asked for. One that cannot be given keeps no other, and
    /// no code that tells of the run itself.
    fn give(&self, book: &Book, exit: Exit) -> Exit {
        let shown = show::deliver(book, self.details, self.json.as_deref());
        let kept = self.report.as_deref().map_or(Ok(()), |path| report::keep_run(book, path));
        [shown, kept].into_iter().filter_map(Result::err).fold(exit, |exit, failure| {
            out::complain(&failure.sentence);
            if exit == Exit::Good { failure.exit } else { exit }
        })
    }
}

/// Writes the document of a run that the store lacks to a file: the one that was asked for, else beside the store,
/// else in the working directory, else where temporary files lie.
fn keep_elsewhere(book: &Book, asked: Option<&Path>, place: &StorePlace) -> Result<()> {
    let name = format!("boatload-{}.json", book.run.id);
    // A pipe has had it; a file may not have taken it.
    let asked = asked.filter(|path| path.is_file()).map(Path::to_path_buf);
    let beside = place.path().ok().and_then(|path| Some(path.parent()?.join(&name)));
    let others = [PathBuf::from(&name), std::env::temp_dir().join(&name)];
    let document = show::document(book)?;
    let mut places = asked.into_iter().chain(beside).chain(others);
    let kept = places.find(|path| out::write_file(path, &document).is_ok());
    if let Some(path) = kept {
        let path = shown(&path);
        out::note(&format!(
            "the run is in {path}; `boatload import {path}` brings it into a store"
        ));
    }
    Ok(())
}
