//! A simulated file system whose truth is known: every law of it must come out in the figures.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test panics when it cannot continue"
)]

#[path = "common/library.rs"]
mod library;

use std::collections::BTreeMap;

use boatload::analysis::Analysis;
use boatload::analysis::answer::{AnswerFinding, Verdict};
use boatload::base::errno::Errno;
use boatload::results::book::{Measurement, Window};

use library::{code_of, figures_of, findings_of, job, near, only, ran, valid};

/// The job of a tree that is filled, and of what follows.
fn sim(tree: &str, phases: &[&str], sim: &str) -> String {
    job("engine = \"sim\"", tree, phases, sim)
}

const CREATE_IN_TEN: &str = "operation = 'create', windows = 10";

/// Holds every window against a law of one operation's time by its number.
fn follows(m: &Measurement, law: impl Fn(u64) -> f64) {
    assert_eq!(m.windows.len(), 10, "as many windows as were asked for");
    for (at, window) in (0u64..).zip(&m.windows) {
        let Window { first, operations, mean_ns, max_ns, .. } = *window;
        assert_eq!((first, operations), (at * m.operations / 10, m.operations / 10), "{window:?}");
        let truths: Vec<f64> = (first..first + operations).map(&law).collect();
        let mean = truths.iter().sum::<f64>() / truths.len() as f64;
        assert!((mean_ns - mean).abs() <= 1.0, "window {at}: mean {mean_ns}, the truth is {mean}");
        let most = truths.iter().fold(0.0f64, |a, b| a.max(*b));
        assert!((max_ns as f64 - most).abs() <= 1.0, "window {at}: max {max_ns}, truth {most}");
    }
    let all: f64 = (0..m.operations).map(&law).sum();
    near(m.latency.unwrap().mean, all / m.operations as f64, "the mean of all");
    near(m.seconds.unwrap() * 1e9, all, "the time of the phase");
    near(m.operations_per_second(), m.operations as f64 / all * 1e9, "the rate");
}

#[test]
fn a_directory_that_does_not_slow_down_gives_flat_windows() {
    let book = ran(&sim("files = 5_000", &[CREATE_IN_TEN], "metadata = '10us'"));
    let m = valid(&book, "create");
    follows(m, |_| 10_000.0);
    assert_eq!((m.latency.unwrap().min, m.latency.unwrap().max), (10_000, 10_000));
    assert_eq!(m.rate_error, Some(0.0), "a rate without any spread is sure");
}

#[test]
fn a_linear_directory_gives_windows_on_a_straight_line() {
    let truth = "metadata = '10us', directory = 'linear', directory_cost = '4us'";
    let book = ran(&sim("files = 5_000", &[CREATE_IN_TEN], truth));
    // The number of entries that are there before the operation: 4 us for each thousand.
    follows(valid(&book, "create"), |n| 10_000.0 + (n as f64 * 4.0).floor());
}

#[test]
fn a_logarithmic_directory_gives_a_step_for_each_doubling() {
    let truth = "metadata = '10us', directory = 'logarithmic', directory_cost = '1us'";
    let book = ran(&sim("files = 5_000", &[CREATE_IN_TEN], truth));
    follows(valid(&book, "create"), |n| 10_000.0 + (1000.0 * ((n + 1) as f64).log2()).floor());
}

#[test]
fn directories_filled_one_by_one_begin_fast_again_and_striped_ones_slow_down_together() {
    let truth = "metadata = '10us', directory = 'linear', directory_cost = '4us'";
    let tree = |placement| format!("files = 5_000, directories = 5, placement = '{placement}'");
    let filled = ran(&sim(&tree("fill"), &[CREATE_IN_TEN], truth));
    follows(valid(&filled, "create"), |n| 10_000.0 + ((n % 1000) as f64 * 4.0).floor());
    let striped = ran(&sim(&tree("stripe"), &[CREATE_IN_TEN], truth));
    follows(valid(&striped, "create"), |n| 10_000.0 + ((n / 5) as f64 * 4.0).floor());
}

