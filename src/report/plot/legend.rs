//! What letters and marks stand for.

use super::Style;
use super::row::{Ink, Row};
use crate::report::charts::{Chart, ChartMark, SeriesLook};
use crate::report::text::wrap_to;

/// Blanks between two entries.
const GAP: usize = 2;

/// As wide as a symbol and the blank behind it.
const LEAD: &str = "  ";

/// The letter of the name with this number; they come again after the last.
pub(super) fn letter(number: usize) -> char {
    (b'a' + (number % 26) as u8) as char
}

/// Rows that tell which letter is which series, and what its lines are.
pub(super) fn series(chart: &Chart, style: &Style) -> Vec<Row> {
    let names = chart.names();
    let whats: Vec<String> = names.iter().map(|(name, _)| whats(chart, name, style)).collect();
    let are_alike = names.len() > 1 && whats.iter().all(|what| *what == whats[0]);
    let entries = names.iter().zip(&whats).enumerate().map(|(at, ((name, colour), what))| {
        let has_own = !are_alike && !what.is_empty();
        let text = if has_own { format!("{name}: {what}") } else { name.to_string() };
        entry(letter(at), Ink::Series(*colour), &text, style)
    });
    let mut rows = flowing(entries, style);
    if are_alike && !whats[0].is_empty() {
        rows.extend(super::wrapped(&format!("each: {}", whats[0]), Ink::Plain, style));
    }
    rows
}

/// A symbol and what it stands for, in as many rows as that takes.
fn entry(symbol: char, ink: Ink, text: &str, style: &Style) -> Vec<Row> {
    let lines = wrap_to(style.columns, LEAD, text);
    let row = |(at, line): (usize, &String)| {
        let mut row = Row::default();
        match line.strip_prefix(LEAD).filter(|_| at == 0) {
            Some(text) => {
                row.push(symbol, ink);
                row.text(&format!(" {text}"), Ink::Plain);
            }
            None => row.text(line, Ink::Plain),
        }
        row
    };
    lines.iter().enumerate().map(row).collect()
}

/// What is drawn under a name, where that is more than one thing.
fn whats(chart: &Chart, name: &str, style: &Style) -> String {
    let mut whats: Vec<String> = Vec::new();
    for series in chart.series.iter().filter(|series| series.name == name) {
        let look = match (series.look, style.ascii) {
            (SeriesLook::Law, false) => " (dashed)",
            (SeriesLook::Law, true) => " (.)",
            (SeriesLook::Band, false) => " (dotted ground)",
            (SeriesLook::Band, true) => " (:)",
            (SeriesLook::Raw, false) => " (dots)",
            (SeriesLook::Raw, true) => " (,)",
            _ => "",
        };
        let what = format!("{}{look}", series.what);
        if !series.what.is_empty() && !whats.contains(&what) {
            whats.push(what);
        }
    }
    if whats.len() < 2 { String::new() } else { whats.join(", ") }
}

/// Entries beside each other, in as many rows as they take.
pub(super) fn flowing(entries: impl Iterator<Item = Vec<Row>>, style: &Style) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for entry in entries {
        match (rows.last_mut(), entry.as_slice()) {
            (Some(row), [only]) if row.columns() + GAP + only.columns() <= style.columns => {
                row.text(&" ".repeat(GAP), Ink::Plain);
                row.append(only.clone());
            }
            _ => rows.extend(entry),
        }
    }
    rows
}

/// The digit of a mark; more than nine share the last.
pub(super) fn digit(number: usize) -> char {
    char::from_digit(number.saturating_add(1).min(9) as u32, 10).unwrap_or('9')
}

/// What each mark is, and where.
pub(super) fn marks(chart: &Chart, style: &Style) -> Vec<Row> {
    let rows = |(at, mark): (usize, &ChartMark)| {
        let text = |value| chart.x.text(value);
        let span = mark.interval.map(|[low, high]| format!(" ({} to {})", text(low), text(high)));
        let text = format!("{} at {}{}", mark.label, text(mark.x), span.unwrap_or_default());
        entry(digit(at), mark.colour.map_or(Ink::Bold, Ink::Series), &text, style)
    };
    chart.marks.iter().enumerate().flat_map(rows).collect()
}

/// Says what an asterisk means, if there is a point with one.
pub(super) fn disturbed(chart: &Chart, style: &Style) -> Vec<Row> {
    let mut points = chart.series.iter().flat_map(|series| &series.points);
    match points.any(|point| point.disturbed) {
        true => super::wrapped("* measured under background load", Ink::Faint, style),
        false => Vec::new(),
    }
}
