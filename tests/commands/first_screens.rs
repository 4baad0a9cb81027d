//! What a user sees first of a run: the question, the answer, the table that shows it, all on one screen.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::command::{Bench, Ran};

const LINES: usize = 24;
const COLUMNS: usize = 80;

/// Commands stand in one line, however long, so that pasting one runs all of it.
fn is_command(line: &str) -> bool {
    line.starts_with("Next: ") || line.starts_with("More: ")
}

#[track_caller]
fn assert_is_a_screen(ran: &Ran, of: &str) {
    assert_fits(ran, of, COLUMNS);
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert!(lines.len() <= LINES, "{of} has {} lines:\n{}", lines.len(), ran.stdout);
    assert!(lines[0].ends_with('?'), "{of} does not begin with its question:\n{}", ran.stdout);
    let last = lines.last().copied().unwrap_or_default();
    assert!(last.contains("--details"), "{of} does not say how to see more:\n{}", ran.stdout);
    for word in ["cannot tell", "invalid", " any "] {
        assert!(!ran.stdout.contains(word), "{of} has a word for a figure:\n{}", ran.stdout);
    }
}

#[track_caller]
fn assert_fits(ran: &Ran, of: &str, columns: usize) {
    assert_eq!(ran.code, Some(0), "{of}: {}", ran.stderr);
    let lines = ran.stdout.lines().filter(|line| !is_command(line));
    let widest = lines.map(|line| line.chars().count()).max().unwrap_or_default();
    assert!(widest <= columns, "{of} has {widest} columns:\n{}", ran.stdout);
}

/// What makes the simulated place of `fullness` small enough to be filled many times.
const SMALL_PLACE: &str = "\n[sim]\ncapacity = '256MiB'\n";

#[test]
fn the_first_screen_of_every_scenario_at_quick_scale_fits_a_terminal() {
    for scenario in boatload::plan::SCENARIOS {
        let bench = Bench::default();
        let mut command = bench.command(["run", "--engine", "sim"]);
        if scenario.text.contains("duration = \"$time\"") {
            command.args(["--set", "time=100ms"]);
        }
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

/// `BOATLOAD_BLESS=1 cargo test --test commands -- first_screens` writes them anew.
#[test]
fn the_first_screen_of_every_kept_run_is_the_kept_one_and_the_rest_is_in_the_details() {
    for document in kept_documents() {
        let bench = Bench::default();
        let imported = bench.run([Path::new("import"), &document]);
        assert_eq!(imported.code, Some(0), "{}", imported.stderr);
        let name = document.display().to_string();
        let shown = bench.run(["show", "last"]);
        assert_is_a_screen(&shown, &name);
        let screen = document.with_extension("").with_extension("txt");
        if std::env::var_os("BOATLOAD_BLESS").is_some() {
            std::fs::write(&screen, &shown.stdout).unwrap();
        }
        let kept = std::fs::read_to_string(&screen).unwrap();
        // How to see more names the store, which is another here.
        let [shown, kept] = [&shown.stdout, &kept].map(|text| text.split("\nMore: ").next());
        assert_eq!(shown, kept, "{name}");
        let details = bench.run(["show", "last", "--details"]).stdout;
        for part in ["seed ", "measurement overhead", "host:"] {
            assert!(details.contains(part), "{name}: no {part} in\n{details}");
        }
    }
}

/// Words of a sentence that stand on a screen however narrow.
const BEGINNING: usize = 5;

#[test]
fn a_first_screen_is_fitted_to_its_terminal_and_breaks_no_word() {
    for document in kept_documents() {
        let bench = Bench::default();
        assert_eq!(bench.run([Path::new("import"), &document]).code, Some(0));
        let name = document.display().to_string();
        let shown =
            |columns: &str| Ran::of(bench.command(["show", "last"]).env("COLUMNS", columns));
        let whole = bench.run(["show", "last", "--json", "-"]).stdout;
        let whole: Value = serde_json::from_str(&whole).unwrap();
        let said = whole["findings"][0]["sentence"].as_str().unwrap().split_whitespace();
        let said: Vec<&str> = said.take(10).collect();
        for columns in [40, 60, 80, 120] {
            let ran = shown(&columns.to_string());
            assert_fits(&ran, &name, columns);
            if columns >= COLUMNS {
                assert!(ran.stdout.lines().count() <= LINES, "{name}:\n{}", ran.stdout);
            }
            let commands = ran.stdout.lines().filter(|line| is_command(line)).count();
            assert!((1..=2).contains(&commands), "{name}:\n{}", ran.stdout);
            let words: Vec<&str> = ran.stdout.split_whitespace().collect();
            // A clause of the sentence may be left out, never its beginning.
            let begun = &said[..BEGINNING];
            assert!(
                words.windows(begun.len()).any(|some| some == begun),
                "{name}:\n{}",
                ran.stdout
            );
        }
        assert_eq!(shown("10").stdout, shown("40").stdout, "{name}: narrower than 40");
        assert_eq!(shown("999").stdout, shown("120").stdout, "{name}: wider than 120");
        let piped = bench.run(["show", "last"]);
        assert_eq!(piped.stdout, shown("80").stdout, "{name}: in a pipe");
    }
}

#[expect(clippy::unwrap_used, reason = "a failed test panics")]
fn kept_documents() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/results");
    let kept = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    kept.filter(|path| path.extension().is_some_and(|end| end == "gz")).collect()
}
