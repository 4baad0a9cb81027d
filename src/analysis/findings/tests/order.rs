use super::*;
use crate::op::Durability;
use crate::results::book::REACHED_LIMIT;
use crate::run::cache::CacheState;

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
    assert_eq!(figures(&found)["order"], serde_json::json!(["b", "c", "a"]));
    let steps = figures(&found)["steps"].as_array().unwrap().clone();
    assert_eq!((&steps[0]["faster"], &steps[0]["tie"]), (&"b".into(), &false.into()));
    assert_eq!((&steps[1]["faster"], &steps[1]["tie"]), (&"c".into(), &true.into()));
    assert_eq!(
        found.sentence(),
        "write: b is the fastest; c takes 2.00 times as long (1.78 to 2.24); a takes 2.01 times as \
         long (1.92 to 2.10); a (1.00 times, 0.96 to 1.05) ties with c."
    );
}

#[test]
fn where_rates_count_bytes_variants_are_ranked_by_them_however_many_an_operation_moves() {
    // Twice as many operations a second, each of an eighth of the bytes.
    let mut all = at(None, &[("a", &[100.0, 103.0, 98.0]), ("b", &[50.0, 51.0, 49.0])]);
    for m in &mut all {
        let size = if m.cell.variant == "a" { 1 << 20 } else { 8 << 20 };
        m.bytes = m.operations * size;
    }
    let sentence = |all| only(&book(all), Conclusion::Ranking, &VARIANTS).sentence();
    assert_eq!(sentence(all.clone()), "write: b is 3.99 times as fast as a (3.78 to 4.20).");
    // Tables count operations where one of them moves little.
    for m in &mut all {
        m.bytes /= 2;
    }
    assert_eq!(sentence(all), "write: a is 2.01 times as fast as b (1.90 to 2.11).");
}

#[test]
fn what_reached_its_limit_in_one_repeat_is_not_judged_by_the_others() {
    let rates: [(&str, &[f64]); 3] =
        [("a", &[50.0, 51.0, 49.0]), ("b", &[100.0, 103.0, 98.0]), ("c", &[70.0, 10.0, 71.0])];
    let mut all = at(None, &rates);
    let slow = all.iter_mut().find(|m| m.cell.variant == "c" && m.cell.repeat == 2).unwrap();
    slow.invalid.push(format!("{REACHED_LIMIT} of 50 s after 500 operations"));
    assert_eq!(
        only(&book(all), Conclusion::Ranking, &VARIANTS).sentence(),
        "write: b is 2.01 times as fast as a (1.90 to 2.11). Left out: c (reached its limit)."
    );
    let mut all = job(&[("a", &[5.0, 5.1]), ("b", &[9.0, 9.1]), ("c", &[7.0, 99.0])]);
    let is_slow = |m: &&mut Measurement| m.cell.variant == "c" && m.cell.repeat == 2;
    all.iter_mut().find(is_slow).unwrap().invalid.push(format!("{REACHED_LIMIT} of 50 s"));
    let sentence = of_the_job(all).sentence();
    assert!(sentence.ends_with(" Left out: c (create reached its limit)."), "{sentence}");
}

#[test]
fn what_only_the_first_and_the_last_differ_in_is_told_and_wide_ties_are_not_called_alike() {
    let rates: [(&str, &[f64]); 3] =
        [("a", &[110.0, 118.8, 101.9]), ("b", &[108.0, 92.6, 100.0]), ("c", &[74.1, 80.0, 86.4])];
    let found = only(&book(at(None, &rates)), Conclusion::Ranking, &VARIANTS);
    let steps = figures(&found)["steps"].as_array().unwrap().clone();
    assert_eq!((&steps[1]["tie"], &steps[1]["behind_first"]["tie"]), (&true.into(), &false.into()));
    for part in
        ["a came first", "does not differ significantly from it", "c takes 1.38 times as long"]
    {
        assert!(found.sentence().contains(part), "no {part} in {}", found.sentence());
    }
    assert!(
        found.sentence().ends_with("does not differ significantly from b."),
        "{}",
        found.sentence()
    );
}

