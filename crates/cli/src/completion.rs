//! Answers shells that complete a command line, also with what only this machine knows: scenarios, runs, file systems, disk models.

use std::ffi::OsStr;

use clap_complete::CompleteEnv;
use clap_complete::engine::{
    ArgValueCandidates, ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter,
};

use super::common::StorePlace;
use boatload_plan::disk::{BUILT_IN_DISKS, find_disk};
use boatload_plan::filesystem::KINDS;
use boatload_plan::scenarios::SCENARIOS;
use boatload_results::store::RunSummary;

/// `BOATLOAD_COMPLETE=bash boatload` prints the script for a shell, which then asks through the same variable.
const VARIABLE: &str = "BOATLOAD_COMPLETE";

/// Answers a shell that asks about this command, and ends this process; returns when none does.
pub(super) fn answer_shell(command: fn() -> clap::Command) {
    CompleteEnv::with_factory(command).var(VARIABLE).complete();
}

fn candidate(name: impl Into<String>, about: impl Into<String>) -> CompletionCandidate {
    CompletionCandidate::new(name.into()).help(Some(about.into().into()))
}

fn beginning_with(current: &OsStr, all: Vec<CompletionCandidate>) -> Vec<CompletionCandidate> {
    let begins = |one: &CompletionCandidate| {
        one.get_value().as_encoded_bytes().starts_with(current.as_encoded_bytes())
    };
    all.into_iter().filter(begins).collect()
}

fn or_files(names: fn() -> Vec<CompletionCandidate>) -> ArgValueCompleter {
    ArgValueCompleter::new(move |current: &OsStr| {
        let mut all = beginning_with(current, names());
        all.extend(PathCompleter::file().complete(current));
        all
    })
}

fn scenario_names() -> Vec<CompletionCandidate> {
    SCENARIOS.iter().map(|one| candidate(one.name, one.question())).collect()
}

fn disk_names() -> Vec<CompletionCandidate> {
    let about = |name| find_disk(name).map(|model| model.about).unwrap_or_default();
    BUILT_IN_DISKS.iter().map(|disk| candidate(disk.name, about(disk.name))).collect()
}

/// The newest run, then the tag, or else the id, of each. A store that cannot be read has none.
fn run_names() -> Vec<CompletionCandidate> {
    let store = StorePlace::of_environment().open_to_read().ok().flatten();
    let runs = store.and_then(|store| store.runs().ok()).unwrap_or_default().runs;
    let named = |run: &RunSummary| {
        let facts = &run.book.run;
        let name = run.tag.as_ref().unwrap_or(&facts.id);
        candidate(name, format!("{}, {}", facts.scenario, facts.started))
    };
    let last = runs.first().map(|_| candidate("last", "the newest run"));
    last.into_iter().chain(runs.iter().map(named)).collect()
}

pub(super) fn scenarios() -> ArgValueCandidates {
    ArgValueCandidates::new(scenario_names)
}

pub(super) fn jobs() -> ArgValueCompleter {
    or_files(scenario_names)
}

pub(super) fn disks() -> ArgValueCompleter {
    or_files(disk_names)
}

pub(super) fn runs() -> ArgValueCandidates {
    ArgValueCandidates::new(run_names)
}

pub(super) fn baselines() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let mut all = vec![candidate("history", "the earlier runs of the same job")];
        all.extend(run_names());
        all
    })
}

/// File systems, the last of a list with commas.
pub(super) fn file_systems() -> ArgValueCompleter {
    ArgValueCompleter::new(|current: &OsStr| {
        let current = current.to_string_lossy();
        let (before, last) = current
            .rsplit_once(',')
            .map_or(("", &*current), |(all, last)| (&current[..=all.len()], last));
        let names = KINDS.iter().map(|kind| CompletionCandidate::new(kind.name)).collect();
        let found = beginning_with(OsStr::new(last), names).into_iter();
        found.map(|one| one.add_prefix(before)).collect()
    })
}
