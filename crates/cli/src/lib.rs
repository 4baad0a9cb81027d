//! Parses the command line and calls the command. Only this stage and `report` print.

mod audit;
mod check;
mod clean;
mod common;
mod compare;
mod completion;
mod crash;
mod disks;
mod export;
mod fill;
mod guard_directory;
mod import;
mod inspect;
mod job;
mod out;
mod plan;
mod plan_document;
mod plan_text;
mod progress;
mod report;
mod resume;
mod run;
mod runs;
mod scenarios;
mod selftest;
mod serve_disk;
mod show;
mod terminal_width;
mod trace;
mod version;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use clap::{ColorChoice, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};

use self::common::{ColorUse, Stored};
use boatload_base::failure::{Exit, Failure, Result};
use boatload_host::capabilities::{PrivilegedWork, keep_only};
use boatload_run::communicator::{Communicator, SelfCommunicator};

const EXAMPLES: &str = "\
Examples:
  boatload run                            small files in the current directory
  boatload run smallfiles --dir /mnt/x    the same on another file system
  boatload run my-job.toml --repeats 5    a job file of your own
  boatload show last                      the newest result again";

/// What a line without a command gets.
const FIRST_STEPS: &str = "\
boatload answers how the speed of a file system changes as something grows.

  boatload run
      How fast is this directory for small files? A minute, no root needed.

  sudo boatload run --filesystem ext4,xfs,btrfs
      Which file system is best for many small files? Each is made in an image file.

  sudo boatload trace -- COMMAND
      Where does the time of a program go: would a faster file system help?

`boatload -h` lists all commands, `boatload scenarios` the other questions.";

const LONG: &str = "\
A scenario is a job file that asks one question about a file system, such as which is \
best for many small files. boatload creates, reads, changes and removes files for it below \
a directory of its own, named boatload-RUN, which it makes in --dir, marks, and removes again; it \
changes no other files but its store and those that the command names. Every run is stored, with each measurement's latencies, what was found in \
the caches, and why a figure should not be trusted where that is so.

Units: sizes take B, kB, MB, GB (powers of 1000) and KiB, MiB, GiB (powers of 1024); counts take \
k, M and underscores; times take ns, us, ms, s, m, h. Latencies are of single operations, from the \
end of one to the end of the next.

As root boatload can drop the kernel's caches and prove that it did; without root it says which \
phases are unverified.";

const EXITS: &str = "\
Exit codes: 0 good, 1 failed, 2 wrong usage, 3 a check found a regression, a power cut broke a promise or \
damaged a file system, or an audit found something, 4 finished with invalid \
measurements, 130 interrupted.";

/// How a file system's speed changes as something grows.
#[derive(Parser)]
#[command(name = "boatload", version, before_help = EXAMPLES, before_long_help = LONG)]
#[command(after_help = "More with --help.", after_long_help = EXITS)]
#[command(max_term_width = 100, disable_version_flag = true)]
struct Arguments {
    /// Print the version
    #[arg(long, short = 'V')]
    version: bool,
    /// With --version: also features, engines and the version of SQLite
    #[arg(long, requires = "version", hide_short_help = true)]
    verbose: bool,
    #[command(flatten)]
    _color: ColorUse,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    Run(Stored<run::Run>),
    Resume(Stored<resume::Resume>),
    Plan(Stored<plan::PlanCommand>),
    Scenarios(scenarios::Scenarios),
    Disks(disks::Disks),
    Runs(Stored<runs::Runs>),
    Show(Stored<show::Show>),
    Compare(Stored<compare::Compare>),
    Check(Stored<check::CheckCommand>),
    Crash(crash::Crash),
    Audit(audit::AuditCommand),
    Trace(Stored<trace::Trace>),
    Report(Stored<report::ReportCommand>),
    Export(Stored<export::ExportCommand>),
    Import(Stored<import::Import>),
    Inspect(inspect::Inspect),
    #[command(name = "selftest")]
    SelfTest(selftest::SelfTest),
    Fill(fill::Fill),
    Age(fill::Age),
    Clean(clean::Clean),
    #[command(hide = true)]
    ServeDisk(serve_disk::ServeDisk),
    #[command(hide = true)]
    GuardDirectory(guard_directory::GuardDirectory),
}

