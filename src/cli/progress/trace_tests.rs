use std::collections::BTreeMap;

use super::state::RunState;
use super::tests::{FULL, shown_by};
use super::trace_state::{RECENT_SECONDS, TraceState};
use super::trace_view::draw_trace;
use crate::base::fixture::golden::assert_golden;
use crate::cli::terminal_style::TerminalStyle as Style;
use crate::host::tracing::{
    BUCKET_BITS, MapEntry, TraceBatch, TracedOperation, URING_NUMBER, WINDOW_SHIFT,
};

/// Calls that were counted at one look.
struct Counted {
    operation: TracedOperation,
    /// The number of the first call.
    first: u64,
    calls: u64,
    bucket: u64,
}

fn counted(operation: TracedOperation, first: u64, calls: u64, bucket: u64) -> Counted {
    Counted { operation, first, calls, bucket }
}

/// A trace, and the totals that the kernel keeps.
struct WatchedTrace {
    trace: TraceState,
    run: RunState,
    totals: BTreeMap<u64, u64>,
}

impl WatchedTrace {
    fn new(target: &str) -> Self {
        let mut run = RunState::default();
        run.status = "starting bpftrace".into();
        Self { trace: TraceState::new(target), run, totals: BTreeMap::new() }
    }

    fn look(&mut self, seconds: f64, all: &[Counted]) {
        let entry = |one: &Counted| MapEntry {
            key: one.first << WINDOW_SHIFT | one.operation.number() << BUCKET_BITS | one.bucket,
            value: one.calls,
        };
        for one in all {
            *self.totals.entry(one.operation.number()).or_default() += one.calls;
        }
        let batch = TraceBatch {
            latencies: all.iter().map(entry).collect(),
            totals: self
                .totals
                .iter()
                .map(|(key, value)| MapEntry { key: *key, value: *value })
                .collect(),
            ..TraceBatch::default()
        };
        self.run.seconds = seconds;
        self.trace.take(seconds, &batch);
    }

    fn shown(&self, style: Style, columns: u16, rows: u16) -> String {
        shown_by(columns, rows, |buffer| draw_trace(&self.trace, &self.run, style, buffer))
    }
}

/// A program that makes files, ever slower, and reads as fast as ever.
fn under_way() -> WatchedTrace {
    let mut watched = WatchedTrace::new("`untar` and its children");
    watched.look(0.0, &[]);
    for at in 0..100_u64 {
        let create = counted(TracedOperation::Create, at * 1_000, 1_000, 300 + at);
        let read = counted(TracedOperation::Read, at * 10_000, 10_000, 280);
        let slow = counted(TracedOperation::Read, at * 10_000, 200, 480);
        watched.look((at + 1) as f64 / 10.0, &[create, read, slow]);
    }
    watched.run.add_notice("tracing `untar` and its children; it ends with the process", false);
    watched
}

#[test]
fn a_trace_under_way_is_shown_in_terminals_of_all_sizes() {
    let watched = under_way();
    for (columns, rows) in [(80, 24), (40, 10), (140, 40)] {
        let text = watched.shown(FULL, columns, rows);
        assert_golden(&format!("live-trace-{columns}x{rows}.txt"), &text);
    }
}

#[test]
fn nothing_but_ascii_is_shown_of_a_trace_where_there_is_nothing_else() {
    let plain = Style { columns: 80, ascii: true, colours: false };
    let text = under_way().shown(plain, 80, 24);
    assert!(text.is_ascii(), "{text}");
}

#[test]
fn each_size_of_a_trace_is_drawn_whatever_was_seen() {
    let mut many = WatchedTrace::new("all");
    for (at, operation) in TracedOperation::ALL.into_iter().enumerate() {
        many.look(at as f64, &[counted(operation, 0, u64::MAX / 64, 900)]);
    }
    for watched in [WatchedTrace::new("nobody"), under_way(), many] {
        for (columns, rows) in
            [(1, 1), (39, 10), (40, 10), (45, 11), (60, 16), (500, 200), (300, 10)]
        {
            let text = watched.shown(FULL, columns, rows);
            let is_small = columns < 40 || rows < 10;
            assert_eq!(text.contains("q leaves"), !is_small, "{columns}x{rows}:\n{text}");
        }
    }
}

#[test]
fn what_has_no_room_is_counted_and_the_busiest_stay() {
    let mut many = WatchedTrace::new("all");
    let all: Vec<Counted> = TracedOperation::ALL
        .into_iter()
        .enumerate()
        .map(|(at, operation)| counted(operation, 0, at as u64 + 1, 300))
        .collect();
    many.look(1.0, &all);
    let text = many.shown(FULL, 80, 10);
    let count = TracedOperation::ALL.len();
    let last = TracedOperation::ALL[count - 1].as_str();
    assert!(text.lines().any(|line| line.starts_with(last)), "{text}");
    let listed = text
        .lines()
        .filter(|line| TracedOperation::ALL.iter().any(|one| line.starts_with(one.as_str())))
        .count();
    assert!(
        text.contains(&format!("and {} operations with fewer calls", count - listed)),
        "{text}"
    );
}

