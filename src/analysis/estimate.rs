//! Estimates how long a plan takes from the costs that a probe measured, of each operation, cell and
//! ballast file.

use std::collections::BTreeSet;
use std::path::Path;

use crate::base::distinct::each_once;
use crate::host::space::Space;
use crate::op::Subject;
use crate::plan::filesystem::{Volume, VolumeSize, mount_options, shown_command};
use crate::plan::phase::PhaseEnd;
use crate::plan::space::copied_bytes;
use crate::plan::{
    BallastGoal, CacheAsked, CellPlan, FileSystem, FillMethod, Phase, Plan, Prepare,
};
use crate::results::book::MadeOn;
use crate::results::book::{Book, MadeFileSystem, Stopping};

/// The cost of one phase of the probe.
#[derive(Clone, Debug, Default)]
pub struct ProbedPhase {
    /// The variant, as the job file names it.
    pub variant: String,
    /// The phase.
    pub phase: String,
    /// The caches it asked for.
    pub cache: CacheAsked,
    /// Mean bytes that an operation moves.
    pub mean_bytes: f64,
    /// Operations it did.
    pub operations: f64,
    /// Seconds they took.
    pub seconds: f64,
    /// Seconds that the treatment of the caches took before.
    pub cache_seconds: f64,
    /// Seconds that a sync took after it.
    pub sync_seconds: f64,
}

/// The cost of making and removing the tree of a cell.
#[derive(Clone, Debug, Default)]
pub struct CellCost {
    /// Directories of its layout.
    pub directories: f64,
    /// Seconds to make them, the sync included.
    pub begin_seconds: f64,
    /// Files and directories that it had left at the end.
    pub entries: f64,
    /// Seconds to remove it.
    pub end_seconds: f64,
}

/// The cost of the ballast.
#[derive(Clone, Debug, Default)]
pub struct BallastCost {
    /// The variant, as the job file names it.
    pub variant: String,
    /// Files made.
    pub files: f64,
    /// Seconds to make them, syncs included.
    pub seconds: f64,
    /// Seconds to remove them.
    pub removal_seconds: f64,
}

/// The costs that a probe measured.
#[derive(Clone, Debug, Default)]
pub struct ProbeCosts {
    /// Its phases.
    pub phases: Vec<ProbedPhase>,
    /// Its cells.
    pub cells: Vec<CellCost>,
    /// Its files beside the trees.
    pub stocks: Vec<BallastCost>,
    /// Seconds to copy a byte from image to image; 0 where none is copied.
    pub copy_seconds_per_byte: f64,
    /// Whether the caches are dropped as a whole, which takes the same for few files and many.
    pub drops: bool,
    /// How long the probe took, in seconds.
    pub seconds: f64,
}

/// Seconds that a plan takes where the probe was made; none if a phase has no cost there.
pub fn estimate(plan: &Plan, costs: &ProbeCosts, space: &Space) -> Option<f64> {
    let cells: Option<Vec<f64>> = plan.cells.iter().map(|cell| costs.of_cell(cell)).collect();
    let cells: f64 = cells?.into_iter().sum();
    let restored: f64 = plan.cells.iter().map(|cell| costs.restored(plan, cell, space)).sum();
    let beside = plan.variants().into_iter().map(|variant| costs.beside(plan, variant, space));
    Some(cells * f64::from(plan.repeats) + beside.sum::<f64>() + restored + making_seconds(plan))
}

/// Seconds that mkfs and the first mount take. On an image of 10 GiB on a virtual disk they took 0.1
/// (ext4), 0.4 (btrfs) and 0.5 (xfs).
const MAKE_SECONDS: f64 = 0.4;

/// Seconds that an unmount takes, and the mount after it.
const UNMOUNT_SECONDS: f64 = 0.1;