#[test]
fn caches_that_were_not_alike_are_told_with_the_order() {
    let mut all = at(None, &[("a", &[50.0, 51.0]), ("b", &[10.0, 10.3])]);
    for m in &mut all {
        m.cache.found =
            if m.cell.variant == "a" { CacheState::Warm } else { CacheState::ColdVerified };
    }
    let found = only(&book(all), Conclusion::Ranking, &VARIANTS);
    let told = " Their caches differed: a warm; b cold-verified.";
    assert!(found.sentence().ends_with(told), "{}", found.sentence());
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
    let sentence = only(&book(all.clone()), Conclusion::Ranking, &VARIANTS).sentence();
    assert!(sentence.starts_with("write on average from 10 to 20: a is 4.98 "), "{sentence}");
    assert!(!sentence.contains("caches"), "{sentence}");
    // At the second level they do differ.
    let of_b = all.iter_mut().filter(|m| m.cell.variant == "b");
    of_b.for_each(|m| m.cache.found = CacheState::Warm);
    let sentence = only(&book(all), Conclusion::Ranking, &VARIANTS).sentence();
    assert!(sentence.ends_with(" Their caches differed: a cold-verified; b warm."), "{sentence}");
}

#[test]
fn two_variants_have_a_sentence_of_their_own() {
    let sentence = |a: &[f64], b: &[f64]| {
        only(&book(at(None, &[("a", a), ("b", b)])), Conclusion::Ranking, &VARIANTS).sentence()
    };
    assert_eq!(
        sentence(&[50.0, 51.0, 49.0], &[100.0, 103.0, 98.0]),
        "write: b is 2.01 times as fast as a (1.90 to 2.11)."
    );
    assert_eq!(
        sentence(&[50.0, 51.0, 49.0], &[50.5, 51.5, 49.5]),
        "write: no significant difference between b and a (1.01 times, 0.97 to 1.06)."
    );
    assert_eq!(
        sentence(&[50.0], &[100.0]),
        "write: too few or too variable measurements to compare b and a (2.00 times)."
    );
}

#[test]
fn many_that_were_measured_once_stand_in_an_order_that_claims_nothing() {
    let rates: [(&str, &[f64]); 3] = [("a", &[50.0]), ("b", &[100.0]), ("c", &[25.0])];
    let found = only(&book(at(None, &rates)), Conclusion::Ranking, &VARIANTS);
    assert_eq!(
        found.sentence(),
        "write: too few or too variable measurements to compare; b came first, then a (2.00 times as long), c (4.00)."
    );
}

/// Phases of each variant that take so many seconds, one row for each repeat, the sync of `create`
/// in them.
fn job(seconds: &[(&str, &[f64])]) -> Vec<Measurement> {
    let mut all = Vec::new();
    for (variant, totals) in seconds {
        for (repeat, total) in (1..).zip(*totals) {
            for (phase, share, sync) in
                [("create", 0.5, 0.2), ("read", 0.2, 0.0), ("delete", 0.1, 0.0)]
            {
                let mut m = measured(variant, None, repeat, total * share);
                (m.phase, m.sync_seconds) = (phase.into(), total * sync);
                all.push(m);
            }
        }
    }
    all
}

/// The finding of the whole job, which stands before those of the phases.
#[track_caller]
fn of_the_job(measurements: Vec<Measurement>) -> Finding {
    let mut all = conclude(&book(measurements), &[Conclusion::Ranking], &VARIANTS);
    assert_eq!(figures(&all[0])["phase"], serde_json::Value::Null, "{all:?}");
    assert!(all[1..].iter().all(|other| !figures(other)["phase"].is_null()), "{all:?}");
    all.swap_remove(0)
}

#[test]
fn the_whole_job_is_ranked_by_the_time_of_all_phases_with_their_syncs() {
    let found = of_the_job(job(&[
        ("a", &[20.0, 20.4, 19.6]),
        ("b", &[10.0, 10.3, 9.8]),
        ("c", &[20.2, 19.8, 20.4]),
    ]));
    assert_eq!(figures(&found)["order"], serde_json::json!(["b", "a", "c"]));
    assert_eq!(
        found.sentence(),
        "over all phases: b is the fastest; a takes 1.99 times as long (1.83 to 2.17); c takes 2.01 \
         times as long (1.56 to 2.58); c (1.01 times, 0.81 to 1.25) does not differ significantly \
         from a."
    );
    // Faster in every phase, and slower with the sync.
    let mut slow = job(&[("a", &[10.0, 10.1]), ("b", &[11.0, 11.1])]);
    for m in slow.iter_mut().filter(|m| m.cell.variant == "a" && m.phase == "create") {
        m.sync_seconds = 30.0;
    }
    assert_eq!(figures(&of_the_job(slow))["order"], serde_json::json!(["b", "a"]));
}

