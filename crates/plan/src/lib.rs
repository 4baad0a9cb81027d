//! Turns a job file into a checked, immutable plan: what will be done, to what, in which order.

mod check;
pub mod disk;
pub mod filesystem;
pub mod mix;
pub mod phase;
pub mod prepare;
pub mod repetition;
mod report;
pub mod scenarios;
pub mod schedule;
mod schema;
pub mod selection;
pub mod sim;
mod source;
pub mod space;
pub mod tree;
mod wire;

use std::collections::BTreeMap;

use serde::Serialize;

use boatload_base::failure::{Failure, Result};
use boatload_base::fingerprint::fingerprint;
use boatload_base::named_enum;
use boatload_base::random::{Stream, draw};
use boatload_base::units::{Quantity, bytes, counted};
use boatload_op::Subject;
use repetition::Repetition;
use tree::RankPart;

pub use check::{Settings, THREADS_MAX, read_job};
pub use filesystem::FileSystem;
pub use phase::{CacheAsked, Phase};
pub use prepare::{Ballast, BallastGoal, FillMethod, Prepare};
pub use scenarios::{SCENARIOS, Scenario, find_scenario, names_about, nearest_scenario};
pub use schema::job_schema;
pub use tree::Tree;

/// The name of the variant of a job that compares nothing.
pub const DEFAULT_VARIANT: &str = "default";

named_enum! {
    /// How much of a scenario is run.
    #[derive(Default)]
    pub enum Scale {
        /// Seconds to two minutes on a common disk.
        #[default]
        Quick = "quick",
        /// Minutes: enough for tails.
        Standard = "standard",
        /// The numbers of the document that first asked the question.
        Original = "original",
    }
}

named_enum! {
    /// An I/O engine.
    #[derive(Default)]
    pub enum EngineName {
        /// One blocking system call for each request.
        #[default]
        Sync = "sync",
        /// A simulated file system with a known truth.
        Sim = "sim",
    }
}

impl EngineName {
    /// Whether its cells run on the simulated file system. Every other engine works in a directory,
    /// on file systems that are made, or reads the block device.
    pub const fn is_simulated(self) -> bool {
        match self {
            EngineName::Sync => false,
            EngineName::Sim => true,
        }
    }
}

named_enum! {
    /// A reading: a way to look at the measurements of a run, which a job asks for.
    pub enum Conclusion {
        /// Whether operations take longer towards the end of a phase with windows: its last tenth against its second.
        Growth = "growth",
        /// Whether operations take longer at the highest level of the axis than at the lowest, and from which on.
        Levels = "levels",
        /// Which variant is the faster at which level.
        Crossing = "crossing",
        /// The order of the variants.
        Ranking = "ranking",
        /// What came from memory, what from the device, and whether something beneath it caches.
        Source = "source",
        /// Whether the slowest operations, those beyond the 99th percentile, take longer on one variant than on another.
        Tails = "tails",
    }
}

/// The quantity that grows from level to level.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// Its name, by which `"$name"` stands for the level in the job file.
    pub name: String,
    /// Its values, in the order they are measured.
    pub levels: Vec<Quantity>,
}

/// One variant at one level: what every repeat of it does.
#[derive(Clone, Debug, Serialize)]
pub struct CellPlan {
    /// The variant's name.
    pub variant: String,
    /// The name in the job file of the variant that it is, without what `--filesystem` adds to it.
    pub job_variant: String,
    /// The axis level; none without an axis.
    pub level: Option<Quantity>,
    /// The I/O engine.
    pub engine: EngineName,
    /// The truth of the simulated file system, if it runs on it.
    pub sim: sim::SimModel,
    /// A slowdown that is planted: the share of its time that each request takes longer.
    pub delay: f64,
    /// The file system that is made for it; `None` if it runs on what is there.
    pub filesystem: Option<FileSystem>,
    /// The law of its files.
    pub tree: Tree,
    /// What the place is brought to before; `None` if it is taken as it is.
    pub prepare: Option<Prepare>,
    /// What is done, in order; a phase with several passes is here several times.
    pub phases: Vec<Phase>,
}

