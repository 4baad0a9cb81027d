//! What measuring costs, in one table. Each line holds boatload, every latency recorded, against something else
//! that does the same in the same run, in turns: bare loops of the same system calls, fio and fs_mark, and the same mix
//! of work in C. 1 is as fast, 1.05 is 5% faster. At the end the peak memory of simulated runs.
//!
//! `cargo bench --bench overhead` works on /dev/shm, and needs root for an ext4 in an image. Words
//! after `--` name the parts to do: tmpfs, ext4, fio, fs_mark, mix, memory.

#![allow(
    missing_docs, unreachable_pub, unsafe_code, clippy::print_stdout, clippy::unwrap_used,
    clippy::expect_used, clippy::panic
)]

#[path = "../../tests/common/mod.rs"]
mod common;
mod loops;
mod memory;
mod mix;
mod rivals;

use std::path::Path;

use boatload::run::clock::RealClock;
use common::{LoopMount, skip};

/// Rounds that count. ext4 takes longer, and programs of others do.
const ROUNDS: usize = 15;
const ROUNDS_FEW: usize = 5;

/// Enough for the files of both and their inodes.
const EXT4_MEBIBYTES: u64 = 4096;

fn main() {
    let asked: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let is_asked = |part: &str| asked.is_empty() || asked.iter().any(|word| word == part);
    let clock = RealClock::new();
    let tmpfs = tempfile::tempdir_in("/dev/shm").expect("a directory in memory");
    println!("| boatload against | what | median (quartiles) | wanted | |");
    println!("|---|---|---|---|---|");
    // First: the peak of a child is at least what this process had in memory when it started it.
    if is_asked("memory") {
        memory::all(tmpfs.path());
    }
    if is_asked("tmpfs") {
        loops::all("tmpfs", tmpfs.path(), ROUNDS, &clock);
    }
    if is_asked("ext4")
        && let Some(ext4) = LoopMount::in_memory("ext4", EXT4_MEBIBYTES)
    {
        loops::all("ext4", ext4.path(), ROUNDS_FEW, &clock);
    }
    if is_asked("fio") {
        rivals::fio(tmpfs.path(), ROUNDS_FEW, &clock);
    }
    if is_asked("fs_mark") {
        rivals::fs_mark(tmpfs.path(), ROUNDS_FEW, &clock);
    }
    if is_asked("mix") {
        mix::all(tmpfs.path(), ROUNDS_FEW, &clock);
    }
}

/// Does the same in two ways, in turns, each in a new directory, and gives for each figure what theirs is over ours, of all
/// rounds but the first, which touches memory for the first time. Who goes first changes from round to round.
fn in_turns(
    place: &Path,
    rounds: usize,
    ours: impl Fn(&Path) -> Vec<f64>,
    theirs: impl Fn(&Path) -> Vec<f64>,
) -> Vec<Vec<f64>> {
    let mut ratios: Vec<Vec<f64>> = Vec::new();
    for round in 0..=rounds {
        let (mut own, mut other) = (Vec::new(), Vec::new());
        for is_ours in [round % 2 == 0, round % 2 != 0] {
            let directory = place.join("files");
            std::fs::create_dir(&directory).unwrap();
            match is_ours {
                true => own = ours(&directory),
                false => other = theirs(&directory),
            }
            std::fs::remove_dir_all(&directory).unwrap();
        }
        ratios.resize(own.len(), Vec::new());
        for (at, ratios) in ratios.iter_mut().enumerate().filter(|_| round > 0) {
            ratios.push(other[at] / own[at]);
        }
    }
    ratios
}

/// One line of the table.
fn print_ratios(against: &str, what: &str, mut ratios: Vec<f64>, wanted: f64) {
    ratios.sort_by(f64::total_cmp);
    let at = |share: f64| ratios[(share * (ratios.len() - 1) as f64) as usize];
    let found = format!("{:.3} ({:.3} to {:.3})", at(0.5), at(0.25), at(0.75));
    let met = if at(0.5) >= wanted { "met" } else { "missed" };
    println!("| {against} | {what} | {found} | at least {wanted:.2} | {met} |");
}

/// Whether a program is there; if it is not, that is said.
fn is_there(program: &str, package: &str) -> bool {
    let found = common::output("sh", &["-c", &format!("command -v {program}")]).is_some();
    if !found {
        skip(program, &format!("it is not installed; it is in the Debian package {package}"));
    }
    found
}
