//! Text for terminals that know nothing but ASCII.

use crate::report::text::char_width;

/// The text in ASCII, as wide as before: what has no letter there becomes `?`. Only `±` may make it
/// a column wider, where no blank before it gives way.
pub fn plain(text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            c if c.is_ascii() => written.push(c),
            '±' => {
                if written.ends_with(' ') {
                    written.pop();
                }
                written.push_str("+-");
            }
            '…' => written.push('~'),
            'µ' | 'μ' => written.push('u'),
            '×' => written.push('x'),
            '–' | '—' | '−' => written.push('-'),
            c => written.extend(std::iter::repeat_n('?', char_width(c))),
        }
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::text::width;

    #[test]
    fn a_text_in_ascii_is_as_wide_as_before() {
        for (text, expected) in [
            ("17,810/s ±3%", "17,810/s+-3%"),
            ("read-…", "read-~"),
            ("目录 é", "???? ?"),
            ("2.31 µs × 3 – 4", "2.31 us x 3 - 4"),
            ("a\nb", "a\nb"),
        ] {
            assert_eq!(plain(text), expected);
            assert_eq!(width(&plain(text)), width(text));
        }
        assert_eq!(plain("±3%"), "+-3%");
    }
}
