//! Forecasts the repeats that would decide an answer which cannot be told, from its figures and their intervals so far.

use super::Verdict;
use super::draft::{AnswerDraft, Lack};
use super::figures::{AnswerFigure, FigureMeasure};
use crate::analysis::power::RunDesign;
use crate::analysis::statistics::Interval;
use crate::analysis::thresholds::{LOG_HALF_MIN, SLOWER_MARGIN};
use crate::base::units::grouped;

/// Repeats beyond which none are advised.
pub(super) const REPEATS_MOST: u32 = 40;

/// What is forecast of the repeats that would decide an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RepeatsNeeded {
    /// Nothing: the answer is decided, or of its figures no interval is known.
    Unknown,
    /// So many in all.
    Few(u32),
    /// More than are advised: so many, if that can be counted on.
    TooMany(Option<u32>),
}

impl RepeatsNeeded {
    /// For an answer of a run of this design. It is taken that the figures stay as they are, and only their intervals become
    /// narrower.
    pub(super) fn of(draft: &AnswerDraft, design: &RunDesign) -> Self {
        let is_open = draft.verdict == Verdict::CannotTell && draft.lacks == Lack::Precision;
        let known: Option<Vec<OpenFigure>> = draft.figures.iter().map(OpenFigure::new).collect();
        let Some(figures) = known.filter(|figures| is_open && !figures.is_empty()) else {
            return Self::Unknown;
        };
        // One effect is enough to say yes; to say no, none may be left.
        let for_effect = figures.iter().map(OpenFigure::share_for_effect).fold(0.0, f64::max);
        let for_none = figures.iter().map(OpenFigure::share_for_none).fold(f64::INFINITY, f64::min);
        let share = for_effect.max(for_none);
        match design.repeats_to_narrow(share) {
            Some(repeats) if repeats <= REPEATS_MOST => Self::Few(repeats),
            many => Self::TooMany(many),
        }
    }

    /// That repeats will not decide it; none where they may.
    pub(super) fn in_vain(self) -> Option<String> {
        match self {
            Self::TooMany(Some(repeats)) => Some(format!(
                "More repeats will hardly tell: about {} would be needed.",
                grouped(u64::from(repeats))
            )),
            Self::TooMany(None) => {
                Some("More repeats will not tell: it is too near the margin.".into())
            }
            Self::Few(_) | Self::Unknown => None,
        }
    }
}

/// A figure on the scale on which its interval is symmetrical.
struct OpenFigure {
    /// How much longer something takes.
    longer: f64,
    /// Half the width of its interval.
    half: f64,
    /// The most that is still called none.
    margin: f64,
}

impl OpenFigure {
    fn new(figure: &AnswerFigure) -> Option<Self> {
        let Interval { low, high } = figure.interval?;
        let (longer, half, margin) = match figure.measure {
            FigureMeasure::Ratio => {
                (figure.value.ln(), (high / low).ln() / 2.0, SLOWER_MARGIN.ln_1p())
            }
            FigureMeasure::Change => (-figure.value, (high - low) / 2.0, SLOWER_MARGIN),
            FigureMeasure::OperationsPerSecond | FigureMeasure::BytesPerSecond => return None,
        };
        // Which of two variants is the faster is asked either way.
        let longer = if figure.variants.len() > 1 { longer.abs() } else { longer };
        (longer.is_finite() && half > 0.0).then_some(Self { longer, half, margin })
    }

    /// To what share of itself the interval must shrink to exclude that nothing is longer; 0 where it never will.
    fn share_for_effect(&self) -> f64 {
        self.share_of(self.longer)
    }

    /// The same to exclude that anything is longer by the margin.
    fn share_for_none(&self) -> f64 {
        self.share_of(self.margin - self.longer)
    }

    fn share_of(&self, half: f64) -> f64 {
        if half < LOG_HALF_MIN { 0.0 } else { half / self.half }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Conclusion;

    fn figure(ratio: f64, reach: f64, variants: usize) -> AnswerFigure {
        AnswerFigure {
            name: "time of b over that of a".into(),
            measure: FigureMeasure::Ratio,
            value: ratio,
            interval: Interval::new(ratio / reach, ratio * reach),
            variants: (0..variants).map(|n| n.to_string()).collect(),
            phase: None,
        }
    }

    fn needed(figures: Vec<AnswerFigure>, repeats: u32) -> RepeatsNeeded {
        let draft = AnswerDraft::cannot_tell(Lack::Precision, "x".into(), Vec::new());
        let design = RunDesign::of_rates().answered_by(Some(Conclusion::Growth));
        RepeatsNeeded::of(&draft.made_of(figures), &design.with_repeats(repeats))
    }

    #[test]
    fn a_difference_twice_as_near_takes_about_four_times_the_repeats() {
        // 20% longer, within a factor of 1.2 twice: the interval must shrink to one half.
        let RepeatsNeeded::Few(repeats) = needed(vec![figure(1.2, 1.44, 1)], 8) else { panic!() };
        assert!((25..=32).contains(&repeats), "{repeats}");
        // A margin of 10% can be excluded sooner than it can be shown that 1% is longer.
        let RepeatsNeeded::Few(repeats) = needed(vec![figure(1.01, 1.12, 1)], 8) else { panic!() };
        assert!((9..=14).contains(&repeats), "{repeats}");
        // Of two that are open one effect is enough; but nothing is only where both are.
        let both = needed(vec![figure(1.2, 1.44, 1), figure(1.01, 1.44, 1)], 8);
        assert_eq!(both, needed(vec![figure(1.2, 1.44, 1)], 8));
    }

    #[test]
    fn which_of_two_is_faster_is_asked_either_way_and_a_slowdown_is_not() {
        let faster = needed(vec![figure(1.0 / 1.2, 1.44, 2)], 8);
        assert_eq!(faster, needed(vec![figure(1.2, 1.44, 2)], 8));
        assert_ne!(faster, needed(vec![figure(1.0 / 1.2, 1.44, 1)], 8));
    }

    #[test]
    fn what_takes_more_than_forty_repeats_is_said_to_take_them_and_not_advised() {
        let far = needed(vec![figure(1.07, 1.7, 2)], 5);
        let RepeatsNeeded::TooMany(Some(repeats)) = far else { panic!("{far:?}") };
        assert!((100..300).contains(&repeats), "{repeats}");
        assert!(far.in_vain().unwrap().contains(" would be needed."));
        assert_eq!(needed(vec![], 5), RepeatsNeeded::Unknown);
        let unknown = AnswerFigure { interval: None, ..figure(1.2, 1.4, 1) };
        assert_eq!(needed(vec![unknown], 5), RepeatsNeeded::Unknown);
        assert_eq!(needed(vec![figure(1.2, 1.1, 1)], 5).in_vain(), None);
    }
}
