//! The pictures of a run as charts of a terminal, in text: bars, lines of braille dots, shaded
//! cells. What is drawn is decided in `figures`; here only where it goes on a grid of characters.

mod bars;
mod canvas;
mod cells;
mod frame;
mod legend;
mod lines;
mod plain;
mod row;

use std::io::{self, Write};

use self::row::{Ink, Row};
use super::figures::{Axis, Figure, Look, Scale, figures};
use super::text::wrap_to;
use crate::base::failure::shown;
use crate::measure::analysis::Analysis;

pub use plain::plain;

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

/// Writes the charts of a run, or of several beside each other; gives whether there was any. Fails
/// only if `out` does.
///
/// # Errors
/// Of `out`.
pub fn write_plots(
    analyses: &[&Analysis<'_>],
    style: &Style,
    out: &mut dyn Write,
) -> io::Result<bool> {
    let figures = figures(analyses);
    write_figures(&figures, style, out)?;
    Ok(!figures.is_empty())
}

/// Writes charts with a blank line between them. Fails only if `out` does.
fn write_figures(figures: &[Figure], style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let columns = style.columns.clamp(*COLUMNS.start(), *COLUMNS.end());
    let style = Style { columns, ..*style };
    for (at, figure) in figures.iter().enumerate() {
        if at > 0 {
            writeln!(out)?;
        }
        chart(figure, &style).iter().try_for_each(|row| row.write(&style, out))?;
    }
    Ok(())
}

/// A picture from its title to its notes.
fn chart(figure: &Figure, style: &Style) -> Vec<Row> {
    let figure = &cleaned(figure, style);
    let mut rows = wrapped(&figure.title, Ink::Bold, style);
    rows.extend(wrapped(&figure.question, Ink::Faint, style));
    let has = |look: Look| figure.series.iter().any(|series| series.look == look);
    if has(Look::Cells) {
        rows.extend(cells::rows(figure, style));
    } else if has(Look::Bars) || matches!(figure.x.scale, Scale::Named(_)) {
        rows.extend(bars::rows(figure, style));
    } else {
        rows.extend(lines::rows(figure, style));
    }
    let notes = figure.notes.iter().flat_map(|note| wrapped(note, Ink::Faint, style));
    rows.extend(notes);
    rows
}

/// A sentence in as many rows as it takes.
fn wrapped(text: &str, ink: Ink, style: &Style) -> Vec<Row> {
    wrap_to(style.columns, "", text).iter().map(|line| Row::of(line, ink)).collect()
}

/// The same picture with no character in it that a terminal would obey or could not show.
fn cleaned(figure: &Figure, style: &Style) -> Figure {
    let clean = |text: &mut String| *text = clean(text, style);
    let mut figure = figure.clone();
    [&mut figure.title, &mut figure.question].into_iter().for_each(clean);
    let axes = [&mut figure.x, &mut figure.y].into_iter().chain(&mut figure.shade);
    for axis in axes {
        clean(&mut axis.label);
        if let Scale::Named(names) = &mut axis.scale {
            names.iter_mut().for_each(clean);
        }
    }
    for series in &mut figure.series {
        clean(&mut series.name);
        clean(&mut series.what);
    }
    figure.marks.iter_mut().for_each(|mark| clean(&mut mark.label));
    figure.notes.iter_mut().for_each(clean);
    figure
}

fn clean(text: &str, style: &Style) -> String {
    let text = shown(text);
    if style.ascii { plain(&text) } else { text }
}

/// What an axis tells, and how.
fn axis_label(axis: &Axis) -> String {
    let scale = if axis.scale == Scale::Logarithmic { ", logarithmic" } else { "" };
    format!("{}{scale}", axis.label)
}

/// A number as text that fits the terminal.
fn figure_text(text: &str, style: &Style) -> String {
    clean(text, style)
}

#[cfg(test)]
mod tests;
