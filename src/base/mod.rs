//! Holds what every stage uses: units, problems for users, small files, random numbers, permutations of
//! indices.

pub(crate) mod bits;
pub(crate) mod dates;
pub(crate) mod distinct;
pub mod errno;
pub(crate) mod failed_calls;
pub mod failure;
pub(crate) mod files;
pub(crate) mod fingerprint;
#[cfg(test)]
pub(crate) mod fixture;
pub(crate) mod known;
pub mod live_set;
pub(crate) mod named_enum;
pub mod names;
pub mod normal;
pub(crate) mod output;
pub(crate) mod patience;
pub(crate) mod permutation;
pub mod problem;
pub mod random;
pub(crate) mod shell;
pub(crate) mod text_limits;
pub mod units;
