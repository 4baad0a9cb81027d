//! Makes the table of variance by source, a row for each phase, for `show RUN --variance`.

use std::io::{self, Write};

use super::table::{Table, TableColumn, TitledTable};
use super::text::write_wrapped;
use crate::analysis::Analysis;
use crate::analysis::repetition::VarianceComponents;

type VarianceColumn = TableColumn<VarianceComponents>;

const COLUMNS: [VarianceColumn; 4] = [
    VarianceColumn::words("phase", |one| one.phase.clone()),
    VarianceColumn::numbers("operations", |one| deviation(one.operations)),
    VarianceColumn::numbers("passes", |one| deviation(one.passes)),
    VarianceColumn::numbers("repeats", |one| deviation(one.repeats)),
];

/// Writes deviations of each phase between operations, passes and repeats. Fails only if `out` does.
pub(super) fn write_variance(analysis: &Analysis<'_>, out: &mut dyn Write) -> io::Result<()> {
    match variance_table(analysis) {
        None => writeln!(out, "Nothing was repeated, so the variance is not known."),
        Some(variance) => {
            variance.write(out)?;
            write_wrapped("", ABOUT_VARIANCE, out)
        }
    }
}

/// How it is to be read.
pub(super) const ABOUT_VARIANCE: &str = "each column is what it adds to the variance of one pass; - is not known; without passes, their \
     variance is part of that of the repeats";

/// A row for each phase; none if nothing was repeated.
pub(super) fn variance_table(analysis: &Analysis<'_>) -> Option<TitledTable> {
    let all = analysis.variance();
    let title = "where the variance is, as standard deviation of the rate".into();
    let repeated = all.iter().any(|one| one.passes.is_some() || one.repeats.is_some());
    repeated.then(|| TitledTable { title, table: Table::from_rows(&COLUMNS, all) })
}

fn deviation(variance: Option<f64>) -> String {
    match variance.map(|variance| variance.sqrt() * 100.0) {
        None => "-".into(),
        Some(percent) if percent > 0.0 && percent < 0.05 => "<0.1%".into(),
        Some(percent) if percent < 100.0 => format!("{percent:.1}%"),
        Some(_) => ">100%".into(),
    }
}
