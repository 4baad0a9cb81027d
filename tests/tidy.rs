//! The rules of the house, held by a test: the arrow of stages, the one clock, who may print, how
//! files and items hang together, how long files may grow, and that every list is whole. Each rule is a
//! function from sources to complaints; the tests at the end show that each can fail.

#![allow(clippy::panic, clippy::unwrap_used, reason = "a test panics when it cannot continue")]

#[path = "tidy/plain_words.rs"]
mod plain_words;
#[path = "tidy/source.rs"]
mod source;
#[path = "tidy/structure.rs"]
mod structure;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use boatload::op::{OPERATIONS, find_operation};
use boatload::plan::disk::BUILT_IN_DISKS;
use boatload::plan::{EngineName, SCENARIOS, find_scenario, job_schema};
use boatload::report::{EXPORTS, REPORTS};

use source::{Source, first_word, words};
use structure::{circles, tuple_parameters, twice_named, without_callers};

/// Data flows from left to right; a stage imports only stages to its left. `session` ties them
/// and `cli` drives it: they stand last, and so see everything.
const STAGES: [&str; 10] =
    ["base", "op", "plan", "host", "run", "results", "analysis", "report", "session", "cli"];

/// The one file that reads clocks.
const CLOCK: &str = "crates/run/src/clock.rs";

/// The one exception: the time of day that a run carries in its record, which no measurement uses.
const TIME_OF_DAY: (&str, &str) = ("crates/session/src/lib.rs", "SystemTime");

/// The one file that turns times into dates. It reads no clock.
const DATES: [(&str, &str); 2] =
    [("crates/base/src/dates.rs", "UNIX_EPOCH"), ("crates/base/src/dates.rs", "SystemTime")];

/// Stages that may print.
const PRINTING: [&str; 2] = ["crates/cli/src/", "crates/report/src/"];

/// Ratchets. They go down, never up. The lengths of functions are clippy's (`clippy.toml`).
const FILE_LINES_MAX: usize = 800;
const FILES_IN_CIRCLES_MAX: usize = 0;
const TYPE_NAMES_TWICE_MAX: usize = 0;
const TUPLE_PARAMETERS_MAX: usize = 0;
const WITHOUT_CALLERS_MAX: usize = 0;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// All files below a directory of the repository with this ending, sorted, as paths from its root.
fn files(below: &str, ending: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![root().join(below)];
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(&directory).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
            } else if path.to_string_lossy().ends_with(ending) {
                found.push(path.strip_prefix(root()).unwrap().to_string_lossy().into_owned());
            }
        }
    }
    found.sort();
    found
}

fn read(paths: &[String]) -> Vec<Source> {
    let text = |path: &String| std::fs::read_to_string(root().join(path)).unwrap();
    paths.iter().map(|path| Source::new(path, &text(path))).collect()
}

/// The library and its command.
fn sources() -> Vec<Source> {
    let mut all = read(&files("src", ".rs"));
    all.extend(read(&files("crates", ".rs")));
    assert!(all.len() > 50, "found only {} files below src", all.len());
    all
}

#[track_caller]
fn hold(complaints: &[String]) {
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}

// --- the arrow ---------------------------------------------------------------------------------

#[test]
fn a_stage_depends_only_on_stages_to_its_left() {
    let manifest = |stage: &str| {
        std::fs::read_to_string(root().join(format!("crates/{stage}/Cargo.toml"))).unwrap()
    };
    hold(
        &STAGES
            .iter()
            .flat_map(|stage| against_the_arrow(stage, &manifest(stage)))
            .collect::<Vec<_>>(),
    );
}

/// The stages to its right that the manifest of a stage names.
fn against_the_arrow(stage: &str, manifest: &str) -> Vec<String> {
    let own = STAGES.iter().position(|one| *one == stage).unwrap();
    let named = manifest.lines().filter_map(|line| line.strip_prefix("boatload-"));
    let stages = named.map(first_word).filter(|name| STAGES[own..].contains(name));
    stages.map(|name| format!("`{stage}` depends on `{name}`")).collect()
}

