//! Computes effects from plain numbers: ratios of two times, each with its standard error, an interval and a decision.
//! Pure functions that know no book. `tests/effects/README.md` has the method and its measured error rates; the
//! programs there are the reference, whose figures these functions reproduce to 1e-9.

pub mod contrast;
pub mod decide;
pub mod moderation;
pub mod rates;
pub mod runs;
#[cfg(test)]
mod tests;
