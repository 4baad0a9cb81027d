//! What ranks cost beside threads: two ranks of one thread each against one process of two threads, which both make, look up
//! and remove the same number of files, each worker in a tree of its own, in turns within one run. Prints ratios of times (1
//! is as long as threads take) with the 95% interval of their median.
//!
//! `MPICC=mpicc.openmpi cargo bench -p boatload-mpi` on /dev/shm. BOATLOAD_BENCH_DIR names another directory,
//! BOATLOAD_BENCH_FILES and BOATLOAD_BENCH_ROUNDS other numbers.
#![allow(
    missing_docs,
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "it prints"
)]

#[path = "../tests/launch/mod.rs"]
mod launch;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

/// Files of each worker.
const FILES: u64 = 100_000;
const ROUNDS: usize = 21;
const WORKERS: u32 = 2;

const JOB: &str = r#"
name = "cost"
question = "What do ranks cost?"
cache = "as-is"
[parameters]
files = 1
[tree]
files = "$files"
trees = "own"
[[phase]]
operation = "create"
[[phase]]
operation = "stat"
[[phase]]
operation = "delete"
"#;

fn main() {
    let directory = std::env::var_os("BOATLOAD_BENCH_DIR").map_or("/dev/shm".into(), PathBuf::from);
    let place = directory.join(format!("boatload-cost-{}", std::process::id()));
    std::fs::create_dir(&place).expect("the directory can be written");
    let files = number("BOATLOAD_BENCH_FILES").unwrap_or(FILES);
    let rounds = number("BOATLOAD_BENCH_ROUNDS").map_or(ROUNDS, |rounds| rounds.max(6) as usize);
    let library = mpi::environment::library_version().unwrap_or_default();
    println!("{}", library.lines().next().unwrap_or_default());
    println!(
        "{files} files for each of {WORKERS} workers in {}, {rounds} rounds",
        directory.display()
    );
    println!("time of ranks over time of threads: median (95% interval of the median)");
    let mut ratios: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for round in 0..rounds {
        let ranks = || seconds(&place, WORKERS, 1, files);
        let threads = || seconds(&place, 1, WORKERS, files * u64::from(WORKERS));
        // Whatever the first one leaves to the second, each has it as often.
        let (ranks, threads) = match round % 2 {
            0 => (ranks(), threads()),
            _ => {
                let threads = threads();
                (ranks(), threads)
            }
        };
        for (phase, time) in ranks {
            ratios.entry(phase.clone()).or_default().push(time / threads[&phase]);
        }
    }
    for (phase, of_phase) in &mut ratios {
        println!("  {phase:7} {}", summary(of_phase));
    }
    std::fs::remove_dir_all(&place).unwrap();
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|text| text.parse().expect("a number"))
}

/// How long each phase takes, from the first start to the last end.
fn seconds(place: &Path, ranks: u32, threads: u32, files: u64) -> BTreeMap<String, f64> {
    let job = place.join("cost.toml");
    std::fs::write(&job, JOB).unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_boatload-mpi"));
    let mut command =
        if ranks > 1 { launch::launch(ranks, program) } else { Command::new(program) };
    command.arg("run").arg(&job).arg("--dir").arg(place).arg("--store").arg(place.join("store.db"));
    command.args(["--repeats", "1", "--quiet", "--json", "-", "--threads", &threads.to_string()]);
    command.arg("--set").arg(format!("files={files}")).stdin(Stdio::null());
    let output = command.output().unwrap();
    let document: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
    let time = |measurement: &Value| {
        assert_eq!(measurement["invalid"], serde_json::json!([]), "{measurement}");
        let phase = measurement["phase"].as_str().unwrap().to_string();
        (phase, measurement["seconds"].as_f64().unwrap())
    };
    document["measurements"].as_array().unwrap().iter().map(time).collect()
}

/// The median, and the interval between the values of those ranks that hold it in 95% of all samples: the binomial
/// distribution with p = 1/2, by its normal approximation (Conover, "Practical Nonparametric Statistics", 3.2).
fn summary(ratios: &mut [f64]) -> String {
    ratios.sort_by(f64::total_cmp);
    let n = ratios.len() as f64;
    let reach = 1.96 * n.sqrt() / 2.0;
    let at = |rank: f64| ratios[(rank.round().max(1.0) as usize).min(ratios.len()) - 1];
    format!(
        "{:.3} ({:.3} to {:.3})",
        at(n.midpoint(1.0)),
        at(n / 2.0 - reach),
        at(1.0 + n / 2.0 + reach)
    )
}
