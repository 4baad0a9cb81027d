use super::calls::calls;
use super::output::{MapEntry, TracerLine, parse_line};
use super::script::{PathFilter, ProcessFilter, ScriptOrder};
use super::{TracedOperation, complaints_of};

fn order(processes: ProcessFilter, path: Option<&str>) -> ScriptOrder {
    let path = path.map(|path| PathFilter { path: path.as_bytes().to_vec() });
    let operations = TracedOperation::ALL.to_vec();
    ScriptOrder { processes, path, operations, every: 1000, own_process: 4711 }
}

// Calls have other numbers on other processors.
#[cfg(target_arch = "x86_64")]
#[test]
fn the_script_is_as_kept() {
    let text = order(ProcessFilter::Followed, Some("/srv/mail box")).script();
    crate::base::golden::assert_golden("trace.bt", &text);
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
        order.script().lines().filter(|line| line.contains("$known = (uint64)1")).count()
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
    let entry = |key, value| MapEntry { key, value };
    let lines: Vec<_> = RECORDED.lines().filter_map(|line| parse_line(line.as_bytes())).collect();
    let expected = [
        TracerLine::Ready,
        TracerLine::Map("@ha".into(), vec![entry(2200, 14), entry(65_538_200, 1000)]),
        TracerLine::Map("@e".into(), Vec::new()),
        TracerLine::Map("@t".into(), vec![entry(1, 1014)]),
        TracerLine::Tick,
    ];
    assert_eq!(lines, expected);
}

#[test]
fn complaints_of_a_limit_that_does_not_matter_are_left_out() {
    let text = "ERROR: Unknown error -1: couldn't set RLIMIT_MEMLOCK for bpftrace. If\n\
                stdin:3:1-2: WARNING: signs\nERROR: Could not resolve symbol: x\n";
    assert_eq!(complaints_of(text), "ERROR: Could not resolve symbol: x");
}