#[test]
fn every_stage_is_there_and_every_file_is_a_module() {
    let all = sources();
    let paths: BTreeSet<&str> = all.iter().map(|source| source.path.as_str()).collect();
    for stage in STAGES {
        assert!(
            paths.contains(format!("crates/{stage}/src/lib.rs").as_str()),
            "no stage `{stage}`"
        );
    }
    hold(&unreachable(&all));
}

/// Files that no `mod` declares, from the two roots down.
fn unreachable(all: &[Source]) -> Vec<String> {
    let mut reached = BTreeSet::new();
    let is_root = |path: &&String| path.ends_with("src/lib.rs") || *path == "src/main.rs";
    let mut open: Vec<String> =
        all.iter().map(|source| &source.path).filter(is_root).cloned().collect();
    while let Some(path) = open.pop() {
        let Some(source) = all.iter().find(|source| source.path == path) else { continue };
        if reached.insert(path) {
            open.extend(modules(source).into_iter().flat_map(|name| places(source, &name)));
        }
    }
    let missing = all.iter().filter(|source| !reached.contains(&source.path));
    missing.map(|source| format!("{}: no `mod` declares it", source.path)).collect()
}

/// The modules in files of their own that a file declares.
fn modules(source: &Source) -> Vec<String> {
    let declared = words(&source.code, "mod").filter_map(|at| {
        let rest = &source.code[at + "mod".len()..];
        let name = first_word(rest);
        let ends = rest.trim_start()[name.len()..].trim_start().starts_with(';');
        (ends && !name.is_empty()).then(|| name.to_string())
    });
    declared.collect()
}

fn places(source: &Source, name: &str) -> [String; 2] {
    let module = source.module();
    let Some((stage, above)) = module.split_first() else {
        return [format!("src/{name}.rs"), format!("src/{name}/mod.rs")];
    };
    let below: String = above.iter().map(|part| format!("{part}/")).collect();
    [
        format!("crates/{stage}/src/{below}{name}.rs"),
        format!("crates/{stage}/src/{below}{name}/mod.rs"),
    ]
}

/// Files that only tests see: declared by a `#[cfg(test)] mod`.
fn test_files(all: &[Source]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for source in all {
        let live = modules(&Source::new(&source.path, &source.live));
        let tests = modules(source).into_iter().filter(|name| !live.contains(name));
        found.extend(tests.flat_map(|name| places(source, &name)));
    }
    found
}

/// The library without its tests.
fn live_sources() -> Vec<Source> {
    let all = sources();
    let tests = test_files(&all);
    assert!(!tests.is_empty(), "no file is for tests only: the rule has lost its eyes");
    let folders: Vec<String> =
        tests.iter().map(|path| path.replace("/mod.rs", "/").replace(".rs", "/")).collect();
    let below = |path: &str| folders.iter().any(|folder| path.starts_with(folder));
    all.into_iter().filter(|source| !tests.contains(&source.path) && !below(&source.path)).collect()
}

// --- what may stand where ----------------------------------------------------------------------

#[test]
fn time_is_read_in_the_clock_and_nowhere_else() {
    let all = live_sources();
    hold(
        &all.iter().filter(|source| source.path != CLOCK).flat_map(reads_time).collect::<Vec<_>>(),
    );
    let (path, word) = TIME_OF_DAY;
    let session = all.iter().find(|source| source.path == path).unwrap();
    let call = format!("{word}::now");
    let calls = session.live.matches(&call).count();
    assert_eq!(calls, 1, "{path} stamps the time of day in one place");
    let dates = all.iter().find(|source| source.path == DATES[0].0).unwrap();
    assert!(!dates.live.contains(&call), "{} reads a clock", dates.path);
}

fn reads_time(source: &Source) -> Vec<String> {
    let mut complaints = Vec::new();
    for word in ["Instant", "SystemTime", "UNIX_EPOCH", "quanta", "clock_gettime", "_rdtsc"] {
        let found = (source.path.as_str(), word);
        if found == TIME_OF_DAY || DATES.contains(&found) {
            continue;
        }
        let what = format!("`{word}` outside {CLOCK}");
        complaints.extend(words(&source.live, word).map(|at| source.complain(at, &what)));
    }
    complaints
}

