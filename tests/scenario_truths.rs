//! The built-in scenarios on the simulated file system: what they conclude, held against the truth.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test panics when it cannot continue"
)]

#[path = "common/library.rs"]
mod library;

use boatload::analysis::finding::Finding;
use boatload::plan::{EngineName, Settings, find_scenario};
use boatload::results::book::Book;

use serde_json::Value;

use library::{figures_of, findings_of, ran_with};

/// What is asked of every seed.
const SEEDS: u64 = 20;

/// The same of scenarios that take seconds.
const SEEDS_OF_LONG: u64 = 8;

/// A scenario as it comes with boatload, on the simulated file system, with its truth and with
/// what `--set` would change.
struct Simulated<'a> {
    scenario: &'a str,
    sim: &'a str,
    set: &'a [(&'a str, &'a str)],
}

impl Simulated<'_> {
    fn ran(&self, seed: u64) -> Book {
        let text = find_scenario(self.scenario).unwrap().text;
        self.ran_as(text, seed)
    }

    /// The same with its text made another.
    fn ran_as(&self, text: &str, seed: u64) -> Book {
        let text = format!("{text}\n[sim]\n{}\n", self.sim);
        let set = self.set.iter().map(|(key, value)| (key.to_string(), value.to_string()));
        let book = ran_with(
            &text,
            &Settings {
                seed: Some(seed),
                repeats: Some(repeats(self.scenario)),
                engine: Some(EngineName::Sim),
                set: set.collect(),
                ..Settings::default()
            },
        );
        for m in &book.measurements {
            assert!(m.valid(), "seed {seed}: {:?} {}: {:?}", m.cell, m.phase, m.invalid);
        }
        book
    }
}

/// Repeats of a scenario here, whatever they decide: what is concluded is counted.
fn repeats(scenario: &str) -> u32 {
    match scenario {
        "device" => 2,
        "fullness" => 4,
        "io500" => 5,
        "smallfiles" => 10,
        "directory" => 12,
        "sequential" => 20,
        _ => 15,
    }
}

/// The effects of a reading.
fn effects(book: &Book, reading: &str) -> Vec<Value> {
    let all = findings_of(book).into_iter().map(|finding| figures_of(&finding));
    all.filter(|one| one["kind"] == "effect" && one["reading"] == reading).collect()
}

/// Those over an axis of single tasks, without the one of all together.
fn task_effects(book: &Book) -> Vec<Value> {
    effects(book, "levels").into_iter().filter(|one| !one["phase"].is_null()).collect()
}

/// The verdict of the answer, which comes first.
fn verdict(all: &[Finding]) -> String {
    assert_eq!(figures_of(&all[0])["kind"], "answer", "{all:#?}");
    word(&figures_of(&all[0]), "verdict")
}

/// A word of a finding's figures.
fn word(figures: &Value, key: &str) -> String {
    figures[key].as_str().unwrap().to_string()
}

fn number(figures: &Value, key: &str) -> f64 {
    figures[key].as_f64().unwrap()
}

/// Whether the interval has the truth.
fn covers(figures: &Value, truth: f64) -> bool {
    let ends = &figures["interval"];
    (ends[0].as_f64().unwrap()..=ends[1].as_f64().unwrap()).contains(&truth)
}

/// Whether it is proven that one takes longer than the other.
fn differs(figures: &Value) -> bool {
    ["longer", "shorter"].contains(&word(figures, "decision").as_str())
}

/// An effect at a level of its axis.
fn step(effect: &Value, level: f64) -> &Value {
    let steps = effect["steps"].as_array().unwrap();
    steps.iter().find(|step| number(step, "value") == level).unwrap()
}

/// What is decided of a variant in comparison with another, and how many times as long it takes.
fn against(effect: &Value, variant: &str) -> Option<(String, f64)> {
    let (decision, ratio) = (word(effect, "decision"), number(effect, "ratio"));
    if effect["to"]["variant"] == variant {
        return Some((decision, ratio));
    }
    let reversed = match decision.as_str() {
        "longer" => "shorter",
        "shorter" => "longer",
        same => same,
    };
    (effect["from"]["variant"] == variant).then(|| (reversed.to_string(), 1.0 / ratio))
}

