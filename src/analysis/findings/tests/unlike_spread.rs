//! Tables in which nothing differs but how much things spread: a level, a variant, or the turns that all levels share.

use super::*;
use crate::results::book::Condition;
use crate::run::site::ConditionName;

const NAMES: [&str; 2] = ["a", "b"];

/// What a table has.
#[derive(Clone, Copy)]
struct Design {
    variants: usize,
    phases: usize,
    levels: usize,
    repeats: u32,
}

/// Where a measurement stands in it.
#[derive(Clone, Copy)]
struct Place {
    variant: usize,
    phase: usize,
    level: usize,
    repeat: u32,
}

impl Design {
    /// With the logarithm of each measurement's seconds. Each level lies on a place of its own that was prepared, so variants took
    /// no turns.
    fn book(self, mut log: impl FnMut(Place) -> f64) -> Book {
        let mut all = Vec::new();
        for (variant, name) in NAMES.iter().enumerate().take(self.variants) {
            for level_at in 0..self.levels.max(1) {
                for (repeat, phase) in
                    (1..=self.repeats).flat_map(|repeat| (0..self.phases).map(move |p| (repeat, p)))
                {
                    let value = 10.0 * (level_at + 1) as f64;
                    let level = (self.levels > 0).then(|| level("size", value, Unit::Count));
                    let seconds = log(Place { variant, phase, level: level_at, repeat }).exp();
                    let one = measured(name, level, repeat, seconds);
                    all.push(Measurement { phase: format!("phase-{phase}"), ..one });
                }
            }
        }
        let mut book = book(all);
        book.conditions = vec![Condition {
            cell: book.measurements[0].cell.clone(),
            name: ConditionName::DirectoryEntries,
            value: 1.0,
            unit: Unit::Count,
        }];
        book
    }

    fn findings(self, conclusion: Conclusion, log: impl FnMut(Place) -> f64) -> Vec<Finding> {
        conclude(&self.book(log), &[conclusion], &NAMES[..self.variants])
    }

    fn is_highest(self, place: Place) -> bool {
        place.level + 1 == self.levels
    }
}

/// In how many of so many tables something false is told.
fn false_of(tables: u64, mut is_false: impl FnMut(&mut Noise) -> bool) -> usize {
    (0..tables).filter(|seed| is_false(&mut Noise::new(7_000_000 + seed))).count()
}

#[test]
fn a_level_that_spreads_more_makes_no_slope() {
    for (phases, repeats) in [(1, 3), (1, 5), (8, 5)] {
        let design = Design { variants: 1, phases, levels: 4, repeats };
        let wrong = false_of(200, |noise| {
            let spread = |place| if design.is_highest(place) { 0.05 } else { 0.01 };
            let found = design.findings(Conclusion::Slope, |place| spread(place) * noise.normal());
            found.iter().any(|one| figures(one)["effect"] == true)
        });
        assert!(wrong <= 18, "{wrong} of 200 with {phases} phases and {repeats} repeats");
    }
}

#[test]
fn a_slope_of_each_repeats_own_makes_no_slope() {
    let design = Design { variants: 1, phases: 1, levels: 4, repeats: 5 };
    let wrong = false_of(200, |noise| {
        let slopes: Vec<f64> = (0..=design.repeats).map(|_| 0.02 * noise.normal()).collect();
        let log = |place: Place| {
            slopes[place.repeat as usize] * place.level as f64 + 0.01 * noise.normal()
        };
        let found = design.findings(Conclusion::Slope, log);
        found.iter().any(|one| figures(one)["effect"] == true)
    });
    assert!(wrong <= 18, "{wrong} of 200");
}

