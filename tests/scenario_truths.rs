//! The built-in scenarios on the simulated file system: what they conclude, held against the truth.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test says so when it cannot go on"
)]

#[path = "common/library.rs"]
mod library;

use boatload::analysis::finding::Finding;
use boatload::plan::{EngineName, Settings, find_scenario};
use boatload::results::book::Book;

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

/// The findings of a kind.
fn findings(book: &Book, kind: &str) -> Vec<Finding> {
    findings_of(book).into_iter().filter(|finding| figures_of(finding)["kind"] == kind).collect()
}

/// The verdict of the answer, which comes first.
fn verdict(all: &[Finding]) -> String {
    assert_eq!(figures_of(&all[0])["kind"], "answer", "{all:#?}");
    word(&all[0], "verdict")
}

/// A word of a finding's figures.
fn word(finding: &Finding, key: &str) -> String {
    figures_of(finding)[key].as_str().unwrap().to_string()
}

fn number(finding: &Finding, key: &str) -> f64 {
    figures_of(finding)[key].as_f64().unwrap()
}

/// Whether the interval has the truth.
fn covers(finding: &Finding, truth: f64) -> bool {
    let ends = &figures_of(finding)["interval"];
    (ends[0].as_f64().unwrap()..=ends[1].as_f64().unwrap()).contains(&truth)
}

/// The laws of `directory` by variant, at its highest level.
fn laws(book: &Book) -> Vec<(String, String)> {
    let growth = findings(book, "growth");
    growth.iter().map(|found| (word(found, "variant"), word(found, "law"))).collect()
}

/// The ranking of creates at the highest level.
fn last_creates(book: &Book) -> Finding {
    let all = findings(book, "ranking").into_iter();
    let mut creates = all.filter(|found| figures_of(found)["phase"] == "create");
    creates.next_back().unwrap_or_else(|| panic!("{:#?}", findings_of(book)))
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
        let ranking = last_creates(&book);
        assert_eq!(figures_of(&ranking)["order"][2], "single", "seed {seed}: {ranking:?}");
        let last = &figures_of(&ranking)["steps"][1];
        assert_eq!(last["tie"], false, "seed {seed}: {last}");
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
        for step in figures_of(&last_creates(&book))["steps"].as_array().unwrap() {
            assert_eq!(step["tie"], true, "seed {seed}: {step}");
        }
    }
}

/// A look-up takes 20 us and 1 us for each 1,000 files: 5% and 24% longer with 2,000 and 6,000 than with
/// 1,000 in one directory, and hardly in forty, where no phase takes 10% longer. Noise may hide that, but
/// nothing else is said.
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
        let found = findings(&book, "scaling");
        assert_eq!(found.len(), 3, "one for each layout");
        for scaling in found {
            let phases = figures_of(&scaling)["phases"].as_array().unwrap().clone();
            let single = word(&scaling, "variant") == "single";
            let none_is_slower = phases.iter().all(|phase| phase["slower_from"].is_null());
            assert!(single || none_is_slower, "{}", scaling.sentence());
            let stat = phases.iter().find(|phase| phase["phase"] == "stat-warm").unwrap();
            let found = [&stat["up_to"], &stat["slower_from"]].map(serde_json::Value::as_f64);
            let truth = if single { [Some(2e3), Some(6e3)] } else { [Some(6e3), None] };
            assert!(found[0] <= truth[0], "{}", scaling.sentence());
            assert!(found[1].is_none() || found[1] == truth[1], "{}", scaling.sentence());
            assert!(noise != "none" || found == truth, "{}", scaling.sentence());
        }
    }
}

/// `smallfiles` on three simulated file systems: two of which are alike, and one that takes half as
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
        let ranking = findings(&book, "ranking");
        assert_eq!(ranking.len(), 9, "seed {seed}: the job and eight phases");
        assert!(figures_of(&ranking[0])["phase"].is_null(), "seed {seed}: {:?}", ranking[0]);
        for found in &ranking {
            let (order, steps) = (&figures_of(found)["order"], &figures_of(found)["steps"]);
            assert_eq!(order[2], "slow", "seed {seed}: {found:?}");
            assert_eq!(steps[1]["tie"], false, "seed {seed}: {found:?}");
            wrong += u32::from(steps[0]["tie"] == false);
            let ratio = steps[1]["ratio"].as_f64().unwrap();
            assert!((ratio - 1.5).abs() < 0.05, "seed {seed}: {found:?}");
        }
    }
    assert!(wrong <= 9, "two that are alike were told apart in {wrong} of 180");
}