/// Seconds to make the file systems of a plan and to unmount them: each is made once to try it, and
/// again for each cell, or for all levels of a history of a variant that are prepared. It is unmounted after each
/// cell and before each cold phase.
fn making_seconds(plan: &Plan) -> f64 {
    let made = plan.cells.iter().filter_map(|cell| Some((cell, cell.filesystem.as_ref()?)));
    let made: Vec<_> = made.filter(|(_, made)| made.kind.maker.is_some()).collect();
    let (prepared, fresh): (Vec<_>, Vec<_>) =
        made.iter().partition(|(cell, _)| cell.prepare.is_some());
    let tried = each_once(made.iter().map(|(_, filesystem)| *filesystem)).len();
    let histories = prepared.iter();
    let histories = histories.map(|(cell, _)| (cell.variant.as_str(), plan.histories_made(cell)));
    let histories: u32 = each_once(histories).iter().map(|(_, n)| n).sum();
    let cold = |phase: &&Phase| phase.cache == CacheAsked::Cold;
    let unmounts = made.iter().map(|(cell, _)| 1 + cell.phases.iter().filter(cold).count());
    let repeats = f64::from(plan.repeats);
    MAKE_SECONDS * (tried as f64 + f64::from(histories) + fresh.len() as f64 * repeats)
        + UNMOUNT_SECONDS * unmounts.sum::<usize>() as f64 * repeats
}

/// Seconds that an earlier run took that did the same work to its end; none if it did other work.
/// Where it ran is not looked at.
pub fn same_work(plan: &Plan, book: &Book) -> Option<f64> {
    let run = &book.run;
    let same = run.complete
        && run.stopping == Stopping::of(plan)
        && run.hosts.is_empty()
        && (&run.job, run.scale) == (&plan.job, plan.scale)
        && run.parameters == plan.parameters;
    let phases = plan.cells.iter().flat_map(|cell| cell.phases.iter().map(move |p| (cell, p)));
    let planned: BTreeSet<_> = phases
        .map(|(cell, p)| {
            let how = (Some(cell.engine), p.threads, p.cache);
            (cell.variant.as_str(), p.name.as_str(), how)
        })
        .collect();
    let done: BTreeSet<_> = book
        .measurements
        .iter()
        .filter(|m| !m.is_settle())
        .map(|m| {
            let how = (m.engine, m.threads.unwrap_or_default(), m.cache.asked);
            (m.cell.variant.as_str(), m.phase.as_str(), how)
        })
        .collect();
    let time = |text: &str| humantime::parse_rfc3339(text).ok();
    let (started, finished) = (time(&run.started)?, time(run.finished.as_deref()?)?);
    (same && planned == done)
        .then(|| finished.duration_since(started).ok())?
        .map(|d| d.as_secs_f64())
}

/// Whether a run's file systems were made as the plan's are on the place that is asked for: by the
/// same commands, with the same mount options, of the same size and on the same modelled disk; or whether
/// neither made any.
pub fn made_alike(plan: &Plan, volume: &Volume, size: Option<VolumeSize>, book: &Book) -> bool {
    plan.cells.iter().all(|cell| {
        let made = book.filesystems.iter().find(|made| made.variant == cell.variant);
        match (&cell.filesystem, size, made) {
            (Some(wanted), Some(room), Some(made)) => is_alike(wanted, volume, &room, made),
            (None, _, None) => true,
            _ => false,
        }
    })
}

fn is_alike(
    wanted: &FileSystem,
    volume: &Volume,
    size: &VolumeSize,
    made: &MadeFileSystem,
) -> bool {
    let is_there = match volume {
        // What has no mkfs is made on no place, and where the image of a modelled disk lies adds no time to it.
        _ if wanted.kind.maker.is_none() || wanted.disk.is_some() => true,
        Volume::Image { .. } => made.place == MadeOn::Image,
        Volume::Memory { .. } => made.place == MadeOn::Memory,
        Volume::Device { path, .. } => {
            let name = made.device.as_ref().map(|device| Path::new(&device.name));
            made.place == MadeOn::Device && name.and_then(Path::file_name) == path.file_name()
        }
    };
    let disks = [
        wanted.disk.as_ref().map(|disk| disk.text.as_str()),
        made.disk.as_ref().map(|disk| disk.model.as_str()),
    ];
    is_there
        && disks[0] == disks[1]
        && (made.kind.as_str(), made.device_bytes) == (wanted.kind.name, size.bytes)
        && (&made.mkfs, &made.mount_asked)
            == (&shown_command(wanted, size), &mount_options(wanted, size))
}

