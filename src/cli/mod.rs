//! The command line: one file for each command. Here and in `report` is the only printing.

mod check;
mod clean;
mod compare;
mod effort;
mod export;
mod files;
mod history;
mod import;
mod inspect;
mod job;
mod live;
mod out;
mod place;
mod plan;
mod plan_text;
mod progress;
mod report;
mod run;
mod runs;
mod runs_named;
mod scenarios;
mod screen;
mod selftest;
mod show;
mod stock;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::base::failure::{Exit, Failure, Result};
use crate::base::shell::quoted;
use crate::host::paths;
use crate::host::space::Space;
use crate::store::Store;

const EXAMPLES: &str = "\
Examples:
  boatload run                            small files in the current directory
  boatload run smallfiles --dir /mnt/x    the same on another file system
  boatload run my-job.toml --repeats 5    a job file of your own
  boatload show last                      the newest result again";

const LONG: &str = "\
boatload runs scenarios: job files that ask one question about a file system, such as which is \
best for hundreds of thousands of small files. It creates, reads, changes and removes files below \
a directory of its own, named boatload-RUN, which it makes in --dir, marks, and removes again; it \
touches nothing else. Every run is stored, with each measurement's latencies, what was found in \
the caches, and why a figure should not be trusted where that is so.

Units: sizes take B, kB, MB, GB (powers of 1000) and KiB, MiB, GiB (powers of 1024); counts take \
k, M and underscores; times take ns, us, ms, s. Latencies are of single operations, from the end \
of one to the end of the next.

As root boatload can drop the kernel's caches and prove that it did; without root it says which \
phases are unverified.";

const EXITS: &str = "\
Exit codes: 0 good, 1 failed, 2 wrong usage, 3 a check found a regression, 4 finished with invalid \
measurements, 130 interrupted.";

/// How a file system's speed changes as something grows.
#[derive(Parser)]
#[command(name = "boatload", version, before_help = EXAMPLES, before_long_help = LONG)]
#[command(after_help = "More with --help.", after_long_help = EXITS)]
#[command(max_term_width = 100, subcommand_required = true, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
    /// File that keeps the results [default: $XDG_DATA_HOME/boatload/boatload.db]
    ///
    /// An SQLite database that any sqlite3 can read; it is made when it is missing. Without
    /// XDG_DATA_HOME it is ~/.local/share/boatload/boatload.db.
    // Behind the arguments of each command, whatever their number.
    #[arg(long, global = true, value_name = "FILE", display_order = 900)]
    store: Option<PathBuf>,
}

#[derive(Subcommand)]
enum Command {
    Run(run::Run),
    Plan(plan::Plan),
    Scenarios(scenarios::Scenarios),
    Runs(runs::Runs),
    Show(show::Show),
    Compare(compare::Compare),
    Check(check::Check),
    Report(report::Report),
    Export(export::Export),
    Import(import::Import),
    Inspect(inspect::Inspect),
    #[command(name = "selftest")]
    SelfTest(selftest::SelfTest),
    Fill(stock::Fill),
    Age(stock::Age),
    Clean(clean::Clean),
}

/// Where results are kept: opened only by the commands that need them.
struct StorePlace(Option<PathBuf>);

impl StorePlace {
    fn path(&self) -> Result<PathBuf> {
        self.0.clone().map_or_else(paths::default_store, Ok)
    }

    /// To write; it is made if it is missing.
    fn open(&self) -> Result<Store> {
        Store::open(self.path()?)
    }

    /// To read; none if there is no store yet.
    fn open_to_read(&self) -> Result<Option<Store>> {
        let path = self.path()?;
        // Where it cannot be told, opening it says why.
        let is_there = path.try_exists().unwrap_or(true);
        if is_there { Store::open_to_read(path).map(Some) } else { Ok(None) }
    }
}

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let store = StorePlace(arguments.store);
    let outcome = match arguments.command {
        Command::Run(command) => command.run(&store),
        Command::Plan(command) => command.run(&store),
        Command::Scenarios(command) => command.run(),
        Command::Runs(command) => command.run(&store),
        Command::Show(command) => command.run(&store),
        Command::Compare(command) => command.run(&store),
        Command::Check(command) => command.run(&store),
        Command::SelfTest(command) => command.run(),
        Command::Report(command) => command.run(&store),
        Command::Export(command) => command.run(&store),
        Command::Import(command) => command.run(&store),
        Command::Inspect(command) => command.run(),
        Command::Fill(command) => command.run(),
        Command::Age(command) => command.run(),
        Command::Clean(command) => command.run(),
    };
    let exit = outcome.unwrap_or_else(|failure| {
        out::complain(&failure.sentence);
        failure.exit
    });
    ExitCode::from(exit as u8)
}

/// The command line as it was typed, for the record.
fn command_line() -> String {
    let words = std::env::args_os().enumerate().map(|(at, word)| {
        let word = if at == 0 { "boatload".into() } else { word };
        quoted(&crate::base::failure::shown(word))
    });
    words.collect::<Vec<_>>().join(" ")
}

/// How full the file system of an open directory is.
fn space_of(directory: std::os::fd::BorrowedFd<'_>) -> Result<Space> {
    Space::of(directory)
        .map_err(|error| Failure::from_system("ask how much space is left", error.about()))
}

/// Good, unless a measurement is invalid.
fn exit_of(book: &crate::measure::book::ResultBook) -> Exit {
    if book.measurements.iter().all(|m| m.valid()) { Exit::Good } else { Exit::Invalid }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn short_help_begins_with_examples_and_fits_a_screen() {
        let mut command = Arguments::command();
        let all: Vec<_> = command.get_subcommands().map(|c| c.get_name().to_string()).collect();
        let mut helps = vec![command.render_help().to_string()];
        for name in all {
            let sub = command.find_subcommand_mut(&name).map(|c| c.render_help().to_string());
            helps.extend(sub);
        }
        for help in helps {
            assert!(help.starts_with("Examples:"), "{help}");
            assert!(help.lines().count() <= 40, "{} lines:\n{help}", help.lines().count());
        }
    }
}
