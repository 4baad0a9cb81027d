//! What the place was like when cells began.

use std::io::{self, Write};

use super::grid::{Grid, Group};
use super::names::level_value;
use super::table::Align;
use super::text::{number, short_time, write_wrapped};
use crate::base::units::{self, Unit, grouped};
use crate::measure::conditions::Conditions;

/// Writes a table of the conditions: by level if there are any, else by variant. Fails only if
/// `out` does.
pub(super) fn write_conditions(conditions: &Conditions, out: &mut dyn Write) -> io::Result<()> {
    write_wrapped("", &format!("{FOUND}:"), out)?;
    conditions_grid(conditions).write(out)
}

/// The title of the conditions.
pub(super) const FOUND: &str = "found before the phases, mean over the repeats";

/// The conditions by level if there are any, else by variant.
pub(super) fn conditions_grid(conditions: &Conditions) -> Grid {
    if conditions.levels().is_empty() { by_variant(conditions) } else { by_level(conditions) }
}

fn by_variant(conditions: &Conditions) -> Grid {
    let variants = conditions.variants();
    let names = variants.iter().map(|variant| variant.to_string()).collect();
    let mut grid = Grid::new("variant", names, Align::Left);
    for (at, (name, unit)) in conditions.names.iter().enumerate() {
        let cells = variants.iter().map(|variant| value(conditions.mean(variant, None, at), *unit));
        grid.add(Group::new(name.word()).column("", cells.collect()));
    }
    grid
}

fn by_level(conditions: &Conditions) -> Grid {
    let (variants, levels) = (conditions.variants(), conditions.levels());
    let names = levels.iter().map(|level| level_value(level)).collect();
    let axis = levels.first().map_or("", |level| level.axis.as_str());
    let mut grid = Grid::new(axis, names, Align::Right);
    for (at, (name, unit)) in conditions.names.iter().enumerate() {
        let mut group = Group::new(name.word());
        for variant in &variants {
            let means = levels.iter().map(|level| conditions.mean(variant, Some(level), at));
            let cells = means.map(|mean| value(mean, *unit)).collect();
            group = group.column(if variants.len() == 1 { "" } else { variant }, cells);
        }
        grid.add(group);
    }
    grid
}

fn value(mean: Option<f64>, unit: Unit) -> String {
    let Some(mean) = mean else { return "-".into() };
    match unit {
        // Small whole numbers may be shares that happen to be one.
        Unit::Count if mean > 1.0 && mean < 1e15 => grouped(mean.round() as u64),
        Unit::Count => number(mean, 3),
        Unit::Bytes => units::bytes(mean.max(0.0) as u64).replace(' ', ""),
        Unit::Percent => format!("{}%", number(mean, 3)),
        Unit::Nanoseconds => short_time(Some(mean)),
    }
}
