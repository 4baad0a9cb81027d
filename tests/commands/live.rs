//! `run --live` on a terminal: what is shown, how it is left, and that the terminal is given back.
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

const ENTERS: &str = "\u{1b}[?1049h";
const LEAVES: &str = "\u{1b}[?1049l";
const HIDES_CURSOR: &str = "\u{1b}[?25l";
const SHOWS_CURSOR: &str = "\u{1b}[?25h";
const CTRL_C: &[u8] = b"\x03";

const UTF8: [(&str, &str); 2] = [("TERM", "xterm-256color"), ("LANG", "C.UTF-8")];

/// A job of the simulated file system that takes this long, whatever the machine.
fn job(bench: &Bench, duration: &str) -> PathBuf {
    let text = format!(
        "name = \"still\"\nquestion = \"?\"\nrepeats = 1\nengine = \"sim\"\ntree = {{ files = 10 }}\n\
         phase = [\n  {{ operation = \"create\" }},\n  \
         {{ operation = \"stat\", name = \"looks\", cache = \"as-is\", duration = \"{duration}\" }},\n]\n"
    );
    bench.write("job.toml", text)
}

fn start(
    bench: &Bench,
    terminal: &Terminal,
    duration: &str,
    variables: &[(&str, &str)],
) -> AtTerminal {
    let mut command = bench.command(["run", "--live"]);
    command.arg(job(bench, duration));
    terminal.start(&command, variables)
}

/// The terminal is restored, and nothing is drawn after it was given back.
#[track_caller]
fn is_given_back(terminal: &Terminal, modes: &str) {
    let seen = terminal.seen();
    let (entered, left) = (seen.rfind(ENTERS).unwrap(), seen.rfind(LEAVES).unwrap());
    assert!(entered < left, "{seen:?}");
    assert!(seen.rfind(HIDES_CURSOR).unwrap() < seen.rfind(SHOWS_CURSOR).unwrap());
    assert_eq!(terminal.modes(), modes);
}

#[test]
fn the_report_follows_a_view_that_was_not_left() {
    let (bench, terminal) = (Bench::default(), Terminal::new(80, 24));
    let modes = terminal.modes();
    let run = start(&bench, &terminal, "300ms", &UTF8);
    assert_eq!(run.ended(), Some(0));
    terminal.shows("More: boatload show");
    is_given_back(&terminal, &modes);
    let seen = terminal.seen();
    let after = &seen[seen.rfind(LEAVES).unwrap()..];
    assert!(after.contains("More: boatload show"), "{after:?}");
}

#[test]
fn ctrl_c_stops_the_run_and_gives_the_terminal_back() {
    let (bench, terminal) = (Bench::default(), Terminal::new(80, 24));
    let modes = terminal.modes();
    let run = start(&bench, &terminal, "1h", &UTF8);
    terminal.shows("looks");
    terminal.press(CTRL_C);
    assert_eq!(run.ended(), Some(130));
    terminal.shows("what was done is kept as run");
    is_given_back(&terminal, &modes);
}

#[test]
fn sigterm_stops_the_run_and_gives_the_terminal_back() {
    let (bench, terminal) = (Bench::default(), Terminal::new(80, 24));
    let modes = terminal.modes();
    let run = start(&bench, &terminal, "1h", &UTF8);
    terminal.shows("looks");
    run.signal(Signal::TERM);
    assert_eq!(run.ended(), Some(130));
    terminal.shows("what was done is kept as run");
    is_given_back(&terminal, &modes);
}

#[test]
fn two_signals_at_once_leave_the_terminal_as_it_was() {
    for _ in 0..3 {
        let (bench, terminal) = (Bench::default(), Terminal::new(80, 24));
        let modes = terminal.modes();
        let run = start(&bench, &terminal, "1h", &UTF8);
        terminal.shows("looks");
        run.signal(Signal::INT);
        run.signal(Signal::TERM);
        assert_eq!(run.ended(), Some(130));
        terminal.shows(SHOWS_CURSOR);
        is_given_back(&terminal, &modes);
    }
}

