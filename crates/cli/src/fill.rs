//! Runs `boatload fill` and `age`: makes the ballast of `clutter` and `fullness` and leaves it there.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use clap::Args;

use super::out;
use super::progress::{Progress, Quiet};
use boatload_base::failure::{Exit, Failure, Result, shown};
use boatload_base::shell::quoted;
use boatload_base::units::{bytes, counted, duration, figures};
use boatload_host::memory::memory_bytes;
use boatload_plan::prepare::{Churn, rounds_default};
use boatload_plan::{
    BallastGoal, FillMethod, Plan, Prepare, Settings, THREADS_MAX, find_scenario, read_job,
};
use boatload_run::interrupt::Interrupt;
use boatload_session::ballast::{MadeBallast, make_ballast};

const FILL_EXAMPLES: &str = "\
Examples:
  boatload fill /mnt/x --files 1M";

const FILL_EFFECTS: &str = "\
The files are the same as in the scenario clutter: directories of 0 to 16,383 files, each file of 0 to 6,552 \
random bytes; the same seed makes the same files, whatever the number of threads. They lie in a \
directory boatload-ID of their own and stay. `boatload clean DIR --ballast` removes them. It does \
not begin unless 5% of the file system or 1 GiB, whichever is less, would stay free.";

const AGE_EXAMPLES: &str = "\
Examples:
  boatload age /mnt/x --to 80% --fill-real
  boatload age /mnt/x --to 80% --layout-score 0.9 --fill-real        until it is so fragmented";

const AGE_EFFECTS: &str = "\
Files of 4 KiB to 16 MiB, many small and few large, are made until df shows that much of the space in \
use; after every ten one at random is deleted. With --layout-score files grow \
side by side, 12 KiB at a time, and then, round by round, random files that hold a tenth of the used \
space are deleted and replaced, until the layout score is not above S, or 20 rounds are done. The same seed has the same history, whatever the \
number of threads. They lie in a directory boatload-ID of their own and stay. `boatload clean DIR \
--ballast` removes them.";

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
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(THREADS_MAX)))]
    threads: Option<u32>,
    /// Seed of everything drawn at random
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
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
    /// Fragment until the layout score is not above this number from 0 to 1
    #[arg(long, value_name = "S", value_parser = layout_score)]
    layout_score: Option<f64>,
    /// Confirm that the file system may be filled
    #[arg(long)]
    fill_real: bool,
    /// Workers
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=i64::from(THREADS_MAX)))]
    threads: u32,
    /// Seed of everything drawn at random
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
}

impl Fill {
    pub(super) fn run(&self) -> Result<Exit> {
        let plan = scenario_plan(self.seed, "clutter", "files_present", "--files", &self.files)?;
        let prepare = plan.cells.iter().find_map(|cell| cell.prepare.clone());
        if prepare.as_ref().is_some_and(|one| !matches!(one.goal, BallastGoal::Files(_))) {
            return Err(Failure::usage(
                "--files takes a number of files; `boatload age --to PERCENT` fills to a share of the space",
            ));
        }
        let processors = std::thread::available_parallelism().map_or(1, |n| n.get() as u32);
        stock_with(self.threads.unwrap_or(processors.min(THREADS_MAX)), &self.dir, prepare)
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
        let plan = scenario_plan(self.seed, "fullness", "levels", "--to", &self.to)?;
        stock_with(self.threads, &self.dir, self.prepare(&plan))
    }

    /// How `fullness` ages; with what is asked for, how it fragments.
    fn prepare(&self, plan: &Plan) -> Option<Prepare> {
        let mut all = plan.cells.iter().filter_map(|cell| cell.prepare.clone());
        all.find_map(|mut prepare| match &mut prepare.ballast.method {
            FillMethod::Age { empty_from: None, churn, .. }
                if churn.piece_bytes.is_some() == self.layout_score.is_some() =>
            {
                churn.rounds = rounds_default(self.layout_score);
                churn.layout_score = self.layout_score;
                Some(prepare)
            }
            _ => None,
        })
    }
}

fn layout_score(text: &str) -> std::result::Result<f64, String> {
    let score = text.parse().ok().filter(|score| (0.0..=1.0).contains(score));
    score.ok_or_else(|| "write it as a number from 0 to 1, such as 0.8".to_string())
}

