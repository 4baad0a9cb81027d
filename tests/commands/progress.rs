//! The progress of a run on a terminal: one line, which is gone at the end.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed test panics"
)]

use crate::command;
use crate::terminal;

use std::fs::File;
use std::path::{Path, PathBuf};

use command::Bench;
use rustix::process::Signal;
use terminal::{AtTerminal, Terminal};

const CLEARS_LINE: &str = "\r\u{1b}[K";
const CTRL_C: &[u8] = b"\x03";

/// A job of the simulated file system that takes this long, whatever the machine.
fn job(bench: &Bench, duration: &str) -> PathBuf {
    let text = format!(
        "name = \"still\"\nquestion = \"?\"\nrepeats = 1\nengine = \"sim\"\ntree = {{ files = 10 }}\n\
         phase = [\n  {{ operation = \"create\" }},\n  \
         {{ operation = \"stat\", name = \"looks\", cache = \"as-is\", duration = \"{duration}\" }},\n]\n"
    );
    bench.write("job.toml", text)
}

fn start(bench: &Bench, terminal: &Terminal, duration: &str) -> AtTerminal {
    let mut command = bench.command(["run"]);
    command.arg(job(bench, duration));
    terminal.start(&command)
}

#[test]
fn the_report_follows_a_line_that_is_gone() {
    let (bench, terminal) = (Bench::default(), Terminal::new(80, 24));
    let modes = terminal.modes();
    let run = start(&bench, &terminal, "600ms");
    terminal.shows("  looks  ");
    assert_eq!(run.ended(), Some(0));
    terminal.shows("More: boatload show");
    let seen = terminal.seen();
    let after = &seen[seen.rfind(CLEARS_LINE).unwrap()..];
    assert!(after.contains("More: boatload show") && !after.contains("/s  "), "{after:?}");
    assert_eq!(terminal.modes(), modes);
}

#[test]
fn ctrl_c_stops_the_run_and_clears_the_line() {
    let (bench, terminal) = (Bench::default(), Terminal::new(80, 24));
    let run = start(&bench, &terminal, "1h");
    terminal.shows("  looks  ");
    terminal.press(CTRL_C);
    assert_eq!(run.ended(), Some(130));
    terminal.shows("what was done is kept as run");
    let seen = terminal.seen();
    let (cleared, said) = (seen.rfind(CLEARS_LINE), seen.rfind("interrupted; "));
    assert!(cleared.unwrap() < said.unwrap(), "{seen:?}");
}

#[test]
fn the_second_signal_ends_what_is_cleaned_up() {
    let (bench, terminal) = (Bench::default(), Terminal::new(80, 24));
    let mut command = bench.command(["run", "--cache", "as-is", "--set", "files=3M"]);
    command.args(["--set", "selected=10", "--set", "size_min=0", "--set", "size_max=0"]);
    let run = terminal.start(&command);
    while files(&bench.work()) < 20_000 {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    run.signal(Signal::INT);
    terminal.shows("cleaning up");
    run.signal(Signal::INT);
    assert_eq!(run.ended(), Some(130));
    assert!(!terminal.seen().contains("what was done is kept"), "{:?}", terminal.seen());
}

/// Files below a directory.
fn files(directory: &Path) -> usize {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let counted = entries.map(|entry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => files(&entry.path()),
        _ => 1,
    });
    counted.sum()
}

#[test]
fn a_terminal_that_nobody_reads_keeps_no_run_from_ending() {
    let (bench, terminal) = (Bench::default(), Terminal::new(80, 24));
    let path = bench.beside("document.json");
    let mut command = bench.command(["run", "--json", "-"]);
    command.arg(job(&bench, "1h"));
    let run = terminal.start_into(File::create(&path).unwrap(), &command);
    terminal.shows("  looks  ");
    terminal.stalls();
    run.signal(Signal::TERM);
    assert_eq!(run.ended(), Some(130));
    let text = std::fs::read_to_string(&path).unwrap();
    let document: serde_json::Value = serde_json::from_str(&text).expect(&text);
    assert_eq!(document["run"]["scenario"], "still", "{text}");
}

#[test]
fn a_terminal_that_grows_gets_a_longer_line() {
    let (bench, terminal) = (Bench::default(), Terminal::new(12, 4));
    let run = start(&bench, &terminal, "1h");
    terminal.shows("0%");
    terminal.resize(100, 30);
    terminal.shows("  looks  ");
    terminal.press(CTRL_C);
    assert_eq!(run.ended(), Some(130));
}