#[test]
fn the_second_signal_ends_what_is_cleared_up_after_a_view() {
    let (bench, terminal) = (Bench::default(), Terminal::new(80, 24));
    let mut command = bench.command(["run", "--live", "--cache", "as-is", "--set", "files=3M"]);
    command.args(["--set", "selected=10", "--set", "size_min=0", "--set", "size_max=0"]);
    let run = terminal.start(&command, &UTF8);
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

/// A run that takes an hour, with its document in a file.
fn start_with_document(bench: &Bench, terminal: &Terminal) -> (AtTerminal, PathBuf) {
    let path = bench.beside("document.json");
    let mut command = bench.command(["run", "--live", "--json", "-"]);
    command.arg(job(bench, "1h"));
    (terminal.start_into(File::create(&path).unwrap(), &command, &UTF8), path)
}

#[track_caller]
fn is_a_document(path: &Path) {
    let text = std::fs::read_to_string(path).unwrap();
    let document: serde_json::Value = serde_json::from_str(&text).expect(&text);
    assert_eq!(document["run"]["scenario"], "still", "{text}");
}

#[test]
fn a_process_that_was_stopped_goes_on_drawing_and_asks_the_terminal_nothing() {
    let (bench, terminal) = (Bench::default(), Terminal::new(80, 24));
    let modes = terminal.modes();
    let (run, document) = start_with_document(&bench, &terminal);
    terminal.shows("looks");
    run.signal(Signal::STOP);
    run.signal(Signal::CONT);
    let drawn = terminal.seen().matches("boatload still").count();
    terminal.shows_times(drawn + 2, "boatload still");
    run.signal(Signal::TERM);
    assert_eq!(run.ended(), Some(130));
    terminal.shows("what was done is kept as run");
    is_given_back(&terminal, &modes);
    assert!(!terminal.seen().contains("\u{1b}[6n"), "{:?}", terminal.seen());
    is_a_document(&document);
}

#[test]
fn a_terminal_that_nobody_reads_keeps_no_run_from_ending() {
    let (bench, terminal) = (Bench::default(), Terminal::new(80, 24));
    let modes = terminal.modes();
    let (run, document) = start_with_document(&bench, &terminal);
    terminal.shows("looks");
    terminal.stalls();
    run.signal(Signal::TERM);
    assert_eq!(run.ended(), Some(130));
    is_a_document(&document);
    terminal.goes_on();
    terminal.shows(LEAVES);
    terminal.shows(SHOWS_CURSOR);
    is_given_back(&terminal, &modes);
}

#[test]
fn a_run_that_fails_gives_the_terminal_back_before_it_says_why() {
    let (bench, terminal) = (Bench::default(), Terminal::new(80, 24));
    let modes = terminal.modes();
    let mut command = bench.command(["run", "--live", "--dir", "/no/such/place"]);
    command.arg(job(&bench, "1h"));
    let run = terminal.start(&command, &UTF8);
    assert_eq!(run.ended(), Some(1));
    terminal.shows("/no/such/place");
    is_given_back(&terminal, &modes);
    let seen = terminal.seen();
    let after = &seen[seen.rfind(LEAVES).unwrap()..];
    assert!(after.contains("boatload: ") && after.contains("/no/such/place"), "{after:?}");
}

#[test]
fn a_terminal_that_grows_is_drawn_anew() {
    let (bench, terminal) = (Bench::default(), Terminal::new(60, 4));
    let run = start(&bench, &terminal, "1h", &UTF8);
    terminal.shows("boatload still");
    assert!(!terminal.seen().contains("finished phases"), "{:?}", terminal.seen());
    terminal.resize(100, 30);
    terminal.shows("finished phases");
    terminal.press(CTRL_C);
    assert_eq!(run.ended(), Some(130));
}

#[test]
fn without_utf8_it_is_plain() {
    is_plain(&[("TERM", "vt100"), ("LANG", "C")]);
}

#[test]
fn on_the_console_of_linux_it_is_plain() {
    is_plain(&[("TERM", "linux"), ("LANG", "C.UTF-8")]);
}

#[track_caller]
fn is_plain(variables: &[(&str, &str)]) {
    let (bench, terminal) = (Bench::default(), Terminal::new(80, 24));
    let run = start(&bench, &terminal, "1h", variables);
    terminal.shows("looks");
    terminal.press(CTRL_C);
    assert_eq!(run.ended(), Some(130));
    terminal.shows(LEAVES);
    let seen = terminal.seen();
    let view = &seen[..seen.find(LEAVES).unwrap()];
    assert!(view.is_ascii() && view.contains("boatload still"), "{view:?}");
}

#[test]
fn without_a_terminal_it_says_so_and_goes_on() {
    let bench = Bench::default();
    let ran = bench.run([&"run".into(), &"--live".into(), &job(&bench, "10ms").into_os_string()]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let said = "no live view, standard error is not a terminal; progress comes in plain lines\n";
    assert!(ran.stderr.starts_with(said), "{}", ran.stderr);
    assert!(ran.stderr.contains("2 phases in "), "{}", ran.stderr);
    let has_report = ran.stdout.contains("More: boatload show");
    assert!(!ran.stderr.contains('\u{1b}') && has_report, "{}", ran.stdout);
}

#[test]
fn a_terminal_that_can_do_nothing_is_left_as_it_is() {
    let (bench, terminal) = (Bench::default(), Terminal::new(80, 24));
    let run = start(&bench, &terminal, "10ms", &[("TERM", "dumb")]);
    assert_eq!(run.ended(), Some(0));
    terminal.shows("no live view, TERM does not name");
    terminal.shows("More: boatload show");
    assert!(!terminal.seen().contains(ENTERS), "{:?}", terminal.seen());
}