impl Command {
    /// What it does that takes more than a user's rights; `None` when it gives up the others itself.
    fn privileged_work(&self) -> Option<PrivilegedWork> {
        Some(match self {
            // It first makes the process of a program that keeps them.
            Self::Trace(_) => return None,
            Self::Run(_)
            | Self::Resume(_)
            | Self::Plan(_)
            // It may run the job again.
            | Self::Check(_)
            | Self::Inspect(_)
            | Self::SelfTest(_)
            | Self::Fill(_)
            | Self::Age(_)
            | Self::Crash(_) => PrivilegedWork::Measure,
            Self::ServeDisk(_) => PrivilegedWork::ServeDisk,
            Self::Clean(_) | Self::GuardDirectory(_) => PrivilegedWork::Clean,
            // The others read and write files of the user: no more than that is given to a new one.
            _ => PrivilegedWork::Files,
        })
    }
}

impl Command {
    /// Whether it looks at the machine or opens a store.
    fn reads_proc(&self) -> bool {
        !matches!(self, Self::Scenarios(_) | Self::Disks(_) | Self::Audit(_))
    }
}

/// The command line, from which parser, help, man pages and completions are made.
pub fn command() -> clap::Command {
    Arguments::command()
}

/// Parses a command line.
fn arguments(words: Vec<OsString>) -> std::result::Result<Arguments, clap::Error> {
    let wants_all = words.iter().any(|word| word == "--help")
        || words.get(1).is_some_and(|word| word == "help");
    let command = command().color(asked_color(&words));
    let command = if wants_all { with_all_help(command) } else { command };
    Arguments::from_arg_matches(&command.try_get_matches_from(words)?)
}

/// The `--color` of a command line, before it is parsed: help and what is wrong with it are coloured, and nothing else.
fn asked_color(words: &[OsString]) -> ColorChoice {
    let options = words.split(|word| word == "--").next().unwrap_or_default();
    let value = options.iter().enumerate().find_map(|(at, word)| match word.to_str()? {
        "--color" => options.get(at + 1)?.to_str(),
        word => word.strip_prefix("--color="),
    });
    value.and_then(|word| ColorChoice::from_str(word, true).ok()).unwrap_or_default()
}

/// The command with all of its help, where each option still takes one line.
fn with_all_help(command: clap::Command) -> clap::Command {
    let before = command.get_before_long_help().or(command.get_before_help()).cloned();
    let after = command.get_after_long_help().or(command.get_after_help()).cloned();
    let command = command
        .mut_args(|arg| arg.hide_short_help(false).long_help(NONE))
        .mut_subcommands(with_all_help)
        .before_long_help(NONE)
        .after_long_help(NONE);
    let command = match before {
        Some(before) => command.before_help(before),
        None => command,
    };
    match after {
        Some(after) => command.after_help(after),
        None => command,
    }
}

/// No text of help.
const NONE: Option<&str> = None;

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    main_with(true, || Ok(Box::new(SelfCommunicator)))
}