/// Mean bytes that an operation of a phase moves; 0 if it is not about content.
pub fn mean_bytes(phase: &Phase, cell: &CellPlan) -> f64 {
    let operation = phase.operation;
    match operation.subject {
        Subject::Block => f64::from(phase.block),
        _ if !operation.moves_content() => 0.0,
        Subject::File if phase.on_ballast.is_some() => {
            cell.prepare.as_ref().map_or(0.0, |prepare| prepare.ballast.tree.sizes.mean())
        }
        Subject::File | Subject::Chunk => phase.sizes(&cell.tree).mean(),
        _ => 0.0,
    }
}

impl ProbeCosts {
    /// The seconds of one commit: the cheapest making of a tree, which ends with a sync.
    fn commit_seconds(&self) -> f64 {
        let least = self.cells.iter().map(|cell| cell.begin_seconds).reduce(f64::min);
        least.unwrap_or(0.0)
    }

    fn of_cell(&self, cell: &CellPlan) -> Option<f64> {
        let phases = cell.phases.iter().enumerate();
        let phases: Option<Vec<f64>> =
            phases.map(|(at, phase)| self.of_phase(cell, phase, cell.phases.get(at + 1))).collect();
        let phases: f64 = phases?.into_iter().sum();
        if cell.reads_device() {
            return Some(phases);
        }
        let commit = self.commit_seconds();
        let directories = cell.tree.layout_directories() as f64;
        let each = |cost: &CellCost| (cost.begin_seconds - commit).max(0.0) / cost.directories;
        let begin = self.cells.iter().filter(|c| c.directories > 1.0).map(each);
        let begin = begin.reduce(f64::min).unwrap_or(0.0) * directories;
        let left = cell.phases.last().map_or(0.0, |phase| phase.entries_after as f64);
        let sum = |of: fn(&CellCost) -> f64| self.cells.iter().map(of).sum::<f64>();
        let removal = sum(|cost| cost.end_seconds) / sum(|cost| cost.entries).max(1.0);
        Some(phases + commit + begin + removal * left.max(1.0))
    }

    fn of_phase(&self, cell: &CellPlan, phase: &Phase, next: Option<&Phase>) -> Option<f64> {
        let operations = match phase.on_ballast {
            Some(on) => on.most.min(self.files_beside(cell)) as f64,
            None => phase.selection.count as f64,
        };
        let alike = self.alike(cell, phase);
        let bytes = mean_bytes(phase, cell);
        let each = |seconds: &dyn Fn(&ProbedPhase) -> f64| {
            let per = |cost: &&ProbedPhase| (cost.mean_bytes, seconds(cost) / cost.operations);
            between(alike.iter().map(per).collect(), bytes)
        };
        let commit = self.commit_seconds();
        let treated = match phase.cache {
            CacheAsked::Cold if self.drops => self.drop_seconds(),
            CacheAsked::AsIs => middle(alike.iter().map(|cost| cost.cache_seconds).collect()),
            _ => each(&|cost| cost.cache_seconds).unwrap_or(0.0) * operations,
        };
        let is_written = phase.operation.change.modifies_target()
            && next.is_some_and(|next| next.cache == CacheAsked::Cold);
        let syncs = phase.durability == crate::op::Durability::Syncfs || is_written;
        let sync = if syncs { commit + written(&alike, bytes, commit) * operations } else { 0.0 };
        let work = match phase.end {
            PhaseEnd::After(ns) => ns as f64 / 1e9,
            _ if operations == 0.0 => 0.0,
            _ => each(&|cost| cost.seconds)? * operations,
        };
        Some(treated + work + sync)
    }

