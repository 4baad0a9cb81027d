//! Runs held against each other: decisions against the truth of the simulated file system, and the
//! command as a user meets it.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed test panics"
)]

use crate::command;
use crate::library;

use boatload::analysis::Analysis;
use boatload::analysis::compare::Comparison;
use boatload::analysis::effects::decide::Decision;
use boatload::analysis::statistics::Interval;
use boatload::results::book::Book;

use command::Bench;
use library::ran;

/// A noisy job of two phases whose requests take these microseconds.
fn job(seed: u64, us: u64, repeats: u32) -> String {
    format!(
        "name = 'c'\nrepeats = {repeats}\nseed = {seed}\nengine = 'sim'\ntree = {{ files = 400 }}\n\
         sim = {{ metadata = '{us}us', noise = 'uniform' }}\n\
         phase = [{{ operation = 'create' }}, {{ operation = 'stat' }}]\n"
    )
}

fn book(seed: u64, us: u64) -> Book {
    ran(&job(seed, us, 3))
}

fn compare(a: &Book, b: &Book) -> Comparison {
    boatload::analysis::compare::compare(&Analysis::of(a), &Analysis::of(b))
}

fn claims(comparison: &Comparison) -> usize {
    comparison.with(Decision::Shorter).len() + comparison.with(Decision::Longer).len()
}

#[test]
fn a_against_a_claims_a_difference_hardly_more_often_than_by_chance() {
    let (mut rows, mut claimed) = (0, 0);
    for pair in 0..40 {
        let comparison = compare(&book(1_000 + pair, 20), &book(2_000 + pair, 20));
        assert_eq!(comparison.rows.len(), 3, "the job and two phases: {comparison:?}");
        rows += comparison.rows.len();
        claimed += claims(&comparison);
    }
    assert!(claimed * 40 <= rows, "{claimed} of {rows} rows differ though nothing does");
}

#[test]
fn a_run_that_is_slower_by_half_is_found_and_its_interval_has_the_truth() {
    let (mut slower, mut covered) = (0, 0);
    for pair in 0..10 {
        let comparison = compare(&book(3_000 + pair, 20), &book(4_000 + pair, 30));
        slower += comparison.with(Decision::Longer).len();
        let truth = 30.0 / 20.0;
        let covers = |interval: Interval| interval.contains(truth);
        covered +=
            comparison.rows.iter().filter(|row| row.effect.interval.is_some_and(covers)).count();
        assert!(comparison.with(Decision::Shorter).is_empty(), "{comparison:?}");
    }
    assert!(slower >= 27, "{slower} of 30 rows are slower");
    assert!(covered >= 27, "{covered} of 30 intervals have the truth");
}

/// Runs a job into the bench's store and gives the run's id.
fn stored(bench: &Bench, job: &str) -> String {
    let path = bench.write("job.toml", job);
    let document = bench.document([std::ffi::OsStr::new("run"), path.as_os_str()]);
    document["run"]["id"].as_str().unwrap().into()
}

#[test]
fn the_command_says_first_what_is_slower_and_ends_well() {
    let bench = Bench::default();
    let (a, b) = (stored(&bench, &job(1, 20, 3)), stored(&bench, &job(2, 40, 3)));
    let ran = bench.run(["compare", &a, &b]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "a slower run is no failure");
    let first = ran.stdout.lines().next().unwrap();
    assert!(first.starts_with("Slower: B takes 2.0"), "{first}");
    assert!(first.contains(" times as long ("), "{first}");
    assert!(ran.stdout.contains("Slower in all 2 phases"), "{}", ran.stdout);
    let back = bench.run(["compare", "last", &a, "--details"]);
    assert!(back.stdout.starts_with("Faster: B takes 0.5"), "{}", back.stdout);
    assert!(back.stdout.contains("stat p50"), "{}", back.stdout);
}

