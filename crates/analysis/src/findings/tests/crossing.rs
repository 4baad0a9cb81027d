//! Two variants that are each the faster one at some levels.

use super::ranking::at;
use super::*;

/// Chunks of five sizes: `a` is 3.1 times faster for the smallest, both meet at 64 KiB.
fn chunks(mut noise: impl FnMut() -> f64) -> Book {
    let mut all = Vec::new();
    for kib in [1.0f64, 10.0, 100.0, 1000.0, 4000.0] {
        let level = level("chunk-size", kib * 1024.0, Unit::Bytes);
        let faster = (kib / 64.0).powf(-0.27);
        let mut rates = |times: f64| [0; 3].map(|_| times * noise());
        let (a, b) = (rates(1000.0 * faster), rates(1000.0));
        all.extend(at(Some(&level), &[("a", &a), ("b", &b)]));
    }
    book(all)
}

#[test]
fn each_level_has_the_winner_that_it_has_or_none() {
    let mut proven = 0;
    for seed in 0..40 {
        let mut noise = Noise::new(seed);
        let found = effects(&chunks(|| (0.05 * noise.normal()).exp()), Conclusion::Crossing);
        assert_eq!(found.len(), 5, "{found:?}");
        for one in &found {
            let is_small = one.to.level.as_ref().unwrap().value < 65_536.0;
            let wrong = if is_small { Decision::Longer } else { Decision::Shorter };
            assert_ne!(one.headline.decision, wrong, "seed {seed}: {one:?}");
            proven += u32::from(one.headline.decision.is_difference());
        }
    }
    assert!(proven >= 140, "{proven} of 200");
}

#[test]
fn the_sentence_of_a_level_names_it() {
    let mut noise = Noise::new(2);
    let found = effects(&chunks(|| (0.02 * noise.normal()).exp()), Conclusion::Crossing);
    let sentences: Vec<String> = found.iter().map(EffectFinding::sentence).collect();
    assert_eq!(
        sentences[0],
        "write in chunks of 1 KiB: a takes 0.32 times as long as b (0.31 to 0.33)."
    );
    let last = "write in chunks of 4,000 KiB: a takes 3.0";
    assert!(
        sentences[4].starts_with(last) && sentences[4].contains(" times as long as b ("),
        "{sentences:?}"
    );
}

#[test]
fn syncs_count() {
    let level = level("chunk-size", 1024.0, Unit::Bytes);
    let mut all = at(Some(&level), &[("a", &[300.0, 310.0, 305.0]), ("b", &[100.0, 103.0, 101.0])]);
    for m in &mut all {
        m.sync_seconds = Some(if m.cell.variant == "a" { 100.0 } else { 1.0 });
    }
    let found = only(&book(all), Conclusion::Crossing);
    assert_eq!(found.headline.decision, Decision::Longer, "the sync is in its time: {found:?}");
}
