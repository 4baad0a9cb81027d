//! The pages of `docs/answers` follow from the kept runs, and say nothing that these do not.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic, reason = "a failed test panics")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::command::{Bench, Ran, names_in};
use crate::common::{output, skip};

fn answers() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/answers")
}

fn is_page(name: &str) -> bool {
    name.ends_with(".md") || name.ends_with(".svg")
}

/// `BOATLOAD_BLESS=1 cargo test --test commands -- answers` writes them anew.
#[test]
fn the_pages_of_answers_are_what_the_script_makes_of_the_kept_runs() {
    if output("python3", &["-c", "import tomllib"]).is_none() {
        return skip("pages of docs/answers", "python3 has no tomllib, or is missing");
    }
    let bench = Bench::default();
    let made = bench.beside("answers");
    std::fs::create_dir(&made).unwrap();
    let mut script = Command::new(answers().join("make"));
    script.args(["--boatload", env!("CARGO_BIN_EXE_boatload")]).arg(&made);
    let ran = Ran::of(&mut script);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{}", ran.stdout);
    if std::env::var_os("BOATLOAD_BLESS").is_some() {
        for name in names_in(&made) {
            std::fs::copy(made.join(&name), answers().join(&name)).unwrap();
        }
    }
    let kept: Vec<String> = names_in(&answers()).into_iter().filter(|name| is_page(name)).collect();
    assert_eq!(kept, names_in(&made));
    for name in kept {
        let [kept, made] = [answers(), made.clone()]
            .map(|folder| std::fs::read_to_string(folder.join(&name)).unwrap());
        assert!(kept == made, "docs/answers/{name} differs; docs/answers/make writes it anew");
    }
}

#[test]
fn a_page_of_answers_fits_two_screens_and_says_what_cannot_be_concluded() {
    let index = std::fs::read_to_string(answers().join("README.md")).unwrap();
    let pages = names_in(&answers()).into_iter().filter(|name| name.ends_with(".md"));
    for name in pages.filter(|name| name != "README.md") {
        let page = std::fs::read_to_string(answers().join(&name)).unwrap();
        assert!(index.contains(&format!("({name})")), "{name} is not in the index");
        assert!(page.contains("\n## What cannot be concluded\n"), "{name}");
        assert!(page.contains("(../results/"), "{name} names no run");
        let lines = page.lines().count();
        assert!(lines <= if name == "then-and-now.md" { 80 } else { 66 }, "{name}: {lines} lines");
    }
}

#[test]
fn a_verdict_of_a_page_has_no_number_that_boatload_does_not_give_for_its_runs() {
    let mut known_of: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for name in names_in(&answers()).iter().filter(|name| name.ends_with(".md")) {
        let page = std::fs::read_to_string(answers().join(name)).unwrap();
        let verdict: Vec<&str> = page.lines().filter(|line| line.starts_with("**")).collect();
        if verdict.is_empty() {
            continue;
        }
        let documents =
            page.split("(../results/").skip(1).filter_map(|rest| rest.split(')').next());
        let documents = documents.filter(|name| name.ends_with(".json.gz"));
        let of_document = |document: &str| {
            let of = || sentences(document).iter().flat_map(|one| numbers(one)).collect();
            known_of.entry(document.into()).or_insert_with(of).clone()
        };
        let known: BTreeSet<String> = documents.flat_map(of_document).collect();
        let unknown: Vec<String> =
            numbers(&verdict.join(" ")).into_iter().filter(|one| !known.contains(one)).collect();
        assert_eq!(unknown, [""; 0], "{name}: {verdict:?}");
    }
}

/// What the findings of a kept run say, and each ratio as it is said from either side.
fn sentences(document: &str) -> Vec<String> {
    let path = answers().join("../results").join(document);
    let bench = Bench::default();
    assert_eq!(bench.run([Path::new("import"), &path]).code, Some(0), "{document}");
    let whole = bench.run(["show", "last", "--json", "-"]).stdout;
    let whole: Value = serde_json::from_str(&whole).unwrap();
    let findings = whole["findings"].as_array().unwrap();
    let said = findings.iter().filter_map(|one| one["sentence"].as_str()).map(String::from);
    let ends = |one: &Value| {
        let stated = [&one["interval"], &one["headline"]["interval"]];
        let ends = stated.into_iter().filter_map(Value::as_array).flatten();
        ends.filter_map(Value::as_f64).chain(one["ratio"].as_f64()).collect::<Vec<_>>()
    };
    let effects = findings.iter().filter(|one| one["kind"] == "effect");
    let ratios = effects.flat_map(ends).flat_map(|ratio| {
        // Ends of an interval have as many decimals as each other.
        let both = [ratio, 1.0 / ratio];
        both.into_iter().flat_map(|one| [times(one), format!("{one:.1}")])
    });
    said.chain(ratios).collect()
}

/// As sentences of findings have a ratio.
fn times(ratio: f64) -> String {
    match ratio {
        r if format!("{r:.2}") == "1.00" => format!("{r:.3}"),
        r if r < 9.995 => format!("{r:.2}"),
        r if r < 99.95 => format!("{r:.1}"),
        r => format!("{r:.0}"),
    }
}

/// The numbers of a text, without those inside names such as `hdd-7200`.
fn numbers(text: &str) -> Vec<String> {
    let words = text.split(|c: char| c.is_whitespace() || "()*".contains(c));
    let words = words.map(|word| word.trim_end_matches([',', '.', ':', ';']));
    words.filter(|word| word.starts_with(|c: char| c.is_ascii_digit())).map(String::from).collect()
}
