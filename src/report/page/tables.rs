//! Tables of the page: those of the other reports, as elements.

use std::fmt::Write;

use super::super::grid::Grid;
use super::super::table::{Align, Line, Table};
use super::escape::escape;

/// Longer tables are folded away.
const ROWS_OPEN_MAX: usize = 40;

/// A table under its title, in a box of its own that scrolls; folded if it is long. Empty without
/// rows.
pub(super) fn table(title: &str, table: &Table) -> String {
    if table.lines().is_empty() {
        return String::new();
    }
    let heads = table.heads();
    let mut html = String::from("<thead><tr>");
    for (head, align) in heads {
        html += &cell("th scope=\"col\"", *align, head);
    }
    html += "</tr></thead><tbody>";
    for line in table.lines() {
        html += "<tr>";
        html += &match line {
            Line::Cells(cells) => row(cells, heads),
            Line::Heading(text) => {
                let text = escape(text.trim_end_matches(':'));
                format!("<th class=\"group\" colspan=\"{}\">{text}</th>", heads.len())
            }
            Line::Note(first, text) => {
                let (first, text) = (escape(first), escape(text));
                let span = heads.len().saturating_sub(1).max(1);
                format!("<th scope=\"row\">{first}</th><td colspan=\"{span}\">{text}</td>")
            }
        };
        html += "</tr>\n";
    }
    boxed(title, &(html + "</tbody>"), table.lines().len())
}

/// A grid in the same way.
pub(super) fn grid(title: &str, grid: &Grid) -> String {
    let plain = grid.groups.iter().all(|group| group.is_plain());
    let mut html = String::from("<thead><tr>");
    let corner = cell("th scope=\"col\"", grid.align, &grid.corner);
    if plain {
        html += &corner;
        for group in &grid.groups {
            html += &cell("th scope=\"col\"", Align::Right, &group.title);
        }
    } else {
        if grid.groups.iter().any(|group| !group.title.is_empty()) {
            html += "<td></td>";
            for group in &grid.groups {
                let (span, title) = (group.columns.len(), escape(&group.title));
                let _ = write!(
                    html,
                    "<th class=\"over\" scope=\"colgroup\" colspan=\"{span}\">{title}</th>"
                );
            }
            html += "</tr><tr>";
        }
        html += &corner;
        for column in grid.groups.iter().flat_map(|group| &group.columns) {
            html += &cell("th scope=\"col\"", Align::Right, &column.head);
        }
    }
    html += "</tr></thead><tbody>";
    for (at, name) in grid.names.iter().enumerate() {
        html += "<tr>";
        html += &cell("th scope=\"row\"", grid.align, name);
        for column in grid.groups.iter().flat_map(|group| &group.columns) {
            html += &cell("td", Align::Right, column.cells.get(at).map_or("", String::as_str));
        }
        html += "</tr>\n";
    }
    boxed(title, &(html + "</tbody>"), grid.names.len())
}

/// Cells of a row, the first of which names it.
fn row(cells: &[String], heads: &[(String, Align)]) -> String {
    let align = |at: usize| heads.get(at).map_or(Align::Left, |(_, align)| *align);
    let tag = |at: usize| if at == 0 { "th scope=\"row\"" } else { "td" };
    cells.iter().enumerate().map(|(at, text)| cell(tag(at), align(at), text)).collect()
}

fn cell(tag: &str, align: Align, text: &str) -> String {
    let class = if align == Align::Right { " class=\"number\"" } else { "" };
    let end = tag.split(' ').next().unwrap_or(tag);
    format!("<{tag}{class}>{}</{end}>", escape(text))
}

/// Title and box around the content of a table of so many rows.
fn boxed(title: &str, content: &str, rows: usize) -> String {
    let title = escape(title);
    let table = format!("{}{content}</table></div>", box_start(&title));
    if rows > ROWS_OPEN_MAX {
        return format!("<details><summary>{title} ({rows} rows)</summary>\n{table}</details>\n");
    }
    format!("<h3>{title}</h3>\n{table}\n")
}

/// The beginning of a table in a box that can be scrolled with the keyboard too; `label` is
/// escaped.
pub(super) fn box_start(label: &str) -> String {
    format!("<div class=\"box\" role=\"region\" aria-label=\"{label}\" tabindex=\"0\"><table>")
}
