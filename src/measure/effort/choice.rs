//! The cheapest counts that make all rows as sure as they are wanted, and what can be had in the time
//! there is.

use super::rows::{Outlook, Row, reached};
use crate::plan::effort::{PASSES_MAX, Passes};

/// Most repeats that are thought of.
const REPEATS_MAX: u32 = 10_000;

/// Halvings of the interval in which the precision is that a time allows.
const HALVINGS: u32 = 30;

/// What repetition takes, measured so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Costs {
    /// Seconds of a repeat outside of the passes that are free to choose: making and removing trees and
    /// file systems, and the other phases.
    pub repeat_seconds: f64,
    /// Passes that are free to choose.
    pub phases: Vec<PhaseCost>,
}

/// What a pass of one phase takes, with its caches and its sync.
#[derive(Clone, Debug, PartialEq)]
pub struct PhaseCost {
    /// The variant and the phase.
    pub key: (String, String),
    /// Seconds of one pass, at all levels of a repeat together.
    pub seconds: f64,
}

/// Counts that were chosen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Choice {
    /// Repeats in all.
    pub repeats: u32,
    /// Of them, those that are still to be made.
    pub more: u32,
    /// Passes of each phase that is free, in the repeats to be made.
    pub passes: Passes,
    /// Seconds that those repeats take.
    pub seconds: f64,
}

impl Choice {
    /// The repeat after which it is looked again: what is known of few repeats is little, so at most
    /// as many are added as there are.
    pub fn looks_again_after(&self) -> u32 {
        let done = self.repeats - self.more;
        done + self.more.min(done)
    }
}

/// What to do.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// What the precision takes; none if it is beyond all measure.
    pub wanted: Option<Choice>,
    /// What of it the time allows: as precise as can be.
    pub taken: Choice,
}

/// Seconds of one repeat with these passes.
pub fn repeat_seconds(costs: &Costs, passes: &Passes) -> f64 {
    let of_phase =
        |cost: &PhaseCost| cost.seconds * f64::from(passes.get(&cost.key).copied().unwrap_or(1));
    costs.repeat_seconds + costs.phases.iter().map(of_phase).sum::<f64>()
}

/// Chooses the counts of what follows `done` repeats, so that each row is as sure as `precision`, a
/// share of its rate, if `seconds` allow that.
pub fn decide(
    rows: &[Row],
    costs: &Costs,
    done: u32,
    (precision, seconds): (f64, f64),
) -> Decision {
    let least = u32::from(!reached(rows, precision));
    let rows: Vec<Outlook<'_>> = rows.iter().map(Row::outlook).collect();
    let wanted = cheapest(&rows, costs, done, (least, precision, f64::INFINITY));
    if let Some(wanted) = wanted.as_ref().filter(|wanted| wanted.seconds <= seconds) {
        return Decision { taken: wanted.clone(), wanted: Some(wanted.clone()) };
    }
    let nothing = Choice { repeats: done, ..Choice::default() };
    let now = rows.iter().map(|row| row.half_width(0, 1)).fold(precision, f64::max);
    let fits = |precision| cheapest(&rows, costs, done, (1, precision, seconds));
    // What is as sure as now, or anything if nothing is known yet.
    let mut high = if now.is_finite() { now } else { 1.0 };
    let Some(mut taken) = fits(high) else { return Decision { wanted, taken: nothing } };
    let mut low = precision;
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        match fits(middle) {
            Some(choice) => (high, taken) = (middle, choice),
            None => low = middle,
        }
    }
    Decision { wanted, taken }
}

/// The cheapest of all counts that make every row as sure as this, with at least so many more
/// repeats and in so many seconds; none if none do.
fn cheapest(
    rows: &[Outlook<'_>],
    costs: &Costs,
    done: u32,
    (least, precision, seconds_max): (u32, f64, f64),
) -> Option<Choice> {
    let single = repeat_seconds(costs, &Passes::new());
    let mut best: Option<Choice> = None;
    for more in least..=REPEATS_MAX.saturating_sub(done) {
        // From here on all costs more, however few passes there are.
        let least_seconds = f64::from(more) * single;
        let dearer = best.as_ref().is_some_and(|best| least_seconds >= best.seconds);
        if dearer || least_seconds > seconds_max {
            break;
        }
        let Some(passes) = passes(rows, more, precision) else { continue };
        let seconds = f64::from(more) * repeat_seconds(costs, &passes);
        let cheaper = best.as_ref().is_none_or(|best| seconds < best.seconds);
        if seconds <= seconds_max && cheaper {
            best = Some(Choice { repeats: done + more, more, passes, seconds });
        }
    }
    best
}

/// The fewest passes of each free phase that suffice in so many more repeats.
fn passes(rows: &[Outlook<'_>], more: u32, precision: f64) -> Option<Passes> {
    let mut passes = Passes::new();
    for row in rows {
        let wanted = row.passes_for(more, precision)?.min(PASSES_MAX);
        if row.row.free {
            let most = passes.entry(row.row.key.clone()).or_insert(1);
            *most = wanted.max(*most);
        }
    }
    Some(passes)
}
