//! Phases of several works at once, on the simulated file system and on a real one.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test panics when it cannot continue"
)]

use crate::job_files::compare_with_kept;
use crate::library::{
    Place, code_of, figures_of, findings_of, job, near, only, plan_of, ran, valid,
};
use crate::script::script_of_mixes;

use std::sync::Arc;

use serde_json::Value;

use boatload::results::book::{Book, InvalidReason, Measurement};
use boatload::run::drive::DoneCount;
use boatload::run::interrupt::Interrupt;
use boatload::session::{PhaseContext, Watcher};

const CREATE: &str = "operation = 'create'";

/// A mix of `works`, each its keys, with the keys of the phase before them.
fn mix(keys: &str, works: &[&str]) -> String {
    let works: Vec<String> = works.iter().map(|work| format!("{{ {work} }}")).collect();
    format!("name = 'serve', {keys}, work = [{}]", works.join(", "))
}

const READS: &str = "operation = 'read', weight = 70";
const CREATES: &str = "operation = 'create', weight = 20";
const DELETES: &str = "operation = 'delete', weight = 10, order = 'oldest'";

fn of(keys: &str, tree: &str, mix: &str, sim: &str) -> String {
    job(keys, tree, &[CREATE, mix], sim)
}

/// What must be the same however fast it was.
fn done(book: &Book) -> Vec<(&str, [Option<u64>; 4])> {
    let of = |m: &Measurement| [Some(m.operations), m.bytes, m.entries_found, m.evictions];
    book.measurements.iter().map(|m| (&*m.phase, of(m))).collect()
}

#[test]
fn a_mix_is_measured_as_a_whole_and_work_by_work() {
    let mix = mix("count = 100_000, threads = 4", &[READS, CREATES, DELETES]);
    let tree = "files = 2_000, files_max = 3_000, size = { uniform = { min = 1, max = 9_000 } }";
    let book = ran(&of("engine = 'sim'", tree, &mix, "metadata = '10us', transfer = '1us'"));
    let whole = valid(&book, "serve");
    assert_eq!(whole.operation.unwrap().name(), "mix");
    assert_eq!((whole.operations, whole.operations_asked), (100_000, Some(100_000)));
    let works = ["read", "create", "delete"].map(|work| valid(&book, &format!("serve/{work}")));
    for (work, share) in works.iter().zip([0.7, 0.2, 0.1]) {
        let found = work.operations as f64 / 100_000.0;
        assert!((found - share).abs() < 0.02, "{}: {found} of {share}", work.phase);
        assert_eq!((work.part_of.as_deref(), work.seconds), (Some("serve"), whole.seconds));
        assert_eq!((work.device_read_bytes, work.cpu_user_seconds), Default::default());
        assert_eq!(work.sync_seconds, whole.sync_seconds);
        assert!(!work.histogram.is_empty() && work.service.is_none());
    }
    assert_eq!(works.iter().map(|work| work.operations).sum::<u64>(), 100_000);
    assert_eq!(works.iter().filter_map(|work| work.bytes).sum::<u64>(), whole.bytes.unwrap());
    let evictions = whole.evictions.unwrap();
    assert!(evictions > 5_000, "one create in two finds no room: {evictions}");
    let entries = 2_000 + works[1].operations - works[2].operations - evictions;
    assert_eq!((whole.entries_expected, whole.entries_found), (Some(entries), Some(entries)));
    assert!(entries <= 3_000, "{entries}");
    // A read is an open and reads, a delete one request.
    let mean = |m: &Measurement| m.latency.unwrap().mean;
    near(mean(works[2]), 10_000.0, "delete");
    near(mean(works[1]), 11_000.0, "create");
}

#[test]
fn the_same_seed_gives_the_same_turns_on_the_simulated_and_on_a_real_file_system() {
    let works = [
        READS,
        CREATES,
        DELETES,
        "operation = 'append', weight = 5",
        "operation = 'stat', weight = 5",
        "operation = 'replace', weight = 5, size = 700",
        "operation = 'chmod', weight = 5",
        "operation = 'fsync', weight = 5",
    ];
    let mix = mix("count = 3_000, threads = 3", &works);
    let text = |keys: &str| of(keys, "files = 100, size = 2_000", &mix, "");
    let simulated = ran(&text("engine = 'sim'"));
    valid(&simulated, "serve");
    assert_eq!(done(&simulated), done(&ran(&text("engine = 'sim'"))));
    let real = ran(&text("engine = 'sync'"));
    valid(&real, "serve");
    assert_eq!(done(&simulated), done(&real));
    assert_ne!(done(&simulated), done(&ran(&text("engine = 'sim'\nseed = 2"))));
}