    /// The costs to go by: with the caches as asked before others, of the variant before others.
    fn alike(&self, cell: &CellPlan, phase: &Phase) -> Vec<&ProbedPhase> {
        let named = |cost: &&ProbedPhase| cost.phase == phase.name && cost.operations > 0.0;
        let all: Vec<&ProbedPhase> = self.phases.iter().filter(named).collect();
        let mut chosen = all;
        let keeps: [&dyn Fn(&ProbedPhase) -> bool; 2] =
            [&|cost| cost.cache == phase.cache, &|cost| cost.variant == cell.job_variant];
        for keep in keeps {
            if chosen.iter().any(|cost| keep(cost)) {
                chosen.retain(|cost| keep(cost));
            }
        }
        chosen
    }

    /// What dropping the caches takes: the first drop also lets go of what others had there.
    fn drop_seconds(&self) -> f64 {
        let cold = self.phases.iter().filter(|cost| cost.cache == CacheAsked::Cold);
        middle(cold.map(|cost| cost.cache_seconds).collect())
    }

    fn files_beside(&self, cell: &CellPlan) -> u64 {
        match cell.prepare.as_ref().map(|prepare| prepare.goal) {
            Some(BallastGoal::Files(files)) => files,
            Some(BallastGoal::Used(_)) => u64::MAX,
            None => 0,
        }
    }

    /// Seconds to make the files beside the trees of a variant, up to its highest level, and to
    /// remove them.
    fn beside(&self, plan: &Plan, variant: &str, space: &Space) -> f64 {
        let cells = plan.cells.iter().filter(|cell| cell.variant == variant);
        let prepares = cells.filter_map(|cell| Some((cell, cell.prepare.as_ref()?)));
        let Some((files, cell, prepare)) = prepares
            .map(|(cell, prepare)| (files_to_make(prepare, space), cell, prepare))
            .max_by(|a, b| a.0.total_cmp(&b.0))
        else {
            return 0.0;
        };
        let name = &cell.job_variant;
        let own = self.stocks.iter().find(|cost| cost.variant == *name && cost.files > 0.0);
        let Some(cost) = own.or_else(|| self.stocks.iter().find(|cost| cost.files > 0.0)) else {
            return 0.0;
        };
        let deletions = match prepare.ballast.method {
            FillMethod::Age { delete_every, .. } => files / delete_every.max(1) as f64,
            FillMethod::Fill => 0.0,
        };
        // A place that is restored is left as a whole.
        let removal_seconds = if plan.restores(cell) { 0.0 } else { cost.removal_seconds };
        let each = (cost.seconds + removal_seconds) / cost.files;
        // Before and after each file that is deleted on the way there is a sync.
        let made = f64::from(plan.histories_made(cell));
        (each * files + deletions * self.commit_seconds()) * made
    }

    /// Seconds to keep the place of a cell once for each history, and to restore it for each repeat.
    fn restored(&self, plan: &Plan, cell: &CellPlan, space: &Space) -> f64 {
        if !plan.restores(cell) || cell.engine.is_simulated() {
            return 0.0;
        }
        let copies = f64::from(plan.histories_made(cell)) + f64::from(plan.repeats);
        copied_bytes(plan, cell, space.total_bytes) as f64 * self.copy_seconds_per_byte * copies
    }
}

/// Files made on the way to a level, those that are deleted again included.
fn files_to_make(prepare: &Prepare, space: &Space) -> f64 {
    let percent = match (prepare.goal, prepare.ballast.method) {
        (BallastGoal::Files(files), _) => return files as f64,
        (BallastGoal::Used(percent), FillMethod::Age { empty_from, .. }) => {
            empty_from.unwrap_or(percent)
        }
        (BallastGoal::Used(percent), FillMethod::Fill) => percent,
    };
    let (used, all) = (space.used_bytes() as f64, space.reachable_bytes() as f64);
    // A file of a drawn size ends inside a block, on average in its middle.
    let each = prepare.ballast.tree.sizes.mean() + space.block_bytes as f64 / 2.0;
    let stay = ((all * percent / 100.0 - used) / each.max(1.0)).max(0.0);
    match prepare.ballast.method {
        FillMethod::Age { delete_every, .. } if delete_every > 1 => {
            stay / (1.0 - 1.0 / delete_every as f64)
        }
        _ => stay,
    }
}