#[test]
fn only_the_command_line_and_the_reports_print() {
    hold(&live_sources().iter().flat_map(prints).collect::<Vec<_>>());
}

fn prints(source: &Source) -> Vec<String> {
    if PRINTING.iter().any(|stage| source.path.starts_with(stage)) {
        return Vec::new();
    }
    let calls = ["println!", "eprintln!", "print!", "eprint!", "dbg!", "stdout()", "stderr()"];
    let stands = |call: &'static str| {
        let whole = words(&source.live, call.trim_end_matches(['!', '(', ')']));
        whole.filter(move |at| source.live[*at..].starts_with(call))
    };
    let complain = |call| {
        stands(call).map(move |at| source.complain(at, &format!("`{call}` outside cli and report")))
    };
    calls.into_iter().flat_map(complain).collect()
}

#[test]
fn nothing_gives_up_without_a_reason() {
    hold(&live_sources().iter().flat_map(gives_up).collect::<Vec<_>>());
}

fn gives_up(source: &Source) -> Vec<String> {
    const REASON_LINES: usize = 4;
    let calls = [".unwrap()", ".expect(", "panic!", "unreachable!", "unimplemented!", "todo!"];
    let mut complaints = Vec::new();
    for call in calls {
        for (at, _) in source.live.match_indices(call) {
            let line = source.line(at);
            let mut above =
                source.live.lines().take(line - 1).skip(line - 1 - REASON_LINES.min(line - 1));
            if !above.any(|line| line.contains("#[expect(clippy::") && line.contains("reason =")) {
                complaints.push(source.complain(at, &format!("`{call}` without a reason")));
            }
        }
    }
    complaints
}

/// Ways to write, make or replace a file.
const WRITES: [&str; 12] = [
    "fs::write",
    "fs::copy",
    "fs::rename",
    "hard_link",
    "File::create",
    "create_new",
    "OpenOptions",
    "OFlags::WRONLY",
    "OFlags::RDWR",
    "OFlags::CREATE",
    "OFlags::TMPFILE",
    "Connection::open_with_flags",
];

/// The files that may, and what they write. What a user names, they open through `base::output`.
const WRITERS: [(&str, &str); 12] = [
    ("crates/base/src/output.rs", "what a user named, checked"),
    ("crates/host/src/erase.rs", "a block device that was named twice"),
    ("crates/host/src/fuse.rs", "/dev/fuse"),
    ("crates/host/src/loop_device.rs", "/dev/loop-control, a loop device and its queue"),
    ("crates/host/src/page_cache.rs", "/proc/sys/vm/drop_caches"),
    (
        "crates/results/src/store/mod.rs",
        "the store, whose files SQLite opens through `base::output`",
    ),
    ("crates/run/src/backing.rs", "a block device that was named twice"),
    ("crates/run/src/disk/mod.rs", "the modelled disk, in the run's directory"),
    ("crates/run/src/engine/sync.rs", "the tree, in the run's directory"),
    ("crates/run/src/image.rs", "images, in the run's directory"),
    ("crates/run/src/run_directory.rs", "the marker, in the run's directory"),
    ("crates/run/src/site/directory.rs", "the canary, in the run's directory"),
];

#[test]
fn what_a_user_names_is_opened_to_write_in_one_place() {
    let all = live_sources();
    let writes = |source: &&Source| WRITERS.iter().any(|(path, _)| *path == source.path);
    let (known, others): (Vec<_>, Vec<_>) = all.iter().partition(writes);
    hold(&others.into_iter().flat_map(opens_to_write).collect::<Vec<_>>());
    let idle = known.iter().filter(|source| opens_to_write(source).is_empty());
    hold(&idle.map(|source| format!("{}: writes nothing", source.path)).collect::<Vec<_>>());
    assert_eq!(known.len(), WRITERS.len(), "a file of the list is missing");
}

fn opens_to_write(source: &Source) -> Vec<String> {
    let at = WRITES.iter().flat_map(|call| words(&source.live, call).map(move |at| (at, call)));
    at.map(|(at, call)| source.complain(at, &format!("`{call}` outside base::output"))).collect()
}

