//! Measures boatload's own overhead: all but the file system, which here takes no time.

use std::sync::atomic::AtomicBool;

use boatload_op::find_operation;
use boatload_plan::phase::{DirectoryWalk, PhaseEnd};
use boatload_plan::selection::{EntryRange, Order, Selection};
use boatload_plan::sim::SimModel;
use boatload_plan::tree::Sizes;
use boatload_plan::{CellPlan, Phase, Plan, Tree};
use boatload_results::recorder::PhaseRecorder;
use boatload_run::clock::RealClock;
use boatload_run::drive::DoneCount;
use boatload_run::site::{SimSite, Site};

/// Files created to tell: less than a millisecond of work.
const FILES: u64 = 4_000;

/// Contents are at most this large, in bytes.
const CONTENT_MAX: u64 = 4096;

/// Tries; the shortest is taken, since every disturbance makes a try longer.
const TRIES: u32 = 5;

/// The cost of one create, in nanoseconds, of the files of the first cell whose time is real; 0 where
/// all time is simulated.
pub(super) fn cost_ns(plan: &Plan, clock: &RealClock) -> f64 {
    let takes_real_time =
        |cell: &&CellPlan| !cell.engine.is_simulated() || cell.sim.takes_no_time();
    let Some(cell) = plan.cells.iter().find(takes_real_time) else { return 0.0 };
    let tries = (0..TRIES).map(|_| one_try(cell, clock));
    tries.fold(f64::INFINITY, f64::min)
}

fn one_try(cell: &CellPlan, clock: &RealClock) -> f64 {
    let Some(block) = cell.phases.first().map(|phase| u64::from(phase.block)) else { return 0.0 };
    let mut tree = Tree { files: FILES, files_max: None, chunks: None, ..cell.tree.clone() };
    if tree.sizes.max() > CONTENT_MAX {
        // What making large contents costs would say nothing of operations without content.
        tree.sizes = Sizes::Fixed(CONTENT_MAX.min(block));
    }
    let Some(phase) = creating(cell, &tree) else { return 0.0 };
    let sim = SimModel::default();
    let cell = CellPlan { tree, sim, phases: Vec::new(), ..cell.clone() };
    let mut site = SimSite::new(clock.clone());
    if site.begin_cell(&cell).is_err() {
        return 0.0;
    }
    let workers = phase.threads;
    let mut recorders: Vec<PhaseRecorder> =
        (0..workers).map(|worker| PhaseRecorder::new(phase.turns(worker), None)).collect();
    let done: Vec<DoneCount> = DoneCount::of_workers(workers);
    let run = site.engines().work(&phase, &AtomicBool::new(false), &done, &mut recorders);
    run.seconds * 1e9 / run.operations.max(1) as f64
}

fn creating(cell: &CellPlan, tree: &Tree) -> Option<Phase> {
    let model = cell.phases.first()?;
    let selection =
        Selection::new(EntryRange::whole(0, tree.files), Order::Sequential, 1, tree.seed, 0);
    Some(Phase {
        name: "overhead".into(),
        operation: find_operation("create")?,
        selection,
        mix: None,
        windows: 0,
        threads: 1,
        direct: false,
        end: PhaseEnd::Targets,
        sizes: None,
        history: Vec::new(),
        walk: DirectoryWalk::default(),
        entries_after: tree.files,
        ..model.clone()
    })
}