/// The laws of `directory` by variant, at its highest level.
fn laws(book: &Book) -> Vec<(String, String)> {
    let growth = effects(book, "growth");
    growth.iter().map(|found| (word(&found["to"], "variant"), word(found, "law"))).collect()
}

/// The layouts of `directory` against each other, by how long they take to create all files.
fn creates(book: &Book) -> Vec<Value> {
    let mut all = effects(book, "ranking");
    all.retain(|one| one["phase"] == "create");
    assert_eq!(all.len(), 3, "each pair of three layouts: {all:#?}");
    all
}

/// Little simulated time for each phase that ends with its time.
const BRIEFLY: (&str, &str) = ("seconds", "0.01");

#[test]
fn directory_tells_linear_directories_by_how_they_are_filled() {
    let sim = "metadata = '20us'\nnoise = 'uniform'\ndirectory = 'linear'\ndirectory_cost = '22us'";
    let simulated = Simulated { scenario: "directory", sim, set: &[("files", "8k"), BRIEFLY] };
    for seed in 0..SEEDS {
        let book = simulated.ran(seed);
        let expected = [("single", "linear"), ("multiple", "constant"), ("striped", "linear")]
            .map(|(variant, law)| (variant.to_string(), law.to_string()));
        assert_eq!(laws(&book), expected, "seed {seed}: {:#?}", findings_of(&book));
        assert_eq!(verdict(&findings_of(&book)), "yes", "seed {seed}");
        let pairs = creates(&book);
        let single: Vec<_> = pairs.iter().filter_map(|pair| against(pair, "single")).collect();
        assert_eq!(single.len(), 2, "seed {seed}: {pairs:#?}");
        assert!(single.iter().all(|one| one.0 == "longer"), "seed {seed}: {single:?}");
    }
}

#[test]
fn directory_finds_no_growth_and_no_order_where_there_is_none() {
    let sim = "metadata = '20us'\ntransfer = '1ms'\nnoise = 'uniform'";
    let set = [("files", "8k"), BRIEFLY];
    let simulated = Simulated { scenario: "directory", sim, set: &set };
    for seed in 0..SEEDS {
        let book = simulated.ran(seed);
        let laws: Vec<_> = laws(&book).into_iter().map(|(_, law)| law).collect();
        assert_eq!(laws, ["constant"; 3], "seed {seed}: {:#?}", findings_of(&book));
        assert_eq!(verdict(&findings_of(&book)), "no", "seed {seed}");
        for pair in creates(&book) {
            assert_eq!(pair["decision"], "within 10%", "seed {seed}: {pair}");
        }
    }
}

/// A look-up takes 20 us and 1 us for each 1,000 files: 5% and 24% longer with 2,000 and 6,000 than with
/// 1,000 in one directory, and hardly in forty. Noise may hide from which of both on, but nothing else is said.
#[test]
fn directory_tells_up_to_how_many_files_it_is_fast() {
    let text = find_scenario("directory").unwrap().text;
    let text = text.replace("windows   = 400\n", "").replace("\"growth\", \"ranking\"", "");
    let set = [("files", "1k,2k,6k"), ("seconds", "0.02")];
    for (seed, noise) in [(0, "none"), (1, "uniform"), (2, "uniform"), (3, "uniform")] {
        let sim = format!(
            "metadata = '20us'\nnoise = '{noise}'\ndirectory = 'linear'\ndirectory_cost = '1us'"
        );
        let simulated = Simulated { scenario: "directory", sim: &sim, set: &set };
        let book = simulated.ran_as(&text, seed);
        let found = task_effects(&book);
        assert_eq!(found.len(), 24, "eight phases of each layout");
        for effect in found {
            let single = effect["to"]["variant"] == "single";
            assert!(single || effect["decision"] != "longer", "seed {seed}: {effect}");
            if effect["phase"] != "stat-warm" {
                continue;
            }
            let truths = if single { [22.0 / 21.0, 26.0 / 21.0] } else { [1.00125, 1.00624] };
            let steps = [2e3, 6e3].map(|files| step(&effect, files));
            for (step, truth) in steps.into_iter().zip(truths) {
                assert!(covers(step, truth), "seed {seed}: {truth} is not in {step}");
            }
            let decided = if single { "longer" } else { "within 10%" };
            assert_eq!(effect["decision"], decided, "seed {seed}: {effect}");
            let since = effect["since"].as_f64();
            let may_be = [2e3, 6e3].map(Some).contains(&since);
            assert!(if single { may_be } else { since.is_none() }, "seed {seed}: {effect}");
            if single && noise == "none" {
                assert_eq!(since, Some(2e3), "{effect}");
                let is_slow = steps.map(|step| step["interval"][0].as_f64().unwrap() > 1.1);
                let is_fast = steps.map(|step| step["interval"][1].as_f64().unwrap() < 1.1);
                assert_eq!((is_fast, is_slow), ([true, false], [false, true]), "{effect}");
            }
        }
    }
}