// --- ratchets ----------------------------------------------------------------------------------

#[test]
fn files_stay_short() {
    let mut all = sources();
    all.extend(read(&files("tests", ".rs")));
    all.extend(read(&files("benches", ".rs")));
    hold(&too_long(&all, FILE_LINES_MAX));
}

/// Files that are longer than the limit, the longest first.
fn too_long(all: &[Source], lines_max: usize) -> Vec<String> {
    let lengths = all.iter().map(|source| (source.text.lines().count(), &source.path));
    let mut long: Vec<_> = lengths.filter(|(lines, _)| *lines > lines_max).collect();
    long.sort_by(|a, b| b.cmp(a));
    long.iter().map(|(lines, path)| format!("{path}: {lines} lines, at most {lines_max}")).collect()
}

/// Prints all offenders, for `--nocapture`, and fails if there are more than there once were.
#[track_caller]
#[expect(clippy::print_stderr, reason = "the list is what a developer works through")]
fn ratchet(rule: &str, complaints: &[String], max: usize) {
    eprintln!("\n{rule}: {}, at most {max}\n{}", complaints.len(), complaints.join("\n"));
    assert!(complaints.len() <= max, "{rule}: {} of at most {max}", complaints.len());
}

#[test]
fn no_files_of_a_stage_import_each_other_in_a_circle() {
    ratchet("files in circles", &circles(&live_sources()), FILES_IN_CIRCLES_MAX);
}

#[test]
fn no_two_types_have_the_same_name() {
    ratchet("type names that stand twice", &twice_named(&live_sources()), TYPE_NAMES_TWICE_MAX);
}

#[test]
fn no_parameter_is_a_tuple() {
    let found: Vec<String> = live_sources().iter().flat_map(tuple_parameters).collect();
    ratchet("parameters that are tuples", &found, TUPLE_PARAMETERS_MAX);
}

#[test]
fn every_public_function_has_a_caller_in_the_product() {
    let found = without_callers(&live_sources());
    ratchet("public functions without a caller", &found, WITHOUT_CALLERS_MAX);
}

// --- lists -------------------------------------------------------------------------------------

/// Names of the files in a folder, and of the folders in it that are modules, without their ending
/// and without those left out.
fn stems(folder: &str, ending: &str, but: &[&str]) -> BTreeSet<String> {
    let names = files(folder, ending).into_iter().filter_map(|path| {
        let name = path.strip_prefix(&format!("{folder}/"))?.strip_suffix(ending)?;
        let name = name.strip_suffix("/mod").unwrap_or(name);
        (!name.contains('/') && !but.contains(&name)).then(|| name.to_string())
    });
    names.collect()
}

fn names<'a>(all: impl IntoIterator<Item = &'a str>) -> BTreeSet<String> {
    all.into_iter().map(str::to_string).collect()
}

#[test]
fn every_scenario_file_is_in_the_list_and_named_after_itself() {
    let listed = names(SCENARIOS.iter().map(|scenario| scenario.name));
    assert_eq!(stems("scenarios", ".toml", &[]), listed);
    for name in listed {
        let text = std::fs::read_to_string(root().join(format!("scenarios/{name}.toml"))).unwrap();
        assert_eq!(find_scenario(&name).unwrap().text, text);
        let named = |line: &str| line.replace(' ', "") == format!("name=\"{name}\"");
        assert!(text.lines().any(named), "scenarios/{name}.toml has another name inside");
    }
}

#[test]
fn every_disk_file_is_in_the_list_and_every_key_in_its_reference() {
    let listed = names(BUILT_IN_DISKS.iter().map(|disk| disk.name));
    assert_eq!(stems("disks", ".toml", &[]), listed);
    let reference = std::fs::read_to_string(root().join("docs/DISKS.md")).unwrap();
    for disk in BUILT_IN_DISKS {
        let keys = disk.text.lines().filter_map(|line| line.split_once('=')?.0.split(' ').next());
        let missing: Vec<&str> =
            keys.filter(|key| !reference.contains(&format!("`{key}`"))).collect();
        assert_eq!(missing, [""; 0], "{} in docs/DISKS.md", disk.name);
    }
}

