//! Computes how many times faster one variant is than another, with a confidence interval.

use super::sample::Values;
use crate::analysis::statistics::Interval;
use crate::analysis::statistics::describe::{mean, squares};
use crate::analysis::statistics::student::{DEGREES_MANY, as_large_a_ratio, student_t};
use crate::analysis::thresholds::{INTERVAL_ALPHA, LOG_HALF_MAX, LOG_HALF_MIN};

/// Logarithms of one thing's rates, summed up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::analysis) struct Rate {
    /// Their mean.
    pub(in crate::analysis) log: f64,
    /// How many.
    n: f64,
    /// Variance of a single one; none of one repeat, for passes do not show how repeats differ.
    variance: Option<f64>,
    /// Degrees of freedom of that variance; 0 for a single measurement.
    degrees: f64,
    /// Whether what repeats have in common was taken off.
    in_blocks: bool,
    /// Whether it varies so much more than the others that it says nothing of theirs.
    is_unsteady: bool,
}

impl Rate {
    /// Of logarithms; none if there are none.
    pub(in crate::analysis) fn new(values: &Values) -> Option<Self> {
        let all = values.figures();
        let n = all.len() as f64;
        let variance = values.repeated.then(|| squares(&all) / (n - 1.0));
        let (degrees, in_blocks, is_unsteady) = (n - 1.0, false, false);
        (n > 0.0).then(|| Self { log: mean(&all), n, variance, degrees, in_blocks, is_unsteady })
    }

    /// Of several that were measured in turns: what a repeat is like is the same for all of them, so
    /// it is taken off, and with it drift that is slower than a repeat (randomized complete blocks;
    /// Montgomery, "Design and Analysis of Experiments", chapter 4). None unless all have the same
    /// repeats, and enough degrees of freedom are left that this does not cost more than it brings.
    fn in_blocks(all: &[&Values]) -> Option<Vec<Self>> {
        let repeats = all.first()?.repeats();
        let (n, many) = (repeats.len() as f64, all.len() as f64);
        let same = |values: &&Values| values.repeated && values.repeats() == repeats;
        if !has_enough_for_blocks(n, many) || !all.iter().all(same) {
            return None;
        }
        let rates: Vec<Self> = all.iter().map(|values| Self::new(values)).collect::<Option<_>>()?;
        let of_block = |at: usize| {
            let off = all.iter().zip(&rates).map(|(values, rate)| values.all[at].1 - rate.log);
            off.sum::<f64>() / many
        };
        let blocks: Vec<f64> = (0..repeats.len()).map(of_block).collect();
        // Taking the blocks off takes a part of each one's own deviations with it.
        let degrees = (n - 1.0) * (many - 1.0) / many;
        let one = |(values, rate): (&&Values, &Self)| {
            let off = values.all.iter().zip(&blocks).map(|((_, v), block)| v - rate.log - block);
            let variance = Some(off.map(|off| off * off).sum::<f64>() / degrees);
            Self { variance, degrees, in_blocks: true, ..*rate }
        };
        Some(all.iter().zip(&rates).map(one).collect())
    }
}

/// The rate of each of several, in blocks if they were measured in turns and that can be. One that is unsteady has
/// an error of its own, and no part in that of the others.
pub(super) fn rates(all: &[&Values], in_turns: bool) -> Vec<Rate> {
    let mut rates: Vec<Rate> = all.iter().filter_map(|values| Rate::new(values)).collect();
    mark_unsteady(&mut rates);
    if rates.len() < all.len() {
        return rates;
    }
    let steady: Vec<usize> = (0..all.len()).filter(|at| !rates[*at].is_unsteady).collect();
    let values: Vec<&Values> = steady.iter().map(|at| all[*at]).collect();
    let in_blocks = if in_turns { Rate::in_blocks(&values) } else { None };
    for (at, rate) in steady.into_iter().zip(in_blocks.into_iter().flatten()) {
        rates[at] = rate;
    }
    rates
}

/// How rarely a variant may be taken for unsteady where all are alike.
const UNSTEADY_ALPHA: f64 = 0.001;

