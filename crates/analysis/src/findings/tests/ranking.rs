//! Orders of variants in a phase.

use super::*;
use crate::Analysis;
use crate::variant_order::RankedVariants;
use boatload_run::cache::CacheState;

/// The rates of a variant in one phase, one for each repeat.
pub(super) type VariantRates<'a> = (&'a str, &'a [f64]);

/// Rates of variants at a level or none.
pub(super) fn at(level: Option<&Level>, rates: &[VariantRates<'_>]) -> Vec<Measurement> {
    let mut all = Vec::new();
    for (variant, rates) in rates {
        for (repeat, rate) in (1..).zip(*rates) {
            all.push(measured(variant, level.cloned(), repeat, 1_000.0 / rate));
        }
    }
    all
}

/// The orders of what was measured, the whole job first.
pub(super) fn orders(measurements: Vec<Measurement>) -> Vec<RankedVariants> {
    let mut book = book(measurements);
    book.run.conclude = vec![Conclusion::Ranking];
    Analysis::of(&book).ranked().to_vec()
}

#[track_caller]
fn only_order(measurements: Vec<Measurement>) -> RankedVariants {
    let mut all = orders(measurements);
    assert_eq!(all.len(), 1, "{all:?}");
    all.swap_remove(0)
}

pub(super) fn names(order: &RankedVariants) -> Vec<&str> {
    let others = order.others.iter().map(|one| one.name.as_str());
    std::iter::once(order.first.as_str()).chain(others).collect()
}

#[test]
fn the_fastest_comes_first_and_every_pair_is_compared() {
    let rates: [VariantRates<'_>; 3] =
        [("a", &[50.0, 51.0, 49.0]), ("b", &[100.0, 103.0, 98.0]), ("c", &[51.0, 50.0, 49.5])];
    let found = only_order(at(None, &rates));
    assert_eq!(names(&found), ["b", "c", "a"]);
    let sentence = found.sentence();
    assert!(
        sentence.starts_with("write: b is the fastest; c takes 2.00 times as long ("),
        "{sentence}"
    );
    assert!(sentence.contains("); a takes 2.01 times as long ("), "{sentence}");
    let pairs = effects(&book(at(None, &rates)), Conclusion::Ranking);
    let decisions: Vec<Decision> = pairs.iter().map(|one| one.stated.decision).collect();
    assert_eq!(decisions, [Decision::Longer, Decision::Within, Decision::Shorter], "{pairs:?}");
}

#[test]
fn where_rates_count_bytes_variants_are_ranked_by_them_however_many_an_operation_moves() {
    // Twice as many operations a second, each of an eighth of the bytes.
    let mut all = at(None, &[("a", &[100.0, 103.0, 98.0]), ("b", &[50.0, 51.0, 49.0])]);
    for m in &mut all {
        let size = if m.cell.variant == "a" { 1 << 20 } else { 8 << 20 };
        m.bytes = Some(m.operations * size);
    }
    let sentence = |all| only_order(all).sentence();
    assert_eq!(
        sentence(all.clone()),
        "write: b is the fastest; a takes 3.99 times as long (3.93 to 4.04)."
    );
    // Tables count operations where one of them moves little.
    for m in &mut all {
        m.bytes = m.bytes.map(|all| all / 2);
    }
    assert_eq!(
        sentence(all),
        "write: a is the fastest; b takes 2.01 times as long (1.98 to 2.03)."
    );
}

#[test]
fn what_reached_its_limit_in_one_repeat_is_not_judged_by_the_others() {
    let rates: [VariantRates<'_>; 3] =
        [("a", &[50.0, 51.0, 49.0]), ("b", &[100.0, 103.0, 98.0]), ("c", &[70.0, 10.0, 71.0])];
    let mut all = at(None, &rates);
    let slow = all.iter_mut().find(|m| m.cell.variant == "c" && m.cell.repeat == 2).unwrap();
    slow.invalid.push(at_limit());
    let found = only_order(all);
    assert_eq!(names(&found), ["b", "a"]);
    let sentence = found.sentence();
    assert!(sentence.ends_with(" Left out: c (reached its limit)."), "{sentence}");
}

#[test]
fn caches_that_were_not_alike_are_told_with_the_order() {
    let mut all = at(None, &[("a", &[50.0, 51.0]), ("b", &[10.0, 10.3])]);
    for m in &mut all {
        m.cache.found =
            if m.cell.variant == "a" { CacheState::Warm } else { CacheState::ColdVerified };
    }
    let sentence = only_order(all).sentence();
    let told = " Their caches differed: a warm; b cold-verified.";
    assert!(sentence.ends_with(told), "{sentence}");
}

#[test]
fn caches_that_differ_between_levels_and_not_between_variants_are_no_difference_of_variants() {
    let mut all = Vec::new();
    for (value, found) in [(10.0, CacheState::Warm), (20.0, CacheState::ColdVerified)] {
        let level = level("size", value, Unit::Count);
        let mut here = at(Some(&level), &[("a", &[50.0, 51.0]), ("b", &[10.0, 10.3])]);
        here.iter_mut().for_each(|m| m.cache.found = found);
        all.extend(here);
    }
    let sentences = |all: &[Measurement]| -> Vec<String> {
        orders(all.to_vec()).iter().map(RankedVariants::sentence).collect()
    };
    let found = sentences(&all);
    assert!(found.iter().all(|sentence| !sentence.contains("caches")), "{found:?}");
    // At the second level they do differ.
    let of_b = all.iter_mut().filter(|m| m.cell.variant == "b");
    of_b.for_each(|m| m.cache.found = CacheState::Warm);
    let found = sentences(&all);
    assert!(!found[0].contains("caches"), "{found:?}");
    let told = " Their caches differed: a cold-verified; b warm.";
    assert!(found[1].ends_with(told), "{found:?}");
}

#[test]
fn the_sentence_says_longer_within_the_margin_open_and_measured_once() {
    let sentence = |a: &[f64], b: &[f64]| only_order(at(None, &[("a", a), ("b", b)])).sentence();
    assert_eq!(
        sentence(&[50.0, 51.0, 49.0], &[100.0, 103.0, 98.0]),
        "write: b is the fastest; a takes 2.01 times as long (1.98 to 2.03)."
    );
    assert_eq!(
        sentence(&[50.0, 51.0, 49.0], &[50.5, 51.3, 49.3]),
        "write: b is the fastest; a takes as long within 10%: 1.01 times as long (0.997 to 1.017)."
    );
    let open = sentence(&[50.0, 55.0, 49.0], &[55.0, 51.0, 59.0]);
    assert!(open.starts_with("write: b has the least mean time; a may take 1."), "{open}");
    assert!(open.contains(" times as long (0."), "{open}");
    assert_eq!(
        sentence(&[50.0], &[100.0]),
        "write: b has the least mean time; a took 2.00 times as long, measured once."
    );
}

#[test]
fn many_that_were_measured_once_stand_in_an_order_that_claims_nothing() {
    let rates: [VariantRates<'_>; 3] = [("a", &[50.0]), ("b", &[100.0]), ("c", &[25.0])];
    assert_eq!(
        only_order(at(None, &rates)).sentence(),
        "write: b has the least mean time; a took 2.00 times as long, measured once; c took 4.00 times as long, \
         measured once."
    );
}

#[test]
fn a_variant_without_a_valid_measurement_of_a_phase_is_said_to_be_left_out_of_it() {
    let rates: [VariantRates<'_>; 3] =
        [("a", &[50.0, 51.0, 49.0]), ("b", &[100.0, 103.0, 98.0]), ("c", &[51.0, 50.0, 49.5])];
    let mut all = at(None, &rates);
    let of_c = all.iter_mut().filter(|m| m.cell.variant == "c");
    of_c.for_each(|m| m.invalid = vec![failing(Errno::ENOSPC, 3)]);
    let sentence = only_order(all).sentence();
    assert!(sentence.starts_with("write: b is the fastest; a takes 2."), "{sentence}");
    assert!(sentence.ends_with(" Left out: c (no valid measurement)."), "{sentence}");
}

#[test]
fn variants_are_compared_in_the_repeats_that_both_have() {
    let mut all = at(None, &[("a", &[50.0, 51.0, 1.0]), ("b", &[100.0, 103.0, 98.0])]);
    all.iter_mut()
        .filter(|m| m.seconds.is_some_and(|all| all > 500.0))
        .for_each(|m| m.invalid = vec![failing(Errno::EIO, 1)]);
    let found = only(&book(all), Conclusion::Ranking);
    assert_eq!(found.repeats, 2);
    assert!((found.ratio / 2.01 - 1.0).abs() < 0.01, "{found:?}");
}

#[test]
fn a_slow_repeat_is_no_noise_where_all_variants_have_it() {
    let rates: [VariantRates<'_>; 2] =
        [("a", &[50.0, 5.1, 490.0, 50.0]), ("b", &[100.0, 10.3, 985.0, 101.0])];
    let found = only(&book(at(None, &rates)), Conclusion::Ranking);
    let interval = found.headline.interval.unwrap();
    assert_eq!(found.headline.decision, Decision::Longer);
    assert!(interval.high < 1.05 * interval.low, "{found:?}");
}

/// Of many the fastest and the slowest are compared too, which differ most by chance.
#[test]
fn alike_variants_are_not_told_apart_in_nineteen_of_twenty() {
    const TWELVE: [&str; 12] = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"];
    for (variants, repeats, spread) in
        [(3, 3, 0.0), (3, 3, 0.02), (3, 3, 0.2), (12, 3, 0.02), (12, 15, 0.02)]
    {
        let names = &TWELVE[..variants];
        let wrong = how_often(400, |noise| {
            let mut rate = || 100.0 * (spread * noise.normal()).exp();
            let all: Vec<Vec<f64>> =
                names.iter().map(|_| (0..repeats).map(|_| rate()).collect()).collect();
            let all: Vec<_> = names.iter().copied().zip(all.iter().map(Vec::as_slice)).collect();
            claims_a_difference(&book(at(None, &all)), Conclusion::Ranking)
        });
        let case = format!("{variants} variants with {repeats} repeats and {spread}");
        assert!(wrong <= most_false(400), "{wrong} of 400 of {case}");
    }
}

#[test]
fn a_variant_that_takes_half_as_long_again_is_found() {
    let found = how_often(200, |noise| {
        let mut rates = |times: f64| [0; 3].map(|_| times * (0.03 * noise.normal()).exp());
        let (a, b, c) = (rates(100.0), rates(100.0), rates(100.0 / 1.5));
        let all: [VariantRates<'_>; 3] = [("a", &a), ("b", &b), ("c", &c)];
        let found = effects(&book(at(None, &all)), Conclusion::Ranking);
        let differs = |one: &&EffectFinding| one.headline.decision.is_difference();
        found.iter().filter(differs).count() == 2 && !differs(&&found[0])
    });
    assert!(found >= 180, "{found} of 200");
}

#[test]
fn a_phase_is_ranked_with_its_sync_also_where_its_windows_are_concluded_of() {
    let delayed = |variant: &str, ns: f64, sync_seconds: f64| {
        let mut all = growth::phase(100, 5, |_| ns, || 1.0).measurements;
        for m in &mut all {
            m.cell.variant = variant.into();
            m.seconds = Some(m.operations as f64 * ns / 1e9);
            m.sync_seconds = Some(sync_seconds);
        }
        all
    };
    // The latencies of `a` are a third; its sync takes longer than the rest.
    let all = [delayed("a", 10_000.0, 9.0), delayed("b", 30_000.0, 0.1)].concat();
    assert_eq!(names(&only_order(all)), ["b", "a"]);
}
