//! Computes quantiles of the normal distribution.

use statrs::distribution::{ContinuousCDF, Normal};

/// The value below which a standard normal number lies with this chance, from 0 to 1.
pub fn normal_quantile(chance: f64) -> f64 {
    Normal::standard().inverse_cdf(chance.clamp(0.0, 1.0))
}

/// The chance of a standard normal number below `value`.
pub fn normal_chance(value: f64) -> f64 {
    Normal::standard().cdf(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Made with Python: `statistics.NormalDist().inv_cdf(p)`; `scipy.stats.norm.ppf` gives the same.
    const QUANTILES: [(f64, f64); 6] = [
        (1e-12, -7.034_483_825_301_132),
        (0.001, -3.090_232_306_167_813),
        (0.05, -1.644_853_626_951_472_6),
        (0.3, -0.524_400_512_708_040_7),
        (0.8, 0.841_621_233_572_914_4),
        (0.999_9, 3.719_016_485_455_708_4),
    ];

    #[test]
    fn quantiles_are_those_of_scipy_and_lead_back_to_their_chances() {
        for (chance, expected) in QUANTILES {
            let found = normal_quantile(chance);
            assert!((found - expected).abs() < 1e-12, "{chance}: {found}, {expected}");
            assert!((normal_chance(found) / chance - 1.0).abs() < 1e-9, "{chance}");
        }
        assert!(normal_quantile(0.0) == f64::NEG_INFINITY && normal_quantile(1.0) == f64::INFINITY);
        assert!(normal_chance(f64::NEG_INFINITY) < 1e-30 && normal_chance(f64::INFINITY) == 1.0);
    }
}