#[test]
fn every_operation_file_is_in_the_list() {
    let listed = names(OPERATIONS.iter().map(|operation| operation.name));
    let named: BTreeSet<_> = listed.iter().map(|name| name.replace('-', "_")).collect();
    assert_eq!(stems("crates/op/src", ".rs", &["lib", "operation", "request", "steps"]), named);
    assert!(listed.iter().all(|name| find_operation(name).is_some()));
}

#[test]
fn every_engine_file_is_in_the_list() {
    // `device` is how `sync` reads a block device, `delayed` slows another one down.
    let listed = names(EngineName::ALL.into_iter().map(EngineName::as_str));
    let listed: BTreeSet<_> = listed.iter().map(|word| word.replace('-', "_")).collect();
    assert_eq!(stems("crates/run/src/engine", ".rs", &["mod", "device", "delayed"]), listed);
}

#[test]
fn every_report_and_every_export_is_in_the_list() {
    let written = |what: &str| -> usize {
        let all = live_sources();
        let reports = all.iter().filter(|source| source.path.starts_with("crates/report/src/"));
        reports.map(|source| source.live.matches(what).count()).sum()
    };
    assert_eq!(written(": ReportFormat ="), REPORTS.len());
    assert_eq!(written(": ExportFormat ="), EXPORTS.len());
    let reference = std::fs::read_to_string(root().join("docs/EXPORTS.md")).unwrap();
    for export in EXPORTS {
        assert!(reference.contains(&format!("\n## {}\n", export.name)), "{}", export.name);
    }
}

#[test]
fn the_reference_of_job_files_has_every_key_and_every_operation() {
    let reference = std::fs::read_to_string(root().join("docs/JOBS.md")).unwrap();
    let schema = job_schema();
    let mut keys: Vec<String> = OPERATIONS.iter().map(|o| o.name.to_string()).collect();
    let tables = schema["$defs"].as_object().unwrap().values().chain([&schema]);
    for table in tables {
        keys.extend(table["properties"].as_object().into_iter().flat_map(|p| p.keys().cloned()));
    }
    keys.retain(|key| words(&reference, key).next().is_none());
    assert_eq!(keys, [""; 0], "missing in docs/JOBS.md");
}

#[test]
fn the_readme_has_every_scenario_and_the_architecture_every_stage() {
    let text = |name| std::fs::read_to_string(root().join(name)).unwrap();
    let (readme, architecture) = (text("README.md"), text("ARCHITECTURE.md"));
    for scenario in SCENARIOS {
        assert!(readme.contains(&format!("| `{}` |", scenario.name)), "{}", scenario.name);
    }
    for stage in STAGES {
        assert!(architecture.contains(&format!("`crates/{stage}")), "{stage}");
    }
}

// --- nothing but the product -------------------------------------------------------------------

/// Every file that is committed; without git, every file that is no build product.
fn committed() -> Vec<PathBuf> {
    let listed = Command::new("git").args(["ls-files", "-z"]).current_dir(root()).output();
    let text = listed.map(|listed| String::from_utf8_lossy(&listed.stdout).into_owned());
    let paths: Vec<String> =
        text.unwrap_or_default().split('\0').filter(|p| !p.is_empty()).map(Into::into).collect();
    let paths = if paths.is_empty() { files("", "") } else { paths };
    let product = |path: &String| !path.starts_with("target/") && !path.starts_with(".git/");
    paths.into_iter().filter(product).map(|path| root().join(path)).collect()
}

#[test]
fn nothing_committed_tells_of_the_machine_or_the_desk_it_was_written_at() {
    let all = committed();
    assert!(all.len() > 80, "found only {} files", all.len());
    let read = |path: PathBuf| {
        let bytes = std::fs::read(&path).ok()?;
        Some((path, String::from_utf8_lossy(&bytes).into_owned()))
    };
    let told = all.into_iter().filter_map(read);
    let complaints = told.flat_map(|(path, text)| {
        let lines = tells(&text);
        lines.into_iter().map(move |line| format!("{}:{line}", path.display()))
    });
    hold(&complaints.collect::<Vec<_>>());
}