/// Marks those whose variance is larger than that of the others together, the most unsteady first, by an F test.
/// So one that stalls in one repeat of three does not hide what is sure about the others.
fn mark_unsteady(rates: &mut [Rate]) {
    loop {
        let known =
            |rate: &&Rate| !rate.is_unsteady && rate.degrees > 0.0 && rate.variance.is_some();
        let all: Vec<Rate> = rates.iter().filter(known).copied().collect();
        let sum = |rate: &Rate| rate.variance.unwrap_or_default() * rate.degrees;
        let (squares, degrees) =
            all.iter().fold((0.0, 0.0), |(s, d), rate| (s + sum(rate), d + rate.degrees));
        let chance = |rate: &Rate| {
            let others = (squares - sum(rate)) / (degrees - rate.degrees);
            let ratio = rate.variance.unwrap_or_default() / others;
            if others > 0.0 {
                as_large_a_ratio(ratio, [rate.degrees, degrees - rate.degrees])
            } else {
                1.0
            }
        };
        let is_unsteady =
            |rate: &Rate| known(&rate) && chance(rate) * all.len() as f64 <= UNSTEADY_ALPHA;
        let most = |a: &&mut Rate, b: &&mut Rate| sum(a).total_cmp(&sum(b));
        match rates.iter_mut().filter(|rate| is_unsteady(rate)).max_by(most) {
            Some(rate) => rate.is_unsteady = true,
            None => return,
        }
    }
}

/// With fewer degrees of freedom Student's t grows by more than what blocks take off.
const BLOCK_DEGREES_MIN: f64 = 4.0;

fn has_enough_for_blocks(repeats: f64, many: f64) -> bool {
    (repeats - 1.0) * (many - 1.0) >= BLOCK_DEGREES_MIN
}

/// The degrees of freedom of the variance that so many have in common, which were measured in turns so often.
pub(in crate::analysis) fn pooled_degrees(repeats: f64, many: f64) -> f64 {
    match has_enough_for_blocks(repeats, many) {
        true => (repeats - 1.0) * (many - 1.0),
        false => (repeats - 1.0) * many,
    }
}

/// A logarithm of a rate with what is known of its error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::analysis) struct RateWithError {
    /// The logarithm.
    pub(in crate::analysis) log: f64,
    /// The square of its standard error; none if it is unknown.
    pub(in crate::analysis) variance: Option<f64>,
    /// Degrees of freedom of that error.
    pub(in crate::analysis) degrees: f64,
}

impl Rate {
    /// With the error that its own repeats show.
    pub(in crate::analysis) fn with_error(&self) -> RateWithError {
        let variance = self.variance.map(|variance| variance / self.n);
        RateWithError { log: self.log, variance, degrees: (self.n - 1.0).max(1.0) }
    }
}

/// The variance that rates of one phase have in common.
pub(super) struct PooledVariance {
    variance: Option<f64>,
    degrees: f64,
    /// Of how many rates.
    rates: usize,
}

/// How many times faster.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::analysis) struct Ratio {
    /// The logarithm of the ratio.
    pub(in crate::analysis) log: f64,
    /// Half the width of the interval of that logarithm; none if the spread is unknown.
    pub(in crate::analysis) half: Option<f64>,
}

