//! Defines the sizes, in pixels, and the colours of charts.

use std::fmt::Write;

use crate::charts::{COLOURS, Colour};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct TextStyle {
    /// In pixels.
    pub(super) size: f64,
    pub(super) colour: &'static str,
    pub(super) is_bold: bool,
}

/// Width of a picture; it scales to any other.
pub(super) const WIDTH: f64 = 760.0;
/// Width of the same picture for a telephone.
pub(super) const NARROW_WIDTH: f64 = 380.0;
/// Height of the plot.
pub(super) const PLOT_HEIGHT: f64 = 320.0;
/// Free at the border.
pub(super) const EDGE: f64 = 18.0;
/// Between a tick's text and the axis.
pub(super) const GAP: f64 = 8.0;

/// Fonts that are there without being fetched.
pub(super) const FONTS: &str = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif";

/// White also on a dark page: the colours are made for it.
pub(super) const GROUND: &str = "#ffffff";
pub(super) const GRID: &str = "#e4e7ec";
pub(super) const BASE: &str = "#98a2b3";
/// What stands on bars.
pub(super) const DARK: &str = "#1d2939";

pub(super) const TITLE: TextStyle = TextStyle { size: 18.0, colour: "#101828", is_bold: true };
pub(super) const LABEL: TextStyle = TextStyle { size: 12.0, colour: "#344054", is_bold: true };
pub(super) const TICK: TextStyle = TextStyle { size: 12.0, colour: "#475467", is_bold: false };
pub(super) const LEGEND: TextStyle = TextStyle { size: 12.5, colour: "#1d2939", is_bold: false };
pub(super) const NOTE: TextStyle = TextStyle { size: 11.0, colour: "#667085", is_bold: false };

/// From a line of text to the next, as a share of its size.
pub(super) const LINE_HEIGHT: f64 = 1.35;

/// Dashes of laws, as an attribute.
pub(super) const LAW_DASHES: &str = " stroke-dasharray=\"7 5\"";

/// What the colours of words and lines are on a dark page.
const ON_DARK: [Colour; 8] = [
    Colour { light: GROUND, dark: "#15181b" },
    Colour { light: GRID, dark: "#2b3137" },
    Colour { light: BASE, dark: "#8a949e" },
    Colour { light: DARK, dark: "#e8eaed" },
    Colour { light: NOTE.colour, dark: "#a7b0ba" },
    Colour { light: TITLE.colour, dark: "#f4f5f7" },
    Colour { light: TICK.colour, dark: "#a7b0ba" },
    Colour { light: LABEL.colour, dark: "#c6ccd3" },
];

/// Style rules that recolour pictures where the page is dark. Attributes keep the colours for paper, so
/// that a picture that is saved or printed has those.
pub(crate) fn dark_rules() -> String {
    let mut rules = String::new();
    let mut rule = |kind: &str, light: &str, dark: &str| {
        // Writing to a string cannot fail.
        let _ = writeln!(rules, "svg [{kind}=\"{light}\"]{{{kind}:light-dark({light},{dark})}}");
    };
    for Colour { light, dark } in ON_DARK.iter().chain(&COLOURS) {
        ["fill", "stroke"].iter().for_each(|kind| rule(kind, light, dark));
    }
    rules
}