#[test]
fn a_level_that_spreads_more_makes_no_knee() {
    for (phases, levels, repeats) in [(1, 12, 4), (4, 6, 3)] {
        let design = Design { variants: 1, phases, levels, repeats };
        let wrong = false_of(60, |noise| {
            let spread = |place| if design.is_highest(place) { 0.25 } else { 0.05 };
            let found = design.findings(Conclusion::Knee, |place| spread(place) * noise.normal());
            found.iter().any(|one| figures(one)["proven"] == true)
        });
        assert!(wrong <= 5, "{wrong} of 60 with {phases} phases and {repeats} repeats");
    }
}

#[test]
fn what_the_phases_of_a_cell_share_makes_no_knee() {
    let design = Design { variants: 1, phases: 4, levels: 6, repeats: 4 };
    let wrong = false_of(60, |noise| {
        let cells = design.levels * (design.repeats as usize + 1);
        let shared: Vec<f64> = (0..cells).map(|_| 0.1 * noise.normal()).collect();
        let log = |place: Place| {
            shared[place.repeat as usize * design.levels + place.level] + 0.01 * noise.normal()
        };
        let found = design.findings(Conclusion::Knee, log);
        found.iter().any(|one| figures(one)["proven"] == true)
    });
    assert!(wrong <= 5, "{wrong} of 60");
}

fn has_a_winner(found: &[Finding]) -> bool {
    let levels = found.iter().flat_map(|one| figures(one)["levels"].as_array().unwrap().clone());
    levels.into_iter().any(|level| !level["winner"].is_null())
}

#[test]
fn what_the_levels_of_a_turn_share_makes_no_winner() {
    let design = Design { variants: 2, phases: 8, levels: 10, repeats: 3 };
    let wrong = false_of(200, |noise| {
        let turns = 2 * design.phases * (design.repeats as usize + 1);
        let turns: Vec<f64> = (0..turns).map(|_| 0.05 * noise.normal()).collect();
        let log = |Place { variant, phase, repeat, .. }: Place| {
            let turn = (variant * design.phases + phase) * (design.repeats as usize + 1);
            turns[turn + repeat as usize] + 0.02 * noise.normal()
        };
        has_a_winner(&design.findings(Conclusion::Crossover, log))
    });
    assert!(wrong <= 18, "{wrong} of 200");
}

#[test]
fn a_level_of_a_variant_that_spreads_more_has_no_winner() {
    let design = Design { variants: 2, phases: 4, levels: 10, repeats: 5 };
    let wrong = false_of(200, |noise| {
        let is_noisy = |place: Place| (place.variant, place.level) == (0, 0);
        let log = |place| if is_noisy(place) { 0.2 } else { 0.02 } * noise.normal();
        has_a_winner(&design.findings(Conclusion::Crossover, log))
    });
    assert!(wrong <= 18, "{wrong} of 200");
}

#[test]
fn of_two_variants_that_spread_unlike_each_other_neither_is_faster() {
    for (phases, repeats, times) in [(1, 3, 5.0), (1, 5, 10.0), (8, 5, 10.0)] {
        let design = Design { variants: 2, phases, levels: 0, repeats };
        let wrong = false_of(1_000, |noise| {
            let spread = |place: Place| if place.variant == 0 { 0.01 * times } else { 0.01 };
            let log = |place| spread(place) * noise.normal();
            let found = design.findings(Conclusion::Ranking, log);
            found.iter().any(|one| figures(one)["steps"][0]["tie"] == false)
        });
        assert!(wrong <= 72, "{wrong} of 1,000 with {phases} phases and {repeats} repeats");
    }
}

#[test]
fn a_level_that_spreads_more_takes_no_longer() {
    let design = Design { variants: 1, phases: 4, levels: 5, repeats: 3 };
    let wrong = false_of(400, |noise| {
        let spread = |place| if design.is_highest(place) { 0.05 } else { 0.005 };
        let found = design.findings(Conclusion::Scaling, |place| spread(place) * noise.normal());
        let phases =
            found.iter().flat_map(|one| figures(one)["phases"].as_array().unwrap().clone());
        phases.into_iter().any(|phase| !phase["longer_from"].is_null())
    });
    assert!(wrong <= 32, "{wrong} of 400");
}
