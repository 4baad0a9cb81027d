//! Charts as a user meets them: in a pipe, in a terminal, and in environments of all kinds.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test says so when it cannot go on"
)]

use crate::common;

use crate::command;

use std::path::Path;
use std::process::{Command, Stdio};

use command::{Bench, Ran};
use common::skip;

/// Two variants, one with a name that ASCII does not have.
const JOB: &str = "name = \"x\"\nquestion = \"Which?\"\nengine = \"sim\"\nrepeats = 2\n\
    [sim]\nmetadata = \"20us\"\n\
    [[variant]]\nname = \"évil目录\"\ntree = { files = 200, size = 0 }\n\
    [[variant]]\nname = \"other\"\ntree = { files = 200, size = 10 }\n\
    [[phase]]\noperation = \"create\"\nwindows = 4\n\
    [[phase]]\noperation = \"read\"\n";

const UTF8: (&str, &str) = ("LC_ALL", "C.UTF-8");

fn measured() -> Bench {
    let bench = Bench::default();
    let job = bench.write("job.toml", JOB);
    let ran = bench.run([Path::new("run"), &job]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    bench
}

fn plotted(bench: &Bench, more: &[&str], environment: &[(&str, &str)]) -> String {
    let mut command = bench.command(["show", "last", "--plot"]);
    let ran = Ran::of(command.args(more).envs(environment.iter().copied()));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(!ran.stdout.contains('\u{1b}'), "a pipe gets no colours: {:?}", ran.stdout);
    ran.stdout
}

#[test]
fn a_pipe_gets_charts_without_colours_as_wide_as_was_asked() {
    let bench = measured();
    let text = plotted(&bench, &[], &[UTF8, ("TERM", "xterm-256color")]);
    assert!(text.contains('█') && text.contains("Which?"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let longest = |text: &str| text.lines().map(|line| line.chars().count()).max();
    let wide = plotted(&bench, &[], &[UTF8, ("COLUMNS", "120")]);
    assert!((100..=120).contains(&longest(&wide).unwrap()), "{wide}");
}

#[test]
fn ascii_is_ascii_whether_it_was_asked_for_or_the_locale_knows_no_more() {
    let bench = measured();
    let asked = plotted(&bench, &["--ascii"], &[UTF8]);
    assert!(asked.is_ascii() && asked.contains("##"), "{asked}");
    assert_eq!(plotted(&bench, &[], &[]), asked, "no locale");
    assert_eq!(plotted(&bench, &[], &[("LANG", "C.UTF-8"), ("LC_ALL", "POSIX")]), asked);
    let all = plotted(&bench, &["--ascii", "--details", "--windows"], &[UTF8]);
    assert!(all.is_ascii() && all.contains("windows"), "{all}");
    let alone = bench.run(["show", "last", "--ascii"]);
    assert!(alone.code == Some(2) && alone.stderr.contains("--plot"), "{}", alone.stderr);
}

#[test]
fn several_runs_are_drawn_below_their_table() {
    let bench = measured();
    let arguments = ["show", "last", "last", "--plot"];
    let ran = Ran::of(bench.command(arguments).envs([UTF8]));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let second = ran.stdout.find("\nB: run ").expect("the table names both runs");
    assert!(ran.stdout[second..].contains('█'), "{}", ran.stdout);
}

/// What the command prints on a terminal of so many columns and rows; none where there is none.
fn on_a_terminal(bench: &Bench, size: [u16; 2], environment: &[(&str, &str)]) -> Option<String> {
    let [columns, rows] = size;
    let binary = env!("CARGO_BIN_EXE_boatload");
    let shown = format!(
        "stty cols {columns} rows {rows} && '{binary}' show last --plot --store '{}'",
        bench.store().display()
    );
    let mut command = Command::new("script");
    command.args(["-qec", &shown, "/dev/null"]).stdin(Stdio::null()).current_dir(bench.work());
    let path = std::env::var_os("PATH").unwrap_or_default();
    command.env_clear().env("PATH", path).env("SHELL", "/bin/sh");
    let Ok(output) = command.envs(environment.iter().copied()).output() else {
        skip("charts on a terminal", "there is no `script`");
        return None;
    };
    let ran = Ran::from(output);
    assert_eq!(ran.code, Some(0), "{} {}", ran.stdout, ran.stderr);
    Some(ran.stdout.replace("\r\n", "\n"))
}

const XTERM: (&str, &str) = ("TERM", "xterm-256color");

#[test]
fn a_terminal_gets_colours_unless_nobody_wants_them() {
    let bench = measured();
    let Some(coloured) = on_a_terminal(&bench, [80, 24], &[UTF8, XTERM]) else { return };
    assert!(coloured.contains("\u{1b}[38;5;"), "{coloured:?}");
    let few = on_a_terminal(&bench, [80, 24], &[UTF8, ("TERM", "vt340")]).unwrap();
    assert!(few.contains("\u{1b}[34m") && !few.contains("38;5"), "{few:?}");
    let bare = plotted(&bench, &[], &[UTF8]);
    for unwanted in [("NO_COLOR", "1"), ("CLICOLOR", "0"), ("TERM", "dumb")] {
        let text = on_a_terminal(&bench, [80, 24], &[UTF8, XTERM, unwanted]).unwrap();
        assert_eq!(text, bare, "{unwanted:?}");
    }
}

#[test]
fn charts_are_as_wide_as_the_terminal_from_40_to_160_columns() {
    let bench = measured();
    let dumb = ("TERM", "dumb");
    for (columns, expected) in [(132, 132), (60, 60), (20, 40), (1, 40), (400, 160), (0, 80)] {
        let Some(text) = on_a_terminal(&bench, [columns, 5], &[UTF8, dumb]) else { return };
        let asked = ("COLUMNS", expected.to_string());
        let same = plotted(&bench, &[], &[UTF8, (asked.0, &asked.1)]);
        assert_eq!(text, same, "{columns} columns");
    }
}
