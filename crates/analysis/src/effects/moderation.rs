//! Computes moderated variances: each is drawn towards what the other quantities of a run predict.
//!
//! Smyth, "Linear models and empirical Bayes methods for assessing differential expression in microarray experiments",
//! Statistical Applications in Genetics and Molecular Biology 3(1), 2004. Here the prior also depends on the group.
//! Variances are of log ratios or log times and have no unit.

use statrs::function::gamma::digamma;

use super::contrast::{Contrast, S2_MIN};
use crate::statistics::describe::{mean, squares};
use crate::statistics::distributions::{polygamma, trigamma};

/// The variance of true log variances within a group, as kept runs have it.
const SPREAD: f64 = 1.5;

/// [`SPREAD`] counts as this many degrees of freedom.
const SPREAD_WEIGHT: f64 = 10.0;

/// No prior is surer: `d0` is 41 at most.
const SPREAD_MIN: f64 = 0.05;

/// Fewer independent quantities tell nothing about each other.
const INDEPENDENT_MIN: usize = 3;

/// The prior variances of the quantities of a run, and the figures behind them.
#[derive(Clone, Debug, PartialEq)]
pub struct Prior {
    /// W: the variance of log variances within groups, the correlation of pairs taken out.
    pub within: f64,
    /// Lambda: the variance of true log variances within a group.
    pub spread: f64,
    /// B: the variance of true means of groups; 0 for a single group.
    pub between: f64,
    /// h: the weight of the own group in the centre.
    pub weight: f64,
    /// c: the log variance of each quantity as the others predict it.
    pub centre: Vec<f64>,
    /// V: the variance of the true log variance around the centre.
    pub variance: f64,
    /// Prior degrees of freedom.
    pub d0: f64,
    /// The prior variance of each quantity.
    pub s0_squared: Vec<f64>,
}

/// Variances of quantities, moderated.
#[derive(Clone, Debug, PartialEq)]
pub struct Moderation {
    /// The logarithm of each variance without the bias of few degrees of freedom.
    pub e: Vec<f64>,
    /// `None` where fewer than 3 quantities are independent: variances stay as they are.
    pub prior: Option<Prior>,
    /// The moderated variance of each quantity.
    pub s2: Vec<f64>,
}

impl Moderation {
    /// The degrees of freedom that each quantity has beyond its own.
    #[must_use]
    pub fn d0(&self) -> f64 {
        self.prior.as_ref().map_or(0.0, |prior| prior.d0)
    }
}

/// The unbiased logarithm of a variance with `d` degrees of freedom. Its own variance is `trigamma(d / 2)`.
pub(super) fn log_variance(s2: f64, d: f64) -> f64 {
    s2.ln() - digamma(d / 2.0) + (d / 2.0).ln()
}

/// d0 of true variances whose logarithms have this variance: `trigamma(d0 / 2) = variance`, by Newton's method (Smyth
/// 2004, appendix).
pub(super) fn prior_degrees(variance: f64) -> f64 {
    const STEPS_MAX: u32 = 60;
    const LAST_STEP: f64 = 1e-10;
    let mut y = 0.5 + 1.0 / variance;
    for _ in 0..STEPS_MAX {
        let at = polygamma(y);
        let step = at.second * (1.0 - at.second / variance) / at.third;
        y += step;
        if step.abs() <= LAST_STEP * y {
            break;
        }
    }
    2.0 * y
}

/// The prior variance of what has this mean of its log variance, and d0 degrees of freedom.
pub(super) fn prior_variance(centre: f64, d0: f64) -> f64 {
    (centre + digamma(d0 / 2.0) - (d0 / 2.0).ln()).exp()
}

/// A variance and its prior, weighed by their degrees of freedom.
pub(super) fn weighed(s0_squared: f64, d0: f64, s2: f64, d: f64) -> f64 {
    (d0 * s0_squared + d * s2) / (d0 + d)
}

/// The log variances of one group.
#[derive(Clone, Copy, Default)]
struct GroupVariances {
    count: usize,
    sum: f64,
}

impl GroupVariances {
    fn mean(self) -> f64 {
        self.sum / self.count as f64
    }
}

