//! Draws the progress of a run: as a view of any size, or as one line.

use ratatui_core::buffer::Buffer;
use ratatui_core::style::Style;
use ratatui_core::text::{Line, Span};

use super::canvas::{
    self, ACTIVE, BAD, FAINT, GOOD, STRONG, ViewSize, curve, padded, processors_text,
};
use super::state::{Activity, CellMark, CellRepeats, FinishedPhase, Goal, RunState, variant_name};
use crate::base::units::{bytes, counted, duration, figures, grouped, span};
use crate::cli::terminal_style::TerminalStyle;
use crate::report::text::{shorten, width};

/// Most columns of a variant's name.
const NAME_COLUMNS_MAX: usize = 20;

/// Draws the whole view.
pub(super) fn draw(state: &RunState, style: TerminalStyle, buffer: &mut Buffer) {
    canvas::draw("run", &state.notices, style, buffer, |canvas, rows| {
        View { state, canvas }.lines(rows)
    });
}

/// A part of the line, and how much it matters: where the line is too long, what matters least is left out.
struct LinePart {
    text: String,
    rank: usize,
}

/// The run as one line that fits: `34%  repeat 4 of 10  xfs  read-random  8,100/s  1 m 20 s left`. The percentage
/// and the time left are of the whole run.
pub(super) fn progress_line(state: &RunState, columns: usize) -> String {
    let part = |rank, text: String| LinePart { text, rank };
    let activity = state.activity.as_ref();
    let mut parts = Vec::new();
    if let Some(share) = state.share_done() {
        parts.push(part(0, format!("{:.0}%", (share * 100.0).floor())));
    }
    match activity.and_then(|activity| Some((activity, activity.words.split_last()?))) {
        Some((activity, (name, cell))) => {
            // The repeat matters least, the level and the variant more.
            let ranks = (3..3 + cell.len()).rev();
            parts.extend(cell.iter().zip(ranks).map(|(word, rank)| part(rank, word.clone())));
            let is_part = activity.cell.is_none() && !state.cells.is_empty();
            let share = activity.share(state.seconds).filter(|_| is_part);
            let share = share.map(|share| format!(" ({:.0}%)", (share * 100.0).floor()));
            parts.push(part(2, name.clone() + &share.unwrap_or_default()));
        }
        None => parts.push(part(2, state.status.clone())),
    }
    let rate = state.rates.rate().filter(|rate| *rate > 0.0);
    if let Some(rate) = rate.filter(|_| activity.is_some_and(|one| !one.noun.is_empty())) {
        parts.push(part(usize::MAX, format!("{}/s", figures(rate, 2))));
    }
    if let Some(left) = state.left() {
        parts.push(part(1, format!("{} left", countdown(left))));
    }
    fitted(parts, columns.saturating_sub(1))
}

/// The parts that fit, without those that matter least. The last one is cut if it must be.
fn fitted(mut parts: Vec<LinePart>, columns: usize) -> String {
    loop {
        let texts: Vec<&str> = parts.iter().map(|part| part.text.as_str()).collect();
        let line = texts.join("  ");
        if width(&line) <= columns {
            return line;
        }
        let least = (0..parts.len()).max_by_key(|at| parts[*at].rank);
        match least.filter(|_| parts.len() > 1) {
            Some(least) => drop(parts.remove(least)),
            None => return shorten(&line, columns),
        }
    }
}

/// A time that is waited for: `7 s`, `1 m 20 s`, `2 h 5 m`.
fn countdown(seconds: f64) -> String {
    let seconds = seconds.round().max(0.0) as u64;
    match (seconds / 3_600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, seconds) => format!("{minutes} m {seconds} s"),
        (hours, minutes, _) => format!("{} h {minutes} m", grouped(hours)),
    }
}

/// What a view is made of: the state, and what it is drawn on.
struct View<'a> {
    state: &'a RunState,
    canvas: ViewSize,
}

