//! What the device moved and the file system took for what was asked.

use std::io::{self, Write};

use super::table::{Align, Table};
use super::text::{number, write_wrapped};
use crate::base::units::counted;
use crate::measure::amplification::{Amplification, Mean};

/// A column: its head, its figure, and how that is written.
type Column = (&'static str, fn(&Amplification) -> Option<Mean>, fn(f64) -> String);

/// Of what the device moved.
const MOVED: [Column; 4] = [
    ("written/asked", |of| of.written, |value| number(value, 3)),
    ("read/asked", |of| of.read, |value| number(value, 3)),
    ("writes/op", |of| of.writes_per_operation, |value| number(value, 3)),
    ("reads/op", |of| of.reads_per_operation, |value| number(value, 3)),
];

/// Of what the file system took.
const TAKEN: [Column; 3] = [
    ("bytes/file", |of| of.bytes_per_file, |value| number(value, 4)),
    ("asked/file", |of| of.asked_per_file, |value| number(value, 4)),
    ("inodes/file", |of| of.inodes_per_file, |value| number(value, 3)),
];

/// Writes a line for each variant, and the columns of which anything is known. `counters` says which
/// device's they are, empty if that is unknown; `levels` whether they stand for several. Fails only
/// if `out` does.
pub(super) fn write_amplifications(
    all: &[Amplification],
    (counters, levels): (&str, bool),
    out: &mut dyn Write,
) -> io::Result<()> {
    for (at, (title, table)) in tables(all, (counters, levels)).into_iter().enumerate() {
        if at > 0 {
            writeln!(out)?;
        }
        write_wrapped("", &format!("{title}:"), out)?;
        table.write(out)?;
    }
    Ok(())
}

/// The tables with their titles: what the device moved, and what the file system took.
pub(super) fn tables(
    all: &[Amplification],
    (counters, levels): (&str, bool),
) -> Vec<(String, Table)> {
    let counters = match counters {
        "" => String::new(),
        counters => format!(", by the counters of {counters}"),
    };
    let moved = format!(
        "what the device moved for each byte of content written and read cold, and in how many \
         requests for each operation{counters}"
    );
    let moved = with_columns(all, &MOVED, (&moved, levels));
    let taken = with_columns(all, &TAKEN, ("what each new file took", levels));
    moved.into_iter().chain(taken).collect()
}

fn known<'a>(all: &[Amplification], columns: &'a [Column]) -> Vec<&'a Column> {
    let is_known = |column: &&Column| all.iter().any(|one| column.1(one).is_some());
    columns.iter().filter(is_known).collect()
}

/// The columns of which anything is known; none if nothing is.
fn with_columns(
    all: &[Amplification],
    columns: &[Column],
    (title, levels): (&str, bool),
) -> Option<(String, Table)> {
    let columns = known(all, columns);
    let n = columns.iter().flat_map(|(_, of, _)| all.iter().filter_map(of)).map(|mean| mean.n);
    let (least, most) = (n.clone().min().unwrap_or_default(), n.max().unwrap_or_default());
    if columns.is_empty() {
        return None;
    }
    let range = if least == most { String::new() } else { format!("{least} to ") };
    let repeats = format!("{range}{}", counted(u64::from(most), "repeat"));
    let over = if levels { "all levels, " } else { "" };
    let heads = columns.iter().map(|(head, ..)| (*head, Align::Right));
    let mut table =
        Table::new(&[("variant", Align::Left)].into_iter().chain(heads).collect::<Vec<_>>());
    for one in all {
        let cell = |(_, of, write): &&Column| of(one).map_or("-".into(), |mean| write(mean.value));
        let name = [one.variant.clone()].into_iter();
        table.row(name.chain(columns.iter().map(cell)).collect());
    }
    Some((format!("{title}, mean over {over}{repeats}"), table))
}
