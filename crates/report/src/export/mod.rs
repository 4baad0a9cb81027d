//! Writes a run for other programs: one file here for each format, which docs/EXPORTS.md describes.

mod csv;
mod format;
mod gnuplot;
mod hgrm;
mod markdown;
mod openmetrics;
pub(crate) mod svg;

use self::format::only;
use boatload_analysis::Analysis;

pub(crate) use self::format::safe;
pub use self::format::{ExportFormat, ExportText};

/// Every format that a command can ask for.
pub const EXPORTS: &[ExportFormat] = &[
    csv::CSV,
    csv::CSV_WINDOWS,
    gnuplot::GNUPLOT,
    hgrm::HGRM,
    DOCUMENT,
    markdown::MARKDOWN,
    openmetrics::OPENMETRICS,
    svg::SVG,
];

/// The format with this name.
pub fn find_export(name: &str) -> Option<&'static ExportFormat> {
    EXPORTS.iter().find(|export| export.name == name)
}

/// The run document, as `--json` writes it.
const DOCUMENT: ExportFormat = ExportFormat {
    name: "json",
    about: "the run document, which `boatload import` reads",
    texts: document,
};

fn document(analysis: &Analysis<'_>) -> Result<Vec<ExportText>, String> {
    let mut bytes = Vec::new();
    (super::json::JSON.render)(analysis, &mut bytes).map_err(|error| error.to_string())?;
    Ok(only(analysis.book, "json", String::from_utf8_lossy(&bytes).into_owned()))
}

#[cfg(test)]
pub(crate) mod tests;
