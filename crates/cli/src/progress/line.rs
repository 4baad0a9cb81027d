//! Writes the progress of a run as one line.

use super::state::RunState;
use boatload_base::units::{figures, grouped};
use boatload_report::text::{shorten, width};

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
