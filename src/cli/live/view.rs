//! Draws what is known of a run into a buffer of any size.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::text::{Line, Span};
use ratatui_core::widgets::Widget;

use super::cells;
use super::look::{Look, Tone, plain};
use super::state::{Done, Goal, Note, State, Work};
use super::text::{bar, curve, fit_before, padded, shorten, width};
use crate::base::units::{bytes, counted, duration, figures, grouped, span};
use crate::report::text::wrap_to;

/// Below this nothing is told any more but that.
const COLUMNS_MIN: usize = 40;
const ROWS_MIN: usize = 10;

/// From this on there is room for headings, and for figures beside each other.
const COLUMNS_ROOMY: usize = 60;
const ROWS_ROOMY: usize = 16;

/// Rows that a roomy view has but for cells, curves, phases and notes.
const ROWS_FIXED: usize = 8;

const KEYS: &str = "q leaves the view, the run goes on   Ctrl-C stops the run";

/// Draws the whole.
pub(super) fn draw(state: &State, look: Look, buffer: &mut Buffer) {
    let area = buffer.area;
    let (columns, rows) = (area.width as usize, area.height as usize);
    let is_wide = columns >= COLUMNS_ROOMY;
    let view = View { state, look, columns, rows, is_wide };
    let lines = match view.is_roomy() {
        _ if columns < COLUMNS_MIN || rows < ROWS_MIN => view.too_small(),
        false => view.narrow(),
        true => view.roomy(),
    };
    for (row, line) in lines.into_iter().take(view.rows).enumerate() {
        line.render(Rect { y: area.y + row as u16, height: 1, ..area }, buffer);
    }
    if !look.unicode {
        plain(buffer);
    }
}

struct View<'a> {
    state: &'a State,
    look: Look,
    columns: usize,
    rows: usize,
    is_wide: bool,
}

type Lines = Vec<Line<'static>>;

