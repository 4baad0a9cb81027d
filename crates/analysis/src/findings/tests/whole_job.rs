//! Orders of variants over the whole job.

use super::ranking::{VariantRates, at, names, orders};
use super::*;
use crate::variant_order::RankedVariants;

/// Phases of each variant that take so many seconds in all, one figure for each repeat, the sync of `create` in them.
fn job(seconds: &[VariantRates<'_>]) -> Vec<Measurement> {
    let mut all = Vec::new();
    for (variant, totals) in seconds {
        for (repeat, total) in (1..).zip(*totals) {
            for (phase, share, sync) in
                [("create", 0.5, 0.2), ("read", 0.2, 0.0), ("delete", 0.1, 0.0)]
            {
                let mut m = measured(variant, None, repeat, total * share);
                (m.phase, m.sync_seconds) = (phase.into(), Some(total * sync));
                all.push(m);
            }
        }
    }
    all
}

/// The order of the whole job, which stands before those of the phases.
#[track_caller]
fn of_the_job(measurements: Vec<Measurement>) -> RankedVariants {
    let mut all = orders(measurements);
    assert_eq!(all[0].phase, None, "{all:?}");
    assert!(all[1..].iter().all(|other| other.phase.is_some()), "{all:?}");
    all.swap_remove(0)
}

fn has_whole_job(measurements: Vec<Measurement>) -> bool {
    orders(measurements).iter().any(|order| order.phase.is_none())
}

fn fail(m: &mut Measurement) {
    m.invalid = vec![failing(Errno::ENOSPC, 3)];
}

const THREE: [VariantRates<'_>; 3] =
    [("a", &[20.0, 20.4, 19.6]), ("b", &[10.0, 10.3, 9.8]), ("c", &[20.2, 19.8, 20.4])];

#[test]
fn the_whole_job_is_ranked_by_the_time_of_all_phases_with_their_syncs() {
    let found = of_the_job(job(&THREE));
    assert_eq!(names(&found), ["b", "a", "c"]);
    assert_eq!(
        found.sentence(),
        "the whole job: b is the fastest; a takes 1.99 times as long (1.94 to 2.05); c takes 2.01 \
         times as long (1.88 to 2.14)."
    );
    // Faster in every phase, and slower with the sync.
    let mut slow = job(&[("a", &[10.0, 10.1]), ("b", &[11.0, 11.1])]);
    for m in slow.iter_mut().filter(|m| m.cell.variant == "a" && m.phase == "create") {
        m.sync_seconds = Some(30.0);
    }
    assert_eq!(names(&of_the_job(slow)), ["b", "a"]);
}

#[test]
fn repeats_with_more_passes_than_others_count_as_whole_jobs_with_their_means() {
    let rates: [VariantRates<'_>; 2] = [("a", &[20.0, 20.4, 19.6]), ("b", &[10.0, 10.3, 9.8])];
    let once = of_the_job(job(&rates));
    let mut more = job(&rates);
    let reads: Vec<Measurement> = more.iter().filter(|m| m.phase == "read").cloned().collect();
    for m in reads.into_iter().filter(|m| m.cell.variant == "a" || m.cell.repeat == 2) {
        more.extend([0.9, 1.1].into_iter().zip(2..).map(|(times, pass)| Measurement {
            pass,
            seconds: m.seconds.map(|all| all * times),
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
            m.operation = MeasuredOperation::find("create");
            (m.bytes, m.sync_seconds) = (Some(4_000), sync_seconds);
            m.device_write_bytes = device_write_bytes;
        }
        of_the_job(all).sentence().contains("not yet on the device")
    };
    assert!(with(Some(100), Some(0.0)));
    assert!(!with(Some(100), Some(1.0)), "it was synced");
    assert!(!with(Some(5_000), Some(0.0)), "all of it was written");
    assert!(!with(None, Some(0.0)), "nothing is known");
}

#[test]
fn the_whole_job_is_ranked_at_each_level() {
    let mut all = Vec::new();
    for (value, a) in [(10.0, 5.0), (20.0, 6.0), (30.0, 40.0)] {
        let mut here = job(&[("a", &[a, a * 1.01, a]), ("b", &[20.0, 20.3, 20.1])]);
        here.iter_mut().for_each(|m| m.cell.level = Some(level("size", value, Unit::Count)));
        all.extend(here);
    }
    let found = orders(all);
    let whole: Vec<_> = found.iter().filter(|order| order.phase.is_none()).collect();
    let heads = [
        "the whole job at size 10: a is ",
        "the whole job at size 20: a is ",
        "the whole job at size 30: b is ",
    ];
    assert_eq!(whole.len(), heads.len());
    for (order, head) in whole.iter().zip(heads) {
        assert!(order.sentence().starts_with(head), "{}", order.sentence());
    }
}

#[test]
fn a_job_of_one_phase_is_not_ranked_twice() {
    let rates: [VariantRates<'_>; 2] = [("a", &[50.0, 51.0]), ("b", &[100.0, 103.0])];
    let phases: Vec<_> = orders(at(None, &rates)).into_iter().map(|order| order.phase).collect();
    assert_eq!(phases, [Some("write".to_string())]);
}

#[test]
fn a_variant_with_no_whole_repeat_is_left_out_and_said_to_be() {
    let mut all = job(&THREE);
    all.iter_mut().filter(|m| m.cell.variant == "b" && m.phase == "read").for_each(fail);
    let found = of_the_job(all);
    assert_eq!(names(&found), ["a", "c"]);
    let sentence = found.sentence();
    assert!(sentence.ends_with(" Left out: b (read is invalid)."), "{sentence}");
    // A repeat with one invalid phase is not averaged in.
    let mut all = job(&[("a", &[20.0, 20.4, 19.6]), ("b", &[10.0, 10.3, 0.001])]);
    let last =
        |m: &&mut Measurement| m.cell == CellKey { variant: "b".into(), level: None, repeat: 3 };
    all.iter_mut().filter(last).take(1).for_each(fail);
    let ratio = of_the_job(all).others[0].stated.ratio;
    assert!((1.9..2.1).contains(&ratio), "{ratio}");
    // A phase that was never reached counts as well.
    let mut all = job(&THREE);
    all.retain(|m| m.cell.variant != "c" || m.phase != "delete");
    let sentence = of_the_job(all).sentence();
    assert!(sentence.ends_with("c (not all phases were measured)."), "{sentence}");
}

#[test]
fn a_whole_job_of_which_one_repeat_reached_its_limit_is_not_judged_by_the_others() {
    let mut all = job(&[("a", &[5.0, 5.1]), ("b", &[9.0, 9.1]), ("c", &[7.0, 99.0])]);
    let is_slow = |m: &&mut Measurement| m.cell.variant == "c" && m.cell.repeat == 2;
    all.iter_mut().find(is_slow).unwrap().invalid.push(at_limit());
    let sentence = of_the_job(all).sentence();
    assert!(sentence.ends_with(" Left out: c (create reached its limit)."), "{sentence}");
}

#[test]
fn variants_that_did_not_do_the_same_work_are_not_ranked_as_a_whole() {
    let mut all = job(&[("a", &[20.0, 20.4, 19.6]), ("b", &[10.0, 10.3, 9.8])]);
    assert!(has_whole_job(all.clone()));
    all[1].operations += 1;
    assert!(!has_whole_job(all));
}

#[test]
fn variants_that_move_unlike_amounts_in_each_operation_are_not_ranked_as_a_whole() {
    for (unlike, is_ranked) in [(1.0, true), (1.005, true), (8.0, false)] {
        let mut all = job(&[("a", &[20.0, 20.4, 19.6]), ("b", &[10.0, 10.3, 9.8])]);
        for m in &mut all {
            let times = if m.cell.variant == "b" { unlike } else { 1.0 };
            m.bytes = Some(((m.operations << 20) as f64 * times) as u64);
        }
        assert_eq!(has_whole_job(all), is_ranked, "{unlike}");
    }
}

#[test]
fn one_repeat_claims_no_order_however_steady_it_was() {
    let mut all = job(&[("a", &[20.0]), ("b", &[10.0])]);
    all.iter_mut().for_each(|m| m.rate_error = Some(0.001));
    let found = effects(&book(all), Conclusion::Ranking);
    assert_eq!(found.len(), 4, "the job and three phases");
    for one in found {
        assert_eq!((one.headline.decision, one.headline.interval), (Decision::Open, None));
        assert_eq!((one.stated.decision, one.stated.interval), (Decision::Open, None));
    }
}

#[test]
fn equal_jobs_are_not_told_apart_in_nineteen_of_twenty() {
    let wrong = how_often(400, |noise| {
        let mut totals = || [0; 3].map(|_| 10.0 * (0.1 * noise.normal()).exp());
        let (a, b, c) = (totals(), totals(), totals());
        let found = effects(&book(job(&[("a", &a), ("b", &b), ("c", &c)])), Conclusion::Ranking);
        let of_job = found.iter().filter(|one| one.phase.is_none());
        of_job.into_iter().any(|one| one.headline.decision.is_difference())
    });
    assert!(wrong <= most_false(400), "{wrong} of 400");
}

/// Each phase has noise of its own, so that the effects of the job and of each phase may be false: two families.
#[test]
fn alike_variants_are_told_apart_neither_in_the_job_nor_in_a_phase_in_nine_runs_of_ten() {
    let (mut of_job, mut of_phases) = (0, 0);
    let either = how_often(1_000, |noise| {
        let mut all = job(&[("a", &[10.0; 10]), ("b", &[10.0; 10])]);
        for m in &mut all {
            let times = (0.05 * noise.normal()).exp();
            m.seconds = m.seconds.map(|all| all * times);
        }
        let found = effects(&book(all), Conclusion::Ranking);
        assert_eq!(found.len(), 4, "the job and three phases");
        let differs = |one: &EffectFinding| one.headline.decision.is_difference();
        let (job, phases) = (differs(&found[0]), found[1..].iter().any(differs));
        (of_job, of_phases) = (of_job + usize::from(job), of_phases + usize::from(phases));
        job || phases
    });
    let most = most_false(1_000);
    assert!(of_job <= most && of_phases <= most, "{of_job} and {of_phases} of 1,000");
    assert!(either <= 100, "{either} of 1,000");
}
