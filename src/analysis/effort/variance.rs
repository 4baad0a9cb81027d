//! Where the variance is: of operations within passes, of passes within repeats, and of repeats.

use std::collections::BTreeMap;

use crate::base::distinct::each_once;
use crate::results::book::{Level, Measurement};

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
    pub(super) repeat: Option<f64>,
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

/// Whether a measurement has a rate whose logarithm is a number.
pub(super) fn counts(m: &Measurement) -> bool {
    m.valid() && m.operations > 0 && m.seconds > 0.0 && m.seconds.is_finite()
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