/// Content costs about as much again as a name: files with it are slower where it is written or read, and nowhere else.
#[test]
fn io500_says_where_mdtest_hard_is_slower_and_no_more() {
    let sim = "metadata = '20us'\ntransfer_per_kib = '5us'\nnoise = 'uniform'";
    let simulated = Simulated { scenario: "io500", sim, set: &[("files", "2000")] };
    let mut wrong = 0;
    for seed in 0..SEEDS {
        let ranking = findings(&simulated.ran(seed), "ranking");
        assert_eq!(ranking.len(), 5, "seed {seed}: the job and four phases");
        for found in &ranking {
            let step = &figures_of(found)["steps"][0];
            match figures_of(found)["phase"].as_str() {
                Some("stat" | "delete") => wrong += u32::from(step["tie"] == false),
                _ => {
                    assert_eq!(step["slower"], "mdtest-hard", "seed {seed}: {found:?}");
                    assert_eq!(step["tie"], false, "seed {seed}: {found:?}");
                }
            }
        }
    }
    assert!(wrong <= 3, "two phases that are alike were told apart in {wrong} of 40");
}

const FULLNESS: [(&str, &str); 6] = [
    ("levels", "30,40,50,60,65,70,75,80,85,90,94,98"),
    ("repeats", "4"),
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
fn has_many(knee: &Finding) -> bool {
    word(knee, "phase").ends_with("directories") || word(knee, "phase") == "find-and-remove"
}

#[test]
fn fullness_finds_the_knee_between_the_levels_where_it_is() {
    let sim = format!("{FULLNESS_SIM}\nknee = {{ at = '83%', factor = 1.5 }}");
    let simulated = Simulated { scenario: "fullness", sim: &sim, set: &FULLNESS };
    let (mut right, mut all) = (0, 0);
    for seed in 0..SEEDS_OF_LONG {
        let book = simulated.ran(seed);
        let knees = findings(&book, "knee");
        assert_eq!(knees.len(), 18, "six tasks of three variants");
        for knee in &knees {
            let at = figures_of(knee)["at"].as_f64();
            let found = at.is_some_and(|at| (80.0..=85.0).contains(&at)) && covers(knee, 83.0);
            assert!(found || !has_many(knee), "seed {seed}: {knee:?}");
            right += u64::from(found);
            all += 1;
        }
    }
    assert!(right * 100 >= all * 97, "{right} of {all} knees are where they are");
}

#[test]
fn fullness_finds_no_knee_where_there_is_none() {
    let simulated = Simulated { scenario: "fullness", sim: FULLNESS_SIM, set: &FULLNESS };
    let (mut silent, mut all, mut wrong) = (0, 0, 0);
    for seed in 0..SEEDS_OF_LONG {
        let book = simulated.ran(seed);
        let found = findings_of(&book);
        wrong += u64::from(["yes", "likely"].contains(&verdict(&found).as_str()));
        for knee in found.iter().filter(|one| figures_of(one)["kind"] == "knee") {
            assert_eq!(figures_of(knee)["enough_data"], true, "{knee:?}");
            let none = figures_of(knee)["at"].is_null();
            assert!(none || !has_many(knee), "seed {seed}: {knee:?}");
            silent += u64::from(none);
            all += 1;
        }
    }
    assert!(wrong <= 1, "{wrong} of {SEEDS_OF_LONG} answers say yes");
    assert!(silent * 100 >= all * 97, "{silent} of {all} find none");
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
    let sim = "metadata = '20us'\ntransfer = '1ms'\nnoise = 'uniform'\nclutter = '30%'";
    let simulated = Simulated { scenario: "clutter", sim, set: &CLUTTER };
    let mut covered = 0;
    for seed in 0..SEEDS {
        let book = simulated.ran(seed);
        let slopes = findings(&book, "slope");
        assert_eq!(slopes.len(), 2, "write and read");
        assert_eq!(verdict(&findings_of(&book)), "yes", "seed {seed}");
        for slope in &slopes {
            assert_eq!(number(slope, "per"), 1e6);
            assert_eq!(figures_of(slope)["effect"], true, "seed {seed}: {slope:?}");
            let change = number(slope, "change");
            assert!((-0.35..-0.25).contains(&change), "seed {seed}: {slope:?}");
            covered += u64::from(covers(slope, -0.3));
        }
    }
    assert!(covered >= 36, "{covered} of 40 intervals have the truth");
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
        let slopes = findings(&book, "slope");
        told += slopes.iter().filter(|slope| figures_of(slope)["effect"] == true).count();
        covered += slopes.iter().filter(|slope| covers(slope, 0.0)).count();
        for slope in slopes.iter().filter(|slope| figures_of(slope)["effect"] == false) {
            let said = ["changes by at most", "cannot tell whether files-present changes"];
            let sentence = slope.sentence();
            assert!(said.iter().any(|words| sentence.contains(words)), "{sentence}");
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

/// The only crossing of the first two layouts, and whether there is any difference to the third.
fn crossings<const LEVELS: usize>(book: &Book, winners: [&str; LEVELS]) -> (Finding, bool) {
    let all = findings(book, "crossover");
    let of = |variant: &str| {
        let is = |found: &&Finding| figures_of(found)["variants"][1] == variant;
        all.iter().find(is).unwrap_or_else(|| panic!("{variant}: {all:?}"))
    };
    let [blocks, reopened] = ["file-per-block", "file-per-block-reopened"].map(of);
    assert_eq!(figures_of(of("file-per-block-fsync"))["variants"][0], "file-per-chunk-fsync");
    assert_eq!(all.len(), 3, "two layouts against the first, and two with each chunk synced");
    let levels = figures_of(blocks)["levels"].as_array().unwrap().clone();
    let won: Vec<&str> = levels.iter().map(|level| level["winner"].as_str().unwrap()).collect();
    assert_eq!(won, winners, "{}", blocks.sentence());
    assert_eq!(
        figures_of(blocks)["meetings"].as_array().unwrap().len(),
        1,
        "{}",
        blocks.sentence()
    );
    let levels = figures_of(reopened)["levels"].as_array().unwrap().clone();
    (blocks.clone(), levels.iter().any(|level| !level["winner"].is_null()))
}

#[test]
fn chunks_finds_the_size_from_which_on_a_file_for_each_is_faster() {
    let set = [("chunks", "2048"), ("chunk_sizes", "4KiB,16KiB,32KiB,128KiB,256KiB")];
    let simulated = Simulated { scenario: "chunks", sim: CHUNKS_SIM, set: &set };
    let [block, chunk] = ["file-per-block", "file-per-chunk"];
    let (mut covered, mut differ) = (0, 0);
    for seed in 0..SEEDS_OF_LONG {
        let book = simulated.ran_as(&chunks_text(), seed);
        let (found, differs) = crossings(&book, [block, block, block, chunk, chunk]);
        let at = number(&found, "at") / 1024.0;
        assert!((58.0..70.0).contains(&at), "seed {seed}: {at} KiB");
        covered += u64::from(covers(&found, 65_536.0));
        differ += u64::from(differs);
    }
    assert!(covered >= 7, "{covered} of {SEEDS_OF_LONG} intervals have the truth");
    // Blocks whose file is opened for each chunk cost what files for each chunk do.
    assert!(differ <= 2, "{differ} of {SEEDS_OF_LONG} tell a difference where there is none");
}

#[test]
fn chunks_of_the_scenarios_own_sizes_tell_the_crossing_roughly() {
    let set = [("chunks", "2048")];
    let simulated = Simulated { scenario: "chunks", sim: CHUNKS_SIM, set: &set };
    let [block, chunk] = ["file-per-block", "file-per-chunk"];
    for seed in 0..3 {
        let book = simulated.ran_as(&chunks_text(), seed);
        let (found, _) = crossings(&book, [block, block, block, chunk]);
        assert!(covers(&found, 65_536.0), "seed {seed}: {}", found.sentence());
    }
}
