//! Averages, for each variant and level, the state of the file system (how full, how many files, ...) that each repeat found
//! before it measured.

use super::uncertainty::mean_if_any;
use boatload_base::distinct::each_once;
use boatload_base::units::Unit;
use boatload_results::book::{Book, Condition, Level};
use boatload_results::order::{level_position, variants};
use boatload_run::site::ConditionName;

/// Conditions by variant and level.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conditions {
    /// Each condition's name and unit, in the order they were looked at.
    pub names: Vec<(ConditionName, Unit)>,
    /// Variants and levels in the job file's order.
    pub places: Vec<PlaceConditions>,
}

/// The conditions of one variant at one level.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlaceConditions {
    /// The variant's name.
    pub variant: String,
    /// The level of the axis; none without an axis.
    pub level: Option<Level>,
    /// The mean over the repeats for each name, in its unit's base; `None` if it was not looked at.
    pub means: Vec<Option<f64>>,
}

/// The conditions of a book; values that are no numbers are left out.
pub(super) fn conditions(book: &Book) -> Conditions {
    // What the axis itself says needs no second telling.
    let is_level =
        |c: &Condition| c.cell.level.as_ref().is_some_and(|level| level.axis == c.name.as_str());
    // The number of a history has no mean.
    let is_figure = |c: &&Condition| {
        (c.unit == Unit::Percent || !is_level(c)) && c.name != ConditionName::History
    };
    let all: Vec<&Condition> = book.conditions.iter().filter(is_figure).collect();
    let names = each_once(all.iter().map(|c| (c.name, c.unit)));
    let mut cells = each_once(all.iter().map(|c| (c.cell.variant.as_str(), &c.cell.level)));
    let order = variants(book);
    cells.sort_by_key(|(variant, level)| {
        let variant = order.iter().position(|name| name == variant);
        (variant, level_position(book, level.as_ref()))
    });
    let means = |cell: (&str, &Option<Level>)| {
        let of_name = |name: &(ConditionName, Unit)| {
            let here = all.iter().filter(|c| (c.cell.variant.as_str(), &c.cell.level) == cell);
            let named = here.filter(|c| (c.name, c.unit) == *name && c.value.is_finite());
            mean_if_any(named.map(|c| c.value))
        };
        names.iter().map(of_name).collect()
    };
    let place = |(variant, level): (&str, &Option<Level>)| PlaceConditions {
        variant: variant.into(),
        level: level.clone(),
        means: means((variant, level)),
    };
    let places = cells.into_iter().map(place).collect();
    Conditions { names, places }
}

#[cfg(test)]
mod tests {
    use super::*;
    use boatload_results::book::CellKey;

    fn condition(variant: &str, repeat: u32, name: ConditionName, value: f64) -> Condition {
        let cell = CellKey { variant: variant.into(), level: None, repeat };
        Condition { cell, name, value, unit: Unit::Percent }
    }

    #[test]
    fn repeats_are_averaged_for_each_variant_and_what_was_not_looked_at_is_none() {
        let book = Book {
            conditions: vec![
                condition("fresh", 1, ConditionName::SpaceUsed, 30.0),
                condition("fresh", 2, ConditionName::SpaceUsed, 31.0),
                condition("aged", 1, ConditionName::SpaceUsed, 40.0),
                condition("aged", 1, ConditionName::FilesPresent, f64::NAN),
            ],
            ..Book::default()
        };
        let found = conditions(&book);
        let names: Vec<&str> = found.names.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["space-used", "files-present"]);
        let means: Vec<_> = found.places.iter().map(|p| (p.variant.as_str(), &p.means)).collect();
        assert_eq!(means[0], ("aged", &vec![Some(40.0), None]));
        assert_eq!(means[1], ("fresh", &vec![Some(30.5), None]));
    }
}
