//! The built-in scenarios on real file systems made for the purpose: what they conclude where it is
//! known what is true, and that places are what runs say.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test panics when it cannot continue"
)]

use crate::common;

use crate::library;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::Mutex;

use boatload::analysis::finding::Finding;
use boatload::plan::{CacheAsked, Scale, Settings, find_scenario};
use boatload::results::book::{Book, CellKey};
use boatload::run::drive::DoneCount;
use boatload::run::interrupt::Interrupt;
use boatload::session::{PhaseContext, Watcher};

use common::{LoopMount, output};
use library::{Nobody, Place, figures_of, findings_of, names_in, plan_with};
use serde_json::Value;

/// A scenario on a file system, which it must leave unchanged, with nothing invalid.
fn ran_on(
    mounted: &LoopMount,
    scenario: &str,
    repeats: u32,
    set: &[(&str, &str)],
    watcher: &dyn Watcher,
) -> Book {
    let text = find_scenario(scenario).unwrap().text;
    let set = set.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    let cache = Some(CacheAsked::AsIs);
    let (scale, repeats) = (Scale::Standard, Some(repeats));
    let plan = plan_with(text, &Settings { scale, repeats, set, cache, ..Settings::default() });
    let ran = Place::default().try_run(&plan, mounted.path(), watcher, &Interrupt::default());
    let book = ran.unwrap_or_else(|failure| panic!("{failure}"));
    let left = names_in(mounted.path());
    assert!(left.is_empty() || left == ["lost+found"], "{left:?}");
    assert!(book.run.complete);
    for m in &book.measurements {
        assert!(m.valid(), "{:?} {}: {:?}", m.cell, m.phase, m.invalid);
    }
    book
}

fn growth(book: &Book, variant: &str) -> Finding {
    let mut growth =
        findings_of(book).into_iter().filter(|finding| figures_of(finding)["reading"] == "growth");
    growth.find(|finding| figures_of(finding)["to"]["variant"] == variant).unwrap()
}

/// Without an index a directory is searched from its beginning for each new name.
#[test]
fn a_directory_without_an_index_grows_linearly_and_one_of_xfs_does_not() {
    // The kernel searches through each directory for each name, so twice the files take four times as long.
    let set = &[("files", "8_000"), ("seconds", "0.01")];
    if let Some(mounted) = LoopMount::with("ext3", 96, &["-O", "^dir_index", "-N", "40000"], "loop")
    {
        let book = ran_on(&mounted, "directory", 5, set, &Nobody);
        let single = &growth(&book, "single");
        let law = figures_of(single)["law"].as_str().unwrap().to_string();
        let exponent = figures_of(single)["exponent"].as_f64();
        let near_one = exponent.is_some_and(|exponent| (0.7..1.3).contains(&exponent));
        assert!(law == "linear" || near_one, "{single:?}");
        assert!(figures_of(single)["ratio"].as_f64().unwrap() > 2.0, "{single:?}");
        let pairs: Vec<_> = findings_of(&book).iter().map(figures_of).collect();
        let ranked = |one: &&Value| one["reading"] == "ranking" && one["phase"] == "create";
        for pair in pairs.iter().filter(ranked) {
            let ratio = pair["ratio"].as_f64().unwrap();
            assert!(pair["to"]["variant"] != "single" || ratio > 1.0, "{pair}");
            assert!(pair["from"]["variant"] != "single" || ratio < 1.0, "{pair}");
        }
        assert!(
            pairs.iter().filter(ranked).any(
                |pair| pair["to"]["variant"] == "single" || pair["from"]["variant"] == "single"
            )
        );
    }
    if let Some(mounted) = LoopMount::new("xfs", 320) {
        let book = ran_on(&mounted, "directory", 5, set, &Nobody);
        let single = &growth(&book, "single");
        let law = figures_of(single)["law"].clone();
        let slow = law == "constant" || law == "logarithmic" || law.is_null();
        assert!(slow, "{single:?}");
    }
}

/// What a file system is like when phases begin: percents by df as the first one does, bytes of the
/// ballast as the last one does.
#[derive(Default)]
struct Look {
    directory: PathBuf,
    df: Mutex<Vec<(CellKey, f64)>>,
    ballast_bytes: Mutex<Vec<(CellKey, u64)>>,
}

