//! Whether a phase went on as it began: two simple rules over the mean latencies of its slices. They
//! are meant to stay silent where they are not sure.

/// Fewer slices say nothing.
const SLICES_MIN: usize = 16;

/// A trend is told from this change on: half of the slices of a phase lie within it by a wide margin
/// on machines at rest, and a rate that differs by less is still the same to its reader.
const CHANGE_MIN: f64 = 0.3;

/// How many more pairs of slices must agree with the trend than contradict it, of all pairs (Kendall's
/// tau). Chance gives a third of that in 16 slices; a single step gives a half.
const AGREEMENT_MIN: f64 = 0.6;

/// The slower mode must take so many times longer than the faster one.
const MODES_RATIO_MIN: f64 = 1.5;

/// Each mode must hold this share of the slices: a stall or two are no mode.
const MODE_SHARE_MIN: f64 = 0.2;

/// Between the modes must lie at least this share of the distance of their middles.
const MODES_GAP_MIN: f64 = 0.5;

/// How much longer operations took at the end of a phase than at its beginning, relative to the
/// beginning; negative if they became faster. None if they went up and down, or changed little.
pub fn trend(slices: &[f64]) -> Option<f64> {
    if slices.len() < SLICES_MIN || agreement(slices).abs() < AGREEMENT_MIN {
        return None;
    }
    let end = (slices.len() / 8).max(3);
    let (first, last) = (middle(&slices[..end])?, middle(&slices[slices.len() - end..])?);
    let change = last / first - 1.0;
    let relative = if change < 0.0 { first / last - 1.0 } else { change };
    (change.is_finite() && relative >= CHANGE_MIN).then_some(change)
}

/// How many times longer operations took in the slower of two modes that a phase went back and forth
/// between, or from one to the other. None if there is only one.
pub fn two_modes(slices: &[f64]) -> Option<f64> {
    if slices.len() < SLICES_MIN {
        return None;
    }
    let mut sorted = slices.to_vec();
    sorted.sort_by(f64::total_cmp);
    let least = (slices.len() as f64 * MODE_SHARE_MIN).ceil() as usize;
    let gap = |at: &usize| sorted[*at] - sorted[*at - 1];
    let at = (least..=slices.len() - least).max_by(|a, b| gap(a).total_cmp(&gap(b)))?;
    let (fast, slow) = (middle(&sorted[..at])?, middle(&sorted[at..])?);
    let apart = gap(&at) >= (slow - fast) * MODES_GAP_MIN;
    let ratio = slow / fast;
    (apart && ratio.is_finite() && ratio >= MODES_RATIO_MIN).then_some(ratio)
}

/// Kendall's tau of the values with their order, -1 to 1.
fn agreement(values: &[f64]) -> f64 {
    let mut sum = 0.0;
    for (at, earlier) in values.iter().enumerate() {
        for later in &values[at + 1..] {
            sum += match later.total_cmp(earlier) {
                std::cmp::Ordering::Greater => 1.0,
                std::cmp::Ordering::Equal => 0.0,
                std::cmp::Ordering::Less => -1.0,
            };
        }
    }
    let pairs = values.len() * values.len().saturating_sub(1) / 2;
    sum / pairs.max(1) as f64
}

fn middle(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied()
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
    fn a_phase_that_goes_back_and_forth_has_two_modes_and_no_trend() {
        for seed in 0..100 {
            let slices = noisy(seed, 10, |at| if at / 4 % 2 == 0 { 1_000.0 } else { 3_000.0 });
            let ratio = two_modes(&slices).unwrap();
            assert!((2.5..3.5).contains(&ratio), "{ratio}");
            assert_eq!(trend(&slices), None);
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
