//! Answers about the order of variants.

use super::super::ranking::ranking;
use super::*;
use crate::analysis::ranked::RankedVariants;

/// Repeats of a phase of each variant that take so many seconds, at a level or without, each with so many percent of noise.
fn taking(times: &[(&str, f64)], phase: &str, at: Option<f64>, percent: u32) -> Vec<Measurement> {
    let mut all = Vec::new();
    for repeat in 1..=6 {
        for (nth, (variant, seconds)) in times.iter().enumerate() {
            let unit = Unit::Percent;
            let level = at.map(|value| Level { axis: "space-used".into(), value, unit });
            let number = (phase.len() * 1_000 + nth * 10) as u64 + at.unwrap_or(0.0) as u64 * 100;
            let seconds = seconds * Noise::Spread(percent).of(11, repeat, number);
            all.push(measured(variant, phase, level, repeat, seconds));
        }
    }
    all
}

fn ranked_book(measurements: Vec<Measurement>) -> Book {
    book(Conclusion::Ranking, "Which is best?", measurements)
}

/// The text of what these orders of a run say.
fn text_of(book: &Book, is_wanted: impl Fn(&RankedVariants) -> bool) -> String {
    let analysis = Analysis::of(book);
    let some: Vec<RankedVariants> =
        analysis.ranked().iter().filter(|one| is_wanted(one)).cloned().collect();
    ranking(&some).unwrap().text
}

#[test]
fn one_that_may_be_as_fast_as_the_first_is_not_said_to_be_slower() {
    let mut all = taking(&[("ext4", 1.0), ("xfs", 1.3), ("btrfs", 1.5)], "write", None, 1);
    let wild = all.iter_mut().filter(|m| m.cell.variant == "btrfs");
    wild.for_each(|m| {
        let times = if m.cell.repeat % 2 == 0 { 1.9 } else { 0.6 };
        m.seconds = m.seconds.map(|all| all * times);
    });
    let found = answer(&ranked_book(all));
    assert_eq!(found.verdict, Verdict::Yes);
    assert!(found.text.starts_with("In write ext4 came first: xfs takes 1.3"), "{found:?}");
    assert!(found.text.contains("; btrfs may take 0."), "{found:?}");
}

#[test]
fn the_fastest_is_told_with_how_much_longer_each_other_takes() {
    let all = taking(&[("ext4", 1.0), ("xfs", 1.3), ("btrfs", 1.5)], "write", None, 1);
    let found = answer(&ranked_book(all));
    assert!(found.text.starts_with("In write ext4 is the fastest: xfs takes 1.3"), "{found:?}");
    assert!(found.text.contains("), btrfs 1.5"), "{found:?}");
}

#[test]
fn those_that_take_as_long_as_the_first_share_its_place() {
    let all = taking(&[("a", 1.0), ("b", 1.001), ("c", 1.5)], "write", None, 1);
    let found = answer(&ranked_book(all));
    assert!(found.text.contains("are the fastest: c takes 1."), "{found:?}");
    assert!(found.evidence[0].ends_with(" within 10%."), "{found:?}");
    let all = taking(&[("a", 1.0), ("b", 1.001)], "write", None, 1);
    let found = answer(&ranked_book(all));
    assert_eq!(found.verdict, Verdict::No);
    assert!(found.text.ends_with(" take as long, within 10%."), "{found:?}");
}

#[test]
fn what_was_measured_once_claims_no_order() {
    let mut all = taking(&[("a", 1.0), ("b", 2.0)], "write", None, 1);
    all.retain(|m| m.cell.repeat == 1);
    let found = answer(&ranked_book(all));
    assert_eq!(found.verdict, Verdict::CannotTell);
    assert!(
        found
            .text
            .contains("too few repeats to compare; in this run in write a came first; b took "),
        "{found:?}"
    );
    assert!(found.next.unwrap().contains(" --repeats "));
}

