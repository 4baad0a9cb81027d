//! Escapes text from outside for markup.

use std::fmt::{self, Write};

use askama::filters::Escaper;

use boatload_base::failure::{garbles, shown};

/// Escapes every text of the page and of its charts as the content of an element or of a quoted attribute.
/// Characters that would turn the direction of writing or are not to be seen are shown by their number.
#[derive(Clone, Copy)]
pub(crate) struct MarkupText;

impl Escaper for MarkupText {
    fn write_escaped_str<W: Write>(&self, mut out: W, text: &str) -> fmt::Result {
        for c in text.chars() {
            match c {
                '&' => out.write_str("&amp;")?,
                '<' => out.write_str("&lt;")?,
                '>' => out.write_str("&gt;")?,
                '"' => out.write_str("&quot;")?,
                '\'' => out.write_str("&#39;")?,
                '\n' | '\t' => out.write_char(c)?,
                // XML 1.0 has no way to write the last two.
                c if garbles(c) || matches!(c, '\u{fffe}' | '\u{ffff}') => {
                    write!(out, "{}", c.escape_unicode())?
                }
                c => out.write_char(c)?,
            }
        }
        Ok(())
    }
}

/// A text on one line of markup.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    // Writing to a string cannot fail.
    let _ = MarkupText.write_escaped_str(&mut escaped, &shown(text));
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_no_element_no_attribute_and_no_reference() {
        let written = |text: &str| {
            let mut out = String::new();
            MarkupText.write_escaped_str(&mut out, text).unwrap();
            out
        };
        let evil = written("<script>alert(1)</script> \"a\" onx='b' &lt;");
        assert!(!evil.contains(['<', '>', '"', '\'']), "{evil}");
        assert!(evil.starts_with("&lt;script&gt;") && evil.ends_with("&amp;lt;"));
        assert_eq!(written("job\n\tline\u{0}\u{202e}x"), "job\n\tline\\u{0}\\u{202e}x");
    }
    #[test]
    fn a_name_that_is_markup_stays_on_its_line() {
        assert_eq!(
            escaped("<b a='1'>&\"x\"</b>"),
            "&lt;b a=&#39;1&#39;&gt;&amp;&quot;x&quot;&lt;/b&gt;"
        );
        assert_eq!(escaped("a\nb\0c\u{ffff}"), "a\\nb\\u{0}c\\u{ffff}");
    }
}
