//! Draws what is known of a run: as a view of any size, or as one line.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::{Color, Modifier, Style};
use ratatui_core::text::{Line, Span};
use ratatui_core::widgets::Widget;

use super::cells::{CellGrid, CellMark, VariantRow};
use super::state::{Activity, FinishedPhase, Goal, Notice, RunState};
use crate::base::units::{bytes, counted, duration, figures, grouped, span};
use crate::report::text::{shorten, width, wrap_to};
use crate::report::{Colours, Style as TerminalStyle};

/// In smaller terminals the view only says that they are too small.
const COLUMNS_MIN: usize = 40;
const ROWS_MIN: usize = 10;

/// From this on there is room for the cells, for headings, and for words beside figures.
const COLUMNS_ROOMY: usize = 60;
const ROWS_ROOMY: usize = 16;

/// Rows beside cells, curves, phases and notes.
const ROWS_FIXED: usize = 8;

const KEYS: [&str; 2] = [
    "q leaves the view, the run goes on   Ctrl-C stops the run",
    "q leaves the view, Ctrl-C stops the run",
];

/// Draws the whole view.
pub(super) fn draw(state: &RunState, palette: Palette, buffer: &mut Buffer) {
    let rest = buffer.area;
    let is_wide = rest.width as usize >= COLUMNS_ROOMY;
    let is_roomy = is_wide && rest.height as usize >= ROWS_ROOMY;
    let is_small = (rest.width as usize) < COLUMNS_MIN || (rest.height as usize) < ROWS_MIN;
    let mut view = View { state, palette, buffer, rest, is_wide, is_roomy };
    if is_small {
        view.draw_too_small()
    } else {
        view.draw_all()
    }
    if !palette.unicode {
        only_ascii(buffer);
    }
}

/// The run as one line: `34%  repeat 4 of 10  xfs  read-random  8,100/s  80 s left`.
pub(super) fn progress_line(state: &RunState, columns: usize) -> String {
    let columns = columns.saturating_sub(1);
    let Some(activity) = &state.activity else { return shorten(&state.doing, columns) };
    let share = activity.share_of_run(state.seconds);
    let share = share.map(|share| format!("{:.0}%", (share * 100.0).floor()));
    let rate = state.rates.rate().filter(|rate| *rate > 0.0 && !activity.noun.is_empty());
    let rate = rate.map(|rate| format!("{}/s", figures(rate, 2)));
    let left = state.left().map(|left| format!("{} left", span(left)));
    let last = [rate, left].into_iter().flatten().collect::<Vec<_>>().join("  ");
    let words = share.into_iter().chain(activity.words.iter().cloned());
    let words = words.chain([last.clone()]).filter(|word| !word.is_empty());
    fit_before(&words.collect::<Vec<_>>().join("  "), &last, columns)
}

/// A view that is being drawn, from the top down.
struct View<'a> {
    state: &'a RunState,
    palette: Palette,
    buffer: &'a mut Buffer,
    /// What is still free.
    rest: Rect,
    is_wide: bool,
    /// Whether there is room for everything.
    is_roomy: bool,
}