#[test]
fn an_emptied_directory_is_fast_again() {
    let truth = "metadata = '10us', directory = 'linear', directory_cost = '4us'";
    let phases = ["operation = 'create'", "operation = 'delete', windows = 10"];
    let book = ran(&sim("files = 5_000", &phases, truth));
    follows(valid(&book, "delete"), |n| 10_000.0 + ((5000 - n) as f64 * 4.0).floor());
}

#[test]
fn a_knee_shows_in_the_first_window_beyond_it_and_not_before() {
    let truth = "metadata = '6us', transfer = '2us', capacity = '5MB', \
                 knee = { at = '80%', factor = 3 }";
    let book = ran(&sim("files = 5_000, size = 1_000", &[CREATE_IN_TEN], truth));
    follows(valid(&book, "create"), |n| if n < 4000 { 8_000.0 } else { 24_000.0 });
}

#[test]
fn what_is_deleted_leaves_room_below_the_knee_again() {
    let truth = "metadata = '6us', transfer = '2us', capacity = '1MB', \
                 knee = { at = '80%', factor = 3 }";
    let phases = [
        "operation = 'create', count = 1_000",
        "operation = 'delete', count = 1_000",
        "operation = 'create', name = 'again', count = 700",
    ];
    let book = ran(&sim("files = 1_700, size = 1_000", &phases, truth));
    assert_eq!(
        valid(&book, "create").latency.unwrap().max,
        24_000,
        "the disk was filled beyond the knee"
    );
    let again = valid(&book, "again");
    assert_eq!(
        (again.latency.unwrap().min, again.latency.unwrap().max),
        (8_000, 8_000),
        "and emptied again"
    );
}

#[test]
fn a_cold_read_takes_the_cold_time_longer_and_the_same_read_again_is_warm() {
    let phases = [
        "operation = 'create'",
        "operation = 'read', name = 'cold', cache = 'cold', order = 'random'",
        "operation = 'read', name = 'again'",
        "operation = 'stat', cache = 'cold'",
    ];
    let truth = "metadata = '5us', transfer = '2us', cold = '1ms'";
    let book = ran(&sim("files = 2_000, size = 3_000", &phases, truth));
    let (cold, again) = (valid(&book, "cold"), valid(&book, "again"));
    assert_eq!(cold.latency.unwrap().min - again.latency.unwrap().min, 1_000_000);
    assert_eq!(cold.latency.unwrap().max - again.latency.unwrap().max, 1_000_000);
    assert_eq!(
        (cold.cache.found.as_str(), cold.cache.resident_fraction),
        ("cold-verified", Some(0.0))
    );
    assert_eq!((again.cache.found.as_str(), again.cache.resident_fraction), ("warm", Some(1.0)));
    assert_eq!((cold.bytes, again.bytes), (Some(6_000_000), Some(6_000_000)));
    let stat = valid(&book, "stat");
    assert_eq!((stat.latency.unwrap().min, stat.latency.unwrap().max), (1_005_000, 1_005_000));
    assert_eq!(stat.cache.found.as_str(), "cold-verified");
}

#[test]
fn half_read_files_are_neither_called_cold_nor_warm() {
    let phases = [
        "operation = 'create'",
        "operation = 'stat', cache = 'cold', count = 1_000",
        "operation = 'read'",
    ];
    let book = ran(&sim("files = 2_000", &phases, "cold = '1ms'"));
    let read = valid(&book, "read");
    assert_eq!(read.cache.found.as_str(), "unverified");
    assert_eq!(read.cache.resident_fraction, Some(0.5));
}

#[test]
fn a_phase_that_asks_for_warm_is_warm_even_after_a_cold_one() {
    let phases = [
        "operation = 'create'",
        "operation = 'stat', cache = 'cold', count = 100",
        "operation = 'read', cache = 'warm'",
    ];
    let book = ran(&sim("files = 2_000", &phases, "metadata = '5us', cold = '1ms'"));
    let read = valid(&book, "read");
    assert_eq!((read.cache.found.as_str(), read.cache.reason), ("warm", None));
    assert!(
        read.latency.unwrap().max < 1_000_000,
        "a warm read took {} ns",
        read.latency.unwrap().max
    );
}

