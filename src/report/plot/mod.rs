//! Draws charts as text in a terminal: bars, lines of braille dots, shaded cells. `charts` decides what
//! is drawn, this module where it goes on a grid of characters.

mod bars;
mod canvas;
mod frame;
mod lines;

use std::io::{self, Write};

use self::canvas::{Ink, Row};
use super::charts::{AxisScale, Chart, ChartAxis, SeriesLook, charts};
use super::text::wrap_to;
use crate::analysis::Analysis;

pub use canvas::plain;

/// Columns of a chart, whatever the terminal has.
const COLUMNS: std::ops::RangeInclusive<usize> = 40..=160;

/// What a terminal can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Its width; charts take from 40 to 160 of them.
    pub columns: usize,
    /// Whether it knows nothing but ASCII.
    pub ascii: bool,
    /// Its colours.
    pub colours: Colours,
}

/// Colours of a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colours {
    /// None, or nobody wants them.
    None,
    /// Those of ANSI.
    Sixteen,
    /// 256 of them.
    Many,
}

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

/// A sentence in as many rows as it takes.
fn wrapped(text: &str, ink: Ink, style: &Style) -> Vec<Row> {
    wrap_to(style.columns, "", text).iter().map(|line| Row::of(line, ink)).collect()
}

/// What an axis tells, and how.
fn axis_label(axis: &ChartAxis) -> String {
    let scale = if axis.scale == AxisScale::Logarithmic { ", logarithmic" } else { "" };
    format!("{}{scale}", axis.label)
}

#[cfg(test)]
mod tests;