impl View<'_> {
    fn draw_too_small(&mut self) {
        let Rect { width, height, .. } = self.rest;
        let text = format!(
            "The view takes {COLUMNS_MIN}x{ROWS_MIN}; this terminal has {width}x{height}. The run \
             goes on."
        );
        for line in wrap_to(width as usize, "", &text) {
            self.draw_row(&line, Tone::Plain, "");
        }
    }

    fn draw_all(&mut self) {
        let state = self.state;
        let columns = self.columns();
        let mut rest = self.rest.height as usize - ROWS_FIXED;
        let height = (rest / 5).clamp(1, 6);
        rest -= height;
        let notices: Vec<_> = state.notices.iter().flat_map(|n| notice_lines(n, columns)).collect();
        let notices = &notices[notices.len().saturating_sub(rest / 4)..];
        let heading = usize::from(self.is_roomy);
        rest -= notices.len() + if notices.is_empty() { 0 } else { heading };
        let grid = GridView::new(&state.cells, self.palette, columns);
        let grid_rows = if self.is_roomy { grid.rows().min((rest * 3 / 5).max(1)) } else { 0 };
        rest -= grid_rows;

        self.draw_head();
        if self.is_roomy {
            self.draw_row(&state.question, Tone::Faint, "");
        }
        self.draw_heading(&state.cells_done(), &grid.legend());
        grid.lines(grid_rows).into_iter().for_each(|line| self.draw_line(line));
        self.draw_activity();
        self.draw_curves(height);
        self.draw_machine();
        if rest > heading {
            if self.is_roomy {
                self.draw_heading("finished phases", "operations per second, latency");
            }
            let shown = rest - heading;
            let skipped = state.finished.len().saturating_sub(shown);
            state.finished[skipped..].iter().for_each(|phase| self.draw_finished(phase));
            let missing = shown - (state.finished.len() - skipped);
            self.rest = lower_part(self.rest, missing);
        }
        if self.is_roomy && !notices.is_empty() {
            self.draw_heading("notes", "");
        }
        notices.iter().for_each(|notice| self.draw_row(&notice.text, notice.tone, ""));
        self.rest = lower_part(self.rest, (self.rest.height as usize).saturating_sub(1));
        let keys = KEYS.into_iter().find(|keys| width(keys) <= columns);
        self.draw_row(keys.unwrap_or_default(), Tone::Faint, "");
    }

    fn columns(&self) -> usize {
        self.rest.width as usize
    }

    fn span(&self, text: impl Into<String>, tone: Tone) -> Span<'static> {
        Span::styled(text.into(), self.palette.style(tone))
    }

    /// Draws the next row.
    fn draw_line(&mut self, line: Line<'_>) {
        line.render(Rect { height: self.rest.height.min(1), ..self.rest }, self.buffer);
        self.rest = lower_part(self.rest, 1);
    }

    /// Draws as much of a text as fits, before one at the right.
    fn draw_row(&mut self, left: &str, tone: Tone, right: &str) {
        let gap = if right.is_empty() { 0 } else { 2 };
        let room = self.columns().saturating_sub(width(right) + gap);
        let left = self.span(padded(left, room + gap), tone);
        self.draw_line(Line::from(vec![left, Span::raw(right)]));
    }

    /// A heading, where there is room with a rule: `── title ─────── right ──`.
    fn draw_heading(&mut self, title: &str, right: &str) {
        if !self.is_roomy {
            return self.draw_row(title, Tone::Strong, "");
        }
        let title = shorten(title, self.columns() - 5);
        let mut right = if right.is_empty() { String::new() } else { format!(" {right} ──") };
        let used = 4 + width(&title);
        if used + width(&right) > self.columns() {
            right.clear();
        }
        let rule = "─".repeat(self.columns() - used - width(&right));
        self.draw_line(Line::from(vec![
            self.span("── ", Tone::Faint),
            self.span(title, Tone::Strong),
            self.span(format!(" {rule}{right}"), Tone::Faint),
        ]));
    }

    fn draw_head(&mut self) {
        let state = self.state;
        let about = if self.is_wide { "about " } else { "~" };
        let left = state.left().map(|left| format!(", {about}{} left", span(left)));
        let most = state.seconds_max.filter(|_| self.is_wide);
        let most = most.map(|most| format!(" of at most {}", span(most)));
        let times = [Some(span(state.seconds.floor())), most, left].into_iter().flatten();
        let times: String = times.collect();
        self.draw_row(&format!("boatload {}", state.name), Tone::Strong, &times);
    }

    /// What is done now, and how far it is.
    fn draw_activity(&mut self) {
        let Some(activity) = &self.state.activity else {
            self.draw_heading(&self.state.doing, "");
            return self.draw_row("", Tone::Plain, "");
        };
        let room = self.columns() - if self.is_roomy { 6 } else { 0 };
        self.draw_heading(&fit_before(&activity.title(), &activity.phase, room), "");
        let text = self.progress_text(activity);
        let Some(share) = activity.share(self.state.seconds) else {
            return self.draw_row(&text, Tone::Plain, "");
        };
        let columns = (self.columns() / 3).min(self.columns().saturating_sub(width(&text) + 6));
        self.draw_line(Line::from(vec![
            self.span(bar(share, columns), Tone::Good),
            self.span(format!(" {:>3.0}% ", (share * 100.0).floor()), Tone::Strong),
            self.span(text, Tone::Plain),
        ]));
    }

    fn progress_text(&self, activity: &Activity) -> String {
        let done = counted_as(activity.done, activity.noun);
        match activity.goal {
            Goal::Operations(_) if activity.is_done() && !self.is_wide => {
                "writing out, counting".into()
            }
            Goal::Operations(all) if activity.is_done() => {
                format!("{} done; writing out and counting", counted_as(all, activity.noun))
            }
            Goal::Operations(all) if !self.is_wide => {
                format!("{} of {}", figures(activity.done as f64, 3), figures(all as f64, 3))
            }
            Goal::Operations(all) => {
                let rate = self.state.rates.rate().filter(|rate| *rate > 0.0);
                let left = rate.map(|rate| (all - activity.done) as f64 / rate);
                let left = left.map_or_else(String::new, |left| format!(", {} left", span(left)));
                format!("{} of {}{left}", grouped(activity.done), counted_as(all, activity.noun))
            }
            Goal::Seconds(all) => {
                let left = (all - (self.state.seconds - activity.begun)).max(0.0);
                format!("{done}, {} left", span(left))
            }
            Goal::Share(_) => String::new(),
            Goal::Open => format!("{done} so far"),
        }
    }

    /// Curves of rate and mean latency beside each other, below what they are now. Between phases
    /// those of the last one would mislead.
    fn draw_curves(&mut self, height: usize) {
        let half = (self.columns() - 2) / 2;
        let rates = &self.state.rates;
        let now = self.state.activity.as_ref().zip(rates.rate());
        let rate = now.map_or_else(
            || "rate -".into(),
            |(activity, rate)| rate_text(&figures(rate, 3), activity, half),
        );
        let latency = now.and_then(|_| rates.latency_ns()).map(duration);
        let latency = match latency {
            Some(latency) if half >= 50 => format!("mean latency (workers over rate) {latency}"),
            Some(latency) if half >= 25 => format!("mean latency {latency}"),
            Some(latency) => format!("latency {latency}"),
            None => "mean latency -".into(),
        };
        self.draw_row(&(padded(&rate, half + 2) + &latency), Tone::Plain, "");
        let (all, latencies) = (Vec::from(rates.rates.clone()), rates.latencies_ns());
        let latencies = curve(&latencies, half, height);
        for (rate, latency) in curve(&all, half, height).into_iter().zip(latencies) {
            self.draw_row(&format!("{rate}  {latency}"), Tone::Active, "");
        }
    }

    /// What the device and the processors do, in one row if that fits.
    fn draw_machine(&mut self) {
        let state = self.state;
        let rate = |bytes_per_second: f64| format!("{}/s", bytes(bytes_per_second as u64));
        let moved = state.machine.device();
        let [read, written] = moved.map_or(["-".into(), "-".into()], |moved| moved.map(rate));
        let device = state.device.as_deref().map_or_else(
            || "no device".into(),
            |name| format!("{} reads {read}, writes {written}", shorten(name, 12)),
        );
        let percent = |share: f64| format!("{:.0}%", share * 100.0);
        let processors = state.machine.processors().map_or_else(
            || "CPU -".into(),
            |p| {
                let (user, system, steal) = (percent(p.user), percent(p.system), percent(p.steal));
                format!("CPU user {user}, system {system}, steal {steal}")
            },
        );
        if self.is_roomy {
            return self.draw_row(&device, Tone::Plain, &processors);
        }
        self.draw_row(&device, Tone::Plain, "");
        self.draw_row(&processors, Tone::Plain, "");
    }

    fn draw_finished(&mut self, phase: &FinishedPhase) {
        let mut right = format!("{:>10}/s", figures(phase.rate, 3));
        let (p50, p99) = (duration(phase.p50_ns), duration(phase.p99_ns));
        let operations = counted(phase.operations, "operation");
        let took = format!(" {operations:>20} in {:>8}", duration(phase.seconds * 1e9));
        for more in [format!(" p50 {p50:>8} p99 {p99:>8}"), took] {
            if self.is_wide && width(&right) + width(&more) <= self.columns() / 2 + 2 {
                right.push_str(&more);
            }
        }
        let state = if phase.valid { "" } else { " invalid" };
        let room = self.columns().saturating_sub(width(&right) + width(state));
        let title = padded(&fit_before(&phase.title, &phase.phase, room), room);
        self.draw_line(Line::from(vec![
            self.span(title, Tone::Plain),
            self.span(state, Tone::Bad),
            self.span(right, if phase.valid { Tone::Plain } else { Tone::Faint }),
        ]));
    }
}