#[test]
fn drift_makes_later_operations_slower_by_its_share() {
    let truth = "metadata = '10us', drift = '10_000%'";
    let book = ran(&sim("files = 5_000", &[CREATE_IN_TEN], truth));
    follows(valid(&book, "create"), |n| (10_000.0 * (1.0 + (n + 1) as f64 / 1e4)).floor());
}

#[test]
fn drift_goes_on_over_phases_and_repeats_and_counts_operations_not_requests() {
    let phases = ["operation = 'create', count = 500", "operation = 'stat'"];
    let truth = "metadata = '10us', transfer = '10us', drift = '10_000%'";
    let text = sim("files = 500, size = 2", &phases, truth).replace("repeats = 1", "repeats = 2");
    let book = ran(&text);
    for (at, m) in (0u64..).zip(&book.measurements) {
        // A create opens and writes; both take as long as its number in the run says.
        let requests = if m.phase == "create" { 2.0 } else { 1.0 };
        let slower = |n: u64| 1.0 + (at * 500 + n) as f64 / 1e4;
        near(
            m.latency.unwrap().min as f64,
            requests * 10_000.0 * slower(1),
            "the first of its phase",
        );
        near(
            m.latency.unwrap().max as f64,
            requests * 10_000.0 * slower(500),
            "the last of its phase",
        );
    }
    assert_eq!(book.measurements.len(), 4);
}

#[test]
fn drift_of_the_machine_is_no_effect_of_levels_that_are_restored() {
    let keys = "engine = 'sim'\nconclude = ['levels']\naxis = { name = 'present', \
                values = [0, 100, 200, 300], prepare = { fill = { sizes = 100 } } }";
    let text =
        job(keys, "files = 500", &["operation = 'create'"], "metadata = '10us', drift = '3_000%'");
    let book = ran(&text.replace("repeats = 1", "repeats = 6"));
    let seconds: Vec<f64> = book.measurements.iter().filter_map(|m| m.seconds).collect();
    assert!(seconds.is_sorted() && seconds[23] > 1.3 * seconds[0], "{seconds:?}");
    let told: Vec<_> = findings_of(&book).iter().map(figures_of).collect();
    let levels: Vec<_> = told.iter().filter(|one| one["reading"] == "levels").collect();
    assert!(!levels.is_empty(), "{told:?}");
    for effect in levels {
        assert!(effect["decision"] == "open" || effect["decision"] == "within 10%", "{effect}");
    }
}

#[test]
fn noise_and_stalls_cause_no_warning() {
    let codes = |truth: &str| -> Vec<String> {
        let book = ran(&sim("files = 20_000", &["operation = 'create'"], truth));
        findings_of(&book).iter().filter_map(code_of).collect()
    };
    for steady in
        ["noise = 'bimodal'", "noise = 'uniform'", "stall = { every = 4_000, time = '10ms' }"]
    {
        assert_eq!(codes(&format!("metadata = '10us', {steady}")), [""; 0], "{steady}");
    }
}

#[test]
fn bimodal_noise_leaves_the_median_and_shows_in_the_tail() {
    let phases = ["operation = 'create'"];
    let book = ran(&sim("files = 20_000", &phases, "metadata = '10us', noise = 'bimodal'"));
    let m = valid(&book, "create");
    near(m.latency.unwrap().p50 as f64, 10_000.0, "the median is the fast mode");
    near(m.latency.unwrap().p99 as f64, 50_000.0, "one in ten is in the slow mode");
    assert_eq!((m.latency.unwrap().min, m.latency.unwrap().max), (10_000, 50_000));
    let slow_share = (m.latency.unwrap().mean - 10_000.0) / 40_000.0;
    assert!((0.09..0.11).contains(&slow_share), "{slow_share} of the operations were slow");
}