#[test]
fn repeats_with_more_passes_than_others_count_as_whole_jobs_with_their_means() {
    let rates: [(&str, &[f64]); 2] = [("a", &[20.0, 20.4, 19.6]), ("b", &[10.0, 10.3, 9.8])];
    let once = of_the_job(job(&rates));
    let mut more = job(&rates);
    let reads: Vec<Measurement> = more.iter().filter(|m| m.phase == "read").cloned().collect();
    for m in reads.into_iter().filter(|m| m.cell.variant == "a" || m.cell.repeat == 2) {
        more.extend([0.9, 1.1].into_iter().zip(2..).map(|(times, pass)| Measurement {
            pass,
            seconds: m.seconds * times,
            ..m.clone()
        }));
    }
    assert_eq!(of_the_job(more).sentence(), once.sentence());
}

#[test]
fn a_whole_job_that_left_content_unwritten_says_so() {
    let with = |device_write_bytes, sync_seconds| {
        let mut all = job(&[("a", &[20.0, 20.4]), ("b", &[10.0, 10.3])]);
        for m in all.iter_mut().filter(|m| m.phase == "create") {
            m.operation = "create".into();
            (m.bytes, m.sync_seconds) = (4_000, sync_seconds);
            m.device_write_bytes = device_write_bytes;
        }
        of_the_job(all).sentence().contains("not yet on the device")
    };
    assert!(with(Some(100), 0.0));
    assert!(!with(Some(100), 1.0), "it was synced");
    assert!(!with(Some(5_000), 0.0), "all of it was written");
    assert!(!with(None, 0.0), "nothing is known");
}

#[test]
fn levels_at_which_whole_jobs_have_the_same_order_are_one_finding() {
    let mut all = Vec::new();
    for (value, a) in [(10.0, 5.0), (20.0, 6.0), (30.0, 40.0)] {
        let mut here = job(&[("a", &[a, a * 1.02]), ("b", &[20.0, 20.3])]);
        here.iter_mut().for_each(|m| m.cell.level = Some(level("size", value, Unit::Count)));
        all.extend(here);
    }
    let found = conclude(&book(all), &[Conclusion::Ranking], &VARIANTS);
    let whole: Vec<_> =
        found.iter().filter(|finding| figures(finding)["phase"].is_null()).collect();
    let levels: Vec<_> = whole.iter().map(|f| figures(f)["levels"].to_string()).collect();
    assert_eq!(levels, ["[10.0,20.0]", "[30.0]"], "{found:?}");
    let heads =
        ["over all phases on average from 10 to 20: a is ", "over all phases at 30: b is 2"];
    for (finding, head) in whole.iter().zip(heads) {
        assert!(finding.sentence().starts_with(head), "{finding:?}");
    }
}

#[test]
fn a_job_of_one_phase_is_not_ranked_twice() {
    let rates: [(&str, &[f64]); 2] = [("a", &[50.0, 51.0]), ("b", &[100.0, 103.0])];
    assert_eq!(
        figures(&only(&book(at(None, &rates)), Conclusion::Ranking, &VARIANTS))["phase"],
        "write"
    );
}

