//! What a user sees first of a run: the question, the answer, the table that shows it, all on one screen.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::command::{Bench, Ran};

const LINES: usize = 24;
const COLUMNS: usize = 80;

#[track_caller]
fn assert_is_a_screen(ran: &Ran, of: &str) {
    assert_eq!(ran.code, Some(0), "{of}: {}", ran.stderr);
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert!(lines.len() <= LINES, "{of} has {} lines:\n{}", lines.len(), ran.stdout);
    let widest = lines.iter().map(|line| line.chars().count()).max().unwrap_or_default();
    assert!(widest <= COLUMNS, "{of} has {widest} columns:\n{}", ran.stdout);
    assert!(lines[0].ends_with('?'), "{of} does not begin with its question:\n{}", ran.stdout);
    assert!(ran.stdout.contains("\n  Reliability: "), "{of} has no answer:\n{}", ran.stdout);
    let last = lines.last().copied().unwrap_or_default();
    assert!(last.contains("--details"), "{of} does not say how to see more:\n{}", ran.stdout);
}

/// What makes the simulated place of `fullness` small enough to be filled many times.
const SMALL_PLACE: &str = "\n[sim]\ncapacity = '256MiB'\n";

#[test]
fn the_first_screen_of_every_scenario_at_quick_scale_fits_a_terminal() {
    for scenario in boatload::plan::SCENARIOS {
        let bench = Bench::default();
        let mut command = bench.command(["run", "--engine", "sim"]);
        if scenario.name != "fullness" {
            command.arg(scenario.name);
        } else {
            command.arg(bench.write("job.toml", scenario.text.to_string() + SMALL_PLACE));
            command.args(["--set", "directories=200", "--set", "file_size=1MiB"]);
            command.args(["--set", "size_max=1MiB", "--set", "scan_files=50"]);
        }
        assert_is_a_screen(&Ran::of(&mut command), scenario.name);
    }
}

#[test]
fn ends_of_a_range_of_rates_stand_in_order_where_they_lie_near_each_other() {
    for name in ["a", "b", "c"] {
        let bench = Bench::default();
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/ranges");
        let document = folder.join(name).with_extension("json");
        assert_eq!(bench.run([Path::new("import"), &document]).code, Some(0));
        let shown = bench.run(["show", "last"]).stdout;
        let words: Vec<&str> = shown.split_whitespace().filter(|w| !w.starts_with('(')).collect();
        let number = |word: &str| word.replace(',', "").parse::<f64>().ok();
        let ranges = words.windows(4).filter_map(|four| match four {
            ["at", low, "to", high] => Some([number(low)?, number(high)?]),
            _ => None,
        });
        let ranges: Vec<[f64; 2]> = ranges.collect();
        assert!(ranges.len() >= 3, "{name}: {shown}");
        assert!(ranges.iter().all(|[low, high]| low < high), "{name}: {ranges:?} in {shown}");
    }
}

#[test]
fn the_first_screen_of_every_kept_run_is_the_kept_one_and_the_rest_is_in_the_details() {
    for document in kept_documents() {
        let bench = Bench::default();
        let imported = bench.run([Path::new("import"), &document]);
        assert_eq!(imported.code, Some(0), "{}", imported.stderr);
        let name = document.display().to_string();
        let shown = bench.run(["show", "last"]);
        assert_is_a_screen(&shown, &name);
        let kept = std::fs::read_to_string(document.with_extension("txt")).unwrap();
        // How to see more names the store, which is another here.
        let [shown, kept] = [&shown.stdout, &kept].map(|text| text.split("\nMore: ").next());
        assert_eq!(shown, kept, "{name}");
        let details = bench.run(["show", "last", "--details"]).stdout;
        for part in ["seed ", "measurement overhead", "host:"] {
            assert!(details.contains(part), "{name}: no {part} in\n{details}");
        }
    }
}

#[test]
fn the_answer_of_a_kept_document_stands_on_its_kept_screen() {
    for path in kept_documents() {
        let document: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        let answer = &document["findings"][0];
        assert_eq!(answer["kind"], "answer", "{}", path.display());
        let sentence = answer["sentence"].as_str().unwrap();
        let screen = std::fs::read_to_string(path.with_extension("txt")).unwrap();
        let words: Vec<&str> = screen.split_whitespace().collect();
        assert!(words.join(" ").contains(sentence), "{}: {sentence}\n{screen}", path.display());
    }
}

#[expect(clippy::unwrap_used, reason = "a test says so when it cannot go on")]
fn kept_documents() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/results");
    let kept = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    kept.filter(|path| path.extension().is_some_and(|end| end == "json")).collect()
}
