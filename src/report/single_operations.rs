//! Makes the table of latencies of single operations, which published figures have in place of rates.

use super::table::{Align, Table};
use super::text::time;
use crate::analysis::latencies::{single_latency_ns, single_operations};
use crate::base::units::grouped;
use crate::results::book::Book;

/// A row for each operation number, a column for each measurement, named by its variant.
pub(super) fn single_latency_table(book: &Book) -> Table {
    let operations = single_operations(book.measurements.iter());
    let phase = book.measurements.first().map_or("", |m| &m.phase);
    let mut table = Table::of_names(phase, Align::Right, operations.iter().map(|at| grouped(*at)));
    for m in &book.measurements {
        table.column(&m.cell.variant, operations.iter().map(|at| time(single_latency_ns(m, *at))));
    }
    table
}
