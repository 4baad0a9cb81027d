//! The charts of the page, each with its legend, its notes and the table of its values.

use super::super::export::svg::{LegendItem, PageChart};
use super::super::figures::{Figure, FigureTable};
use super::escape::escape;
use super::tables::box_start;
use crate::base::units::grouped;

/// All charts, in order.
pub(super) fn charts(figures: &[Figure]) -> String {
    figures.iter().map(chart).collect()
}

fn chart(figure: &Figure) -> String {
    let [key, title, question] =
        [&figure.key, &figure.title, &figure.question].map(|text| escape(text));
    let PageChart { wide, narrow, names, things, notes } = PageChart::new(figure);
    let notes: String =
        notes.iter().map(|note| format!("<p class=\"note\">{}</p>", escape(note))).collect();
    let names: String = names.iter().map(|item| name(item, names.len() > 1)).collect();
    let things: String = things.iter().map(thing).collect();
    let table = figure.table();
    let rows = grouped(table.rows.len() as u64);
    let plural = if table.rows.len() == 1 { "" } else { "s" };
    let zoomable = if figure.x.is_named() { "" } else { " data-zoomable" };
    format!(
        "<figure id=\"{key}\"{zoomable}>\n<figcaption><h3>{title}</h3>\
         <p class=\"question\">{question}</p></figcaption>\n\
         <div class=\"chart\" role=\"group\" tabindex=\"0\" aria-label=\"{title}. {question} The arrow keys \
         read its values; the table below it has all.\">\n{wide}{narrow}</div>\n\
         <div class=\"legend\">{names}{things}</div>\n{notes}\
         <details class=\"figures\"><summary>The {rows} value{plural} of this chart</summary>\n\
         {}{}</table></div></details>\n</figure>\n",
        box_start(&title),
        rows_of(&table),
    )
}

/// A name of the legend; a button that shows and hides its series where there are several names.
fn name(item: &LegendItem, is_button: bool) -> String {
    let LegendItem { swatch, text, series } = item;
    let text = escape(text);
    if !is_button {
        return format!("<span class=\"name\">{swatch}{text}</span>");
    }
    format!(
        "<button type=\"button\" class=\"name\" aria-pressed=\"true\" data-series=\"{series}\">{swatch}\
         {text}</button>"
    )
}

fn thing(item: &LegendItem) -> String {
    format!("<span class=\"kind\">{}{}</span>", item.swatch, escape(&item.text))
}

/// The table's content. The script reads from it what it says about points.
fn rows_of(table: &FigureTable) -> String {
    let cells = |start: &str, cells: &[String]| -> String {
        cells.iter().map(|cell| format!("{start}{}", escape(cell))).collect()
    };
    let heads = cells("<th scope=\"col\">", &table.head);
    // Ends of rows and cells may be left out, which makes large tables a third smaller.
    let rows = table.rows.iter().map(|row| format!("<tr>{}\n", cells("<td>", row)));
    format!("<thead><tr>{heads}</thead><tbody>{}</tbody>", rows.collect::<String>())
}