#[test]
fn uniform_noise_spreads_over_half_to_one_and_a_half_times_the_law() {
    let phases = ["operation = 'create'"];
    let book = ran(&sim("files = 20_000", &phases, "metadata = '10us', noise = 'uniform'"));
    let latency = valid(&book, "create").latency.unwrap();
    assert!((5_000..5_010).contains(&latency.min), "{latency:?}");
    assert!((14_990..=15_000).contains(&latency.max), "{latency:?}");
    assert!((latency.mean - 10_000.0).abs() < 60.0, "{latency:?}");
    assert!(latency.p90.abs_diff(14_000) < 100, "{latency:?}");
}

#[test]
fn skewed_noise_is_exponential_and_drifting_noise_makes_neighbours_alike() {
    let latency = |noise: &str| {
        let truth = format!("metadata = '10us', noise = '{noise}'");
        let book = ran(&sim("files = 20_000", &["operation = 'create', windows = 400"], &truth));
        let m = valid(&book, "create");
        (m.latency.unwrap(), m.windows.iter().map(|w| w.mean_ns).collect::<Vec<f64>>())
    };
    let apart = |means: &[f64]| {
        let steps: Vec<f64> = means.windows(2).map(|pair| (pair[1] - pair[0]).abs()).collect();
        steps.iter().sum::<f64>() / steps.len() as f64
    };
    let (skewed, _) = latency("skewed");
    assert!((skewed.mean - 10_000.0).abs() < 300.0, "{skewed:?}");
    assert!(skewed.p50.abs_diff(6_931) < 200, "the median of an exponential: {skewed:?}");
    let (drifting, windows) = latency("drifting");
    assert!((drifting.mean - 10_000.0).abs() < 700.0, "{drifting:?}");
    assert!(drifting.min >= 5_000 && drifting.max <= 15_000, "{drifting:?}");
    let (_, independent) = latency("uniform");
    let spread =
        |means: &[f64]| means.iter().fold(0.0f64, |most, m| most.max((m - 10_000.0).abs()));
    assert!(spread(&windows) > 2.0 * spread(&independent), "windows wander far");
    assert!(apart(&windows) / spread(&windows) < apart(&independent) / spread(&independent));
}

#[test]
fn a_rare_stall_shows_in_the_maximum_and_hardly_in_the_median() {
    let truth = "metadata = '10us', stall = { every = 1_000, time = '50ms' }";
    let book = ran(&sim("files = 5_000", &["operation = 'create', windows = 5"], truth));
    let m = valid(&book, "create");
    near(m.latency.unwrap().p50 as f64, 10_000.0, "the median knows no stalls");
    assert_eq!(m.latency.unwrap().max, 50_010_000);
    near(m.latency.unwrap().mean, 60_000.0, "five stalls over five thousand operations");
    assert!(
        m.windows.iter().all(|w| w.max_ns == 50_010_000),
        "one in each window: {:?}",
        m.windows
    );
}

/// What `tails` answers of two variants, each with its truth, and the p50 of each.
fn tails_of(truths: [&str; 2]) -> (AnswerFinding, [u64; 2]) {
    let [calm, other] = truths;
    let book = ran(&format!(
        "name = 'x'\nquestion = '?'\nrepeats = 5\nengine = 'sim'\nconclude = ['tails']\n\
         tree = {{ files = 5_000 }}\nphase = [{{ operation = 'create' }}]\n\
         [[variant]]\nname = 'calm'\nsim = {{ {calm} }}\n\
         [[variant]]\nname = 'other'\nsim = {{ {other} }}\n"
    ));
    let p50 = |variant: &str| {
        let mut own = book.measurements.iter().filter(|m| m.cell.variant == variant);
        own.find_map(|m| m.latency).unwrap().p50
    };
    let medians = [p50("calm"), p50("other")];
    (Analysis::of(&book).answer().unwrap().clone(), medians)
}

const NOISY: &str = "metadata = '10us', noise = 'uniform'";

