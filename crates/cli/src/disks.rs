//! Runs `boatload disks`: lists the modelled disks, and shows one with its figures.

use std::path::Path;

use clap::{Args, Subcommand};

use super::{completion, out};
use boatload_base::failure::{Exit, Failure, Result, shown};
use boatload_base::units::{counted, duration, figures};
use boatload_plan::disk::{BUILT_IN_DISKS, DiskModel, find_disk, read_disk_model};
use boatload_plan::filesystem::disk_text;
use boatload_run::disk::figures::{SimulatedFigures, simulate_figures};

const EXAMPLES: &str = "\
Examples:
  boatload disks
  boatload disks show hdd-7200 > my-disk.toml     a start for one of your own
  boatload disks show my-disk.toml                check it, and see what it does";

/// List the modelled disks, or show one
#[derive(Args)]
#[command(before_help = EXAMPLES)]
pub(super) struct Disks {
    #[command(subcommand)]
    command: Option<DiskAction>,
}

#[derive(Subcommand)]
enum DiskAction {
    /// Print the file of a disk: its figures, where they come from, and what the model does with them
    Show {
        /// A disk of the list, or a file
        #[arg(value_name = "NAME|FILE", add = completion::disks())]
        disk: String,
    },
}

impl Disks {
    pub(super) fn run(&self) -> Result<Exit> {
        match &self.command {
            None => out::print(&list())?,
            Some(DiskAction::Show { disk }) => {
                let model = read_disk(disk)?;
                let text = model.text.replace("\r\n", "\n");
                out::print(&format!("{}\n{}", text.trim_end(), simulated(&model)))?;
            }
        }
        Ok(Exit::Good)
    }
}

/// The disk of the list, or in a file, of this name.
fn read_disk(name: &str) -> Result<DiskModel> {
    let text =
        disk_text(name, Path::new("")).map_err(|problem| Failure::usage(problem.sentence()))?;
    read_disk_model(&text).map_err(|problems| Failure::usage(problems.report(&shown(name))))
}

fn list() -> String {
    let head = String::from("disk           random read  sequential  what\n");
    let models = BUILT_IN_DISKS.iter().filter_map(|disk| find_disk(disk.name));
    let lines = models.fold(head, |all, model| all + &line(&model));
    lines
        + "\nPublished of such disks, derived from that, or chosen: `boatload disks show NAME` says which.\n"
}

/// A disk with what is expected of it.
fn line(model: &DiskModel) -> String {
    let expected = model.expected.as_ref();
    let random = expected.map(|figures| duration(figures.random_read_ns as f64));
    let rate = expected.map(|figures| megabytes(figures.sequential_read as f64));
    let [random, rate] = [random, rate].map(|figure| figure.unwrap_or("-".into()));
    format!("{:<14} {random:>11} {rate:>11}  {}\n", model.name, model.about)
}

/// What the model does, as comments of its file.
fn simulated(model: &DiskModel) -> String {
    let SimulatedFigures {
        random_read_ns,
        queued_reads,
        queue_depth,
        sequential_read,
        sequential_read_inner,
    } = simulate_figures(model);
    if random_read_ns == 0.0 {
        return "\n# The model adds no time.\n".into();
    }
    let inner = sequential_read_inner.map(|rate| format!(", {} at the end", megabytes(rate)));
    let random = duration(random_read_ns);
    format!(
        "\n# The model gives: {random} for a random read of 4 KiB; {} of them a second with {} under way;\n\
         # {} sequentially at the beginning{}.\n",
        figures(queued_reads, 3),
        counted(queue_depth, "request"),
        megabytes(sequential_read),
        inner.unwrap_or_default(),
    )
}

/// A rate as data sheets have it, in powers of 1000.
fn megabytes(rate: f64) -> String {
    format!("{} MB/s", figures(rate / 1e6, 3))
}