#[test]
fn a_variant_with_no_whole_repeat_is_left_out_and_said_to_be() {
    let fail = |m: &mut Measurement| m.invalid = vec!["ENOSPC x 3".into()];
    let three: [(&str, &[f64]); 3] =
        [("a", &[20.0, 20.4, 19.6]), ("b", &[10.0, 10.3, 9.8]), ("c", &[20.2, 19.8, 20.4])];
    let mut all = job(&three);
    all.iter_mut().filter(|m| m.cell.variant == "b" && m.phase == "read").for_each(fail);
    let found = of_the_job(all);
    assert_eq!(figures(&found)["order"], serde_json::json!(["a", "c"]));
    assert_eq!(figures(&found)["left_out"][0]["variant"], "b");
    assert!(found.sentence().ends_with(" Left out: b (read is invalid)."), "{}", found.sentence());
    // A repeat with one invalid phase is not averaged in.
    let mut all = job(&[("a", &[20.0, 20.4, 19.6]), ("b", &[10.0, 10.3, 0.001])]);
    let last =
        |m: &&mut Measurement| m.cell == CellKey { variant: "b".into(), level: None, repeat: 3 };
    all.iter_mut().filter(last).take(1).for_each(fail);
    let found = of_the_job(all);
    let ratio = figures(&found)["steps"][0]["ratio"].as_f64().unwrap();
    assert!((1.9..2.1).contains(&ratio), "{found:?}");
    // A phase that was never reached counts as well.
    let mut all = job(&three);
    all.retain(|m| m.cell.variant != "c" || m.phase != "delete");
    let found = of_the_job(all);
    assert!(
        found.sentence().ends_with("c (not all phases were measured)."),
        "{}",
        found.sentence()
    );
}

#[test]
fn a_variant_without_a_valid_measurement_of_a_phase_is_said_to_be_left_out_of_it() {
    let rates: [(&str, &[f64]); 3] =
        [("a", &[50.0, 51.0, 49.0]), ("b", &[100.0, 103.0, 98.0]), ("c", &[51.0, 50.0, 49.5])];
    let mut all = at(None, &rates);
    let of_c = all.iter_mut().filter(|m| m.cell.variant == "c");
    of_c.for_each(|m| m.invalid = vec!["ENOSPC x 3".into()]);
    let found = only(&book(all), Conclusion::Ranking, &VARIANTS);
    let sentence = found.sentence();
    assert!(sentence.starts_with("write: b is 2."), "{sentence}");
    assert!(sentence.ends_with(" Left out: c (no valid measurement)."), "{sentence}");
}

#[test]
fn variants_that_did_not_do_the_same_work_are_not_ranked_as_a_whole() {
    let mut all = job(&[("a", &[20.0, 20.4, 19.6]), ("b", &[10.0, 10.3, 9.8])]);
    all[1].operations += 1;
    let found = conclude(&book(all), &[Conclusion::Ranking], &VARIANTS);
    assert!(found.iter().all(|finding| !figures(finding)["phase"].is_null()), "{found:?}");
}

#[test]
fn variants_that_move_unlike_amounts_in_each_operation_are_not_ranked_as_a_whole() {
    let of_job = |found: &Finding| figures(found)["phase"].is_null();
    for (unlike, is_ranked) in [(1.0, true), (1.005, true), (8.0, false)] {
        let mut all = job(&[("a", &[20.0, 20.4, 19.6]), ("b", &[10.0, 10.3, 9.8])]);
        for m in &mut all {
            let times = if m.cell.variant == "b" { unlike } else { 1.0 };
            m.bytes = ((m.operations << 20) as f64 * times) as u64;
        }
        let found = conclude(&book(all), &[Conclusion::Ranking], &VARIANTS);
        assert_eq!(found.iter().any(of_job), is_ranked, "{unlike}: {found:?}");
    }
}

#[test]
fn one_repeat_claims_no_order_however_steady_it_was() {
    let mut all = job(&[("a", &[20.0]), ("b", &[10.0])]);
    all.iter_mut().for_each(|m| m.rate_error = Some(0.001));
    for finding in conclude(&book(all), &[Conclusion::Ranking], &VARIANTS) {
        assert_eq!(figures(&finding)["steps"][0]["interval"], serde_json::Value::Null);
        assert_eq!(figures(&finding)["steps"][0]["tie"], true);
    }
}

#[test]
fn equal_jobs_tie_in_nineteen_of_twenty() {
    let mut wrong = 0;
    for seed in 0..200 {
        let mut noise = Noise::new(seed);
        let mut totals = || [0; 3].map(|_| 10.0 * (0.1 * noise.normal()).exp());
        let (a, b, c) = (totals(), totals(), totals());
        let found = of_the_job(job(&[("a", &a), ("b", &b), ("c", &c)]));
        let steps = figures(&found)["steps"].as_array().unwrap().clone();
        wrong += u32::from(steps.iter().any(|step| step["tie"] == false));
    }
    assert!(wrong <= 10, "{wrong} of 200");
}

