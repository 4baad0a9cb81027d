//! Formats the ratios, levels and lists in the sentences of findings.

use crate::statement::{Part, parts};
use crate::statistics::Interval;
use boatload_base::units::{self, Quantity, Unit};
use boatload_plan::DEFAULT_VARIANT;
use boatload_results::book::Level;

/// `at 98% full`, `in chunks of 4 MiB`
pub(crate) fn at_level(level: &Level) -> Vec<Part> {
    let before = if level.axis == CHUNKS { "in " } else { "at " };
    parts![before, Part::Level(level_in_words(level))]
}

/// The axis of sizes of chunks.
const CHUNKS: &str = "chunk-size";

/// ` at 98% full` behind something; nothing without a level.
pub(crate) fn behind_at(level: Option<&Level>) -> Vec<Part> {
    level.map_or_else(Vec::new, |level| parts![" ", at_level(level)])
}

/// What stands before a sentence about a variant: its name, unless nothing is compared.
pub(super) fn lead(variant: &str) -> String {
    if variant == DEFAULT_VARIANT { String::new() } else { format!("{variant}: ") }
}

/// How many times: `0.012`, `1.02`, `10.2`, `213`.
pub fn times(ratio: f64) -> String {
    match ratio {
        r if r > 0.0 && r < 0.0995 => units::figures(r, 2),
        r if r < 9.995 => format!("{r:.2}"),
        r if r < 99.95 => format!("{r:.1}"),
        r => format!("{r:.0}"),
    }
}

/// How many times, with enough figures to see on which side of 1 it is.
pub fn near(ratio: f64) -> String {
    match times(ratio) {
        same if same == "1.00" && ratio != 1.0 => format!("{ratio:.3}"),
        other => other,
    }
}

/// `0.97 to 1.07`: both ends with as many decimals, enough to see on which side of 1 each is.
pub fn span(Interval { low, high }: Interval) -> String {
    let decimals = match high {
        h if h < 9.995 => 2,
        h if h < 99.95 => 1,
        _ => 0,
    };
    let shows = |value: f64, text: &str| {
        let written: f64 = text.parse().unwrap_or(f64::NAN);
        written > 0.0 && (written < 1.0, written > 1.0) == (value < 1.0, value > 1.0)
    };
    let written = (decimals..=6).map(|d| [format!("{low:.d$}"), format!("{high:.d$}")]);
    let mut told = written.filter(|[l, h]| shows(low, l) && shows(high, h));
    let [low, high] = told.next().unwrap_or_else(|| [near(low), near(high)]);
    format!("{low} to {high}")
}

/// A share as percent: `3.2%`, `21%`.
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent.abs() < 9.95 { format!("{percent:.1}%") } else { format!("{percent:.0}%") }
}

/// A level with its unit: `83%`, `64 KiB`, `1,000,000`.
pub fn level(level: &Level) -> String {
    quantity(level.value, level.unit)
}

/// A value of an axis with its unit.
pub(super) fn quantity(value: f64, unit: Unit) -> String {
    Quantity { value, unit }.to_string()
}

/// What stands above the rows of a table over an axis: `chunk` for `chunk-size`.
pub(crate) fn axis_word(axis: &str) -> &str {
    match axis {
        "space-used" => "full",
        "files-present" => "small files",
        "file-count" => "files",
        CHUNKS => "chunk of",
        own => own,
    }
}

/// What stands behind a value of an axis: `full`, `files`; none where the axis stands before it.
pub fn behind_value(axis: &str, unit: Unit) -> Option<&str> {
    match (axis, unit) {
        ("space-used", Unit::Percent) => Some("full"),
        ("files-present", Unit::Count) => Some("small files"),
        ("file-count", Unit::Count) => Some("files"),
        (counted, Unit::Count) if counted.ends_with('s') => Some(counted),
        _ => None,
    }
}

/// What stands before a value of an axis that has nothing behind it: `chunks of`.
pub fn before_value(axis: &str) -> &str {
    if axis == CHUNKS { "chunks of" } else { axis }
}

/// A level as it is said: `98% full`, `20,000 files`, `1 directory`, `chunks of 4 MiB`.
pub(crate) fn level_in_words(level: &Level) -> String {
    let value = self::level(level);
    match behind_value(&level.axis, level.unit) {
        None => format!("{} {value}", before_value(&level.axis)),
        Some(noun) if level.unit == Unit::Count && value == "1" => {
            format!("{value} {}", units::singular(noun))
        }
        Some(noun) => format!("{value} {noun}"),
    }
}

/// `a, b and c`
pub fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_what_an_axis_counts_is_said_as_one() {
        let at = |axis: &str, value, unit| Level { axis: axis.into(), value, unit };
        let said = |axis, value| level_in_words(&at(axis, value, Unit::Count));
        assert_eq!(said("files", 500.0), "500 files");
        assert_eq!(said("files-present", 1.0), "1 small file");
        assert_eq!(said("directories", 1.0), "1 directory");
        assert_eq!(said("passes", 1.0), "1 pass");
        assert_eq!(said("names", 0.0), "0 names");
        assert_eq!(said("depth", 1.0), "depth 1");
        assert_eq!(level_in_words(&at("sizes", 1.0, Unit::Bytes)), "sizes 1 B");
    }

    #[test]
    fn ratios_have_as_many_figures_as_help() {
        let written: Vec<_> = [0.0123, 0.97, 1.0234, 9.999, 10.21, 213.4].map(times).into();
        assert_eq!(written, ["0.012", "0.97", "1.02", "10.0", "10.2", "213"]);
        assert_eq!(span([0.5, 12.0].into()), "0.5 to 12.0");
        assert_eq!(span([9.8, 10.2].into()), "9.8 to 10.2");
        assert_eq!(span([1.0042, 1.5].into()), "1.004 to 1.500");
        assert_eq!(span([0.9, 0.9971].into()), "0.900 to 0.997");
        assert_eq!(span([0.0034, 306.4].into()), "0.003 to 306.400");
        assert_eq!((percent(0.0316), percent(-0.214)), ("3.2%".into(), "-21%".into()));
    }
}
