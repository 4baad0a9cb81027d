//! Fewer values for a picture than were measured, without losing what stands out.

use std::ops::Range;

/// Which of many values to draw so that a picture of them looks the same: of each of equal parts the
/// least and the largest, and both ends of all. At most `most`, in order; all of them where they are
/// not more. `most` is at least 4.
pub(super) fn extremes(values: &[f64], most: usize) -> Vec<usize> {
    if values.len() <= most {
        return (0..values.len()).collect();
    }
    let mut kept = vec![0, values.len() - 1];
    for part in parts(values.len(), most.saturating_sub(2) / 2) {
        let by_value = |a: &usize, b: &usize| values[*a].total_cmp(&values[*b]);
        kept.extend(part.clone().min_by(by_value));
        kept.extend(part.max_by(by_value));
    }
    kept.sort_unstable();
    kept.dedup();
    kept
}

/// Equal parts of so many places, at most `most` of them, none of them empty.
pub(super) fn parts(length: usize, most: usize) -> impl Iterator<Item = Range<usize>> {
    let number = most.min(length);
    (0..number).map(move |part| part * length / number..(part + 1) * length / number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stall_among_a_million_and_the_fastest_are_kept() {
        let value = |n: usize| match n {
            123_456 => 9e9,
            777_777 => 1.0,
            n => 1_000.0 + (n % 97) as f64,
        };
        let values: Vec<f64> = (0..1_000_000).map(value).collect();
        let kept = extremes(&values, 1_000);
        assert!(kept.len() <= 1_000 && kept.len() > 900, "{}", kept.len());
        assert!(kept.windows(2).all(|pair| pair[0] < pair[1]));
        for wanted in [0, 123_456, 777_777, 999_999] {
            assert!(kept.contains(&wanted), "{wanted}");
        }
    }

    #[test]
    fn few_are_all_kept() {
        assert_eq!(extremes(&[3.0, 1.0, 2.0], 4), [0, 1, 2]);
        assert_eq!(extremes(&[], 4), [0; 0]);
        assert!(extremes(&[1.0; 9], 4).len() <= 4);
    }

    #[test]
    fn parts_hold_every_place_once() {
        for (length, most) in [(0, 5), (3, 5), (10, 3), (1_000, 7)] {
            let all: Vec<usize> = parts(length, most).flatten().collect();
            assert_eq!(all, (0..length).collect::<Vec<_>>());
            assert!(parts(length, most).all(|part| !part.is_empty()));
        }
    }
}
