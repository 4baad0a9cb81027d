//! States rates in answers, each with its own 95% interval: they measure, and test nothing.

use crate::statement::{Part, parts};
use crate::statistics::Interval;
use crate::summary::PhaseSummary;
use boatload_base::units::{Unit, byte_step, figures, rounded};

/// A rate, or the lowest and the highest of several.
#[derive(Clone, Copy)]
pub(super) struct AnswerRate {
    /// The mean; of several the least and the most of theirs.
    means: [f64; 2],
    /// The 95% interval; `None` when it is not known, or too wide to say anything.
    pub(super) interval: Option<Interval>,
    /// The smallest and the largest value, where these say more than the interval.
    repeats: Option<[f64; 2]>,
    /// Significant figures, as tables have them.
    figures: [u32; 2],
    unit: Unit,
}

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
            figures: [rate.shown_figures(); 2],
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

    /// The lowest and the highest in bytes a second; `None` when they count something else.
    pub(super) fn bytes(&self) -> Option<[f64; 2]> {
        (self.unit == Unit::Bytes).then_some(self.means)
    }

    /// `16,000 a second (12,000 to 20,000)`, `1.20 GiB/s (1.00 to 1.40)`; of several with the names of the lowest and the
    /// highest: `600 (zeros) to 910 MiB/s (random)`. What stands in brackets is a part of its own.
    pub(super) fn parts(&self, names: Option<&[String; 2]>) -> [Vec<Part>; 2] {
        self.parts_of("a second", names)
    }

    /// The same of rates that count something, in these words.
    pub(super) fn parts_of(&self, word: &str, names: Option<&[String; 2]>) -> [Vec<Part>; 2] {
        let [low, high] = self.means;
        let (step, unit) = match self.unit {
            Unit::Bytes => {
                let (step, word) = byte_step(low);
                (step, format!("{word}/s"))
            }
            _ => (1.0, word.into()),
        };
        let [of_low, of_high] = self.figures;
        // As the table has them, unless rounding changes their order.
        let all = of_low.max(of_high);
        let [at_low, at_high] =
            [(low, of_low), (high, of_high)].map(|(rate, of)| rounded(rate / step, of));
        let [of_lowest, of_highest] = if at_low < at_high { [of_low, of_high] } else { [all, all] };
        let [lowest, highest] = [figures(low / step, of_lowest), figures(high / step, of_highest)];
        if lowest != highest {
            let name = |at: usize| names.map(|names| format!(" ({})", names[at]));
            let rate = parts![Part::Figure(lowest), name(0), " to ", Part::Figure(highest), " "];
            return [parts![rate, unit, name(1)], Vec::new()];
        }
        let value = |value: f64, figures_min: u32| figures(value / step, of_low.max(figures_min));
        let rate = parts![Part::Figure(format!("{} {unit}", value(low, 0)))];
        let ends = match (self.interval, self.repeats) {
            (Some(span), _) => [span.low, span.high].map(|end| value(end, 0)),
            (None, Some(ends)) => ends.map(|end| value(end, FIGURES_OF_VALUES)),
            (None, None) => return [parts!["about ", rate], Vec::new()],
        };
        let [low, high] = ends;
        let lead = if self.interval.is_some() { " (" } else { " (repeats: " };
        [rate, parts![lead, Part::Interval(format!("{low} to {high}")), ")"]]
    }
}
