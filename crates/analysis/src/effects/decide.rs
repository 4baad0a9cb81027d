//! Decides which ratios of a family are longer, shorter or within 10%.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::contrast::Contrast;
pub use super::contrast::MARGIN_RATIO;

/// The chance of an error that each family may have.
pub const ALPHA: f64 = 0.05;

/// What is claimed about a ratio.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// The ratio is above 1.
    Longer,
    /// The ratio is below 1.
    Shorter,
    /// The ratio lies between 1 / 1.1 and 1.1.
    #[serde(rename = "within 10%")]
    Within,
    /// Nothing is proven.
    #[default]
    Open,
}

impl Decision {
    /// The same with both sides exchanged.
    #[must_use]
    pub fn reversed(self) -> Self {
        match self {
            Self::Longer => Self::Shorter,
            Self::Shorter => Self::Longer,
            same => same,
        }
    }

    /// Whether it says that one takes longer than the other.
    #[must_use]
    pub fn is_difference(self) -> bool {
        matches!(self, Self::Longer | Self::Shorter)
    }
}

/// Which error rate of a family is held at its alpha.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// The expected share of false claims among all claims: for tables (Benjamini and Hochberg, JRSS B 57, 1995).
    FalseDiscovery,
    /// The chance of any false claim: for headlines (Holm, Scand. J. Statistics 6, 1979).
    Holm,
}

/// A decision and the alpha of the interval that agrees with it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decided {
    /// What is claimed.
    pub decision: Decision,
    /// For [`Contrast::interval`].
    pub alpha: f64,
}

/// One family of hypotheses of the same kind, tested.
struct Family {
    claimed: Vec<bool>,
    alpha: f64,
}

impl Family {
    fn of(p: &[f64], alpha: f64, control: Control) -> Self {
        let claimed = match control {
            Control::FalseDiscovery => benjamini_hochberg(p, alpha),
            Control::Holm => holm(p, alpha),
        };
        let claims = claimed.iter().filter(|claimed| **claimed).count();
        Self { claimed, alpha: interval_alpha(claims, p.len(), alpha, control) }
    }
}

/// Decides about each contrast. "The ratio is 1" is one family of hypotheses, "one takes 1.1 times as long, or longer"
/// is another, each at alpha. Where both are rejected, the smaller p decides. An open effect has the larger of the
/// two alphas that agrees with it.
#[must_use]
pub fn decide(contrasts: &[Contrast], alpha: f64, control: Control) -> Vec<Decided> {
    let p_differ: Vec<f64> = contrasts.iter().map(Contrast::p_differ).collect();
    let p_within: Vec<f64> = contrasts.iter().map(Contrast::p_within).collect();
    let differ = Family::of(&p_differ, alpha, control);
    let within = Family::of(&p_within, alpha, control);
    let decided = |(at, contrast): (usize, &Contrast)| {
        let (differs, is_within) = (differ.claimed[at], within.claimed[at]);
        if is_within && (p_within[at] <= p_differ[at] || !differs) {
            Decided { decision: Decision::Within, alpha: within.alpha }
        } else if differs {
            let longer = contrast.estimate > 0.0;
            let decision = if longer { Decision::Longer } else { Decision::Shorter };
            Decided { decision, alpha: differ.alpha }
        } else {
            let larger = differ.alpha.max(within.alpha);
            let agrees = larger < p_differ[at].min(p_within[at]);
            let alpha = if agrees { larger } else { differ.alpha.min(within.alpha) };
            Decided { decision: Decision::Open, alpha }
        }
    };
    contrasts.iter().enumerate().map(decided).collect()
}

/// The indices of values in ascending order; of equal ones the first comes first.
fn ascending(p: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|one, other| p[*one].total_cmp(&p[*other]));
    order
}

/// Which hypotheses are rejected where the chance of any false claim is at most alpha (Holm, Scand. J. Statistics 6,
/// 1979).
#[must_use]
pub fn holm(p: &[f64], alpha: f64) -> Vec<bool> {
    let mut claimed = vec![false; p.len()];
    let order = ascending(p).into_iter().enumerate();
    for (_, at) in order.take_while(|(rank, at)| p[*at] <= alpha / (p.len() - rank) as f64) {
        claimed[at] = true;
    }
    claimed
}

/// Which hypotheses are rejected where the expected share of false ones among these is at most alpha (Benjamini and
/// Hochberg, JRSS B 57, 1995).
#[must_use]
pub fn benjamini_hochberg(p: &[f64], alpha: f64) -> Vec<bool> {
    let (order, m) = (ascending(p), p.len() as f64);
    let passes = |rank: &usize| p[order[*rank]] <= alpha * (rank + 1) as f64 / m;
    let claims = (0..p.len()).rev().find(passes).map_or(0, |rank| rank + 1);
    let mut claimed = vec![false; p.len()];
    for at in &order[..claims] {
        claimed[*at] = true;
    }
    claimed
}

/// The alpha of each interval of a family of `m` after this number of claims (Benjamini and Yekutieli, JASA 100, 2005).
/// With Holm it is the alpha of the last test. With both, no interval contradicts a decision.
#[must_use]
pub fn interval_alpha(claims: usize, m: usize, alpha: f64, control: Control) -> f64 {
    let claims = claims.max(1);
    match control {
        Control::FalseDiscovery => alpha * claims as f64 / m as f64,
        Control::Holm => alpha / (m + 1).saturating_sub(claims) as f64,
    }
}