impl View<'_> {
    fn lines(&self, rows: usize) -> Vec<Line<'static>> {
        let parts = [self.head(), self.cells(), self.activity(), self.rates(), self.machine()];
        let mut lines = parts.concat();
        lines.extend(self.finished(rows.saturating_sub(lines.len())));
        lines
    }

    fn head(&self) -> Vec<Line<'static>> {
        let state = self.state;
        let mut times = span(state.seconds.floor());
        if let Some(most) = state.seconds_max.filter(|_| self.canvas.is_roomy) {
            times += &format!(" of at most {}", span(most));
        }
        if let Some(left) = state.left() {
            let about = if self.canvas.is_roomy { "about " } else { "~" };
            times += &format!(", {about}{} left", span(left));
        }
        let mut lines = vec![self.canvas.row(&format!("boatload {}", state.name), STRONG, &times)];
        if self.canvas.is_roomy {
            lines.push(self.canvas.row(&state.question, FAINT, ""));
        }
        lines
    }

    /// How many cells are done and, where there is room, which: variants below each other, with
    /// their levels and repeats.
    fn cells(&self) -> Vec<Line<'static>> {
        let state = self.state;
        let same = |a: &CellRepeats, b: &CellRepeats| a.plan.variant == b.plan.variant;
        let rows: Vec<&[CellRepeats]> = state.cells.chunk_by(same).collect();
        let names = rows.iter().map(|row| width(&row_name(row)));
        let names = names.chain([width(&state.axis)]).max().unwrap_or(0);
        let names = names.min(NAME_COLUMNS_MAX).min(self.canvas.columns / 4);
        let fold = Fold::new(&rows, self.canvas.columns - names - usize::from(names > 0));
        let mut lines = vec![self.canvas.heading(&state.cells_done(), &legend(state, fold))];
        if !self.canvas.is_roomy {
            return lines;
        }
        if let (Fold::Levels(each), false) = (fold, state.axis.is_empty()) {
            let mut text = padded(&state.axis, names) + " ";
            for cell in rows.iter().max_by_key(|row| row.len()).into_iter().copied().flatten() {
                text += &(padded(&level_name(cell), each) + " ");
            }
            lines.push(self.canvas.row(&text, FAINT, ""));
        }
        let room = (self.canvas.rows / 3).max(2);
        // The last row says how many are not seen.
        let seen = if rows.len() > room { room - 1 } else { rows.len() };
        let runs =
            |row: &&[CellRepeats]| row.iter().any(|cell| cell.marks.contains(&CellMark::Running));
        let running = rows.iter().position(runs).unwrap_or(0);
        let first = running.saturating_sub(seen / 2).min(rows.len() - seen);
        for row in &rows[first..first + seen] {
            let mut spans = Vec::new();
            if names > 0 {
                spans.push(Span::raw(padded(&row_name(row), names) + " "));
            }
            spans.extend(fold.spans(row));
            lines.push(Line::from(spans));
        }
        if seen < rows.len() {
            let text = format!("{} to {} of {} variants", first + 1, first + seen, rows.len());
            lines.push(self.canvas.row(&text, FAINT, ""));
        }
        lines
    }

    /// What is done now, and how far it is.
    fn activity(&self) -> Vec<Line<'static>> {
        let Some(activity) = &self.state.activity else {
            return vec![self.canvas.heading(&self.state.status, ""), Line::default()];
        };
        let room = self.canvas.columns - if self.canvas.is_roomy { 6 } else { 0 };
        let title = self.canvas.heading(&fit_before_last(&activity.words, " ", room), "");
        let text = self.progress_text(activity);
        let Some(share) = activity.share(self.state.seconds) else {
            return vec![title, self.canvas.row(&text, Style::new(), "")];
        };
        let columns =
            (self.canvas.columns / 3).min(self.canvas.columns.saturating_sub(width(&text) + 6));
        let bar = Line::from(vec![
            Span::styled(bar(share, columns), GOOD),
            Span::styled(format!(" {:>3.0}% ", (share * 100.0).floor()), STRONG),
            Span::raw(text),
        ]);
        vec![title, bar]
    }

    fn progress_text(&self, activity: &Activity) -> String {
        let noun = activity.noun;
        match activity.goal {
            Goal::Operations(_) if activity.is_done() && !self.canvas.is_roomy => {
                "writing out, counting".into()
            }
            Goal::Operations(all) if activity.is_done() => {
                format!("{} done; writing out and counting", counted(all, noun))
            }
            Goal::Operations(all) if !self.canvas.is_roomy => {
                format!("{} of {}", figures(activity.done as f64, 3), figures(all as f64, 3))
            }
            Goal::Operations(all) => {
                let rate = self.state.rates.rate().filter(|rate| *rate > 0.0);
                let left = rate.map(|rate| (all - activity.done) as f64 / rate);
                let left = left.map_or_else(String::new, |left| format!(", {} left", span(left)));
                format!("{} of {}{left}", grouped(activity.done), counted(all, noun))
            }
            Goal::Seconds(all) => {
                let left = (all - (self.state.seconds - activity.begun)).max(0.0);
                format!("{}, {} left", counted(activity.done, noun), span(left))
            }
            Goal::Share(_) => String::new(),
            Goal::Open => format!("{} done", counted(activity.done, noun)),
        }
    }

    /// The rate and the mean latency of the last second, above the course of the rate. Between phases
    /// there are none: the figures of the last phase would mislead.
    fn rates(&self) -> Vec<Line<'static>> {
        let rates = &self.state.rates;
        let now = self.state.activity.as_ref().zip(rates.rate());
        let (mut rate, mut latency) = ("rate -".to_string(), "mean latency -".to_string());
        if let Some((activity, now)) = now {
            let noun =
                if self.canvas.is_roomy { format!(" {}s", activity.noun) } else { String::new() };
            rate = format!("rate {}{noun}/s", figures(now, 3));
            match activity.workers {
                Some(workers) if now > 0.0 => {
                    // Of workers with one operation at a time each (Little's law).
                    let mean = duration(f64::from(workers) / now * 1e9);
                    let how = if self.canvas.is_roomy { " (workers over rate)" } else { "" };
                    latency = format!("mean latency{how} {mean}");
                }
                Some(_) => {}
                None => rate += ", in real time",
            }
        }
        let windows: Vec<f64> = rates.windows.iter().copied().collect();
        let curve = curve(&windows, self.canvas.columns, (self.canvas.rows / 8).clamp(1, 6));
        let curve = curve.into_iter().map(|line| Line::styled(line, ACTIVE));
        [self.canvas.row(&rate, Style::new(), &latency)].into_iter().chain(curve).collect()
    }

    /// What the device and the processors do, in one row if that fits.
    fn machine(&self) -> Vec<Line<'static>> {
        let rates = &self.state.rates;
        let rate = |bytes_per_second: f64| format!("{}/s", bytes(bytes_per_second as u64));
        let [read, written] = rates.device().map_or(["-".into(), "-".into()], |d| d.map(rate));
        let device = match &self.state.device {
            Some(name) => format!("{} reads {read}, writes {written}", shorten(name, 12)),
            None => "no device".into(),
        };
        let processors = processors_text(rates);
        match self.canvas.is_roomy {
            true => vec![self.canvas.row(&device, Style::new(), &processors)],
            false => vec![Line::from(device), Line::from(processors)],
        }
    }

    /// The newest of the phases that are over, in `rows` rows.
    fn finished(&self, rows: usize) -> Vec<Line<'static>> {
        let mut lines = Vec::new();
        if self.canvas.is_roomy && rows > 1 {
            lines.push(self.canvas.heading("finished phases", "operations per second, latency"));
        }
        let all = &self.state.finished;
        let newest = &all[all.len().saturating_sub(rows - lines.len())..];
        lines.extend(newest.iter().map(|phase| self.finished_phase(phase)));
        lines
    }

    fn finished_phase(&self, phase: &FinishedPhase) -> Line<'static> {
        let mut right = format!("{:>10}/s", figures(phase.rate, 3));
        let (p50, p99) = (duration(phase.p50_ns), duration(phase.p99_ns));
        let operations = counted(phase.operations, "operation");
        let took = format!(" {operations:>20} in {:>8}", duration(phase.seconds * 1e9));
        for more in [format!(" p50 {p50:>8} p99 {p99:>8}"), took] {
            if self.canvas.is_roomy && width(&right) + width(&more) <= self.canvas.columns / 2 + 2 {
                right.push_str(&more);
            }
        }
        let state = if phase.valid { "" } else { " invalid" };
        let room = self.canvas.columns.saturating_sub(width(&right) + width(state));
        let title = padded(&fit_before_last(&phase.words, " ", room), room);
        let style = if phase.valid { Style::new() } else { FAINT };
        Line::from(vec![Span::raw(title), Span::styled(state, BAD), Span::styled(right, style)])
    }
}