#[test]
fn a_mix_ends_when_its_time_is_over() {
    let mix = mix("duration = '50ms', threads = 2", &[READS, CREATES]);
    for engine in ["sim", "sync"] {
        let keys = format!("engine = '{engine}'");
        let book = ran(&of(&keys, "files = 100, size = 100", &mix, "metadata = '20us'"));
        let whole = valid(&book, "serve");
        assert_eq!(whole.duration_seconds, Some(0.05));
        assert!((0.05..2.0).contains(&whole.seconds.unwrap()), "{engine}: {:?}", whole.seconds);
        assert!(whole.operations > 100, "{engine}: {}", whole.operations);
    }
}

#[test]
fn works_with_threads_of_their_own_share_the_files_and_not_the_turns() {
    let works = ["operation = 'read', threads = 3", "operation = 'create', threads = 1"];
    let mix = mix("count = 4_000", &works);
    let book = ran(&of("engine = 'sim'", "files = 400, size = 100", &mix, "metadata = '1us'"));
    assert_eq!(valid(&book, "serve").threads, Some(4));
    assert_eq!(valid(&book, "serve/read").operations, 3_000);
    assert_eq!(valid(&book, "serve/create").operations, 1_000);
}

#[test]
fn where_no_file_is_left_a_work_that_needs_one_leaves_its_turn_to_create() {
    let works = ["operation = 'delete', weight = 9", "operation = 'create', weight = 1"];
    let book =
        ran(&of("engine = 'sim'", "files = 10", &mix("count = 2_000", &works), "metadata = '1us'"));
    let (deleted, created) = (valid(&book, "serve/delete"), valid(&book, "serve/create"));
    assert_eq!(deleted.operations + created.operations, 2_000);
    assert!(deleted.operations <= created.operations + 10);
}

#[test]
fn a_full_file_system_fails_creates_and_the_others_go_on() {
    let mix = mix("count = 2_000", &[READS, CREATES]);
    let sim = "metadata = '1us', capacity = 120_000";
    let book = ran(&of("engine = 'sim'", "files = 100, files_max = 500, size = 1_000", &mix, sim));
    let whole = only(&book, "serve");
    assert!(matches!(whole.invalid[0], InvalidReason::Failed { .. }), "{:?}", whole.invalid);
    let read = only(&book, "serve/read");
    assert_eq!(read.invalid, [InvalidReason::Mix]);
    assert!(read.errors.is_empty() && read.operations > 1_000, "{:?}", read.errors);
    assert!(!only(&book, "serve/create").errors.is_empty());
}

#[test]
fn a_rate_is_kept_and_a_stall_shows_in_the_response_times_of_the_turns_behind_it() {
    let works = ["operation = 'stat', weight = 1"];
    let rate = |keys: &str, sim: &str| {
        let mix = mix(&format!("duration = '20s', rate = 1_000, {keys}"), &works);
        ran(&of("engine = 'sim'", "files = 100", &mix, sim))
    };
    for keys in ["threads = 4", "threads = 4, pace = 'poisson'"] {
        let book = rate(keys, "metadata = '100us'");
        let whole = valid(&book, "serve");
        let found = whole.operations as f64 / whole.seconds.unwrap();
        assert!((found - 1_000.0).abs() < 30.0, "{keys}: {found} turns a second");
        assert_eq!(whole.turns_per_second_asked, Some(1_000.0));
        near(whole.service.unwrap().p50 as f64, 100_000.0, "service time");
        let is_warned =
            findings_of(&book).iter().any(|f| code_of(f).as_deref() == Some("rate-not-kept"));
        assert!(!is_warned, "{keys}");
    }
    // One request in 4,000 stalls: in 20,000 turns five, and each delays a thousand.
    let book = rate("threads = 1", "metadata = '100us', stall = { every = 4_000, time = '1s' }");
    let m = valid(&book, "serve/stat");
    let (response, service) = (m.latency.unwrap(), m.service.unwrap());
    assert!(service.max > 1_000_000_000 && service.p99 < 1_000_000, "{service:?}");
    assert!(response.p99 > 500_000_000, "{response:?}");
    assert!(response.max >= service.max, "{response:?}");
}

