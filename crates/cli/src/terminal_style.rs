//! Detects the width and characters of the terminal behind standard output or standard error.

use std::io::IsTerminal;
use std::os::fd::AsFd;

use boatload_report::text::width;

/// What a terminal can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TerminalStyle {
    pub(super) columns: usize,
    /// Whether it knows nothing but ASCII.
    pub(super) ascii: bool,
}

/// Columns where nobody says how many there are.
const COLUMNS: usize = 80;

/// What standard output can show, and the environment wants.
pub(super) fn output_style() -> TerminalStyle {
    style_behind(&std::io::stdout())
}

/// What standard error can show, and the environment wants.
pub(super) fn error_style() -> TerminalStyle {
    style_behind(&std::io::stderr())
}

fn style_behind(stream: &(impl AsFd + IsTerminal)) -> TerminalStyle {
    let columns = stream.is_terminal().then(|| {
        let size = rustix::termios::tcgetwinsize(stream);
        size.map_or(0, |size| usize::from(size.ws_col))
    });
    style_of(columns, |name| std::env::var(name).unwrap_or_default())
}

/// The text in ASCII, as wide as before: what has no letter there becomes `?`.
pub(super) fn plain(text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            c if c.is_ascii() => written.push(c),
            '…' => written.push('~'),
            'µ' | 'μ' => written.push('u'),
            '×' => written.push('x'),
            '–' | '—' | '−' | '─' => written.push('-'),
            '·' => written.push('.'),
            c => written.push_str(&"?".repeat(width(c.encode_utf8(&mut [0; 4])))),
        }
    }
    written
}

/// The style of a terminal with this number of columns, 0 if it does not say; `None` is no terminal. An
/// environment gives an empty text for what is not set.
fn style_of(columns: Option<usize>, of: impl Fn(&str) -> String) -> TerminalStyle {
    let known = |columns: &usize| *columns > 0;
    let asked = of("COLUMNS").trim().parse().ok().filter(known);
    TerminalStyle {
        columns: asked.or(columns.filter(known)).unwrap_or(COLUMNS),
        ascii: !has_blocks(&of),
    }
}

/// Whether the locale is one of UTF-8, by the first of the three that is set (locale(7)). The console
/// of Linux itself has a font without eighths of blocks.
fn has_blocks(of: &impl Fn(&str) -> String) -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].map(of).into_iter().find(|name| !name.is_empty());
    let locale = locale.unwrap_or_default().to_ascii_lowercase();
    (locale.contains("utf-8") || locale.contains("utf8")) && of("TERM") != "linux"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(columns: Option<usize>, environment: &[(&str, &str)]) -> TerminalStyle {
        style_of(columns, |name| {
            let set = environment.iter().find(|(key, _)| *key == name);
            set.map_or_else(String::new, |(_, value)| value.to_string())
        })
    }

    const UTF8: (&str, &str) = ("LANG", "C.UTF-8");

    #[test]
    fn the_width_is_what_columns_says_or_the_terminal_or_80() {
        assert_eq!(of(Some(123), &[]).columns, 123);
        assert_eq!(of(Some(123), &[("COLUMNS", "60")]).columns, 60);
        assert_eq!(of(None, &[("COLUMNS", "60")]).columns, 60);
        for odd in ["", "0", "-1", "many", "99999999999999999999"] {
            assert_eq!(of(Some(123), &[("COLUMNS", odd)]).columns, 123, "{odd}");
        }
        assert_eq!(of(Some(0), &[]).columns, 80);
        assert_eq!(of(None, &[]).columns, 80);
    }

    #[test]
    fn a_locale_without_utf8_gets_ascii() {
        for locale in ["de_DE.UTF-8", "C.utf8", "en_US.utf-8@euro"] {
            assert!(!of(None, &[("LC_ALL", locale)]).ascii, "{locale}");
        }
        assert!(of(None, &[]).ascii, "nothing is set");
        assert!(of(None, &[("LC_ALL", "C"), UTF8]).ascii, "the first that is set decides");
        assert!(!of(None, &[("LC_ALL", ""), UTF8]).ascii, "an empty one is not set");
        assert!(of(None, &[UTF8, ("TERM", "linux")]).ascii, "its font lacks blocks");
    }

    #[test]
    fn text_in_ascii_is_as_wide_as_before() {
        for (text, expected) in [("a…b", "a~b"), ("µs · 3×", "us . 3x"), ("目录", "????")] {
            assert_eq!(plain(text), expected);
            assert_eq!(width(expected), width(text));
        }
    }
}