impl PooledVariance {
    /// Pools the variances of those that were repeated.
    pub(super) fn new<'a>(rates: impl IntoIterator<Item = &'a Rate>) -> Self {
        let (mut squares, mut degrees, mut number) = (0.0, 0.0, 0);
        for rate in rates {
            if let Some(variance) = rate.variance.filter(|_| rate.n > 1.0 && !rate.is_unsteady) {
                squares += variance * rate.degrees;
                degrees += rate.degrees;
                number += 1;
            }
        }
        if degrees < 1.0 {
            return Self { variance: None, degrees: DEGREES_MANY, rates: number };
        }
        Self { variance: Some(squares / degrees), degrees, rates: number }
    }

    /// The mean over levels of how many times faster `a` is than `b`. The interval is such that
    /// all of `comparisons` hold together with 95% (Bonferroni). The variance is the pooled one,
    /// or that of the two, whichever is larger, for one variant may be much less steady: then the
    /// interval is no narrower than their own repeats allow.
    pub(super) fn ratio(&self, pairs: &[(Rate, Rate)], comparisons: usize) -> Ratio {
        let n = pairs.len() as f64;
        let log = pairs.iter().map(|(a, b)| a.log - b.log).sum::<f64>() / n;
        let all: Vec<Rate> = pairs.iter().flat_map(|(a, b)| [*a, *b]).collect();
        let alpha = INTERVAL_ALPHA / comparisons.max(1) as f64;
        let errors: Vec<RateWithError> = all.iter().map(Rate::with_error).collect();
        let of_own = half_with_own_errors(&errors, alpha);
        let half = if all.iter().any(|rate| rate.is_unsteady) {
            of_own
        } else {
            let own: Option<f64> = all.iter().map(|rate| rate.variance).sum();
            let own = own.map(|sum| sum / all.len() as f64);
            // What the others scatter says nothing of one that was not repeated.
            let of_mean = |rate: &Rate| match self.variance.zip(rate.variance) {
                Some((pooled, _)) => Some(pooled.max(own.unwrap_or(0.0)) / rate.n),
                None => rate.variance,
            };
            let variance: Option<f64> = all.iter().map(of_mean).sum();
            let of_pool = student_t(alpha, self.degrees).zip(variance);
            let of_own = of_own.filter(|_| self.says_little_of(&all, own)).unwrap_or(0.0);
            of_pool.map(|(t, variance)| (t * variance.sqrt()).max(of_own))
        };
        let half = half.map(|half| (half / n).max(LOG_HALF_MIN));
        Ratio { log, half }.without_vast_interval()
    }

    /// Whether the pooled variance says little of these, whose own is so large: they vary more than all do, or they are
    /// all there is, and one of them may vary more than the other.
    fn says_little_of(&self, all: &[Rate], own: Option<f64>) -> bool {
        let varies_more =
            own.zip(self.variance).is_some_and(|(own, pooled)| own > OWN_VARIANCE_TIMES * pooled);
        let in_blocks = all.iter().all(|rate| rate.in_blocks);
        // Blocks of two have one variance: that of their differences.
        if self.rates <= all.len() { !in_blocks } else { varies_more }
    }

    /// The ratio of two that were measured in turns. Where their own differences, repeat by repeat,
    /// spread more than those of all variants do, it is no narrower than these few allow: one variant
    /// that is much less steady hides among many that are not.
    pub(super) fn ratio_in_turns(
        &self,
        [a, b]: [Rate; 2],
        values: [&Values; 2],
        comparisons: usize,
    ) -> Ratio {
        let ratio = self.ratio(&[(a, b)], comparisons);
        let alpha = INTERVAL_ALPHA / comparisons.max(1) as f64;
        let own = || {
            let [of_a, of_b] = values.map(|values| &values.all);
            let apart: Vec<f64> = of_a.iter().zip(of_b).map(|((_, a), (_, b))| a - b).collect();
            let squares: f64 = apart.iter().map(|d| (d - ratio.log).powi(2)).sum();
            let variance = squares / (a.n - 1.0);
            let larger = variance / 2.0 > OWN_VARIANCE_TIMES * self.variance?;
            let half = student_t(alpha, a.n - 1.0)? * (variance / a.n).sqrt();
            larger.then_some(half)
        };
        let own = if a.in_blocks && b.in_blocks { own() } else { None };
        let half = ratio.half.map(|half| half.max(own.unwrap_or(0.0)));
        Ratio { half, ..ratio }.without_vast_interval()
    }
}

/// Two whose variance is so many times that of all have an interval of their own.
const OWN_VARIANCE_TIMES: f64 = 1.25;

impl Ratio {
    /// How many times faster `a` is than `b`, each with an error of its own: Welch's interval, which
    /// does not hold the truth with the chance `alpha` (Biometrika 34, 1947). It may be so wide that it
    /// means nothing.
    pub(in crate::analysis) fn welch(a: &RateWithError, b: &RateWithError, alpha: f64) -> Self {
        let half = half_with_own_errors(&[*a, *b], alpha).map(|half| half.max(LOG_HALF_MIN));
        Self { log: a.log - b.log, half }
    }

    /// Without an interval that means nothing. Not before all that may make it wider did: an unknown
    /// interval would then get a narrow one.
    pub(in crate::analysis) fn without_vast_interval(self) -> Self {
        Self { half: self.half.filter(|half| *half < LOG_HALF_MAX), ..self }
    }

    /// The ratio itself.
    pub(in crate::analysis) fn times(&self) -> f64 {
        self.log.exp()
    }

    /// Its interval.
    pub(in crate::analysis) fn interval(&self) -> Option<Interval> {
        let half = self.half?;
        Some(Interval { low: (self.log - half).exp(), high: (self.log + half).exp() })
    }