/// Each phase has noise of its own, so that the job's and each phase's ranking may be false.
#[test]
fn alike_variants_tie_in_the_job_and_in_all_phases_of_nineteen_runs_of_twenty() {
    let mut wrong = 0;
    for seed in 0..1_000 {
        let mut noise = Noise::new(seed);
        let mut all = job(&[("a", &[10.0; 10]), ("b", &[10.0; 10])]);
        for m in &mut all {
            m.seconds *= (0.05 * noise.normal()).exp();
        }
        let found = conclude(&book(all), &[Conclusion::Ranking], &VARIANTS);
        assert_eq!(found.len(), 4, "the job and three phases");
        let tells = |one: &Finding| figures(one)["steps"][0]["tie"] == false;
        wrong += u32::from(found.iter().any(tells));
    }
    // Fifty are expected; more than 66 come by chance once in a hundred times.
    assert!(wrong <= 66, "{wrong} of 1,000");
}

/// Of many the fastest and the slowest are compared, which differ most by chance.
#[test]
fn alike_variants_tie_in_nineteen_of_twenty() {
    const TWELVE: [&str; 12] = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"];
    for (variants, repeats, spread) in
        [(3, 3, 0.0), (3, 3, 0.02), (3, 3, 0.2), (12, 3, 0.02), (12, 15, 0.02)]
    {
        let names = &TWELVE[..variants];
        let mut wrong = 0;
        for seed in 0..400 {
            let mut noise = Noise::new(seed);
            let mut rate = || 100.0 * (spread * noise.normal()).exp();
            let all: Vec<Vec<f64>> =
                names.iter().map(|_| (0..repeats).map(|_| rate()).collect()).collect();
            let all: Vec<_> = names.iter().copied().zip(all.iter().map(Vec::as_slice)).collect();
            let found = only(&book(at(None, &all)), Conclusion::Ranking, names);
            let steps = figures(&found)["steps"].as_array().unwrap().clone();
            let differs = |step: &serde_json::Value| {
                step["tie"] == false || step["behind_first"]["tie"] == false
            };
            wrong += u32::from(steps.iter().any(differs));
        }
        assert!(
            wrong <= 20,
            "{wrong} of 400 of {variants} variants with {repeats} repeats and {spread}"
        );
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
    let levels: Vec<_> = found.iter().map(|f| figures(f)["levels"].to_string()).collect();
    assert_eq!(levels, ["[10.0,20.0]", "[30.0]", "[40.0,50.0]"], "{found:?}");
    let fastest: Vec<_> = found.iter().map(|f| figures(f)["fastest"].to_string()).collect();
    let only = |name: &str| format!(r#"{{"alike":["{name}"],"unclear":[]}}"#);
    let [of_a, both, of_b] = [only("a"), only(r#"a","b"#), only("b")];
    let expected = [format!("[{of_a},{of_a}]"), format!("[{both}]"), format!("[{of_b},{of_b}]")];
    assert_eq!(fastest, expected, "{found:?}");
}

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
        found.sentence(),
        "write: a is faster than b from 1 KiB to 10 KiB (1.70 to 3.14 times); b is faster than \
         a from 100 KiB to 4,000 KiB (1.15 to 3.09 times); they are equally fast at about 68.7 KiB (45.7 KiB to \
         90.9 KiB)."
    );
}

#[test]
fn where_a_crossover_tells_two_apart_the_ranking_does_not_call_them_alike() {
    const SIX: [&str; 6] = ["a", "b", "c", "d", "e", "f"];
    let kinds = [Conclusion::Crossover, Conclusion::Ranking];
    let mut turned = 0;
    for seed in 0..40 {
        let mut noise = Noise::new(seed);
        let mut rates = |times: f64| [0; 15].map(|_| times * (0.1 * noise.normal()).exp());
        let all: Vec<_> = (0..6).map(|at| rates(1_000.0 * 0.88f64.powi(at))).collect();
        let cells: Vec<_> = SIX.iter().zip(&all).map(|(name, rates)| (*name, &rates[..])).collect();
        let level = level("chunk-size", 1_024.0, Unit::Bytes);
        let found = conclude(&book(at(Some(&level), &cells)), &kinds, &SIX);
        let alone = conclude(&book(at(Some(&level), &cells)), &kinds[1..], &SIX);
        let fastest = |found: &[Finding]| {
            let ranking = found.iter().find_map(|one| match one {
                Finding::Ranking(ranking) => Some(ranking.fastest[0].clone()),
                _ => None,
            });
            ranking.unwrap()
        };
        let together = fastest(&found);
        turned += u32::from(together != fastest(&alone));
        let first = &together.alike[0];
        for one in &found {
            let Finding::Crossover(crossover) = one else { continue };
            let other = crossover.variants.iter().find(|name| *name != first);
            let Some(other) = other.filter(|_| crossover.variants.contains(first)) else {
                continue;
            };
            let is_tied = together.alike.contains(other) || together.unclear.contains(other);
            let is_told_apart = crossover.levels[0].winner.is_some();
            assert!(!is_tied || !is_told_apart, "{together:?}: {}", one.sentence());
        }
    }
    assert!(turned > 0, "the ranking alone never said otherwise");
}

#[test]
fn a_variant_meets_the_first_that_is_as_durable() {
    let level = level("chunk-size", 1024.0, Unit::Bytes);
    let rates = [30.0, 31.0, 32.0];
    let of = |durable: &[(&str, Durability)]| {
        let names: Vec<&str> = durable.iter().map(|(name, _)| *name).collect();
        let cells: Vec<_> = names.iter().map(|name| (*name, &rates[..])).collect();
        let mut all = at(Some(&level), &cells);
        for m in &mut all {
            let found = durable.iter().find(|(name, _)| *name == m.cell.variant);
            m.durability = found.map(|(_, durability)| *durability);
        }
        let found = conclude(&book(all), &[Conclusion::Crossover], &names);
        let pair = |found: &Finding| figures(found)["variants"].to_string();
        found.iter().map(pair).collect::<Vec<_>>()
    };
    use Durability::{Fsync, Syncfs};
    assert_eq!(
        of(&[("a", Syncfs), ("b", Syncfs), ("a-fsync", Fsync), ("b-fsync", Fsync)]),
        [r#"["a","b"]"#, r#"["a-fsync","b-fsync"]"#]
    );
    assert_eq!(of(&[("a", Syncfs), ("a-fsync", Fsync)]), [r#"["a","a-fsync"]"#]);
}

#[test]
fn variants_that_never_cross_have_no_meeting_and_syncs_count() {
    let level = level("chunk-size", 1024.0, Unit::Bytes);
    let mut all = at(Some(&level), &[("a", &[300.0, 310.0]), ("b", &[100.0, 103.0])]);
    for m in &mut all {
        m.sync_seconds = if m.cell.variant == "a" { 100.0 } else { 1.0 };
    }
    let found = conclude(&book(all), &[Conclusion::Crossover], &["a", "b"]);
    let [found] = &found[..] else { panic!("one for the pair: {found:?}") };
    assert_eq!(figures(found)["levels"][0]["winner"], "b", "the sync is in its time");
    assert!(figures(found)["at"].is_null());
}

#[test]
fn a_phase_is_ranked_with_its_sync_also_where_its_windows_are_concluded_of() {
    let delayed = |variant: &str, ns: f64, sync_seconds: f64| {
        let mut all = course::phase(100, 5, |_| ns, || 1.0).measurements;
        for m in &mut all {
            m.cell.variant = variant.into();
            (m.seconds, m.sync_seconds) = (m.operations as f64 * ns / 1e9, sync_seconds);
        }
        all
    };
    // The latencies of `a` are a third; its sync takes longer than the rest.
    let all = [delayed("a", 10_000.0, 9.0), delayed("b", 30_000.0, 0.1)].concat();
    let wanted = [Conclusion::Growth, Conclusion::Ranking];
    let found = conclude(&book(all), &wanted, &["a", "b"]);
    let ranking = found.iter().map(figures).find(|found| found["steps"].is_array()).unwrap();
    assert_eq!(ranking["order"], serde_json::json!(["b", "a"]), "{ranking}");
}
