//! Statistics of plain numbers: intervals, dependence, trends and modes. Pure functions
//! that know nothing of runs; each names the source of its formula and is checked against figures made
//! with scipy (`tests/data/statistics.py`). Too few values, values that are not finite and impossible
//! input give `None`, or nothing.

mod autocorrelation;
pub(crate) mod describe;
mod dip;
mod interval;
pub(crate) mod isotonic;
mod means;
mod modes;
pub(crate) mod normal;
pub(crate) mod order;
pub(crate) mod student;
#[cfg(test)]
mod tests;
mod trend;

pub use autocorrelation::slices;
pub(crate) use autocorrelation::{dependence, effective_size};
pub(crate) use dip::dip_chance;
pub use interval::Interval;
pub use means::mean_interval;
pub use modes::{ModeGroup, Modes, modes};
pub use trend::{Trend, trend};
