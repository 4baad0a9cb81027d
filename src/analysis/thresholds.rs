//! Holds the thresholds of all conclusions: alphas, the evidence required and the smallest effects that
//! matter, each with its reason or source.

/// The chance that an interval does not hold the truth: intervals are at 95%.
pub(crate) const INTERVAL_ALPHA: f64 = 0.05;

/// A difference between runs is likely, and not proven, if it is significant with this chance and not with
/// [`INTERVAL_ALPHA`]: four of five such intervals hold the truth.
pub(crate) const LIKELY_ALPHA: f64 = 0.20;

/// The standard deviation of the logarithm of a rate between equal runs, where too few runs are known to
/// measure it: on a quiet machine, and beside background load. METHODOLOGY.md has the runs that they come
/// from ("What runs differ by").
pub(crate) const RUN_DEVIATION_QUIET: f64 = 0.08;
pub(crate) const RUN_DEVIATION_DISTURBED: f64 = 0.20;

/// Work that differs by so small a share is the same: sizes are drawn, and counted.
pub(crate) const WORK_SAME: f64 = 0.01;

/// The slowdown that a check accepts where nothing else is asked, as a share: `--fail-on 5%`.
pub(crate) const FAIL_ON_DEFAULT: f64 = 0.05;

/// Others' share of all processors' time in user mode that disturbs; a machine at rest stays below 2%.
pub(crate) const OTHERS_CPU_SHARE: f64 = 0.1;

/// Repeats without background load that are enough to leave the others out of a comparison.
pub(crate) const QUIET_REPEATS_MIN: usize = 3;

/// The chance of a law, a threshold, a knee or a slope where there is none: a run asks this of several
/// phases and variants, and the best of several curves is taken.
pub(crate) const FINDING_ALPHA: f64 = 0.01;

/// The chance that a change point is kept for, in a series of up to 50 values: that of Fleming et al.
/// ("Hunter", ICPE 2023).
pub const CHANGE_POINT_ALPHA: f64 = 0.001;

/// The chance of a step in a row of runs where there is none, over all its places: each is tried.
pub(crate) const RUN_STEP_ALPHA: f64 = 0.01;

/// The chance of a trend within a phase, or of two modes, where there are none. Slices that depend on
/// those before them count less.
pub(crate) const STEADINESS_ALPHA: f64 = 0.01;

/// The chance of a dip that makes two modes of values: the usual one of the dip test (Hartigan and
/// Hartigan, Annals of Statistics 13, 1985).
pub(crate) const MODES_ALPHA: f64 = 0.05;

/// The evidence that a power needs over a simpler law, and a threshold over gradual curves: twice the
/// logarithm of the likelihood ratio, "strong" in Kass and Raftery, "Bayes factors", JASA 90, 1995.
pub(crate) const POWER_EVIDENCE_MIN: f64 = 6.0;

/// The evidence that a threshold needs over a law, "very strong" in Kass and Raftery, beside what the
/// parameter more costs by BIC (Schwarz, Annals of Statistics 6, 1978).
pub(crate) const EVIDENCE_OVER_LAWS_MIN: f64 = 10.0;

/// A curve or a knee must explain this share of what values differ by: one outlier does not make one.
pub(crate) const EXPLAINED_MIN: f64 = 0.5;

/// The smallest step between the logarithms of runs: rates are not known better than to a percent.
pub(crate) const RUN_STEP_MIN: f64 = 0.01;

/// The smallest step within a phase, and the smallest trend of it: half of the slices of a phase lie
/// within it by a wide margin on machines at rest, and a rate that differs by less is still the same
/// to its reader.
pub(crate) const LATENCY_STEP_RATIO_MIN: f64 = 1.3;

/// A curve over a phase, or a knee, that changes the latency by less than this share is none.
pub(crate) const CHANGE_MIN: f64 = 0.10;

/// A change of a rate over a whole axis below this share is no effect worth stating.
pub(crate) const EFFECT_MIN: f64 = 0.02;

/// A fit is never taken to be nearer than this to the logarithms that it is made of: where they are all
/// the same to three digits, what is left is rounding.
pub(crate) const WINDOW_RESOLUTION: f64 = 0.003;

/// A phase does not get slower where the 95% interval excludes that it does by this share or more.
pub(crate) const SLOWER_MARGIN: f64 = 0.10;

/// No logarithm of a ratio of rates is stated closer than this: where code and data happen to lie in
/// memory moves a rate by as much from build to build (Mytkowicz et al., "Producing wrong data without
/// doing anything obviously wrong!", ASPLOS 2009).
pub(crate) const LOG_HALF_MIN: f64 = 0.01;

/// An interval of a logarithm as wide as this means nothing.
pub(crate) const LOG_HALF_MAX: f64 = 10.0;
