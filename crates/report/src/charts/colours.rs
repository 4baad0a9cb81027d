//! Defines the colours of series, which every reader can tell apart.

/// A colour on a light and on a dark ground, as `#rrggbb`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Colour {
    /// On white; at least 3 to 1 against it (WCAG 2.2, 1.4.11).
    pub light: &'static str,
    /// On a dark ground, with as much contrast.
    pub dark: &'static str,
}

/// After Okabe and Ito, "Color Universal Design" (2008), darkened for white and lightened for black.
pub(crate) const COLOURS: [Colour; 12] = [
    Colour { light: "#0072b2", dark: "#56b4e9" },
    Colour { light: "#c44e00", dark: "#ff9a4d" },
    Colour { light: "#00805d", dark: "#2ed1a2" },
    Colour { light: "#b03a82", dark: "#e79ac6" },
    Colour { light: "#8a6d00", dark: "#f0d43a" },
    Colour { light: "#5a4fcf", dark: "#a9a1ff" },
    Colour { light: "#3f3f3f", dark: "#d6d6d6" },
    Colour { light: "#0b8a9e", dark: "#6fe3f2" },
    Colour { light: "#7a4a1e", dark: "#c79a6b" },
    Colour { light: "#6b8e00", dark: "#b5d94c" },
    Colour { light: "#c2185b", dark: "#ff8ab5" },
    Colour { light: "#546e7a", dark: "#a5bcc7" },
];

/// The colour of the series with this number, from 0; they repeat after the last.
pub(crate) fn colour(number: usize) -> Colour {
    COLOURS[number % COLOURS.len()]
}
