use super::calls::calls;
use super::output::{CallSum, MapRow, MapValue, TracerLine, entries, parse_line};
use super::script::{PathFilter, ProcessFilter, ScriptOrder};
use super::{DirectoryCalls, DirectoryKey, DirectoryNames, TracedOperation, complaints_of};

fn order(processes: ProcessFilter, path: Option<&str>) -> ScriptOrder {
    let path = path.map(|path| PathFilter { path: path.as_bytes().to_vec() });
    let operations = TracedOperation::ALL.to_vec();
    ScriptOrder { processes, path, operations, every: 1000, own_process: 4711, cpus: 2 }
}

// Calls have other numbers on other processors.
#[cfg(target_arch = "x86_64")]
#[test]
fn the_script_is_as_kept() {
    let text = order(ProcessFilter::Followed, Some("/srv/mail box")).script();
    boatload_base::fixture::golden::assert_golden("trace.bt", &text);
}

#[test]
fn a_script_has_no_place_that_was_not_filled_in() {
    let filters = [ProcessFilter::All, ProcessFilter::Followed, ProcessFilter::Named(b"x".into())];
    for (processes, path) in
        filters.into_iter().flat_map(|one| [(one.clone(), None), (one, Some("/a/b"))])
    {
        let text = order(processes, path).script();
        assert!(!text.contains('%'), "{text}");
        assert_eq!(text.matches('{').count(), text.matches('}').count());
    }
}

#[test]
fn a_name_of_any_bytes_is_one_text_of_the_script() {
    let text = order(ProcessFilter::Named(b"a\"; exit(); \xff".to_vec()), None).script();
    assert!(text.contains("comm == \"a\\x22\\x3b exit\\x28\\x29\\x3b \\xff\")"), "{text}");
    let long = order(ProcessFilter::Named(b"0123456789abcdefgh".to_vec()), None).script();
    assert!(long.contains("comm == \"0123456789abcde\")"), "the kernel cuts names");
}

#[test]
fn only_calls_of_wanted_operations_are_looked_at() {
    let wanted = |operations: &[TracedOperation]| {
        let order = ScriptOrder {
            operations: operations.to_vec(),
            ..order(ProcessFilter::All, Some("/x"))
        };
        order
            .script()
            .lines()
            .filter(|line| line.starts_with("    if ($id == ") && line.contains("$op ="))
            .count()
    };
    // The other one is boatload's own read.
    assert_eq!(wanted(&[TracedOperation::Xattr]), 12 + 1);
    assert_eq!(wanted(&TracedOperation::ALL), calls().count());
}

#[test]
fn a_directory_is_known_below_each_of_those_above_it() {
    let path = PathFilter { path: b"/srv/mail/new".to_vec() };
    let told = path.below_ancestors().into_iter().map(String::from_utf8_lossy).collect::<Vec<_>>();
    assert_eq!(told, ["new", "mail/new", "srv/mail/new"]);
}

/// What bpftrace 0.17 printed.
const RECORDED: &str = r#"{"type": "attached_probes", "data": {"probes": 5}}
{"type": "printf", "data": "ready\n"}
{"type": "map", "data": {"@ha": {"2200": 14, "65538200": 1000}}}
{"type": "map", "data": {"@e": {}}}
{"type": "map", "data": {"@t": {"1": 1014}}}
{"type": "printf", "data": "tick\n"}
{"type": "lost_events", "data": {"events": 3}}
{"type": "map", "data": {"@set": 1}}

not a line of it
"#;

#[test]
fn what_bpftrace_prints_is_read_and_all_else_is_left_out() {
    let row = |key, value| MapRow { key: [key, 0], value: MapValue::Number(value) };
    let lines: Vec<_> = RECORDED.lines().filter_map(|line| parse_line(line.as_bytes())).collect();
    let expected = [
        TracerLine::Ready,
        TracerLine::Map("@ha".into(), vec![row(2200, 14), row(65_538_200, 1000)]),
        TracerLine::Map("@e".into(), Vec::new()),
        TracerLine::Map("@t".into(), vec![row(1, 1014)]),
        TracerLine::Tick,
        TracerLine::Map("@set".into(), Vec::new()),
    ];
    assert_eq!(lines[..5], expected[..5]);
}

fn rows(line: &str) -> Vec<MapRow> {
    match parse_line(line.as_bytes()) {
        Some(TracerLine::Map(_, rows)) => rows,
        other => panic!("{other:?}"),
    }
}