    /// Whether there is no significant difference.
    pub(in crate::analysis) fn tie(&self) -> bool {
        self.half.is_none_or(|half| self.log.abs() <= half)
    }
}

/// Half the width of the interval of a sum of figures, each with an error of its own: Student's t with the degrees of
/// freedom of Welch and Satterthwaite. None if an error is unknown.
fn half_with_own_errors(all: &[RateWithError], alpha: f64) -> Option<f64> {
    let variances: Vec<f64> = all.iter().map(|one| one.variance).collect::<Option<_>>()?;
    let sum: f64 = variances.iter().sum();
    let parts: f64 = variances.iter().zip(all).map(|(v, one)| v.powi(2) / one.degrees).sum();
    let fewest = all.iter().map(|one| one.degrees).fold(f64::INFINITY, f64::min);
    let degrees = if parts > 0.0 { sum * sum / parts } else { fewest };
    student_t(alpha, degrees).map(|t| t * sum.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(values: &[f64]) -> Rate {
        let all = values.iter().map(|v| (1, v.ln())).collect();
        Rate::new(&Values { repeated: values.len() > 1, all }).unwrap()
    }

    /// Made with scipy: `scipy.stats.ttest_ind(log([90, 100, 115]), log([50, 55, 52]), equal_var=False)`,
    /// then `.confidence_interval(0.95)` and `(0.975)`.
    #[test]
    fn two_that_were_repeated_have_the_interval_of_scipys_t_test() {
        let (a, b) = (rate(&[90.0, 100.0, 115.0]), rate(&[50.0, 55.0, 52.0]));
        let family = PooledVariance::new([&a, &b]);
        for (comparisons, expected) in
            [(1, [0.394310364, 0.925231020]), (2, [0.301449382, 1.018092002])]
        {
            let ratio = family.ratio(&[(a, b)], comparisons);
            let Interval { low, high } = ratio.interval().unwrap();
            let found = [low.ln(), high.ln()];
            for (found, expected) in found.into_iter().zip(expected) {
                assert!((found - expected).abs() < 1e-6f64, "{found} {expected}");
            }
            assert!(!ratio.tie());
        }
    }

    #[test]
    fn one_that_was_not_repeated_has_no_interval_whatever_the_others_scatter() {
        let (a, b, c) = (rate(&[90.0, 100.0, 115.0]), rate(&[50.0, 55.0, 52.0]), rate(&[70.0]));
        let family = PooledVariance::new([&a, &b, &c]);
        assert!(family.ratio(&[(a, b)], 1).interval().is_some());
        assert_eq!(family.ratio(&[(a, c)], 1).interval(), None);
        assert_eq!(family.ratio(&[(c, b)], 1).interval(), None);
    }

    /// Made with scipy: `scipy.stats.ttest_rel(log([90, 100, 115, 95, 108]), log([50, 55, 64, 52,
    /// 61])).confidence_interval(0.95)`.
    #[test]
    fn two_in_turns_have_the_interval_of_scipys_paired_t_test() {
        let values =
            |all: [f64; 5]| Values { all: (1..).zip(all.map(f64::ln)).collect(), repeated: true };
        let (a, b) =
            (values([90.0, 100.0, 115.0, 95.0, 108.0]), values([50.0, 55.0, 64.0, 52.0, 61.0]));
        let rates = rates(&[&a, &b], true);
        let family = PooledVariance::new(&rates);
        let ratio = family.ratio_in_turns([rates[0], rates[1]], [&a, &b], 1);
        let Interval { low, high } = ratio.interval().unwrap().map(f64::ln).unwrap();
        assert!(
            (low - 0.574_047_089).abs() < 1e-6 && (high - 0.604_178_210).abs() < 1e-6,
            "{low} {high}"
        );
    }

    #[test]
    fn one_that_stalls_in_a_repeat_does_not_hide_what_is_sure_about_the_others() {
        let values = |all: [f64; 3]| Values { all: (1..).zip(all).collect(), repeated: true };
        let (a, b) = (values([3.850, 3.857, 3.861]), values([4.013, 4.007, 3.996]));
        let (c, stalls) = (values([4.099, 4.093, 4.088]), values([4.179, 4.474, 4.165]));
        for in_turns in [true, false] {
            let rates = rates(&[&a, &b, &c, &stalls], in_turns);
            let unsteady: Vec<bool> = rates.iter().map(|rate| rate.is_unsteady).collect();
            assert_eq!(unsteady, [false, false, false, true]);
            let family = PooledVariance::new(&rates);
            let steady = family.ratio_in_turns([rates[0], rates[1]], [&a, &b], 6);
            assert!(!steady.tie() && steady.half.unwrap() < 0.1, "{steady:?}");
            let other = family.ratio_in_turns([rates[0], rates[3]], [&a, &stalls], 6);
            let own = [rates[0], rates[3]].map(|rate| rate.with_error());
            let alpha = INTERVAL_ALPHA / 6.0;
            let welch = Ratio::welch(&own[0], &own[1], alpha).without_vast_interval();
            assert_eq!(other, welch);
        }
    }

    #[test]
    fn repeats_that_are_not_the_same_make_no_blocks() {
        let values = |first: u32| Values {
            all: (first..first + 5).map(|repeat| (repeat, f64::from(repeat))).collect(),
            repeated: true,
        };
        assert!(Rate::in_blocks(&[&values(1), &values(1)]).is_some());
        assert!(Rate::in_blocks(&[&values(1), &values(2)]).is_none());
        let once = Values { repeated: false, ..values(1) };
        assert!(Rate::in_blocks(&[&values(1), &once]).is_none(), "passes of one repeat");
    }

    #[test]
    fn one_unsteady_variant_among_steady_ones_is_no_surer_than_it_is() {
        let wave = |size: f64| Values {
            all: (1..=6)
                .map(|at| (at, size * [1.0, -1.0, 0.5, -0.5, 0.8, -0.8][at as usize - 1]))
                .collect(),
            repeated: true,
        };
        let all = [wave(1.0), wave(0.0), wave(0.0), wave(0.0), wave(0.0)];
        let values: Vec<&Values> = all.iter().collect();
        let rates = rates(&values, true);
        let family = PooledVariance::new(&rates);
        let half = |pair: [usize; 2]| {
            let (a, b) = (rates[pair[0]], rates[pair[1]]);
            family.ratio_in_turns([a, b], pair.map(|at| &all[at]), 1).half.unwrap()
        };
        let paired =
            student_t(0.05, 5.0).unwrap() * (2.0 * (1.0 + 0.25 + 0.64) / 5.0 / 6.0f64).sqrt();
        assert!((half([0, 1]) - paired).abs() < 1e-9, "{}", half([0, 1]));
        assert!(half([1, 2]) < half([0, 1]));
    }

    /// Made with scipy: `scipy.stats.ttest_ind(log([90, 100, 115, 95]), log([50, 55, 52]),
    /// equal_var=False).confidence_interval(0.95)`.
    #[test]
    fn two_of_unlike_spread_have_the_interval_of_welchs_test() {
        let (a, b) = (rate(&[90.0, 100.0, 115.0, 95.0]), rate(&[50.0, 55.0, 52.0]));
        let Interval { low, high } =
            Ratio::welch(&a.with_error(), &b.with_error(), 0.05).interval().unwrap();
        let found = [low.ln(), high.ln()];
        for (found, expected) in found.into_iter().zip([0.484661977, 0.803499188]) {
            assert!((found - expected).abs() < 1e-6f64, "{found} {expected}");
        }
    }

    #[test]
    fn one_repeat_has_no_error_however_many_passes_it_has() {
        let (a, b) = (rate(&[100.0]), rate(&[104.0]));
        let ratio = PooledVariance::new([&a, &b]).ratio(&[(a, b)], 1);
        assert_eq!((ratio.half, ratio.tie()), (None, true));
        assert_eq!(Ratio::welch(&a.with_error(), &b.with_error(), 0.05).half, None);
        let passes = Values { all: vec![(1, 4.0), (2, 4.1), (3, 4.2)], repeated: false };
        assert_eq!(Rate::new(&passes).unwrap().with_error().variance, None);
    }

    #[test]
    fn no_interval_is_narrower_than_one_percent() {
        let (a, b) = (rate(&[100.0, 100.0]), rate(&[100.5, 100.5]));
        let ratio = PooledVariance::new([&a, &b]).ratio(&[(a, b)], 1);
        assert_eq!((ratio.half, ratio.tie()), (Some(LOG_HALF_MIN), true));
    }
}
