//! Holds what was measured as typed data: the book of a run, its measurements, histograms and windows,
//! published figures, the store that keeps them, and what other benchmarks wrote.

pub mod book;
pub mod content;
pub mod crash;
#[cfg(any(test, feature = "fixtures"))]
#[allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "for tests only"
)]
pub mod fixture;
pub mod histogram;
pub mod invalid;
pub mod json_string_limits;
pub mod merging;
pub mod operation;
pub mod order;
pub mod ranks;
pub mod recorder;
pub mod reference;
pub mod store;
pub mod time_shares;
pub mod tools;
mod trace_directories;
pub mod trace_tally;
