//! Forecasts how precise rates and the figures of an answer become with more repeats and passes.

use std::cell::RefCell;
use std::collections::BTreeMap;

use crate::analysis::power::RunDesign;
use crate::analysis::statistics::student::student_t;
use crate::plan::repetition::{PASSES_MAX, Passes};

/// A pass is never taken to cost less than this, in seconds.
const PASS_SECONDS_MIN: f64 = 1e-9;

/// Seconds of a pass of one phase, with its treatment of the caches and its sync.
#[derive(Clone, Debug, PartialEq)]
pub struct PassCost {
    /// The variant and the phase.
    pub key: (String, String),
    /// Seconds of one pass, at all levels of a repeat together.
    pub seconds: f64,
}

/// How precise a number is so far, and what its error is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct PrecisionForecast {
    /// What it is of.
    pub(super) name: String,
    /// The phase that it is of; none for several.
    pub(super) phase: Option<String>,
    /// How far its interval reaches beyond it, as a share; none for too few repeats.
    pub(super) half_width: Option<f64>,
    /// The smallest that it ever is.
    pub(super) half_width_min: f64,
    /// Whether its interval is one of logarithms.
    pub(super) is_ratio: bool,
    /// What its interval follows from.
    pub(super) design: RunDesign,
    /// Repeats so far.
    pub(super) repeats: u32,
    /// Variance of one repeat, beyond what its passes leave.
    pub(super) repeat: f64,
    /// What passes leave.
    pub(super) parts: Vec<PassPart>,
}

/// The part that passes of one phase of a variant have in the variance of a number.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PassPart {
    /// The variant and the phase.
    pub(super) key: (String, String),
    /// Variance that one pass in each repeat leaves.
    pub(super) variance: f64,
    /// What the passes of each repeat so far left, added up.
    pub(super) so_far: f64,
    /// Passes of the last repeat.
    pub(super) usual: u32,
    /// Whether another number can be chosen.
    pub(super) free: bool,
}

/// Whether every number is as precise as this, or as any is ever stated.
pub fn is_precise(rows: &[PrecisionForecast], precision: f64) -> bool {
    !rows.is_empty() && rows.iter().all(|row| row.is_precise(precision))
}

impl PrecisionForecast {
    /// Whether it is as precise as this.
    pub(super) fn is_precise(&self, precision: f64) -> bool {
        self.half_width.is_some_and(|half| half <= precision.max(self.half_width_min))
    }

    /// A share as the standard errors add up to.
    fn straight(&self, share: f64) -> f64 {
        if self.is_ratio { share.asinh() } else { share }
    }

    fn share(&self, straight: f64) -> f64 {
        if self.is_ratio { straight.sinh() } else { straight }
    }

    /// Half the width to expect, as a share, after so many more repeats with these passes; infinite for fewer than two
    /// repeats in all.
    pub(super) fn half_width_after(&self, more: u32, passes: &Passes) -> f64 {
        let (n, more) = (f64::from(self.repeats + more), f64::from(more));
        let of_part = |part: &PassPart| {
            let passes = passes.get(&part.key).filter(|_| part.free).copied();
            part.so_far + more * part.variance / f64::from(passes.unwrap_or(part.usual))
        };
        let squares = n * self.repeat + self.parts.iter().map(of_part).sum::<f64>();
        self.share(self.factor(n) * (squares.max(0.0) / n).sqrt())
    }

    /// The variance of one repeat that a half width shows.
    pub(super) fn variance_of(&self, half_width: f64) -> f64 {
        (self.straight(half_width) / self.factor(f64::from(self.repeats))).powi(2)
    }

    /// The half width of the interval for a variance of 1 in each repeat.
    fn factor(&self, repeats: f64) -> f64 {
        if repeats < 2.0 {
            return f64::INFINITY;
        }
        let error = self.design.with_repeats(repeats as u32).error();
        quantile(error.alpha, error.degrees) * error.of_one
    }

    /// The cheapest passes of so many more repeats that make it as precise as this; none if none suffice.
    pub(super) fn passes_for(
        &self,
        more: u32,
        precision: f64,
        costs: &[PassCost],
    ) -> Option<Passes> {
        let precision = precision.max(self.half_width_min);
        let free: Vec<&PassPart> = self.parts.iter().filter(|part| part.free).collect();
        if free.is_empty() || more == 0 {
            let is_enough = self.half_width_after(more, &Passes::new()) <= precision;
            return is_enough
                .then(|| free.iter().map(|part| (part.key.clone(), part.usual)).collect());
        }
        let (n, more) = (f64::from(self.repeats + more), f64::from(more));
        let fixed = self.parts.iter().filter(|part| !part.free);
        let fixed: f64 = fixed.map(|part| more * part.variance / f64::from(part.usual)).sum();
        let so_far: f64 = self.parts.iter().map(|part| part.so_far).sum();
        let all = (self.straight(precision) / self.factor(n)).powi(2) * n;
        let left = all - n * self.repeat - so_far - fixed;
        // Of all that leave this variance, those with the least cost (Lagrange).
        let seconds = |part: &PassPart| {
            let own = costs.iter().find(|cost| cost.key == part.key);
            own.map_or(PASS_SECONDS_MIN, |cost| cost.seconds.max(PASS_SECONDS_MIN))
        };
        let sum: f64 = free.iter().map(|part| (part.variance * seconds(part)).sqrt()).sum();
        let wanted = |part: &&PassPart| {
            let passes = (part.variance / seconds(part)).sqrt() * more * sum / left;
            let passes = passes.ceil().max(1.0);
            (passes <= f64::from(PASSES_MAX)).then(|| (part.key.clone(), passes as u32))
        };
        if left > 0.0 { free.iter().map(wanted).collect() } else { None }
    }
}

thread_local! {
    /// Student's t by chance and degrees of freedom: it takes longer to compute than all that is done with it, and is
    /// asked for again and again.
    static QUANTILES: RefCell<BTreeMap<[u64; 2], f64>> = const { RefCell::new(BTreeMap::new()) };
}

fn quantile(alpha: f64, degrees: f64) -> f64 {
    let computed = || student_t(alpha, degrees).unwrap_or(f64::INFINITY);
    let key = [alpha.to_bits(), degrees.to_bits()];
    QUANTILES.with_borrow_mut(|known| *known.entry(key).or_insert_with(computed))
}