/// The same for one of many ranks: `run` is done by all ranks together, and only rank 0 prints; `clean` and `inspect` are done
/// by each process, and all other commands by rank 0 alone. `join` starts MPI; it is called for `run` alone. `is_first` is
/// whether the launcher made this process rank 0, as far as it says that.
pub fn main_with(is_first: bool, join: impl FnOnce() -> Result<Box<dyn Communicator>>) -> ExitCode {
    completion::answer_shell(command);
    let arguments = match arguments(std::env::args_os().collect()) {
        Ok(arguments) => arguments,
        // All ranks have the same command line; one is enough to say what is wrong with it, or to help. A launcher ends all
        // when one fails, so only that one does.
        Err(_) if !is_first => return ExitCode::SUCCESS,
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(error.exit_code() as u8);
        }
    };
    if arguments.version {
        return printed_version(is_first, arguments.verbose);
    }
    let Some(command) = arguments.command else { return first_steps(is_first) };
    // The last two are processes that a rank starts.
    let is_of_each = matches!(
        command,
        Command::Run(_)
            | Command::Clean(_)
            | Command::Inspect(_)
            | Command::ServeDisk(_)
            | Command::GuardDirectory(_)
    );
    if !is_first && !is_of_each {
        return ExitCode::SUCCESS;
    }
    if let Some(work) = command.privileged_work() {
        keep_only(work);
    }
    if command.reads_proc() && !Path::new("/proc/self").exists() {
        return ended(Err(Failure::failed(
            "/proc is not mounted: it shows which file systems, stores and files are meant. `mount -t proc proc /proc`",
        )));
    }
    let outcome = match command {
        Command::Run(stored) => {
            join().and_then(|communicator| stored.command.run(&stored.store, &*communicator))
        }
        Command::Resume(stored) => stored.command.run(&stored.store),
        Command::Plan(stored) => stored.command.run(&stored.store),
        Command::Scenarios(command) => command.run(),
        Command::Disks(command) => command.run(),
        Command::Runs(stored) => stored.command.run(&stored.store),
        Command::Show(stored) => stored.command.run(&stored.store),
        Command::Compare(stored) => stored.command.run(&stored.store),
        Command::Check(stored) => stored.command.run(&stored.store),
        Command::Audit(command) => command.run(),
        Command::Crash(command) => command.run(),
        Command::SelfTest(command) => command.run(),
        Command::Trace(stored) => stored.command.run(&stored.store),
        Command::Report(stored) => stored.command.run(&stored.store),
        Command::Export(stored) => stored.command.run(&stored.store),
        Command::Import(stored) => stored.command.run(&stored.store),
        Command::Inspect(command) => command.run(),
        Command::Fill(command) => command.run(),
        Command::Age(command) => command.run(),
        Command::Clean(command) => command.run(),
        Command::ServeDisk(command) => command.run(),
        Command::GuardDirectory(command) => command.run(),
    };
    ended(outcome)
}

/// Prints the version, once for all ranks.
fn printed_version(is_first: bool, is_verbose: bool) -> ExitCode {
    let printed = match is_first {
        true => out::print(&version::version_text(is_verbose)),
        false => Ok(()),
    };
    ended(printed.map(|()| Exit::Good))
}

/// Says how to begin, where no command was given. That is wrong usage, so that no script takes it for a run.
fn first_steps(is_first: bool) -> ExitCode {
    if is_first {
        out::note(FIRST_STEPS);
    }
    ended(Ok(if is_first { Exit::Usage } else { Exit::Good }))
}

/// Says why a command ended, if it failed, and ends this process with its code.
fn ended(outcome: Result<Exit>) -> ExitCode {
    let exit = outcome.unwrap_or_else(|failure| {
        out::complain(&failure.sentence);
        failure.exit
    });
    out::end();
    ExitCode::from(exit as u8)
}

// It uses what no other program may, such as fixtures: it is a test of the library that stands where tests do.
#[cfg(test)]
#[path = "../../../tests/fuzz/mod.rs"]
mod fuzz;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }

    /// What a command is called, and its help on a terminal of 80 columns.
    fn helps(command: clap::Command) -> Vec<(String, String)> {
        let mut command = command.term_width(80);
        let shown = command.get_subcommands().filter(|c| !c.is_hide_set());
        let names: Vec<_> = shown.map(|c| c.get_name().to_string()).collect();
        let mut helps = vec![("boatload".to_string(), command.render_help().to_string())];
        command.build();
        for name in names {
            let sub = command.find_subcommand_mut(&name).unwrap();
            helps.push((name, sub.clone().term_width(80).render_help().to_string()));
        }
        helps
    }

    #[test]
    fn short_help_begins_with_examples_and_fits_a_screen() {
        for (name, help) in helps(Arguments::command()) {
            let most = match name.as_str() {
                "boatload" => 42,
                "run" => 24,
                _ => 34,
            };
            assert!(help.starts_with("Examples:"), "{help}");
            assert!(
                help.lines().count() <= most,
                "{name}: {} lines:\n{help}",
                help.lines().count()
            );
        }
    }

    #[test]
    fn long_help_has_every_option_and_fits_two_screens() {
        for (name, help) in helps(with_all_help(Arguments::command())) {
            assert!(help.lines().count() <= 60, "{name}: {} lines:\n{help}", help.lines().count());
            assert!(name != "run" || help.contains("--phase-limit"), "{help}");
        }
    }
}
