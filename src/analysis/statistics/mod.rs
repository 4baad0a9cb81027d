//! Computes statistics of plain numbers: intervals, dependence, trends and modes. Pure functions that
//! know nothing of runs; each names the source of its formula and is checked against figures made with
//! scipy (`tests/data/statistics.py`). Too few values, values that are not finite and impossible input
//! give `None`, or nothing.

pub(crate) mod describe;
mod interval;
mod modes;
mod series;
pub(crate) mod student;
#[cfg(test)]
mod tests;

pub use interval::{Interval, mean_interval};
pub(crate) use interval::{quantile_ranks, share_interval};
pub(crate) use modes::dip_chance;
pub use modes::{ModeGroup, Modes, modes};
pub use series::{Trend, slices, trend};
pub(crate) use series::{dependence, effective_size, rising};
