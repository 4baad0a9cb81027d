//! Computes statistics of plain numbers: intervals and dependence. Pure functions that
//! know nothing of runs; each names the source of its formula and is checked against figures made with
//! scipy (`tests/data/statistics.py`). Too few values, values that are not finite and impossible input
//! give `None`, or nothing.

pub(crate) mod describe;
pub(crate) mod distributions;
mod interval;
mod series;
#[cfg(test)]
mod tests;

pub use interval::Interval;
pub(crate) use interval::share_interval;
pub(crate) use series::dependence;
pub use series::slices;
