//! The course of a series that only rises.

use super::describe::finite;

/// The series that never falls and lies nearest to the values, by least squares: neighbours that fall
/// are pooled to their mean until none do (pool adjacent violators: Ayer et al., "An empirical
/// distribution function for sampling with incomplete information", Annals of Mathematical Statistics
/// 26, 1955). One that never rises is that of the negative values. Empty for what is not finite.
#[must_use]
pub(crate) fn rising(values: &[f64]) -> Vec<f64> {
    if !finite(values) {
        return Vec::new();
    }
    let mut pools: Vec<(f64, usize)> = Vec::new();
    for value in values {
        let mut pool = (*value, 1);
        while let Some((mean, number)) = pools.pop_if(|(mean, _)| *mean > pool.0) {
            let both = number + pool.1;
            pool = ((mean * number as f64 + pool.0 * pool.1 as f64) / both as f64, both);
        }
        pools.push(pool);
    }
    pools.into_iter().flat_map(|(mean, number)| std::iter::repeat_n(mean, number)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Made with `scipy.optimize.isotonic_regression`.
    #[test]
    fn neighbours_that_fall_are_pooled() {
        let found = rising(&[1.0, 3.0, 2.0, 4.0, 3.5, 3.0, 6.0, 0.0]);
        let expected = [1.0, 2.5, 2.5, 3.3, 3.3, 3.3, 3.3, 3.3];
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?}");
        assert_eq!(rising(&[1.0, 2.0, 2.0, 5.0]), [1.0, 2.0, 2.0, 5.0]);
        assert_eq!((rising(&[]), rising(&[1.0, f64::NAN])), (vec![], vec![]));
    }
}
