//! Pieces of lines that fit their columns: shortened text, bars, curves of bars.

pub(super) use crate::report::text::{shorten, width};

/// Heights of a column, from nothing to full.
const STEPS: [&str; 9] = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];

/// A text that ends with a word, which stays whole where the rest is cut before it.
pub(super) fn fit_before(text: &str, last: &str, columns: usize) -> String {
    let end = width(last) + 1;
    match text.strip_suffix(last) {
        Some(before) if !last.is_empty() && width(text) > columns && end + 2 < columns => {
            format!("{} {last}", shorten(before.trim_end(), columns - end))
        }
        _ => shorten(text, columns),
    }
}

/// As much of a text as fits, filled up with blanks.
pub(super) fn padded(text: &str, columns: usize) -> String {
    let text = shorten(text, columns);
    let blanks = " ".repeat(columns.saturating_sub(width(&text)));
    format!("{text}{blanks}")
}

/// A bar of so many columns, of which a share from 0 to 1 is full.
pub(super) fn bar(share: f64, columns: usize) -> String {
    let full = (share.clamp(0.0, 1.0) * columns as f64).floor() as usize;
    format!("{}{}", "█".repeat(full), "░".repeat(columns - full.min(columns)))
}

/// The newest values as columns that stand on zero, the newest at the right; lines from the top down.
pub(super) fn curve(values: &[f64], columns: usize, height: usize) -> Vec<String> {
    let newest = &values[values.len().saturating_sub(columns)..];
    let most = newest.iter().copied().fold(0.0, f64::max);
    let full = STEPS.len() - 1;
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
        let column = |value: &f64| STEPS[eighths(*value).saturating_sub(below).min(full)];
        format!("{blanks}{}", newest.iter().map(column).collect::<String>())
    };
    (0..height).map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

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
