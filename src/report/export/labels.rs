//! Names of cells where they are part of a file's name or of a series.

use crate::base::units::Unit;
use crate::measure::book::{Book, Level};
use crate::measure::order::variants;
use crate::plan::DEFAULT_VARIANT;

/// Whether a variant's name tells anything: where there is more than one, or one that was named.
pub(super) fn has_variants(book: &Book) -> bool {
    let all = variants(book);
    all.len() > 1 || all.iter().any(|name| *name != DEFAULT_VARIANT)
}

/// The value of a level without separators: `20000`, `65`, `0.5`; for bytes and times in the base.
pub(super) fn plain_level(level: &Level) -> String {
    serde_json::Number::from_f64(level.value).map_or_else(String::new, |number| {
        let text = number.to_string();
        text.strip_suffix(".0").map_or(text.clone(), String::from)
    })
}

/// The same with its unit: `65percent`.
pub(super) fn level_part(level: &Level) -> String {
    let unit = match level.unit {
        Unit::Count => "",
        unit => unit.word(),
    };
    plain_level(level) + unit
}
