//! The thresholds of what is concluded from numbers: the chances of error (alpha) that are accepted and
//! the smallest effects that matter, each with its reason or source.

/// The chance that a change point is kept for, in a series of up to 50 values: that of Fleming et al.
/// ("Hunter", ICPE 2023).
pub const CHANGE_POINT_ALPHA: f64 = 0.001;

/// The chance of a step in a row of runs where there is none, over all its places: each is tried.
pub(crate) const RUN_STEP_ALPHA: f64 = 0.01;

/// The smallest step between the logarithms of runs: rates are not known better than to a percent.
pub(crate) const RUN_STEP_MIN: f64 = 0.01;

/// The smallest step within a phase, and the smallest trend of it: half of the slices of a phase lie
/// within it by a wide margin on machines at rest, and a rate that differs by less is still the same
/// to its reader.
pub(crate) const LATENCY_STEP_RATIO_MIN: f64 = 1.3;

/// The chance of a trend within a phase, or of two modes, where there are none. Slices that depend on
/// those before them count less.
pub(crate) const STEADINESS_ALPHA: f64 = 0.01;

/// The chance of a dip that makes two modes of values: the usual one of the dip test (Hartigan and
/// Hartigan, Annals of Statistics 13, 1985).
pub(crate) const MODES_ALPHA: f64 = 0.05;

/// The chance that an interval misses the truth: intervals are at 95%.
pub(crate) const INTERVAL_ALPHA: f64 = 0.05;
