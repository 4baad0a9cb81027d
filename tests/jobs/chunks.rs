//! Files made of chunks: what a job file may say of them, the requests that follow, what lies on
//! disk afterwards, and what the simulated truth makes of it.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test panics when it cannot continue"
)]

use crate::common;
use crate::script::script;
use boatload::base::errno::Errno;

use crate::command;
use crate::library;

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Sender, channel};

use boatload::op::Durability;
use boatload::plan::space::Need;
use boatload::plan::{Plan, Scale, Settings, find_scenario, read_job};
use boatload::results::book::{Book, Measurement};
use boatload::run::content::ContentPool;
use boatload::run::drive::DoneCount;
use boatload::run::interrupt::Interrupt;
use boatload::session::{PhaseContext, Watcher};

use command::{Bench, Ran};
use common::{LoopMount, output, skip};
use library::{Nobody, Place, job, names_in, near, only, plan_of, plan_with, ran, valid};

const WRITE: &str = "operation = 'write-chunk'";

fn chunks() -> &'static str {
    find_scenario("chunks").expect("chunks is built in").text
}

fn set(scale: Scale, pairs: &[(&str, &str)]) -> Settings {
    let set = pairs.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    Settings { scale, set, ..Settings::default() }
}

/// The single problem of a job file.
fn problem(text: &str, settings: &Settings) -> String {
    let problems = read_job(text, settings).map(|_| ()).expect_err(text).sorted();
    assert_eq!(problems.len(), 1, "{problems:#?}");
    problems[0].to_string()
}

fn sim(tree: &str, phases: &[&str], truth: &str) -> String {
    job("engine = 'sim'", tree, phases, truth)
}

/// Files, chunks and bytes of each cell of a variant.
fn amounts(plan: &Plan, variant: &str) -> Vec<(u64, u64, u64)> {
    let cells = plan.cells.iter().filter(|cell| cell.variant == variant);
    let bytes = |cell: &boatload::plan::CellPlan| {
        let phase = &cell.phases[0];
        phase.expected_bytes(&cell.tree, phase.selection.count)
    };
    cells.map(|c| (c.tree.files, c.phases[0].selection.count, bytes(c).unwrap())).collect()
}

#[test]
fn the_original_has_the_numbers_of_the_document() {
    let plan = plan_with(chunks(), &set(Scale::Original, &[]));
    let each = [
        (1_000_000, 1_024_000_000),
        (100_000, 1_024_000_000),
        (10_000, 1_024_000_000),
        (1_000, 1_024_000_000),
        (100, 409_600_000),
    ];
    assert_eq!(amounts(&plan, "file-per-chunk"), each.map(|(n, bytes)| (n, n, bytes)));
    for variant in ["file-per-block", "file-per-block-reopened"] {
        let blocks = [62_500, 6_250, 625, 63, 7];
        let expected: Vec<_> = blocks.into_iter().zip(each).collect();
        let found = amounts(&plan, variant).into_iter();
        let found: Vec<_> = found.map(|(files, n, bytes)| (files, (n, bytes))).collect();
        assert_eq!(found, expected, "{variant}");
    }
    assert!(plan.cells.iter().all(|cell| cell.threads() == 16));
    let blocks = plan.cells.iter().find(|cell| cell.variant == "file-per-block");
    assert_eq!(blocks.map(|cell| cell.phases[0].entries_after), Some(62_500));
}

#[test]
fn all_layouts_write_the_same_bytes_at_a_level_and_the_smaller_scales_keep_all_workers_busy() {
    for scale in [Scale::Quick, Scale::Standard] {
        let plan = plan_with(chunks(), &set(scale, &[]));
        let per_level = |variant: &str| -> Vec<u64> {
            amounts(&plan, variant).into_iter().map(|(_, _, bytes)| bytes).collect()
        };
        for variant in plan.variants() {
            assert_eq!(per_level(variant), per_level("file-per-chunk"), "{variant}");
            let files = amounts(&plan, variant).into_iter().map(|(files, ..)| files);
            assert!(files.clone().all(|files| files >= 16), "{variant}: {files:?} for 16 workers");
        }
    }
}

