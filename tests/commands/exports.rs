//! What `export` writes, read back by programs that boatload's authors did not write, and what
//! `import` takes and refuses.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed test panics"
)]

use crate::common;

use crate::command;

use std::collections::BTreeSet;
use std::fs::{File, Permissions};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;

use command::{Bench, Ran};
use common::{output, skip};

/// Two variants with names that mean something to other programs, two levels, a failure.
const JOB: &str = "name = \"x\"\nquestion = \"Is it, \\\"x\\\"?\"\nengine = \"sim\"\nrepeats = 2\n\
    [axis]\nname = \"files\"\nvalues = [200, 400]\n\
    [sim]\nmetadata = \"20us\"\n\
    [[variant]]\nname = \"=1+1\"\ntree = { files = \"$files\", size = 0 }\n\
    [[variant]]\nname = \"a|b, c\"\ntree = { files = \"$files\", size = 10 }\n\
    [[phase]]\noperation = \"create\"\nwindows = 4\n\
    [[phase]]\noperation = \"read\"\n";

/// A store with a run of the job.
fn measured() -> (Bench, Value) {
    let bench = Bench::default();
    let job = bench.write("job.toml", JOB);
    let document = bench.document([Path::new("run"), &job]);
    (bench, document)
}

fn exported(bench: &Bench, arguments: &[&str]) -> String {
    let ran = bench.run([&["export", "last", "--format"], arguments].concat());
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    ran.stdout
}

/// Reads a table as people do, and prints its rows as JSON.
const PANDAS: &str = "import pandas, sys\n\
    t = pandas.read_csv(sys.argv[1], keep_default_na=False, na_values=[''])\n\
    print(t.to_json(orient='records'))\n";
const PLAIN: &str = "import csv, json, sys\n\
    print(json.dumps(list(csv.DictReader(open(sys.argv[1], newline='')))))\n";

fn read_by_python(path: &Path) -> Option<Vec<Value>> {
    let path = path.to_str().unwrap();
    // The system's own may have it where another stands before it in the path.
    let read = |python, program| output(python, &["-c", program, path]);
    let by_pandas = read("python3", PANDAS).or_else(|| read("/usr/bin/python3", PANDAS));
    let text = match by_pandas {
        Some(text) => text,
        None => {
            skip("tables read by pandas", "python3 has no pandas; its module csv reads them");
            read("python3", PLAIN)?
        }
    };
    Some(serde_json::from_str::<Value>(&text).unwrap().as_array().unwrap().clone())
}

/// A number, also where the reader leaves all cells as text.
fn number(cell: &Value) -> Option<f64> {
    cell.as_f64().or_else(|| cell.as_str()?.parse().ok())
}

#[test]
fn python_reads_from_the_tables_what_the_document_says() {
    let (bench, document) = measured();
    let table = bench.beside("run.csv");
    exported(&bench, &["csv", "-o", table.to_str().unwrap()]);
    let Some(rows) = read_by_python(&table) else {
        return skip("tables read by Python", "python3 is missing");
    };
    let measurements = document["measurements"].as_array().unwrap();
    assert_eq!(rows.len(), measurements.len());
    for (row, m) in rows.iter().zip(measurements) {
        assert_eq!((&row["variant"], &row["phase"]), (&m["variant"], &m["phase"]));
        assert_eq!(row["filesystem"], "simulated");
        for (column, place) in [
            ("level_value", "/level/value"),
            ("repeat", "/repeat"),
            ("operations", "/operations"),
            ("seconds", "/seconds"),
            ("latency_ns_p99_9", "/latency_ns/p99_9"),
            ("device_read_bytes", "/device_read_bytes"),
        ] {
            assert_eq!(number(&row[column]), m.pointer(place).unwrap().as_f64(), "{column}");
        }
    }
    exported(&bench, &["csv-windows", "-o", table.to_str().unwrap()]);
    let windows = read_by_python(&table).unwrap();
    let count = measurements.iter().map(|m| m["windows"].as_array().unwrap().len());
    assert_eq!(windows.len(), count.sum::<usize>());
    let first = &measurements[0]["windows"][0];
    assert_eq!(number(&windows[0]["mean_ns"]), first["mean_ns"].as_f64());
}

