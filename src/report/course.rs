//! The table of the latency of a phase by the operations done.

use std::io::{self, Write};

use super::grid::{Grid, Group};
use super::names::level_value;
use super::table::Align;
use super::text::{number, write_wrapped};
use crate::base::units::{grouped, time_step};
use crate::measure::course::CourseTable;
use crate::plan::DEFAULT_VARIANT;

/// Writes the latency of a phase by the number of operations done. Fails only if `out` does.
pub(super) fn write_course(all: &CourseTable<'_>, out: &mut dyn Write) -> io::Result<()> {
    let means = all.rows.iter().flat_map(|row| &row.mean_ns).flatten();
    let least = means.copied().filter(|ns| *ns > 0.0).fold(f64::INFINITY, f64::min);
    let (unit, size) = if least.is_finite() { time_step(least) } else { ("ns", 1.0) };
    let at = all.level.map(|level| format!(", at {} {}", level.axis, level_value(level)));
    let title = format!(
        "{}{}: latency in {unit}, the mean of each {} operations",
        all.phase,
        at.unwrap_or_default(),
        grouped(all.window_operations),
    );
    write_wrapped("", &title, out)?;
    let names = all.rows.iter().map(|row| grouped(row.operations)).collect();
    let mut grid = Grid::new("operations", names, Align::Right);
    for (at, variant) in all.variants.iter().enumerate() {
        let cell = |ns: Option<f64>| ns.map_or_else(|| "-".into(), |ns| number(ns / size, 3));
        let cells = all.rows.iter().map(|row| cell(row.mean_ns.get(at).copied().flatten()));
        let alone = all.variants.len() == 1 && *variant == DEFAULT_VARIANT;
        grid.add(Group::new(if alone { "mean" } else { variant }).column("", cells.collect()));
    }
    grid.write(out)
}