fn row_name(row: &[CellRepeats]) -> String {
    row.first().and_then(|cell| variant_name(&cell.plan.variant)).unwrap_or_default()
}

fn level_name(cell: &CellRepeats) -> String {
    cell.plan.level.map_or_else(String::new, |level| level.to_string())
}

/// How marks of cells share the columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fold {
    /// Levels side by side, each so wide that its value stands above.
    Levels(usize),
    /// So many cells share a mark.
    Shared(usize),
}

impl Fold {
    /// The roomiest way in which every row fits.
    fn new(rows: &[&[CellRepeats]], room: usize) -> Self {
        let of_cell = |cell: &CellRepeats| width(&level_name(cell)).max(cell.marks.len());
        let each = rows.iter().copied().flatten().map(of_cell).max().unwrap_or(0);
        let levels = rows.iter().map(|row| row.len()).max().unwrap_or(0);
        if (each + 1) * levels <= room + 1 {
            return Self::Levels(each);
        }
        let marks = |row: &&[CellRepeats]| row.iter().map(|cell| cell.marks.len()).sum::<usize>();
        Self::Shared(rows.iter().map(marks).max().unwrap_or(0).div_ceil(room.max(1)))
    }

    /// The marks of a row.
    fn spans(self, row: &[CellRepeats]) -> Vec<Span<'static>> {
        let mark = |mark: &CellMark| {
            let (symbol, style) = symbol(*mark);
            Span::styled(symbol, style)
        };
        let mut spans = Vec::new();
        match self {
            Self::Levels(each) => {
                for cell in row {
                    spans.extend(cell.marks.iter().map(mark));
                    spans.push(Span::raw(" ".repeat(each.saturating_sub(cell.marks.len()) + 1)));
                }
            }
            Self::Shared(cells) => {
                let all: Vec<CellMark> = row.iter().flat_map(|cell| cell.marks.clone()).collect();
                spans.extend(all.chunks(cells).map(|marks| mark(&CellMark::combined(marks))));
            }
        }
        spans
    }
}

