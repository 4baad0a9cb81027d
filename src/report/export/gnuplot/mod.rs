//! Scripts for gnuplot, each with its data beside it, so that a picture can be changed by hand.

mod data;
mod script;
mod words;

use super::{ExportFormat, ExportText, no_figures, safe};
use crate::measure::analysis::Analysis;
use crate::report::figures::{Figure, figures};

pub(super) const GNUPLOT: ExportFormat = ExportFormat {
    name: "gnuplot",
    about: "scripts with their data, each of which gives a PNG",
    has_phases: false,
    texts: scripts,
};

fn scripts(analysis: &Analysis<'_>) -> Result<Vec<ExportText>, String> {
    let all = figures(&[analysis]);
    if all.is_empty() { Err(no_figures()) } else { Ok(all.iter().flat_map(texts).collect()) }
}

/// The script and the data of a picture.
pub(super) fn texts(figure: &Figure) -> [ExportText; 2] {
    let key = safe(&figure.key);
    let blocks = data::blocks(figure);
    let name = |ending| format!("{key}.{ending}");
    [
        ExportText { name: name("gp"), text: script::script(figure, &key, &blocks) },
        ExportText { name: name("dat"), text: data::text(figure, &blocks) },
    ]
}

#[cfg(test)]
mod tests;
