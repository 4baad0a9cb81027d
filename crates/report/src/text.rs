//! Measures, shortens, wraps and cleans text for a terminal.

use std::io::{self, Write};

use unicode_width::UnicodeWidthChar;

use boatload_analysis::statistics::Interval;
use boatload_analysis::uncertainty::{Estimate, is_wide};
use boatload_base::failure::shown;
use boatload_base::units;

/// Columns of a terminal that every line fits into.
pub(super) const WIDTH: usize = 80;

const ELLIPSIS: char = '…';

/// Columns a character takes (UAX #11); a combining mark takes none.
pub(super) fn char_width(c: char) -> usize {
    c.width().unwrap_or_default()
}

/// Columns a text takes. Terminals differ in sequences of emoji; each is counted by its parts, so that
/// the beginning of a text is never wider than the whole.
pub fn width(text: &str) -> usize {
    text.chars().map(char_width).sum()
}

/// In fewer columns a cut in the middle leaves too little of both ends.
const NAME_COLUMNS_MIN: usize = 8;

/// The text if it fits into `columns`, else its beginning with an ellipsis.
pub fn shorten(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_string();
    }
    let mut kept = take(text, columns.saturating_sub(1)).to_string();
    if columns > 0 {
        kept.push(ELLIPSIS);
    }
    kept
}

/// A name cut so that `end` columns are kept of its end.
fn cut(name: &str, columns: usize, end: usize) -> String {
    if width(name) <= columns || columns < NAME_COLUMNS_MIN {
        return shorten(name, columns);
    }
    let reversed: String = name.chars().rev().collect();
    let tail: String = take(&reversed, end.min(columns - 1)).chars().rev().collect();
    format!("{}{ELLIPSIS}{tail}", take(name, columns - 1 - width(&tail)))
}

/// Names, each cut to fit into its columns: at the place nearest to the middle at which names that
/// differ still do. Where no place does that, those that would be alike are numbered.
pub(super) fn shorten_names(names: &[(&str, usize)]) -> Vec<String> {
    let at = |shift: isize| {
        let end = |columns: usize| (columns.saturating_sub(1) / 2).saturating_add_signed(shift);
        let cut = |(name, columns): &(&str, usize)| cut(name, *columns, end(*columns));
        names.iter().map(cut).collect::<Vec<String>>()
    };
    let most = names.iter().map(|(_, columns)| *columns).max().unwrap_or_default();
    let shifts = (0..most.cast_signed() / 2 + 1).flat_map(|by| [by, -by]);
    let mut cuts = shifts.map(at);
    cuts.find(|cut| (0..names.len()).all(|n| !is_taken(names, cut, n)))
        .unwrap_or_else(|| numbered(names, &at(0)))
}

/// Whether another name was cut to the same.
fn is_taken(names: &[(&str, usize)], cut: &[String], n: usize) -> bool {
    let mut others = names.iter().zip(cut);
    others.any(|((name, _), short)| *short == cut[n] && *name != names[n].0)
}

/// Cut names, with numbers in place of the ends of those that are alike.
fn numbered(names: &[(&str, usize)], cut: &[String]) -> Vec<String> {
    let number = |(n, (name, columns)): (usize, &(&str, usize))| {
        if !is_taken(names, cut, n) {
            return cut[n].clone();
        }
        let first = names.iter().position(|(other, _)| other == name).unwrap_or(n);
        let mark = format!("{ELLIPSIS}{}", first + 1);
        format!("{}{mark}", take(name, columns.saturating_sub(width(&mark))))
    };
    names.iter().enumerate().map(number).collect()
}

/// As much of the beginning as fits into `columns`.
fn take(text: &str, columns: usize) -> &str {
    let mut used = 0;
    for (at, c) in text.char_indices() {
        used += char_width(c);
        if used > columns {
            return &text[..at];
        }
    }
    text
}

/// Lines of at most [`WIDTH`] columns: the first begins with `lead`, the others with as many
/// blanks. Breaks between words, and in words that are longer than a line. A command, which stands between backticks,
/// stays on one line of any length, so that it can be pasted.
pub fn wrap(lead: &str, text: &str) -> Vec<String> {
    let mut is_command = false;
    let units = unbroken(text, |word| {
        let was_command = is_command;
        is_command ^= word.matches('`').count() % 2 == 1;
        was_command
    });
    lines(WIDTH, lead, &units)
}

