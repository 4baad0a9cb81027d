//! Estimates how wide a text is drawn, and shortens, clips or wraps it to fit. The font is the viewer's, so widths are estimates,
//! on the wide side.

use crate::text;
use boatload_base::failure::shown;

/// Widths of the printable ASCII characters of Helvetica, in thousandths of the size, from its
/// metrics file (Adobe Font Metrics, Helvetica).
const WIDTHS: [u16; 95] = [
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556,
    556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667,
    611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667,
    667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500,
    222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
];

/// Fonts that stand in for Helvetica are up to this much wider, as DejaVu Sans is.
const WIDER: f64 = 1.14;

/// What a character that is not in the table may take: characters of East Asia are square.
const OTHER: f64 = 1.0;

/// The least number of characters that a name is cut to.
const NAME_MIN: usize = 6;

/// The most that a name ever shows.
const NAME_MAX: usize = 64;

/// Pixels a text takes at this size.
pub(super) fn width(text: &str, size: f64) -> f64 {
    let each = text.chars().map(|c| {
        let at = u32::from(c).checked_sub(32).map(|at| at as usize);
        at.and_then(|at| WIDTHS.get(at)).map_or(OTHER, |width| f64::from(*width) / 1e3)
    });
    each.sum::<f64>() * size * WIDER
}

pub(super) fn widest(texts: &[String], size: f64) -> f64 {
    texts.iter().map(|text| width(text, size)).fold(0.0, f64::max)
}

/// Names of at most `room` pixels each; those that differ still do.
pub(super) fn names<T: AsRef<str>>(names: &[T], size: f64, room: f64) -> Vec<String> {
    let names: Vec<String> = names.iter().map(|name| shown(name.as_ref())).collect();
    if widest(&names, size) <= room {
        return names;
    }
    let cut = |columns: usize| {
        let is_whole = |name: &str| width(name, size) <= room;
        let columns = |name: &str| if is_whole(name) { text::width(name) } else { columns };
        text::shorten_names(&names.iter().map(|name| (&**name, columns(name))).collect::<Vec<_>>())
    };
    let mut cuts = (NAME_MIN..=NAME_MAX).rev().map(cut);
    let fitting = cuts.find(|cut| widest(cut, size) <= room);
    fitting.unwrap_or_else(|| names.iter().map(|name| clipped(name, size, room)).collect())
}

/// The text in at most `room` pixels, with an ellipsis where it was cut.
pub(super) fn clipped(text: &str, size: f64, room: f64) -> String {
    let text = shown(text);
    if width(&text, size) <= room {
        return text;
    }
    let mut kept = String::new();
    for c in text.chars() {
        kept.push(c);
        if width(&kept, size) + width("…", size) > room {
            kept.pop();
            break;
        }
    }
    kept + "…"
}

/// The text in lines of at most `room` pixels, no more than `most`.
pub(super) fn wrapped(text: &str, size: f64, room: f64, most: usize) -> Vec<String> {
    let text = shown(text);
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        let longer = if line.is_empty() { word.to_string() } else { format!("{line} {word}") };
        if line.is_empty() || width(&longer, size) <= room || lines.len() + 1 >= most {
            line = longer;
        } else {
            lines.push(std::mem::replace(&mut line, word.to_string()));
        }
    }
    lines.extend((!line.is_empty()).then_some(line));
    lines.iter().map(|line| clipped(line, size, room)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wide_text_takes_more_room_than_a_narrow_one() {
        assert!(width("WWWW", 12.0) > 2.0 * width("iiii", 12.0));
        assert!(width("目录", 12.0) >= 24.0);
    }

    #[test]
    fn long_names_are_cut_to_their_room_and_stay_apart() {
        let all =
            [format!("{}one", "x".repeat(300)), format!("{}two", "x".repeat(300)), "a".into()];
        let cut = names(&all, 12.0, 100.0);
        assert!(widest(&cut, 12.0) <= 100.0 && cut[0] != cut[1] && cut[2] == "a", "{cut:?}");
        let none = names(&all, 12.0, 5.0);
        assert!(none.iter().all(|name| name.chars().count() <= 2), "{none:?}");
    }

    #[test]
    fn lines_fit_and_the_last_one_is_cut() {
        let text = "one two three four five six seven eight nine ten";
        let lines = wrapped(text, 12.0, 90.0, 3);
        assert_eq!(lines.len(), 3);
        assert!(lines.iter().all(|line| width(line, 12.0) <= 90.0), "{lines:?}");
        assert!(lines[2].ends_with('…'), "{lines:?}");
        assert!(wrapped("", 12.0, 90.0, 3).is_empty());
    }
}
