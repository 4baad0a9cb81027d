//! What boatload concludes from whole runs, held against the truth of the simulated file system.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test says so when it cannot go on"
)]

use crate::library;

use boatload::analysis::finding::Finding;
use boatload::results::book::Book;

use library::{code_of, figures_of, findings_of, ran};

/// What is asked of every seed.
const SEEDS: u64 = 20;

/// A job that compares how directories are filled: one, many one after the other, many in turn.
fn directories(seed: u64, files: u64, windows: u32, sim: &str) -> String {
    let variant = |name: &str, layout: &str| {
        format!("[[variant]]\nname = '{name}'\ntree = {{ files = {files}, {layout} }}\n")
    };
    format!(
        "name = 'd'\nrepeats = 1\nseed = {seed}\nengine = 'sim'\nconclude = ['growth', 'ranking']\n\
         {}{}{}[[phase]]\noperation = 'create'\nwindows = {windows}\n[sim]\n{sim}\n",
        variant("single", "directories = 1"),
        variant("multiple", "directories = 40, order = 'fill'"),
        variant("striped", "directories = 40, order = 'stripe'"),
    )
}

fn findings(book: &Book, kind: &str) -> Vec<Finding> {
    findings_of(book).into_iter().filter(|finding| figures_of(finding)["kind"] == kind).collect()
}

fn growth(book: &Book, variant: &str) -> Finding {
    let all = findings(book, "growth");
    all.into_iter().find(|finding| figures_of(finding)["variant"] == variant).unwrap()
}

/// Whether the interval has the truth and tells something.
fn covers(finding: &Finding, truth: f64) -> bool {
    let ends = &figures_of(finding)["interval"];
    let (low, high) = (ends[0].as_f64().unwrap(), ends[1].as_f64().unwrap());
    // Those of three variants hold together.
    low <= truth && truth <= high && high / low < 1.7
}

/// Everything that must not fool it.
const DISTURBANCES: [&str; 4] = [
    "",
    "noise = 'uniform'",
    "noise = 'bimodal'",
    "noise = 'uniform'\nstall = { every = 777, time = '5ms' }",
];

#[test]
fn linear_directories_are_told_by_how_they_are_filled() {
    // One directory of 20,000 files costs 180 us more at its end than at its beginning; each of
    // forty 4.5 us, filled one after the other or in turn.
    let mut covered = [0, 0];
    for seed in 0..SEEDS {
        let disturbance = DISTURBANCES[seed as usize % 4];
        let windows = [40, 100, 200, 400][seed as usize / 5];
        let sim = format!(
            "metadata = '20us'\ndirectory = 'linear'\ndirectory_cost = '9us'\n{disturbance}"
        );
        let book = ran(&directories(seed, 20_000, windows, &sim));
        let laws = ["single", "multiple", "striped"].map(|variant| {
            figures_of(&growth(&book, variant))["law"].as_str().unwrap().to_string()
        });
        assert_eq!(
            laws,
            ["linear", "constant", "linear"],
            "seed {seed}: {:#?}",
            findings_of(&book)
        );
        let single = &growth(&book, "single");
        let end = figures_of(single)["operations_of_end"].as_f64().unwrap();
        let truth = (20.0 + 9.0 * (20.0 - end / 2e3)) / (20.0 + 9.0 * end / 2e3);
        // Stalls are part of the mean: a ratio with them is another one.
        let holds = disturbance.contains("stall") || covers(single, truth);
        covered[0] += u32::from(holds);
        covered[1] += u32::from(covers(&growth(&book, "multiple"), 1.0));
        let ranking = findings(&book, "ranking");
        assert_eq!(ranking.len(), 1);
        assert_eq!(figures_of(&ranking[0])["order"][2], "single", "{:?}", ranking[0]);
    }
    assert!(covered.iter().all(|n| *n >= 18), "{covered:?} of 20 intervals have the truth");
}

#[test]
fn logarithmic_directories_are_told_from_linear_and_constant_ones() {
    for seed in 0..SEEDS {
        let disturbance = DISTURBANCES[seed as usize % 4];
        let sim = format!(
            "metadata = '10us'\ndirectory = 'logarithmic'\ndirectory_cost = '4us'\n{disturbance}"
        );
        let book = ran(&directories(seed, 40_000, 200, &sim));
        let single = &growth(&book, "single");
        assert_eq!(figures_of(single)["law"], "logarithmic", "seed {seed}: {single:?}");
        assert_eq!(figures_of(&growth(&book, "multiple"))["law"], "constant", "seed {seed}");
    }
}

#[test]
fn directories_that_cost_the_same_are_constant_and_tie() {
    for seed in 0..SEEDS {
        let sim = format!("metadata = '20us'\n{}", DISTURBANCES[seed as usize % 4]);
        let book = ran(&directories(seed, 20_000, [40, 400][seed as usize % 2], &sim));
        for finding in &findings(&book, "growth") {
            assert_eq!(figures_of(finding)["law"], "constant", "seed {seed}: {finding:?}");
            assert!(covers(finding, 1.0), "seed {seed}: {finding:?}");
        }
        let steps = figures_of(&findings(&book, "ranking")[0])["steps"].clone();
        let ties = steps.as_array().unwrap().iter().map(|step| step["tie"] == true);
        assert!(ties.clone().all(|tie| tie) && ties.count() == 2, "seed {seed}: {steps:?}");
    }
}

