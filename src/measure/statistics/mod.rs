//! Statistics of plain numbers: intervals, dependence, drift, modes and changes. Pure functions that
//! know nothing of books and runs; each says where its formula is from, and is checked against
//! figures made with scipy (`tests/data/statistics.py`). None of them gives up on odd input: what is
//! too short, not finite or not possible is `None`, or empty.
//!
//! Which interval to use: [`means`].

pub mod autocorrelation;
pub mod bootstrap;
pub mod change_points;
pub mod describe;
pub mod dip;
mod interval;
pub mod isotonic;
pub mod means;
pub mod modes;
pub mod normal;
pub mod order;
pub mod student;
#[cfg(test)]
mod tests;
pub mod trend;
pub mod warm_up;

pub use interval::Interval;
pub use means::{mean_interval, ratio_interval, series_interval};
