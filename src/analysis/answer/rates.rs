//! States rates in answers, each with its own 95% interval: they measure, and test nothing.

use crate::analysis::statistics::Interval;
use crate::analysis::summary::PhaseSummary;
use crate::base::units::{Unit, byte_step, figures};

/// A rate with its 95% interval; none where it is not known, or reaches down to nothing.
#[derive(Clone, Copy)]
pub(super) struct AnswerRate {
    pub(super) mean: f64,
    pub(super) interval: Option<Interval>,
    pub(super) unit: Unit,
}

impl AnswerRate {
    /// The rate of a row with its sync; none without a valid measurement.
    pub(super) fn of(row: &PhaseSummary) -> Option<Self> {
        let rate = row.rate.filter(|rate| rate.mean > 0.0)?;
        let half = rate.half_width.filter(|half| *half < rate.mean);
        let interval = half.and_then(|half| Interval::new(rate.mean - half, rate.mean + half));
        Some(Self { mean: rate.mean, interval, unit: row.rate_unit })
    }

    /// Several as one: from the lowest to the highest that any of them may be.
    pub(super) fn hull(all: &[Self]) -> Option<Self> {
        let first = all.first()?;
        let interval = |one: &Self| one.interval;
        let intervals: Option<Vec<Interval>> = all.iter().map(interval).collect();
        let hull = |all: Vec<Interval>| Interval {
            low: all.iter().map(|one| one.low).fold(f64::INFINITY, f64::min),
            high: all.iter().map(|one| one.high).fold(0.0, f64::max),
        };
        let mean = all.iter().map(|one| one.mean).sum::<f64>() / all.len() as f64;
        Some(Self { mean, interval: intervals.map(hull), unit: first.unit })
    }

    /// `16,000 a second (12,000 to 20,000)`, `1.20 GiB/s (1.00 to 1.40)`
    pub(super) fn in_words(&self) -> String {
        let (step, unit) = match self.unit {
            Unit::Bytes => {
                let (step, word) = byte_step(self.mean);
                (step, format!("{word}/s"))
            }
            _ => (1.0, "a second".into()),
        };
        let value = |value: f64| figures(value / step, 3);
        let rate = format!("{} {unit}", value(self.mean));
        match self.interval {
            Some(span) => format!("{rate} ({} to {})", value(span.low), value(span.high)),
            None => format!("about {rate}"),
        }
    }
}
