//! Holds what every stage uses: units, problems for users, random numbers, permutations of indices.

pub(crate) mod bits;
pub(crate) mod dates;
pub(crate) mod distinct;
pub mod errno;
pub mod failure;
#[cfg(test)]
pub(crate) mod golden;
pub mod live_set;
pub(crate) mod named_enum;
pub mod names;
pub mod normal;
pub(crate) mod permutation;
pub mod problem;
pub mod random;
pub(crate) mod shell;
pub mod units;