#[test]
fn the_exported_document_is_that_of_the_run_and_other_programs_read_it() {
    let (bench, document) = measured();
    let path = bench.beside("run.json");
    exported(&bench, &["json", "-o", path.to_str().unwrap()]);
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), document);
    let count = "[.measurements[] | select(.valid)] | length";
    match output("jq", &[count, path.to_str().unwrap()]) {
        Some(found) => {
            assert_eq!(found, document["measurements"].as_array().unwrap().len().to_string())
        }
        None => skip("the document read by jq", "jq is missing"),
    }
}

#[test]
fn percentile_files_agree_with_the_document() {
    let (bench, document) = measured();
    let ran = bench.run(["export", "last", "--format", "hgrm"]);
    assert!(ran.refuses(2).contains("8 files: name a directory"), "{}", ran.stderr);
    let folder = bench.beside("percentiles");
    exported(&bench, &["hgrm", "-o", folder.to_str().unwrap()]);
    let names = command::names_in(&folder);
    assert_eq!(names.len(), 8, "{names:?}");
    assert!(names.contains(&"create-_1_1-200.hgrm".into()), "{names:?}");
    let text = std::fs::read_to_string(folder.join("create-_1_1-200.hgrm")).unwrap();
    let of_file = |m: &&Value| {
        m["phase"] == "create" && m["variant"] == "=1+1" && m["level"]["value"] == 200.0
    };
    let measurements = document["measurements"].as_array().unwrap().iter().filter(of_file);
    let max = measurements.map(|m| m["latency_ns"]["max"].as_u64().unwrap()).max().unwrap();
    let last = text.lines().rfind(|line| !line.starts_with('#')).unwrap();
    let words: Vec<&str> = last.split_whitespace().collect();
    assert_eq!(words, [&format!("{:.3}", max as f64 / 1e3), "1.000000000000", "400"]);
}

#[test]
fn a_file_is_replaced_in_one_step_and_nothing_stays_beside_it() {
    let (bench, _) = measured();
    let path = bench.write("run.prom", "old");
    exported(&bench, &["openmetrics", "-o", path.to_str().unwrap()]);
    assert!(std::fs::read_to_string(&path).unwrap().ends_with("# EOF\n"));
    assert_eq!(command::names_in(path.parent().unwrap()), ["job.toml", "run.prom"]);
    exported(&bench, &["markdown", "-o", path.parent().unwrap().to_str().unwrap()]);
    assert_eq!(command::names_in(path.parent().unwrap()).len(), 3);
    exported(&bench, &["csv", "-o", &format!("{}/", bench.beside("new").display())]);
    assert_eq!(command::names_in(&bench.beside("new")).len(), 1);
    exported(&bench, &["csv", "-o", "/dev/null"]);
    let ran = bench.run(["export", "last", "--format", "csv", "-o", "/nowhere/at/all"]);
    ran.refuses(1);
}

/// Every command that writes a document to a file.
const DOCUMENTS: [&[&str]; 4] = [
    &["show", "last"],
    &["compare", "reference:smallfiles-suse12-btrfs", "reference:smallfiles-debian8-ext3"],
    &["check", "last", "--baseline", "history"],
    &["run", "job.toml"],
];

