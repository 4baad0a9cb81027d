//! What boatload concludes from whole runs, held against the truth of the simulated file system.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test panics when it cannot continue"
)]

use crate::library;

use boatload::analysis::effect_finding::{Conclusion, EffectFinding};
use boatload::analysis::effects::decide::Decision;
use boatload::analysis::finding::Finding;
use boatload::results::book::Book;

use library::{figures_of, findings_of, ran};

/// What is asked of every seed.
const SEEDS: u64 = 20;

/// A job that compares how directories are filled: one, many one after the other, many in turn.
fn directories(seed: u64, files: u64, windows: u32, sim: &str) -> String {
    let variant = |name: &str, layout: &str| {
        format!("[[variant]]\nname = '{name}'\ntree = {{ files = {files}, {layout} }}\n")
    };
    format!(
        "name = 'd'\nrepeats = 3\nseed = {seed}\nengine = 'sim'\nconclude = ['growth', 'ranking']\n\
         {}{}{}[[phase]]\noperation = 'create'\nwindows = {windows}\n[sim]\n{sim}\n",
        variant("single", "directories = 1"),
        variant("multiple", "directories = 40, placement = 'fill'"),
        variant("striped", "directories = 40, placement = 'stripe'"),
    )
}

fn effects(book: &Book, reading: Conclusion) -> Vec<EffectFinding> {
    let effect = |finding| match finding {
        Finding::Effect(effect) if effect.reading == reading => Some(*effect),
        _ => None,
    };
    findings_of(book).into_iter().filter_map(effect).collect()
}

fn growth(book: &Book, variant: &str) -> EffectFinding {
    let all = effects(book, Conclusion::Growth);
    all.into_iter().find(|effect| effect.to.variant.as_deref() == Some(variant)).unwrap()
}

/// As documents have it; null where it is not known.
fn law(effect: &EffectFinding) -> serde_json::Value {
    serde_json::to_value(effect).unwrap()["law"].clone()
}

/// What is answered, which every run is.
fn answer(book: &Book) -> String {
    let all = findings_of(book);
    assert_eq!(figures_of(&all[0])["kind"], "answer");
    all[0].sentence()
}

/// Whether the interval has the truth and tells something.
fn covers(effect: &EffectFinding, truth: f64) -> bool {
    let ends = effect.stated.interval.unwrap();
    ends.low <= truth && truth <= ends.high && ends.high / ends.low < 1.3
}

/// The two variants of each effect of the only phase, and what is decided of them.
fn ranked(book: &Book) -> Vec<(String, String, Decision)> {
    let name = |variant: Option<String>| variant.unwrap();
    let all = effects(book, Conclusion::Ranking).into_iter();
    all.map(|one| (name(one.to.variant), name(one.from.variant), one.stated.decision)).collect()
}

/// Everything that must not fool it. Stalls are part of the mean: all tenths of the phase have as many.
const DISTURBANCES: [&str; 4] = [
    "",
    "noise = 'uniform'",
    "noise = 'bimodal'",
    "noise = 'uniform'\nstall = { every = 500, time = '3_200us' }",
];

/// Stalls that fall unevenly on the tenths of a phase.
const UNEVEN_STALLS: &str = "noise = 'uniform'\nstall = { every = 777, time = '5ms' }";

/// What the stalls add to the mean time of an operation, in microseconds.
fn stalled_us(disturbance: &str) -> f64 {
    if disturbance.contains("stall") { 3_200.0 / 500.0 } else { 0.0 }
}