/// The same for lines of this many columns, where a command is broken like other words.
pub fn wrap_to(columns: usize, lead: &str, text: &str) -> Vec<String> {
    lines(columns, lead, &unbroken(text, |_| false))
}

/// The words of a text, each with those that stay on its line: a unit stands beside its number, and others where `is_joined` says
/// so of a word.
fn unbroken(text: &str, mut is_joined: impl FnMut(&str) -> bool) -> Vec<String> {
    let text = shown(text);
    let mut all: Vec<String> = Vec::new();
    let mut before = "";
    for word in text.split_whitespace() {
        let is_joined = is_joined(word) || is_number(before) && is_unit(word);
        match all.last_mut().filter(|_| is_joined) {
            Some(last) => *last += &format!(" {word}"),
            None => all.push(word.into()),
        }
        before = word;
    }
    all
}

/// No number is longer.
const NUMBER_MAX: usize = 20;

fn is_number(word: &str) -> bool {
    let word = word.trim_start_matches('(');
    word.len() <= NUMBER_MAX
        && word.starts_with(|c: char| c.is_ascii_digit())
        && word.ends_with(|c: char| c.is_ascii_digit())
}

fn is_unit(word: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphabetic();
    let word = word.split(|c| !is_letter(c)).next().unwrap_or_default();
    matches!(word, "ns" | "us" | "ms" | "s" | "min" | "h" | "B" | "KiB" | "MiB" | "GiB" | "TiB")
}

