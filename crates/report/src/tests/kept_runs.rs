//! The runs in `docs/results`, for tests of what is made of runs. They are read once.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::json::read_document;
use boatload_results::book::Book;

/// Fewer are not all.
const RUNS_MIN: usize = 8;

/// The path of each run document, by name.
pub(crate) fn kept_documents() -> Vec<(String, PathBuf)> {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("docs/results");
    let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let name =
        |path: &PathBuf| Some(path.file_name()?.to_str()?.strip_suffix(".json.gz")?.to_string());
    let mut all: Vec<(String, PathBuf)> =
        paths.filter_map(|path| Some((name(&path)?, path))).collect();
    all.sort();
    assert!(all.len() >= RUNS_MIN, "only {} runs are kept", all.len());
    all
}

/// All, by name.
pub(crate) fn kept_runs() -> &'static [(String, Book)] {
    static RUNS: OnceLock<Vec<(String, Book)>> = OnceLock::new();
    RUNS.get_or_init(|| {
        let read = |path: PathBuf| read_document(&std::fs::read(path).unwrap()).unwrap();
        kept_documents().into_iter().map(|(name, path)| (name, read(path))).collect()
    })
}

/// One of them.
pub(crate) fn kept_run(name: &str) -> &'static Book {
    &kept_runs().iter().find(|(one, _)| one == name).unwrap().1
}
