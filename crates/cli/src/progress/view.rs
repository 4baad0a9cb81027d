//! Draws the progress of a run: on the whole terminal, or as one line.

use ratatui_core::buffer::Buffer;
use ratatui_core::style::{Modifier, Style};
use ratatui_core::text::{Line, Text};
use ratatui_core::widgets::Widget;

use super::state::{Activity, FinishedPhase, Goal, RunState};
use crate::terminal_style::plain;
use boatload_base::units::{counted, duration, figures, grouped, span};
use boatload_report::text::{shorten, width, wrap_to};

const STRONG: Style = Style::new().add_modifier(Modifier::BOLD);
const FAINT: Style = Style::new().add_modifier(Modifier::DIM);

/// Columns of the bar of an activity.
const BAR_COLUMNS: usize = 30;

/// Draws the whole view: what is done now, then the newest phases that are over and the newest notices.
pub(super) fn draw(state: &RunState, ascii: bool, buffer: &mut Buffer) {
    let (columns, rows) = (buffer.area.width as usize, buffer.area.height as usize);
    let line = |text: String, style| {
        let text = if ascii { plain(&text) } else { text };
        Line::styled(text, style)
    };
    let mut lines = vec![
        line(beside(&format!("boatload {}", state.name), &times(state), columns), STRONG),
        line(state.question.clone(), FAINT),
        line(state.cells_done(), Style::new()),
        Line::default(),
    ];
    lines.extend(activity_lines(state).map(|text| line(text, Style::new())));
    let wrapped = |notice: &String| wrap_to(columns, "", notice);
    let mut notices: Vec<String> = state.notices.iter().flat_map(wrapped).collect();
    notices.drain(..notices.len().saturating_sub(rows / 4));
    let room = rows.saturating_sub(lines.len() + notices.len() + 4);
    let newest = &state.finished[state.finished.len().saturating_sub(room)..];
    let heading = beside("finished phases", "operations, latency p50 and p99", columns);
    lines.extend([Line::default(), line(heading, STRONG)]);
    lines.extend(newest.iter().map(|phase| line(finished(phase, columns), Style::new())));
    lines.resize(rows.saturating_sub(notices.len() + 1), Line::default());
    lines.extend(notices.into_iter().map(|text| line(text, Style::new())));
    lines.push(line("Ctrl-C ends the run".into(), FAINT));
    Text::from(lines).render(buffer.area, buffer);
}

fn times(state: &RunState) -> String {
    let most = state.seconds_max.map(|most| format!(" of at most {}", span(most)));
    let left = state.left().map(|left| format!(", about {} left", span(left)));
    [Some(span(state.seconds.floor())), most, left].into_iter().flatten().collect()
}

/// What is done now, how far it is, and its rate.
fn activity_lines(state: &RunState) -> impl Iterator<Item = String> {
    let Some(activity) = &state.activity else {
        return vec![state.status.clone()].into_iter();
    };
    let bar = activity.share(state.seconds).map(|share| {
        let full = (share * BAR_COLUMNS as f64) as usize;
        let bar = "#".repeat(full) + &".".repeat(BAR_COLUMNS - full);
        format!("{bar} {:>3.0}%  ", (share * 100.0).floor())
    });
    let rate = state.rate().map(|rate| format!(", {} a second", figures(rate, 3)));
    let progress =
        format!("{}{}{}", bar.unwrap_or_default(), done_text(activity), rate.unwrap_or_default());
    vec![activity.words.join(", "), progress].into_iter()
}

fn done_text(activity: &Activity) -> String {
    match activity.goal {
        Goal::Share(_) => String::new(),
        Goal::Operations(all) if activity.done >= all => {
            format!("{} done; writing out and counting", counted(all, activity.noun))
        }
        Goal::Operations(all) => {
            format!("{} of {}", grouped(activity.done), counted(all, activity.noun))
        }
        Goal::Seconds(_) | Goal::Open => format!("{} done", counted(activity.done, activity.noun)),
    }
}

fn finished(phase: &FinishedPhase, columns: usize) -> String {
    let [p50, p99] = [phase.p50_ns, phase.p99_ns].map(duration);
    let invalid = if phase.valid { "" } else { "invalid " };
    let right = format!("{invalid}{:>10}/s {p50:>9} {p99:>9}", figures(phase.rate, 3));
    beside(&phase.words.join(", "), &right, columns)
}

/// As much of a text as fits before one at the right.
fn beside(left: &str, right: &str, columns: usize) -> String {
    let room = columns.saturating_sub(width(right) + 2);
    let left = shorten(left, room);
    let blanks = " ".repeat(room.saturating_sub(width(&left)) + 2);
    format!("{left}{blanks}{right}")
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
            let is_part = !activity.is_phase && state.has_cells();
            let share = activity.share(state.seconds).filter(|_| is_part);
            let share = share.map(|share| format!(" ({:.0}%)", (share * 100.0).floor()));
            parts.push(part(2, name.clone() + &share.unwrap_or_default()));
        }
        None => parts.push(part(2, state.status.clone())),
    }
    if let Some(rate) = state.rate().filter(|rate| *rate > 0.0) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_countdown_has_seconds_below_an_hour() {
        let texts = [0.2, 59.6, 80.0, 7_530.0].map(countdown);
        assert_eq!(texts, ["0 s", "1 m 0 s", "1 m 20 s", "2 h 5 m"]);
    }
}