/// An area without its uppermost rows.
fn lower_part(area: Rect, rows: usize) -> Rect {
    let rows = (rows as u16).min(area.height);
    Rect { y: area.y + rows, height: area.height - rows, ..area }
}

/// The rate, with as many words as there is room for.
fn rate_text(rate: &str, activity: &Activity, room: usize) -> String {
    let real = if activity.simulated { ", in real time" } else { "" };
    let whole = format!("rate {rate} {}/s{real}", activity.noun);
    if width(&whole) <= room { whole } else { shorten(&format!("rate {rate}/s{real}"), room) }
}

/// A row of a notice.
struct NoticeLine {
    text: String,
    tone: Tone,
}

fn notice_lines(notice: &Notice, columns: usize) -> Vec<NoticeLine> {
    let times = if notice.times > 1 { format!(" ({} times)", notice.times) } else { String::new() };
    let tone = if notice.is_warning { Tone::Bad } else { Tone::Plain };
    let lines = wrap_to(columns, "", &format!("{}{times}", notice.text));
    lines.into_iter().map(|text| NoticeLine { text, tone }).collect()
}

/// The nouns are plurals, as they stand beside rates.
fn counted_as(number: u64, nouns: &str) -> String {
    counted(number, nouns.trim_end_matches('s'))
}