/// Creates of files of 1,000 bytes on a device that takes 2.3 times as long from 60% on, if ever.
fn filling(seed: u64, windows: bool, knee: &str) -> Book {
    let (conclude, windows) =
        if windows { ("conclude = ['growth']", "windows = 200") } else { ("", "") };
    ran(&format!(
        "name = 'f'\nrepeats = 3\nseed = {seed}\nengine = 'sim'\n{conclude}\n\
         tree = {{ files = 20_000, size = 1_000 }}\n[[phase]]\noperation = 'create'\n{windows}\n\
         [sim]\nmetadata = '20us'\nnoise = 'uniform'\ncapacity = '20_200_000B'\n{knee}\n"
    ))
}

const KNEE: &str = "knee = { at = '60%', factor = 2.3 }";

#[test]
fn a_device_that_gets_slower_from_a_fill_on_is_told_as_a_threshold_in_files() {
    let truth = 12_120.0;
    for seed in 0..5 {
        let book = filling(seed, true, KNEE);
        let all = findings(&book, "growth");
        let [found] = all.as_slice() else { panic!("{all:#?}") };
        let figures = &figures_of(found);
        assert_eq!(
            (&figures["shape"], &figures["threshold"]["shape"]),
            (&"threshold".into(), &"step".into())
        );
        let [low, high] = [0, 1].map(|n| figures["threshold"]["interval"][n].as_f64().unwrap());
        assert!(low <= truth && truth <= high && high - low < 2_000.0, "seed {seed}: {found:?}");
        let ratio = figures["ratio"].as_f64().unwrap();
        assert!((2.2..2.4).contains(&ratio), "seed {seed}: {found:?}");
    }
}

#[test]
fn a_jump_within_a_phase_is_warned_of_where_no_finding_tells_it_and_noise_is_not() {
    let codes =
        |book: &Book| -> Vec<String> { findings_of(book).iter().filter_map(code_of).collect() };
    for seed in 0..5 {
        let book = filling(seed, false, KNEE);
        assert_eq!(codes(&book), ["jump"], "seed {seed}: {:#?}", findings_of(&book));
        let at = figures_of(&findings(&book, "warning")[0])["at"].as_u64().unwrap();
        assert!((11_500..12_700).contains(&at), "seed {seed}: {at}");
        assert_eq!(codes(&filling(seed, false, "")), [""; 0], "seed {seed}");
        assert_eq!(codes(&filling(seed, true, "")), [""; 0], "seed {seed}");
    }
}

/// A file for each chunk pays for a name, a slow disk pays for each buffer of 1 MiB.
fn layouts(seed: u64) -> String {
    format!(
        "name = 'c'\nrepeats = 3\nseed = {seed}\nengine = 'sim'\nconclude = ['crossover', 'ranking']\n\
         axis = {{ name = 'chunk-size', values = ['1KiB', '10KiB', '100KiB', '1000KiB', '10000KiB'] }}\n\
         [[variant]]\nname = 'one'\ntree = {{ files = 400, size = '$chunk-size' }}\n\
         [[variant]]\nname = 'two'\ntree = {{ files = 400, size = '$chunk-size' }}\nthreads = 2\n\
         [[phase]]\noperation = 'create'\n\
         [sim]\nmetadata = '20us'\ntransfer = '50us'\nnoise = 'uniform'\n"
    )
}

#[test]
fn two_workers_are_faster_than_one_at_every_size_and_never_meet() {
    let book = ran(&layouts(1));
    let found = findings(&book, "crossover");
    assert_eq!(found.len(), 1, "{found:?}");
    let figures = &figures_of(&found[0]);
    assert!(figures["at"].is_null(), "{figures:?}");
    for level in figures["levels"].as_array().unwrap() {
        assert!(level["winner"] != "one", "{level:?}");
    }
    assert_eq!(findings(&book, "ranking").len(), 1, "one order at all levels");
}

#[test]
fn variants_meet_where_their_files_take_equally_long() {
    // A file takes 20 us for its name and 50 us for each KiB: all are 10 KiB, or as the level says.
    for seed in 0..SEEDS {
        let book = ran(&format!(
            "name = 'c'\nrepeats = 3\nseed = {seed}\nengine = 'sim'\nconclude = ['crossover']\n\
             axis = {{ name = 'size', values = ['1KiB', '3KiB', '30KiB', '100KiB'] }}\n\
             [[variant]]\nname = 'growing'\ntree = {{ files = 100, size = '$size' }}\n\
             [[variant]]\nname = 'fixed'\ntree = {{ files = 100, size = '10KiB' }}\n\
             [[phase]]\noperation = 'create'\nblock = '1KiB'\n\
             [sim]\nmetadata = '20us'\ntransfer = '50us'\nnoise = 'uniform'\n"
        ));
        let found = findings(&book, "crossover");
        let at = figures_of(&found[0])["at"].as_f64().unwrap() / 1024.0;
        assert!((9.0..11.0).contains(&at), "seed {seed}: {at} KiB, {:?}", found[0]);
        let expected = "create: growing is faster than fixed from 1 KiB to 3 KiB (";
        assert!(found[0].sentence().starts_with(expected), "{}", found[0].sentence());
    }
}

#[test]
fn a_run_that_compares_nothing_and_asks_nothing_is_answered_with_its_rate() {
    let text = library::job(
        "engine = 'sim'",
        "files = 200",
        &["operation = 'create'"],
        "metadata = '1us'",
    );
    let all = findings_of(&ran(&text));
    let [answer] = all.as_slice() else { panic!("{all:#?}") };
    assert_eq!(figures_of(answer)["kind"], "answer");
    assert!(answer.sentence().starts_with("Create 1,000,000 a second"), "{answer:?}");
}