#[test]
fn two_layouts_are_written_with_each_chunk_on_the_device_and_two_in_many_directories() {
    let plan = plan_with(chunks(), &set(Scale::Quick, &[]));
    let of = |durability: Durability| {
        let cells = plan.cells.iter().filter(|cell| cell.phases[0].durability == durability);
        let names: BTreeSet<&str> = cells.map(|cell| cell.variant.as_str()).collect();
        names.into_iter().collect::<Vec<_>>()
    };
    assert_eq!(of(Durability::Fsync), ["file-per-block-fsync", "file-per-chunk-fsync"]);
    assert_eq!(of(Durability::Syncfs).len(), 5);
    let holders: BTreeSet<u64> = plan.cells.iter().map(|cell| cell.tree.holders()).collect();
    assert_eq!(holders, [1, 16, 256].into());
}

#[test]
fn chunks_are_one_count_for_all_sizes_or_one_for_each() {
    let counts = |pairs: &[(&str, &str)]| {
        let plan = plan_with(chunks(), &set(Scale::Quick, pairs));
        amounts(&plan, "file-per-chunk").into_iter().map(|(_, n, _)| n).collect::<Vec<_>>()
    };
    assert_eq!(counts(&[("chunk_sizes", "1KiB,64KiB"), ("chunks", "10000,500")]), [10_000, 500]);
    assert_eq!(counts(&[("chunks", "1000")]), [1000; 4]);
    let found = problem(chunks(), &set(Scale::Quick, &[("chunks", "1,2,3")]));
    assert!(found.contains("axis.with.chunk-count: found 3 quantities"), "{found}");
    assert!(found.contains("one for each of the 4 levels of `chunk-size`"), "{found}");
}

/// A job file with companions of an axis `x` of two levels, and a list and a parameter to name.
fn with(companions: &str) -> String {
    format!(
        "name = 'x'\ntree = {{ files = '$n', size = '$s' }}\n[parameters]\nlist = [3, 4]\none = 5\n\
         [axis]\nname = 'x'\nvalues = ['1KiB', '2KiB']\nwith = {{ {companions} }}\n\
         [[phase]]\noperation = 'create'\n"
    )
}

#[test]
fn a_quantity_goes_along_with_each_level() {
    for (companions, files, sizes) in [
        ("n = 7, s = '$list'", [7, 7], [3, 4]),
        ("n = ['$one', 6], s = '1KiB'", [5, 6], [1024; 2]),
        ("n = '$one', s = ['1B', '1KiB']", [5, 5], [1, 1024]),
        ("n = '$list', s = [9]", [3, 4], [9; 2]),
    ] {
        let plan = plan_of(&with(companions));
        let found: Vec<_> = plan.cells.iter().map(|cell| cell.tree.files).collect();
        assert_eq!(found, files, "{companions}");
        let found: Vec<_> = plan.cells.iter().map(|cell| cell.tree.sizes.max()).collect();
        assert_eq!(found, sizes, "{companions}");
    }
}

#[test]
fn each_slip_in_a_companion_is_one_problem_on_its_line() {
    for (companions, expected) in [
        ("n = [1, 2, 3], s = 1", "line 9: axis.with.n: found 3 quantities, expected one, or"),
        ("n = [], s = 1", "axis.with.n: found 0 quantities"),
        ("n = 1, s = 1, list = 1", "axis.with.list: found `list`, expected a name that no"),
        ("n = 1, s = 1, x = 1", "axis.with.x: found `x`, expected a name that no parameter"),
        ("n = 1, s = 1, 'a b' = 1", "found `a b`, expected a name of up to 60 letters"),
        ("n = 1, s = '$lst'", "axis.with.s: found `$lst`"),
        ("n = 1, s = 'many'", "axis.with.s: found `many`, expected a quantity"),
        ("n = 1, s = true", "axis.with.s: found true"),
        ("n = 1", "tree.size: found `$s`"),
    ] {
        let found = problem(&with(companions), &Settings::default());
        assert!(found.contains(expected), "{companions}: {found}");
    }
}