/// Most columns of a variant's name.
const NAME_COLUMNS_MAX: usize = 20;

/// The grid in a terminal of some width.
struct GridView<'a> {
    grid: &'a CellGrid,
    palette: Palette,
    columns: usize,
    /// Columns of the variants' names, above which the axis has its name.
    names: usize,
    fold: Fold,
}

/// How marks share the columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fold {
    /// Levels side by side, each so wide that its value stands above.
    Levels(usize),
    /// So many cells share a mark.
    Shared(usize),
}

impl<'a> GridView<'a> {
    fn new(grid: &'a CellGrid, palette: Palette, columns: usize) -> Self {
        let longest = grid.rows.iter().map(|row| width(&row.name)).max().unwrap_or(0);
        let names = longest.max(width(&grid.axis)).min(NAME_COLUMNS_MAX).min(columns / 4);
        let room = columns.saturating_sub(names + usize::from(names > 0)).max(1);
        let fold = fold(grid, room);
        Self { grid, palette, columns, names, fold }
    }

    fn has_heading(&self) -> bool {
        matches!(self.fold, Fold::Levels(_)) && !self.grid.axis.is_empty()
    }

    /// Rows that it would take.
    fn rows(&self) -> usize {
        self.grid.rows.len() + usize::from(self.has_heading())
    }

    /// What the marks mean.
    fn legend(&self) -> String {
        let shared = match self.fold {
            Fold::Shared(cells @ 2..) => format!("a mark is {cells} cells  "),
            _ => String::new(),
        };
        let marks = [
            (CellMark::Done, "done"),
            (CellMark::Running, "running"),
            (CellMark::Waiting, "waiting"),
        ];
        let text = |(mark, word): (CellMark, &str)| format!("{} {word}", symbol(mark).0);
        let mut words: Vec<String> = marks.map(text).to_vec();
        if self.grid.count(CellMark::Invalid) > 0 {
            words.push(text((CellMark::Invalid, "invalid")));
        }
        shared + &words.join(" ")
    }

    /// The rows that fit; of more, those around the cell that runs.
    fn lines(&self, rows: usize) -> Vec<Line<'static>> {
        let mut lines = Vec::new();
        let all = self.grid.rows.len();
        if self.has_heading() && rows > 1 {
            lines.push(self.heading());
        }
        let mut room = rows - lines.len();
        let is_cut = all > room;
        // The last row tells of those that are not seen.
        room -= usize::from(is_cut && room > 1);
        let runs = |row: &VariantRow| {
            row.groups.iter().any(|group| group.marks.contains(&CellMark::Running))
        };
        let running = self.grid.rows.iter().position(runs).unwrap_or(0);
        let first = running.saturating_sub(room / 2).min(all.saturating_sub(room));
        let shown = self.grid.rows.iter().skip(first).take(room);
        lines.extend(shown.map(|row| self.row(row)));
        if is_cut && lines.len() < rows {
            let text = format!("{} to {} of {all} variants", first + 1, first + room);
            lines.push(Line::from(Span::styled(text, self.palette.style(Tone::Faint))));
        }
        lines
    }

    fn heading(&self) -> Line<'static> {
        let mut text = padded(&self.grid.axis, self.names) + " ";
        let groups = self.grid.rows.iter().max_by_key(|row| row.groups.len());
        for group in groups.iter().flat_map(|row| &row.groups) {
            if let Fold::Levels(each) = self.fold {
                text.push_str(&padded(&group.level, each));
                text.push(' ');
            }
        }
        Line::from(Span::styled(shorten(&text, self.columns), self.palette.style(Tone::Faint)))
    }

    fn row(&self, row: &VariantRow) -> Line<'static> {
        let mut spans = Vec::new();
        if self.names > 0 {
            spans.push(Span::raw(padded(&row.name, self.names) + " "));
        }
        let marks = |marks: &[CellMark]| -> Vec<Span<'static>> {
            marks.iter().map(|mark| self.mark(*mark)).collect()
        };
        match self.fold {
            Fold::Levels(each) => {
                for group in &row.groups {
                    spans.extend(marks(&group.marks));
                    let blanks = each.saturating_sub(group.marks.len()) + 1;
                    spans.push(Span::raw(" ".repeat(blanks)));
                }
            }
            Fold::Shared(cells) => {
                let all: Vec<CellMark> = row.groups.iter().flat_map(|g| g.marks.clone()).collect();
                let shared: Vec<CellMark> = all.chunks(cells).map(CellMark::combined).collect();
                spans.extend(marks(&shared));
            }
        }
        Line::from(spans)
    }

    fn mark(&self, mark: CellMark) -> Span<'static> {
        let (symbol, tone) = symbol(mark);
        Span::styled(symbol, self.palette.style(tone))
    }
}

