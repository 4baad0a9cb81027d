//! From raw latencies to figures: histograms, windows, measurements, findings, and the book that
//! holds all results of a run.

pub mod book;
pub mod conclusions;
#[cfg(test)]
pub(crate) mod fixture;
pub mod histogram;
pub mod next;
pub mod recorder;
pub mod summary;
pub mod warnings;
pub mod windows;
