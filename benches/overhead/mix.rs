//! A mix of work, through boatload and in C.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use boatload::plan::{Phase, Settings, read_job};
use boatload::results::recorder::PhaseRecorder;
use boatload::run::clock::RealClock;
use boatload::run::drive::DoneCount;
use boatload::run::engine::sync::{OpenTree, SyncEngine};
use boatload::run::workers::{PhaseTask, run_workers};

use crate::{common, in_turns, is_there, print_ratios};

const FILES: u64 = 60_000;
const FILES_MAX: u64 = 100_000;
const TURNS: u64 = 200_000;
const FILE_BYTES: u64 = 1024;

/// The works of the mix, as a job has them.
pub const WORKS: &str = r#"
[[phase.work]]
operation = "read"
weight = 7
[[phase.work]]
operation = "create"
weight = 2
[[phase.work]]
operation = "delete"
weight = 1
"#;

pub fn all(place: &Path, rounds: usize, clock: &RealClock) {
    if !is_there("cc", "gcc") {
        return;
    }
    let program = place.join("mix");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/overhead/mix.c");
    let compiled = ["-O2", "-o", program.to_str().unwrap(), source];
    common::output("cc", &compiled).expect("a C compiler compiles it");
    let ours = |at: &Path| vec![our_seconds(at, clock)];
    let ratios = in_turns(place, rounds, ours, |at| vec![seconds_in_c(&program, at)]);
    for ratios in ratios {
        print_ratios("the same in C", "mix, tmpfs: 70% read, 20% create, 10% delete", ratios, 0.95);
    }
}

fn seconds_in_c(program: &Path, directory: &Path) -> f64 {
    let mut command = Command::new(program);
    command.arg(directory).args([FILES, FILES_MAX, TURNS, FILE_BYTES].map(|n| n.to_string()));
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().parse().expect("seconds")
}

fn our_seconds(directory: &Path, clock: &RealClock) -> f64 {
    let job = format!(
        "name = 'mix'\n[tree]\nfiles = {FILES}\nfiles_max = {FILES_MAX}\nsize = {FILE_BYTES}\n\
         [[phase]]\noperation = 'create'\n[[phase]]\nname = 'mix'\ncount = {TURNS}\n{WORKS}"
    );
    let plan =
        read_job(&job, &Settings::default()).unwrap_or_else(|p| panic!("{}", p.report("mix")));
    let cell = &plan.cells[0];
    let root = std::fs::File::open(directory).unwrap();
    let shared = Arc::new(OpenTree::open(cell.tree.clone(), root.into(), 1, true).unwrap());
    let mut seconds = 0.0;
    for phase in &cell.phases {
        seconds = phase_seconds(phase, &shared, clock);
    }
    seconds
}

fn phase_seconds(phase: &Phase, shared: &Arc<OpenTree>, clock: &RealClock) -> f64 {
    let recorder = match &phase.mix {
        Some(mix) => PhaseRecorder::of_mix(phase.turns(0), phase, mix),
        None => PhaseRecorder::new(phase.turns(0), None),
    };
    let (done, stop) = (DoneCount::of_workers::<Vec<_>>(1), AtomicBool::new(false));
    let task = PhaseTask { phase, tree: &shared.tree, stop: &stop, done: &done };
    let run = run_workers(task, &mut [recorder], |worker| {
        (SyncEngine::new(Arc::clone(shared), worker, phase), clock.clone())
    });
    assert!(run.errors.is_empty(), "{:?}", run.errors);
    run.seconds
}
