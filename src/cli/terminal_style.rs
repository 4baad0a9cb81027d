//! Detects the width, colours and characters of the terminal behind standard output or standard error.

use std::io::IsTerminal;
use std::os::fd::AsFd;

use crate::report::{Colours, Style};

/// Columns where nobody says how many there are.
const COLUMNS: usize = 80;

/// What standard output can show, and the environment wants.
pub(super) fn output_style(ascii: bool) -> Style {
    style_behind(&std::io::stdout(), ascii)
}

/// What standard error can show, and the environment wants.
pub(super) fn error_style() -> Style {
    style_behind(&std::io::stderr(), false)
}

fn style_behind(stream: &(impl AsFd + IsTerminal), ascii: bool) -> Style {
    let columns = stream.is_terminal().then(|| {
        let size = rustix::termios::tcgetwinsize(stream);
        size.map_or(0, |size| usize::from(size.ws_col))
    });
    style_of(ascii, columns, |name| std::env::var(name).unwrap_or_default())
}

/// The same for a terminal of so many columns, 0 if it does not say; none is no terminal. An
/// environment gives an empty text for what is not set.
fn style_of(ascii: bool, columns: Option<usize>, of: impl Fn(&str) -> String) -> Style {
    let known = |columns: &usize| *columns > 0;
    let asked = of("COLUMNS").trim().parse().ok().filter(known);
    Style {
        columns: asked.or(columns.filter(known)).unwrap_or(COLUMNS),
        ascii: ascii || !has_braille(&of),
        colours: if columns.is_some() { colours(&of) } else { Colours::None },
    }
}

/// See no-color.org and bixense.com/clicolors.
fn colours(of: &impl Fn(&str) -> String) -> Colours {
    let term = of("TERM");
    let unwanted = !of("NO_COLOR").is_empty() || of("CLICOLOR") == "0";
    if unwanted || term.is_empty() || term == "dumb" {
        return Colours::None;
    }
    let many = term.contains("256color") || term.contains("direct") || !of("COLORTERM").is_empty();
    if many { Colours::Many } else { Colours::Sixteen }
}

/// Whether the locale is one of UTF-8, by the first of the three that is set (locale(7)). The console
/// of Linux itself has a font without braille, and without eighths of blocks.
fn has_braille(of: &impl Fn(&str) -> String) -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].map(of).into_iter().find(|name| !name.is_empty());
    let locale = locale.unwrap_or_default().to_ascii_lowercase();
    (locale.contains("utf-8") || locale.contains("utf8")) && of("TERM") != "linux"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(columns: Option<usize>, environment: &[(&str, &str)]) -> Style {
        style_of(false, columns, |name| {
            let set = environment.iter().find(|(key, _)| *key == name);
            set.map_or_else(String::new, |(_, value)| value.to_string())
        })
    }

    const UTF8: (&str, &str) = ("LANG", "C.UTF-8");
    const XTERM: (&str, &str) = ("TERM", "xterm-256color");

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
    fn colours_are_for_terminals_whose_user_wants_them() {
        assert_eq!(of(Some(80), &[XTERM]).colours, Colours::Many);
        assert_eq!(of(Some(80), &[("TERM", "xterm")]).colours, Colours::Sixteen);
        assert_eq!(of(Some(80), &[XTERM, ("NO_COLOR", "")]).colours, Colours::Many);
        assert_eq!(of(None, &[XTERM]).colours, Colours::None, "a pipe");
        assert_eq!(of(Some(80), &[]).colours, Colours::None, "nobody says what it is");
        for (name, value) in [("NO_COLOR", "1"), ("CLICOLOR", "0"), ("TERM", "dumb")] {
            let colours = of(Some(80), &[(name, value), XTERM]).colours;
            assert_eq!(colours, Colours::None, "{name}={value}");
        }
    }

    #[test]
    fn a_locale_without_utf8_gets_ascii() {
        for locale in ["de_DE.UTF-8", "C.utf8", "en_US.utf-8@euro"] {
            assert!(!of(None, &[("LC_ALL", locale)]).ascii, "{locale}");
        }
        assert!(of(None, &[]).ascii, "nothing is set");
        assert!(of(None, &[("LC_ALL", "C"), UTF8]).ascii, "the first that is set decides");
        assert!(!of(None, &[("LC_ALL", ""), UTF8]).ascii, "an empty one is not set");
        assert!(of(None, &[UTF8, ("TERM", "linux")]).ascii, "its font has no braille");
        assert!(style_of(true, None, |_| "C.UTF-8".into()).ascii, "it was asked for");
    }
}
