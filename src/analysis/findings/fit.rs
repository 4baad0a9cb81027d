//! Straight lines through weighted points, and what is robust against a few wild ones.

pub(super) use crate::analysis::statistics::dependence;
pub(in crate::analysis) use crate::analysis::statistics::describe::{mean, median};

/// A straight line with what its points tell of its error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct StraightLine {
    /// Its height at zero.
    pub(super) height: f64,
    /// Its rise for each unit.
    pub(super) rise: f64,
    /// Variance of the height, covariance of both, variance of the rise, for a variance of one
    /// at points of weight one.
    pub(super) spread: [f64; 3],
}

impl StraightLine {
    /// Through points (x, y, weight) by least squares; none if they do not make a line.
    pub(super) fn through(points: impl Iterator<Item = (f64, f64, f64)> + Clone) -> Option<Self> {
        let (mut weight, mut sum_x, mut sum_y) = (0.0, 0.0, 0.0);
        for (x, y, w) in points.clone() {
            weight += w;
            sum_x += w * x;
            sum_y += w * y;
        }
        let (mean_x, mean_y) = (sum_x / weight, sum_y / weight);
        let (mut squares, mut products) = (0.0, 0.0);
        for (x, y, w) in points {
            squares += w * (x - mean_x).powi(2);
            products += w * (x - mean_x) * (y - mean_y);
        }
        let rise = products / squares;
        let height = mean_y - rise * mean_x;
        let spread = [1.0 / weight + mean_x * mean_x / squares, -mean_x / squares, 1.0 / squares];
        let whole = rise.is_finite() && height.is_finite() && spread.iter().all(|s| s.is_finite());
        (squares > 0.0 && whole).then_some(Self { height, rise, spread })
    }

    /// Its height at `x`.
    pub(super) fn at(&self, x: f64) -> f64 {
        self.height + self.rise * x
    }
}

/// What the standard deviation of residuals would be without their wild ones: 1.4826 times the
/// median of their sizes, which is it for the normal distribution.
pub(super) fn scale(residuals: &[f64]) -> f64 {
    let sizes: Vec<f64> = residuals.iter().map(|r| r.abs()).collect();
    1.4826 * median(&sizes)
}

/// The weight that Tukey's biweight gives a residual: nothing beyond 4.685 deviations, where it
/// loses 5% of its efficiency on normal data (Huber and Ronchetti, "Robust Statistics", 2009).
pub(super) fn biweight(residual: f64, deviation: f64) -> f64 {
    let u = residual / (4.685 * deviation);
    if u.abs() < 1.0 { (1.0 - u * u).powi(2) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Made with numpy: `C = inv(X.T @ W @ X); C @ X.T @ W @ y` for the rows below.
    #[test]
    fn a_line_and_its_spread_are_those_of_numpy() {
        let points = [
            (0.0, 1.1, 1.0),
            (1.0, 2.9, 2.0),
            (2.0, 5.2, 1.0),
            (3.0, 7.1, 1.0),
            (4.0, 8.8, 3.0),
            (5.0, 11.3, 1.0),
        ];
        let line = StraightLine::through(points.into_iter()).unwrap();
        let near = |found: f64, expected: f64| (found - expected).abs() < 1e-6;
        assert!(near(line.height, 1.003_703_7) && near(line.rise, 1.994_444_4), "{line:?}");
        let squares = 0.072_037_037;
        let expected = [0.029_348_42, -0.008_004_12, 0.003_001_54];
        for (found, expected) in line.spread.into_iter().zip(expected) {
            assert!((found * squares - expected).abs() < 1e-7, "{line:?}");
        }
    }

    #[test]
    fn points_above_each_other_make_no_line() {
        assert_eq!(StraightLine::through([(1.0, 1.0, 1.0), (1.0, 2.0, 1.0)].into_iter()), None);
        assert_eq!(StraightLine::through([].into_iter()), None);
        assert_eq!(
            StraightLine::through([(1.0, f64::NAN, 1.0), (2.0, 2.0, 1.0)].into_iter()),
            None
        );
    }

    #[test]
    fn a_wild_value_moves_neither_median_nor_scale() {
        assert!((median(&[3.0, 1.0, 1e9, 2.0, 2.5]) - 2.5).abs() < 1e-12);
        assert!((scale(&[-1.0, 1.0, -1.0, 1.0, 1e9]) - 1.4826).abs() < 1e-12);
        assert!(median(&[]).is_nan());
    }
}