#[test]
fn linear_directories_are_told_by_how_they_are_filled() {
    // One directory of 20,000 files costs 180 us more at its end than at its beginning; each of
    // forty 4.5 us, filled one after the other or in turn.
    let mut covered = [0; 3];
    for seed in 0..SEEDS {
        let disturbance = DISTURBANCES[seed as usize % 4];
        let windows = [40, 100, 200, 400][seed as usize / 5];
        let sim = format!(
            "metadata = '20us'\ndirectory = 'linear'\ndirectory_cost = '9us'\n{disturbance}"
        );
        let book = ran(&directories(seed, 20_000, windows, &sim));
        let growths = ["single", "multiple", "striped"].map(|variant| growth(&book, variant));
        assert_eq!(
            [0, 1, 2].map(|at| (law(&growths[at]), growths[at].stated.decision)),
            [
                ("linear".into(), Decision::Longer),
                ("constant".into(), Decision::Within),
                ("linear".into(), Decision::Longer)
            ],
            "seed {seed}: {:#?}",
            findings_of(&book)
        );
        // The middles of the second and of the last tenth, of thousands of files of a directory.
        let always = 20.0 + stalled_us(disturbance);
        let ratio = |files: f64| (always + 9.0 * files * 0.95) / (always + 9.0 * files * 0.15);
        for (at, truth) in [ratio(20.0), 1.0, ratio(0.5)].into_iter().enumerate() {
            covered[at] += u32::from(covers(&growths[at], truth));
        }
        let expected = [
            ("single", "multiple", Decision::Longer),
            ("single", "striped", Decision::Longer),
            ("multiple", "striped", Decision::Within),
        ];
        let expected = expected.map(|(to, from, decision)| (to.into(), from.into(), decision));
        assert_eq!(ranked(&book), expected, "seed {seed}");
    }
    assert!(covered.iter().all(|n| *n >= 18), "{covered:?} of 20 intervals have the truth");
}

#[test]
fn logarithmic_directories_are_told_from_linear_and_constant_ones() {
    let disturbances = [DISTURBANCES.as_slice(), &[UNEVEN_STALLS]].concat();
    for seed in 0..SEEDS {
        let disturbance = disturbances[seed as usize % 5];
        let sim = format!(
            "metadata = '10us'\ndirectory = 'logarithmic'\ndirectory_cost = '4us'\n{disturbance}"
        );
        let book = ran(&directories(seed, 40_000, 200, &sim));
        let single = &growth(&book, "single");
        assert_eq!(law(single), "logarithmic", "seed {seed}: {single:?}");
        assert_eq!(single.stated.decision, Decision::Longer, "seed {seed}: {single:?}");
        assert_eq!(law(&growth(&book, "multiple")), "constant", "seed {seed}");
    }
}

#[test]
fn directories_that_cost_the_same_are_constant_and_tie() {
    let mut covered = 0;
    for seed in 0..SEEDS {
        let sim = format!("metadata = '20us'\n{}", DISTURBANCES[seed as usize % 4]);
        let book = ran(&directories(seed, 20_000, [40, 400][seed as usize % 2], &sim));
        let growths = effects(&book, Conclusion::Growth);
        assert_eq!(growths.len(), 3);
        for one in &growths {
            assert_eq!(law(one), "constant", "seed {seed}: {one:?}");
            assert_eq!(one.stated.decision, Decision::Within, "seed {seed}: {one:?}");
            covered += u32::from(covers(one, 1.0));
        }
        let pairs = ranked(&book);
        let ties = pairs.iter().filter(|pair| pair.2 == Decision::Within).count();
        assert_eq!((ties, pairs.len()), (3, 3), "seed {seed}: {pairs:?}");
    }
    assert!(covered >= 54, "{covered} of 60 intervals have the truth");
}

#[test]
fn stalls_of_which_one_tenth_has_more_are_part_of_the_ratio_and_of_no_law() {
    // The second 2,000 files have three stalls, the last two.
    let truth = (20.0 + 2.0 * 5e3 / 2e3) / (20.0 + 3.0 * 5e3 / 2e3);
    for seed in 0..5 {
        let sim = format!("metadata = '20us'\n{UNEVEN_STALLS}");
        let book = ran(&directories(seed, 20_000, 40, &sim));
        for one in effects(&book, Conclusion::Growth) {
            assert!((one.ratio / truth - 1.0).abs() < 0.02, "seed {seed}: {one:?}");
            assert_ne!(one.stated.decision, Decision::Longer, "seed {seed}: {one:?}");
            assert!(law(&one).is_null() || law(&one) == "constant", "seed {seed}: {one:?}");
        }
        let sim = format!("{sim}\ndirectory = 'linear'\ndirectory_cost = '9us'");
        let single = &growth(&ran(&directories(seed, 20_000, 40, &sim)), "single");
        assert_eq!(law(single), "linear", "seed {seed}: {single:?}");
    }
}

/// Creates of files of 1,000 bytes on a device that takes 2.3 times as long from 60% on.
fn filling(seed: u64) -> Book {
    ran(&format!(
        "name = 'f'\nrepeats = 3\nseed = {seed}\nengine = 'sim'\nconclude = ['growth']\n\
         tree = {{ files = 20_000, size = 1_000 }}\n[[phase]]\noperation = 'create'\nwindows = 200\n\
         [sim]\nmetadata = '20us'\nnoise = 'uniform'\ncapacity = '20_200_000B'\n\
         knee = {{ at = '60%', factor = 2.3 }}\n"
    ))
}