#[test]
fn each_slip_in_a_tree_of_chunks_is_one_problem() {
    for (tree, phase, expected) in [
        ("chunks = 9, files = 9, size = 1", WRITE, "`files` or `chunks`, not both"),
        ("size = 1", WRITE, "tree: found no `files`, expected it, or `chunks`"),
        ("chunks = 9", WRITE, "tree.size: found no size, expected the size of every chunk"),
        ("chunks = 9, size = 0", WRITE, "tree.size: found 0, expected whole bytes from 1 B"),
        ("chunks = 9, size = { uniform = { min = 1, max = 2 } }", WRITE, "a size that is drawn"),
        ("chunks = 9, size = 1, chunks_per_file = 0", WRITE, "chunks_per_file: found 0"),
        ("chunks = 9, size = 1, handles = 'open'", WRITE, "`keep-open` or `reopen`"),
        ("files = 9, handles = 'reopen'", "operation = 'create'", "beside `chunks` only"),
        ("files = 9, chunks_per_file = 2", "operation = 'create'", "beside `chunks` only"),
        ("chunks = 9_000_000_000_000, size = '1MiB'", WRITE, "at most 8.00 PiB in all"),
        ("files = 9", WRITE, "`write-chunk` in a tree of files, expected a tree of chunks"),
        ("chunks = 9, size = 1", "operation = 'create'", "`write-chunk`, which makes the files"),
        ("chunks = 9, size = 1", "operation = 'stat'", "files to work on: there are 0"),
    ] {
        let found = problem(&job("", tree, &[phase], ""), &Settings::default());
        assert!(found.contains(expected), "{tree}: {found}");
    }
    let tree = "chunks = 40, size = 1, chunks_per_file = 16, handles = 'keep-open'";
    for (rest, expected) in [
        ("order = 'random'", "phase[1].order: found random, expected sequential"),
        ("count = 20", "a multiple of 16, the chunks of a file, or all 40"),
        ("count = 41", "at most 40: the tree has room for 40 chunks more"),
        ("passes = 2", "1, because `write-chunk` adds entries"),
    ] {
        let phase = format!("{WRITE}, {rest}");
        let found = problem(&sim(tree, &[&phase], ""), &Settings::default());
        assert!(found.contains(expected), "{rest}: {found}");
    }
}

#[test]
fn a_tree_of_chunks_needs_room_for_its_files_in_whole_blocks() {
    let bytes = |tree: &str| Need::of(&plan_of(&job("", tree, &[WRITE], "")).cells[0], 4096).bytes;
    let inodes = |tree: &str| Need::of(&plan_of(&job("", tree, &[WRITE], "")).cells[0], 1).inodes;
    let (none, chunk) = ("chunks = 0, size = 1000", "chunks = 100, size = 1000");
    let block = format!("{chunk}, chunks_per_file = 16");
    assert_eq!(bytes(chunk) - bytes(none), 100 * (4096 + 64), "a block and a name for each");
    // 16 chunks take 16,000 bytes, 4 blocks; the last 4 take one.
    assert_eq!(bytes(&block) - bytes(none), 6 * 4 * 4096 + 4096 + 7 * 64);
    assert_eq!((inodes(chunk) - inodes(none), inodes(&block) - inodes(none)), (100, 7));
}

/// What all layouts do, as kept text: a difference means that the same seed and job file no longer
/// give the same run. `BOATLOAD_BLESS=1 cargo test` writes it anew.
#[test]
fn the_same_chunks_are_written_by_the_same_requests_for_ever() {
    let pairs = [
        ("chunk_sizes", "1KiB,20MiB"),
        ("chunks", "5"),
        ("chunks_per_block", "2"),
        ("threads", "2"),
    ];
    let plan = plan_with(chunks(), &set(Scale::Quick, &pairs));
    let mut text = String::new();
    for cell in &plan.cells {
        for worker in 0..2 {
            text += &format!("{} at {}, worker {worker}\n", cell.variant, cell.level.unwrap());
            text.extend(script(cell, worker).map(|line| line + "\n"));
        }
    }
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/chunks.script");
    if std::env::var_os("BOATLOAD_BLESS").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == text, "{} differs; BOATLOAD_BLESS=1 cargo test writes it", path.display());
}

/// Looks into the cell's directory after the phase that writes.
struct Looker<'a> {
    place: &'a Place,
    seen: Mutex<BTreeMap<String, Vec<u8>>>,
}