/// Seconds that a sync takes for each operation on so many bytes, beside its commit: by the bytes
/// that all samples together had to write, or by their operations where those write none.
fn written(alike: &[&ProbedPhase], bytes: f64, commit: f64) -> f64 {
    let sum = |of: &dyn Fn(&&ProbedPhase) -> f64| alike.iter().map(of).sum::<f64>();
    let seconds = sum(&|cost| (cost.sync_seconds - commit).max(0.0));
    let all_bytes = sum(&|cost| cost.mean_bytes * cost.operations);
    match all_bytes > 0.0 {
        true => seconds / all_bytes * bytes,
        false => seconds / sum(&|cost| cost.operations).max(1.0),
    }
}

/// Seconds of an operation on so many bytes, on the line between the samples (bytes, seconds) on
/// both sides of it; beyond the largest they grow with the bytes.
fn between(mut samples: Vec<(f64, f64)>, bytes: f64) -> Option<f64> {
    samples.sort_by(|a, b| a.0.total_cmp(&b.0));
    let above = samples.partition_point(|(at, _)| *at < bytes);
    let mean_at = |at: f64| {
        let there = samples.iter().filter(|(other, _)| *other == at);
        let (sum, count) = there.fold((0.0, 0.0), |(sum, n), (_, s)| (sum + s, n + 1.0));
        sum / count
    };
    match (above.checked_sub(1).and_then(|at| samples.get(at)), samples.get(above)) {
        (Some(&(a, _)), Some(&(b, _))) => {
            let (low, high) = (mean_at(a), mean_at(b));
            Some(low + (high - low) * (bytes - a) / (b - a))
        }
        (None, Some(&(b, _))) => Some(mean_at(b)),
        (Some(&(a, _)), None) => Some(mean_at(a) * if a > 0.0 { bytes / a } else { 1.0 }),
        (None, None) => None,
    }
}

