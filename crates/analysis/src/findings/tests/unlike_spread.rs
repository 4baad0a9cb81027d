//! Tables in which nothing differs but how much things spread: a level, a variant, or the turns that all levels share.

use super::*;
use boatload_results::book::Condition;
use boatload_run::site::ConditionName;

const NAMES: [&str; 3] = ["a", "b", "c"];

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
            name: ConditionName::FilesPresent,
            value: 1.0,
            unit: Unit::Count,
        }];
        book
    }

    /// Of how many tables out of so many a headline claims a difference in a family.
    fn false_claims(
        self,
        tables: u64,
        kind: Conclusion,
        mut log: impl FnMut(Place, &mut Noise) -> f64,
    ) -> usize {
        how_often(tables, |noise| claims_a_difference(&self.book(|place| log(place, noise)), kind))
    }

    fn is_highest(self, place: Place) -> bool {
        place.level + 1 == self.levels
    }
}

#[test]
fn a_level_that_spreads_more_takes_no_longer() {
    for (phases, levels, repeats) in [(1, 4, 3), (1, 4, 5), (8, 4, 5), (4, 5, 3), (4, 12, 4)] {
        let design = Design { variants: 1, phases, levels, repeats };
        let wrong = design.false_claims(200, Conclusion::Levels, |place, noise| {
            if design.is_highest(place) { 0.25 * noise.normal() } else { 0.02 * noise.normal() }
        });
        // Each phase, and all together: two families.
        assert!(wrong <= 24, "{wrong} of 200 with {phases} phases and {repeats} repeats");
    }
}

#[test]
fn a_change_of_each_repeats_own_is_no_change() {
    let design = Design { variants: 1, phases: 1, levels: 4, repeats: 5 };
    let wrong = how_often(200, |noise| {
        let slopes: Vec<f64> = (0..=design.repeats).map(|_| 0.02 * noise.normal()).collect();
        let book = design.book(|place| {
            slopes[place.repeat as usize] * place.level as f64 + 0.01 * noise.normal()
        });
        claims_a_difference(&book, Conclusion::Levels)
    });
    assert!(wrong <= most_false(200), "{wrong} of 200");
}

/// The phases of a cell are slow together: moderation takes them to be independent, and all phases together are not.
#[test]
fn what_the_phases_of_a_cell_share_is_no_change() {
    let design = Design { variants: 1, phases: 4, levels: 6, repeats: 4 };
    let wrong = how_often(200, |noise| {
        let cells = design.levels * (design.repeats as usize + 1);
        let shared: Vec<f64> = (0..cells).map(|_| 0.1 * noise.normal()).collect();
        let book = design.book(|place| {
            shared[place.repeat as usize * design.levels + place.level] + 0.01 * noise.normal()
        });
        claims_a_difference(&book, Conclusion::Levels)
    });
    assert!(wrong <= 24, "{wrong} of 200");
}

#[test]
fn what_the_levels_of_a_turn_share_makes_no_winner() {
    let design = Design { variants: 2, phases: 8, levels: 10, repeats: 3 };
    let wrong = how_often(200, |noise| {
        let turns = 2 * design.phases * (design.repeats as usize + 1);
        let turns: Vec<f64> = (0..turns).map(|_| 0.05 * noise.normal()).collect();
        let book = design.book(|Place { variant, phase, repeat, .. }| {
            let turn = (variant * design.phases + phase) * (design.repeats as usize + 1);
            turns[turn + repeat as usize] + 0.02 * noise.normal()
        });
        claims_a_difference(&book, Conclusion::Crossing)
    });
    assert!(wrong <= 24, "{wrong} of 200");
}

#[test]
fn a_level_of_a_variant_that_spreads_more_has_no_winner() {
    let design = Design { variants: 2, phases: 4, levels: 10, repeats: 5 };
    let wrong = design.false_claims(200, Conclusion::Crossing, |place, noise| {
        let is_noisy = (place.variant, place.level) == (0, 0);
        if is_noisy { 0.2 * noise.normal() } else { 0.02 * noise.normal() }
    });
    assert!(wrong <= 24, "{wrong} of 200");
}

#[test]
fn of_variants_that_spread_unlike_each_other_none_is_faster() {
    for (variants, phases, repeats, times) in
        [(2, 1, 3, 5.0), (2, 1, 5, 10.0), (2, 8, 5, 10.0), (3, 8, 5, 5.0)]
    {
        let design = Design { variants, phases, levels: 0, repeats };
        let wrong = design.false_claims(1_000, Conclusion::Ranking, |place, noise| {
            if place.variant == 0 { 0.01 * times * noise.normal() } else { 0.01 * noise.normal() }
        });
        // The job and its phases are two families.
        let most = if phases > 1 { 2 * most_false(1_000) } else { most_false(1_000) };
        assert!(wrong <= most, "{wrong} of 1,000 with {phases} phases and {repeats} repeats");
    }
}