impl Watcher for Looker<'_> {
    fn phase_ends(&self, standing: &PhaseContext<'_>, _: &Measurement) {
        if standing.phase.operation.name != "write-chunk" {
            return;
        }
        let run = self.place.work().join(&names_in(&self.place.work())[0]);
        let cell = run.join(format!("c{:010}", standing.cell));
        let read = |name: String| (name.clone(), std::fs::read(cell.join(&name)).unwrap());
        self.seen.lock().unwrap().extend(names_in(&cell).into_iter().map(read));
    }
}

/// A run on disk, all of it valid, and the files it made.
fn looked(plan: &Plan) -> (BTreeMap<String, Vec<u8>>, Book) {
    let place = Place::default();
    let looker = Looker { place: &place, seen: Mutex::default() };
    let book = place.run(plan, &looker, &Interrupt::default());
    for m in &book.measurements {
        assert_eq!(m.invalid, [], "{} is valid", m.phase);
    }
    (looker.seen.into_inner().unwrap(), book)
}

#[test]
fn every_chunk_lies_at_its_place_and_no_two_are_alike() {
    for handles in ["reopen", "keep-open"] {
        for (count, per_file, size, threads) in
            [(100, 16, 5000u64, 16), (7, 1, 100, 2), (30, 30, 9999, 3), (33, 4, 4096, 2)]
        {
            let tree = format!(
                "chunks = {count}, chunks_per_file = {per_file}, size = {size}, \
                 handles = '{handles}'"
            );
            let write = format!("{WRITE}, threads = {threads}, block = 3000");
            let plan = plan_of(&job("", &tree, &[&write, "operation = 'read'"], ""));
            let (files, book) = looked(&plan);
            let tree = &plan.cells[0].tree;
            let mut pool = ContentPool::new(tree, size as u32);
            let mut chunks = BTreeSet::new();
            assert_eq!(files.len() as u64, tree.files, "{tree:?}");
            for number in 0..count {
                let file = &files[&format!("f{:010}", number / per_file)];
                let at = (number % per_file * size) as usize;
                let found = &file[at..at + size as usize];
                let truth = pool.part(tree.content_key(number, 0), 0, size as u32);
                assert!(found == truth, "chunk {number} of {tree:?}");
                assert!(chunks.insert(found.to_vec()), "chunk {number} is like another");
            }
            let there: usize = files.values().map(Vec::len).sum();
            assert_eq!(there as u64, count * size, "nothing but chunks");
            let bytes = |phase| valid(&book, phase).bytes;
            assert_eq!(
                (bytes("write-chunk"), bytes("read")),
                (Some(count * size), Some(count * size))
            );
        }
    }
}

#[test]
fn phases_after_it_meet_the_files_that_chunks_made() {
    for handles in ["reopen", "keep-open"] {
        let tree = format!("chunks = 40, chunks_per_file = 16, size = 1000, handles = '{handles}'");
        let phases = [
            &format!("{WRITE}, count = 16"),
            &format!("{WRITE}, name = 'rest'"),
            "operation = 'stat'",
            "operation = 'rename'",
            "operation = 'read', order = 'random'",
            "operation = 'append'",
            "operation = 'overwrite'",
            "operation = 'read', name = 'read-again'",
            "operation = 'delete'",
        ];
        for keys in ["threads = 2", "threads = 2\nengine = 'sim'", "threads = 2"] {
            for trees in ["shared", "own"] {
                let tree = format!("{tree}, trees = '{trees}'");
                let book = ran(&job(keys, &tree, &phases, ""));
                let entries: Vec<_> = book.measurements.iter().map(|m| m.entries_found).collect();
                assert_eq!(entries, [1, 3, 3, 3, 3, 3, 3, 3, 0].map(Some), "{tree}");
                let bytes: Vec<_> = book.measurements.iter().map(|m| m.bytes).collect();
                let all = 40_000;
                let grown = all + 3000;
                let expected = [16_000, 24_000, 0, 0, all, 3000, grown, grown, 0].map(Some);
                assert_eq!(bytes, expected, "{tree}");
                for m in &book.measurements {
                    assert_eq!(m.invalid, [], "{} in {tree}", m.phase);
                }
            }
        }
    }
}

