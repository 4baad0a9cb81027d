//! The effects of kept runs are those of the reference (`tests/effects`), to 1e-9.

use std::path::Path;

use serde_json::Value;

use crate::tests::kept_runs::kept_run;
use boatload_analysis::Analysis;
use boatload_analysis::effect_finding::{EffectFinding, StatedRatio};
use boatload_plan::Conclusion;

/// Of a figure, as a share of itself.
const TOLERANCE: f64 = 1e-9;

/// The name of each run that the reference has effects of, with these.
fn vectors() -> Vec<(String, Value)> {
    let folder =
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("tests/effects/vectors");
    let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let read = |path| serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let all: Vec<Value> = paths.map(read).collect();
    let of_run = |vector: Value| Some((vector["run"].as_str()?.to_string(), vector));
    all.into_iter().filter_map(of_run).collect()
}

/// All effects of a kept run, whatever its job concluded.
fn effects_of(run: &str) -> Vec<EffectFinding> {
    let mut book = kept_run(run).clone();
    book.run.conclude = vec![Conclusion::Growth, Conclusion::Levels, Conclusion::Ranking];
    Analysis::of(&book).effects().cloned().collect()
}

/// Whether the reference means this effect.
fn is_of(expected: &Value, found: &EffectFinding) -> bool {
    let phase = match (&found.phase, found.reading) {
        (Some(phase), _) => phase,
        (None, Conclusion::Levels) => "all phases",
        (None, _) => "whole job",
    };
    let is_between = |to: &str, from: &str| expected["what"] == to && expected["than"] == from;
    let value = |one: &boatload_results::book::Level| one.value;
    let level = found.to.level.as_ref().map(value);
    let to = found.to.variant.as_deref().unwrap_or("highest level");
    let same_sides = match (found.reading, &found.from.level) {
        (Conclusion::Ranking, _) => {
            is_between(to, found.from.variant.as_deref().unwrap_or_default())
        }
        (Conclusion::Growth, _) => is_between(to, "second tenth"),
        (Conclusion::Levels, None) => is_between(to, "lowest"),
        (Conclusion::Levels, Some(lowest)) => is_between(to, &format!("at {}", lowest.value)),
        (other, _) => panic!("{other}"),
    };
    expected["kind"] == found.reading.as_str()
        && expected["phase"] == phase
        && expected["level"].as_f64() == level
        && same_sides
}

fn is_near(found: Option<f64>, expected: &Value) -> bool {
    match (found, expected.as_f64()) {
        (Some(found), Some(expected)) => (found - expected).abs() <= TOLERANCE * expected.abs(),
        (found, expected) => found == expected,
    }
}

/// What differs from what the reference states.
fn differences(found: &EffectFinding, stated: &StatedRatio, expected: &Value) -> Vec<&'static str> {
    let decision = serde_json::to_value(stated.decision).unwrap();
    let checks = [
        ("ratio", is_near(Some(found.ratio), &expected["ratio"])),
        ("low", is_near(stated.interval.map(|one| one.low), &expected["low"])),
        ("high", is_near(stated.interval.map(|one| one.high), &expected["high"])),
        ("decision", decision == expected["decision"]),
        ("alpha", is_near(stated.level.map(|level| 1.0 - level), &expected["alpha"])),
        ("since", is_near(stated.since, &expected["since"])),
    ];
    checks.into_iter().filter(|(_, is_same)| !is_same).map(|(name, _)| name).collect()
}

#[test]
fn effects_of_kept_runs_are_those_of_the_reference() {
    let vectors = vectors();
    assert!(vectors.len() >= 9, "{} runs", vectors.len());
    let mut wrong = Vec::new();
    for (run, vector) in &vectors {
        let effects = effects_of(run);
        type Part = fn(&EffectFinding) -> &StatedRatio;
        let families: [(&str, Part); 2] =
            [("benjamini_hochberg", |one| &one.stated), ("holm", |one| &one.headline)];
        for (family, part) in families {
            for expected in vector[family].as_array().unwrap() {
                let found: Vec<_> = effects.iter().filter(|one| is_of(expected, one)).collect();
                let differ = match found.as_slice() {
                    [one] => differences(one, part(one), expected),
                    [] => vec!["not found"],
                    _ => vec!["found several times"],
                };
                if !differ.is_empty() {
                    wrong.push(format!("{run}, {family}: {differ:?}: {expected}\n    {found:?}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} differ\n{}", wrong.len(), wrong.join("\n"));
}
