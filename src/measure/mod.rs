//! From raw latencies to figures: histograms, windows, measurements, findings, and the book that
//! holds all results of a run.

pub mod book;
#[cfg(test)]
pub(crate) mod fixture;
pub mod histogram;
pub mod next;
pub mod recorder;
pub mod source;
pub mod summary;
pub mod warnings;
pub mod windows;
