//! Text from outside inside the page: where it stands, it is text and nothing else.

use std::fmt::{self, Write};

use askama::filters::Escaper;

use crate::base::failure::garbles;

/// Escapes every text of a template as the content of an element or of a quoted attribute. Characters
/// that would turn the direction of writing or are not to be seen are shown by their number.
#[derive(Clone, Copy)]
pub(crate) struct PageText;

impl Escaper for PageText {
    fn write_escaped_str<W: Write>(&self, mut out: W, text: &str) -> fmt::Result {
        for c in text.chars() {
            match c {
                '&' => out.write_str("&amp;")?,
                '<' => out.write_str("&lt;")?,
                '>' => out.write_str("&gt;")?,
                '"' => out.write_str("&quot;")?,
                '\'' => out.write_str("&#39;")?,
                '\n' | '\t' => out.write_char(c)?,
                c if garbles(c) => write!(out, "{}", c.escape_unicode())?,
                c => out.write_char(c)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_no_element_no_attribute_and_no_reference() {
        let escaped = |text: &str| {
            let mut out = String::new();
            PageText.write_escaped_str(&mut out, text).unwrap();
            out
        };
        let evil = escaped("<script>alert(1)</script> \"a\" onx='b' &lt;");
        assert!(!evil.contains(['<', '>', '"', '\'']), "{evil}");
        assert!(evil.starts_with("&lt;script&gt;") && evil.ends_with("&amp;lt;"));
        assert_eq!(escaped("job\n\tline\u{0}\u{202e}x"), "job\n\tline\\u{0}\\u{202e}x");
    }
}