#[test]
fn a_document_is_replaced_in_one_step_wherever_it_is_written() {
    let (bench, _) = measured();
    std::fs::write(bench.work().join("job.toml"), JOB).unwrap();
    let other = bench.write("other", "other");
    let folder = other.parent().unwrap();
    let before = command::names_in(folder);
    for arguments in DOCUMENTS {
        let path = bench.write("kept.json", "old".repeat(100_000));
        let (old, link) = (File::open(&path).unwrap(), bench.beside("link.json"));
        std::fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        std::os::unix::fs::symlink(&other, &link).unwrap();
        for path in [path.as_path(), link.as_path(), Path::new("/dev/null")] {
            let ran = bench.run([arguments, &["--json", path.to_str().unwrap()]].concat());
            assert_eq!(ran.code, Some(0), "{arguments:?}: {}", ran.stderr);
        }
        let new = std::fs::read_to_string(&path).unwrap();
        assert!(serde_json::from_str::<Value>(&new).is_ok(), "{arguments:?}: {new}");
        assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        assert_eq!(std::io::read_to_string(old).unwrap().len(), 300_000, "the old one is whole");
        assert_eq!(std::fs::read_to_string(&other).unwrap(), "other", "a link is replaced");
        assert!(std::fs::symlink_metadata(&link).unwrap().is_file());
        [path, link].iter().for_each(|path| std::fs::remove_file(path).unwrap());
    }
    assert_eq!(command::names_in(folder), before, "nothing stays beside");
}

#[test]
fn a_document_goes_through_a_pipe_and_what_the_command_has_open() {
    let (bench, document) = measured();
    let fifo = bench.beside("fifo");
    if output("mkfifo", &[fifo.to_str().unwrap()]).is_none() {
        return skip("a document through a pipe", "mkfifo is missing");
    }
    let parsed = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    for arguments in [
        &["show", "last", "--json", fifo.to_str().unwrap()][..],
        &["export", "last", "--format", "json", "-o", fifo.to_str().unwrap()],
    ] {
        let mut child = bench.command(arguments).stdout(Stdio::null()).spawn().unwrap();
        let text = std::fs::read_to_string(&fifo).unwrap();
        assert!(child.wait().unwrap().success());
        assert_eq!(parsed(&text), document, "{arguments:?}");
        assert!(!std::fs::symlink_metadata(&fifo).unwrap().is_file(), "it stays a pipe");
        let path = bench.beside("out");
        let arguments = arguments.iter().map(|word| match *word {
            word if Path::new(word) == fifo => "/dev/stdout",
            word => word,
        });
        let mut command = bench.command(arguments);
        let status = command.stdout(File::create(&path).unwrap()).status().unwrap();
        assert!(status.success());
        assert_eq!(parsed(&std::fs::read_to_string(&path).unwrap()), document);
    }
}

#[test]
fn an_imported_run_is_the_run_in_every_report_and_in_the_tables() {
    let (bench, document) = measured();
    let id = document["run"]["id"].as_str().unwrap();
    let path = bench.beside("run.json");
    exported(&bench, &["json", "-o", path.to_str().unwrap()]);
    let other = Bench::default();
    let ran = other.run([Path::new("import"), &path]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    assert_eq!(ran.stdout, format!("imported {id}: x, 16 measurements\n"));
    for arguments in [
        &["show", "last", "--details"][..],
        &["show", "last", "--json", "-"],
        &["export", "last", "--format", "hgrm", "-o", "p"],
        &["runs"],
    ] {
        let [own, imported] = [&bench, &other].map(|bench| bench.run(arguments));
        assert_eq!(own.stdout, imported.stdout, "{arguments:?}");
    }
    let again = other.run([Path::new("import"), &path]);
    assert_eq!(again.stdout, format!("already there: {id}: x, 16 measurements\n"));
    let query = "SELECT count(*), count(document ->> '$.histogram'), \
        (SELECT sum(complete) FROM runs) FROM measurements";
    match output("sqlite3", &[other.store().to_str().unwrap(), query]) {
        Some(counted) => assert_eq!(counted, "16|16|1"),
        None => skip("an imported run read by sqlite3", "sqlite3 is missing"),
    }
}

#[test]
fn a_run_comes_through_a_pipe() {
    let (bench, document) = measured();
    let other = Bench::default();
    let mut command = other.command(["import", "-"]);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(exported(&bench, &["json"]).as_bytes()).unwrap();
    let ran = Ran::from(child.wait_with_output().unwrap());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let shown = other.document(["show", document["run"]["id"].as_str().unwrap()]);
    assert_eq!(shown, document);
}

#[test]
fn what_is_no_document_or_another_run_of_the_same_id_leaves_the_store_as_it_was() {
    let (bench, mut document) = measured();
    let before = bench.run(["show", "last", "--json", "-"]).stdout;
    document["run"]["seed"] = 5.into();
    let other = bench.write("other.json", document.to_string());
    let ran = bench.run([Path::new("import"), &other]);
    assert!(ran.refuses(1).contains("another run with the id"), "{}", ran.stderr);
    let table = bench.write("run.csv", exported(&bench, &["csv"]));
    for (path, part) in [
        (table.as_path(), "no JSON document"),
        (Path::new("/nowhere/run.json"), "cannot read /nowhere/run.json"),
        (Path::new("/"), "cannot read /"),
        (Path::new("/dev/zero"), "larger than 256 MiB"),
    ] {
        let ran = bench.run([Path::new("import"), path]);
        assert!(ran.refuses(1).contains(part), "{}", ran.stderr);
    }
    assert_eq!(bench.run(["show", "last", "--json", "-"]).stdout, before);
}

#[test]
fn a_kept_run_without_histograms_is_imported_and_says_what_it_lacks() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/results/fullness-hdd-7200.json.gz");
    let bench = Bench::default();
    let ran = bench.run([Path::new("import"), &path]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stderr.contains("no histograms"), "{}", ran.stderr);
    let kept = std::fs::read_to_string(path.with_extension("").with_extension("txt")).unwrap();
    let shown = bench.run(["show", "last"]).stdout;
    let row = kept.lines().find(|line| line.starts_with("read-file (ext4/fragmented)")).unwrap();
    assert!(shown.contains(row), "{row}\n{shown}");
    let ran = bench.run(["export", "last", "--format", "hgrm"]);
    assert!(ran.refuses(1).contains("no histogram"), "{}", ran.stderr);
}