/// The value in the middle; 0 of none.
fn middle(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Settings, read_job};
    use crate::results::book::{DiskFacts, Measurement, SETTLE};
    use crate::results::operation::MeasuredOperation;

    fn plan(rest: &str) -> Plan {
        let text = format!("name = \"x\"\nrepeats = 2\n{rest}");
        read_job(&text, &Settings::default()).unwrap_or_else(|p| panic!("{}", p.report("x")))
    }

    fn cost(phase: &str, mean_bytes: f64, each: f64) -> ProbedPhase {
        let (variant, operations) = ("default".into(), 100.0);
        let seconds = each * operations;
        ProbedPhase {
            variant,
            phase: phase.into(),
            mean_bytes,
            operations,
            seconds,
            ..Default::default()
        }
    }

    fn seconds(plan: &Plan, costs: &ProbeCosts) -> f64 {
        estimate(plan, costs, &Space::default()).unwrap()
    }

    const CREATE: &str = "[tree]\nfiles = 1_000\nsize = 2_000\n[[phase]]\noperation = \"create\"\n";

    #[test]
    fn every_operation_of_every_repeat_counts_and_twice_the_bytes_take_twice_as_long() {
        let costs =
            ProbeCosts { phases: vec![cost("create", 1_000.0, 0.01)], ..ProbeCosts::default() };
        assert!((seconds(&plan(CREATE), &costs) - 2.0 * 1_000.0 * 0.02).abs() < 1e-9);
    }

    #[test]
    fn an_earlier_run_did_the_same_work_also_where_it_was_settled_behind_it() {
        let plan = plan(CREATE);
        let mut book = Book::default();
        (book.run.job, book.run.scale) = (plan.job.clone(), plan.scale);
        (book.run.stopping, book.run.complete) = (Stopping::of(&plan), true);
        book.run.started = "2026-11-01T10:00:00Z".into();
        book.run.finished = Some("2026-11-01T10:00:07Z".into());
        let cell = &plan.cells[0];
        let mut create = Measurement {
            phase: "create".into(),
            engine: Some(cell.engine),
            threads: Some(1),
            ..Measurement::default()
        };
        create.cell.variant = cell.variant.clone();
        let settle = Measurement {
            phase: SETTLE.into(),
            operation: Some(MeasuredOperation::Settle),
            ..create.clone()
        };
        book.measurements = vec![create, settle];
        assert_eq!(same_work(&plan, &book), Some(7.0));
        book.measurements[1].operation = MeasuredOperation::find("read");
        assert_eq!(same_work(&plan, &book), None, "another phase is other work");
    }

    #[test]
    fn a_size_between_two_that_were_tried_costs_what_lies_between() {
        let phases = vec![cost("create", 3_000.0, 0.03), cost("create", 1_000.0, 0.02)];
        let costs = ProbeCosts { phases, ..ProbeCosts::default() };
        assert!((seconds(&plan(CREATE), &costs) - 2.0 * 1_000.0 * 0.025).abs() < 1e-9);
        assert_eq!(between(vec![(10.0, 7.0)], 1.0), Some(7.0), "a small one costs no less");
        assert_eq!(between(Vec::new(), 1.0), None);
    }

    #[test]
    fn a_drop_takes_the_same_for_all_and_other_treatments_grow_with_the_files() {
        let job = format!("cache = \"cold\"\n{CREATE}");
        let mut cold = cost("create", 2_000.0, 0.0);
        (cold.cache, cold.cache_seconds) = (CacheAsked::Cold, 0.5);
        let costs =
            |drops| ProbeCosts { phases: vec![cold.clone()], drops, ..ProbeCosts::default() };
        assert!((seconds(&plan(&job), &costs(true)) - 2.0 * 0.5).abs() < 1e-9);
        assert!((seconds(&plan(&job), &costs(false)) - 2.0 * 10.0 * 0.5).abs() < 1e-9);
    }

    #[test]
    fn trees_and_commits_count_once_for_each_cell() {
        let cell = CellCost { directories: 1.0, begin_seconds: 0.25, ..CellCost::default() };
        let removed = CellCost { entries: 100.0, end_seconds: 1.0, ..cell };
        let phases = vec![cost("create", 2_000.0, 0.0)];
        let costs = ProbeCosts { phases, cells: vec![removed], ..ProbeCosts::default() };
        // One commit as the tree is made, one in the sync that ends the phase.
        assert!((seconds(&plan(CREATE), &costs) - 2.0 * (0.25 + 0.25 + 10.0)).abs() < 1e-9);
    }

    #[test]
    fn file_systems_are_made_for_each_cell_and_unmounted_after_it_and_before_cold_phases() {
        let with = |filesystems: &str| Settings {
            filesystems: crate::plan::filesystem::read_list(filesystems).unwrap(),
            ..Settings::default()
        };
        let job = format!("name = \"x\"\nrepeats = 2\ncache = \"cold\"\n{CREATE}");
        let seconds = |filesystems| making_seconds(&read_job(&job, &with(filesystems)).unwrap());
        let each = 3.0 * MAKE_SECONDS + 4.0 * UNMOUNT_SECONDS;
        assert!((seconds("ext4,xfs") - 2.0 * each).abs() < 1e-9, "tried once, made twice");
        assert_eq!((seconds("tmpfs"), making_seconds(&plan(CREATE))), (0.0, 0.0));
    }

    #[test]
    fn a_level_of_used_space_is_reached_by_files_of_which_some_are_deleted() {
        let job = "[axis]\nname = \"space-used\"\nvalues = [\"10%\", \"60%\"]\n\
                   prepare = { age = { sizes = 4096, delete_every = 10 } }\n";
        let plan = plan(&format!("{job}{CREATE}"));
        let prepare = plan.cells[1].prepare.as_ref().unwrap();
        let total_bytes = 1 << 20;
        let space = Space {
            total_bytes,
            free_bytes: total_bytes,
            available_bytes: total_bytes,
            ..Space::default()
        };
        let made = files_to_make(prepare, &space);
        assert!((made - 0.6 * 256.0 / 0.9).abs() < 1e-6, "{made}");
        let stock = BallastCost { files: 10.0, seconds: 1.0, ..BallastCost::default() };
        let phases = vec![cost("create", 2_000.0, 0.0)];
        let costs = ProbeCosts { phases, stocks: vec![stock], ..ProbeCosts::default() };
        let all = estimate(&plan, &costs, &space).unwrap();
        assert!((all - made / 10.0).abs() < 1e-6, "once, not for each repeat: {all}");
    }

    fn filesystem(list: &str) -> FileSystem {
        crate::plan::filesystem::read_list(list).unwrap().remove(0)
    }

    /// What a book has of a file system of 2 GiB on an image.
    fn made(list: &str) -> MadeFileSystem {
        let (of, room) = (filesystem(list), VolumeSize { bytes: 2 << 30, inodes: 9 });
        MadeFileSystem {
            mkfs: shown_command(&of, &room),
            mount_asked: mount_options(&of, &room),
            device_bytes: room.bytes,
            place: MadeOn::Image,
            ..crate::results::fixture::made::filesystem("any", of.kind.name)
        }
    }

    #[test]
    fn file_systems_are_alike_if_they_were_made_by_the_same_words_in_the_same_size_and_place() {
        let asked = Volume::default();
        let alike = |list: &str, bytes| {
            let room = VolumeSize { bytes, inodes: 9 };
            is_alike(&filesystem(list), &asked, &room, &made("ext4:mkfs=-m 0:name=x"))
        };
        assert!(alike("ext4:mkfs=-m 0:name=x", 2 << 30));
        for other in ["ext4:name=x", "ext4:mkfs=-m 5:name=x", "ext4:mkfs=-m 0:mount=noatime:name=x"]
        {
            assert!(!alike(other, 2 << 30), "{other}");
        }
        assert!(!alike("ext4:mkfs=-m 0:name=x", 3 << 30));
    }

    #[test]
    fn a_file_system_on_another_modelled_disk_is_not_the_same_wherever_its_image_lies() {
        let room = VolumeSize { bytes: 2 << 30, inodes: 9 };
        let on = |disk: &str| {
            let wanted = filesystem(&format!("ext4:disk={disk}:name=x"));
            let disk = wanted.disk.clone().unwrap();
            let facts = DiskFacts { name: disk.name.clone(), model: disk.text.clone() };
            (wanted, MadeFileSystem { disk: Some(facts), ..made("ext4:name=x") })
        };
        let ((slow, on_slow), (fast, on_fast)) = (on("hdd-7200"), on("nvme"));
        for place in [Volume::Image { bytes: None }, Volume::Memory { bytes: None }] {
            let alike =
                |wanted: &FileSystem, made: &MadeFileSystem| is_alike(wanted, &place, &room, made);
            assert!(alike(&slow, &on_slow) && alike(&fast, &on_fast));
            assert!(!alike(&slow, &on_fast) && !alike(&filesystem("ext4:name=x"), &on_slow));
            assert!(!alike(&slow, &made("ext4:name=x")));
        }
    }

    #[test]
    fn a_file_system_elsewhere_is_not_the_same_unless_it_has_no_place() {
        let room = VolumeSize { bytes: 2 << 30, inodes: 9 };
        let device = |name: &str| Volume::Device { path: name.into(), erase: name.into() };
        let on_image =
            |list: &str, asked: &Volume| is_alike(&filesystem(list), asked, &room, &made(list));
        let elsewhere = [Volume::Memory { bytes: None }, device("/dev/sdz")];
        assert!(elsewhere.iter().all(|asked| !on_image("ext4", asked) && on_image("tmpfs", asked)));
        let mut on_device = made("ext4");
        on_device.place = MadeOn::Device;
        let name = on_device.device.as_ref().map(|device| device.name.clone()).unwrap();
        let same = |name: &str| {
            is_alike(&filesystem("ext4"), &device(&format!("/dev/{name}")), &room, &on_device)
        };
        assert!(same(&name) && !same("sdz"));
    }

    #[test]
    fn a_phase_that_no_probe_did_leaves_no_estimate_unless_its_time_is_known() {
        let costs = ProbeCosts::default();
        assert_eq!(estimate(&plan(CREATE), &costs, &Space::default()), None);
        let timed = "[[phase]]\noperation = \"read-device\"\nduration = \"3s\"\n";
        assert!((seconds(&plan(timed), &costs) - 6.0).abs() < 1e-9);
    }
}