/// `smallfiles` on three simulated file systems: two are alike, and one takes half as
/// long again for each request.
#[test]
fn smallfiles_ranks_file_systems_over_the_whole_job_and_in_each_phase() {
    let variant = |name: &str, time: &str| {
        format!(
            "[[variant]]\nname = '{name}'\nsim = {{ metadata = '{time}', noise = 'uniform' }}\n"
        )
    };
    let text = find_scenario("smallfiles").unwrap().text;
    let three = [variant("slow", "30us"), variant("one", "20us"), variant("two", "20us")].concat();
    let set = [("files", "2000"), ("selected", "500")];
    let simulated = Simulated { scenario: "smallfiles", sim: "", set: &set };
    let mut wrong = 0;
    for seed in 0..SEEDS {
        let book = simulated.ran_as(&format!("{text}\n{three}"), seed);
        let ranking = effects(&book, "ranking");
        assert_eq!(ranking.len(), 27, "seed {seed}: three pairs of the job and of eight phases");
        let whole = ranking.iter().filter(|found| found["phase"].is_null()).count();
        assert_eq!(whole, 3, "seed {seed}: {ranking:#?}");
        for found in &ranking {
            let Some((decision, ratio)) = against(found, "slow") else {
                wrong += u32::from(differs(found));
                continue;
            };
            assert_eq!(decision, "longer", "seed {seed}: {found}");
            assert!((ratio - 1.5).abs() < 0.05, "seed {seed}: {found}");
        }
    }
    assert!(wrong <= 9, "two equal ones differed significantly in {wrong} of 180");
}

/// Content costs about as much again as a name: files with it are slower where it is written or read, and nowhere else.
#[test]
fn io500_says_where_mdtest_hard_is_slower_and_no_more() {
    let sim = "metadata = '20us'\ntransfer_per_kib = '5us'\nnoise = 'uniform'";
    let simulated = Simulated { scenario: "io500", sim, set: &[("files", "2000")] };
    let mut wrong = 0;
    for seed in 0..SEEDS {
        let ranking = effects(&simulated.ran(seed), "ranking");
        assert_eq!(ranking.len(), 5, "seed {seed}: the job and four phases");
        for found in &ranking {
            match found["phase"].as_str() {
                Some("stat" | "delete") => wrong += u32::from(differs(found)),
                _ => {
                    let hard = against(found, "mdtest-hard").unwrap();
                    assert_eq!(hard.0, "longer", "seed {seed}: {found}");
                }
            }
        }
    }
    assert!(wrong <= 3, "two equal phases differed significantly in {wrong} of 40");
}

const FULLNESS: [(&str, &str); 5] = [
    ("levels", "30,40,50,60,65,70,75,80,85,90,94,98"),
    ("directories", "200"),
    ("file_size", "8MiB"),
    ("size_max", "2MiB"),
    ("scan_files", "100"),
];

