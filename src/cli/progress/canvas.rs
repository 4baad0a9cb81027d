//! What views are drawn with, whatever they show.

use ratatui_core::buffer::Buffer;
use ratatui_core::style::{Color, Modifier, Style};
use ratatui_core::text::{Line, Span, Text};
use ratatui_core::widgets::Widget;

use super::state::{Notice, RecentRates};
use crate::cli::terminal_style::TerminalStyle;
use crate::report::text::{shorten, width, wrap_to};

/// In smaller terminals the view only says that they are too small.
const COLUMNS_MIN: usize = 40;
const ROWS_MIN: usize = 10;

/// From this on there is room for the cells, for headings, and for words beside figures.
const COLUMNS_ROOMY: usize = 60;
const ROWS_ROOMY: usize = 16;

pub(super) const STRONG: Style = Style::new().add_modifier(Modifier::BOLD);
pub(super) const FAINT: Style = Style::new().add_modifier(Modifier::DIM);
pub(super) const GOOD: Style = Style::new().fg(Color::Green);
pub(super) const BAD: Style = STRONG.fg(Color::Red);
pub(super) const ACTIVE: Style = STRONG.fg(Color::Cyan);

/// The view's own characters, and what stands for each where there is only ASCII.
const SYMBOLS: &str = "─█░■▶·✗▪…▁▂▃▄▅▆▇×";
const IN_ASCII: &str = "-#.#>.x+~_.:-=+*x";

/// Draws a view of `what`, a run or a trace: its lines, the newest notices, and the keys. `lines` is given the rows that
/// it has.
pub(super) fn draw(
    what: &str,
    notices: &[Notice],
    style: TerminalStyle,
    buffer: &mut Buffer,
    lines: impl FnOnce(ViewSize, usize) -> Vec<Line<'static>>,
) {
    let canvas = ViewSize::new(buffer);
    if canvas.columns < COLUMNS_MIN || canvas.rows < ROWS_MIN {
        let text = format!(
            "The view takes {COLUMNS_MIN}x{ROWS_MIN}; this terminal has {}x{}. The {what} continues.",
            canvas.columns, canvas.rows
        );
        let lines = wrap_to(canvas.columns, "", &text).into_iter().map(Line::from).collect();
        return paint(lines, style, buffer);
    }
    let notices = canvas.notices(notices);
    let rows = canvas.rows - 1 - notices.len();
    let mut lines = lines(canvas, rows);
    lines.resize(rows, Line::default());
    lines.extend(notices);
    let keys = match canvas.is_roomy {
        true => format!("q leaves the view, the {what} continues   Ctrl-C ends the {what}"),
        false => format!("q leaves the view, Ctrl-C ends the {what}"),
    };
    lines.push(Line::styled(keys, FAINT));
    paint(lines, style, buffer);
}

/// Draws lines, with the colours and characters that the terminal has.
fn paint(lines: Vec<Line<'static>>, style: TerminalStyle, buffer: &mut Buffer) {
    Text::from(lines).render(buffer.area, buffer);
    for cell in &mut buffer.content {
        if !style.colours {
            cell.fg = Color::Reset;
        }
        if style.ascii && !cell.symbol().is_ascii() {
            let mut symbols = SYMBOLS.chars().zip(IN_ASCII.chars());
            let known = symbols.find(|(symbol, _)| cell.symbol().chars().eq([*symbol]));
            cell.set_char(known.map_or('?', |(_, plain)| plain));
        }
    }
}

/// The size of what is drawn on.
#[derive(Clone, Copy)]
pub(super) struct ViewSize {
    pub(super) columns: usize,
    pub(super) rows: usize,
    /// Whether there is room for everything.
    pub(super) is_roomy: bool,
}

impl ViewSize {
    fn new(buffer: &Buffer) -> Self {
        let (columns, rows) = (buffer.area.width as usize, buffer.area.height as usize);
        Self { columns, rows, is_roomy: columns >= COLUMNS_ROOMY && rows >= ROWS_ROOMY }
    }