#[test]
fn tails_find_stalls_of_one_variant_that_the_median_does_not_know() {
    let stalls = format!("{NOISY}, stall = {{ every = 50, time = '1ms' }}");
    let (answer, [calm, other]) = tails_of([NOISY, &stalls]);
    near(other as f64 / calm as f64, 1.0, "the medians are the same");
    assert_eq!(answer.verdict, Verdict::Yes, "{answer:?}");
    let sentence = answer.sentence();
    assert!(sentence.starts_with("P99 of create: "), "{sentence}");
    assert!(sentence.contains(" times as long on other as on calm ("), "{sentence}");
}

#[test]
fn tails_of_variants_with_one_truth_are_alike() {
    let (answer, _) = tails_of([NOISY, NOISY]);
    assert_eq!(answer.verdict, Verdict::No, "{answer:?}");
    assert!(answer.sentence().starts_with("No p99 is more than 10% longer"), "{answer:?}");
}

#[test]
fn a_full_disk_is_counted_by_operation_and_makes_the_phase_invalid() {
    let phases = ["operation = 'create'", "operation = 'delete'"];
    let book =
        ran(&sim("files = 100, size = 1_000", &phases, "metadata = '1us', capacity = '70_500B'"));
    let create = only(&book, "create");
    assert_eq!((create.operations, create.operations_asked), (70, Some(100)));
    assert_eq!(create.errors, BTreeMap::from([(Errno::ENOSPC, 30)]));
    let [reason] = create.invalid.as_slice() else { panic!("{:?}", create.invalid) };
    let reason = reason.sentence();
    assert!(reason.starts_with("ENOSPC x 30 (first in write of file "), "{reason}");
    assert_eq!(create.bytes, Some(70_000), "only operations that succeeded moved bytes");
    let delete = valid(&book, "delete");
    assert_eq!(delete.operations, 100, "an empty file was left by each that failed");
}

#[test]
fn an_error_at_one_operation_fails_that_one_and_the_rest_goes_on() {
    let phases = ["create", "read", "rename", "stat", "overwrite", "delete", "mkdir", "rmdir"];
    let phases_of_100: Vec<_> =
        phases.iter().map(|name| format!("operation = '{name}', count = 100")).collect();
    let phases_of_100: Vec<&str> = phases_of_100.iter().map(String::as_str).collect();
    for (at, phase) in (0u64..).zip(phases) {
        let operation = 100 * at + 51;
        let truth =
            format!("metadata = '1us', fault = {{ operation = {operation}, outcome = 'EIO' }}");
        let book = ran(&sim("files = 100", &phases_of_100, &truth));
        let failed = book.measurements.iter().filter(|m| m.errors.contains_key(&Errno::EIO));
        let failed: Vec<_> = failed.map(|m| (m.phase.as_str(), m.errors[&Errno::EIO])).collect();
        assert_eq!(failed, [(phase, 1)], "where operation {operation} of the run failed");
        let m = only(&book, phase);
        assert_eq!((m.operations, m.operations_asked), (99, Some(100)), "{phase}");
        assert!(!m.valid());
    }
}

#[test]
fn an_error_planned_for_one_operation_of_the_run_hits_one_repeat_only() {
    let truth = "metadata = '1us', fault = { operation = 150, outcome = 'EIO' }";
    let text =
        sim("files = 100", &["operation = 'create'"], truth).replace("repeats = 1", "repeats = 3");
    let book = ran(&text);
    let invalid: Vec<_> = book.measurements.iter().map(|m| !m.valid()).collect();
    assert_eq!(invalid, [false, true, false]);
}

#[test]
fn an_invalid_measurement_is_never_averaged_in() {
    let truth = "metadata = '10us', fault = { operation = 5, outcome = 'EIO' }, \
                 stall = { every = 3, time = '1s' }";
    let text = sim("files = 100", &["operation = 'create'"], truth);
    let book = ran(&text);
    let analysis = Analysis::of(&book);
    let summary = analysis.summary();
    let row = &summary.groups[0].rows[0];
    assert!(row.rate.is_none(), "a rate from an invalid measurement: {row:?}");
    assert_eq!(row.invalid.len(), 1);
    let warned: Vec<_> = findings_of(&book).iter().filter_map(code_of).collect();
    assert!(warned.contains(&"invalid-measurements".into()), "{warned:?}");
}