/// Every KiB takes the same, so that files of other sizes, which `scan` meets at other levels, are
/// no slower by the byte.
const FULLNESS_SIM: &str =
    "metadata = '20us'\ntransfer_per_kib = '1us'\nnoise = 'uniform'\ncapacity = '1GiB'";

/// Whether a task is done to many targets; of a single file the noise of a few writes remains.
fn has_many(effect: &Value) -> bool {
    let phase = word(effect, "phase");
    phase.ends_with("directories") || phase == "find-and-remove"
}

#[test]
fn fullness_finds_the_knee_between_the_levels_where_it_is() {
    let sim = format!("{FULLNESS_SIM}\nknee = {{ at = '83%', factor = 1.5 }}");
    let simulated = Simulated { scenario: "fullness", sim: &sim, set: &FULLNESS };
    let (mut right, mut early, mut covered, mut all) = (0, 0, 0, 0);
    for seed in 0..SEEDS_OF_LONG {
        let book = simulated.ran(seed);
        assert_eq!(verdict(&findings_of(&book)), "yes", "seed {seed}");
        let tasks = task_effects(&book);
        assert_eq!(tasks.len(), 18, "six tasks of three variants");
        for task in &tasks {
            let found = task["decision"] == "longer" && task["since"] == 85.0;
            assert!(found || !has_many(task), "seed {seed}: {task}");
            right += u64::from(found);
            early += u64::from(task["since"].as_f64().is_some_and(|since| since < 83.0));
            covered += u64::from(covers(task, 1.5));
            all += 1;
        }
    }
    // A few writes of a single file vary too much to tell each level.
    assert!(right * 100 >= all * 95, "{right} of {all} knees are where they are");
    assert!(
        early * 100 <= all * 5,
        "{early} of {all} knees are told below the level where they are"
    );
    assert!(covered * 100 >= all * 90, "{covered} of {all} intervals have the truth");
}

#[test]
fn fullness_finds_no_knee_where_there_is_none() {
    let simulated = Simulated { scenario: "fullness", sim: FULLNESS_SIM, set: &FULLNESS };
    let (mut silent, mut same, mut many, mut all, mut wrong) = (0, 0, 0, 0, 0);
    for seed in 0..SEEDS_OF_LONG {
        let book = simulated.ran(seed);
        wrong += u64::from(["yes", "likely"].contains(&verdict(&findings_of(&book)).as_str()));
        let tasks = task_effects(&book);
        assert_eq!(tasks.len(), 18, "six tasks of three variants");
        for task in &tasks {
            let none = !differs(task) && task["since"].is_null();
            if has_many(task) {
                assert!(none, "seed {seed}: {task}");
                same += u64::from(task["decision"] == "within 10%");
                many += 1;
            }
            silent += u64::from(none);
            all += 1;
        }
    }
    assert!(wrong <= 1, "{wrong} of {SEEDS_OF_LONG} answers say yes");
    assert!(silent * 100 >= all * 97, "{silent} of {all} find none");
    assert!(same * 100 >= many * 97, "{same} of {many} are proven to take as long");
}

const CLUTTER: [(&str, &str); 4] = [
    ("files_present", "0,1_000_000,2_000_000"),
    ("bytes", "64MiB"),
    ("block", "1MiB"),
    // Simulated files are counted, and not looked at.
    ("histories", "1"),
];

