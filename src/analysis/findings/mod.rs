//! Draws all findings from the measurements of a run. METHODOLOGY.md states the criteria.

pub mod crossover;
pub mod curve;
mod device_load;
pub mod disk;
pub mod growth;
pub mod knee;
pub(super) mod phase_parts;
pub(super) mod phase_shape;
pub mod ranking;
pub(super) mod ratio;
pub(super) mod sample;
pub(crate) mod say;
pub mod scaling;
pub mod slope;
pub mod slow_class;
pub mod source;

use super::finding::Finding;
use crate::plan::Conclusion;
use crate::results::book::Book;
use sample::Sample;

/// The findings of the kinds that are wanted, in that order. `variants` are the names in the job
/// file's order. Only valid measurements count; a kind that nothing can be concluded of is left out.
pub fn conclude(book: &Book, wanted: &[Conclusion], variants: &[&str]) -> Vec<Finding> {
    let sample = Sample::new(book, variants);
    let is_wanted = |kind| wanted.contains(&kind);
    let crossovers =
        if is_wanted(Conclusion::Crossover) { crossover::crossover(&sample) } else { Vec::new() };
    let mut all = Vec::new();
    for kind in wanted {
        match kind {
            Conclusion::Growth => {
                all.extend(growth::growth(&sample).into_iter().map(Finding::Growth))
            }
            Conclusion::Slope => all.extend(slope::slope(&sample).into_iter().map(Finding::Slope)),
            Conclusion::Knee => all.extend(knee::knee(&sample).into_iter().map(Finding::Knee)),
            Conclusion::Scaling => {
                all.extend(scaling::scaling(&sample).into_iter().map(Finding::Scaling));
            }
            Conclusion::Crossover => {
                all.extend(crossovers.iter().cloned().map(Finding::Crossover));
            }
            Conclusion::Ranking => {
                let rankings = ranking::ranking(book, &sample, variants, &crossovers);
                all.extend(rankings.into_iter().map(Finding::Ranking));
            }
            Conclusion::Source => {
                all.extend(source::source(book).into_iter().map(Finding::Source));
                all.extend(source::destination(book).into_iter().map(Finding::Destination));
                all.extend(source::lower_cache(book).into_iter().map(Finding::LowerCache));
            }
        }
    }
    all
}

#[cfg(test)]
pub(in crate::analysis) mod tests;