impl CellPlan {
    /// The share of the space, in percent, that its place is filled to before it begins; `None` if it is not filled.
    pub fn used_percent(&self) -> Option<f64> {
        match self.prepare.as_ref()?.goal {
            BallastGoal::Used(percent) => Some(percent),
            BallastGoal::Files(_) => None,
        }
    }

    /// The most workers any phase has.
    pub fn threads(&self) -> u32 {
        self.phases.iter().map(|p| p.threads).max().unwrap_or(1)
    }

    /// Whether its phases read the block device and no files.
    pub fn reads_device(&self) -> bool {
        self.phases.iter().any(|phase| phase.operation.subject == Subject::Block)
    }

    /// Whether one of its phases is a mix.
    pub fn has_mix(&self) -> bool {
        self.phases.iter().any(|phase| phase.mix.is_some())
    }

    /// Whether it makes files below the directory, and not on a file system of its own.
    pub fn makes_files(&self) -> bool {
        !self.engine.is_simulated() && !self.reads_device() && self.filesystem.is_none()
    }
}

/// Passes of phases, by (variant, phase): only of those that can have more than one.
pub type Passes = BTreeMap<(String, String), u32>;

/// A scenario, resolved for one scale and one set of parameters.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The scenario's name.
    pub name: String,
    /// The question it asks.
    pub question: String,
    /// How much of it is run.
    pub scale: Scale,
    /// The seed of everything drawn.
    pub seed: u64,
    /// What is to end its repeats; [`Plan::repetition`] is what does.
    pub repeats: Repetition,
    /// Its parameters as resolved, by name, for people and the store.
    pub parameters: BTreeMap<String, String>,
    /// What grows; `None` if nothing does.
    pub axis: Option<Axis>,
    /// Whether there is room to keep the prepared file systems that boatload makes as images.
    pub keeps_images: bool,
    /// Kinds of findings that answer the question, in the order they are stated.
    pub conclude: Vec<Conclusion>,
    /// One for each variant and level: variants in the job file's order, levels within them.
    pub cells: Vec<CellPlan>,
    /// The job file's text.
    pub job: String,
}

impl Plan {
    /// Names of the variants, in the job file's order.
    pub fn variants(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for cell in &self.cells {
            if names.last() != Some(&cell.variant.as_str()) {
                names.push(&cell.variant);
            }
        }
        names
    }

    /// A number that follows from all that its cells do.
    pub fn fingerprint(&self) -> u64 {
        fingerprint(&self.cells)
    }

    /// A number that follows from the text of the job file.
    pub fn job_fingerprint(&self) -> u64 {
        fingerprint(&self.job)
    }

    /// Whether any of its cells makes files below the directory.
    pub fn makes_files(&self) -> bool {
        self.cells.iter().any(CellPlan::makes_files)
    }

    /// Whether file systems are made for any of its cells.
    pub fn makes_filesystems(&self) -> bool {
        self.cells.iter().any(|cell| cell.filesystem.is_some())
    }

    /// Whether any of its cells reads a real block device.
    pub fn reads_device(&self) -> bool {
        self.cells.iter().any(|cell| !cell.engine.is_simulated() && cell.reads_device())
    }

    /// The plan of one of `ranks` ranks: in trees that all share, it has names of its own.
    #[must_use]
    pub fn of_rank(mut self, rank: u32, ranks: u32) -> Self {
        for part in self.cells.iter_mut().filter_map(|cell| cell.tree.part.as_mut()) {
            *part = RankPart { rank, ranks };
        }
        self
    }

