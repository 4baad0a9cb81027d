//! Draws the counts of a trace: a view of any size.

use ratatui_core::buffer::Buffer;
use ratatui_core::style::Style;
use ratatui_core::text::{Line, Span};

use super::canvas::{self, ACTIVE, BAD, FAINT, STRONG, ViewSize, curve, padded, processors_text};
use super::state::RunState;
use super::trace_state::{OperationCalls, RECENT_SECONDS, SeenOperation, TraceState};
use crate::base::units::{counted, duration, figures, grouped, span};
use crate::cli::terminal_style::TerminalStyle;
use crate::report::text::{shorten, width};

/// The longest name of an operation.
const NAME_COLUMNS: usize = 8;

/// A course of fewer columns shows nothing.
const COURSE_COLUMNS_MIN: usize = 8;
const COURSE_COLUMNS_MAX: usize = 40;

/// Draws the whole view. `run` has what is known of the machine, and the notices.
pub(super) fn draw_trace(
    trace: &TraceState,
    run: &RunState,
    style: TerminalStyle,
    buffer: &mut Buffer,
) {
    canvas::draw("trace", &run.notices, style, buffer, |canvas, rows| {
        TraceView { trace, run, canvas }.lines(rows)
    });
}

struct TraceView<'a> {
    trace: &'a TraceState,
    run: &'a RunState,
    canvas: ViewSize,
}

/// A column of figures, the most important first: where there is no room, the last are left out.
struct TraceColumn {
    head: &'static str,
    columns: usize,
    /// Where it stands among those that are shown.
    place: usize,
    text: fn(&OperationCalls) -> String,
}

const COLUMNS: [TraceColumn; 7] = [
    column("p50 now", 9, 2, |one| time(one.recent().map(|now| now.p50_ns))),
    column("p99 now", 9, 3, |one| time(one.recent().map(|now| now.p99_ns))),
    column("calls/s", 11, 1, |one| one.rate().map_or("-".into(), |rate| figures(rate, 3))),
    column("calls", 14, 0, |one| grouped(one.calls)),
    column("p50 all", 9, 4, |one| time(one.all().map(|all| all.p50_ns))),
    column("p99 all", 9, 5, |one| time(one.all().map(|all| all.p99_ns))),
    column("failed", 10, 6, |one| grouped(one.failed)),
];

const fn column(
    head: &'static str,
    columns: usize,
    place: usize,
    text: fn(&OperationCalls) -> String,
) -> TraceColumn {
    TraceColumn { head, columns, place, text }
}

fn time(ns: Option<f64>) -> String {
    ns.map_or("-".into(), duration)
}

/// The columns that fit, and how many are left for the course of each operation.
struct TraceTable {
    shown: Vec<&'static TraceColumn>,
    course_columns: usize,
}

impl TraceTable {
    fn new(canvas: ViewSize, has_failed: bool) -> Self {
        let mut room = canvas.columns - NAME_COLUMNS;
        let mut shown = Vec::new();
        for column in COLUMNS.iter().filter(|column| has_failed || column.head != "failed") {
            if column.columns > room {
                break;
            }
            room -= column.columns;
            shown.push(column);
        }
        shown.sort_by_key(|column| column.place);
        let course_columns = room.saturating_sub(2).min(COURSE_COLUMNS_MAX);
        let has_course = course_columns >= COURSE_COLUMNS_MIN && canvas.is_roomy;
        Self { shown, course_columns: if has_course { course_columns } else { 0 } }
    }

    fn row(
        &self,
        name: &str,
        text: impl Fn(&TraceColumn) -> String,
        course: String,
    ) -> Line<'static> {
        let mut row = padded(name, NAME_COLUMNS);
        for column in &self.shown {
            let text = shorten(&text(column), column.columns - 1);
            row += &" ".repeat(column.columns - width(&text));
            row += &text;
        }
        Line::from(vec![Span::raw(row), Span::raw("  "), Span::styled(course, ACTIVE)])
    }

    fn head(&self) -> Line<'static> {
        let course = if self.course_columns > 0 { "course" } else { "" };
        let course = shorten(course, self.course_columns);
        self.row("", |column| column.head.into(), course).style(FAINT)
    }

    fn operation(&self, one: SeenOperation<'_>) -> Line<'static> {
        let course = match self.course_columns {
            0 => String::new(),
            columns => curve(&resampled(&one.counts.course(columns), columns), columns, 1).concat(),
        };
        self.row(one.operation.as_str(), |column| (column.text)(one.counts), course)
    }
}