#[test]
fn a_rate_that_cannot_be_kept_is_warned_of() {
    let mix = mix("duration = '1s', rate = 1_000", &["operation = 'stat', weight = 1"]);
    let book = ran(&of("engine = 'sim'", "files = 100", &mix, "metadata = '2ms'"));
    let found = findings_of(&book);
    let warning = found.iter().find(|f| code_of(f).as_deref() == Some("rate-not-kept"));
    assert!(warning.is_some(), "500 of 1,000 turns a second were done");
}

#[test]
fn works_and_mixes_at_a_rate_are_compared_by_their_latencies() {
    let text = |end: &str| {
        format!(
            "name = 'x'\nrepeats = 4\nengine = 'sim'\n[tree]\nfiles = 100\n\
             [[variant]]\nname = 'a'\nsim = {{ metadata = '10us', noise = 'uniform' }}\n\
             [[variant]]\nname = 'b'\nsim = {{ metadata = '20us', noise = 'uniform' }}\n\
             [[phase]]\noperation = 'create'\n[[phase]]\nname = 'serve'\n{end}\nrate = 10_000\n\
             [[phase.work]]\noperation = 'stat'\nweight = 3\n\
             [[phase.work]]\noperation = 'open'\nweight = 1\n"
        )
    };
    for end in ["duration = '100ms'", "count = 1_000"] {
        let figures: Vec<_> = findings_of(&ran(&text(end))).iter().map(figures_of).collect();
        let is_effect = |one: &&Value| one["kind"] == "effect" && one["reading"] == "ranking";
        let effects: Vec<&Value> = figures.iter().filter(is_effect).collect();
        let ratio = |phase: &str| {
            let one = effects.iter().find(|one| one["phase"] == phase).unwrap();
            let ratio = one["ratio"].as_f64().unwrap();
            if one["to"]["variant"] == "a" { 1.0 / ratio } else { ratio }
        };
        assert!((1.8..2.2).contains(&ratio("serve/stat")), "{end}: {}", ratio("serve/stat"));
        // At a rate that both keep, response times tell them apart, and there is no time of a whole job.
        assert!((1.8..2.2).contains(&ratio("serve")), "{end}: {}", ratio("serve"));
        assert!(!effects.iter().any(|one| one["phase"].is_null()), "{end}");
    }
}

/// Interrupts as soon as some turns of the mix are done.
struct StopsMix(Interrupt);

impl Watcher for StopsMix {
    fn phase_begins(&self, context: &PhaseContext<'_>, done: Arc<[DoneCount]>) {
        let interrupt = self.0.clone();
        if context.phase.mix.is_some() {
            std::thread::spawn(move || {
                while done.iter().all(|worker| worker.get() < 100) && !interrupt.is_set() {
                    std::thread::yield_now();
                }
                interrupt.set();
            });
        }
    }
}

#[test]
fn a_mix_that_is_interrupted_keeps_what_it_did() {
    for keys in ["duration = '1h'", "duration = '1h', rate = 2_000"] {
        let mix = mix(&format!("{keys}, threads = 2"), &[READS, CREATES, DELETES]);
        let text = of("engine = 'sync'", "files = 100, size = 100", &mix, "");
        let interrupt = Interrupt::default();
        let place = Place::in_memory();
        let book = place.run(&plan_of(&text), &StopsMix(interrupt.clone()), &interrupt);
        let m = only(&book, "serve");
        assert_eq!(m.invalid, [InvalidReason::Interrupted { operations: m.operations }]);
        assert!(m.operations >= 100 && m.entries_found == m.entries_expected, "{m:?}");
    }
}

