//! `boatload plan`: what would run, what it needs, how long it may take; writes nothing.

use std::fmt::Write;
use std::os::fd::AsFd;

use clap::Args;

use super::job::Job;
use super::{StorePlace, out, space_of};
use crate::base::failure::{Exit, Result, shown};
use crate::base::units::{bytes, counted, duration, grouped};
use crate::host::facts::HostFacts;
use crate::host::space::Space;
use crate::plan::phase::End;
use crate::plan::space::Need;
use crate::plan::{CellPlan, Phase};
use crate::run::ground::open_parent;
use crate::session::room::need;
use crate::session::{fitted, readable_device};

const EXAMPLES: &str = "\
Examples:
  boatload plan smallfiles --scale original
  boatload plan my-job.toml --set files=1M --dir /mnt/x";

const EFFECTS: &str = "\
Nothing is written. Times are estimated from the newest complete run of the same scenario on the \
same type of file system and device that is in the store; without one none is given.";

/// Show what would run, and write nothing
#[derive(Args)]
#[command(before_help = EXAMPLES, after_long_help = EFFECTS)]
pub(super) struct Plan {
    #[command(flatten)]
    job: Job,
}

impl Plan {
    pub(super) fn run(&self, store: &StorePlace) -> Result<Exit> {
        let plan = self.job.plan()?;
        let parent = open_parent(&self.job.dir)?;
        let device = match plan.reads_device() {
            true => Some(readable_device(parent.as_fd(), &self.job.dir)?),
            false => None,
        };
        let plan = fitted(&plan, device.as_ref())?;
        let host = HostFacts::gather(parent.as_fd())?;
        let space = space_of(parent.as_fd())?;
        let mut text = format!("{}: {}\n", shown(&plan.name), shown(&plan.question));
        let cells = plan.cells.len() as u64;
        let _ = writeln!(
            text,
            "scale {}, seed {}, {} of {}",
            plan.scale.word(),
            plan.seed,
            counted(u64::from(plan.repeats), "repeat"),
            counted(cells, "cell")
        );
        for cell in &plan.cells {
            text.push_str(&cell_lines(cell));
        }
        let makes_files = plan.makes_files();
        let need = need(&plan, space.block_bytes);
        let lack = space.shortfall(need, space.reserve_bytes(), &self.job.dir);
        if makes_files {
            text.push_str(&space_lines(need, &space, &host, &self.job.dir));
        }
        if let Some(device) = &device {
            let facts = &device.facts;
            let size = bytes(facts.total_bytes.unwrap_or_default());
            let _ = writeln!(text, "\nreads {} ({size}) and writes nothing", facts.name);
        }
        if makes_files || device.is_some() {
            text.push_str(&time_line(&plan, store, &host));
        }
        out::print(&text)?;
        lack.filter(|_| makes_files).map_or(Ok(Exit::Good), Err)
    }
}

fn cell_lines(cell: &CellPlan) -> String {
    let level = cell.level.map_or_else(String::new, |level| format!(" at {level}"));
    let tree = &cell.tree;
    let size = bytes(tree.sizes.mean() as u64);
    let sizes = match tree.chunks {
        Some(chunks) => format!("made of {} of {size}", counted(chunks.count, "chunk")),
        None => format!("sizes {size} on average"),
    };
    let what = match cell.reads_device() {
        true => "blocks of the device".to_string(),
        false => format!(
            "{} in {}, {sizes}",
            counted(tree.files, "file"),
            counted(tree.holders(), "directory"),
        ),
    };
    let mut text = format!("\n{}{level}: {what}\n", shown(&cell.variant));
    for phase in &cell.phases {
        let pass = if phase.pass > 1 { format!(" pass {}", phase.pass) } else { String::new() };
        let _ = writeln!(
            text,
            "  {:<20} {:>12} {} {}, {} cache, {}",
            format!("{}{pass}", shown(&phase.name)),
            amount(phase),
            phase.operation.name(),
            phase.selection.order.word(),
            phase.cache.word(),
            counted(u64::from(phase.threads), "thread"),
        );
    }
    text
}

/// How much a phase does: operations, or for how long.
fn amount(phase: &Phase) -> String {
    match phase.end {
        End::After(ns) => duration(ns as f64),
        End::Targets | End::Operations(_) => grouped(phase.selection.count),
    }
}

fn space_lines(need: Need, space: &Space, host: &HostFacts, dir: &std::path::Path) -> String {
    let inodes = match space.available_inodes {
        Some(free) => format!("of {} free", grouped(free)),
        None => "(made as needed)".into(),
    };
    format!(
        "\nneeds {} of {} free and {} inodes {inodes} on {} ({})\n",
        bytes(need.bytes),
        bytes(space.available_bytes),
        grouped(need.inodes),
        shown(dir),
        shown(&host.filesystem.kind),
    )
}

/// The estimate from an earlier run. A store that is missing or cannot be read gives none: a
/// command that writes nothing does not make one.
fn time_line(plan: &crate::plan::Plan, store: &StorePlace, host: &HostFacts) -> String {
    let device = host.device.as_ref().map(|device| device.name.as_str());
    let rates = store
        .open_to_read()
        .ok()
        .flatten()
        .and_then(|store| store.phase_rates(&plan.name, &host.filesystem.kind, device).ok())
        .unwrap_or_default();
    let phases = plan.cells.iter().flat_map(|cell| &cell.phases);
    let seconds: Option<f64> = phases
        .map(|phase| match phase.end {
            End::After(ns) => Some(ns as f64 / 1e9),
            _ => rates.get(&phase.name).map(|rate| phase.selection.count as f64 / rate),
        })
        .sum();
    match seconds {
        Some(seconds) => format!(
            "takes about {} beside syncs and clearing up, by an earlier run here\n",
            duration(seconds * f64::from(plan.repeats) * 1e9)
        ),
        None => "no estimate of time: no earlier run of it on this file system is stored\n".into(),
    }
}
