//! Answers about which variant is the faster at which level.

use super::*;
use boatload_op::Durability;

const EVEN_LEVELS: [f64; 4] = [1024.0, 8192.0, 32768.0, 131072.0];

/// Five repeats of variants at levels; `time` gives the seconds of a variant in a phase at the level of this number, with 1% of
/// noise.
fn chunks(
    variants: &[&str],
    phases: &[&str],
    time: impl Fn(&str, &str, usize) -> f64,
) -> Vec<Measurement> {
    let mut all = Vec::new();
    for repeat in 1..=5 {
        for (at, bytes) in EVEN_LEVELS.into_iter().enumerate() {
            for (nth, variant) in variants.iter().enumerate() {
                for (which, phase) in phases.iter().enumerate() {
                    let unit = Unit::Bytes;
                    let level = Level { axis: "chunk-size".into(), value: bytes, unit };
                    let number = (at * 100 + nth * 10 + which) as u64;
                    let seconds = time(variant, phase, at) * Noise::Spread(1).of(7, repeat, number);
                    all.push(measured(variant, phase, Some(level), repeat, seconds));
                }
            }
        }
    }
    all
}

fn crossing(measurements: Vec<Measurement>) -> AnswerFinding {
    answer(&book(Conclusion::Crossing, "Which is the faster?", measurements))
}

#[test]
fn the_winner_of_each_level_is_told_where_it_changes() {
    let found = crossing(chunks(&["a", "b"], &["write"], |variant, _, at| match variant {
        "a" => [0.5, 0.6, 1.5, 2.0][at],
        _ => 1.0,
    }));
    assert_eq!(found.verdict, Verdict::Yes);
    assert!(found.sentence().starts_with("Up to 8 KiB a is faster than b: 2.0"), "{found:?}");
    assert!(found.sentence().contains("; from 32 KiB on b is faster: 1."), "{found:?}");
}

#[test]
fn levels_in_the_middle_that_one_variant_wins_are_told_with_both_ends() {
    let found = crossing(chunks(&["b", "a"], &["write"], |variant, _, at| match variant {
        "a" => [1.0, 2.0, 2.0, 1.0][at],
        _ => 1.0,
    }));
    assert!(
        found.sentence().starts_with(
            "At 1 KiB no difference is proven; from 8 KiB to 32 KiB b is faster than a: "
        ),
        "{found:?}"
    );
}

#[test]
fn variants_that_never_differ_by_more_than_a_tenth_are_told_as_such() {
    let even = |_: &str, _: &str, _: usize| 1.0;
    let found = crossing(chunks(&["a", "b"], &["write"], even));
    assert_eq!(found.verdict, Verdict::No, "{found:?}");
    assert_eq!(found.sentence(), "No difference between a and b is larger than 10% at any level.");
}

#[test]
fn a_variant_without_a_pair_is_named_where_no_pair_differs() {
    let mut all = chunks(&["a", "b", "c"], &["write"], |_, _, _| 1.0);
    all.iter_mut().filter(|m| m.cell.variant == "c").for_each(fail);
    let found = crossing(all);
    assert_eq!(found.verdict, Verdict::CannotTell, "{found:?}");
    assert!(found.sentence().starts_with("write is missing in part: "), "{found:?}");
    let others = " Of the others: no difference between a and b is larger than ";
    assert!(found.sentence().contains(others), "{found:?}");
}

#[test]
fn a_crossing_of_one_of_several_phases_names_the_phase() {
    let slow = |variant: &str, phase: &str, _: usize| match (variant, phase) {
        ("a", "stat") => 4.0,
        _ => 1.0,
    };
    let found = crossing(chunks(&["b", "a"], &["stat", "write"], slow));
    assert!(
        found.sentence().starts_with("In stat at every level b is faster than a: "),
        "{found:?}"
    );
    let found = crossing(chunks(&["b", "a"], &["stat"], slow));
    assert!(found.sentence().starts_with("At every level b is faster than a: "), "{found:?}");
}

#[test]
fn a_level_at_which_two_were_not_compared_is_named_as_not_counted() {
    let mut all =
        chunks(&["b", "a"], &["write"], |variant, _, _| if variant == "a" { 2.0 } else { 1.0 });
    let missing = |m: &&mut Measurement| m.cell.variant == "a" && is_at(m, EVEN_LEVELS[1]);
    all.iter_mut().filter(missing).for_each(fail);
    let found = crossing(all);
    assert_eq!(found.verdict, Verdict::Yes);
    let named = " in write (a) in chunks of 8 KiB. ";
    assert!(found.sentence().contains(named), "{found:?}");
}

#[test]
fn of_one_repeat_the_largest_ratio_is_told_and_nothing_claimed() {
    let mut all = chunks(&["b", "a"], &["write"], |variant, _, at| match variant {
        "a" => [1.0, 1.2, 1.5, 3.0][at],
        _ => 1.0,
    });
    all.retain(|m| m.cell.repeat == 1);
    let found = crossing(all);
    assert_eq!(found.verdict, Verdict::CannotTell);
    let text = "Not proven: at 128 KiB a takes 2.99 times as long as b, measured once.";
    assert_eq!(found.sentence(), text);
}

#[test]
fn variants_that_are_not_as_durable_are_no_pair() {
    let mut all = chunks(&["a", "a-fsync", "b"], &["write"], |variant, _, _| match variant {
        "a" => 1.0,
        "b" => 1.5,
        _ => 9.0,
    });
    for m in &mut all {
        let waits = m.cell.variant == "a-fsync";
        m.durability = Some(if waits { Durability::Fsync } else { Durability::Syncfs });
    }
    let found = crossing(all);
    assert!(found.sentence().starts_with("At every level a is faster than b: "), "{found:?}");
}
