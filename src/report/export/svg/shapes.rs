//! Markers of points.

use super::pen::{Pen, escaped, px};
use super::style::{GROUND, PATTERNS};

/// How a marker looks.
#[derive(Clone, Copy)]
pub(super) struct Ink<'a> {
    pub(super) fill: &'a str,
    pub(super) edge: &'a str,
    pub(super) opacity: f64,
    /// In pixels.
    pub(super) radius: f64,
    /// Which of the shapes, from 0.
    pub(super) turn: usize,
}

/// A marker. With words it is a point, and the words are for who points at it.
pub(super) fn marker(pen: &mut Pen, place: [f64; 2], ink: Ink<'_>, words: Option<&str>) {
    let (element, outline) = outline(place, ink);
    let class = if words.is_some() { " class=\"point\"" } else { "" };
    let opacity =
        if ink.opacity < 1.0 { format!(" opacity=\"{}\"", ink.opacity) } else { String::new() };
    let (fill, edge) = (ink.fill, ink.edge);
    let head = format!(
        "<{element}{class} {outline} fill=\"{fill}\" stroke=\"{edge}\" stroke-width=\"1.2\"{opacity}"
    );
    match words.filter(|words| !words.is_empty()) {
        Some(words) => {
            pen.line(format_args!("{head}><title>{}</title></{element}>", escaped(words)));
        }
        None => pen.line(format_args!("{head}/>")),
    }
}

/// Light stripes down a bar that begins at a corner, two for each step of the pattern, so that none
/// lies under the whisker in the middle.
pub(super) fn stripes(pen: &mut Pen, [x, y]: [f64; 2], [wide, high]: [f64; 2], pattern: usize) {
    let number = 2 * (pattern % PATTERNS);
    if number == 0 {
        return;
    }
    let stripe = |at: usize| {
        let x = x + wide * at as f64 / (number + 1) as f64;
        format!("M{} {}v{}", px(x), px(y), px(high))
    };
    let path: String = (1..=number).map(stripe).collect();
    pen.line(format_args!("<path d=\"{path}\" stroke=\"{GROUND}\" stroke-width=\"1.4\"/>"));
}

/// The element and its outline: a circle, a square, a triangle, a diamond.
fn outline([x, y]: [f64; 2], ink: Ink<'_>) -> (&'static str, String) {
    let r = ink.radius;
    let path = |up: f64, left: f64, rest: String| {
        ("path", format!("d=\"M{} {}{rest}z\"", px(x - left), px(y - up)))
    };
    match ink.turn % 4 {
        0 => ("circle", format!("cx=\"{}\" cy=\"{}\" r=\"{}\"", px(x), px(y), px(r))),
        1 => path(r * 0.9, r * 0.9, format!("h{0}v{0}h-{0}", px(r * 1.8))),
        2 => path(r * 1.2, 0.0, format!("l{} {}h-{}", px(r * 1.2), px(r * 2.1), px(r * 2.4))),
        _ => path(r * 1.3, 0.0, format!("l{0} {0}l-{0} {0}l-{0} -{0}", px(r * 1.3))),
    }
}
