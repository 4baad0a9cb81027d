//! Text from outside inside the page: where it stands, it is text and nothing else.

use crate::base::failure::garbles;

/// A text as the content of an element or of a quoted attribute. Characters that would turn the
/// direction of writing or are not to be seen are told by their number.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\n' | '\t' => escaped.push(c),
            c if garbles(c) => escaped.extend(c.escape_unicode()),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_no_element_no_attribute_and_no_reference() {
        let text = "<script>alert(1)</script> \"a\" onx='b' &lt;";
        let escaped = escape(text);
        assert!(!escaped.contains(['<', '>', '"', '\'']), "{escaped}");
        assert!(escaped.starts_with("&lt;script&gt;") && escaped.ends_with("&amp;lt;"));
        assert_eq!(escape("job\n\tline\u{0}\u{202e}x"), "job\n\tline\\u{0}\\u{202e}x");
    }
}
