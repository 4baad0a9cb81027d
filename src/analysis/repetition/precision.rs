//! Computes the variance of rates by its source (operations in passes, passes in repeats, repeats), the
//! precision of each rate so far, and the precision that more repeats would give.

use super::forecast::{PassPart, PrecisionForecast};
use crate::analysis::power::RunDesign;
use crate::analysis::uncertainty::{IntervalBasis, rate_estimate};
use crate::base::distinct::each_once;
use crate::base::units::Unit;
use crate::plan::repetition::Passes;
use crate::results::book::{Level, Measurement};
use crate::results::content::bulk_phases;
use crate::results::order::phase_cells;
use std::collections::BTreeMap;

/// From so many repeats on a row's own deviation counts where it is larger than that of all rows of
/// its phase: variants may differ in it, and of fewer it is hardly known.
const OWN_REPEATS_MIN: usize = 6;

/// The precision, so far, of the rate of one phase of one variant at one level.
#[derive(Clone, Debug, PartialEq)]
pub struct RatePrecision {
    /// The variant and the phase.
    pub key: (String, String),
    /// Valid passes of each repeat so far.
    pub passes: Vec<u32>,
    /// Whether another number of passes can be chosen for more repeats.
    pub free: bool,
    /// Variance of a pass within its repeat, of logarithms of rates.
    pub pass: f64,
    /// Variance of repeats beyond that.
    pub repeat: f64,
    /// Half the width of the 95% interval, as a share of the mean; none for fewer than two repeats.
    pub half_width: Option<f64>,
}

/// One for each phase, variant and level that has valid measurements.
pub fn rate_precisions(measurements: &[&Measurement], free: &Passes) -> Vec<RatePrecision> {
    let counted: Vec<&Measurement> = measurements.iter().copied().filter(|m| counts(m)).collect();
    let bulk = bulk_phases(counted.iter().copied());
    let spreads = nested(counted.iter().copied());
    let mut rows = Vec::new();
    for cell in phase_cells(counted.iter().copied()) {
        let unit = if bulk.contains(cell.phase) { Unit::Bytes } else { Unit::Count };
        let spread = spreads.iter().find(|(name, _)| *name == cell.phase);
        let spread = spread.map(|(_, spread)| *spread).unwrap_or_default();
        rows.push(RatePrecision::new(&cell.measurements, unit, spread, free));
    }
    rows
}

impl RatePrecision {
    fn new(own: &[&Measurement], unit: Unit, spread: NestedVariance, free: &Passes) -> Self {
        let key = own
            .first()
            .map_or_else(Default::default, |m| (m.cell.variant.clone(), m.phase.clone()));
        let free = free.contains_key(&key);
        let of_repeat = |repeat: u32| own.iter().filter(|m| m.cell.repeat == repeat).count() as u32;
        let passes: Vec<u32> =
            each_once(own.iter().map(|m| m.cell.repeat)).into_iter().map(of_repeat).collect();
        let estimate = rate_estimate(own, unit, Measurement::durable_seconds, None);
        let half_width = estimate.filter(|found| found.basis == IntervalBasis::Repeats);
        let half_width = half_width.and_then(|found| found.relative());
        let (pass, repeat) = (spread.pass.unwrap_or_default(), spread.repeat.unwrap_or_default());
        let mut row = Self { key, passes, free, pass, repeat, half_width };
        if row.passes.len() >= OWN_REPEATS_MIN
            && let (Some(own), expected) =
                (half_width, row.forecast().half_width_after(0, &Passes::new()))
            && own > expected
            && expected > 0.0
        {
            let larger = (own / expected).powi(2);
            (row.pass, row.repeat) = (row.pass * larger, row.repeat * larger);
        }
        row
    }

    /// From which the precision after more repeats is forecast.
    pub fn forecast(&self) -> PrecisionForecast {
        let part = PassPart {
            key: self.key.clone(),
            variance: self.pass,
            so_far: self.passes.iter().map(|m| self.pass / f64::from(*m)).sum(),
            usual: self.passes.last().copied().unwrap_or(1),
            free: self.free,
        };
        PrecisionForecast {
            name: self.key.1.clone(),
            phase: Some(self.key.1.clone()),
            half_width: self.half_width,
            half_width_min: 0.0,
            is_ratio: false,
            design: RunDesign::of_rates(),
            repeats: self.passes.len() as u32,
            repeat: self.repeat,
            parts: vec![part],
        }
    }
}

/// Variances of the logarithm of a phase's rate, so that their roots are relative deviations. Each is
/// what the level adds of its own to the rate of one pass; none where it cannot be separated from others.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VarianceComponents {
    /// The phase.
    pub phase: String,
    /// What the operations of a pass leave uncertain, from its slices.
    pub operations: Option<f64>,
    /// What passes of a repeat differ by beyond that; none where repeats have one pass.
    pub passes: Option<f64>,
    /// What repeats differ by beyond that; where they have one pass, this is in it.
    pub repeats: Option<f64>,
}

