//! The tree that phases leave on a real file system, held against its law: names, places, sizes and
//! contents of all files, looked up by plain means after each phase.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test panics when it cannot continue"
)]

use crate::library;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use boatload::op::Change;
use boatload::plan::{CellPlan, Plan, Settings};
use boatload::results::book::{Book, Measurement};
use boatload::run::interrupt::Interrupt;
use boatload::session::{PhaseContext, Watcher};

use library::{Place, job, names_in, plan_of, plan_with};

/// Files by path with their contents, directories by path with none.
type Snapshot = BTreeMap<String, Option<Vec<u8>>>;

/// Looks into the cell's directory after each phase.
struct Looker {
    work: PathBuf,
    seen: Mutex<Vec<Snapshot>>,
}

impl Watcher for Looker {
    fn phase_ends(&self, standing: &PhaseContext<'_>, _: &Measurement) {
        let [run] = &names_in(&self.work)[..] else { panic!("one run's directory") };
        let cell = self.work.join(run).join(format!("c{:010}", standing.cell));
        let mut snapshot = Snapshot::new();
        look(&cell, "", &mut snapshot);
        self.seen.lock().unwrap().push(snapshot);
    }
}

fn look(directory: &Path, above: &str, snapshot: &mut Snapshot) {
    for name in names_in(directory) {
        let (path, below) = (directory.join(&name), format!("{above}{name}"));
        let is_directory = std::fs::symlink_metadata(&path).unwrap().is_dir();
        if is_directory {
            look(&path, &format!("{below}/"), snapshot);
        }
        snapshot.insert(below, (!is_directory).then(|| std::fs::read(&path).unwrap()));
    }
}

fn looked(plan: &Plan) -> (Vec<Snapshot>, Book) {
    let place = Place::default();
    let looker = Looker { work: place.work(), seen: Mutex::default() };
    let book = place.run(plan, &looker, &Interrupt::default());
    for m in &book.measurements {
        assert_eq!(m.invalid, [], "{} is valid", m.phase);
    }
    (looker.seen.into_inner().unwrap(), book)
}

/// What a file should be: bytes, how often it was written, how often renamed.
#[derive(Clone, Copy, Default)]
struct File {
    size: u64,
    writes: u32,
    renames: u32,
}

/// The files as plain steps make them: a map that each phase changes in turn.
fn files_after(cell: &CellPlan, phases: usize) -> BTreeMap<u64, File> {
    let mut files = BTreeMap::new();
    for phase in &cell.phases[..phases] {
        for number in phase.selection.numbers() {
            match phase.operation.name {
                "create" => assert!(files.insert(number, File::default()).is_none()),
                "delete" => assert!(files.remove(&number).is_some()),
                "mkdir" | "rmdir" | "list" | "find" => continue,
                _ => {}
            }
            let Some(file) = files.get_mut(&number) else { continue };
            let drawn = cell.tree.size(number, file.writes);
            match phase.operation.change {
                Change::NewSize => file.size = drawn,
                Change::Grows => file.size += drawn,
                Change::Halves => file.size /= 2,
                Change::Renames => file.renames += 1,
                Change::SameSize | Change::Nothing | Change::Attributes | Change::Chunks => {}
            }
            let writes = matches!(
                phase.operation.name,
                "create" | "append" | "overwrite" | "rewrite" | "replace"
            );
            file.writes += u32::from(writes);
        }
    }
    files
}

/// Only the files of a snapshot, by their names without the directories, and those names' places.
fn files_of(snapshot: &Snapshot) -> BTreeMap<String, (String, Vec<u8>)> {
    let files = snapshot.iter().filter_map(|(path, content)| Some((path, content.as_ref()?)));
    let split = |path: &str| {
        let (place, name) = path.rsplit_once('/').unwrap_or(("", path));
        (name.to_string(), place.to_string())
    };
    files.map(|(path, content)| (split(path).0, (split(path).1, content.clone()))).collect()
}

fn name_of(number: u64, file: File) -> String {
    match file.renames {
        0 => format!("f{number:010}"),
        renames => format!("f{number:010}.{renames}"),
    }
}

