//! The peak memory of simulated runs: of a mix over a hundred million files, and of each scenario at its quick scale.

use std::mem::MaybeUninit;
use std::path::Path;
use std::process::{Command, Stdio};

use boatload::plan::SCENARIOS;

use crate::common::skip;
use crate::mix::WORKS;

const MIX_MEBIBYTES: f64 = 48.0;
const SCENARIO_MEBIBYTES: f64 = 64.0;

pub fn all(place: &Path) {
    let job = format!(
        "name = 'mix'\nrepeats = 1\n[tree]\nfiles = '100M'\nsize = 1024\n\
         [[phase]]\noperation = 'create'\n[[phase]]\nname = 'mix'\ncount = '1M'\n{WORKS}"
    );
    let path = place.join("mix.toml");
    std::fs::write(&path, job).unwrap();
    one(place, "mix, 100 million files", &path.to_string_lossy(), MIX_MEBIBYTES);
    for scenario in SCENARIOS {
        one(place, scenario.name, scenario.name, SCENARIO_MEBIBYTES);
    }
}

fn one(place: &Path, name: &str, job: &str, wanted: f64) {
    // The simulator takes minutes to fill a large disk.
    let child = Command::new("timeout")
        .args([
            "30",
            env!("CARGO_BIN_EXE_boatload"),
            "run",
            job,
            "--engine",
            "sim",
            "--scale",
            "quick",
            "--repeats",
            "1",
            "--store",
        ])
        .arg(place.join("store.db"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    #[expect(clippy::zombie_processes, reason = "wait4 waits for it")]
    let child = child.unwrap();
    let (mut status, mut usage) = (0, MaybeUninit::<libc::rusage>::uninit());
    // SAFETY: the child is one of this process that nothing else waits for; wait4 fills the struct when it succeeds.
    let peak = unsafe {
        let pid = libc::pid_t::try_from(child.id()).unwrap();
        assert_eq!(libc::wait4(pid, &raw mut status, 0, usage.as_mut_ptr()), pid);
        usage.assume_init().ru_maxrss as f64 / 1024.0
    };
    if status != 0 {
        return skip(&format!("memory of {name}"), "it cannot be simulated in 30 s");
    }
    let met = if peak < wanted { "met" } else { "missed" };
    println!("| memory | {name}, simulated | {peak:.1} MiB | below {wanted:.0} MiB | {met} |");
}