impl View<'_> {
    fn is_roomy(&self) -> bool {
        self.is_wide && self.rows >= ROWS_ROOMY
    }

    fn span(&self, text: impl Into<String>, tone: Tone) -> Span<'static> {
        Span::styled(text.into(), self.look.style(tone))
    }

    fn line(&self, text: &str, tone: Tone) -> Line<'static> {
        Line::from(self.span(shorten(text, self.columns), tone))
    }

    /// A text at the left and one at the right, which is the first to go.
    fn both(&self, (left, tone): (&str, Tone), (right, faint): (&str, Tone)) -> Line<'static> {
        let room = self.columns.saturating_sub(width(right) + 2);
        if right.is_empty() || width(left) > room {
            return self.line(left, tone);
        }
        let left = padded(left, room + 2);
        Line::from(vec![self.span(left, tone), self.span(right, faint)])
    }

    /// A heading with a rule: `── title ─────── right ──`.
    fn heading(&self, title: &str, right: &str) -> Line<'static> {
        let title = shorten(title, self.columns.saturating_sub(5));
        let mut right = if right.is_empty() { String::new() } else { format!(" {right} ──") };
        let used = 4 + width(&title);
        if used + width(&right) > self.columns {
            right.clear();
        }
        let rule = "─".repeat(self.columns.saturating_sub(used + width(&right)));
        Line::from(vec![
            self.span("── ", Tone::Faint),
            self.span(title, Tone::Strong),
            self.span(format!(" {rule}{right}"), Tone::Faint),
        ])
    }

    fn too_small(&self) -> Lines {
        let text = format!(
            "The view takes {COLUMNS_MIN}x{ROWS_MIN}; this terminal has {}x{}. The run goes on.",
            self.columns, self.rows
        );
        wrap_to(self.columns, "", &text).iter().map(|line| self.line(line, Tone::Plain)).collect()
    }

    fn narrow(&self) -> Lines {
        let state = self.state;
        let mut lines = vec![self.head(), self.line(&state.cells(), Tone::Plain)];
        let (title, work) = self.title_and_bar();
        lines.extend([self.line(&title, Tone::Strong), work]);
        lines.extend([self.short_rate(), self.short_latency()]);
        lines.extend([self.line(&self.device(), Tone::Plain)]);
        lines.extend([self.line(&self.processors(), Tone::Plain)]);
        let room = self.rows.saturating_sub(lines.len() + 1);
        let notes = state.notes.len().min(room / 3);
        lines.extend(self.finished(room - notes));
        lines.extend(self.notes(notes));
        self.with_keys(lines)
    }

    fn roomy(&self) -> Lines {
        let state = self.state;
        let mut rest = self.rows - ROWS_FIXED;
        let height = (rest / 5).clamp(1, 6);
        rest -= height;
        let notes = self.note_lines();
        let notes_shown = notes.len().min((rest / 4).max(1));
        rest -= notes_shown + usize::from(notes_shown > 0);
        let matrix = cells::Cells::new(&state.matrix, self.look, self.columns);
        let matrix_rows = matrix.rows().min((rest * 3 / 5).max(1));
        rest -= matrix_rows;

        let mut lines = vec![self.head(), self.line(&state.question, Tone::Faint)];
        lines.push(self.heading(&state.cells(), &matrix.legend()));
        lines.extend(matrix.lines(matrix_rows));
        let (title, work) = self.title_and_bar();
        lines.extend([self.heading(&title, ""), work]);
        lines.extend(self.curves(height));
        lines.push(self.both((&self.device(), Tone::Plain), (&self.processors(), Tone::Plain)));
        if rest > 1 {
            lines.push(self.heading("finished phases", "operations per second, latency"));
            lines.extend(self.finished(rest - 1));
        }
        if notes_shown > 0 {
            lines.push(self.heading("notes", ""));
            lines.extend(notes.into_iter().rev().take(notes_shown).rev());
        }
        self.with_keys(lines)
    }

    /// The keys in the last row.
    fn with_keys(&self, mut lines: Lines) -> Lines {
        lines.resize(self.rows - 1, Line::default());
        let short = "q leaves the view, Ctrl-C stops the run";
        let keys = if width(KEYS) <= self.columns { KEYS } else { short };
        lines.push(self.line(keys, Tone::Faint));
        lines
    }

    fn head(&self) -> Line<'static> {
        let state = self.state;
        let elapsed = span(state.seconds.floor());
        let left = match state.left() {
            Some(left) if !self.is_wide => {
                format!(", ~{} left", span(left))
            }
            Some(left) => format!(", about {} left", span(left)),
            None => String::new(),
        };
        let most = state.seconds_max.filter(|_| self.is_wide);
        let most = most.map_or_else(String::new, |most| format!(" of at most {}", span(most)));
        let name = format!("boatload {}", state.name);
        let times = format!("{elapsed}{most}{left}");
        let name = shorten(&name, self.columns.saturating_sub(width(&times) + 2));
        self.both((&name, Tone::Strong), (&times, Tone::Plain))
    }

    /// What is under way, and how far it is.
    fn title_and_bar(&self) -> (String, Line<'static>) {
        let Some(work) = &self.state.work else {
            return (self.state.doing.clone(), Line::default());
        };
        // As a heading it has a rule around it.
        let room = self.columns.saturating_sub(if self.is_roomy() { 6 } else { 0 });
        let title = fit_before(&work.title, &work.last, room);
        let text = self.progress(work);
        let Some(share) = work.share(self.state.seconds) else {
            return (title, self.line(&text, Tone::Plain));
        };
        let columns = (self.columns / 3).min(self.columns.saturating_sub(width(&text) + 6));
        let line = Line::from(vec![
            self.span(bar(share, columns), Tone::Good),
            self.span(format!(" {:>3.0}%", (share * 100.0).floor()), Tone::Strong),
            self.span(
                format!(" {}", shorten(&text, self.columns.saturating_sub(columns + 6))),
                Tone::Plain,
            ),
        ]);
        (title, line)
    }

    fn progress(&self, work: &Work) -> String {
        let rate = self.state.pace.rate().filter(|rate| *rate > 0.0);
        match work.goal {
            Goal::Operations(_) if work.is_done() && !self.is_wide => {
                "writing out, counting".into()
            }
            Goal::Operations(all) if work.is_done() => {
                format!("{} done; writing out and counting", counted_as(all, work.noun))
            }
            Goal::Operations(all) if !self.is_wide => {
                format!("{} of {}", figures(work.done as f64, 3), figures(all as f64, 3))
            }
            Goal::Operations(all) => {
                let left = rate.map(|rate| (all - work.done) as f64 / rate);
                let left = left.map_or_else(String::new, |left| format!(", {} left", span(left)));
                format!("{} of {}{left}", grouped(work.done), counted_as(all, work.noun))
            }
            Goal::Seconds(all) => {
                let left = (all - (self.state.seconds - work.begun)).max(0.0);
                format!("{}, {} left", counted_as(work.done, work.noun), span(left))
            }
            Goal::Share(_) => String::new(),
            Goal::Open => format!("{} so far", counted_as(work.done, work.noun)),
        }
    }

    /// Rates and mean latencies of the last windows; the latency follows from the rate.
    fn windows(&self) -> (Vec<f64>, Vec<f64>) {
        let pace = &self.state.pace;
        (pace.rates.iter().copied().collect(), pace.latencies_ns())
    }

    /// The rate of now, with as many words as there is room for.
    fn rate_text(&self, room: usize) -> String {
        let Some((work, rate)) = self.now() else { return "rate -".into() };
        let rate = figures(rate, 3);
        let real = if work.simulated { ", in real time" } else { "" };
        let whole = format!("rate {rate} {}/s{real}", work.noun);
        if width(&whole) <= room { whole } else { shorten(&format!("rate {rate}/s{real}"), room) }
    }

    /// What is under way, and its rate; between phases the last one's would mislead.
    fn now(&self) -> Option<(&Work, f64)> {
        self.state.work.as_ref().zip(self.state.pace.rate())
    }

    /// The mean latency of now; none between phases either.
    fn latency_text(&self) -> Option<String> {
        self.now().and_then(|_| self.state.pace.latency_ns()).map(duration)
    }

    fn short_rate(&self) -> Line<'static> {
        self.short(&self.rate_text(self.columns), &self.windows().0)
    }

    fn short_latency(&self) -> Line<'static> {
        let latency = self.latency_text().unwrap_or_else(|| "-".into());
        self.short(&format!("mean latency {latency}"), &self.windows().1)
    }

    fn short(&self, now: &str, values: &[f64]) -> Line<'static> {
        let text = format!("{now} ");
        let room = self.columns.saturating_sub(width(&text)).min(self.columns / 2);
        let blanks = " ".repeat(self.columns.saturating_sub(width(&text) + room));
        let curve = curve(values, room, 1).concat();
        Line::from(vec![self.span(text + &blanks, Tone::Plain), self.span(curve, Tone::Active)])
    }

    /// Two curves beside each other, under what they show now.
    fn curves(&self, height: usize) -> Lines {
        let half = (self.columns - 2) / 2;
        let rate = self.rate_text(half);
        let latency = match self.latency_text() {
            Some(latency) if half >= 50 => format!("mean latency (workers over rate) {latency}"),
            Some(latency) => format!("mean latency {latency}"),
            None => "mean latency -".into(),
        };
        let mut lines = vec![Line::from(vec![
            self.span(padded(&rate, half + 2), Tone::Plain),
            self.span(shorten(&latency, half), Tone::Plain),
        ])];
        let (rates, latencies) = self.windows();
        let (rates, latencies) = (curve(&rates, half, height), curve(&latencies, half, height));
        lines.extend(rates.into_iter().zip(latencies).map(|(rate, latency)| {
            Line::from(vec![
                self.span(rate, Tone::Active),
                self.span("  ", Tone::Plain),
                self.span(latency, Tone::Active),
            ])
        }));
        lines
    }

    fn device(&self) -> String {
        let name = self.state.device.as_deref().map(|name| shorten(name, 12));
        let Some(name) = name else { return "no device".into() };
        let moved = self.state.machine.device();
        let text = |rate: f64| format!("{}/s", bytes(rate as u64));
        match moved {
            Some((read, written)) => {
                format!("{name} reads {}, writes {}", text(read), text(written))
            }
            None => format!("{name} reads -, writes -"),
        }
    }

    fn processors(&self) -> String {
        let percent = |share: f64| format!("{:.0}%", share * 100.0);
        self.state.machine.processors().map_or_else(
            || "CPU -".into(),
            |p| {
                let (user, system, steal) = (percent(p.user), percent(p.system), percent(p.steal));
                format!("CPU user {user}, system {system}, steal {steal}")
            },
        )
    }

    /// The newest phases that are over, the newest last.
    fn finished(&self, rows: usize) -> Lines {
        let all = &self.state.finished;
        all[all.len().saturating_sub(rows)..].iter().map(|done| self.done(done)).collect()
    }

    fn done(&self, done: &Done) -> Line<'static> {
        let rate = format!("{:>10}/s", figures(done.rate, 3));
        let latency = format!(" p50 {:>8} p99 {:>8}", duration(done.p50_ns), duration(done.p99_ns));
        let took = counted(done.operations, "operation");
        let took = format!(" {took:>20} in {:>8}", duration(done.seconds * 1e9));
        let mut figures = rate;
        for more in [latency, took] {
            if self.is_wide && width(&figures) + width(&more) <= self.columns / 2 + 2 {
                figures.push_str(&more);
            }
        }
        let state = if done.valid { "" } else { " invalid" };
        let room = self.columns.saturating_sub(width(&figures) + width(state));
        Line::from(vec![
            self.span(padded(&fit_before(&done.title, &done.last, room), room), Tone::Plain),
            self.span(state, Tone::Bad),
            self.span(figures, if done.valid { Tone::Plain } else { Tone::Faint }),
        ])
    }

    fn notes(&self, rows: usize) -> Lines {
        let all = &self.state.notes;
        let newest = &all[all.len().saturating_sub(rows)..];
        newest.iter().map(|note| self.line(&note_text(note), note_tone(note))).collect()
    }

    /// All notes, wrapped.
    fn note_lines(&self) -> Lines {
        let lines = |note: &Note| {
            let tone = note_tone(note);
            let wrapped = wrap_to(self.columns, "", &note_text(note));
            wrapped.iter().map(|text| self.line(text, tone)).collect::<Vec<_>>()
        };
        self.state.notes.iter().flat_map(lines).collect()
    }
}

fn note_text(note: &Note) -> String {
    let times = if note.times > 1 { format!(" ({} times)", note.times) } else { String::new() };
    format!("{}{times}", note.text)
}

fn note_tone(note: &Note) -> Tone {
    if note.is_warning { Tone::Bad } else { Tone::Plain }
}

/// The nouns are plurals, as they stand beside rates.
fn counted_as(number: u64, nouns: &str) -> String {
    counted(number, nouns.trim_end_matches('s'))
}
