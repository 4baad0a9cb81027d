//! Man pages and completions, as packages have them.

#![allow(clippy::unwrap_used, reason = "a test panics when it cannot continue")]

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command::{Bench, Ran, SMALL};
use crate::common::{output, skip};

#[path = "../../packaging/manual/src/pages.rs"]
mod pages;

/// Where the shells find the program under test, and the others.
fn path() -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_boatload"));
    let others = std::env::var("PATH").unwrap_or_default();
    format!("{}:{others}", program.parent().unwrap().display())
}

/// A command with the store of a bench.
fn with_store(bench: &Bench, program: &str) -> Command {
    let mut command = Command::new(program);
    command.current_dir(bench.work()).env("PATH", path()).env("BOATLOAD_STORE", bench.store());
    command.env("HOME", bench.beside("")).env_remove("XDG_CONFIG_HOME").env("TERM", "dumb");
    command
}

/// What completes commands, below a directory as `/usr/share` is, and a run with a tag.
fn completions(bench: &Bench) -> PathBuf {
    assert_eq!(Ran::of(bench.command(SMALL).args(["--tag", "nightly"])).code, Some(0));
    let shared = bench.beside("share");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("packaging/completions");
    let made = Ran::of(with_store(bench, script.to_str().unwrap()).arg(&shared));
    assert_eq!(made.code, Some(0), "{}", made.stderr);
    shared
}

/// Lines that are typed, and a word that the shell is to offer.
const TYPED: [(&str, &str); 9] = [
    ("boatload sel", "selftest"),
    ("boatload run sma", "smallfiles"),
    ("boatload run --filesystem ext4,x", "ext4,xfs"),
    ("boatload run --disk hdd-7", "hdd-7200"),
    ("boatload run --sca", "--scale"),
    ("boatload run --scale st", "standard"),
    ("boatload show ni", "nightly"),
    ("boatload check last --baseline h", "history"),
    ("boatload export last --format op", "openmetrics"),
];

fn offers(shell: &str, offered: impl Fn(&str) -> String) {
    for (typed, word) in TYPED {
        let all = offered(typed);
        let is_there = all.lines().any(|line| line.split('\t').next() == Some(word));
        assert!(is_there, "{shell}: `{typed}` is to offer {word}: {all:?}");
        assert!(!all.contains("guard-directory"), "{shell}: {all}");
    }
}

#[test]
fn bash_completes_commands_and_what_is_on_this_machine() {
    let bench = Bench::default();
    let script = completions(&bench).join("bash-completion/completions/boatload");
    // As the shell calls it: the words of the line, and which is completed.
    let ask = "source \"$1\"; read -ra COMP_WORDS <<<\"$2\"; COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMP_TYPE=9; \
               $(complete -p boatload | sed 's/.*-F \\([^ ]*\\).*/\\1/') boatload \"${COMP_WORDS[COMP_CWORD]}\"; \
               printf '%s\\n' \"${COMPREPLY[@]}\"";
    offers("bash", |typed| {
        let mut bash = with_store(&bench, "bash");
        Ran::of(
            bash.args(["--norc", "-c", ask, "bash"]).args([script.as_os_str(), OsStr::new(typed)]),
        )
        .stdout
    });
}

#[test]
fn fish_completes_commands_and_what_is_on_this_machine() {
    if output("fish", &["--version"]).is_none() {
        return skip("completions in fish", "fish is missing");
    }
    let bench = Bench::default();
    let script = completions(&bench).join("fish/vendor_completions.d/boatload.fish");
    let ask = "source $argv[1]; complete -C $argv[2]";
    offers("fish", |typed| {
        let mut fish = with_store(&bench, "fish");
        Ran::of(fish.args(["--no-config", "-c", ask]).args([script.as_os_str(), OsStr::new(typed)]))
            .stdout
    });
}

/// A zsh on a terminal of its own, with what packages give it; a Tab at the end of a line completes it.
#[test]
fn zsh_completes_commands_and_what_is_on_this_machine() {
    if output("zsh", &["--version"]).is_none() {
        return skip("completions in zsh", "zsh is missing");
    }
    let bench = Bench::default();
    let functions = completions(&bench).join("zsh/site-functions");
    let ask = "zmodload zsh/zpty
        zpty shell 'zsh -f -i'
        zpty -w shell \"PS1=; fpath=(${(q)1} \\$fpath); autoload -Uz compinit; compinit -u -D; echo re''ady\"
        zpty -r shell line '*ready*'
        zpty -w -n shell \"$2\"$'\\t'
        for tried in {1..40}; do
            sleep 0.25
            while zpty -r -t shell line; do seen+=$line; done
            [[ $seen == *$3* ]] && break
        done
        print -r -- $seen
        zpty -d shell";
    for (typed, word) in TYPED {
        let mut zsh = with_store(&bench, "zsh");
        let arguments = [functions.as_os_str(), OsStr::new(typed), OsStr::new(word)];
        let seen = Ran::of(zsh.args(["-f", "-c", ask, "zsh"]).args(arguments)).stdout;
        assert!(seen.contains(word), "zsh: `{typed}` is to be completed to {word}: {seen:?}");
    }
}

#[test]
fn each_command_has_a_man_page_that_man_shows_without_a_warning() {
    let bench = Bench::default();
    let pages_at = bench.beside("man/man1");
    std::fs::create_dir_all(&pages_at).unwrap();
    pages::write(&pages_at, "2026-11-28").unwrap();
    let commands: Vec<String> = boatload::cli::command()
        .get_subcommands()
        .filter(|command| !command.is_hide_set())
        .map(|command| format!("boatload-{}", command.get_name()))
        .collect();
    assert!(commands.len() > 15, "{commands:?}");
    for name in commands.iter().map(String::as_str).chain(["boatload", "boatload-runs-rm"]) {
        assert!(pages_at.join(format!("{name}.1")).exists(), "no man page {name}");
    }
    let run = std::fs::read_to_string(pages_at.join("boatload-run.1")).unwrap();
    assert!(run.contains("BOATLOAD_DIR") && run.contains(".SH EXAMPLES"), "{run}");
    assert!(!pages_at.join("boatload-serve-disk.1").exists(), "a command for boatload itself");

    if output("man", &["--version"]).is_none() {
        return skip("man pages in man", "man is missing");
    }
    for name in ["boatload", "boatload-run", "boatload-runs-rm"] {
        let mut man = with_store(&bench, "man");
        man.env("MANPATH", bench.beside("man")).env("MANWIDTH", "80").env("LC_ALL", "C.UTF-8");
        let shown = Ran::of(man.args(["--warnings", "-P", "cat", name]));
        assert_eq!((shown.code, shown.stderr.as_str()), (Some(0), ""), "{name}");
        for part in ["NAME", "SYNOPSIS", "OPTIONS"] {
            assert!(shown.stdout.contains(part), "{name} without {part}: {}", shown.stdout);
        }
        assert!(shown.stdout.lines().all(|line| line.chars().count() <= 100), "{}", shown.stdout);
    }
}