#[test]
fn clutter_tells_how_much_of_its_rate_a_million_files_take() {
    const SEEDS: u64 = 100;
    let sim = "metadata = '20us'\ntransfer = '1ms'\nnoise = 'uniform'\nclutter = '30%'";
    let simulated = Simulated { scenario: "clutter", sim, set: &CLUTTER };
    let mut covered = [0; 2];
    for seed in 0..SEEDS {
        let book = simulated.ran(seed);
        let tasks = task_effects(&book);
        assert_eq!(tasks.len(), 2, "write and read");
        assert_eq!(verdict(&findings_of(&book)), "yes", "seed {seed}");
        for task in &tasks {
            assert_eq!(task["decision"], "longer", "seed {seed}: {task}");
            assert_eq!(task["since"], 1e6, "seed {seed}: {task}");
            // Of its rate, 30% and 60% are gone.
            let rate = 1.0 / number(task, "ratio");
            assert!((0.35..0.45).contains(&rate), "seed {seed}: {task}");
            for (covered, (files, truth)) in
                covered.iter_mut().zip([(1e6, 1.0 / 0.7), (2e6, 1.0 / 0.4)])
            {
                *covered += u64::from(covers(step(task, files), truth));
            }
        }
    }
    assert!(covered.iter().all(|some| *some >= 180), "{covered:?} of 200 intervals have the truth");
}

/// What is there to be found falsely by chance is found in one case of a hundred: no more than one
/// in twenty, over a hundred seeds.
#[test]
fn clutter_finds_no_effect_where_there_is_none() {
    const SEEDS: u64 = 100;
    let sim = "metadata = '20us'\ntransfer = '1ms'\nnoise = 'uniform'";
    let few = [("files_present", "0,1_000,2_000"), ("bytes", "16MiB"), ("block", "1MiB")];
    let (mut told, mut covered, mut wrong) = (0, 0, 0);
    for seed in 0..SEEDS {
        let set: &[_] = if seed == 0 { &CLUTTER } else { &few };
        let book = Simulated { scenario: "clutter", sim, set }.ran(seed);
        let tasks = task_effects(&book);
        assert_eq!(tasks.len(), 2, "write and read");
        told += tasks.iter().filter(|task| differs(task)).count();
        covered += tasks.iter().filter(|task| covers(task, 1.0)).count();
        for task in tasks.iter().filter(|task| !differs(task)) {
            assert!(task["since"].is_null(), "seed {seed}: {task}");
        }
        wrong += u32::from(["yes", "likely"].contains(&verdict(&findings_of(&book)).as_str()));
    }
    assert!(wrong <= 10, "{wrong} of 100 answers say yes");
    assert!(told <= 10, "{told} of 200 tell an effect where there is none");
    assert!(covered >= 180, "{covered} of 200 intervals have the truth");
}

/// The text of `chunks` with a truth of its own for blocks: sixteen chunks share a name, and each
/// KiB costs twice as much. A name costs 64 us more for a chunk than its part of it for a block, so
/// both take equally long at 64 KiB. The truth has nothing to say of more directories: they are left
/// out.
fn chunks_text() -> String {
    let block = "name = \"file-per-block\"\n";
    let truth = "sim = { metadata = '68266ns', transfer_per_kib = '2us', noise = 'uniform' }\n";
    let text = find_scenario("chunks").unwrap().text;
    assert_eq!(text.matches(block).count(), 1);
    let (before, rest) = text.split_once("# One file to each directory").unwrap();
    let (_, after) = rest.split_once("# The file of a block").unwrap();
    let text = format!("{before}# The file of a block{after}");
    text.replace(block, &format!("{block}{truth}"))
}

const CHUNKS_SIM: &str = "metadata = '68266ns'\ntransfer_per_kib = '1us'\nnoise = 'uniform'";

/// Several workers would wait for the last of them, which takes longer the fewer files there are.
const ONE_WORKER: (&str, &str) = ("threads", "1");

/// The time of a chunk of `kib` KiB in a file of its own, over its time in one of sixteen.
fn chunk_over_block(kib: f64) -> f64 {
    (68.266 + kib) / (68.266 / 16.0 + 2.0 * kib)
}

/// The sentence of the answer, which comes first.
fn answer_sentence(book: &Book) -> String {
    word(&figures_of(&findings_of(book)[0]), "sentence")
}