#[test]
fn durability_syncs_a_file_after_each_chunk() {
    let truth = "sync = '1ms', metadata = '10us', transfer = '1us'";
    for (handles, durability, syncs) in [
        ("reopen", "fsync", 8),
        ("keep-open", "fsync", 8),
        ("keep-open", "fdatasync", 8),
        ("keep-open", "fsync-directory", 16),
        ("reopen", "none", 0),
    ] {
        let tree = format!("chunks = 8, chunks_per_file = 4, size = 100, handles = '{handles}'");
        let write = format!("{WRITE}, durability = '{durability}'");
        let book = ran(&sim(&tree, &[&write], truth));
        let opens = if handles == "reopen" { 8.0 } else { 2.0 };
        let expected = f64::from(syncs) * 1e6 + opens * 1e4 + 8.0 * 1e3;
        near(valid(&book, "write-chunk").seconds.unwrap() * 1e9, expected, durability);
    }
}

/// A file costs 50 us, a chunk 5 us for each KiB: below some size one layout wins, above it none.
#[test]
fn a_simulated_truth_tells_the_layouts_apart_below_64_kib_only() {
    let text = chunks().replace("threads          = 16", "threads          = 1");
    let text = text.replace(
        "[parameters]",
        "engine = 'sim'\n[sim]\nmetadata = '50us'\ntransfer_per_kib = '5us'\n[parameters]",
    );
    let pairs = [("chunk_sizes", "1KiB,16KiB,1MiB"), ("chunks", "320")];
    let plan = plan_with(&text, &Settings { repeats: Some(1), ..set(Scale::Quick, &pairs) });
    let book = Place::default().run(&plan, &Nobody, &Interrupt::default());
    let seconds = |variant: &str, level: usize| {
        let of_variant = book.measurements.iter().filter(|m| m.cell.variant == variant);
        let mut all: Vec<_> = of_variant.collect();
        all.sort_by_key(|m| m.cell.level.as_ref().map(|level| level.value as u64));
        assert_eq!(all[level].invalid, []);
        all[level].seconds.unwrap() * 1e6
    };
    for (level, kib) in [1.0, 16.0, 1024.0].into_iter().enumerate() {
        near(seconds("file-per-chunk", level), 320.0 * (50.0 + 5.0 * kib), "one file a chunk");
        near(seconds("file-per-block", level), 320.0 * (50.0 / 16.0 + 5.0 * kib), "a block");
    }
    assert!(seconds("file-per-chunk", 0) > 6.0 * seconds("file-per-block", 0));
    assert!(seconds("file-per-chunk", 2) < 1.02 * seconds("file-per-block", 2));
}

#[test]
fn a_variant_may_have_a_truth_of_its_own() {
    let text = "name = 'x'\nengine = 'sim'\nrepeats = 1\ntree = { files = 100 }\n\
                sim = { metadata = '1us', sync = '1s' }\ndurability = 'syncfs'\n\
                [[variant]]\nname = 'as-all'\n\
                [[variant]]\nname = 'own'\nsim = { metadata = '7us' }\n\
                [[phase]]\noperation = 'create'\n";
    let book = ran(text);
    for (variant, us, sync) in [("as-all", 1.0, 1.0), ("own", 7.0, 0.0)] {
        let m = book.measurements.iter().find(|m| m.cell.variant == variant).unwrap();
        near(m.latency.unwrap().mean, us * 1e3, variant);
        assert_eq!(m.sync_seconds, Some(sync), "{variant}: it replaces the file's truth whole");
    }
    let wrong = text.replace("'7us'", "'7B'");
    let found = problem(&wrong, &Settings::default());
    assert!(found.contains("line 11: variant[2].sim.metadata: found 7B"), "{found}");
}

#[test]
fn an_error_in_the_middle_of_a_file_is_counted_and_leaves_nothing_open() {
    let tree =
        |handles| format!("chunks = 12, chunks_per_file = 4, size = 100, handles = '{handles}'");
    let errors = |handles, operation| {
        let truth = format!("fault = {{ operation = {operation}, outcome = 'EIO' }}");
        let book = ran(&sim(&tree(handles), &[WRITE], &truth));
        let m = only(&book, "write-chunk");
        (m.operations, m.errors.clone().into_iter().collect::<Vec<_>>(), m.entries_found)
    };
    // Of a file that could not be opened no chunk is written; the next file is as always.
    assert_eq!(errors("keep-open", 5), (8, vec![(Errno::EIO, 1), (Errno::EBADF, 3)], Some(2)));
    assert_eq!(errors("reopen", 5), (8, vec![(Errno::ENOENT, 3), (Errno::EIO, 1)], Some(2)));
    // In the middle and at the end of a file it is the chunk's alone.
    for operation in [6, 8] {
        assert_eq!(errors("keep-open", operation), (11, vec![(Errno::EIO, 1)], Some(3)));
        assert_eq!(errors("reopen", operation), (11, vec![(Errno::EIO, 1)], Some(3)));
    }
}