fn symbol(mark: CellMark) -> (&'static str, Tone) {
    match mark {
        CellMark::Waiting => ("·", Tone::Faint),
        CellMark::Running => ("▶", Tone::Active),
        CellMark::Done => ("■", Tone::Good),
        CellMark::Invalid => ("✗", Tone::Bad),
        CellMark::Partly => ("▪", Tone::Good),
    }
}

/// The roomiest way in which every row fits.
fn fold(grid: &CellGrid, room: usize) -> Fold {
    let level =
        |row: &VariantRow| row.groups.iter().map(|group| width(&group.level)).max().unwrap_or(0);
    let repeats =
        |row: &VariantRow| row.groups.iter().map(|group| group.marks.len()).max().unwrap_or(0);
    let each = grid.rows.iter().map(|row| level(row).max(repeats(row))).max().unwrap_or(0);
    let groups = grid.rows.iter().map(|row| row.groups.len()).max().unwrap_or(0);
    if (each + 1) * groups <= room + 1 {
        return Fold::Levels(each);
    }
    let marks = |row: &VariantRow| row.groups.iter().map(|group| group.marks.len()).sum::<usize>();
    let most = grid.rows.iter().map(marks).max().unwrap_or(0);
    Fold::Shared(most.div_ceil(room))
}

/// What the terminal can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Palette {
    /// Whether colours are wanted.
    pub(super) colour: bool,
    /// Whether characters beyond ASCII can be shown.
    pub(super) unicode: bool,
}

/// What a piece of text is, which its colour follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tone {
    Plain,
    Strong,
    Faint,
    Good,
    Bad,
    Active,
}

impl Palette {
    /// That of a terminal with this style.
    pub(super) fn new(style: TerminalStyle) -> Self {
        Self { colour: style.colours != Colours::None, unicode: !style.ascii }
    }

    fn style(self, tone: Tone) -> Style {
        let plain = Style::new();
        let coloured = |colour| if self.colour { plain.fg(colour) } else { plain };
        match tone {
            Tone::Plain => plain,
            Tone::Strong => plain.add_modifier(Modifier::BOLD),
            Tone::Faint => plain.add_modifier(Modifier::DIM),
            Tone::Good => coloured(Color::Green),
            Tone::Bad => coloured(Color::Red).add_modifier(Modifier::BOLD),
            Tone::Active => coloured(Color::Cyan).add_modifier(Modifier::BOLD),
        }
    }
}

/// The view's own characters, and what stands for each where there is only ASCII.
const SYMBOLS: &str = "─█░■▶·✗▪…▁▂▃▄▅▆▇×";
const IN_ASCII: &str = "-#.#>.x+~_.:-=+*x";

/// Leaves nothing but ASCII.
fn only_ascii(buffer: &mut Buffer) {
    for cell in buffer.content.iter_mut().filter(|cell| !cell.symbol().is_ascii()) {
        let mut symbols = SYMBOLS.chars().zip(IN_ASCII.chars());
        let known = symbols.find(|(symbol, _)| cell.symbol().chars().eq([*symbol]));
        cell.set_char(known.map_or('?', |(_, plain)| plain));
    }
}

/// Heights of a column, from nothing to full.
const BAR_HEIGHTS: [&str; 9] = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];

