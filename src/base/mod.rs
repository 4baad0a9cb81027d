//! The ground every stage stands on: units, problems for users, random numbers, index permutation.

pub mod bits;
pub mod dates;
pub mod errno;
pub mod failure;
#[cfg(test)]
pub(crate) mod golden;
pub mod live_set;
pub mod names;
pub mod permutation;
pub mod problem;
pub mod random;
pub mod shell;
pub mod units;
pub(crate) mod words;