#[test]
fn keys_of_several_parts_are_read_with_their_sign() {
    // As bpftrace 0.17 prints them: of a path's text, and of an inode.
    let path = r#"{"type": "map", "data": {"@da": {"-2330150480421685358,41": {"count": 3, "average": 5, "total": 16}}}}"#;
    let number = (-2_330_150_480_421_685_358_i64).cast_unsigned();
    let directory = DirectoryKey { number, device: 0, is_path: true };
    let sum = CallSum { calls: 3, total_ns: 16 };
    let expected = DirectoryCalls { directory, operation: 9, sum };
    assert_eq!(DirectoryCalls::of_row(&rows(path)[0]), Some(expected));
    let inode = r#"{"type": "map", "data": {"@db": {"12,17045651457": {"count": 32, "average": 5, "total": 160}}}}"#;
    let found = DirectoryCalls::of_row(&rows(inode)[0]).unwrap();
    let directory = DirectoryKey { number: 12, device: 266_338_304, is_path: false };
    assert_eq!((found.directory, found.operation, found.sum.total_ns), (directory, 1, 160));
    for odd in [r#"{"data": {"@da": {"1,2,3": 1}}}"#, r#"{"data": {"@da": {"x": 1}}}"#] {
        assert_eq!(rows(odd), Vec::new(), "{odd}");
    }
}

#[test]
fn a_name_is_the_bytes_that_the_kernel_has() {
    let line = r#"{"type": "map", "data": {"@name": {"7,1": "q\"\uffffffc3\uffffffa9 \uffff"}}}"#;
    let [row] = &rows(line)[..] else { panic!("one") };
    assert_eq!(row.value, MapValue::Text("q\"é \u{ffff}".as_bytes().to_vec()));
    assert_eq!(entries(rows(line)), Vec::new(), "a text is no number");
}

/// The names of a file system mounted at the root of this process, with a directory `a` that has a directory `b`.
fn names(device: u64) -> DirectoryNames {
    let row = |key, value| MapRow { key, value };
    let number = |key, value| row(key, MapValue::Number(value));
    let text = |key, text: &str| row(key, MapValue::Text(text.as_bytes().to_vec()));
    let mut names = DirectoryNames::default();
    let known = [[2, device, 2], [5, device, 2], [6, device, 5], [8, device, 9], [9, device, 8]];
    names.take("@known", known.map(|[one, of, parent]| number([one, of], parent)).to_vec());
    let named = [(2, "/"), (5, "no such a"), (6, "b"), (8, "x"), (9, "y")];
    names.take("@name", named.map(|(one, name)| text([one, device], name)).to_vec());
    names.take("@path", vec![text([70, 0], "c//d/file"), text([71, 0], "/no such c/file")]);
    names.take("@base", vec![number([70, 0], 6)]);
    names.take("@device", vec![number([70, 0], device), number([71, 0], device)]);
    names.with_mounts()
}

#[test]
fn a_directory_is_found_by_its_names_or_by_the_text_of_a_path() {
    use std::os::unix::fs::MetadataExt;
    let root = std::fs::metadata("/").unwrap().dev();
    let device = u64::from(rustix::fs::major(root)) << 20 | u64::from(rustix::fs::minor(root));
    let names = names(device);
    let path = |number, is_path| {
        let device = if is_path { 0 } else { device };
        names.find(DirectoryKey { number, device, is_path })
    };
    // In a container the root may be a part of its file system, or have a number that no mount has.
    if path(2, false).is_some() {
        assert_eq!(path(6, false), Some("/no such a/b".into()));
        assert_eq!(path(70, true), Some("/no such a/b/c/d".into()));
    }
    assert_eq!(path(71, true), Some("/no such c".into()));
    assert_eq!((path(72, true), path(7, false)), (None, None), "nobody told of these");
    assert_eq!(path(8, false), None, "a circle has no root");
}

#[test]
fn complaints_of_a_limit_that_does_not_matter_are_left_out() {
    let text = "ERROR: Unknown error -1: couldn't set RLIMIT_MEMLOCK for bpftrace. If\n\
                stdin:3:1-2: WARNING: signs\nERROR: Could not resolve symbol: x\n";
    assert_eq!(complaints_of(text), "ERROR: Could not resolve symbol: x");
}
