//! Rectangles coloured by how much.

use super::legend::SHADES;
use super::pen::{Pen, px};
use super::ruler::Ruler;
use super::sheet::Sheet;
use crate::report::figures::{Rectangle, Series, heat};

/// One path for each colour, which keeps files of many rectangles small.
pub(super) fn draw_cells(sheet: &Sheet<'_>, series: &Series, pen: &mut Pen) {
    let Some((axis, range)) = sheet.figure.shades() else { return };
    let share = Ruler { axis, range, pixels: [0.0, (SHADES - 1) as f64] };
    let mut paths = vec![String::new(); SHADES];
    for rectangle in sheet.figure.rectangles(series) {
        let at = share.at(rectangle.shade).round() as usize;
        paths[at.min(SHADES - 1)].push_str(&path(sheet, &rectangle));
    }
    pen.line(format_args!("<g class=\"cells\" shape-rendering=\"crispEdges\">"));
    for (at, path) in paths.iter().enumerate().filter(|(_, path)| !path.is_empty()) {
        let colour = heat(at as f64 / (SHADES - 1) as f64);
        pen.line(format_args!("<path class=\"points\" d=\"{path}\" fill=\"{colour}\"/>"));
    }
    pen.line(format_args!("</g>"));
}

fn path(sheet: &Sheet<'_>, rectangle: &Rectangle) -> String {
    let [left, right] = rectangle.x.map(|x| sheet.x.at(x));
    let [low, high] = rectangle.y.map(|y| sheet.y.at(y));
    let (across, down) = (px(right - left), px(low - high));
    format!("M{} {}h{across}v{down}h-{across}z", px(left), px(high))
}