/// A text that ends with a word, which stays whole where the rest is cut before it.
fn fit_before(text: &str, last: &str, columns: usize) -> String {
    let end = width(last) + 1;
    match text.strip_suffix(last) {
        Some(before) if !last.is_empty() && width(text) > columns && end + 2 < columns => {
            format!("{} {last}", shorten(before.trim_end(), columns - end))
        }
        _ => shorten(text, columns),
    }
}

/// As much of a text as fits, filled up with blanks.
fn padded(text: &str, columns: usize) -> String {
    let text = shorten(text, columns);
    let blanks = " ".repeat(columns.saturating_sub(width(&text)));
    format!("{text}{blanks}")
}

/// A bar of so many columns, of which a share from 0 to 1 is full.
fn bar(share: f64, columns: usize) -> String {
    let full = (share.clamp(0.0, 1.0) * columns as f64).floor() as usize;
    format!("{}{}", "█".repeat(full), "░".repeat(columns - full.min(columns)))
}

/// The newest values as columns that stand on zero, the newest at the right; lines from the top down.
fn curve(values: &[f64], columns: usize, height: usize) -> Vec<String> {
    let newest = &values[values.len().saturating_sub(columns)..];
    let most = newest.iter().copied().fold(0.0, f64::max);
    let full = BAR_HEIGHTS.len() - 1;
    let eighths = |value: f64| match most > 0.0 {
        // What is there at all is seen.
        true => {
            ((value / most * (height * full) as f64).round() as usize).max(usize::from(value > 0.0))
        }
        false => 0,
    };
    let blanks = " ".repeat(columns - newest.len());
    let line = |row: usize| {
        let below = (height - 1 - row) * full;
        let column = |value: &f64| BAR_HEIGHTS[eighths(*value).saturating_sub(below).min(full)];
        format!("{blanks}{}", newest.iter().map(column).collect::<String>())
    };
    (0..height).map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_shows_what_the_terminal_can_and_its_user_wants() {
        let style = TerminalStyle { columns: 80, ascii: false, colours: Colours::Sixteen };
        assert_eq!(Palette::new(style), Palette { colour: true, unicode: true });
        let style = TerminalStyle { columns: 80, ascii: true, colours: Colours::None };
        assert_eq!(Palette::new(style), Palette { colour: false, unicode: false });
    }

    #[test]
    fn without_colour_nothing_has_one_and_bad_still_stands_out() {
        let palette = Palette { colour: false, unicode: true };
        for tone in [Tone::Plain, Tone::Strong, Tone::Faint, Tone::Good, Tone::Bad, Tone::Active] {
            assert_eq!(palette.style(tone).fg, None, "{tone:?}");
        }
        assert_ne!(palette.style(Tone::Bad), palette.style(Tone::Plain));
    }

    #[test]
    fn nothing_beyond_ascii_is_left() {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 8, 1));
        buffer.set_string(0, 0, "■✗ ü 名", Style::new());
        only_ascii(&mut buffer);
        let text: String = buffer.content.iter().map(|cell| cell.symbol()).collect();
        assert_eq!(text, "#x ? ?  ");
    }

    #[test]
    fn the_last_word_stays_whole_and_columns_are_filled() {
        assert_eq!(padded("名", 4), "名  ");
        assert_eq!(padded("abcdef", 4), "abc…");
        assert_eq!(fit_before("3/9 single read", "read", 15), "3/9 single read");
        assert_eq!(fit_before("3/9 single read", "read", 12), "3/9 si… read");
        assert_eq!(fit_before("3/9 single read", "read", 6), "3/9 s…");
        assert_eq!(fit_before("bringing", "", 6), "bring…");
    }

    #[test]
    fn a_curve_stands_on_zero_and_ends_at_the_right() {
        assert_eq!(curve(&[1.0, 2.0, 4.0, 0.0], 6, 1), ["  ▂▄█ "]);
        assert_eq!(curve(&[1.0, 4.0], 2, 2), [" █", "▄█"]);
        assert_eq!(curve(&[9.0, 1.0, 1.0], 2, 1), ["██"], "only what is shown sets the scale");
        assert_eq!(curve(&[0.0, 0.0], 3, 1), ["   "]);
        assert_eq!(curve(&[0.001, 4.0], 2, 1), ["▁█"]);
    }

    #[test]
    fn a_bar_is_full_only_at_the_end() {
        assert_eq!(bar(0.0, 4), "░░░░");
        assert_eq!(bar(0.99, 4), "███░");
        assert_eq!(bar(7.0, 4), "████");
    }
}