    /// As much of a text as fits, before one at the right.
    pub(super) fn row(&self, left: &str, style: Style, right: &str) -> Line<'static> {
        let gap = if right.is_empty() { 0 } else { 2 };
        let room = self.columns.saturating_sub(width(right) + gap);
        let left = Span::styled(padded(left, room + gap), style);
        Line::from(vec![left, Span::raw(right.to_string())])
    }

    /// A heading, where there is room with a rule: `── title ─────── right ──`.
    pub(super) fn heading(&self, title: &str, right: &str) -> Line<'static> {
        if !self.is_roomy {
            return self.row(title, STRONG, "");
        }
        let title = shorten(title, self.columns - 5);
        let mut right = if right.is_empty() { String::new() } else { format!(" {right} ──") };
        let used = 4 + width(&title);
        if used + width(&right) > self.columns {
            right.clear();
        }
        let rule = "─".repeat(self.columns - used - width(&right));
        let rest = Span::styled(format!(" {rule}{right}"), FAINT);
        Line::from(vec![Span::styled("── ", FAINT), Span::styled(title, STRONG), rest])
    }

    /// The newest notices, in a sixth of the rows.
    fn notices(&self, notices: &[Notice]) -> Vec<Line<'static>> {
        let mut lines = Vec::new();
        for notice in notices {
            let times = match notice.times {
                1 => String::new(),
                times => format!(" ({times} times)"),
            };
            let style = if notice.is_warning { BAD } else { Style::new() };
            let text = wrap_to(self.columns, "", &format!("{}{times}", notice.text));
            lines.extend(text.into_iter().map(|line| Line::styled(line, style)));
        }
        lines.drain(..lines.len().saturating_sub(self.rows / 6));
        if self.is_roomy && !lines.is_empty() {
            lines.insert(0, self.heading("notes", ""));
        }
        lines
    }
}

/// What the processors did in the last second.
pub(super) fn processors_text(rates: &RecentRates) -> String {
    let percent = |share: f64| format!("{:.0}%", share * 100.0);
    match rates.processors() {
        Some(p) => {
            let (user, system, steal) = (percent(p.user), percent(p.system), percent(p.steal));
            format!("CPU user {user}, system {system}, steal {steal}")
        }
        None => "CPU -".into(),
    }
}

/// As much of a text as fits, filled up with blanks.
pub(super) fn padded(text: &str, columns: usize) -> String {
    let text = shorten(text, columns);
    let blanks = " ".repeat(columns.saturating_sub(width(&text)));
    format!("{text}{blanks}")
}

/// Heights of a column, from nothing to full.
const BAR_HEIGHTS: [&str; 9] = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];

/// The newest values as columns that stand on zero, the newest at the right; lines from the top down.
pub(super) fn curve(values: &[f64], columns: usize, height: usize) -> Vec<String> {
    let newest = &values[values.len().saturating_sub(columns)..];
    let most = newest.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let full = BAR_HEIGHTS.len() - 1;
    // What is there at all is seen.
    let eighths = |value: &f64| {
        ((value / most * (height * full) as f64).round() as usize).max(usize::from(*value > 0.0))
    };
    let line = |below: usize| {
        let column = |value| BAR_HEIGHTS[eighths(value).saturating_sub(below * full).min(full)];
        " ".repeat(columns - newest.len()) + &newest.iter().map(column).collect::<String>()
    };
    (0..height).rev().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_stands_on_zero_and_ends_at_the_right() {
        assert_eq!(curve(&[1.0, 2.0, 4.0, 0.0], 6, 1), ["  ▂▄█ "]);
        assert_eq!(curve(&[1.0, 4.0], 2, 2), [" █", "▄█"]);
        assert_eq!(curve(&[9.0, 1.0, 1.0], 2, 1), ["██"], "only what is shown sets the scale");
        assert_eq!(curve(&[0.0, 0.0], 3, 1), ["   "]);
        assert_eq!(curve(&[0.001, 4.0], 2, 1), ["▁█"]);
    }
}
