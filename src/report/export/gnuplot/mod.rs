//! Scripts for gnuplot, each with its data beside it, so that a chart can be changed by hand.

mod script;

use std::fmt::Write;

use super::{ExportFormat, ExportText, no_figures, safe};
use crate::analysis::Analysis;
use crate::base::failure::shown;
use crate::report::charts::{Chart, ChartSeries, SeriesLook, SeriesSlot, aside, charts};

pub(super) const GNUPLOT: ExportFormat = ExportFormat {
    name: "gnuplot",
    about: "scripts with their data, each of which gives a PNG",
    has_phases: false,
    texts: scripts,
};

fn scripts(analysis: &Analysis<'_>) -> Result<Vec<ExportText>, String> {
    let all = charts(&[analysis]);
    if all.is_empty() { Err(no_figures()) } else { Ok(all.iter().flat_map(texts).collect()) }
}

/// The script and the data of a chart.
pub(super) fn texts(chart: &Chart) -> [ExportText; 2] {
    let key = safe(&chart.key);
    let blocks = blocks(chart);
    let file = |ending, text| ExportText { name: format!("{key}.{ending}"), text };
    [file("gp", script::script(chart, &key, &blocks)), file("dat", data_text(chart, &blocks))]
}

const POINTS: &str = "place x value low high n disturbed";
const CELLS: &str = "left right low high shade n";

/// The rows of a series: a block of the data, two empty lines from the next, as gnuplot's `index`
/// counts them.
struct DataBlock<'a> {
    series: &'a ChartSeries,
    slot: SeriesSlot,
    rows: Vec<String>,
}

fn blocks(chart: &Chart) -> Vec<DataBlock<'_>> {
    let all = chart.series.iter().zip(chart.slots());
    all.map(|(series, slot)| DataBlock { series, slot, rows: rows(series, slot) }).collect()
}

fn rows(series: &ChartSeries, slot: SeriesSlot) -> Vec<String> {
    let mut rows = Vec::new();
    for (at, point) in series.points.iter().enumerate() {
        if let Some(cell) = point.cell {
            let ends = [point.x, cell.end, point.y - 0.5, point.y + 0.5, cell.shade].map(number);
            rows.push(format!("{} {}", ends.join(" "), point.n));
            continue;
        }
        let aside = if series.look == SeriesLook::Raw { aside(at) * slot.width } else { 0.0 };
        let [low, high] = point.interval.unwrap_or([f64::NAN; 2]);
        let numbers = [point.x + slot.shift + aside, point.x, point.y, low, high].map(number);
        rows.push(format!("{} {} {}", numbers.join(" "), point.n, u8::from(point.disturbed)));
    }
    rows
}

/// The file of the data. What is not known is NaN.
fn data_text(chart: &Chart, blocks: &[DataBlock<'_>]) -> String {
    let [title, y, x] = [&chart.title, &chart.y.label, &chart.x.label].map(shown);
    let mut text = format!("# {title}: {y} by {x}, in bytes, seconds, percent or counts\n");
    for block in blocks {
        let ChartSeries { name, what, look, .. } = block.series;
        let columns = if *look == SeriesLook::Cells { CELLS } else { POINTS };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "# {}, {}\n# {columns}", shown(name), shown(what));
        block.rows.iter().for_each(|row| text.extend([row, "\n"]));
        text.push_str("\n\n");
    }
    text
}

/// In single quotes nothing has a meaning to gnuplot, neither backslashes nor backquotes, but for the
/// quote itself, which is written twice (gnuplot's manual, "Quote marks").
fn quoted(text: &str) -> String {
    format!("'{}'", shown(text).replace('\'', "''"))
}

/// The same beside a tick, where `%` begins a number's format.
fn tick(text: &str) -> String {
    quoted(&text.replace('%', "%%"))
}

/// A number as gnuplot reads it.
fn number(value: f64) -> String {
    if value.is_finite() { format!("{value:?}") } else { "NaN".into() }
}

#[cfg(test)]
mod tests;
