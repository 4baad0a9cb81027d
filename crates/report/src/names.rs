//! Formats the names of cells for headings and rows.

use std::collections::BTreeSet;

use super::text::number;
use boatload_base::units::Quantity;
use boatload_plan::DEFAULT_VARIANT;
use boatload_results::book::{CellKey, Level};

/// This name if no other has it, else the first with a number that no other has; it is taken from then on.
pub(super) fn unused(
    mut name: String,
    numbered: impl Fn(u64) -> String,
    taken: &mut BTreeSet<String>,
) -> String {
    let mut number = 1;
    while !taken.insert(name.clone()) {
        number += 1;
        name = numbered(number);
    }
    name
}

/// A variant and its level, for a heading; where nothing is compared the level alone.
pub(super) fn cell_name(variant: &str, level: Option<&Level>) -> String {
    match level {
        None => variant.to_string(),
        Some(level) if variant == DEFAULT_VARIANT => {
            format!("{} {}", level.axis, level_value(level))
        }
        Some(level) => format!("{variant}, {} {}", level.axis, level_value(level)),
    }
}

/// A cell with its repeat, for a heading.
pub(super) fn cell_and_repeat(cell: &CellKey) -> String {
    format!("{}, repeat {}", cell_name(&cell.variant, cell.level.as_ref()), cell.repeat)
}

/// The value of a level, with its unit.
pub(super) fn level_value(level: &Level) -> String {
    let Level { value, unit, .. } = level;
    let fits = *value >= 0.0 && *value < 1e15;
    if fits { Quantity { value: *value, unit: *unit }.to_string() } else { number(*value, 3) }
}

/// The value of a level without separators: `20000`, `65`, `0.5`; for bytes and times in the base.
pub(super) fn plain_level(level: &Level) -> String {
    let text = serde_json::Value::from(level.value).to_string();
    text.strip_suffix(".0").map_or(text.clone(), String::from)
}
