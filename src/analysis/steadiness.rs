//! Whether a phase went on as it began: a trend and two modes of the mean latencies of its slices,
//! where they are large. A sure but small trend is none.

use super::statistics::describe::median;
use super::statistics::{self, dip_chance, effective_size, modes};
use super::thresholds::{LATENCY_STEP_RATIO_MIN, STEADINESS_ALPHA};

/// Fewer slices say nothing.
const SLICES_MIN: usize = 16;

/// How many more pairs of slices must agree with the trend than contradict it, of all pairs (Kendall's
/// tau). A single step gives a half.
const AGREEMENT_MIN: f64 = 0.6;

/// With this agreement a trend needs no test: what is left beside a line without noise is rounding,
/// which depends on itself as much as can be.
const AGREEMENT_FULL: f64 = 0.9;

/// So many independent slices at least must there be to see modes: one change from one level to
/// another leaves fewer, and is a jump.
const SIZE_MIN: f64 = 8.0;

/// The slower mode must take so many times longer than the faster one.
const MODES_RATIO_MIN: f64 = 1.5;

/// Each mode must hold this share of the slices: a stall or two are no mode.
const MODE_SHARE_MIN: f64 = 0.2;

/// How much longer operations took at the end of a phase than at its beginning, relative to the
/// beginning; negative if they became faster. None if they went up and down, or changed little.
pub(crate) fn trend(slices: &[f64]) -> Option<f64> {
    let found = statistics::trend(slices).filter(|_| slices.len() >= SLICES_MIN)?;
    let sure = found.p_value <= STEADINESS_ALPHA || found.tau.abs() >= AGREEMENT_FULL;
    if found.tau.abs() < AGREEMENT_MIN || !sure {
        return None;
    }
    let end = (slices.len() / 8).max(3);
    let (first, last) = (median(&slices[..end]), median(&slices[slices.len() - end..]));
    let change = last / first - 1.0;
    let relative = if change < 0.0 { first / last - 1.0 } else { change };
    (change.is_finite() && 1.0 + relative >= LATENCY_STEP_RATIO_MIN).then_some(change)
}

/// How many times longer operations took in the slower of two modes that a phase went back and forth
/// between. None if there is only one.
pub(crate) fn two_modes(slices: &[f64]) -> Option<f64> {
    let found = modes(slices, 0).filter(|_| slices.len() >= SLICES_MIN)?;
    let ratio = found.high.mean / found.low.mean;
    let both = found.low.share.min(found.high.share) >= MODE_SHARE_MIN;
    let large = both && ratio.is_finite() && ratio >= MODES_RATIO_MIN && found.two();
    let size = effective_size(slices).filter(|size| *size >= SIZE_MIN)?;
    (large && dip_chance(found.dip, size as usize, 0) <= STEADINESS_ALPHA).then_some(ratio)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::random::{Stream, below, draw};

    /// `of` of each slice, with noise of so many percent.
    fn noisy(seed: u64, percent: u64, of: impl Fn(u64) -> f64) -> Vec<f64> {
        let noise = |at| below(draw(seed, Stream::Noise, at), 2 * percent + 1) as f64;
        (0..32).map(|at| of(at) * (1.0 + (noise(at) - percent as f64) / 100.0)).collect()
    }

    #[test]
    fn noise_alone_is_neither_a_trend_nor_two_modes() {
        for seed in 0..500 {
            let slices = noisy(seed, 30, |_| 1_000.0);
            assert_eq!((trend(&slices), two_modes(&slices)), (None, None), "{slices:?}");
        }
    }

    #[test]
    fn a_rise_and_a_fall_are_told_with_their_size_and_a_small_one_is_not() {
        for seed in 0..100 {
            let rise = trend(&noisy(seed, 10, |at| 1_000.0 + 50.0 * at as f64)).unwrap();
            assert!((0.8..2.2).contains(&rise), "{rise}");
            let fall = trend(&noisy(seed, 10, |at| 2_550.0 - 50.0 * at as f64)).unwrap();
            assert!((-0.7..-0.4).contains(&fall), "{fall}");
            assert_eq!(trend(&noisy(seed, 3, |at| 1_000.0 + 5.0 * at as f64)), None);
        }
    }

    #[test]
    fn a_rise_without_any_noise_is_told_too() {
        let rise = trend(&noisy(1, 0, |at| (1_000.0 + 33.3 * at as f64).floor())).unwrap();
        assert!((0.8..1.1).contains(&rise), "{rise}");
    }

    #[test]
    fn a_phase_that_goes_back_and_forth_has_two_modes_and_no_trend() {
        for seed in 0..100 {
            let slices = noisy(seed, 10, |at| if at / 4 % 2 == 0 { 1_000.0 } else { 3_000.0 });
            let ratio = two_modes(&slices).unwrap();
            assert!((2.5..3.5).contains(&ratio), "{ratio}");
            assert_eq!(trend(&slices), None);
        }
    }

    #[test]
    fn a_single_step_is_neither() {
        for seed in 0..100 {
            let slices = noisy(seed, 10, |at| if at < 16 { 1_000.0 } else { 3_000.0 });
            assert_eq!((trend(&slices), two_modes(&slices)), (None, None), "{slices:?}");
        }
    }

    #[test]
    fn a_few_stalls_and_a_steady_rise_are_no_modes() {
        let stalls = noisy(1, 5, |at| if at % 8 == 0 { 9_000.0 } else { 1_000.0 });
        assert_eq!((trend(&stalls), two_modes(&stalls)), (None, None));
        assert_eq!(two_modes(&noisy(1, 5, |at| 1_000.0 + 100.0 * at as f64)), None);
    }

    #[test]
    fn odd_and_few_values_say_nothing() {
        for slices in [vec![], vec![1.0; 15], vec![0.0; 32], vec![f64::NAN; 32]] {
            assert_eq!((trend(&slices), two_modes(&slices)), (None, None), "{slices:?}");
        }
    }
}
