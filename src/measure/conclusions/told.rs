//! The sentences of growth.

use super::curve::Law;
use super::growth::Ends;
use super::say;
use super::shape::Shape;
use super::threshold::Threshold;
use crate::base::units::{self, grouped};

/// A mean that grows so many times more than the median does is told.
const MEAN_APART: f64 = 1.5;

/// What a sentence is about.
pub(super) struct Told {
    pub(super) phase: String,
    pub(super) noun: &'static str,
    pub(super) operations: u64,
}

impl Told {
    pub(super) fn sentence(
        &self,
        shape: &Shape,
        law: Law,
        exponent: (f64, Option<[f64; 2]>),
        ends: &Ends,
    ) -> String {
        let Self { phase, noun, operations } = self;
        let (all, few) = (grouped(*operations), grouped(ends.operations));
        let (ratio, span) = (say::times(ends.ratio), say::span(ends.interval));
        let compared = self.compared(ends);
        match shape {
            Shape::Threshold(found) => self.threshold(found),
            Shape::Monotone(_) => {
                let (lead, verb) = way(ends);
                format!(
                    "{phase} {lead} {ratio} times as long at {all} {noun} as at the first {few} \
                     ({span}): it only {verb}, by no simple law"
                )
            }
            Shape::Unclear if ends.blind() => format!(
                "whether {phase} gets slower cannot be told, so much it goes up and down: {compared}"
            ),
            Shape::Unclear => format!("{phase} goes up and down without a law: {compared}"),
            Shape::Law if law == Law::Constant => {
                format!("{phase} does not get slower: {compared}")
            }
            Shape::Law => {
                let (lead, verb) = way(ends);
                let how = self.law(law, exponent);
                format!(
                    "{phase} {lead} {ratio} times as long at {all} {noun} as at the first {few} \
                     ({span}): it {verb} {how}"
                )
            }
        }
    }

    fn compared(&self, ends: &Ends) -> String {
        let (all, few) = (grouped(self.operations), grouped(ends.operations));
        let (ratio, span) = (say::times(ends.ratio), say::span(ends.interval));
        let noun = self.noun;
        format!("{ratio} times ({span}) as long in the last {few} of {all} {noun} as in the first")
    }

    /// Where so many repeats have a course in common, and what lies between their ends may be nothing.
    pub(super) fn disagree(&self, ends: &Ends, repeats: usize) -> String {
        let (phase, compared) = (&self.phase, self.compared(ends));
        match repeats {
            1 => format!("whether {phase} gets slower cannot be told of one repeat: {compared}"),
            _ => format!("repeats do not agree whether {phase} gets slower: {compared}"),
        }
    }

    fn threshold(&self, found: &Threshold) -> String {
        let Self { phase, noun, operations } = self;
        let operation = |value: f64| units::figures(value.max(0.0), 3);
        let [low, high] = found.interval.map(operation);
        let (at, all) = (operation(found.at), grouped(*operations));
        let (ratio, span) = (say::times(found.ratio), say::span(found.ratio_interval));
        let lead = if found.ratio < 1.0 { "gets faster: it takes" } else { "takes" };
        let faster = if found.ratio < 1.0 { "falls" } else { "grows" };
        if found.is_step() {
            format!(
                "{phase} {lead} {ratio} times ({span}) as long from about {at} {noun} on ({low} to \
                 {high})"
            )
        } else {
            format!(
                "{phase} takes the same time up to about {at} {noun} ({low} to {high}), and from \
                 there on it {faster}: to {ratio} times as long at {all} ({span})"
            )
        }
    }

    fn law(&self, law: Law, (exponent, interval): (f64, Option<[f64; 2]>)) -> String {
        let noun = self.noun;
        match law {
            Law::Linear => format!("linearly with the number of {noun}"),
            Law::Logarithmic => format!("with the logarithm of the number of {noun}"),
            _ => format!(
                "as the number of {noun} to the power of {exponent:.2}{}",
                interval.map_or(String::new(), |[low, high]| format!(" ({low:.2} to {high:.2})"))
            ),
        }
    }

    /// What the median does not show.
    pub(super) fn mean(&self, ends: &Ends) -> String {
        let apart = ends.mean_ratio / ends.ratio;
        if apart < MEAN_APART && apart > 1.0 / MEAN_APART {
            return String::new();
        }
        format!("; the mean, with its rare slow ones, {} times", say::times(ends.mean_ratio))
    }
}

/// How it takes longer or shorter, and what it does then.
fn way(ends: &Ends) -> (&'static str, &'static str) {
    if ends.ratio > 1.0 { ("takes", "grows") } else { ("gets faster: it takes", "falls") }
}
