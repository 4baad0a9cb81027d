use super::*;

/// Rates of variants, one row for each repeat, at a level or none.
fn at(level: Option<&Level>, rates: &[(&str, &[f64])]) -> Vec<Measurement> {
    let mut all = Vec::new();
    for (variant, rates) in rates {
        for (repeat, rate) in (1..).zip(*rates) {
            all.push(measured(variant, level.cloned(), repeat, 1_000.0 / rate));
        }
    }
    all
}

const VARIANTS: [&str; 3] = ["a", "b", "c"];

#[test]
fn the_fastest_comes_first_and_those_alike_tie() {
    let rates: [(&str, &[f64]); 3] =
        [("a", &[50.0, 51.0, 49.0]), ("b", &[100.0, 103.0, 98.0]), ("c", &[51.0, 50.0, 49.5])];
    let found = only(&book(at(None, &rates)), Conclusion::Ranking, &VARIANTS);
    assert_eq!(found.figures["order"], serde_json::json!(["b", "c", "a"]));
    let steps = found.figures["steps"].as_array().unwrap();
    assert_eq!((&steps[0]["faster"], &steps[0]["tie"]), (&"b".into(), &false.into()));
    assert_eq!((&steps[1]["faster"], &steps[1]["tie"]), (&"c".into(), &true.into()));
    assert_eq!(
        found.sentence,
        "write: b is 2.00 times as fast as c (1.90 to 2.10); no difference seen between c and a \
         (1.00 times, 0.95 to 1.05)."
    );
}

#[test]
fn alike_variants_tie_in_nineteen_of_twenty() {
    for spread in [0.0, 0.02, 0.2] {
        let mut wrong = 0;
        for seed in 0..200 {
            let mut noise = Noise::new(seed);
            let mut rates = || [0; 3].map(|_| 100.0 * (spread * noise.normal()).exp());
            let (a, b, c) = (rates(), rates(), rates());
            let book = book(at(None, &[("a", &a), ("b", &b), ("c", &c)]));
            let found = only(&book, Conclusion::Ranking, &VARIANTS);
            let steps = found.figures["steps"].as_array().unwrap();
            wrong += u32::from(steps.iter().any(|step| step["tie"] == false));
        }
        assert!(wrong <= 10, "{wrong} of 200 with {spread}");
    }
}

#[test]
fn levels_with_the_same_order_are_one_finding() {
    let mut all = Vec::new();
    for (value, a) in [(10.0, 200.0), (20.0, 180.0), (30.0, 101.0), (40.0, 50.0), (50.0, 40.0)] {
        let level = level("size", value, Unit::Count);
        all.extend(at(Some(&level), &[("a", &[a, a * 1.02]), ("b", &[99.0, 103.0])]));
    }
    let found = conclude(&book(all), &[Conclusion::Ranking], &["a", "b"]);
    let levels: Vec<_> = found.iter().map(|f| f.figures["levels"].to_string()).collect();
    assert_eq!(levels, ["[10.0,20.0]", "[30.0]", "[40.0,50.0]"], "{found:?}");
}

/// Chunks of five sizes: `a` is 3.1 times faster for the smallest, both meet at 64 KiB.
fn chunks(mut noise: impl FnMut() -> f64) -> ResultBook {
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
fn variants_that_cross_meet_where_they_do() {
    let mut covered = 0;
    for seed in 0..20 {
        let mut noise = Noise::new(seed);
        let found =
            only(&chunks(|| (0.05 * noise.normal()).exp()), Conclusion::Crossover, &["a", "b"]);
        let at = number(&found, "at");
        assert!((30e3..140e3).contains(&at), "{found:?}");
        let [low, high] = interval(&found);
        covered += u32::from(low <= 65_536.0 && 65_536.0 <= high);
    }
    assert!(covered >= 19, "{covered} of 20");
}

#[test]
fn the_sentence_of_a_crossover_groups_neighbouring_levels() {
    let mut noise = Noise::new(2);
    let found = only(&chunks(|| (0.02 * noise.normal()).exp()), Conclusion::Crossover, &["a", "b"]);
    assert_eq!(
        found.sentence,
        "write: a is faster than b from 1 KiB to 10 KiB (1.70 to 3.14 times); b is faster than \
         a from 100 KiB to 4,000 KiB (1.15 to 3.09 times); they meet at about 68.7 KiB (52.3 KiB to \
         84.0 KiB)."
    );
}

#[test]
fn variants_that_never_cross_have_no_meeting_and_the_sync_is_told_apart() {
    let level = level("chunk-size", 1024.0, Unit::Bytes);
    let mut all = at(Some(&level), &[("a", &[300.0, 310.0]), ("b", &[100.0, 103.0])]);
    for m in &mut all {
        m.sync_seconds = if m.cell.variant == "a" { 100.0 } else { 1.0 };
    }
    let found = conclude(&book(all), &[Conclusion::Crossover], &["a", "b"]);
    let winners: Vec<_> = found
        .iter()
        .map(|f| {
            (
                f.figures["sync"].clone(),
                f.figures["levels"][0]["winner"].clone(),
                f.figures["at"].is_null(),
            )
        })
        .collect();
    assert_eq!(winners, [(false.into(), "a".into(), true), (true.into(), "b".into(), true)]);
}
