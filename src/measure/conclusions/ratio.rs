//! How many times faster one thing is than another, with an interval.

use super::fit::mean;
use super::sample::Values;
use crate::measure::statistics::student::{DEGREES_MANY, student_t};

/// No ratio is told closer than this: where code and data happen to lie in memory moves a rate by
/// as much from build to build (Mytkowicz et al., "Producing wrong data without doing anything
/// obviously wrong!", ASPLOS 2009).
const LOG_HALF_MIN: f64 = 0.01;

/// An interval as wide as this tells nothing.
const LOG_HALF_MAX: f64 = 10.0;

/// Logarithms of one thing's rates, summed up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rate {
    /// Their mean.
    pub(super) log: f64,
    /// How many.
    n: f64,
    /// Variance of a single one; none if it is unknown.
    variance: Option<f64>,
}

impl Rate {
    /// Of logarithms; none if there are none.
    pub(super) fn of(values: &Values) -> Option<Self> {
        let all: Vec<f64> = values.all.iter().map(|(_, value)| *value).collect();
        let (log, n) = (mean(&all), all.len() as f64);
        let squares: f64 = all.iter().map(|value| (value - log).powi(2)).sum();
        let variance = match all.as_slice() {
            [] => return None,
            [_] => values.own_error.map(|error| error * error),
            _ => Some(squares / (n - 1.0)),
        };
        Some(Self { log, n, variance })
    }
}

/// The spread that rates of one phase have in common.
pub(super) struct Family {
    variance: Option<f64>,
    degrees: f64,
}

/// How many times faster.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Ratio {
    /// The logarithm of the ratio.
    pub(super) log: f64,
    /// Half the width of the interval of that logarithm; none if the spread is unknown.
    pub(super) half: Option<f64>,
}

impl Family {
    /// Pools the variances of those that were measured more than once. Where none was, each has
    /// its own error.
    pub(super) fn of<'a>(rates: impl IntoIterator<Item = &'a Rate>) -> Self {
        let (mut squares, mut degrees) = (0.0, 0.0);
        for rate in rates {
            if let Some(variance) = rate.variance.filter(|_| rate.n > 1.0) {
                squares += variance * (rate.n - 1.0);
                degrees += rate.n - 1.0;
            }
        }
        if degrees < 1.0 {
            return Self { variance: None, degrees: DEGREES_MANY };
        }
        Self { variance: Some(squares / degrees), degrees }
    }

    /// The mean over levels of how many times faster `a` is than `b`. The interval is such that
    /// all of `comparisons` hold together with 95% (Bonferroni). The variance is the pooled one,
    /// or that of the two, whichever is larger, for one variant may be much less steady.
    pub(super) fn ratio(&self, pairs: &[(Rate, Rate)], comparisons: usize) -> Ratio {
        let n = pairs.len() as f64;
        let log = pairs.iter().map(|(a, b)| a.log - b.log).sum::<f64>() / n;
        let all: Vec<Rate> = pairs.iter().flat_map(|(a, b)| [*a, *b]).collect();
        let own: Option<f64> = all.iter().map(|rate| rate.variance).sum();
        let own = own.map(|sum| sum / all.len() as f64);
        let of = |rate: &Rate| match self.variance {
            Some(pooled) => Some(pooled.max(own.unwrap_or(0.0)) / rate.n),
            None => rate.variance,
        };
        let variance: Option<f64> = all.iter().map(of).sum();
        let miss = 0.05 / comparisons.max(1) as f64;
        let half = variance
            .zip(student_t(miss, self.degrees))
            .map(|(variance, t)| (t * variance.sqrt() / n).max(LOG_HALF_MIN));
        Ratio { log, half: half.filter(|half| *half < LOG_HALF_MAX) }
    }
}

impl Ratio {
    /// The ratio itself.
    pub(super) fn times(&self) -> f64 {
        self.log.exp()
    }

    /// Its interval.
    pub(super) fn interval(&self) -> Option<[f64; 2]> {
        self.half.map(|half| [(self.log - half).exp(), (self.log + half).exp()])
    }

    /// Whether the interval does not tell the two apart.
    pub(super) fn tie(&self) -> bool {
        self.half.is_none_or(|half| self.log.abs() <= half)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(values: &[f64]) -> Rate {
        let all = values.iter().map(|v| (1, v.ln())).collect();
        Rate::of(&Values { all, repeated: true, own_error: Some(0.03) }).unwrap()
    }

    /// Made with scipy: `scipy.stats.ttest_ind(log([90, 100, 115]), log([50, 55, 52]))`, then
    /// `.confidence_interval(0.95)` and `(0.975)`.
    #[test]
    fn two_that_were_repeated_have_the_interval_of_scipys_t_test() {
        let (a, b) = (rate(&[90.0, 100.0, 115.0]), rate(&[50.0, 55.0, 52.0]));
        let family = Family::of([&a, &b]);
        for (comparisons, expected) in
            [(1, [0.448234259, 0.871307125]), (2, [0.393456872, 0.926084512])]
        {
            let ratio = family.ratio(&[(a, b)], comparisons);
            let [low, high] = ratio.interval().unwrap();
            let found = [low.ln(), high.ln()];
            for (found, expected) in found.into_iter().zip(expected) {
                assert!((found - expected).abs() < 1e-6f64, "{found} {expected}");
            }
            assert!(!ratio.tie());
        }
    }

    #[test]
    fn a_single_measurement_has_its_own_error() {
        let (a, b) = (rate(&[100.0]), rate(&[104.0]));
        let ratio = Family::of([&a, &b]).ratio(&[(a, b)], 1);
        let half = 1.959_963_985 * 0.03 * 2f64.sqrt();
        assert!((ratio.half.unwrap() - half).abs() < 1e-6, "{ratio:?}");
        assert!(ratio.tie());
        let unknown = Rate { variance: None, ..a };
        let ratio = Family::of([&unknown, &b]).ratio(&[(unknown, b)], 1);
        assert_eq!((ratio.half, ratio.tie()), (None, true));
    }

    #[test]
    fn nothing_is_told_closer_than_one_percent() {
        let (a, b) = (rate(&[100.0, 100.0]), rate(&[100.5, 100.5]));
        let ratio = Family::of([&a, &b]).ratio(&[(a, b)], 1);
        assert_eq!((ratio.half, ratio.tie()), (Some(LOG_HALF_MIN), true));
    }
}
