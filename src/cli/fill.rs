//! Runs `boatload fill` and `age`: makes the ballast of `clutter` and `fullness` and leaves it there.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use clap::Args;

use super::out;
use super::progress::Progress;
use crate::base::failure::{Exit, Failure, Result, shown};
use crate::base::units::{bytes, counted, duration, figures};
use crate::host::layout::LayoutScore;
use crate::plan::{FillMethod, Plan, Prepare, Settings, find_scenario, read_job};
use crate::run::interrupt::Interrupt;
use crate::session::ballast::{MadeBallast, make_ballast};

const FILL_EXAMPLES: &str = "\
Examples:
  boatload fill /mnt/x --files 1M
  boatload run clutter --dir /mnt/x --set files_present=1M,2M     goes on from there";

const FILL_EFFECTS: &str = "\
The files are those of the scenario clutter: directories of 0 to 16,383 files, each file of 0 to 6,552 \
random bytes; the same seed makes the same files, whatever the number of threads. They lie in a \
directory boatload-ID of their own and stay. `boatload clean DIR --ballast` removes them. It does \
not begin unless 5% of the file system or 1 GiB, whichever is less, would stay free.";

const AGE_EXAMPLES: &str = "\
Examples:
  boatload age /mnt/x --to 80% --fill-real";

const AGE_EFFECTS: &str = "\
Files of 4 KiB to 16 MiB, many small and few large, are made until df shows that much of the space in \
use; after every ten one at random is deleted. The same seed has the same history, whatever the \
number of threads. They lie in a directory boatload-ID of their own and stay. `boatload clean DIR \
--ballast` removes them.";

/// Most workers.
const THREADS_MAX: i64 = 1_024;

/// Fill a directory with small files, and leave them there
#[derive(Args)]
#[command(before_help = FILL_EXAMPLES, after_long_help = FILL_EFFECTS)]
pub(super) struct Fill {
    /// Directory to fill
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// How many files to make
    #[arg(long, value_name = "N")]
    files: String,
    /// Workers [default: the processors]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=THREADS_MAX))]
    threads: Option<u32>,
    #[command(flatten)]
    how: How,
}

/// Age a file system by making and deleting files, and leave them there
#[derive(Args)]
#[command(before_help = AGE_EXAMPLES, after_long_help = AGE_EFFECTS)]
pub(super) struct Age {
    /// Directory on the file system to age
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// How much of the space shall be in use, as df counts it
    #[arg(long, value_name = "PERCENT")]
    to: String,
    /// Confirm that the file system may be filled
    #[arg(long)]
    fill_real: bool,
    /// Workers
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=THREADS_MAX))]
    threads: u32,
    #[command(flatten)]
    how: How,
}

#[derive(Args)]
struct How {
    /// Seed of everything drawn at random
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
}

impl Fill {
    pub(super) fn run(&self) -> Result<Exit> {
        let plan = self.how.plan("clutter", "files_present", "--files", &self.files)?;
        let prepare = plan.cells.iter().find_map(|cell| cell.prepare.clone());
        let processors = std::thread::available_parallelism().map_or(1, |n| n.get() as u32);
        stock_with(self.threads.unwrap_or(processors.min(THREADS_MAX as u32)), &self.dir, prepare)
    }
}

impl Age {
    pub(super) fn run(&self) -> Result<Exit> {
        if !self.fill_real {
            return Err(Failure::usage(format!(
                "this fills the file system of {}, which everything else on it would feel. Nothing \
                 was written. If nothing else needs it, say so with --fill-real",
                shown(&self.dir)
            )));
        }
        let plan = self.how.plan("fullness", "levels", "--to", &self.to)?;
        let ages = |prepare: &Prepare| {
            matches!(prepare.ballast.method, FillMethod::Age { empty_from: None, .. })
        };
        let prepare = plan.cells.iter().find_map(|cell| cell.prepare.clone().filter(ages));
        stock_with(self.threads, &self.dir, prepare)
    }
}

impl How {
    /// The plan of a scenario at its original scale, with the only level that is wanted.
    fn plan(&self, scenario: &str, parameter: &str, option: &str, value: &str) -> Result<Plan> {
        let text = find_scenario(scenario).map(|scenario| scenario.text).unwrap_or_default();
        let settings = Settings {
            scale: crate::plan::Scale::Original,
            seed: self.seed,
            memory_bytes: crate::host::facts::memory_bytes(),
            set: vec![(parameter.into(), value.into())],
            ..Settings::default()
        };
        read_job(text, &settings).map_err(|problems| {
            let report = problems.report(&format!("{option} {}", shown(value)));
            Failure::usage(report.replace(&format!("--set {parameter}"), option))
        })
    }
}

fn stock_with(threads: u32, dir: &Path, prepare: Option<Prepare>) -> Result<Exit> {
    let Some(mut prepare) = prepare else {
        return Err(Failure::usage("there is nothing to make"));
    };
    prepare.ballast.threads = threads;
    let interrupt = Interrupt::listen()?;
    let progress = Progress::plain(None);
    let stocked = make_ballast(dir, &prepare, &interrupt, &|headway| {
        progress.prepares_files("making files", headway)
    });
    drop(progress);
    out::print(&lines(dir, &stocked?))?;
    Ok(Exit::Good)
}

fn lines(dir: &Path, made: &MadeBallast) -> String {
    let rate = (made.files + made.deleted) as f64 / made.seconds.max(1e-9);
    let mut text = format!(
        "{} of {} in {}, made in {}: {} a second; written out in {}\n",
        counted(made.files, "file"),
        bytes(made.bytes),
        shown(dir.join(&made.name)),
        duration(made.seconds * 1e9),
        figures(rate, 3),
        duration(made.sync_seconds * 1e9)
    );
    if made.deleted > 0 {
        let _ =
            writeln!(text, "{} were made and deleted on the way", counted(made.deleted, "file"));
    }
    let _ = writeln!(text, "{:.1}% of the space is in use", made.space.used_fraction() * 100.0);
    if let Some(score) = made.layout.as_ref().and_then(LayoutScore::score) {
        let _ = writeln!(text, "layout score {score:.3}");
    }
    let dir = super::quoted(&shown(dir));
    let _ = writeln!(text, "`boatload clean {dir} --ballast` removes them");
    text
}
