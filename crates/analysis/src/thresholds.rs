//! Holds the thresholds of all conclusions: alphas, the evidence required and the smallest effects that
//! matter, each with its reason or source.

/// The chance that an interval does not hold the truth: intervals are at 95%.
pub(crate) const INTERVAL_ALPHA: f64 = 0.05;

/// Work that differs by so small a share is the same: sizes are drawn, and counted.
pub(crate) const WORK_SAME: f64 = 0.01;

/// Others' share of all processors' time that disturbs, with interrupts and without threads of the kernel that work for
/// the device; a machine at rest stays below 2%.
pub(crate) const OTHERS_CPU_SHARE: f64 = 0.1;

/// Repeats without background load that are enough to leave the others out of a comparison.
pub(crate) const QUIET_REPEATS_MIN: usize = 3;

/// The chance of a law, a threshold, a knee or a slope where there is none: a run asks this of several
/// phases and variants, and the best of several curves is taken.
pub(crate) const FINDING_ALPHA: f64 = 0.01;

/// The chance of a step in a row of runs where there is none, over all its places: each is tried.
pub(crate) const RUN_STEP_ALPHA: f64 = 0.01;

/// The evidence that a power needs over a simpler law, and a threshold over gradual curves: twice the
/// logarithm of the likelihood ratio, "strong" in Kass and Raftery, "Bayes factors", JASA 90, 1995.
pub(crate) const POWER_EVIDENCE_MIN: f64 = 6.0;

/// A curve or a knee must explain this share of what values differ by: one outlier does not make one.
pub(crate) const EXPLAINED_MIN: f64 = 0.5;

/// The smallest step between the logarithms of runs: rates are not known better than to a percent.
pub(crate) const RUN_STEP_MIN: f64 = 0.01;

/// A curve over a phase, or a knee, that changes the latency by less than this share is none.
pub(crate) const CHANGE_MIN: f64 = 0.10;

/// A fit is never taken to be nearer than this to the logarithms that it is made of: where they are all
/// the same to three digits, what is left is rounding.
pub(crate) const WINDOW_RESOLUTION: f64 = 0.003;
