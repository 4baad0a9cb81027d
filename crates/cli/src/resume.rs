//! Runs `boatload resume`: continues a stored run that ended early.

use clap::Args;

use super::common::StorePlace;
use super::completion;
use super::run::{NamedAgain, RunOutput, from_anywhere, run_of};
use super::runs::{known_origin, open_run};
use boatload_base::failure::{Exit, Failure, Result, shown};
use boatload_session::UnfinishedRun;

const EXAMPLES: &str = "\
Examples:
  boatload resume last
  boatload resume k7m --report run.html
  sudo boatload resume nightly --erase /dev/sdb      what may be destroyed is named again";

const LONG: &str = "\
The run continues at the first cell that was not done, after kill -9, a power cut, Ctrl-C or an error, with the job, seed, \
options and place of its command. A cell that was begun is measured anew as a whole, and replaces what there was of \
it; places that were prepared are prepared again. In the end there are the same measurements as without the \
interruption. What the run left on the disk is removed first, as `boatload clean` does.

A device still has boatload's file system after kill -9 or a power cut: `wipefs -a DEV` first.

If boatload's version, the kernel, the machine, the directory, the file system or the device has changed since the run \
began, the change is named and nothing is done (exit code 2). --anyway continues nevertheless; the report says what differs. \
Nor is anything done while another host may still be at work in the run's directory: `boatload clean DIR --other-hosts` \
removes that if it is not.

A run can be resumed as often as it ends early, from the store that it was begun with; an imported one cannot.";

/// Continue a run that ended early
#[derive(Args)]
#[command(before_help = EXAMPLES, after_long_help = LONG)]
pub(super) struct Resume {
    /// The run: an id, a unique prefix of one, a tag, `last` or `last~1`
    #[arg(value_name = "RUN", add = completion::runs())]
    run: String,
    #[command(flatten)]
    output: RunOutput,
    /// Continue although something has changed since the run began
    #[arg(long)]
    anyway: bool,
    #[command(flatten)]
    again: NamedAgain,
}

impl Resume {
    pub(super) fn run(&self, place: &StorePlace) -> Result<Exit> {
        self.output.check()?;
        let unfinished = self.unfinished(place)?;
        let output = self.output.with_absolute_paths()?;
        let place = StorePlace { store: Some(from_anywhere(&place.path()?)?) };
        let directory = &unfinished.origin.working_directory;
        std::env::set_current_dir(directory).map_err(|error| {
            Failure::from_system(
                format!("go to {}, where the run was begun", shown(directory)),
                error,
            )
        })?;
        // Only there relative paths mean what they meant.
        let command = &unfinished.book.run.command;
        let run = run_of(command).map_err(|why| {
            let (id, command, why) = (&unfinished.book.run.id, shown(command), shown(why));
            Failure::usage(format!("run {id} cannot be resumed by its command {command}: {why}"))
        })?;
        run.go_on(unfinished, &self.again, &output, &place)
    }

    fn unfinished(&self, place: &StorePlace) -> Result<UnfinishedRun> {
        let (store, id) = open_run(&self.run, place)?;
        let book = store.load(&id)?;
        if book.run.complete {
            return Err(Failure::usage(format!(
                "run {id} is complete: there is nothing to resume. `boatload show {id}` shows it"
            )));
        }
        if !book.run.hosts.is_empty() {
            let ranks = book.run.hosts.len();
            return Err(Failure::usage(format!(
                "run {id} cannot be resumed: {ranks} ranks made it, and a run of many is begun anew"
            )));
        }
        let (origin, cells) = known_origin(&store, &id, "resumed")?;
        if origin.process.is_running_elsewhere() {
            let process = origin.process.process;
            return Err(Failure::usage(format!("run {id} is still running, in process {process}")));
        }
        Ok(UnfinishedRun { book, origin, cells, anyway: self.anyway })
    }
}
