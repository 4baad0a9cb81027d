//! How the view looks: colours, and what a terminal without UTF-8 shows instead.

use ratatui_core::buffer::Buffer;
use ratatui_core::style::{self, Color, Modifier};

use crate::report::{Colours, Style};

/// What the terminal can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Look {
    /// Whether colours are wanted.
    pub(super) colour: bool,
    /// Whether characters beyond ASCII can be shown.
    pub(super) unicode: bool,
}

/// What a piece of text is, which its colour follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tone {
    Plain,
    Strong,
    Faint,
    Good,
    Bad,
    Active,
}

impl Look {
    /// That of a terminal with this style.
    pub(super) fn of(style: Style) -> Self {
        Self { colour: style.colours != Colours::None, unicode: !style.ascii }
    }

    pub(super) fn style(self, tone: Tone) -> style::Style {
        let plain = style::Style::new();
        let coloured = |colour| if self.colour { plain.fg(colour) } else { plain };
        match tone {
            Tone::Plain => plain,
            Tone::Strong => plain.add_modifier(Modifier::BOLD),
            Tone::Faint => plain.add_modifier(Modifier::DIM),
            Tone::Good => coloured(Color::Green),
            Tone::Bad => coloured(Color::Red).add_modifier(Modifier::BOLD),
            Tone::Active => coloured(Color::Cyan).add_modifier(Modifier::BOLD),
        }
    }
}

/// What stands for the view's own characters where there is only ASCII.
const PLAIN: [(&str, &str); 17] = [
    ("─", "-"),
    ("█", "#"),
    ("░", "."),
    ("■", "#"),
    ("▶", ">"),
    ("·", "."),
    ("✗", "x"),
    ("▪", "+"),
    ("…", "~"),
    ("▁", "_"),
    ("▂", "."),
    ("▃", ":"),
    ("▄", "-"),
    ("▅", "="),
    ("▆", "+"),
    ("▇", "*"),
    ("×", "x"),
];

/// Leaves nothing but ASCII.
pub(super) fn plain(buffer: &mut Buffer) {
    for cell in &mut buffer.content {
        if !cell.symbol().is_ascii() {
            let known = PLAIN.iter().find(|(symbol, _)| *symbol == cell.symbol());
            cell.set_symbol(known.map_or("?", |(_, plain)| plain));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui_core::layout::Rect;

    #[test]
    fn it_shows_what_the_terminal_can_and_its_user_wants() {
        let style = Style { columns: 80, ascii: false, colours: Colours::Sixteen };
        assert_eq!(Look::of(style), Look { colour: true, unicode: true });
        let style = Style { columns: 80, ascii: true, colours: Colours::None };
        assert_eq!(Look::of(style), Look { colour: false, unicode: false });
    }

    #[test]
    fn without_colour_nothing_has_one_and_bad_still_stands_out() {
        let look = Look { colour: false, unicode: true };
        for tone in [Tone::Plain, Tone::Strong, Tone::Faint, Tone::Good, Tone::Bad, Tone::Active] {
            assert_eq!(look.style(tone).fg, None, "{tone:?}");
        }
        assert_ne!(look.style(Tone::Bad), look.style(Tone::Plain));
    }

    #[test]
    fn nothing_beyond_ascii_is_left() {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 8, 1));
        buffer.set_string(0, 0, "■✗ ü 名", style::Style::new());
        plain(&mut buffer);
        let text: String = buffer.content.iter().map(|cell| cell.symbol()).collect();
        assert_eq!(text, "#x ? ?  ");
    }
}