/// Lines with a path of somebody's machine, or a number of somebody's list of work.
fn tells(text: &str) -> Vec<String> {
    // Written in halves, so that this file does not tell either.
    let paths = [concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("/ho", "me/us", "er")];
    let numbered = [concat!("iss", "ue"), concat!("sess", "ion"), concat!("tick", "et")];
    let is_numbered = |line: &str, word: &str| {
        words(line, word).any(|at| {
            let rest = line[at + word.len()..].trim_start_matches([' ', '#']);
            rest.len() < line.len() - at - word.len()
                && rest.starts_with(|c: char| c.is_ascii_digit())
        })
    };
    let mut lines = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let lower = line.to_lowercase();
        if paths.iter().any(|path| line.contains(path))
            || numbered.iter().any(|word| is_numbered(&lower, word))
        {
            lines.push(format!("{}: {}", number + 1, line.trim()));
        }
    }
    lines
}

// --- the rules themselves can fail -------------------------------------------------------------

fn snippet(path: &str, text: &str) -> Source {
    Source::new(path, text)
}

#[test]
fn a_dependency_against_the_arrow_is_found() {
    let bad = "[dependencies]\nboatload-base.workspace = true\nboatload-run.workspace = true\n";
    assert_eq!(against_the_arrow("op", bad), ["`op` depends on `run`"]);
    assert_eq!(against_the_arrow("results", bad), [""; 0]);
}

#[test]
fn a_file_that_no_mod_leads_to_is_found() {
    let all = [
        snippet("crates/op/src/lib.rs", "mod read; // mod stat;\nmod inline { mod deep {} }"),
        snippet("crates/op/src/read.rs", ""),
        snippet("crates/op/src/stat.rs", ""),
    ];
    assert_eq!(unreachable(&all), ["crates/op/src/stat.rs: no `mod` declares it"]);
}

#[test]
fn a_second_clock_and_a_print_in_the_middle_are_found() {
    let source =
        snippet("crates/run/src/drive.rs", "fn f() {\n let t = Instant::now(); println!(\"\");\n}");
    assert_eq!(reads_time(&source).len(), 1);
    assert!(prints(&source)[0].starts_with("crates/run/src/drive.rs:2: `println!`"));
    let test = "#[cfg(test)]\nmod tests { fn f() { println!(); Instant::now(); } }";
    let test = snippet("crates/run/src/drive.rs", test);
    assert_eq!((reads_time(&test).len(), prints(&test).len()), (0, 0));
    assert!(prints(&snippet("crates/cli/src/out.rs", "println!()")).is_empty());
}

#[test]
fn giving_up_without_a_reason_is_found() {
    let bad =
        snippet("crates/op/src/read.rs", "fn f() { g().unwrap(); h().expect(\"\"); panic!() }");
    assert_eq!(gives_up(&bad).len(), 3);
    let good = "#[expect(clippy::expect_used, reason = \"constant\")]\nlet x = f().expect(\"\");";
    assert_eq!(gives_up(&snippet("crates/op/src/read.rs", good)), [""; 0]);
}

#[test]
fn a_file_that_is_opened_to_write_is_found() {
    for bad in
        ["std::fs::write(path, text)", "OpenOptions::new()", "OFlags::RDWR | OFlags::CLOEXEC"]
    {
        let bad = snippet("crates/cli/src/export.rs", &format!("fn f() {{ {bad}; }}"));
        assert_eq!(opens_to_write(&bad).len(), 1, "{}", bad.text);
    }
    let good = "fn f() { steps::write_file(path); open(path, OFlags::RDONLY); }";
    assert_eq!(opens_to_write(&snippet("crates/op/src/create.rs", good)), [""; 0]);
}

#[test]
fn a_file_that_is_too_long_is_found_with_its_length() {
    let source = snippet("crates/op/src/read.rs", &"\n".repeat(801));
    assert_eq!(too_long(&[source], 800), ["crates/op/src/read.rs: 801 lines, at most 800"]);
}