/// Hands on where the workers say how far they are.
struct Teller(Sender<Arc<[DoneCount]>>);

impl Watcher for Teller {
    fn phase_begins(&self, _: &PhaseContext<'_>, done: Arc<[DoneCount]>) {
        self.0.send(done).unwrap();
    }
}

#[test]
fn an_interrupt_in_the_middle_of_a_file_leaves_nothing_behind() {
    let tree = "chunks = 3_000_000, chunks_per_file = 1_000_000, size = 1, handles = 'keep-open'";
    let (plan, interrupt) =
        (plan_of(&job("threads = 3", tree, &[WRITE], "")), Interrupt::default());
    let (teller, told) = channel::<Arc<[DoneCount]>>();
    let place = Place::default();
    let book = std::thread::scope(|scope| {
        let interrupt = &interrupt;
        scope.spawn(move || {
            let done = told.recv().unwrap();
            while done.iter().map(DoneCount::get).sum::<u64>() < 100 {
                std::thread::yield_now();
            }
            interrupt.flag().store(true, Relaxed);
        });
        place.run(&plan, &Teller(teller), interrupt)
    });
    let m = only(&book, "write-chunk");
    assert!((100..3_000_000).contains(&m.operations), "{} operations", m.operations);
    assert!(!book.run.complete && m.errors.is_empty() && !m.invalid.is_empty());
    let open = std::fs::read_dir("/proc/self/fd").unwrap();
    let open = open.filter_map(|fd| std::fs::read_link(fd.unwrap().path()).ok());
    let left: Vec<_> = open.filter(|path| path.starts_with(place.work())).collect();
    assert_eq!(left, Vec::<std::path::PathBuf>::new(), "still open");
}

/// Calls on the tree's files by name, over the whole run.
fn calls(bench: &Bench, directory: &std::path::Path, tree: &str) -> BTreeMap<String, u64> {
    let text = job("threads = 4", tree, &[WRITE], "");
    let (job, log) = (bench.write("job.toml", text), bench.beside("calls"));
    let mut command = Command::new("strace");
    command.args(["-f", "-y", "-e", "trace=openat,pwrite64,close", "-o"]).arg(&log);
    command.arg(env!("CARGO_BIN_EXE_boatload")).arg("run").arg(job).arg("--dir").arg(directory);
    let ran = Ran::of(command.arg("--store").arg(bench.store()));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let mut counts = BTreeMap::new();
    for line in std::fs::read_to_string(&log).unwrap().lines() {
        // A file of the tree is named, or its descriptor is.
        let call = line.split_whitespace().nth(1).and_then(|call| call.split_once('('));
        if let Some((call, _)) = call.filter(|_| line.contains("\"f0") || line.contains("/f0")) {
            *counts.entry(call.to_string()).or_default() += 1;
        }
    }
    counts
}

#[test]
fn each_layout_makes_its_calls_on_ext4() {
    let what = "system calls of chunks against strace";
    if output("strace", &["--version"]).is_none() {
        return skip(what, "strace is not installed");
    }
    let Some(ext4) = LoopMount::new("ext4", 64) else { return };
    let bench = Bench::default();
    for (layout, opens) in [
        ("", 100),
        (", chunks_per_file = 16, handles = 'keep-open'", 7),
        (", chunks_per_file = 16, handles = 'reopen'", 100),
    ] {
        let found = calls(&bench, ext4.path(), &format!("chunks = 100, size = 2000{layout}"));
        let expected = [("openat", opens), ("pwrite64", 100), ("close", opens)];
        let expected = expected.map(|(call, count)| (call.to_string(), count));
        assert_eq!(found, BTreeMap::from(expected), "{layout}");
    }
}
