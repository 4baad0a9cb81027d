//! Draws axes, ticks with their texts, and the legend around a canvas.

use super::canvas::{Canvas, Ink, Row};
use super::style::Style;
use super::words::{axis_label, wrapped};
use crate::report::charts::{AxisSpan, Chart, ChartMark, SeriesLook, Tick, shorten_ticks};
use crate::report::text::{shorten, width, wrap_to};

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

// --- the legend --------------------------------------------------------------------------------

/// As wide as a symbol and the blank behind it.
const LEAD: &str = "  ";

/// The letter of the name with this number; they come again after the last.
pub(super) fn letter(number: usize) -> char {
    (b'a' + (number % 26) as u8) as char
}

/// Rows that tell which letter is which series, and what its lines are.
pub(super) fn legend(chart: &Chart, style: &Style) -> Vec<Row> {
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
        rows.extend(wrapped(&format!("each: {}", whats[0]), Ink::Plain, style));
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
pub(super) fn mark_rows(chart: &Chart, style: &Style) -> Vec<Row> {
    let rows = |(at, mark): (usize, &ChartMark)| {
        let text = |value| chart.x.text(value);
        let span = mark.interval.map(|[low, high]| format!(" ({} to {})", text(low), text(high)));
        let text = format!("{} at {}{}", mark.label, text(mark.x), span.unwrap_or_default());
        entry(digit(at), mark.colour.map_or(Ink::Bold, Ink::Series), &text, style)
    };
    chart.marks.iter().enumerate().flat_map(rows).collect()
}

/// Says what an asterisk means, if there is a point with one.
pub(super) fn about_disturbed(chart: &Chart, style: &Style) -> Vec<Row> {
    match chart.points().any(|point| point.disturbed) {
        true => wrapped("* measured under background load", Ink::Faint, style),
        false => Vec::new(),
    }
}
