//! What boatload takes: memory and time for each operation of a simulated run with a hundred
//! million files against one with a thousand, and how long the command takes to start.
//!
//! `cargo bench --bench footprint`

#![allow(missing_docs, unsafe_code, clippy::print_stdout, clippy::unwrap_used, clippy::expect_used)]

use std::path::Path;
use std::process::{Command, Stdio};

use boatload::run::clock::RealClock;
use serde_json::Value;

const STARTS: usize = 51;

/// Every phase works on all files.
const JOB: &str = r#"
name = "footprint"
question = "What does boatload itself take?"
repeats = 1
[parameters]
files = 1000
[tree]
files = "$files"
size = { uniform = { min = "512B", max = "1536B" } }
[[phase]]
operation = "create"
[[phase]]
operation = "stat"
[[phase]]
operation = "read"
[[phase]]
operation = "delete"
"#;

fn main() {
    let place = std::env::temp_dir().join(format!("boatload-footprint-{}", std::process::id()));
    std::fs::create_dir(&place).expect("the temporary directory can be written");
    std::fs::write(place.join("job.toml"), JOB).unwrap();
    let small = simulated(&place, "1k");
    let large = simulated(&place, "100M");
    println!("peak memory     1,000 files {small:.1} MiB, 100 million files {large:.1} MiB");
    println!("                ratio {:.2}", large / small);
    let mut starts: Vec<f64> = (0..STARTS).map(|_| start_seconds()).collect();
    starts.sort_by(f64::total_cmp);
    println!("--version       {:.2} ms (median of {STARTS})", starts[STARTS / 2] * 1e3);
    std::fs::remove_dir_all(&place).unwrap();
}

/// Runs the job on the simulated file system, prints what an operation cost, and gives the peak
/// memory of the process in MiB.
fn simulated(place: &Path, files: &str) -> f64 {
    let output = Command::new(env!("CARGO_BIN_EXE_boatload"))
        .args(["run", "job.toml", "--engine", "sim", "--json", "-", "--store", "store.db"])
        .args(["--set", &format!("files={files}")])
        .current_dir(place)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    for m in document["measurements"].as_array().unwrap() {
        let ns = m["seconds"].as_f64().unwrap() * 1e9 / m["operations"].as_f64().unwrap();
        println!(
            "{files:>5} files     {:<8} {ns:.1} ns an operation",
            m["phase"].as_str().unwrap()
        );
    }
    peak_mebibytes()
}

/// The largest peak of any child until now; the children come in growing order.
fn peak_mebibytes() -> f64 {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::uninit();
    // SAFETY: getrusage fills the struct it is given when it succeeds, which is asserted.
    let peak_kibibytes = unsafe {
        assert_eq!(libc::getrusage(libc::RUSAGE_CHILDREN, usage.as_mut_ptr()), 0);
        usage.assume_init().ru_maxrss
    };
    peak_kibibytes as f64 / 1024.0
}

fn start_seconds() -> f64 {
    let mut command = Command::new(env!("CARGO_BIN_EXE_boatload"));
    command.arg("--version").stdout(Stdio::null());
    RealClock::new().time(|| command.status().unwrap()).1
}
