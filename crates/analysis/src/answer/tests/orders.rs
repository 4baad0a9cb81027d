//! Answers about the order of variants.

use super::*;

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
    assert!(
        found.sentence().starts_with("ext4 or btrfs is the fastest. write takes 1.3"),
        "{found:?}"
    );
    let open = " Between ext4 and btrfs no difference is proven: up to ";
    assert!(found.sentence().contains(open), "{found:?}");
}

#[test]
fn the_fastest_is_told_with_how_much_longer_each_other_takes() {
    let all = taking(&[("ext4", 1.0), ("xfs", 1.3), ("btrfs", 1.5)], "write", None, 1);
    let found = answer(&ranked_book(all));
    assert!(found.sentence().starts_with("ext4 is the fastest. write takes 1.3"), "{found:?}");
    assert!(found.sentence().contains("), 1.5"), "{found:?}");
}

#[test]
fn those_that_take_as_long_as_the_first_share_its_place() {
    let all = taking(&[("a", 1.0), ("b", 1.001), ("c", 1.5)], "write", None, 1);
    let found = answer(&ranked_book(all));
    assert!(found.sentence().contains(" are the fastest. write takes 1."), "{found:?}");
    let all = taking(&[("a", 1.0), ("b", 1.001)], "write", None, 1);
    let found = answer(&ranked_book(all));
    assert_eq!(found.verdict, Verdict::No);
    assert!(found.sentence().contains(" take equally long, within 10%. "), "{found:?}");
}

#[test]
fn what_was_measured_once_claims_no_order() {
    let mut all = taking(&[("a", 1.0), ("b", 2.0)], "write", None, 1);
    all.retain(|m| m.cell.repeat == 1);
    let found = answer(&ranked_book(all));
    assert_eq!(found.verdict, Verdict::CannotTell);
    let text = found.sentence();
    assert!(text.starts_with("Not proven: write takes "), "{text}");
    assert!(text.ends_with(" times as long on b as on a, measured once."), "{text}");
    assert!(found.next.unwrap().contains(" --repeats "));
}

#[test]
fn an_order_that_holds_at_every_level_is_told_once() {
    let at = |used: f64, of_b: f64| taking(&[("a", 1.0), ("b", of_b)], "write", Some(used), 1);
    let all = [at(30.0, 1.5), at(60.0, 1.6), at(90.0, 1.4)].concat();
    let found = answer(&ranked_book(all));
    let text = "In write at every level a is the fastest, the slowest takes 1.4";
    assert!(found.sentence().starts_with(text), "{found:?}");
    let all = [at(30.0, 1.5), at(60.0, 1.6), at(90.0, 0.6)].concat();
    let found = answer(&ranked_book(all));
    let text = "In write from 30% to 60% full a is the fastest, the slowest takes 1.5";
    assert!(found.sentence().starts_with(text), "{found:?}");
    assert!(found.sentence().contains("; at 90% full b is the fastest, "), "{found:?}");
}

#[test]
fn a_variant_is_the_fastest_in_a_phase_only_where_it_is_at_every_level() {
    let at = |phase: &str, used: f64, of_xfs: f64| {
        let mut all = taking(&[("ext4", 1.0), ("xfs", of_xfs)], phase, Some(used), 1);
        // They ended after a time, so there is no whole job.
        all.iter_mut().for_each(|m| m.operations += u64::from(m.cell.variant == "xfs"));
        all
    };
    let mut all = [at("read", 30.0, 1.5), at("read", 90.0, 0.6)].concat();
    all.extend([at("create", 30.0, 1.5), at("create", 90.0, 1.0)].concat());
    let text = answer(&ranked_book(all.clone())).sentence();
    assert!(!text.contains("at every level"), "{text}");
    all.extend([at("delete", 30.0, 0.6), at("delete", 90.0, 0.7)].concat());
    let text = answer(&ranked_book(all)).sentence();
    assert!(text.starts_with("xfs is the fastest at every level in delete. "), "{text}");
}

#[test]
fn of_many_variants_four_are_named_and_the_others_counted() {
    let names: Vec<String> = (0..13).map(|n| format!("a-long-name-of-{n}")).collect();
    let times: Vec<(&str, f64)> =
        names.iter().enumerate().map(|(at, name)| (name.as_str(), 1.0 + 0.3 * at as f64)).collect();
    let text = answer(&ranked_book(taking(&times, "write", None, 1))).sentence();
    let lead = "a-long-name-of-0 is the fastest. write takes 1.3";
    assert!(text.starts_with(lead), "{text}");
    assert!(text.ends_with(", and 8 more."), "{text}");
}

#[test]
fn the_phase_that_carries_a_difference_comes_first() {
    let times = |of_list: f64| {
        let mut all = taking(&[("a", 10.0), ("b", 11.5)], "create", None, 1);
        all.extend(taking(&[("a", of_list), ("b", 0.001)], "list-emptied", None, 1));
        answer(&ranked_book(all)).sentence()
    };
    let text = times(0.98);
    assert!(text.starts_with("list-emptied takes 9"), "{text}");
    let text = times(0.01);
    assert!(text.contains(" The largest difference is in list-emptied: "), "{text}");
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
    assert!(found.sentence().contains(" on c as on "), "{found:?}");
}

#[test]
fn the_phases_of_a_job_follow_it() {
    let mut all = taking(&[("a", 1.0), ("b", 2.0)], "create", None, 1);
    all.extend(taking(&[("a", 1.0), ("b", 0.5)], "read", None, 1));
    let found = answer(&ranked_book(all));
    let lead = "a is the fastest. The whole job takes 1.2";
    assert!(found.sentence().starts_with(lead), "{found:?}");
    let phases = " a is the fastest in create; b in read.";
    assert!(found.sentence().ends_with(phases), "{found:?}");
}