/// The keys of all objects, but for those that a job names.
fn keys_of(value: &Value, all: &mut BTreeSet<String>) {
    for (key, inner) in value.as_object().into_iter().flatten() {
        all.insert(key.clone());
        if !["parameters", "errors"].contains(&key.as_str()) {
            keys_of(inner, all);
        }
    }
    value.as_array().into_iter().flatten().for_each(|inner| keys_of(inner, all));
}

#[test]
fn the_reference_of_the_run_document_has_every_key() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let reference = std::fs::read_to_string(root.join("docs/RUN.md")).unwrap();
    let told: BTreeSet<&str> = reference.split('`').skip(1).step_by(2).collect();
    let kept = std::fs::read_dir(root.join("docs/results")).unwrap().map(|e| e.unwrap().path());
    let mut keys = BTreeSet::new();
    let golden = std::fs::read(root.join("tests/golden/run.json")).unwrap();
    keys_of(&serde_json::from_slice(&golden).unwrap(), &mut keys);
    for path in kept.filter(|path| path.extension().is_some_and(|e| e == "gz")) {
        let bench = Bench::default();
        assert_eq!(bench.run([Path::new("import"), &path]).code, Some(0));
        let shown = bench.run(["show", "last", "--json", "-"]).stdout;
        keys_of(&serde_json::from_str(&shown).unwrap(), &mut keys);
    }
    let missing: Vec<&String> = keys.iter().filter(|key| !told.contains(key.as_str())).collect();
    assert_eq!(missing, [""; 0], "missing in docs/RUN.md");
}

#[test]
fn several_pictures_never_make_a_directory_of_the_name_of_one() {
    let (bench, _) = measured();
    let one = bench.beside("out.svg");
    let mut command = bench.command(["export", "last", "--format", "svg", "-o"]);
    let ran = Ran::of(command.arg(&one));
    let said = ran.refuses(2);
    assert!(said.contains("files and ") && said.contains("-o DIR/"), "{said}");
    assert!(!one.exists());
    let mut command = bench.command(["export", "last", "--format", "svg", "-o"]);
    let ran = Ran::of(command.arg(bench.beside("pictures")));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(std::fs::read_dir(bench.beside("pictures")).unwrap().count() > 1);
}
