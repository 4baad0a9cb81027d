//! Writes charts as SVG: a file for each, for papers and pages, and the charts of the page for a browser.
//! It is written here and not by a library for charts: what there is rounds to whole pixels, knows no
//! dashes, groups or words for screen readers, and measures text only with fonts that it loads from the
//! machine.

mod fit_text;
mod frame;
mod layout;
mod legend;
mod series;
mod style;
mod writer;

use super::format::{ExportFormat, ExportText, no_figures, safe};
use crate::charts::{Chart, charts, colour};
use crate::markup::escaped;
use crate::table::Table;
use boatload_analysis::Analysis;
use layout::ChartLayout;
use style::{FONTS, GROUND, NARROW_WIDTH, WIDTH};
use writer::{SvgWriter, px};

pub(crate) use style::dark_rules;

pub(super) const SVG: ExportFormat = ExportFormat {
    name: "svg",
    about: "pictures for papers and pages, a file for each",
    texts: chart_files,
};

fn chart_files(analysis: &Analysis<'_>) -> Result<Vec<ExportText>, String> {
    let all = charts(&[analysis]);
    let file =
        |chart: &Chart| ExportText { name: format!("{}.svg", safe(&chart.key)), text: svg(chart) };
    if all.is_empty() { Err(no_figures()) } else { Ok(all.iter().map(file).collect()) }
}

pub(super) fn svg(chart: &Chart) -> String {
    let layout = ChartLayout::new(chart, WIDTH);
    let mut out = SvgWriter::default();
    let (key, height) = (safe(&chart.key), px(layout.height));
    out.line(format_args!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" \
         viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-labelledby=\"{key}-title {key}-desc\" \
         font-family=\"{FONTS}\">"
    ));
    out.line(format_args!("<title id=\"{key}-title\">{}</title>", escaped(&chart.title)));
    out.line(format_args!("<desc id=\"{key}-desc\">{}</desc>", escaped(&description(chart))));
    draw_ground(&layout, &mut out);
    frame::draw_grid(&layout, &mut out);
    series::draw_all(&layout, &mut out);
    draw_front(&layout, &mut out);
    frame::draw_words(&layout, &mut out);
    out.line(format_args!("</svg>"));
    out.finish()
}

fn draw_ground(layout: &ChartLayout<'_>, out: &mut SvgWriter) {
    let (width, height) = (px(layout.width), px(layout.height));
    out.line(format_args!(
        "<rect class=\"ground\" width=\"{width}\" height=\"{height}\" rx=\"6\" fill=\"{GROUND}\"/>"
    ));
}

fn draw_front(layout: &ChartLayout<'_>, out: &mut SvgWriter) {
    frame::draw_ticks(layout, out);
    frame::draw_labels(layout, out);
}

/// What somebody hears who does not see it.
fn description(chart: &Chart) -> String {
    let names: Vec<&str> = chart.names().into_iter().map(|(name, _)| name).collect();
    let axes = format!("{} by {}, of {}.", chart.y.label, chart.x.label, names.join(", "));
    [axes].into_iter().chain(chart.notes.iter().cloned()).collect::<Vec<_>>().join(" ")
}

pub(crate) struct PageChart {
    pub chart: Chart,
    /// Its values.
    pub table: Table,
    /// The element for wide screens, paper and files. It holds title, legend and notes too, which are
    /// seen in files only.
    pub wide: String,
    /// The element for narrow screens, without series: a script moves the series of the wide one into it.
    pub narrow: String,
    /// Names of series, in the order of the legend.
    pub names: Vec<LegendItem>,
    pub notes: Vec<String>,
}

/// An entry of a legend that stands as text in a page.
pub(crate) struct LegendItem {
    pub(crate) swatch: String,
    pub text: String,
    /// The numbers of the series it stands for, separated by spaces.
    pub series: String,
}

impl PageChart {
    pub(crate) fn new(chart: Chart) -> Self {
        let item = |(name, number): (&str, usize)| {
            let own = chart.series.iter().enumerate().filter(|(_, one)| one.name == name);
            let series: Vec<String> = own.map(|(at, _)| at.to_string()).collect();
            let swatch = legend::swatch(colour(number).light);
            LegendItem { swatch, text: name.into(), series: series.join(" ") }
        };
        Self {
            wide: page_svg(&chart, WIDTH),
            narrow: page_svg(&chart, NARROW_WIDTH),
            names: chart.names().into_iter().map(item).collect(),
            notes: chart.all_notes(),
            table: chart.table(),
            chart,
        }
    }
}

/// The chart as an element of a page, where only the plot and its axes are in view.
fn page_svg(chart: &Chart, width: f64) -> String {
    let is_wide = width == WIDTH;
    let layout = ChartLayout::new(chart, width);
    let ([left, right], [bottom, top]) = (layout.x.pixels.map(px), layout.y.pixels.map(px));
    let view_top = layout.head_bottom + 6.0;
    let view_bottom = layout.x_label_y + 8.0;
    let mut out = SvgWriter::default();
    out.line(format_args!(
        "<svg class=\"{}\" viewBox=\"0 {} {width} {}\" data-height=\"{}\" \
         data-plot=\"{left} {top} {right} {bottom}\" font-family=\"{FONTS}\" aria-hidden=\"true\">",
        if is_wide { "wide" } else { "narrow" },
        px(view_top),
        px(view_bottom - view_top),
        px(layout.height)
    ));
    draw_ground(&layout, &mut out);
    frame::draw_grid(&layout, &mut out);
    out.line(format_args!("<g class=\"data\">"));
    if is_wide {
        series::draw_all(&layout, &mut out);
    }
    out.end();
    draw_front(&layout, &mut out);
    if is_wide {
        out.line(format_args!("<g class=\"words\" display=\"none\">"));
        frame::draw_words(&layout, &mut out);
        out.end();
    }
    out.line(format_args!("</svg>"));
    out.finish()
}

#[cfg(test)]
mod tests;