impl Watcher for Look {
    fn phase_begins(&self, standing: &PhaseContext<'_>, _: Arc<[DoneCount]>) {
        let key = standing.key.clone();
        if standing.phase.name == "make-directories" {
            let df = output("df", &["--output=pcent", self.directory.to_str().unwrap()]).unwrap();
            let percent = df.lines().nth(1).unwrap().trim().trim_end_matches('%').parse().unwrap();
            self.df.lock().unwrap().push((key, percent));
        } else if standing.phase.name == "scan" {
            let run = &names_in(&self.directory)[0];
            let bytes = bytes_below(&self.directory.join(run), false) - FILE_BYTES;
            self.ballast_bytes.lock().unwrap().push((key, bytes));
        }
    }
}

/// Bytes of all files in the directories below one, and if asked of those in itself.
fn bytes_below(directory: &Path, with_own: bool) -> u64 {
    let entries = std::fs::read_dir(directory).unwrap().map(Result::unwrap);
    let bytes = entries.map(|entry| match entry.metadata().unwrap() {
        of if of.is_dir() => bytes_below(&entry.path(), true),
        of => of.len() * u64::from(with_own),
    });
    bytes.sum()
}

const FILE_BYTES: u64 = 1 << 20;

/// Each level of `fullness` in small, and what is true of it on any file system.
fn is_filled_as_it_says(fs: &str, megabytes: u64) {
    let Some(mounted) = LoopMount::new(fs, megabytes) else { return };
    let look = Look { directory: mounted.path().into(), ..Look::default() };
    let set = [
        ("levels", "40,60,90"),
        ("directories", "50"),
        ("file_size", "1MiB"),
        ("size_max", "2MiB"),
        ("scan_files", "1_000_000"),
    ];
    let book = ran_on(&mounted, "fullness", 1, &set, &look);
    assert_eq!(book.measurements.len(), 4 * 3 * 6, "{fs}");
    let condition = |key: &CellKey, name: &str| {
        let mut all = book.conditions.iter().filter(|c| c.cell == *key && c.name.as_str() == name);
        all.next().unwrap_or_else(|| panic!("{fs}: no {name} at {key:?}")).value
    };
    let df = look.df.lock().unwrap();
    assert_eq!(df.len(), 12, "{fs}");
    for (key, df) in df.iter() {
        let (used, level) = (condition(key, "space-used"), key.level.as_ref().unwrap().value);
        assert!((used - level).abs() <= 1.0, "{fs}: {used}% at {key:?}");
        // The empty directory of the cell is new since then.
        assert!((df - used.ceil()).abs() <= 1.0, "{fs}: df says {df}%, not {used}%, at {key:?}");
        let score = condition(key, "layout-score");
        // On so small a place ext4 finds room beside most pieces.
        let scores = if key.variant == "fragmented" { 0.0..0.99 } else { 0.95..1.01 };
        assert!(scores.contains(&score), "{fs}: {score} of {}", key.variant);
    }
    let same = df.iter().filter(|(key, df)| condition(key, "space-used").ceil() == *df);
    assert!(same.count() >= 8, "{fs}: df says something else: {df:?}");
    for (key, bytes) in look.ballast_bytes.lock().unwrap().iter() {
        let scans = book.measurements.iter().filter(|m| m.phase == "scan" && m.cell == *key);
        let read: u64 = scans.filter_map(|m| m.bytes).sum();
        assert_eq!(read, *bytes, "{fs}: the scan reads the bytes of all files, at {key:?}");
    }
    assert_eq!(look.ballast_bytes.lock().unwrap().len(), 12, "{fs}");
}

#[test]
fn ext4_is_filled_as_fullness_says() {
    is_filled_as_it_says("ext4", 128);
}

#[test]
fn xfs_is_filled_as_fullness_says() {
    is_filled_as_it_says("xfs", 320);
}

#[test]
fn btrfs_is_filled_as_fullness_says() {
    is_filled_as_it_says("btrfs", 256);
}
