//! Chooses the cheapest numbers of repeats and passes that make all rates as precise as requested, or the
//! most precise ones that the time allows.

use std::collections::BTreeMap;

use super::forecast::{PassCost, PrecisionForecast, is_precise};
use crate::analysis::findings::say::listed;
use crate::base::units::{counted, percent_text, span};
use crate::plan::repetition::Passes;

/// Most repeats that are considered.
const REPEATS_MAX: u32 = 10_000;

/// Halvings of the interval in which the precision is that a time allows.
const HALVINGS: u32 = 30;

/// Seconds that repeats and passes take, measured so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RepetitionCosts {
    /// Seconds of a repeat outside of the passes that are free to choose: making and removing trees and
    /// file systems, and the other phases.
    pub repeat_seconds: f64,
    /// Passes that are free to choose.
    pub phases: Vec<PassCost>,
}

/// Counts that were chosen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RepetitionChoice {
    /// Repeats in all.
    pub repeats: u32,
    /// Of them, those that are still to be made.
    pub more: u32,
    /// Passes of each phase that is free, in the repeats to be made.
    pub passes: Passes,
    /// Seconds that those repeats take.
    pub seconds: f64,
}

impl RepetitionChoice {
    /// The repeat after which it is looked again: what is known of few repeats is little, so at most
    /// as many are added as there are.
    pub fn looks_again_after(&self) -> u32 {
        let done = self.repeats - self.more;
        done + self.more.min(done)
    }
}

/// The repetition that the precision needs, and the one to be done.
#[derive(Clone, Debug, PartialEq)]
pub struct RepetitionDecision {
    /// What the precision needs; none if that is more than `REPEATS_MAX`.
    pub wanted: Option<RepetitionChoice>,
    /// What is done: `wanted`, or the most precise choice that the time allows.
    pub taken: RepetitionChoice,
}

/// Seconds of one repeat with these passes.
pub fn repeat_seconds(costs: &RepetitionCosts, passes: &Passes) -> f64 {
    let of_phase =
        |cost: &PassCost| cost.seconds * f64::from(passes.get(&cost.key).copied().unwrap_or(1));
    costs.repeat_seconds + costs.phases.iter().map(of_phase).sum::<f64>()
}

/// The precision requested for what is to be precise in a run, and the time for it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PrecisionGoal {
    /// How far the interval of each number may reach beyond it, as a share.
    pub precision: f64,
    /// Seconds that are left for it.
    pub seconds: f64,
}

/// Chooses how many repeats and passes follow `done` repeats, so that the goal is met, or nearly if
/// the time does not allow that.
pub fn choose_repetition(
    rows: &[PrecisionForecast],
    costs: &RepetitionCosts,
    done: u32,
    goal: PrecisionGoal,
) -> RepetitionDecision {
    let PrecisionGoal { precision, seconds } = goal;
    let least = u32::from(!is_precise(rows, precision));
    let wanted = cheapest(rows, costs, done, &Bounds { least, precision, seconds: f64::INFINITY });
    if let Some(wanted) = wanted.as_ref().filter(|wanted| wanted.seconds <= seconds) {
        return RepetitionDecision { taken: wanted.clone(), wanted: Some(wanted.clone()) };
    }
    let nothing = RepetitionChoice { repeats: done, ..RepetitionChoice::default() };
    let as_now = |row: &PrecisionForecast| row.half_width_after(0, &Passes::new());
    let now = rows.iter().map(as_now).fold(precision, f64::max);
    let fits = |precision| cheapest(rows, costs, done, &Bounds { least: 1, precision, seconds });
    // What is as sure as now, or anything if nothing is known yet.
    let mut high = if now.is_finite() { now } else { 1.0 };
    let Some(mut taken) = fits(high) else { return RepetitionDecision { wanted, taken: nothing } };
    let mut low = precision;
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        match fits(middle) {
            Some(choice) => (high, taken) = (middle, choice),
            None => low = middle,
        }
    }
    RepetitionDecision { wanted, taken }
}

/// Limits of a choice.
struct Bounds {
    /// The fewest repeats more.
    least: u32,
    precision: f64,
    /// The most seconds.
    seconds: f64,
}

/// The cheapest of all choices within the bounds; none if there is none.
fn cheapest(
    rows: &[PrecisionForecast],
    costs: &RepetitionCosts,
    done: u32,
    bounds: &Bounds,
) -> Option<RepetitionChoice> {
    let single = repeat_seconds(costs, &Passes::new());
    let mut best: Option<RepetitionChoice> = None;
    for more in bounds.least..=REPEATS_MAX.saturating_sub(done) {
        // From here on all costs more, however few passes there are.
        let least_seconds = f64::from(more) * single;
        let dearer = best.as_ref().is_some_and(|best| least_seconds >= best.seconds);
        if dearer || least_seconds > bounds.seconds {
            break;
        }
        let Some(passes) = passes(rows, more, bounds.precision, costs) else { continue };
        let seconds = f64::from(more) * repeat_seconds(costs, &passes);
        let cheaper = best.as_ref().is_none_or(|best| seconds < best.seconds);
        if seconds <= bounds.seconds && cheaper {
            best = Some(RepetitionChoice { repeats: done + more, more, passes, seconds });
        }
    }
    best
}

/// The fewest passes of each free phase that suffice in so many more repeats: one, of those that nothing depends on.
fn passes(
    rows: &[PrecisionForecast],
    more: u32,
    precision: f64,
    costs: &RepetitionCosts,
) -> Option<Passes> {
    let mut passes: Passes = costs.phases.iter().map(|cost| (cost.key.clone(), 1)).collect();
    for row in rows {
        for (key, wanted) in row.passes_for(more, precision, &costs.phases)? {
            let most = passes.entry(key).or_insert(1);
            *most = wanted.max(*most);
        }
    }
    Some(passes)
}

/// The sentence that tells users of a decision.
pub fn decision_text(decision: &RepetitionDecision, precision: f64) -> String {
    let (wanted, taken) = (&decision.wanted, &decision.taken);
    let share = percent_text(precision);
    match wanted {
        Some(wanted) if wanted.more == 0 => format!("{share} is reached"),
        Some(wanted) if wanted == taken => format!("{share} takes {}", counts(wanted)),
        _ => {
            let takes = match wanted {
                Some(wanted) => format!("{share} takes {}", counts(wanted)),
                None => format!("{share} takes more repeats than can be counted on"),
            };
            let instead = match taken.more {
                0 => "no more are made".into(),
                _ => format!("instead {}", counts(taken)),
            };
            format!("{takes}, which the time does not allow: {instead}")
        }
    }
}

/// "11 repeats and 2 passes of read: 48 s more".
fn counts(choice: &RepetitionChoice) -> String {
    let mut most: BTreeMap<&str, u32> = BTreeMap::new();
    for ((_, phase), passes) in choice.passes.iter().filter(|(_, passes)| **passes > 1) {
        let known = most.entry(phase).or_default();
        *known = (*known).max(*passes);
    }
    let of_phase = |(phase, passes): (&&str, &u32)| format!("{passes} passes of {phase}");
    let mut parts = vec![counted(u64::from(choice.repeats), "repeat")];
    parts.extend(most.iter().map(of_phase));
    format!("{}: {} more", listed(&parts), span(choice.seconds))
}
