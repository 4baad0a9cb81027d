//! Memory does not grow with the number of files: nothing is kept for each of them. Counted by an
//! allocator that remembers the most there was at one time.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    unsafe_code,
    reason = "a test panics when it cannot continue"
)]

#[path = "common/library.rs"]
mod library;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use boatload::results::tools::read_tool_result;
use boatload::run::interrupt::Interrupt;

use library::{Nobody, Place, job, plan_of};

/// The system's allocator, counted.
struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is handed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = NOW.fetch_add(layout.size(), Relaxed) + layout.size();
        MOST.fetch_max(now, Relaxed);
        // SAFETY: the caller keeps the contract, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller keeps the contract, which is the same.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// The most memory that some work needed at one time beyond what there was before, in bytes.
fn most<T>(work: impl FnOnce() -> T) -> usize {
    let before = NOW.load(Relaxed);
    MOST.store(before, Relaxed);
    let result = work();
    let most = MOST.load(Relaxed).saturating_sub(before);
    drop(result);
    most
}

const PHASES: [&str; 6] = [
    "operation = 'create', windows = 50",
    "operation = 'rewrite', order = 'random', count = '$selected'",
    "operation = 'rename', order = 'random', count = '$selected'",
    "operation = 'read', order = 'random'",
    "operation = 'stat'",
    "operation = 'delete'",
];

fn text(engine: &str, files: u64) -> String {
    let keys = format!("engine = '{engine}'\nparameters = {{ selected = {} }}", files / 10);
    let tree = format!(
        "files = {files}, directories = {{ fan_out = 3, depth = 2 }}, \
         size = {{ uniform = {{ min = 1, max = 1_000 }} }}"
    );
    job(&keys, &tree, &PHASES, "")
}

/// One test for all of it: a second one in the process would be counted too.
#[test]
fn memory_does_not_grow_with_the_number_of_files() {
    a_plan_for_100_million_files_is_no_larger_than_one_for_a_thousand();
    a_run_over_two_hundred_times_the_files_needs_no_more_memory();
    the_simulated_file_system_needs_bits_and_not_bytes_for_each_file();
    a_result_of_another_benchmark_takes_at_most_three_times_its_size();
}

fn a_plan_for_100_million_files_is_no_larger_than_one_for_a_thousand() {
    let plan = |files| most(|| plan_of(&text("sync", files)));
    plan(1_000);
    let (small, large) = (plan(1_000), plan(100_000_000));
    // Larger numbers have more digits; a bit for each file would be 12 million bytes.
    assert!(large < small + 4_000, "{small} bytes for a thousand, {large} for 100 million");
}

fn a_run_over_two_hundred_times_the_files_needs_no_more_memory() {
    let run = |files| {
        let plan = plan_of(&text("sync", files));
        most(|| Place::in_memory().run(&plan, &Nobody, &Interrupt::default()))
    };
    run(300);
    let (small, large) = (run(300), run(150_000));
    // Three bytes for each file would be 450,000 more. The rest is what the store's cache takes, and a histogram that a
    // long latency of a busy machine has made larger.
    assert!(large < small + 400_000, "{small} bytes for 300 files, {large} for 150,000");
    assert!(large < 16 << 20, "{large} bytes");
}

fn the_simulated_file_system_needs_bits_and_not_bytes_for_each_file() {
    let run = |files| {
        let plan = plan_of(&text("sim", files));
        most(|| Place::in_memory().run(&plan, &Nobody, &Interrupt::default()))
    };
    run(1_000);
    let (small, large) = (run(1_000), run(1_000_000));
    // The rest is a histogram that a long latency of a busy machine has made larger.
    let bits = 1_000_000 / 4;
    assert!(large < small + bits + 400_000, "{small} bytes for 1,000 files, {large} for 1,000,000");
}

fn a_result_of_another_benchmark_takes_at_most_three_times_its_size() {
    const BYTES: usize = 4 << 20;
    let fio = |rest: &str| format!("{{\"fio version\":\"fio-3.33\",{rest}");
    let bins = "\"123456\":7,".repeat(1_000);
    let job = format!(
        "{{\"jobname\":\"a\",\"read\":{{\"io_bytes\":9,\"clat_ns\":{{\"bins\":{{{bins}\"1\":1}}}}}}}},"
    );
    let jobs = fio("\"jobs\":[");
    let rates = "mdtest-4.0.0 was launched\nSUMMARY rate: (of 1 iterations)\n";
    let bonnie = format!("1.98,2.00a,h,1,1,1G,,,,,{}1\n", "1,2,".repeat(24));
    let dd = "1+0 records out\n1048576 bytes transferred in 0.5 secs (2097152 bytes/sec)\n";
    // The beginning of a file, what fills it, and its end.
    let files = [
        ("jobs with bins", jobs.clone(), job.as_str(), "{}]}"),
        ("jobs without anything", jobs.clone(), "{},", "{}]}"),
        ("what is not read", fio("\"x\":["), "1,", "1],\"jobs\":[]}"),
        ("options", fio("\"global options\":{"), "\"a\":\"b\",", "\"a\":\"b\"}}"),
        ("devices", fio("\"disk_util\":["), "{\"read_ios\":1},", "{}]}"),
        ("rows of mdtest", rates.into(), "File read : 1 1 7 0\n", ""),
        (
            "a command of mdtest",
            format!("{rates}File read : 1 1 7 0\nCommand line used: "),
            "x ",
            "",
        ),
        ("lines of bonnie++", String::new(), bonnie.as_str(), ""),
        ("a line of bonnie++", "1.98,2.00a,".into(), "1,", ""),
        ("names of elbencho", "operation,mib/s [last]".into(), ",", ""),
        ("transfers of dd", String::new(), dd, ""),
        ("a command of dd", format!("{dd}+ dd if=x "), "x ", "\n"),
    ];
    for (what, begin, part, end) in files {
        let text = begin + &part.repeat(BYTES / part.len()) + end;
        let needed = most(|| drop(read_tool_result(text.as_bytes())));
        assert!(needed <= 3 * text.len(), "{what}: {needed} bytes for {}", text.len());
    }
}
