//! Writes sentences and the names of axes into a plot.

use super::canvas::{Ink, Row};
use super::style::Style;
use crate::report::charts::{AxisScale, ChartAxis};
use crate::report::text::wrap_to;

/// A sentence in as many rows as it takes.
pub(super) fn wrapped(text: &str, ink: Ink, style: &Style) -> Vec<Row> {
    wrap_to(style.columns, "", text).iter().map(|line| Row::of(line, ink)).collect()
}

/// What an axis tells, and how.
pub(super) fn axis_label(axis: &ChartAxis) -> String {
    let scale = if axis.scale == AxisScale::Logarithmic { ", logarithmic" } else { "" };
    format!("{}{scale}", axis.label)
}
