//! Where the variance of a run is, and whether its rates are as sure as was asked.

use std::io::{self, Write};

use super::Report;
use super::table::{Align, Table};
use super::text::write_wrapped;
use crate::measure::analysis::Analysis;
use crate::measure::effort::percent;

/// Deviations of each phase between operations, passes and repeats.
pub(super) struct Variance;

impl Report for Variance {
    fn name(&self) -> &'static str {
        "variance"
    }

    fn render(&self, analysis: &Analysis<'_>, out: &mut dyn Write) -> io::Result<()> {
        let Some(table) = variance_table(analysis) else {
            return writeln!(out, "Nothing was repeated: where the variance is cannot be told.");
        };
        write_wrapped("", &format!("{WHERE}:"), out)?;
        table.write(out)?;
        write_wrapped("", ABOUT_VARIANCE, out)
    }
}

/// The title of the variance.
pub(super) const WHERE: &str = "where the variance is, as standard deviation of the rate";

/// How it is to be read.
pub(super) const ABOUT_VARIANCE: &str = "each is what it adds of its own to one pass; - is not known, and without passes theirs is \
     among the repeats";

/// A row for each phase; none if nothing was repeated.
pub(super) fn variance_table(analysis: &Analysis<'_>) -> Option<Table> {
    let all = analysis.variance();
    if all.iter().all(|one| one.passes.is_none() && one.repeats.is_none()) {
        return None;
    }
    let heads = ["operations", "passes", "repeats"].map(|head| (head, Align::Right));
    let mut table = Table::new(&[&[("phase", Align::Left)], &heads[..]].concat());
    for one in all {
        let own = [one.operations, one.passes, one.repeats].map(deviation);
        table.row(std::iter::once(one.phase.clone()).chain(own).collect());
    }
    Some(table)
}

fn deviation(variance: Option<f64>) -> String {
    match variance.map(|variance| variance.sqrt() * 100.0) {
        None => "-".into(),
        Some(percent) if percent > 0.0 && percent < 0.05 => "<0.1%".into(),
        Some(percent) if percent < 999.5 => format!("{percent:.1}%"),
        Some(_) => ">999%".into(),
    }
}

/// Writes that all rates are as sure as was asked, if that was asked and is so. Fails only if `out`
/// does.
pub(super) fn write_precision(analysis: &Analysis<'_>, out: &mut dyn Write) -> io::Result<()> {
    match analysis.precision_reached() {
        Some(share) => {
            let said = format!("every rate is as sure as was asked: ±{} or less", percent(share));
            write_wrapped("", &said, out)
        }
        None => Ok(()),
    }
}
