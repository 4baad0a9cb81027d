//! Draws the legend of names and their colours, in rows below the plot.

use super::fit_text::{names, width};
use super::style::{EDGE, LEGEND};
use super::writer::{Pixel, PixelBox, SvgWriter};
use crate::charts::{Chart, colour};

const ROW: f64 = 21.0;
const SWATCH: f64 = 24.0;
const NAME_ROOM: f64 = 260.0;
const BETWEEN: f64 = 22.0;

/// Rows of names.
pub(super) struct SvgLegend {
    entries: Vec<LegendEntry>,
    pub(super) bottom: f64,
}

struct LegendEntry {
    text: String,
    colour: &'static str,
    /// The left end of its line of text.
    at: Pixel,
}

impl SvgLegend {
    pub(super) fn new(chart: &Chart, top: f64, room: f64) -> Self {
        let named = chart.names();
        let texts: Vec<&str> = named.iter().map(|(name, _)| *name).collect();
        let texts = names(&texts, LEGEND.size, NAME_ROOM);
        let mut at = Pixel { x: EDGE, y: top + ROW - 6.0 };
        let mut entries = Vec::new();
        for (text, (_, number)) in texts.into_iter().zip(named) {
            let across = SWATCH + 6.0 + width(&text, LEGEND.size);
            if at.x > EDGE && at.x + across > room - EDGE {
                at = Pixel { x: EDGE, y: at.y + ROW };
            }
            entries.push(LegendEntry { text, colour: colour(number).light, at });
            at.x += across + BETWEEN;
        }
        Self { entries, bottom: at.y + 6.0 }
    }

    pub(super) fn draw(&self, out: &mut SvgWriter) {
        for LegendEntry { colour, at, .. } in &self.entries {
            out.element(&square(Pixel { y: at.y - 4.5, ..*at }, colour));
        }
        out.begin_texts("legend", LEGEND, "start");
        for LegendEntry { text, at, .. } in &self.entries {
            out.text(Pixel { x: at.x + SWATCH + 6.0, ..*at }, text);
        }
        out.end();
    }
}

/// `at` is the middle of the left side of its room.
fn square(at: Pixel, colour: &str) -> String {
    let bar = PixelBox { left: at.x + 5.0, top: at.y - 6.0, width: 14.0, height: 12.0 };
    bar.element(&format!(" rx=\"2\" fill=\"{colour}\" fill-opacity=\"0.85\""))
}

/// A colour as an element of a page.
pub(super) fn swatch(colour: &str) -> String {
    format!(
        "<svg class=\"swatch\" viewBox=\"0 0 {SWATCH} 16\" aria-hidden=\"true\"><{}/></svg>",
        square(Pixel { x: 0.0, y: 8.0 }, colour)
    )
}
