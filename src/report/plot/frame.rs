//! The axes around a canvas: ticks with their texts, and where a number lies.

use super::canvas::Canvas;
use super::row::{Ink, Row};
use super::{Style, axis_label};
use crate::report::charts::{AxisSpan, Chart, Tick, shorten_ticks};
use crate::report::text::{shorten, width};

/// Columns right of the canvas, for the letters at the ends of lines.
pub(super) const MARGIN: usize = 3;

/// Columns that a tick below the canvas takes at least, with the blanks beside it.
const TICK_COLUMNS: usize = 7;

/// Blanks between texts below the canvas.
const GAP: usize = 2;

/// Axes, and the room that they leave.
pub(super) struct Frame<'a> {
    pub(super) x: AxisSpan<'a>,
    pub(super) y: AxisSpan<'a>,
    pub(super) columns: usize,
    pub(super) height: usize,
    beside: Vec<Tick>,
    lead: usize,
}

impl<'a> Frame<'a> {
    pub(super) fn new(chart: &'a Chart, height: usize, style: &Style) -> Self {
        let (x, y) = (chart.x_span(), chart.y_span());
        let most = style.columns / if chart.y.is_named() { 3 } else { 4 };
        let beside = shorten_ticks(y.ticks((height * 2 / 3).max(2)), most);
        let lead = beside.iter().map(|tick| width(&tick.text)).max().unwrap_or_default();
        let columns = style.columns.saturating_sub(lead + 2 + MARGIN).max(1);
        Self { x, y, columns, height, beside, lead }
    }

    /// The rows of a canvas between its axes, with what the axes tell.
    pub(super) fn around(&self, lines: impl Iterator<Item = Row>, style: &Style) -> Vec<Row> {
        let mut rows = vec![Row::of(&shorten(&axis_label(self.y.axis), style.columns), Ink::Faint)];
        let texts = self.texts_beside();
        for (line, text) in lines.zip(texts) {
            let mut row = Row::default();
            let edge = if text.is_some() { '┤' } else { '│' };
            row.right(&text.unwrap_or_default(), self.lead, Ink::Plain);
            row.push(' ', Ink::Plain);
            row.push(edge, Ink::Faint);
            row.append(line);
            rows.push(row);
        }
        rows.extend(self.below());
        rows
    }

    /// The texts of ticks by their rows; where two meet, the first stays.
    fn texts_beside(&self) -> Vec<Option<String>> {
        let mut texts = vec![None; self.height];
        let grid = Canvas::new(1, self.height, true);
        for tick in &self.beside {
            let [_, row] = grid.cell_at([0.0, self.y.share(tick.at)]);
            texts[row].get_or_insert_with(|| tick.text.clone());
        }
        texts
    }

    /// The axis below the canvas, its texts and its label.
    fn below(&self) -> Vec<Row> {
        let mut edge = vec!['─'; self.columns];
        let mut texts = Row::default();
        for PlacedTick { column, begin, text } in self.ticks_below() {
            // Names are as many as there are, whether they have room or not.
            if texts.columns() == 0 || begin >= texts.columns() + GAP {
                edge[column] = '┬';
                texts.pad(begin);
                texts.text(&text, Ink::Plain);
            }
        }
        let mut axis = Row::default();
        axis.pad(self.lead + 1);
        axis.push('└', Ink::Faint);
        axis.text(&edge.iter().collect::<String>(), Ink::Faint);
        let mut label = Row::default();
        let end = self.lead + 2 + self.columns;
        label.right(&shorten(&axis_label(self.x.axis), end), end, Ink::Faint);
        vec![axis, texts, label]
    }

    /// As many ticks below the canvas as have room for their texts.
    fn ticks_below(&self) -> Vec<PlacedTick> {
        let grid = Canvas::new(self.columns, 1, true);
        let last = self.lead + 2 + self.columns + MARGIN;
        let placed = |tick: Tick| {
            let [column, _] = grid.cell_at([self.x.share(tick.at), 0.0]);
            let wide = width(&tick.text);
            let begin = (self.lead + 2 + column).saturating_sub(wide / 2);
            PlacedTick { column, begin: begin.min(last.saturating_sub(wide)), text: tick.text }
        };
        let ticks = |wanted: usize| -> Vec<PlacedTick> {
            self.x.ticks(wanted).into_iter().map(placed).collect()
        };
        let fits = |ticks: &Vec<PlacedTick>| {
            let mut pairs = ticks.windows(2);
            pairs.all(|pair| pair[0].begin + width(&pair[0].text) + GAP <= pair[1].begin)
        };
        let most = (self.columns / TICK_COLUMNS).max(2);
        (2..=most).rev().map(ticks).find(fits).unwrap_or_else(|| ticks(2))
    }
}

/// A tick below the canvas: its column there, and where its text begins.
struct PlacedTick {
    column: usize,
    begin: usize,
    text: String,
}