/// The share of intervals that have the truth, and whether there is any difference to the third layout, once the first two
/// have won where they do.
fn crossings<const LEVELS: usize>(book: &Book, winners: [&str; LEVELS]) -> (usize, bool) {
    let all = effects(book, "ranking");
    let of = |variant: &str, other: &str| -> Vec<&Value> {
        let is_one = |one: &Value, name: &str| against(one, name).is_some();
        let own = all.iter().filter(|one| is_one(one, variant) && is_one(one, other));
        let own: Vec<&Value> = own.collect();
        assert_eq!(own.len(), LEVELS, "{variant} and {other} at each level: {all:#?}");
        own
    };
    let [block, chunk] = ["file-per-block", "file-per-chunk"];
    let pairs = of(block, chunk);
    let kib = |pair: &Value| number(&pair["to"]["level"], "value") / 1024.0;
    assert!(pairs.is_sorted_by_key(|pair| kib(pair)), "{pairs:#?}");
    let won = pairs.iter().map(|pair| match against(pair, chunk).unwrap().0.as_str() {
        "longer" => block,
        "shorter" => chunk,
        _ => "none",
    });
    assert_eq!(won.collect::<Vec<_>>(), winners, "{pairs:#?}");
    let covered = pairs.iter().filter(|pair| {
        assert_eq!(pair["to"]["variant"], chunk, "{pair}");
        let truth = chunk_over_block(kib(pair));
        covers(pair, truth)
    });
    let covered = covered.count();
    of("file-per-block-fsync", "file-per-chunk-fsync");
    // The answer tells a pair whose winner changes. A block that is opened for each chunk costs what a
    // file for each chunk does, so it may be the other one of the pair.
    let told = answer_sentence(book);
    let changes =
        |other: &&str| told.starts_with(&format!("Up to 32 KiB {block} is faster than {other}: "));
    assert!([chunk, "file-per-block-reopened"].iter().any(changes), "{told}");
    // Of these two layouts alone it tells where the winner changes.
    let mut two = book.clone();
    two.measurements.retain(|m| [block, chunk].contains(&m.cell.variant.as_str()));
    let told = answer_sentence(&two);
    let first = format!("Up to 32 KiB {block} is faster than {chunk}: ");
    let then = ["from 128 KiB on", "at 128 KiB"].map(|at| format!("; {at} {chunk} is faster: "));
    assert!(told.starts_with(&first), "{told}");
    assert!(then.iter().any(|then| told.contains(then)), "{told}");
    (covered, of("file-per-block-reopened", chunk).into_iter().any(differs))
}

#[test]
fn chunks_finds_the_size_from_which_on_a_file_for_each_is_faster() {
    let set = [ONE_WORKER, ("chunks", "2048"), ("chunk_sizes", "4KiB,16KiB,32KiB,128KiB,256KiB")];
    let simulated = Simulated { scenario: "chunks", sim: CHUNKS_SIM, set: &set };
    let [block, chunk] = ["file-per-block", "file-per-chunk"];
    let (mut covered, mut differ) = (0, 0);
    for seed in 0..SEEDS_OF_LONG {
        let book = simulated.ran_as(&chunks_text(), seed);
        let (right, differs) = crossings(&book, [block, block, block, chunk, chunk]);
        covered += right as u64;
        differ += u64::from(differs);
    }
    let all = 5 * SEEDS_OF_LONG;
    assert!(covered * 10 >= all * 9, "{covered} of {all} intervals have the truth");
    // Blocks whose file is opened for each chunk cost what files for each chunk do.
    assert!(differ <= 2, "{differ} of {SEEDS_OF_LONG} tell a difference where there is none");
}

#[test]
fn chunks_of_the_scenarios_own_sizes_tell_the_crossing_roughly() {
    let set = [ONE_WORKER, ("chunks", "2048")];
    let simulated = Simulated { scenario: "chunks", sim: CHUNKS_SIM, set: &set };
    let [block, chunk] = ["file-per-block", "file-per-chunk"];
    let mut covered = 0;
    for seed in 0..3 {
        let book = simulated.ran_as(&chunks_text(), seed);
        covered += crossings(&book, [block, block, block, chunk]).0;
    }
    assert!(covered >= 11, "{covered} of 12 intervals have the truth");
}
