//! Draws charts as text in a terminal: bars, lines of braille dots, shaded cells. `charts` decides what
//! is drawn, this module where it goes on a grid of characters.

mod bars;
mod canvas;
mod frame;
mod lines;
mod style;
mod words;

use std::io::{self, Write};

use self::canvas::{Ink, Row};
use self::words::wrapped;
use super::charts::{Chart, SeriesLook, charts};
use crate::analysis::Analysis;

pub use canvas::plain;
pub use style::{Colours, Style};

/// Columns of a chart, whatever the terminal has.
const COLUMNS: std::ops::RangeInclusive<usize> = 40..=160;

/// Writes the first charts of a run, or of several beside each other, at most so many; gives whether there was any.
/// Fails only if `out` does.
///
/// # Errors
/// Of `out`.
pub fn write_plots(
    analyses: &[&Analysis<'_>],
    style: &Style,
    wanted: usize,
    out: &mut dyn Write,
) -> io::Result<bool> {
    let mut all = charts(analyses);
    all.truncate(wanted);
    write_charts(&all, style, out)?;
    Ok(!all.is_empty())
}

/// Writes charts with a blank line between them. Fails only if `out` does.
fn write_charts(charts: &[Chart], style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let columns = style.columns.clamp(*COLUMNS.start(), *COLUMNS.end());
    let style = Style { columns, ..*style };
    for (at, chart) in charts.iter().enumerate() {
        if at > 0 {
            writeln!(out)?;
        }
        chart_rows(chart, &style).iter().try_for_each(|row| row.write(&style, out))?;
    }
    Ok(())
}

fn chart_rows(chart: &Chart, style: &Style) -> Vec<Row> {
    let mut rows = wrapped(&chart.title, Ink::Bold, style);
    rows.extend(wrapped(&chart.question, Ink::Faint, style));
    if chart.has(SeriesLook::Cells) {
        rows.extend(lines::heat_map(chart, style));
    } else if chart.x.is_named() {
        rows.extend(bars::rows(chart, style));
    } else {
        rows.extend(lines::rows(chart, style));
    }
    let notes = chart.all_notes();
    rows.extend(notes.iter().flat_map(|note| wrapped(note, Ink::Faint, style)));
    rows
}

#[cfg(test)]
mod tests;
