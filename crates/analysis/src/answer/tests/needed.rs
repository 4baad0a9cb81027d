//! The repeats that an open answer needs.

use super::super::needed::RepeatsNeeded;
use super::*;
use crate::effect_finding::{EffectCell, StatedRatio};
use crate::effects::contrast::Contrast;
use crate::effects::decide::ALPHA;
use crate::readings::answer_draft::{AnswerDraft, Lack};
use crate::statement::Statement;

/// An effect of 5 repeats, whose logarithm of the ratio is open.
fn open_effect(estimate: f64, error: f64) -> EffectFinding {
    EffectFinding {
        reading: Conclusion::Levels,
        phase: Some("write".into()),
        from: EffectCell::default(),
        to: EffectCell::default(),
        ratio: estimate.exp(),
        stated: StatedRatio::UNDECIDED,
        headline: StatedRatio { level: Some(0.95), ..StatedRatio::UNDECIDED },
        repeats: 5,
        steps: Vec::new(),
        device_itself: false,
        course: None,
        text: String::new(),
        contrast: Some(Contrast { estimate, error, df: 4.0 + 10.0 }),
    }
}

fn open_draft() -> AnswerDraft {
    AnswerDraft::open(Lack::Precision, Statement::default())
}

#[track_caller]
fn needed(effects: &[EffectFinding]) -> u32 {
    match RepeatsNeeded::of(&open_draft(), &effects.iter().collect::<Vec<_>>(), ALPHA) {
        RepeatsNeeded::Few(repeats) => repeats,
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_is_twice_as_near_takes_about_four_times_the_repeats() {
    let (far, near) = (needed(&[open_effect(0.4, 0.24)]), needed(&[open_effect(0.2, 0.24)]));
    assert!((3.3..=4.2).contains(&(f64::from(near) / f64::from(far))), "{far} and {near}");
}

#[test]
fn the_effect_that_needs_most_decides() {
    let (far, near) = (open_effect(0.4, 0.24), open_effect(0.2, 0.24));
    assert_eq!(needed(&[far, near.clone()]), needed(&[near]));
}

#[test]
fn equality_is_decided_the_sooner_the_closer_it_is_to_one() {
    let (equal, unequal) = (needed(&[open_effect(0.0, 0.06)]), needed(&[open_effect(0.03, 0.06)]));
    assert!(equal < unequal, "{equal} and {unequal}");
}

#[test]
fn more_than_are_advised_are_too_many_and_of_what_is_not_known_nothing_is_said() {
    let of =
        |draft: &AnswerDraft, effect: &EffectFinding| RepeatsNeeded::of(draft, &[effect], ALPHA);
    let hopeless = of(&open_draft(), &open_effect(0.05, 0.3));
    assert_eq!(hopeless, RepeatsNeeded::TooMany);
    let single = EffectFinding { contrast: None, ..open_effect(0.4, 0.24) };
    assert_eq!(of(&open_draft(), &single), RepeatsNeeded::Unknown);
    let proven = AnswerDraft::proven(Verdict::Yes, Statement::default());
    assert_eq!(of(&proven, &open_effect(0.4, 0.24)), RepeatsNeeded::Unknown);
}

#[test]
fn a_run_that_looked_often_is_forecast_with_the_test_of_the_run_that_is_advised() {
    let often = ALPHA / 10.0;
    let mut open = open_effect(0.2, 0.24);
    let fixed = needed(&[open.clone()]);
    open.headline.level = open.headline.level.map(|level| 1.0 - (1.0 - level) * often / ALPHA);
    let of = |alpha| RepeatsNeeded::of(&open_draft(), &[&open], alpha);
    assert_eq!(of(often), RepeatsNeeded::Few(fixed));
    assert_ne!(of(ALPHA), of(often), "at the level of the last look it takes more");
}
