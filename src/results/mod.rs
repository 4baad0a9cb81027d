//! Holds what was measured as typed data: the book of a run, its measurements, histograms and windows,
//! published figures, and the store that keeps them.

pub mod book;
pub(crate) mod content;
#[cfg(test)]
pub(crate) mod fixture;
pub mod histogram;
pub mod order;
pub mod recorder;
pub mod reference;
pub mod store;
