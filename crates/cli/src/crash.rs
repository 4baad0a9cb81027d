//! Runs `boatload crash`: cuts the power of a modelled disk, and tells which promises file systems kept.

use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, ValueHint};

use super::common::DIRECTORY_VARIABLE;
use super::completion;
use super::job::{FileSystems, Job, disk, file_systems, setting, size};
use super::out;
use super::progress::{Progress, Quiet};
use boatload_base::failure::{Exit, Failure, Result};
use boatload_plan::disk::{DiskModel, find_disk};
use boatload_report::{write_crash, write_crash_json};
use boatload_results::crash::PromiseRow;
use boatload_run::interrupt::Interrupt;
use boatload_session::crash::{CrashOutcome, crash};

const EXAMPLES: &str = "\
Examples:
  boatload crash --filesystem ext4,xfs,btrfs           12 power cuts on each (root)
  boatload crash --filesystem ext4 --cuts 200 --json crash.json
  boatload crash --filesystem 'ext4,ext4:mount=nobarrier:name=nobarrier'
  boatload crash my-job.toml --filesystem xfs --disk my-disk.toml";

const LONG: &str = "\
Each time, a file system is made on a modelled disk, and the phases of the job that change files are done, \
up to one that is drawn. In that phase the power goes after an operation that is drawn. The disk then loses \
any of the writes that no flush had followed, or parts of them, and all its requests fail. With the power \
back, the file system is mounted, which replays its log, and boatload looks for every file that was \
promised: files of earlier phases, which ended with a sync, and files whose call for durability had \
returned before the power cut. Then the file system's own program checks it (e2fsck, xfs_repair, btrfs).

The cuts of a file system take turns with fsync, fsync and the directory, fdatasync, O_DSYNC, one syncfs at \
the end of the phase, and nothing. What was not promised is counted apart: it may be lost.

It touches nothing but a directory that it makes in --dir and removes at the end. The kernel logs the \
errors of the disk without power. The exit code is 3 if a promise was broken, or a \
file system is damaged or cannot be mounted.";

/// Cut the power of a modelled disk and look which files are left
#[derive(Args)]
#[command(before_help = EXAMPLES, after_long_help = LONG)]
pub(super) struct Crash {
    /// A built-in scenario, or a job file [default: smallfiles]
    #[arg(value_name = "SCENARIO|FILE", add = completion::jobs())]
    scenario: Option<PathBuf>,
    /// Directory to work in
    #[arg(long, default_value = ".", value_name = "DIR", value_hint = ValueHint::DirPath)]
    #[arg(env = DIRECTORY_VARIABLE, hide_env_values = true)]
    dir: PathBuf,
    /// File systems to make, such as ext4,xfs
    #[arg(long, value_name = "LIST", value_parser = file_systems, required = true)]
    #[arg(add = completion::file_systems())]
    filesystem: Vec<FileSystems>,
    /// The modelled disk [default: ram]
    #[arg(long, value_name = "MODEL|FILE", value_parser = disk, add = completion::disks())]
    disk: Option<Arc<DiskModel>>,
    /// Power cuts on each file system
    #[arg(long, value_name = "N", default_value_t = 12, value_parser = clap::value_parser!(u32).range(1..))]
    cuts: u32,
    /// Seed of everything drawn at random
    #[arg(long, value_name = "N", hide_short_help = true)]
    seed: Option<u64>,
    /// Change a parameter, such as --set files=2k
    #[arg(long, value_name = "KEY=VALUE", value_parser = setting)]
    set: Vec<(String, String)>,
    /// Workers of every phase
    #[arg(long, value_name = "N")]
    threads: Option<u32>,
    /// Size of the image [default: what the job needs, 1 GiB at least]
    #[arg(long, value_name = "BYTES", value_parser = size)]
    size: Option<u64>,
    /// Also write the result (JSON) to FILE; - writes it alone
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    #[command(flatten)]
    quiet: Quiet,
}

impl Crash {
    pub(super) fn run(self) -> Result<Exit> {
        self.json.as_deref().map_or(Ok(()), out::check_file)?;
        let job = Job {
            scenario: self.scenario,
            dir: self.dir,
            filesystem: self.filesystem,
            disk: self.disk.or_else(|| find_disk("ram").map(Arc::new)),
            seed: self.seed,
            set: self.set,
            threads: self.threads,
            size: self.size,
            ..Job::default()
        };
        let plan = job.plan()?;
        let order = job.order(&plan, false)?;
        let interrupt = Interrupt::listen()?;
        let progress = Progress::new(None, self.quiet);
        let CrashOutcome { book, failure } = crash(&order, self.cuts, &progress, &interrupt)?;
        drop(progress);
        let text = out::written("report the power cuts", |out| write_crash(&book, out))?;
        out::print_and_keep(&text, self.json.as_deref(), || {
            out::written("write the result", |out| write_crash_json(&book, out))
        })?;
        if interrupt.is_set() && failure.is_none() {
            return Err(Failure::interrupted("interrupted; the power cuts before it are reported"));
        }
        failure.map_or(Ok(()), Err)?;
        let is_good = book.rows.iter().all(PromiseRow::is_good);
        Ok(if is_good { Exit::Good } else { Exit::Regression })
    }
}