impl TraceView<'_> {
    fn lines(&self, rows: usize) -> Vec<Line<'static>> {
        let canvas = self.canvas;
        let mut lines = self.head();
        let totals = self.totals();
        let room = rows - lines.len() - totals.len();
        let seen = self.trace.seen();
        if seen.is_empty() {
            lines.push(canvas.heading(&self.run.status, ""));
        }
        let least = (canvas.rows / 6).max(1);
        let height = room.saturating_sub(seen.len() + 2).clamp(least, 2 * least);
        let course = if canvas.is_roomy { self.course(&seen, height) } else { Vec::new() };
        lines.extend(self.operations(&seen, room.saturating_sub(course.len())));
        lines.extend(course);
        lines.extend(totals);
        lines
    }

    fn head(&self) -> Vec<Line<'static>> {
        let title = format!("boatload trace: {}", self.trace.target);
        let times = span(self.run.seconds.floor());
        let mut lines = vec![self.canvas.row(&title, STRONG, &times)];
        if self.canvas.is_roomy {
            let text = format!(
                "now: the last {}; all: since it began; course: means, first call to last",
                span(RECENT_SECONDS)
            );
            lines.push(self.canvas.row(&text, FAINT, ""));
        }
        lines
    }

    /// Operations in their usual order; the ones with the most calls where `rows` is too few for all.
    fn operations(&self, seen: &[SeenOperation<'_>], rows: usize) -> Vec<Line<'static>> {
        if seen.is_empty() {
            return Vec::new();
        }
        let table = TraceTable::new(self.canvas, seen.iter().any(|one| one.counts.failed > 0));
        let mut lines = vec![table.head()];
        // The last row says how many are not seen.
        let shown = if seen.len() < rows { seen.len() } else { rows.saturating_sub(2) };
        let mut by_calls: Vec<u64> =
            seen.iter().map(|one| one.counts.calls + one.counts.failed).collect();
        by_calls.sort_unstable_by(|a, b| b.cmp(a));
        let least = shown.checked_sub(1).map_or(u64::MAX, |at| by_calls[at]);
        let busy = seen.iter().filter(|one| one.counts.calls + one.counts.failed >= least);
        lines.extend(busy.take(shown).map(|one| table.operation(*one)));
        if shown < seen.len() {
            let text = format!(
                "and {} with fewer calls",
                counted((seen.len() - shown) as u64, "operation")
            );
            lines.push(self.canvas.row(&text, FAINT, ""));
        }
        lines
    }

    /// How the latency of the operation that took the most time changed with the number of its calls.
    fn course(&self, seen: &[SeenOperation<'_>], height: usize) -> Vec<Line<'static>> {
        let most = seen.iter().max_by(|a, b| a.counts.total_ns().total_cmp(&b.counts.total_ns()));
        let Some(most) = most.filter(|one| one.counts.total_ns() > 0.0) else { return Vec::new() };
        let columns = self.canvas.columns;
        let course = most.counts.course(columns);
        let ends = course.first().zip(course.last()).filter(|_| course.len() > 1);
        let ends = ends.map_or_else(String::new, |(first, last)| {
            format!("{} at first, {} at last", duration(*first), duration(*last))
        });
        let calls = counted(most.counts.calls, "call");
        let title = format!("{}: mean latency over {calls}", most.operation.as_str());
        let curve = curve(&resampled(&course, columns), columns, height);
        let curve = curve.into_iter().map(|line| Line::styled(line, ACTIVE));
        [self.canvas.heading(&title, &ends)].into_iter().chain(curve).collect()
    }

    /// How many calls there were, what of them is not known, and what the processors do.
    fn totals(&self) -> Vec<Line<'static>> {
        let (calls, lost) = (counted(self.trace.calls(), "call"), grouped(self.trace.lost()));
        let text = format!("{calls}, latency of {lost} lost");
        let style = if self.trace.lost() > 0 { BAD } else { Style::new() };
        let processors = processors_text(&self.run.rates);
        let mut lines = match self.canvas.is_roomy {
            true => vec![self.canvas.row(&text, style, &processors)],
            false => vec![self.canvas.row(&text, style, "")],
        };
        let unseen = self.trace.unseen_uring_calls();
        if unseen > 0 {
            let text =
                format!("{} of io_uring_enter: what they do is not seen", counted(unseen, "call"));
            lines.push(self.canvas.row(&text, BAD, ""));
        }
        lines
    }
}

/// As many values as there are columns: each is repeated where there are fewer.
fn resampled(values: &[f64], columns: usize) -> Vec<f64> {
    let at = |column: usize| values.get(column * values.len() / columns).copied();
    (0..columns).filter_map(at).collect()
}
