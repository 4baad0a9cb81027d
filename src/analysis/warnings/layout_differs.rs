//! Warns where the layout score of the files that fill a place differs between levels: fragmentation then goes with the level.

use super::table::{WarningCode, WarningFinding};
use crate::analysis::figures::RunFigures;
use crate::analysis::findings::say;
use crate::base::units::counted;
use crate::plan::DEFAULT_VARIANT;
use crate::results::book::Level;
use crate::run::site::ConditionName;

/// The mean layout scores of two levels may differ by this much.
const DIFFERENCE_MAX: f64 = 0.05;

/// Of the variants whose layout score differs between levels, the one where it differs most.
pub(super) fn layout_differs(analysis: &RunFigures<'_>) -> Option<WarningFinding> {
    let conditions = analysis.conditions();
    let at = conditions.names.iter().position(|(name, _)| *name == ConditionName::LayoutScore)?;
    let ends = |variant| {
        let score = |level| Some((level, conditions.mean(variant, Some(level), at)?));
        let mut scores: Vec<(&Level, f64)> =
            conditions.levels().into_iter().filter_map(score).collect();
        scores.sort_by(|a, b| a.1.total_cmp(&b.1));
        let (least, most) = (*scores.first()?, *scores.last()?);
        Some((variant, least, most, most.1 - least.1))
    };
    let all = conditions.variants().into_iter().filter_map(ends);
    let all: Vec<_> = all.filter(|(.., difference)| *difference > DIFFERENCE_MAX).collect();
    let (variant, least, most, _) = all.iter().max_by(|a, b| a.3.total_cmp(&b.3))?;
    let of = if *variant == DEFAULT_VARIANT { String::new() } else { format!(" of {variant}") };
    let others = match all.len() - 1 {
        0 => String::new(),
        more => format!(" (it differs on {} too)", counted(more as u64, "other variant")),
    };
    let [least, most] =
        [least, most].map(|(level, score)| format!("{score:.2} at {}", say::level_in_words(level)));
    let sentence = format!(
        "the layout score of the files that fill the place{of} is {most} and {least}{others}: what \
         changes with the level may be an effect of fragmentation."
    );
    let hint = "Compare with a variant whose layout score is the same at all levels.";
    Some(WarningFinding::of_run(WarningCode::LayoutDiffers, &sentence, hint))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::Analysis;
    use crate::base::units::Unit;
    use crate::results::book::{Book, CellKey, Condition};

    fn sentence(scores: &[(&str, f64, f64)]) -> Option<String> {
        let condition = |(variant, used, score): &(&str, f64, f64)| {
            let level = Level { axis: "space-used".into(), value: *used, unit: Unit::Percent };
            let cell = CellKey { variant: (*variant).into(), level: Some(level), repeat: 1 };
            Condition { cell, name: ConditionName::LayoutScore, value: *score, unit: Unit::Count }
        };
        let conditions = scores.iter().map(condition).collect();
        let book = Book { conditions, ..Book::default() };
        layout_differs(&Analysis::of(&book)).map(|warning| warning.sentence)
    }

    #[test]
    fn a_place_that_is_more_fragmented_the_fuller_it_is_is_named_with_its_layout_scores() {
        assert_eq!(sentence(&[]), None);
        assert_eq!(sentence(&[("a", 30.0, 0.95)]), None);
        assert_eq!(sentence(&[("a", 30.0, 0.95), ("a", 90.0, 0.91), ("b", 90.0, 0.5)]), None);
        let falling = sentence(&[("a", 30.0, 0.95), ("a", 90.0, 0.85), ("b", 90.0, 0.5)]).unwrap();
        let expected = "of a is 0.95 at 30% full and 0.85 at 90% full: ";
        assert!(falling.contains(expected), "{falling}");
    }
}
