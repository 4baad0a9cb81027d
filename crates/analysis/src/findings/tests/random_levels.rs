//! Tables over an axis whose true ratios are drawn.

use super::levels::{FILES, FLAT, tasks};
use super::*;

/// The true ratios of a phase at each level above the lowest.
type TrueRatios = [f64; 3];

/// Whether a headline says what the true ratios of the phase contradict.
fn is_false(found: &EffectFinding, truth: TrueRatios) -> bool {
    let highest = truth[truth.len() - 1];
    let is_below = |since: f64| {
        let levels = FILES[1..].iter().zip(truth).filter(|(files, _)| **files >= since);
        levels.into_iter().any(|(_, ratio)| ratio <= 1.0)
    };
    match found.headline.decision {
        Decision::Longer => highest <= 1.0 || found.headline.since.is_some_and(is_below),
        Decision::Shorter => highest >= 1.0,
        Decision::Within => !(1.0 / 1.1..=1.1).contains(&highest),
        Decision::Open => false,
    }
}

/// Many lie close to the margin, on either side, where a claim is easily false. Levels rise and fall.
#[test]
fn at_most_one_in_twenty_random_tables_is_told_what_it_contradicts() {
    const RATIOS: [f64; 7] = [0.8, 1.0, 1.09, 1.0999, 1.1001, 1.11, 1.5];
    let mut wrong = 0;
    for seed in 0..2_000 {
        let mut noise = Noise::new(seed);
        let mut ratio = || RATIOS[(noise.uniform() * RATIOS.len() as f64) as usize];
        let truth: [TrueRatios; 2] = [(); 2].map(|()| [(); 3].map(|()| ratio()));
        let spread = 0.003 + 0.1 * noise.uniform();
        let repeats = 3 + (seed % 3) as u32;
        let mut all = tasks([FLAT, FLAT], repeats, spread, &mut noise);
        for m in &mut all {
            let phase = usize::from(m.phase == "delete");
            let files = m.cell.level.as_ref().map_or(0.0, |level| level.value);
            let at = FILES[1..].iter().position(|level| *level == files);
            let times = at.map_or(1.0, |at| truth[phase][at]);
            m.seconds = m.seconds.map(|all| all * times);
        }
        let found = effects(&book(all), Conclusion::Levels);
        let is_wrong = found.iter().zip(truth).any(|(one, truth)| is_false(one, truth));
        wrong += usize::from(is_wrong);
    }
    assert!(wrong <= 100, "{wrong} of 2,000 tables are told what is false");
}
