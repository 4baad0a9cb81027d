//! From raw latencies to figures: histograms, windows, measurements, findings, and the book that
//! holds all results of a run.

pub mod amplification;
pub mod analysis;
pub mod book;
pub mod change;
pub mod compare;
pub mod conclusions;
pub mod conditions;
mod content;
pub(crate) mod course;
mod disturbances;
pub mod effort;
pub mod estimate;
pub mod finding;
#[cfg(test)]
pub(crate) mod fixture;
pub mod histogram;
pub mod history;
pub mod latencies;
pub mod next;
pub mod order;
pub mod recorder;
pub mod reference;
pub mod statistics;
pub(crate) mod steadiness;
pub mod summary;
pub mod tails;
pub mod thresholds;
pub(crate) mod timeline;
pub(crate) mod trials;
pub mod uncertainty;
pub mod warnings;
pub mod windows;