#[test]
fn a_mix_goes_through_documents_and_back() {
    let mix = mix("count = 500, rate = 100_000", &[READS, CREATES]);
    let book = ran(&of("engine = 'sim'", "files = 100", &mix, "metadata = '1us'"));
    let text = serde_json::to_string(&book.measurements).unwrap();
    let read: Vec<Measurement> = serde_json::from_str(&text).unwrap();
    assert_eq!(read, book.measurements);
}

#[test]
fn the_turns_of_a_mix_stay_as_they_are_kept() {
    let works = [READS, CREATES, DELETES, "operation = 'append', weight = 10, size = 5"];
    let mix = mix("count = 40, threads = 2", &works);
    let plan = plan_of(&of(
        "",
        "files = 6, files_max = 8, size = { uniform = { min = 1, max = 99 } }",
        &mix,
        "",
    ));
    let lines: Vec<String> =
        (0..2).flat_map(|worker| script_of_mixes(&plan.cells[0], worker)).collect();
    let text = lines.join("\n") + "\n";
    compare_with_kept("tests/golden/mix.script", &text);
}

#[test]
fn the_table_says_the_rate_that_was_asked_and_what_was_deleted_to_make_room() {
    let mix = mix("count = 5_000, rate = 1_000", &[READS, CREATES]);
    let tree = "files = 100, files_max = 200, size = 1_000";
    let book = ran(&of("engine = 'sim'", tree, &mix, "metadata = '10us'"));
    let analysis = boatload::analysis::Analysis::of(&book);
    let table = analysis.answer_table();
    let rows: Vec<usize> = (0..table.rows.len()).collect();
    let notes = table.notes_of(&rows, table.columns.len());
    let asked = "serve: 1,000 turns a second asked and held, response times from when each was due";
    assert!(notes.contains(asked) && notes.contains("further files deleted"), "{notes}");
}

#[test]
fn a_ranking_is_of_the_mix_as_a_whole_and_not_of_what_prepares_it() {
    let text = "name = 'x'\nquestion = 'Which is faster?'\nengine = 'sim'\nrepeats = 3\n\
                [tree]\nfiles = 100\nfiles_max = 300\n\
                [[variant]]\nname = 'a'\nsim = { metadata = '10us' }\n\
                [[variant]]\nname = 'b'\nsim = { metadata = '20us' }\n\
                [[phase]]\noperation = 'create'\n[[phase]]\nname = 'serve'\nduration = '1s'\n\
                [[phase.work]]\noperation = 'stat'\nweight = 3\n\
                [[phase.work]]\noperation = 'create'\nweight = 1\n";
    let book = ran(text);
    let analysis = boatload::analysis::Analysis::of(&book);
    let answer = analysis.answer().unwrap().sentence();
    assert!(answer.contains("serve") && !answer.contains("create"), "{answer}");
    let names: Vec<String> =
        analysis.answer_table().rows.iter().map(|row| row.name.clone()).collect();
    assert!(names.iter().any(|name| name == "serve"), "{names:?}");
    assert!(!names.iter().any(|name| name.contains('/')), "{names:?}");
}

#[test]
fn at_a_rate_the_table_ranks_what_its_sentence_ranks_the_response_times() {
    let variant = |name: &str, time: &str| {
        format!(
            "[[variant]]\nname = '{name}'\nsim = {{ metadata = '{time}', noise = 'uniform' }}\n"
        )
    };
    let text = format!(
        "name = 'x'\nrepeats = 4\nengine = 'sim'\nconclude = ['ranking']\n[tree]\nfiles = 100\n{}{}\
         [[phase]]\noperation = 'create'\n[[phase]]\nname = 'serve'\ncount = 1_000\nrate = 1_000\n\
         [[phase.work]]\noperation = 'stat'\nweight = 1\n",
        variant("a", "10us"),
        variant("b", "20us")
    );
    let book = ran(&text);
    let analysis = boatload::analysis::Analysis::of(&book);
    let table = analysis.answer_table();
    let names: Vec<&str> = table.rows.iter().map(|row| row.name.as_str()).collect();
    let expected =
        ["mean response", "times as long", "interval", "p99 of serve", "create", "serve"];
    assert_eq!(names, expected);
    assert_eq!(table.columns[0].head, "a");
    assert!(analysis.answer().unwrap().sentence().starts_with("a is the fastest"));
}