#[test]
fn the_document_holds_what_the_table_does() {
    let bench = Bench::default();
    let (a, b) = (stored(&bench, &job(1, 20, 3)), stored(&bench, &job(2, 20, 3)));
    let path = bench.beside("compared.json");
    let mut command = bench.command(["compare", &a, &b, "--json"]);
    let ran = command::Ran::of(command.arg(&path));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let text = std::fs::read_to_string(path).unwrap();
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(document["format"], "boatload-compare");
    assert_eq!(document["version"], 4);
    assert_eq!((&document["a"][0]["id"], &document["b"]["id"]), (&a.into(), &b.into()));
    let rows = document["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 3);
    assert_eq!(
        (&rows[0]["phase"], &rows[0]["metric"]),
        (&serde_json::Value::Null, &"seconds".into())
    );
    for row in rows {
        assert!(ran.stdout.contains(row["phase"].as_str().unwrap_or("whole job")));
        assert!(row["interval"].as_array().is_some_and(|interval| interval.len() == 2), "{row}");
    }
    let differences = document["differences"].as_array().unwrap();
    assert!(
        differences
            .iter()
            .any(|d| d["name"] == "seed" && d["values"] == serde_json::json!(["1", "2"]))
    );
    assert!(text.starts_with("{\"format\":\"boatload-compare\",\"version\":4,"), "{text}");
}

#[test]
fn published_figures_can_be_compared_and_a_run_with_itself_cannot() {
    let bench = Bench::default();
    let ran = bench.run([
        "compare",
        "reference:smallfiles-suse12-btrfs",
        "reference:smallfiles-debian8-ext3",
    ]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.starts_with("Not proven"), "{}", ran.stdout);
    assert!(ran.stdout.contains("was published without an error"), "{}", ran.stdout);
    let a = stored(&bench, &job(1, 20, 1));
    assert!(bench.run(["compare", &a, "last"]).refuses(2).contains("the same run"));
    assert!(bench.run(["compare", &a, "nonesuch"]).refuses(2).contains("no run"));
}

#[test]
fn other_runs_of_the_store_show_how_much_equal_runs_differ() {
    let bench = Bench::default();
    let path = bench.write("job.toml", job(1, 20, 3));
    let run = |seed: &str| {
        let words =
            [std::ffi::OsStr::new("run"), path.as_os_str(), "--seed".as_ref(), seed.as_ref()];
        let document = bench.document(words);
        document["run"]["id"].as_str().unwrap().to_string()
    };
    let ids = ["1", "2", "3", "4", "5", "6", "7", "8"].map(run);
    for seed in [7, 7, 7] {
        // The last one against the first has the runs like either.
        stored(&bench, &job(seed, 20, 2));
    }
    for (b, others) in [(ids[7].as_str(), 6), ("last", 9)] {
        let ran = bench.run(["compare", &ids[0], b]);
        let words = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        let stated = format!("How much equal runs differ is known from {others} other runs");
        assert!(ran.code == Some(0) && words.contains(&stated), "{words}");
    }
}

/// The ends of the interval of the whole job in a table, and the ratio before it.
fn whole_job(text: &str) -> [String; 4] {
    let line = text.lines().find(|line| line.starts_with("whole job")).unwrap();
    let words: Vec<&str> = line.split_whitespace().collect();
    let to = words.iter().position(|word| *word == "to").unwrap();
    [words[to - 2], words[to - 1], words[to + 1], "to"].map(String::from)
}

#[test]
fn a_pair_has_one_ratio_and_one_interval_wherever_it_is_shown() {
    let bench = Bench::default();
    let (a, b) = (stored(&bench, &job(1, 20, 3)), stored(&bench, &job(2, 27, 3)));
    let compared = bench.run(["compare", &a, &b]).stdout;
    let expected = whole_job(&compared);
    let [ratio, low, high, _] = &expected;
    let sentence = format!("{ratio} times as long ({low} to {high})");
    assert!(compared.replace('\n', " ").contains(&sentence), "{sentence}: {compared}");
    let checked = bench.run(["check", &b, "--baseline", &a]).stdout;
    assert_eq!(whole_job(&checked), expected, "{checked}");
    let beside = bench.run(["show", &a, &b]).stdout;
    assert_eq!(whole_job(&beside), expected, "{beside}");
}

#[test]
fn runs_without_a_common_phase_are_not_compared_and_it_is_said_what_each_has() {
    let bench = Bench::default();
    let a = stored(&bench, &job(1, 20, 3));
    let other = job(1, 20, 3)
        .replace("operation = 'create'", "name = 'make', operation = 'create'")
        .replace("operation = 'stat'", "name = 'ask', operation = 'stat'");
    let b = stored(&bench, &other);
    let ran = bench.run(["compare", &a, &b]);
    let said = ran.refuses(1);
    let expected = format!(
        "nothing to compare: {a} has create, stat; {b} has make, ask. `boatload runs` lists other runs"
    );
    assert!(said.contains(&expected), "{said}");
}

#[test]
fn two_jobs_of_one_name_differ_in_their_text() {
    let bench = Bench::default();
    let (a, b) = (stored(&bench, &job(1, 20, 3)), stored(&bench, &job(1, 30, 3)));
    let ran = bench.run(["compare", &a, &b, "--details"]);
    assert!(ran.stdout.contains("\njob text "), "{}", ran.stdout);
}