#[test]
fn before_a_call_is_seen_the_view_says_what_is_done() {
    let text = WatchedTrace::new("processes named touch").shown(FULL, 80, 24);
    assert!(text.contains("boatload trace: processes named touch"), "{text}");
    assert!(text.contains("starting bpftrace") && text.contains("0 calls"), "{text}");
}

#[test]
fn now_is_the_last_seconds_and_all_is_everything() {
    let mut watched = WatchedTrace::new("x");
    watched.look(0.0, &[]);
    watched.look(1.0, &[counted(TracedOperation::Open, 0, 900, 300)]);
    let seen = |watched: &WatchedTrace| {
        let seen = watched.trace.seen();
        let one = seen[0].counts;
        (one.rate(), one.recent().map(|now| now.p50_ns), one.all().map(|all| all.p50_ns))
    };
    let (rate, now, all) = seen(&watched);
    assert_eq!((rate, now), (Some(900.0), all));
    watched.look(1.0 + RECENT_SECONDS, &[]);
    watched.look(2.0 + RECENT_SECONDS, &[counted(TracedOperation::Open, 900, 100, 500)]);
    let (rate, now, after) = seen(&watched);
    assert_eq!(rate, Some(100.0 / (1.0 + RECENT_SECONDS)), "since the newest look that is older");
    assert!(now > all, "{now:?}: the latencies of the first second are too old");
    assert_eq!(after, all, "900 of 1,000");
}

#[test]
fn a_course_has_the_means_from_the_first_call_to_the_last() {
    let watched = under_way();
    let seen = watched.trace.seen();
    let of = |operation: TracedOperation, parts: usize| {
        seen.iter().find(|one| one.operation == operation).unwrap().counts.course(parts)
    };
    let course = of(TracedOperation::Create, 10);
    assert!(course.windows(2).all(|pair| pair[0] < pair[1]), "{course:?}");
    assert!(course[9] > 4.0 * course[0], "{course:?}");
    let flat = of(TracedOperation::Read, 7);
    assert!(flat.iter().all(|mean| (mean / flat[0] - 1.0).abs() < 1e-9), "{flat:?}");
    assert_eq!(of(TracedOperation::Create, 1_000).len(), 100, "no more parts than windows");
}

#[test]
fn many_windows_are_joined_and_no_call_is_dropped() {
    let mut watched = WatchedTrace::new("x");
    let long = 3_000;
    (0..long).for_each(|at| {
        watched.look(at as f64, &[counted(TracedOperation::Stat, at * 7, 7, 200 + at / 50)])
    });
    let seen = watched.trace.seen();
    let course = seen[0].counts.course(usize::MAX);
    assert!((100..=500).contains(&course.len()), "{}", course.len());
    assert_eq!((watched.trace.calls(), watched.trace.lost()), (7 * long, 0));
}

#[test]
fn lost_failed_and_unseen_calls_are_told() {
    let mut watched = WatchedTrace::new("x");
    let key = |number: u64| number << WINDOW_SHIFT | 2;
    let batch = TraceBatch {
        totals: vec![
            MapEntry { key: TracedOperation::Open.number(), value: 1_234 },
            MapEntry { key: URING_NUMBER, value: 77 },
        ],
        errors: vec![MapEntry { key: key(TracedOperation::Stat.number()), value: 55 }],
        ..TraceBatch::default()
    };
    watched.trace.take(1.0, &batch);
    assert_eq!(watched.trace.lost(), 0, "they may come with the next look");
    watched.trace.take(2.0, &batch);
    let text = watched.shown(FULL, 100, 24);
    assert!(text.contains("1,234 calls, latency of 1,234 lost"), "{text}");
    assert!(text.contains("77 calls of io_uring_enter: what they do is not seen"), "{text}");
    assert!(text.lines().any(|line| line.starts_with("stat") && line.ends_with("55")), "{text}");
}

#[test]
fn a_name_from_outside_brings_no_control_characters() {
    let text = WatchedTrace::new("processes named \u{1b}[31mred\n").shown(FULL, 80, 24);
    assert!(!text.replace('\n', "").contains(char::is_control), "{text}");
}

#[test]
fn calls_that_are_told_apart_by_class_are_shown_too() {
    use crate::host::tracing::{ClassCount, ClassKey};

    let mut watched = WatchedTrace::new("x");
    let operation = TracedOperation::Create.number();
    let count = |number| ClassCount {
        class: ClassKey { number, ..ClassKey::default() },
        operation,
        bucket: 40,
        calls: 30,
    };
    let classes = vec![count(1), count(2)];
    let totals = vec![MapEntry { key: operation, value: 60 }];
    watched.trace.take(1.0, &TraceBatch { classes, totals, ..TraceBatch::default() });
    assert_eq!((watched.trace.calls(), watched.trace.lost()), (60, 0));
}