const RICH: [&str; 15] = [
    "operation = 'create'",
    "operation = 'append', count = 60, order = 'random'",
    "operation = 'append', name = 'append-again', passes = 2",
    "operation = 'overwrite', count = 50, order = 'random'",
    "operation = 'truncate', count = 60, order = 'random', passes = 2",
    "operation = 'rename', count = 40, order = 'random', passes = 2",
    "operation = 'rewrite', count = 30, order = 'random'",
    "operation = 'replace', count = 45, order = 'random'",
    "operation = 'append', name = 'append-last', count = 70, order = 'random'",
    "operation = 'overwrite', name = 'overwrite-all'",
    "operation = 'stat'",
    "operation = 'read', order = 'random'",
    "operation = 'mkdir', count = 10",
    "operation = 'find'",
    "operation = 'delete', count = 20",
];

fn rich() -> Plan {
    let tree = "files = 90, directories = { fan_out = 2, depth = 2 }, \
                size = { uniform = { min = 1, max = 20_000 } }";
    plan_of(&job("", tree, &RICH, ""))
}

#[test]
fn after_every_phase_names_and_sizes_are_what_plain_steps_make_them() {
    let plan = rich();
    let cell = &plan.cells[0];
    let (seen, book) = looked(&plan);
    assert_eq!(seen.len(), cell.phases.len());
    for (at, snapshot) in seen.iter().enumerate() {
        let found = files_of(snapshot).into_iter();
        let found: BTreeMap<_, _> =
            found.map(|(name, (_, bytes))| (name, bytes.len() as u64)).collect();
        let files = files_after(cell, at + 1).into_iter();
        let truth: BTreeMap<_, _> = files.map(|(n, file)| (name_of(n, file), file.size)).collect();
        assert_eq!(found, truth, "after phase {} ({})", at + 1, cell.phases[at].name);
    }
    let bytes_read = book
        .measurements
        .iter()
        .find(|m| m.operation.is_some_and(|o| o.name() == "read"))
        .unwrap()
        .bytes;
    let there: u64 = files_after(cell, 12).values().map(|file| file.size).sum();
    assert_eq!(bytes_read, Some(there), "a read of all reads what is there");
}

#[test]
fn a_write_changes_the_files_it_was_to_change_and_no_others() {
    let plan = rich();
    let cell = &plan.cells[0];
    let (seen, _) = looked(&plan);
    for (at, pair) in seen.windows(2).enumerate() {
        let phase = &cell.phases[at + 1];
        let (before, after) = (files_of(&pair[0]), files_of(&pair[1]));
        let chosen: BTreeSet<u64> = phase.selection.numbers().collect();
        for (number, file) in files_after(cell, at + 1) {
            let (name, changed) = (name_of(number, file), chosen.contains(&number));
            let old = &before[&name].1;
            let new = after.get(&name).map(|(_, bytes)| bytes);
            match phase.operation.name {
                "append" if changed => {
                    assert!(new.unwrap().starts_with(old) && new.unwrap() != old)
                }
                "truncate" if changed => {
                    assert_eq!(new.unwrap()[..], old[..old.len() / 2], "{name}")
                }
                "overwrite" | "rewrite" | "replace" if changed => {
                    assert_ne!(new, Some(old), "{name}")
                }
                "rename" if changed => {
                    let renamed = name_of(number, File { renames: file.renames + 1, ..file });
                    assert_eq!(&after[&renamed].1, old, "{name} is the same by another name");
                }
                "delete" if changed => assert_eq!(new, None, "{name}"),
                operation => assert_eq!(new, Some(old), "{name} and {operation}"),
            }
        }
    }
}

#[test]
fn one_seed_gives_byte_identical_trees_and_another_seed_other_ones() {
    let (first, second) = (looked(&rich()).0, looked(&rich()).0);
    assert!(first == second, "the same seed, and the trees differ");
    let text = rich().job;
    let other = plan_with(&text, &Settings { seed: Some(2), ..Settings::default() });
    let (first, other) = (files_of(&first[0]), files_of(&looked(&other).0[0]));
    assert!(first.keys().eq(other.keys()), "names do not depend on the seed");
    let same = first.iter().filter(|(name, file)| other[*name] == **file).count();
    assert_eq!(same, 0, "files that are alike under two seeds");
}

#[test]
fn no_two_files_and_no_two_blocks_hold_the_same() {
    let plan = plan_of(&job(
        "",
        "files = 50, size = '40KiB'",
        &["operation = 'create'", "operation = 'overwrite'"],
        "",
    ));
    let (seen, _) = looked(&plan);
    let mut blocks = BTreeSet::new();
    for (_, content) in seen.iter().flat_map(files_of).map(|(_, file)| file) {
        assert_eq!(content.len(), 40 << 10);
        for block in content.chunks(4096) {
            assert!(blocks.insert(block.to_vec()), "a block that was written before");
        }
    }
    assert_eq!(blocks.len(), 2 * 50 * 10);
}