/// Sums of squares of one phase over all variants and levels.
#[derive(Clone, Copy, Debug, Default)]
struct VarianceSums {
    /// Squares within repeats, and their degrees of freedom.
    within: (f64, f64),
    /// Squares between repeats, and their degrees of freedom.
    between: (f64, f64),
    /// How often the variance of repeats is in the squares between them.
    weight: f64,
    /// Squared errors of single passes, and how many.
    errors: (f64, f64),
}

/// How far the passes and repeats of a phase lie apart, over all variants and levels: their means
/// differ, and count for nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct NestedVariance {
    /// Variance of a pass within its repeat, its operations included; none where repeats have one pass.
    pub(super) pass: Option<f64>,
    /// Variance of repeats beyond that; with the passes' where it cannot be separated from it.
    repeat: Option<f64>,
    operations: Option<f64>,
}

/// The variances of each phase, in the order they were measured.
pub fn variance_components<'a>(
    measurements: impl Iterator<Item = &'a Measurement>,
) -> Vec<VarianceComponents> {
    let nested = nested(measurements);
    let of_phase = |(phase, nested): (&str, NestedVariance)| {
        let operations = nested.operations;
        let beyond = |all: f64| (all - operations.unwrap_or_default()).max(0.0);
        let passes = nested.pass.map(beyond);
        // With one pass in each repeat, what its operations do is seen between repeats.
        let one_pass = nested.pass.is_none();
        let repeats = nested.repeat.map(|all| if one_pass { beyond(all) } else { all });
        VarianceComponents { phase: phase.into(), operations, passes, repeats }
    };
    nested.into_iter().map(of_phase).collect()
}

/// The analysis of variance of passes nested in repeats, nested in what is not looked at: variants
/// and levels. Unbiased for unequal counts too (Searle, Casella and McCulloch, "Variance
/// Components", 1992, section 3.6); what comes out negative is zero.
pub(super) fn nested<'a>(
    measurements: impl Iterator<Item = &'a Measurement>,
) -> Vec<(&'a str, NestedVariance)> {
    type Cell<'a> = (&'a str, &'a str, Option<(&'a str, u64)>);
    let mut phases: Vec<&str> = Vec::new();
    let mut cells: BTreeMap<Cell<'_>, BTreeMap<u32, Vec<&Measurement>>> = BTreeMap::new();
    for m in measurements.filter(|m| counts(m)) {
        let level = |level: &'a Level| (level.axis.as_str(), level.value.to_bits());
        let key = (m.phase.as_str(), m.cell.variant.as_str(), m.cell.level.as_ref().map(level));
        cells.entry(key).or_default().entry(m.cell.repeat).or_default().push(m);
        phases.push(&m.phase);
    }
    let of_phase = |phase: &'a str| {
        let mut sums = VarianceSums::default();
        for (_, repeats) in cells.iter().filter(|((name, ..), _)| *name == phase) {
            sums.add(&repeats.values().map(Vec::as_slice).collect::<Vec<_>>());
        }
        (phase, sums.nested())
    };
    each_once(phases.into_iter()).into_iter().map(of_phase).collect()
}

/// Whether a measurement is of the job's own phases and has a rate whose logarithm is a number.
fn counts(m: &Measurement) -> bool {
    !m.is_settle() && m.valid() && m.operations > 0 && m.seconds > 0.0 && m.seconds.is_finite()
}

impl VarianceSums {
    /// Adds the passes of each repeat of one variant at one level.
    fn add(&mut self, repeats: &[&[&Measurement]]) {
        let (mut all, mut squares) = (Vec::new(), 0.0);
        for passes in repeats {
            let logs: Vec<f64> = passes.iter().map(|m| m.operations_per_second().ln()).collect();
            let n = logs.len() as f64;
            let mean = logs.iter().sum::<f64>() / n;
            self.within.0 += logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>();
            self.within.1 += n - 1.0;
            all.push((mean, n));
            squares += n * n;
            for error in passes.iter().filter_map(|m| m.rate_error.filter(|e| e.is_finite())) {
                self.errors = (self.errors.0 + error * error, self.errors.1 + 1.0);
            }
        }
        let n: f64 = all.iter().map(|(_, n)| n).sum();
        let mean = all.iter().map(|(mean, n)| mean * n).sum::<f64>() / n;
        self.between.0 += all.iter().map(|(one, n)| n * (one - mean).powi(2)).sum::<f64>();
        self.between.1 += all.len() as f64 - 1.0;
        self.weight += n - squares / n;
    }

    fn nested(self) -> NestedVariance {
        let share = |(sum, n): (f64, f64)| Some(sum / n).filter(|share: &f64| share.is_finite());
        let pass = share(self.within);
        let own = self.between.0 - self.between.1 * pass.unwrap_or_default();
        let repeat = share((own, self.weight)).map(|all| all.max(0.0));
        NestedVariance { pass, repeat, operations: share(self.errors) }
    }
}
