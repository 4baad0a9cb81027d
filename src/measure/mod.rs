//! From raw latencies to figures: histograms, windows, measurements, findings, and the book that
//! holds all results of a run.

pub mod book;
pub mod recorder;
pub mod warnings;
pub mod windows;