/// Moderates variances of quantities in groups. `s2` is the variance of each quantity, `d` its degrees of freedom (1 or
/// more), `group_of` its group, numbered from 0. `independent` is how many quantities of each group are independent:
/// K - 1 for all pairs of K variants. The prior of a quantity leaves the quantity itself out.
#[must_use]
pub fn moderate(s2: &[f64], d: &[f64], group_of: &[usize], independent: &[usize]) -> Moderation {
    let s2: Vec<f64> = s2.iter().map(|s2| s2.max(S2_MIN)).collect();
    let e: Vec<f64> = s2.iter().zip(d).map(|(s2, d)| log_variance(*s2, *d)).collect();
    let tau = mean(&d.iter().map(|d| trigamma(d / 2.0)).collect::<Vec<_>>());
    let Some(prior) = prior(&e, tau, group_of, independent) else {
        return Moderation { e, prior: None, s2 };
    };
    let own = s2.iter().zip(d).zip(&prior.s0_squared);
    let s2 = own.map(|((s2, d), s0_squared)| weighed(*s0_squared, prior.d0, *s2, *d)).collect();
    Moderation { e, prior: Some(prior), s2 }
}

/// The prior from log variances whose own variance is `tau` on average.
fn prior(e: &[f64], tau: f64, group_of: &[usize], independent: &[usize]) -> Option<Prior> {
    let mut groups = vec![GroupVariances::default(); independent.len()];
    for (e, group) in e.iter().zip(group_of) {
        groups[*group].count += 1;
        groups[*group].sum += e;
    }
    let there = || groups.iter().zip(independent).filter(|(group, _)| group.count > 0);
    let independent: usize = there().map(|(_, independent)| independent).sum();
    if independent < INDEPENDENT_MIN {
        return None;
    }
    let means: Vec<f64> = there().map(|(group, _)| group.mean()).collect();
    let (n, p, independent) = (e.len() as f64, means.len() as f64, independent as f64);
    let grouped = means.len() > 1 && groups.iter().any(|group| group.count > 1);

    // Of a group: independent quantities, and all. From these the correlation of two e of a group, roughly.
    let (k, q) = (independent / p, n / p);
    let correlation = (1.0 - k / q) / 2.0;
    let all = mean(e);
    let middle = |group: usize| if grouped { groups[group].mean() } else { all };
    let around = e.iter().zip(group_of).map(|(e, group)| (e - middle(*group)).powi(2));
    let group_number = if grouped { p } else { 1.0 };
    let within = around.sum::<f64>() / (n - group_number) / (1.0 - correlation);
    let f = independent - group_number;
    let spread =
        (((within - tau) * f + SPREAD * SPREAD_WEIGHT) / (f + SPREAD_WEIGHT)).max(SPREAD_MIN);
    // The variance of one e around the mean of its group.
    let one = spread + tau;

    let mut variance = spread + one / (independent - 1.0);
    let (mut between, mut weight) = (0.0, 0.0);
    if grouped {
        let error = one / (k - 1.0).max(0.5);
        between = (squares(&means) / (p - 1.0) - one / k).max(0.0);
        weight = between / (between + error);
        variance += weight * error + between / p;
    }
    let total: f64 = e.iter().sum();
    let centre = |(e, group): (&f64, &usize)| {
        let others = (total - e) / (n - 1.0);
        let own = groups[*group];
        if own.count < 2 {
            return others;
        }
        others + weight * ((own.sum - e) / (own.count - 1) as f64 - others)
    };
    let centre: Vec<f64> = e.iter().zip(group_of).map(centre).collect();
    let d0 = prior_degrees(variance);
    let s0_squared = centre.iter().map(|centre| prior_variance(*centre, d0)).collect();
    Some(Prior { within, spread, between, weight, centre, variance, d0, s0_squared })
}

/// The contrasts of several quantities, from the log ratios of each in two or more repeats. `group_of` and `independent`
/// are as in [`moderate`].
#[must_use]
pub fn moderated(ratios: &[Vec<f64>], group_of: &[usize], independent: &[usize]) -> Vec<Contrast> {
    let d: Vec<f64> = ratios.iter().map(|of_one| of_one.len() as f64 - 1.0).collect();
    let s2: Vec<f64> = ratios.iter().zip(&d).map(|(of_one, d)| squares(of_one) / d).collect();
    let moderation = moderate(&s2, &d, group_of, independent);
    let of_each = ratios.iter().zip(&moderation.s2).zip(&d);
    of_each
        .map(|((of_one, s2), d)| Contrast::with_variance(of_one, *s2, moderation.d0() + d))
        .collect()
}
