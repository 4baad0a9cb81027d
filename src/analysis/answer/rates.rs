//! States rates in answers, each with its own 95% interval: they measure, and test nothing.

use crate::analysis::statistics::Interval;
use crate::analysis::summary::PhaseSummary;
use crate::base::units::{Unit, byte_step, figures};

/// A rate, or the lowest and the highest of several.
#[derive(Clone, Copy)]
pub(super) struct AnswerRate {
    /// The mean; of several the least and the most of theirs.
    means: [f64; 2],
    /// The 95% interval; none where it is not known, or too wide to say anything.
    pub(super) interval: Option<Interval>,
    /// The smallest and the largest value, where these say more than the interval.
    repeats: Option<[f64; 2]>,
    /// Significant figures that their errors allow.
    figures: [u32; 2],
    unit: Unit,
}

/// Enough to see what matters.
const FIGURES_MAX: u32 = 3;

/// Of values that were measured, however much they differ.
const FIGURES_OF_VALUES: u32 = 2;

impl AnswerRate {
    /// The rate of a row with its sync; none without a valid measurement.
    pub(super) fn of(row: &PhaseSummary) -> Option<Self> {
        let rate = row.rate.filter(|rate| rate.mean > 0.0)?;
        Some(Self {
            means: [rate.mean; 2],
            interval: rate.interval.filter(|_| !rate.is_scattered()),
            repeats: rate.range_of_values(),
            figures: [rate.figures.min(FIGURES_MAX); 2],
            unit: row.rate_unit,
        })
    }

    /// Several as one: from the lowest to the highest of them.
    pub(super) fn range(all: &[Self]) -> Option<Self> {
        let first = all.first()?;
        let least = all.iter().min_by(|a, b| a.means[0].total_cmp(&b.means[0]))?;
        let most = all.iter().max_by(|a, b| a.means[1].total_cmp(&b.means[1]))?;
        let has_intervals = all.iter().all(|one| one.interval.is_some());
        Some(Self {
            means: [least.means[0], most.means[1]],
            figures: [least.figures[0], most.figures[1]],
            interval: first.interval.filter(|_| has_intervals),
            ..*first
        })
    }

    /// [`Self::in_words`] of the rate alone.
    pub(super) fn without_interval(&self) -> String {
        Self { interval: None, repeats: None, ..*self }.in_words()
    }

    /// Of operations, in one second: `16,000`
    pub(super) fn value(&self) -> String {
        figures(self.means[0], self.figures[0])
    }

    /// `16,000 a second (12,000 to 20,000)`, `1.20 GiB/s (1.00 to 1.40)`, `600 to 910 MiB/s`
    pub(super) fn in_words(&self) -> String {
        self.in_words_of(None)
    }

    /// The same, of several with the names of the lowest and the highest: `600 (zeros) to 910 MiB/s (random)`
    pub(super) fn in_words_of(&self, names: Option<&[String; 2]>) -> String {
        let [low, high] = self.means;
        let (step, unit) = match self.unit {
            Unit::Bytes => {
                let (step, word) = byte_step(low);
                (step, format!("{word}/s"))
            }
            _ => (1.0, "a second".into()),
        };
        let [of_low, of_high] = self.figures;
        if low < high {
            // With as many figures each, so that rounding keeps their order.
            let of = of_low.max(of_high);
            let [low, high] = [low, high].map(|rate| figures(rate / step, of));
            return match names {
                Some([lowest, highest]) => format!("{low} ({lowest}) to {high} {unit} ({highest})"),
                None => format!("{low} to {high} {unit}"),
            };
        }
        let value = |value: f64| figures(value / step, of_low);
        let rate = format!("{} {unit}", value(low));
        match (self.interval, self.repeats) {
            (Some(span), _) => format!("{rate} ({} to {})", value(span.low), value(span.high)),
            (None, Some([least, most])) => {
                let value = |value: f64| figures(value / step, of_low.max(FIGURES_OF_VALUES));
                format!("{rate} (repeats: {} to {})", value(least), value(most))
            }
            (None, None) => format!("about {rate}"),
        }
    }
}