#[test]
fn an_order_that_holds_at_every_level_is_told_once() {
    let at = |used: f64, of_b: f64| taking(&[("a", 1.0), ("b", of_b)], "write", Some(used), 1);
    let all = [at(30.0, 1.5), at(60.0, 1.6), at(90.0, 1.4)].concat();
    let found = answer(&ranked_book(all));
    assert_eq!(found.text, "In write at every level a is the fastest.");
    let all = [at(30.0, 1.5), at(60.0, 1.6), at(90.0, 0.6)].concat();
    let found = answer(&ranked_book(all));
    let expected = "In write from 30% to 60% full a is the fastest; at 90% full b is the fastest.";
    assert_eq!(found.text, expected);
}

#[test]
fn a_variant_is_the_fastest_in_a_phase_only_where_it_is_at_every_level() {
    let at = |phase: &str, used: f64, of_xfs: f64| {
        taking(&[("ext4", 1.0), ("xfs", of_xfs)], phase, Some(used), 1)
    };
    let mut all = [
        at("read", 30.0, 1.5),
        at("read", 90.0, 0.6),
        at("create", 30.0, 1.5),
        at("create", 90.0, 1.0),
    ]
    .concat();
    let of_phases = |all: &[Measurement]| {
        text_of(&ranked_book(all.to_vec()), |one: &RankedVariants| one.phase.is_some())
    };
    let text = of_phases(&all);
    assert!(text.starts_with("in read at 30% full, ext4 is the fastest: xfs takes 1.5"), "{text}");
    all.extend([at("delete", 30.0, 0.6), at("delete", 90.0, 0.7)].concat());
    assert_eq!(of_phases(&all), "fastest at every level: xfs in delete");
    let mut failed = all.clone();
    for used in [30.0, 90.0] {
        let more = taking(&[("btrfs", 1.0)], "delete", Some(used), 1);
        failed.extend(more.into_iter().map(|mut m| {
            fail(&mut m);
            m
        }));
        failed.extend(taking(&[("btrfs", 9.0)], "read", Some(used), 1));
    }
    assert_eq!(of_phases(&failed), "fastest at every level: xfs in delete (without btrfs)");
    // The whole job has no winner that is the same at all levels of a phase.
    all.retain(|m| m.phase != "delete");
    let found = answer(&ranked_book(all));
    assert!(!found.evidence.iter().any(|line| line.starts_with("By phase")), "{found:?}");
}

#[test]
fn of_many_variants_all_others_are_counted() {
    let names: Vec<String> = (0..13).map(|n| format!("a-long-name-of-{n}")).collect();
    let times: Vec<(&str, f64)> =
        names.iter().enumerate().map(|(at, name)| (name.as_str(), 1.0 + 0.3 * at as f64)).collect();
    let found = answer(&ranked_book(taking(&times, "write", None, 1)));
    assert!(
        found.text.starts_with("In write a-long-name-of-0 is the fastest: 12 others take 1.3"),
        "{found:?}"
    );
    assert!(found.text.ends_with(" times as long."), "{found:?}");
}

#[test]
fn without_a_fastest_variant_the_one_that_is_slower_is_told() {
    let mut all = Vec::new();
    for repeat in 1..=6 {
        for (nth, (variant, seconds)) in [("a", 1.0), ("b", 1.001), ("c", 1.3)].iter().enumerate() {
            for (which, phase) in ["create", "read"].into_iter().enumerate() {
                let number = (nth * 10 + which) as u64;
                let mut m = measured(variant, phase, None, repeat, *seconds);
                m.seconds = m.seconds.map(|all| all * Noise::Spread(2).of(5, repeat, number));
                // They ended after a time, so there is no whole job.
                m.operations += number;
                all.push(m);
            }
        }
    }
    let found = answer(&ranked_book(all));
    assert_eq!(found.verdict, Verdict::Yes, "{found:?}");
    assert!(found.text.contains("c takes 1.2"), "{found:?}");
}

#[test]
fn the_phases_of_a_job_are_its_evidence() {
    let mut all = taking(&[("a", 1.0), ("b", 2.0)], "create", None, 1);
    all.extend(taking(&[("a", 1.0), ("b", 0.5)], "read", None, 1));
    let found = answer(&ranked_book(all));
    assert!(
        found.text.starts_with("Over the whole job a is the fastest: b takes 1.2"),
        "{found:?}"
    );
    assert_eq!(found.evidence, ["By phase, the fastest: a in create; b in read."]);
}