/// What the marks mean.
fn legend(state: &RunState, fold: Fold) -> String {
    let shared = match fold {
        Fold::Shared(cells @ 2..) => format!("a mark is {cells} cells  "),
        _ => String::new(),
    };
    let mut marks = vec![
        (CellMark::Done, "done"),
        (CellMark::Running, "running"),
        (CellMark::Waiting, "waiting"),
    ];
    if state.count(CellMark::Invalid) > 0 {
        marks.push((CellMark::Invalid, "invalid"));
    }
    let words = marks.iter().map(|(mark, word)| format!("{} {word}", symbol(*mark).0));
    shared + &words.collect::<Vec<_>>().join(" ")
}

fn symbol(mark: CellMark) -> (&'static str, Style) {
    match mark {
        CellMark::Waiting => ("·", FAINT),
        CellMark::Running => ("▶", ACTIVE),
        CellMark::Done => ("■", GOOD),
        CellMark::Invalid => ("✗", BAD),
        CellMark::Partly => ("▪", GOOD),
    }
}

/// Joins words; where they do not fit, the last stays whole and the words before it are cut.
fn fit_before_last(words: &[String], blanks: &str, columns: usize) -> String {
    let (last, before) = words.split_last().map_or(("", &[][..]), |(last, rest)| (last, rest));
    let before = before.join(blanks);
    let room = columns.saturating_sub(width(last) + 1);
    match before.is_empty() || last.is_empty() || room < 3 {
        true => shorten(&format!("{before}{last}"), columns),
        false if width(&before) + width(blanks) > room + 1 => {
            format!("{} {last}", shorten(&before, room))
        }
        false => format!("{before}{blanks}{last}"),
    }
}

/// A bar that is `columns` wide and filled to this share, from 0 to 1.
fn bar(share: f64, columns: usize) -> String {
    let full = (share.clamp(0.0, 1.0) * columns as f64).floor() as usize;
    format!("{}{}", "█".repeat(full), "░".repeat(columns - full.min(columns)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_cells_are_shown_by_what_matters_most() {
        use CellMark::{Done, Invalid, Partly, Running, Waiting};
        assert_eq!(CellMark::combined(&[Done, Running, Invalid]), Running);
        assert_eq!(CellMark::combined(&[Done, Invalid]), Invalid);
        assert_eq!(CellMark::combined(&[Done, Waiting]), Partly);
        assert_eq!(CellMark::combined(&[Done, Done]), Done);
        assert_eq!(CellMark::combined(&[Waiting]), Waiting);
    }

    #[test]
    fn the_last_word_stays_whole_and_columns_are_filled() {
        assert_eq!(padded("名", 4), "名  ");
        assert_eq!(padded("abcdef", 4), "abc…");
        let words = ["3/9", "single", "read"].map(String::from);
        assert_eq!(fit_before_last(&words, " ", 15), "3/9 single read");
        assert_eq!(fit_before_last(&words, " ", 12), "3/9 si… read");
        assert_eq!(fit_before_last(&words[2..], " ", 3), "re…");
        assert_eq!(fit_before_last(&[], " ", 6), "");
    }

    #[test]
    fn a_countdown_has_seconds_below_an_hour() {
        let texts = [0.2, 59.6, 80.0, 7_530.0].map(countdown);
        assert_eq!(texts, ["0 s", "1 m 0 s", "1 m 20 s", "2 h 5 m"]);
    }

    #[test]
    fn a_bar_is_full_only_at_the_end() {
        assert_eq!(bar(0.0, 4), "░░░░");
        assert_eq!(bar(0.99, 4), "███░");
        assert_eq!(bar(7.0, 4), "████");
    }
}
