//! Text from outside inside the page: where it stands, it is text and nothing else.

use serde::Serialize;

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

/// Data as JSON that no text in it can end, whatever element it stands in: `<` is written by its
/// number. Empty if it cannot be written, which plain data always can.
pub(super) fn data(value: &impl Serialize) -> String {
    let json = serde_json::to_string(value).unwrap_or_default();
    // In JSON these stand in texts only, where their number means the same.
    json.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
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

    #[test]
    fn data_cannot_end_the_element_it_stands_in_and_reads_back_the_same() {
        let texts = ["</script><script>alert(1)</script>", "<!--<script>", "a & b", "\u{2028}"];
        let json = data(&texts);
        assert!(!json.contains(['<', '>', '&']), "{json}");
        assert_eq!(serde_json::from_str::<Vec<String>>(&json).unwrap(), texts);
    }
}