const DELIVER: &str = "name = 'deliver', threads = 4, \
    chain = [{ create = 'tmp' }, 'fsync', { rename = 'new' }, 'fsync-directory']";
const TAKE: &str = "name = 'take', threads = 2, of = 'any', \
    chain = [{ list = 'new' }, { rename = 'cur' }, 'read', 'rename', 'delete']";
const MAILBOX: &str = "files = 500, files_max = 700, size = 3_000, \
    directories = ['tmp', 'new', 'cur'], files_in = 'new'";

/// A run of works on a mailbox on the simulated file system.
fn mailbox(keys: &str, works: &[&str], sim: &str) -> Book {
    ran(&of("engine = 'sim'", MAILBOX, &mix(keys, works), sim))
}

/// The measurements of a work's steps.
fn steps_of<'a>(book: &'a Book, work: &str) -> Vec<&'a Measurement> {
    book.measurements.iter().filter(|m| m.part_of.as_deref() == Some(work)).collect()
}

#[test]
fn a_mailbox_has_its_mails_counted_and_each_step_as_many_operations_as_turns_that_reached_it() {
    let sim = "metadata = '10us', transfer = '3us', sync = '200us'";
    let book = mailbox("count = 12_000", &[DELIVER, TAKE], sim);
    let whole = valid(&book, "serve");
    assert_eq!(whole.operations + whole.gone.unwrap_or(0), 12_000);
    let (delivered, taken) = (valid(&book, "serve/deliver"), valid(&book, "serve/take"));
    let entries = 500 + delivered.operations - taken.operations - whole.evictions.unwrap();
    assert_eq!((whole.entries_expected, whole.entries_found), (Some(entries), Some(entries)));
    assert_eq!((delivered.threads, taken.threads, delivered.gone), (Some(4), Some(2), None));
    let deliver = ["create", "fsync", "rename", "fsync-directory"];
    let take = ["list", "rename", "read", "rename-2", "delete"];
    for (work, names) in [(delivered, &deliver[..]), (taken, &take)] {
        let steps = steps_of(&book, &work.phase);
        let found: Vec<&str> = steps.iter().filter_map(|m| m.phase.rsplit('/').next()).collect();
        assert_eq!(found, names);
        // The first step lists the directory also where no mail is left.
        let (first, gone) = (steps[0], work.gone.unwrap_or(0));
        assert_eq!(first.operations, work.operations + gone, "{}", work.phase);
        let others = || steps[1..].iter().map(|m| m.operations);
        assert!(others().all(|n| n == work.operations), "{}", work.phase);
        let total_ns = |m: &Measurement| m.operations as f64 * m.latency.unwrap().mean;
        let in_vain_ns = gone as f64 * first.latency.unwrap().mean;
        let steps_ns = steps.iter().map(|m| total_ns(m)).sum::<f64>() - in_vain_ns;
        let ratio = steps_ns / total_ns(work);
        assert!((ratio - 1.0).abs() < 0.01, "{}: the steps take {ratio} of the turns", work.phase);
    }
}

#[test]
fn a_step_that_fails_is_one_error_of_its_turn_and_its_file_is_still_counted() {
    let deliver = DELIVER.replace("threads = 4", "threads = 1");
    let mut steps_met = Vec::new();
    for request in ["open", "write", "sync", "rename", "sync-directory"] {
        for operation in 520..530 {
            let fault = format!(
                "fault = {{ operation = {operation}, request = '{request}', outcome = 'EIO' }}"
            );
            let book = mailbox("count = 100", &[&deliver], &fault);
            let (whole, work) = (only(&book, "serve"), only(&book, "serve/deliver"));
            if whole.errors.is_empty() {
                continue;
            }
            let failed = |m: &Measurement| m.errors.values().sum::<u64>();
            assert_eq!((failed(whole), failed(work)), (1, 1), "{request}");
            assert_eq!((whole.operations, work.operations), (99, 99), "{request}");
            let steps = steps_of(&book, "serve/deliver");
            let met: Vec<_> = steps.iter().filter(|m| failed(m) > 0).collect();
            assert!(met.len() == 1 && failed(met[0]) == 1, "{request}: {met:?}");
            assert!(
                matches!(*whole.invalid, [InvalidReason::Failed { .. }]),
                "{:?}",
                whole.invalid
            );
            assert_eq!(whole.entries_found, whole.entries_expected, "{request}");
            assert_eq!(only(&book, &met[0].phase).operations, 99, "{request}");
            steps_met.push(met[0].phase.clone());
            break;
        }
    }
    let of = |step: &str| format!("serve/deliver/{step}");
    let expected = ["create", "create", "fsync", "rename", "fsync-directory"].map(of);
    assert_eq!(steps_met, expected);
}