#[test]
fn a_device_that_gets_slower_from_a_fill_on_takes_longer_by_no_law_and_is_stated_in_files() {
    let mut covered = 0;
    for seed in 0..5 {
        let book = filling(seed);
        let all = effects(&book, Conclusion::Growth);
        let [found] = all.as_slice() else { panic!("{all:#?}") };
        assert_eq!(found.stated.decision, Decision::Longer, "seed {seed}: {found:?}");
        assert_eq!(found.headline.decision, Decision::Longer, "seed {seed}: {found:?}");
        assert!(law(found).is_null(), "seed {seed}: {found:?}");
        assert!((2.2..2.4).contains(&found.ratio), "seed {seed}: {found:?}");
        covered += u32::from(covers(found, 2.3));
        let told = answer(&book);
        assert!(told.starts_with("create takes 2."), "seed {seed}: {told}");
        let compared = " times as long for the last 2,000 of 20,000 files as for the second 2,000";
        assert!(told.contains(compared), "seed {seed}: {told}");
    }
    assert!(covered >= 4, "{covered} of 5 intervals have the truth");
}

/// A file for each chunk pays for a name, a slow disk pays for each buffer of 1 MiB.
fn layouts(seed: u64) -> String {
    format!(
        "name = 'c'\nrepeats = 3\nseed = {seed}\nengine = 'sim'\nconclude = ['crossing', 'ranking']\n\
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
    let found = effects(&book, Conclusion::Ranking);
    assert_eq!(found.len(), 5, "each level once, though two conclusions are of it: {found:?}");
    for one in &found {
        let variants = [&one.to, &one.from].map(|cell| cell.variant.as_deref());
        assert_eq!(variants, [Some("one"), Some("two")], "{one:?}");
        assert_eq!(one.stated.decision, Decision::Longer, "{one:?}");
        assert_eq!(one.headline.decision, Decision::Longer, "{one:?}");
        assert!((1.9..2.1).contains(&one.ratio), "{one:?}");
    }
    let told = answer(&book);
    assert!(told.starts_with("At every level two is faster than one: 1.9"), "{told}");
}

#[test]
fn variants_meet_where_their_files_take_equally_long() {
    // A file takes 20 us for its name and 50 us for each KiB: all are 10 KiB, or as the level says.
    let (levels, mut covered) = ([1, 3, 9, 11, 30, 100], 0);
    for seed in 0..SEEDS {
        let book = ran(&format!(
            "name = 'c'\nrepeats = 3\nseed = {seed}\nengine = 'sim'\nconclude = ['crossing']\n\
             axis = {{ name = 'size', values = ['1KiB', '3KiB', '9KiB', '11KiB', '30KiB', '100KiB'] }}\n\
             [[variant]]\nname = 'growing'\ntree = {{ files = 400, size = '$size' }}\n\
             [[variant]]\nname = 'fixed'\ntree = {{ files = 400, size = '10KiB' }}\n\
             [[phase]]\noperation = 'create'\nblock = '1KiB'\n\
             [sim]\nmetadata = '20us'\ntransfer = '50us'\nnoise = 'uniform'\n"
        ));
        let found = effects(&book, Conclusion::Ranking);
        assert_eq!(found.len(), levels.len(), "{found:?}");
        for (one, kib) in found.iter().zip(levels) {
            let way = if kib < 10 { Decision::Shorter } else { Decision::Longer };
            assert_eq!(one.to.variant.as_deref(), Some("growing"));
            assert_eq!(one.to.level.as_ref().unwrap().value, f64::from(kib) * 1024.0);
            assert_eq!(one.headline.decision, way, "seed {seed}: {one:?}");
            let truth = (20.0 + 50.0 * f64::from(kib)) / (20.0 + 50.0 * 10.0);
            covered += u32::from(covers(one, truth));
        }
        let told = answer(&book);
        let expected = "Up to 9 KiB growing is faster than fixed";
        assert!(told.starts_with(expected), "seed {seed}: {told}");
        assert!(told.contains("; from 11 KiB on fixed is faster"), "seed {seed}: {told}");
    }
    assert!(covered >= 110, "{covered} of 120 intervals have the truth");
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
    assert!(answer.sentence().starts_with("create at 1,000,000 a second"), "{answer:?}");
}
