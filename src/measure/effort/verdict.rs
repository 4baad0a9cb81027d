//! Whether a run was as sure as it was asked to be.

use std::collections::BTreeMap;

use super::choice::{Choice, Decision};
use super::rows::rows;
use crate::base::units::{counted, span};
use crate::measure::book::{Book, Measurement};
use crate::measure::order::each_once;
use crate::plan::effort::Passes;

/// A phase that is less sure than it was asked to be.
#[derive(Clone, Debug, PartialEq)]
pub struct Unsure {
    /// The phase.
    pub phase: String,
    /// The largest half width of its variants and levels, as a share of the rate; none if one of them
    /// has none.
    pub half_width: Option<f64>,
}

/// What it would take to be as sure as was asked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Takes {
    /// Repeats in all, of the part of the run that takes most.
    pub repeats: u32,
    /// Seconds more.
    pub seconds: f64,
}

/// Phases less sure than the run was asked for, in the order they were measured; none if it was asked
/// for nothing.
pub fn unsure(book: &Book) -> Option<Vec<Unsure>> {
    let precision = book.run.precision?;
    let all: Vec<_> = book.measurements.iter().collect();
    let mut phases: Vec<Unsure> = Vec::new();
    for row in rows(&all, &Passes::new()) {
        if row.half_width.is_some_and(|half| half <= precision) {
            continue;
        }
        match phases.iter_mut().find(|unsure| unsure.phase == row.key.1) {
            Some(known) => {
                let both = known.half_width.zip(row.half_width);
                known.half_width = both.map(|(a, b)| a.max(b));
            }
            None => phases.push(Unsure { phase: row.key.1, half_width: row.half_width }),
        }
    }
    // What has no valid measurement is as unsure as can be.
    for phase in each_once(book.measurements.iter().map(|m| m.phase.as_str())) {
        let valid = |m: &&Measurement| m.phase == phase && m.valid();
        if !book.measurements.iter().any(|m| valid(&m)) && !phases.iter().any(|p| p.phase == phase)
        {
            phases.push(Unsure { phase: phase.into(), half_width: None });
        }
    }
    Some(phases)
}

/// What was decided, in words.
pub fn about(decision: &Decision, precision: f64) -> String {
    let (wanted, taken) = (&decision.wanted, &decision.taken);
    let share = percent(precision);
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
fn counts(choice: &Choice) -> String {
    let mut most: BTreeMap<&str, u32> = BTreeMap::new();
    for ((_, phase), passes) in choice.passes.iter().filter(|(_, passes)| **passes > 1) {
        let known = most.entry(phase).or_default();
        *known = (*known).max(*passes);
    }
    let of_phase = |(phase, passes): (&&str, &u32)| format!("{passes} passes of {phase}");
    let mut parts = vec![counted(u64::from(choice.repeats), "repeat")];
    parts.extend(most.iter().map(of_phase));
    let last = parts.pop().unwrap_or_default();
    let all = match parts.as_slice() {
        [] => last,
        parts => format!("{} and {last}", parts.join(", ")),
    };
    format!("{all}: {} more", span(choice.seconds))
}

/// A share as percent with the figures it was asked with: `3%`, `0.5%`.
pub fn percent(share: f64) -> String {
    let hundredths = (share * 1e4).round() / 100.0;
    format!("{hundredths}%")
}
