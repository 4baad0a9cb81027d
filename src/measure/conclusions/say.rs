//! The words of findings.

use serde_json::Value;

use crate::base::units::{self, Quantity, Unit};
use crate::measure::book::{Finding, Level};

/// A finding of a kind, with the figures of a JSON object.
pub(super) fn finding(kind: &str, sentence: String, figures: Value) -> Finding {
    let figures = match figures {
        Value::Object(figures) => figures,
        _ => serde_json::Map::new(),
    };
    Finding { kind: kind.into(), sentence, figures }
}

/// How many times: `0.012`, `1.02`, `10.2`, `213`.
pub(crate) fn times(ratio: f64) -> String {
    match ratio {
        r if r > 0.0 && r < 0.0995 => units::figures(r, 2),
        r if r < 9.995 => format!("{r:.2}"),
        r if r < 99.95 => format!("{r:.1}"),
        r => format!("{r:.0}"),
    }
}

/// `0.97 to 1.07`
pub(crate) fn span([low, high]: [f64; 2]) -> String {
    format!("{} to {}", times(low), times(high))
}

/// A span that leaves 1 out, with enough figures to see that it does.
pub(super) fn beyond([low, high]: [f64; 2]) -> String {
    let low = match times(low) {
        same if same == "1.00" => format!("{low:.3}"),
        other => other,
    };
    format!("{low} to {}", times(high))
}

/// A share as percent: `3.2%`, `21%`.
pub(crate) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent.abs() < 9.95 { format!("{percent:.1}%") } else { format!("{percent:.0}%") }
}

/// A level with its unit: `83%`, `64 KiB`, `1,000,000`.
pub(in crate::measure) fn level(level: &Level) -> String {
    value(level, level.value)
}

/// A value on the axis of a level.
pub(super) fn value(level: &Level, value: f64) -> String {
    Quantity { value, unit: level.unit }.to_string()
}

/// A value between levels, to three figures.
pub(super) fn about(level: &Level, about: f64) -> String {
    match level.unit {
        Unit::Bytes => units::bytes(about.max(0.0) as u64),
        Unit::Nanoseconds => units::duration(about),
        Unit::Count => units::figures(about, 3),
        Unit::Percent => value(level, about),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_have_as_many_figures_as_help() {
        let written: Vec<_> = [0.0123, 0.97, 1.0234, 9.999, 10.21, 213.4].map(times).into();
        assert_eq!(written, ["0.012", "0.97", "1.02", "10.0", "10.2", "213"]);
        assert_eq!(span([0.5, 12.0]), "0.50 to 12.0");
        assert_eq!(beyond([1.0042, 1.5]), "1.004 to 1.50");
        assert_eq!(beyond([1.1, 1.5]), "1.10 to 1.50");
        assert_eq!((percent(0.0316), percent(-0.214)), ("3.2%".into(), "-21%".into()));
    }
}