/// Compression by a program of others is not at hand everywhere: counted are bytes that are not 0.
#[test]
fn contents_are_zeros_or_compressible_when_that_is_asked() {
    for (content, share) in
        [("'zeros'", 0.0), ("{ compressible = '75%' }", 0.25), ("'random'", 1.0)]
    {
        let tree = format!("files = 10, size = '100KiB', content = {content}");
        let (seen, _) = looked(&plan_of(&job("", &tree, &["operation = 'create'"], "")));
        for (name, (_, bytes)) in files_of(&seen[0]) {
            let found = bytes.iter().filter(|b| **b != 0).count() as f64 / bytes.len() as f64;
            assert!((found - share).abs() < 0.02, "{name} of {content}: {found} are not zero");
        }
    }
}

#[test]
fn layouts_put_files_where_they_say() {
    let holder = |number: u64| format!("h{number:010}");
    let places: [(&str, &dyn Fn(u64) -> String); 5] = [
        ("directories = 1", &|_| String::new()),
        ("directories = 4", &|n| holder(n / 15)),
        ("directories = 4, placement = 'stripe'", &|n| holder(n % 4)),
        ("directories = { fan_out = 2, depth = 2 }", &|n| {
            format!("{}/{}", holder(n / 30), holder(n / 15 % 2))
        }),
        ("directories = 3, trees = 'own'", &|n| format!("w{:010}/{}", n % 2, holder(n / 2 / 10))),
    ];
    for (layout, place) in places {
        let text =
            job("threads = 2", &format!("files = 60, {layout}"), &["operation = 'create'"], "");
        let (seen, _) = looked(&plan_of(&text));
        let files = files_of(&seen[0]);
        assert_eq!(files.len(), 60, "{layout}");
        for number in 0..60 {
            assert_eq!(files[&format!("f{number:010}")].0, place(number), "{layout}");
        }
    }
}

#[test]
fn sizes_on_disk_have_the_laws_range_and_mean() {
    let laws = [
        ("{ uniform = { min = 100, max = 300 } }", 100, 300, 200.0),
        ("{ exponential = { min = 100, max = 50_000, k = 10 } }", 100, 50_000, 5_090.0),
    ];
    for (law, least, most, mean) in laws {
        let (seen, book) = looked(&plan_of(&job(
            "",
            &format!("files = 2_000, size = {law}"),
            &["operation = 'create'"],
            "",
        )));
        let sizes: Vec<usize> = files_of(&seen[0]).values().map(|(_, bytes)| bytes.len()).collect();
        let sum: usize = sizes.iter().sum();
        assert!(sizes.iter().all(|size| (least..=most).contains(size)), "{law}");
        let off = sum as f64 / sizes.len() as f64 / mean - 1.0;
        assert!(off.abs() < 0.1, "{law}: the mean is {:.0}% off", off * 100.0);
        assert_eq!(
            book.measurements[0].bytes,
            Some(sum as u64),
            "bytes are counted as they lie on disk"
        );
    }
}

#[test]
fn a_file_written_in_small_blocks_is_the_file_written_at_once() {
    let create = |block: &str| {
        let phase = format!("operation = 'create', block = {block}");
        looked(&plan_of(&job("", "files = 5, size = 30_000", &[&phase], ""))).0
    };
    let whole = create("'1MiB'");
    for block in ["1_000", "4096", "7", "29_999"] {
        assert!(create(block) == whole, "blocks of {block} bytes make other files");
    }
}

/// A file that grew beyond every size that is drawn is overwritten in one write of its size.
#[test]
fn a_grown_file_is_overwritten_whole() {
    let phases =
        ["operation = 'create'", "operation = 'append', passes = 20", "operation = 'overwrite'"];
    let plan = plan_of(&job("", "files = 40, size = 10_000", &phases, ""));
    let (seen, _) = looked(&plan);
    let (before, after) = (files_of(&seen[20]), files_of(&seen[21]));
    for (name, (_, content)) in &after {
        let old = &before[name].1;
        assert_eq!((old.len(), content.len()), (210_000, 210_000), "{name}");
        let kept = old.chunks(4096).zip(content.chunks(4096)).filter(|(a, b)| a == b).count();
        assert_eq!(kept, 0, "blocks of {name} that were not overwritten");
    }
}