#[test]
fn a_circle_is_found_through_reexports_and_groups_but_not_where_an_arrow_has_one_way() {
    let files = |b: &str| {
        [
            snippet("crates/op/src/lib.rs", "mod a;\nmod b;\npub use a::A;"),
            snippet("crates/op/src/a.rs", "use super::b::{self, B};\npub struct A;"),
            snippet("crates/op/src/b.rs", b),
        ]
    };
    for circle in ["use super::A;", "fn f(a: crate::a::A) {}", "use crate::{x::Y, a::A};"] {
        let complaints = circles(&files(circle));
        assert_eq!(complaints.len(), 2, "{circle}: {complaints:?}");
        assert_eq!(complaints[0], "crates/op/src/a.rs: in a circle through crates/op/src/b.rs");
    }
    for line in ["use boatload_base::a::A;", "#[cfg(test)]\nmod tests { use super::super::a::A; }"]
    {
        assert_eq!(circles(&files(line)), [""; 0], "{line}");
    }
}

#[test]
fn a_circle_through_a_parent_is_found_but_a_list_over_its_parts_is_none() {
    let files = |parent: &str| {
        [
            snippet("crates/op/src/lib.rs", parent),
            snippet("crates/op/src/a.rs", "use super::Operation;"),
        ]
    };
    let over_parts = "mod a;\npub struct Operation;\nconst ALL: &[Operation] = &[a::A];";
    let complaints = circles(&files(over_parts));
    assert_eq!(complaints.len(), 2, "{complaints:?}");
    assert_eq!(complaints[0], "crates/op/src/lib.rs: in a circle through crates/op/src/a.rs");
    let list = "mod a;\nmod b;\npub use b::Operation;\nconst ALL: &[Operation] = &[a::A];";
    let [parent, part] = files(list);
    let all = [parent, part, snippet("crates/op/src/b.rs", "pub struct Operation;")];
    assert_eq!(circles(&all), [""; 0]);
}

#[test]
fn a_type_name_that_stands_twice_is_found() {
    let other = "enum Step {}\n#[cfg(test)]\nmod tests { struct Place; }";
    let all = [
        snippet("crates/op/src/a.rs", "struct Step;\nstruct Place;"),
        snippet("crates/op/src/b.rs", other),
    ];
    assert_eq!(
        twice_named(&all),
        ["`Step`: crates/op/src/a.rs:1: Step  crates/op/src/b.rs:1: Step"]
    );
    let output = "impl I for A {\n    type Item = B;\n}\nimpl I for C {\n    type Item = B;\n}";
    assert_eq!(twice_named(&[snippet("crates/op/src/a.rs", output)]), [""; 0]);
}

#[test]
fn a_parameter_that_is_a_tuple_is_found() {
    for bad in ["fn f((a, b): Pair) {}", "fn f<T: Fn(u8) -> u8>(x: T, y: &'a mut (A, B)) {}"] {
        assert_eq!(tuple_parameters(&snippet("crates/op/src/a.rs", bad)).len(), 1, "{bad}");
    }
    for good in ["fn f(x: fn(u8, u8), y: &[(A, B)]) -> (A, B) {}", "fn f(x: ()) { g(|(a, b)| a) }"]
    {
        assert_eq!(tuple_parameters(&snippet("crates/op/src/a.rs", good)), [""; 0], "{good}");
    }
}

#[test]
fn a_public_function_that_only_tests_call_is_found() {
    let tests = "#[cfg(test)]\nmod tests { fn t() { lost(); } }";
    let text =
        format!("pub use x::lost;\npub(crate) fn lost() {{ used() }}\npub fn used() {{}}\n{tests}");
    let complaints = without_callers(&[snippet("crates/op/src/a.rs", &text)]);
    assert_eq!(complaints, ["crates/op/src/a.rs:2: fn lost"]);
}

#[test]
fn a_path_of_a_machine_or_a_number_of_a_list_is_found() {
    for bad in
        [concat!("see /ro", "ot/notes"), concat!("closes iss", "ue #12"), concat!("Sess", "ion 3")]
    {
        assert_eq!(tells(bad).len(), 1, "{bad}");
    }
    for good in ["session::run", "an issue", "the root /", "issues 12 warnings"] {
        assert_eq!(tells(good), [""; 0], "{good}");
    }
}