    /// The plan with the blocks of a device of `total_bytes`; simulated cells have a simulated one.
    ///
    /// # Errors
    /// If the device has fewer blocks than a phase asks for.
    pub fn on_device(&self, total_bytes: u64) -> Result<Self> {
        let mut fitted = self.clone();
        for cell in fitted.cells.iter_mut().filter(|cell| cell.reads_device()) {
            let simulated = cell.engine.is_simulated();
            let size = if simulated { cell.sim.device_bytes() } else { total_bytes };
            cell.phases.iter_mut().try_for_each(|phase| fit(phase, size))?;
        }
        Ok(fitted)
    }
}

/// The seed of the files of a rank, so that no two ranks write the same; rank 0 has the job's own.
pub fn seed_of_rank(seed: u64, rank: u32) -> u64 {
    if rank == 0 { seed } else { draw(seed, Stream::Rank, u64::from(rank)) }
}

fn fit(phase: &mut Phase, total_bytes: u64) -> Result<()> {
    let blocks = total_bytes / u64::from(phase.block.max(1));
    let asked = phase.selection.count.max(1);
    if blocks < asked {
        return Err(Failure::failed(format!(
            "phase {} is to read {} of {}, and the device has {}. Set a smaller `count` or `block`",
            phase.name,
            counted(asked, "block"),
            bytes(u64::from(phase.block)),
            bytes(total_bytes),
        )));
    }
    let count = if phase.selection.count == 0 { blocks } else { asked };
    phase.selection = phase.selection.over(blocks, count);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use boatload_op::{Durability, find_operation};

    fn smallfiles() -> Plan {
        read_job(find_scenario("smallfiles").unwrap().text, &Settings::default()).unwrap()
    }

    /// A run that was begun by an earlier boatload resumes only if this stays.
    #[test]
    fn the_fingerprint_of_a_built_in_scenario_stays() {
        assert_eq!(smallfiles().fingerprint(), 2_491_847_041_884_934_699);
    }

    #[test]
    fn a_plan_that_does_something_else_has_another_fingerprint() {
        let as_read = smallfiles().fingerprint();
        let prepare = |cell: &CellPlan| Prepare {
            ballast: Ballast { tree: cell.tree.clone(), method: FillMethod::Fill, threads: 1 },
            goal: BallastGoal::Files(7),
            histories: 1,
        };
        let changes: [fn(&mut CellPlan); 17] = [
            |cell| cell.variant.push('x'),
            |cell| cell.job_variant.push('x'),
            |cell| cell.level = Some(Quantity { value: 1.0, unit: Default::default() }),
            |cell| cell.engine = EngineName::Sim,
            |cell| cell.sim.metadata_ns += 1,
            |cell| cell.delay += 0.1,
            |cell| {
                cell.filesystem = Some(FileSystem::plain(filesystem::find_kind("ext4").unwrap()))
            },
            |cell| cell.tree.files += 1,
            |cell| cell.tree.seed += 1,
            |cell| cell.tree.roots += 1,
            |cell| cell.phases.truncate(1),
            |cell| cell.phases[0].operation = find_operation("mkdir").unwrap(),
            |cell| cell.phases[0].selection.count -= 1,
            |cell| cell.phases[0].threads += 1,
            |cell| cell.phases[0].durability = Durability::Fsync,
            |cell| cell.phases[0].direct = true,
            |cell| cell.phases[0].limit_ns = Some(1),
        ];
        for (at, change) in changes.iter().enumerate() {
            let mut plan = smallfiles();
            plan.cells.iter_mut().for_each(change);
            assert_ne!(plan.fingerprint(), as_read, "change {at} goes unseen");
        }
        let mut plan = smallfiles();
        plan.cells[0].prepare = Some(prepare(&plan.cells[0]));
        assert_ne!(plan.fingerprint(), as_read);
        plan = Plan { question: "?".into(), ..smallfiles() };
        assert_eq!(plan.fingerprint(), as_read, "what it asks is nothing that its cells do");
    }
}