/// The plan of a scenario at its original scale, with the only level that is wanted.
fn scenario_plan(
    seed: Option<u64>,
    scenario: &str,
    parameter: &str,
    option: &str,
    value: &str,
) -> Result<Plan> {
    if value.contains(',') {
        return Err(Failure::usage(format!("{option} takes one value, not {}", shown(value))));
    }
    let text = find_scenario(scenario).map(|scenario| scenario.text).unwrap_or_default();
    let settings = Settings {
        scale: boatload_plan::Scale::Original,
        seed,
        memory_bytes: memory_bytes(),
        set: vec![(parameter.into(), value.into())],
        ..Settings::default()
    };
    read_job(text, &settings).map_err(|problems| {
        let report = problems.report(&format!("{option} {}", shown(value)));
        Failure::usage(report.replace(&format!("--set {parameter}"), option))
    })
}

fn stock_with(threads: u32, dir: &Path, prepare: Option<Prepare>) -> Result<Exit> {
    let Some(mut prepare) = prepare else {
        return Err(Failure::usage("there is nothing to make"));
    };
    prepare.ballast.threads = threads;
    let interrupt = Interrupt::listen()?;
    let progress = Progress::new(None, Quiet::default());
    let stocked = make_ballast(dir, &prepare, &interrupt, &|headway| {
        progress.prepares_files("making files", headway)
    });
    drop(progress);
    out::print(&lines(dir, prepare.ballast.method, &stocked?))?;
    Ok(Exit::Good)
}

fn lines(dir: &Path, method: FillMethod, made: &MadeBallast) -> String {
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
    if let Some(used) = made.space.used_fraction() {
        let _ = writeln!(text, "{:.1}% of the space is in use", used * 100.0);
    }
    let churn = match method {
        FillMethod::Age { churn, .. } => churn,
        FillMethod::Fill => Churn::default(),
    };
    if let Some(score) = made.layout_score {
        let _ = writeln!(text, "{}", layout_line(churn, made.rounds, score));
    } else if churn.layout_score.is_some() {
        text.push_str("no layout score: the file system does not tell where files lie\n");
    }
    let dir = quoted(&shown(dir));
    let _ = writeln!(text, "`boatload clean {dir} --ballast` removes them");
    text
}

/// How fragmented the files are, and whether that is what was asked for.
fn layout_line(asked: Churn, rounds: u32, score: f64) -> String {
    let end = match asked.layout_score {
        None => String::new(),
        Some(most) => {
            let reached = if score <= most { "reached" } else { "not reached" };
            format!(" after {}: {most} was {reached}", counted(u64::from(rounds), "round"))
        }
    };
    format!("layout score {score:.3}{end}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct AgeLine {
        #[command(flatten)]
        age: Age,
    }

    /// How `age` with these words brings the files there; `None` when it does not take them.
    fn churn(words: &str) -> Option<Churn> {
        let line = format!("age . --to 80% --fill-real {words}");
        let age = AgeLine::try_parse_from(line.split_whitespace()).ok()?.age;
        let plan = scenario_plan(age.seed, "fullness", "levels", "--to", &age.to).unwrap();
        match age.prepare(&plan)?.ballast.method {
            FillMethod::Age { churn, .. } => Some(churn),
            FillMethod::Fill => None,
        }
    }

    #[test]
    fn files_are_written_whole_unless_fragments_are_asked_for() {
        let piece_bytes = Some(12 << 10);
        assert_eq!(churn(""), Some(Churn::default()));
        let wanted = Churn { piece_bytes, rounds: 20, layout_score: Some(0.8) };
        assert_eq!(churn("--layout-score 0.8"), Some(wanted));
        for wrong in ["--layout-score 80", "--layout-score nan"] {
            assert_eq!(churn(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn the_layout_that_was_reached_is_said_beside_the_one_that_was_asked_for() {
        let asked = Churn { piece_bytes: None, rounds: 100, layout_score: Some(0.8) };
        let reached = "layout score 0.791 after 3 rounds: 0.8 was reached";
        assert_eq!(layout_line(asked, 3, 0.791), reached);
        let missed = "layout score 0.970 after 100 rounds: 0.8 was not reached";
        assert_eq!(layout_line(asked, 100, 0.97), missed);
        assert_eq!(layout_line(Churn::default(), 0, 1.0), "layout score 1.000");
    }
}