#[test]
fn a_full_file_system_fails_the_creation_and_no_other_step_and_all_files_are_counted() {
    let deliver = DELIVER.replace("threads = 4", "threads = 1");
    let book = mailbox("count = 600", &[&deliver], "metadata = '1us', capacity = 1_700_000");
    let whole = only(&book, "serve");
    assert!(matches!(*whole.invalid, [InvalidReason::Failed { .. }]), "{:?}", whole.invalid);
    assert_eq!(whole.entries_found, whole.entries_expected);
    let failed: Vec<_> = steps_of(&book, "serve/deliver")
        .into_iter()
        .filter(|m| !m.errors.is_empty())
        .map(|m| &*m.phase)
        .collect();
    assert_eq!(failed, ["serve/deliver/create"]);
}

#[test]
fn a_stall_shows_in_the_response_times_of_the_chains_behind_it_and_in_one_step_alone() {
    let deliver = DELIVER.replace("threads = 4", "threads = 1");
    let keys = "duration = '20s', rate = 500";
    let sim = "metadata = '20us', sync = '100us', stall = { every = 30_000, time = '1s' }";
    let book = mailbox(keys, &[&deliver], sim);
    let m = valid(&book, "serve/deliver");
    let (response, service) = (m.latency.unwrap(), m.service.unwrap());
    assert!(service.max > 1_000_000_000 && service.p99 < 1_000_000, "{service:?}");
    assert!(response.p99 > 300_000_000, "{response:?}");
    let steps = steps_of(&book, "serve/deliver");
    assert!(steps.iter().all(|step| step.service.is_none()), "{steps:?}");
    assert!(steps.iter().all(|step| step.latency.unwrap().p99 < 1_000_000), "{steps:?}");
    assert!(steps.iter().any(|step| step.latency.unwrap().max > 1_000_000_000), "{steps:?}");
}

#[test]
fn a_rate_of_0_is_none() {
    let book = mailbox("count = 300, rate = 0", &[DELIVER], "metadata = '10us'");
    let whole = valid(&book, "serve");
    assert!(whole.turns_per_second_asked.is_none() && whole.service.is_none(), "{whole:?}");
    assert!(whole.operations as f64 / whole.seconds.unwrap() > 10_000.0, "{whole:?}");
}

#[test]
fn readers_of_an_empty_mailbox_find_nothing_and_say_how_often() {
    let take = TAKE.replace("threads = 2", "threads = 20");
    let tree = MAILBOX.replace("files = 500", "files = 20");
    let mix = mix("count = 2_000", &[&take]);
    let book = ran(&of("engine = 'sim'", &tree, &mix, "metadata = '1us'"));
    let whole = valid(&book, "serve");
    assert_eq!((whole.operations, whole.gone), (20, Some(1_980)));
    assert_eq!((whole.entries_expected, whole.entries_found), (Some(0), Some(0)));
    assert_eq!(valid(&book, "serve/take/list").operations, 2_000);
}

#[test]
fn a_worker_whose_files_others_take_goes_on_to_its_last_turn() {
    let works = [
        "operation = 'create', weight = 4",
        "name = 'take', operation = 'delete', of = 'any', weight = 3",
        "name = 'look', operation = 'stat', of = 'any', weight = 1",
    ];
    let mix = mix("count = 200_000, threads = 8", &works);
    let tree = "files = 72, files_max = 72";
    let book = ran(&of("engine = 'sim'", tree, &mix, "metadata = '1us'"));
    let whole = valid(&book, "serve");
    assert_eq!(whole.operations + whole.gone.unwrap_or(0), 200_000);
    assert!(whole.evictions > Some(1_000), "{:?}", whole.evictions);
}
