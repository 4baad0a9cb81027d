//! Conclusions: what a run's measurements answer, each a sentence with its figures. METHODOLOGY.md
//! states the criteria.

mod bend;
mod course;
mod crossover;
mod curve;
pub(super) mod fit;
mod growth;
mod knee;
mod laws;
mod monotone;
pub(super) mod ranking;
pub(super) mod ratio;
pub(super) mod sample;
pub(crate) mod say;
mod shape;
mod slope;
mod threshold;
mod told;

use super::book::{Book, Finding};
use super::source::source;
use crate::plan::Conclusion;
use sample::Sample;

/// The findings of the kinds that are wanted, in that order. `variants` are the names in the job
/// file's order. Only valid measurements count; a kind that nothing can be told of gives none.
pub fn conclude(book: &Book, wanted: &[Conclusion], variants: &[&str]) -> Vec<Finding> {
    let sample = Sample::of(book, variants);
    let of = |kind: &Conclusion| match kind {
        Conclusion::Growth => growth::growth(&sample),
        Conclusion::Slope => slope::slope(&sample),
        Conclusion::Knee => knee::knee(&sample),
        Conclusion::Crossover => crossover::crossover(&sample),
        Conclusion::Ranking => {
            ranking::ranking(book, &sample, variants, wanted.contains(&Conclusion::Growth))
        }
        Conclusion::Source => source(book),
    };
    wanted.iter().flat_map(of).collect()
}

#[cfg(test)]
mod tests;
