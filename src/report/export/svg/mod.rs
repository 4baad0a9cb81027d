//! Pictures for papers and pages: a file of SVG for each. It is written here and not by a library
//! for charts: what there is rounds to whole pixels, knows no dashes, groups or words for screen
//! readers, and measures text only with fonts that it loads from the machine.

mod axes;
mod cells;
mod legend;
mod marks;
mod pen;
mod ruler;
mod series;
mod shapes;
mod sheet;
mod style;
mod words;

use super::{Export, ExportText, no_figures, safe};
use crate::measure::analysis::Analysis;
use crate::report::figures::{Figure, figures};
use pen::{Pen, escaped, px};
use sheet::Sheet;
use style::{FONTS, GROUND, WIDTH};

pub(super) struct Svg;

impl Export for Svg {
    fn name(&self) -> &'static str {
        "svg"
    }

    fn about(&self) -> &'static str {
        "pictures for papers and pages, a file for each"
    }

    fn texts(&self, analysis: &Analysis<'_>) -> Result<Vec<ExportText>, String> {
        let all = figures(&[analysis]);
        let file = |figure: &Figure| ExportText {
            name: format!("{}.svg", safe(&figure.key)),
            text: svg(figure),
        };
        if all.is_empty() { Err(no_figures()) } else { Ok(all.iter().map(file).collect()) }
    }
}

/// The picture as a document.
pub(super) fn svg(figure: &Figure) -> String {
    let sheet = Sheet::of(figure);
    let mut pen = Pen::default();
    let (key, height) = (safe(&figure.key), px(sheet.height));
    pen.line(format_args!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" \
         viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-labelledby=\"{key}-title {key}-desc\" \
         font-family=\"{FONTS}\">"
    ));
    pen.line(format_args!("<title id=\"{key}-title\">{}</title>", escaped(&figure.title)));
    pen.line(format_args!("<desc id=\"{key}-desc\">{}</desc>", escaped(&description(figure))));
    pen.line(format_args!(
        "<rect width=\"{WIDTH}\" height=\"{height}\" rx=\"6\" fill=\"{GROUND}\"/>"
    ));
    axes::draw_grid(&sheet, &mut pen);
    marks::draw_intervals(&sheet, &mut pen);
    series::draw_all(&sheet, &mut pen);
    axes::draw_ticks(&sheet, &mut pen);
    marks::draw_marks(&sheet, &mut pen);
    axes::draw_words(&sheet, &mut pen);
    sheet.legend.draw(&mut pen);
    pen.line(format_args!("</svg>"));
    pen.finish()
}

/// What somebody hears who does not see it.
fn description(figure: &Figure) -> String {
    let names: Vec<&str> = figure.names().into_iter().map(|(name, _)| name).collect();
    let axes = format!("{} by {}, of {}.", figure.y.label, figure.x.label, names.join(", "));
    let marks =
        figure.marks.iter().map(|mark| format!("{} at {}.", mark.label, figure.x.text(mark.x)));
    let parts = [figure.question.clone(), axes].into_iter().chain(marks);
    parts.chain(figure.notes.iter().cloned()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
