//! Scripts for gnuplot, each with its data beside it, so that a picture can be changed by hand.

mod data;
mod script;
mod words;

use super::{Export, ExportText, no_figures, safe};
use crate::measure::analysis::Analysis;
use crate::report::figures::{Figure, figures};

pub(super) struct Gnuplot;

impl Export for Gnuplot {
    fn name(&self) -> &'static str {
        "gnuplot"
    }

    fn about(&self) -> &'static str {
        "scripts with their data, each of which gives a PNG"
    }

    fn texts(&self, analysis: &Analysis<'_>) -> Result<Vec<ExportText>, String> {
        let all = figures(&[analysis]);
        if all.is_empty() { Err(no_figures()) } else { Ok(all.iter().flat_map(texts).collect()) }
    }
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
