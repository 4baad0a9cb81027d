//! Holds what every stage uses: units, problems for users, small files, random numbers, permutations of
//! indices.

pub mod bits;
pub mod dates;
pub mod distinct;
pub mod errno;
pub mod failed_calls;
pub mod failure;
pub mod files;
pub mod fingerprint;
#[cfg(any(test, feature = "fixtures"))]
#[allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "for tests only"
)]
pub mod fixture;
pub mod known;
pub mod live_set;
pub mod named_enum;
pub mod names;
pub mod normal;
pub mod output;
pub mod patience;
pub mod permutation;
pub mod problem;
pub mod random;
pub mod shell;
pub mod text_limits;
pub mod units;