fn lines(columns: usize, lead: &str, units: &[String]) -> Vec<String> {
    let indent = " ".repeat(width(lead));
    let room = columns.saturating_sub(indent.len()).max(2);
    let mut lines = Vec::new();
    let mut line = String::new();
    for mut word in units.iter().map(String::as_str) {
        if !line.is_empty() && width(&line) + 1 + width(word) > room {
            lines.push(std::mem::take(&mut line));
        }
        // Only what a line takes of a word is measured: one may be as long as all lines together.
        let mut part = if word.contains(' ') { word } else { take(word, room) };
        while part.len() < word.len() {
            lines.push(part.to_string());
            word = &word[part.len()..];
            part = take(word, room);
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    if !line.is_empty() {
        lines.push(line);
    }
    let lead = |at| if at == 0 { lead } else { &indent };
    lines.iter().enumerate().map(|(at, line)| format!("{}{line}", lead(at))).collect()
}

/// Writes a text as [`wrap`] breaks it. Fails only if `out` does.
pub(super) fn write_wrapped(lead: &str, text: &str, out: &mut dyn Write) -> io::Result<()> {
    wrap(lead, text).iter().try_for_each(|line| writeln!(out, "{line}"))
}

/// Beyond these a plain notation is longer than it is readable.
const PLAIN: std::ops::Range<f64> = 1e-4..1e13;

/// A number with so many significant figures; `-` if it is none.
pub(super) fn number(value: f64, figures: u32) -> String {
    if !value.is_finite() {
        return "-".into();
    }
    if value == 0.0 || PLAIN.contains(&value.abs()) {
        return units::figures(value, figures);
    }
    format!("{value:.*e}", figures.saturating_sub(1) as usize)
}

/// The text of a value; `-` of one that is not known.
pub(super) fn known<T>(value: Option<T>, text: impl Fn(T) -> String) -> String {
    value.map_or_else(|| "-".into(), text)
}

/// A time in nanoseconds with its unit; `-` if there is none.
pub(super) fn time(ns: Option<f64>) -> String {
    match ns.filter(|ns| ns.is_finite() && *ns >= 0.0) {
        None => "-".into(),
        Some(ns) if ns >= PLAIN.end * 1e9 => format!("{} s", number(ns / 1e9, 3)),
        Some(ns) => units::duration(ns),
    }
}

/// A time in nanoseconds, number and unit together, so that the columns of a common run fit.
pub(super) fn short_time(ns: Option<f64>) -> String {
    time(ns).replace(' ', "")
}

/// A time in seconds, number and unit together.
pub(super) fn short_seconds(seconds: Option<f64>) -> String {
    short_time(seconds.map(|seconds| seconds * 1e9))
}

/// Bytes per second with so many significant figures: `1.05 GiB/s`.
pub(super) fn byte_rate(per_second: f64, figures: u32) -> String {
    let (size, word) = units::byte_step(per_second);
    format!("{} {word}/s", number(per_second / size, figures))
}

/// Half an interval as a share: `±3%`. None where that is unknown, or so wide that both ends are to be written.
pub(super) fn half_as_share(relative: Option<f64>) -> Option<String> {
    let share = relative.filter(|share| !is_wide(*share))?;
    Some(match share * 100.0 {
        percent if percent < 0.05 => "±<0.1%".into(),
        percent if percent < 0.95 => format!("±{percent:.1}%"),
        percent => format!("±{percent:.0}%"),
    })
}

/// Half the interval of a mean as a share; where that says little, the values as `text` writes them with so many
/// figures.
pub(super) fn spread(estimate: &Estimate, text: impl Fn(f64, u32) -> String) -> String {
    let half = half_as_share(estimate.relative()).filter(|_| !estimate.is_scattered());
    half.unwrap_or_else(|| low_to_high(estimate, text))
}

/// Writes values in units of `size`.
pub(super) fn in_units(size: f64) -> impl Fn(f64, u32) -> String {
    move |value, figures| number(value / size, figures)
}

/// The ends of the 95% interval of a mean: `10,200 to 13,100`. Where it is too wide to say anything, the smallest and
/// the largest value: `~1,600 to 29,000`. Empty if unknown. `text` writes a value with so many figures.
pub(super) fn low_to_high(estimate: &Estimate, text: impl Fn(f64, u32) -> String) -> String {
    let Estimate { interval, figures, .. } = *estimate;
    let Some(Interval { low, high }) = interval else { return String::new() };
    match estimate.range_of_values() {
        Some([least, most]) => format!("~{} to {}", text(least, 2), text(most, 2)),
        None => format!("{} to {}", text(low, figures), text(high, figures)),
    }
}

/// How the values of [`low_to_high`] are to be read, where some are such a range.
pub(super) const ABOUT_SCATTERED: &str =
    "~ slowest to fastest repeat, where a 95% interval is wider than ±50%";

/// How [`low_to_high`] of these is to be read.
pub(super) fn about_ranges(mut all: impl Iterator<Item = Estimate>) -> Option<&'static str> {
    all.any(|one| one.range_of_values().is_some()).then_some(ABOUT_SCATTERED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_stays_on_one_line_of_any_length() {
        let command = format!("`boatload compare {} last`", "k7m ".repeat(30).trim());
        let lines = wrap("", &format!("It is known: {command} says what differs."));
        assert!(lines.iter().any(|line| line.contains(&command)), "{lines:?}");
        let mut others = lines.iter().filter(|line| !line.contains(&command));
        assert!(others.all(|line| line.len() <= WIDTH), "{lines:?}");
    }

    #[test]
    fn a_unit_stays_beside_its_number() {
        let text = "It took 7.4 min, at 880 MiB/s (64 KiB) in 3 runs.";
        for columns in 12..50 {
            let lines = wrap_to(columns, "", text);
            for part in ["7.4 min,", "880 MiB/s", "(64 KiB)"] {
                assert!(lines.iter().any(|line| line.contains(part)), "{columns}: {lines:?}");
            }
        }
    }

    #[test]
    fn a_long_text_ends_in_an_ellipsis_and_fits() {
        assert_eq!(shorten("read-random", 11), "read-random");
        assert_eq!(shorten("read-random", 6), "read-…");
        assert_eq!(shorten("目录目录", 6), "目录…");
        assert_eq!(shorten("cafe\u{301}s und mehr", 6), "cafe\u{301}s…");
        assert_eq!(shorten("ab", 0), "");
    }

    #[test]
    fn a_name_is_cut_in_its_middle() {
        let one = |name, columns| shorten_names(&[(name, columns)]).remove(0);
        assert_eq!(one("ext3 -O ^dir_index/single", 16), "ext3 -O …/single");
        assert_eq!(one("ext3/single", 11), "ext3/single");
        assert_eq!(one("read-random", 6), "read-…");
        assert_eq!(one("目录目录目录", 9), "目录…目录");
    }

    #[track_caller]
    fn cut_to(columns: usize, names: &[&str]) -> Vec<String> {
        let wanted: Vec<(&str, usize)> = names.iter().map(|name| (*name, columns)).collect();
        let cut = shorten_names(&wanted);
        assert!(cut.iter().all(|name| width(name) <= columns), "{cut:?}");
        let distinct: std::collections::BTreeSet<&String> = cut.iter().collect();
        assert_eq!(distinct.len(), names.len(), "{cut:?}");
        cut
    }

    #[test]
    fn names_that_are_cut_stay_different() {
        let reserved =
            ["ext4 -O ^has_journal,^dir_index -m 0", "ext4 -O ^has_journal,^dir_index -m 5"];
        let layouts =
            ["single", "multiple", "striped"].map(|name| format!("ext3 -O ^dir_index/{name}"));
        let layouts = layouts.each_ref().map(String::as_str);
        for columns in [8, 10, 14, 17, 21, 24] {
            cut_to(columns, &reserved);
            cut_to(columns, &layouts);
        }
        assert_eq!(cut_to(17, &reserved), ["ext4 -O …dex -m 0", "ext4 -O …dex -m 5"]);
        assert_eq!(cut_to(40, &layouts), layouts);
    }

    #[test]
    fn names_that_differ_in_their_middle_are_cut_elsewhere() {
        let names = ["ext4 -O ^dir_index -m 0", "ext4 -O ^has_journal,^dir_index -m 0"];
        assert_eq!(cut_to(17, &names), ["ext4 -O ^d…x -m 0", "ext4 -O ^h…x -m 0"]);
    }

    #[test]
    fn names_that_no_cut_tells_apart_are_numbered() {
        let long = "0123456789";
        let names = [format!("{long}a{long}"), format!("{long}b{long}"), "other".into()];
        let names = names.each_ref().map(String::as_str);
        assert_eq!(cut_to(9, &names), ["0123456…1", "0123456…2", "other"]);
        let again = [(names[0], 9), (names[0], 9)];
        assert_eq!(shorten_names(&again), ["0123…6789", "0123…6789"], "the same name is the same");
    }

    #[test]
    fn lines_break_between_words_and_hang_under_their_lead() {
        let lines = wrap("note: ", &"word ".repeat(20));
        assert_eq!(lines.len(), 2);
        assert!(lines[0].starts_with("note: word") && lines[1].starts_with("      word"));
        assert!(lines.iter().all(|line| width(line) <= WIDTH));
        let long = wrap("- ", &"x".repeat(200));
        assert_eq!(long.iter().map(|line| width(line)).collect::<Vec<_>>(), [80, 80, 46]);
        assert!(wrap("- ", "").is_empty());
    }

    #[test]
    fn an_uncertainty_is_written_as_people_say_it() {
        for (share, text) in [
            (0.03, "±3%"),
            (0.0042, "±0.4%"),
            (0.0096, "±1%"),
            (0.0001, "±<0.1%"),
            (0.0, "±<0.1%"),
            (0.5, "±50%"),
        ] {
            assert_eq!(half_as_share(Some(share)).as_deref(), Some(text));
        }
        assert_eq!((half_as_share(Some(0.51)), half_as_share(None)), (None, None));
    }

    #[test]
    fn bytes_per_second_keep_the_figures_that_are_allowed() {
        assert_eq!(byte_rate(624_600_000.0, 3), "596 MiB/s");
        assert_eq!(byte_rate(1_457_000_000.0, 2), "1.4 GiB/s");
        assert_eq!(byte_rate(12.0, 2), "12 B/s");
    }

    #[test]
    fn numbers_and_times_beyond_reason_stay_short() {
        assert_eq!(number(1e300, 2), "1.0e300");
        assert_eq!(number(-1e-300, 1), "-1e-300");
        assert_eq!(number(51_234.0, 3), "51,200");
        assert_eq!(number(f64::NAN, 3), "-");
        assert_eq!(time(Some(1e300)), "1.00e291 s");
        assert_eq!(time(Some(f64::NAN)), "-");
        assert_eq!(time(Some(-1.0)), "-");
        assert_eq!(time(None), "-");
        assert_eq!(time(Some(2_310.0)), "2.31 us");
        assert_eq!(short_seconds(Some(1.2)), "1.20s");
        assert_eq!(byte_rate(1_127_428_915.0, 3), "1.05 GiB/s");
        assert_eq!(byte_rate(f64::NAN, 3), "- B/s");
    }
}
