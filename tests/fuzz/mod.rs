//! Fuzzes all that reads something from elsewhere: job files, disk models, run documents, histograms, the
//! store, texts of the kernel, what bpftrace prints, command lines that are stored, results of other
//! benchmarks. What is read must be taken or refused: no panic,
//! no memory and no time without end. What is taken is used as boatload uses it.
//!
//! `cargo test --lib -- cli::fuzz` tries some hundred inputs of each kind, the same each time.
//! `BOATLOAD_FUZZ_SECONDS=600` tries each kind for that time, `BOATLOAD_FUZZ_SEED=7` begins elsewhere. Each input is
//! written to a file before it is tried: what ends the whole process, for want of memory or stack, stays there too.

mod mutation;
mod targets;

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

use mutation::{Mutator, Random};
use targets::{
    audited, command_line, database, disk_model, histogram, job, kernel_text, run_document,
    stored_book, tracer_output,
};

/// An input that takes longer has no bound.
const CASE_SECONDS_MAX: u64 = 20;

/// Inputs that were taken are kept to be changed further, so many.
const KEPT_MAX: usize = 200;

/// More memory than any input may take, in bytes.
const MEMORY_MAX: u64 = 6 << 30;

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// Tries inputs made of `examples`, `cases` of them or for as long as was asked for. The target says whether
/// it took one.
#[expect(clippy::print_stderr, reason = "a long series tells how many inputs it tried")]
fn fuzz(
    name: &str,
    cases: u64,
    examples: Vec<Vec<u8>>,
    target: impl Fn(&[u8], &mut Random) -> bool,
) {
    let seconds = number("BOATLOAD_FUZZ_SECONDS").map(Duration::from_secs);
    let seed = number("BOATLOAD_FUZZ_SEED").unwrap_or(1);
    if seconds.is_some() {
        let limit = rustix::process::Rlimit { current: Some(MEMORY_MAX), maximum: None };
        let _ = rustix::process::setrlimit(rustix::process::Resource::As, limit);
    }
    // One for each process: others may try the same at the same time.
    let process = std::process::id();
    let file = std::env::temp_dir().join(format!("boatload-fuzz-{name}-{process}"));
    eprintln!("{name}: seed {seed}; {} has the input that is tried", file.display());
    let keep = |input: &[u8]| {
        std::fs::write(&file, input).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    };
    for (at, example) in examples.iter().enumerate() {
        // What comes of a text that is refused is refused too, so that nothing behind would be tried.
        keep(example);
        let is_taken = target(example, &mut Random::new(seed, 0));
        assert!(is_taken, "{name}: example {at}, kept as {}, is refused", file.display());
    }
    let begun = Instant::now();
    let mut mutator = Mutator::new(examples);
    let (mut tried, mut taken, mut slowest) = (0, 0, Duration::ZERO);
    while seconds.map_or(tried < cases, |seconds| begun.elapsed() < seconds) {
        let mut random = Random::new(seed, tried);
        let input = mutator.input(&mut random);
        keep(&input);
        let case = Instant::now();
        let outcome = catch_unwind(AssertUnwindSafe(|| target(&input, &mut random)));
        let took = case.elapsed();
        slowest = slowest.max(took);
        let is_endless = seconds.is_some() && took.as_secs() >= CASE_SECONDS_MAX;
        let Ok(is_taken) = outcome else { fail(&file, seed, tried, "it panicked") };
        if is_endless {
            fail(&file, seed, tried, &format!("it took {} s", took.as_secs()));
        }
        if is_taken {
            taken += 1;
            mutator.keep(input, KEPT_MAX, &mut random);
        }
        tried += 1;
    }
    let _ = std::fs::remove_file(&file);
    eprintln!("{name}: {tried} inputs, {taken} taken, the slowest took {slowest:?}");
    assert!(taken > 0 || tried < 50, "{name}: nothing was taken, so nothing was tried");
}

fn fail(file: &Path, seed: u64, case: u64, why: &str) -> ! {
    panic!("seed {seed}, input {case}, kept as {}: {why}", file.display());
}

#[test]
fn job_files_are_taken_or_refused() {
    fuzz("job", 400, job::examples(), job::read);
}

#[test]
fn examples_of_job_files_use_each_key() {
    let texts = job::examples().into_iter().map(|text| String::from_utf8_lossy(&text).into_owned());
    let text = texts.collect::<String>();
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let words: BTreeSet<&str> = text.split(|c| !is_part(c)).collect();
    let schema = boatload_plan::job_schema();
    let defined = schema["$defs"].as_object().into_iter().flat_map(|all| all.values());
    let tables = defined.chain([&schema]).filter_map(|table| table["properties"].as_object());
    let keys = tables.flat_map(|table| table.keys().map(String::as_str));
    let missing: Vec<&str> = keys.filter(|key| !words.contains(key)).collect();
    assert_eq!(missing, Vec::<&str>::new());
}

#[test]
fn disk_models_are_taken_or_refused() {
    fuzz("disk-model", 400, disk_model::examples(), disk_model::read);
}

#[test]
fn run_documents_are_taken_or_refused() {
    fuzz("run-document", 60, run_document::examples(), |input, _| run_document::read(input));
}

#[test]
fn a_book_of_a_store_that_was_changed_is_shown_or_refused() {
    fuzz("stored-book", 60, stored_book::examples(), |input, _| stored_book::read(input));
}

#[test]
fn bytes_are_a_histogram_or_none() {
    fuzz("histogram", 500, histogram::examples(), |input, _| histogram::read(input));
}

#[test]
fn a_store_with_damaged_pages_is_read_or_refused() {
    fuzz("database", 60, database::examples(), |input, _| database::read(input));
}

#[test]
fn texts_of_the_kernel_are_read_or_passed_over() {
    fuzz("kernel-text", 2_000, kernel_text::examples(), |input, _| kernel_text::read(input));
}

#[test]
fn what_a_tracer_prints_is_counted_or_passed_over() {
    fuzz("tracer-output", 300, tracer_output::examples(), |input, _| tracer_output::read(input));
}

#[test]
fn results_of_other_benchmarks_are_weighed_or_refused() {
    fuzz("audited", 1_000, audited::examples(), audited::read);
}

#[test]
fn stored_command_lines_are_taken_or_refused() {
    fuzz("command-line", 500, command_line::examples(), |input, _| command_line::read(input));
}
