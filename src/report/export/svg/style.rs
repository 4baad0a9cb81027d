//! How pictures look: sizes in pixels and colours, in one place.

use super::pen::Type;

/// Of the whole picture; it scales to any other.
pub(super) const WIDTH: f64 = 760.0;
/// Of the ground on which things are drawn.
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
/// In legends, for all colours.
pub(super) const NEUTRAL: &str = "#667085";

pub(super) const TITLE: Type = Type { size: 18.0, colour: "#101828", is_bold: true };
pub(super) const QUESTION: Type = Type { size: 13.0, colour: "#475467", is_bold: false };
pub(super) const LABEL: Type = Type { size: 12.0, colour: "#344054", is_bold: true };
pub(super) const TICK: Type = Type { size: 12.0, colour: "#475467", is_bold: false };
pub(super) const LEGEND: Type = Type { size: 12.5, colour: "#1d2939", is_bold: false };
pub(super) const NOTE: Type = Type { size: 11.0, colour: "#667085", is_bold: false };
pub(super) const VALUE: Type = Type { size: 10.5, colour: "#344054", is_bold: false };

/// As many patterns are told apart.
pub(super) const PATTERNS: usize = 4;
/// Dashes of lines by their turn among those drawn alike; the first is whole.
pub(super) const DASHES: [&str; PATTERNS] = ["", "2 3", "9 3 2 3", "1 4"];
/// Dashes of laws.
pub(super) const LAW_DASHES: [&str; PATTERNS] = ["7 5", "12 4", "4 4", "12 4 2 4"];

/// The pattern of a line as an attribute; empty for a whole one.
pub(super) fn dashes(patterns: [&str; PATTERNS], turn: usize) -> String {
    match patterns[turn % patterns.len()] {
        "" => String::new(),
        pattern => format!(" stroke-dasharray=\"{pattern}\""),
    }
}
