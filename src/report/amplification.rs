//! What the device moved and the file system took for what was asked.

use std::io::{self, Write};

use super::table::{Align, Table};
use super::text::{number, write_wrapped};
use crate::base::units::counted;
use crate::measure::amplification::{Amplification, Mean};

/// A column: its head, its figure, and how that is written.
type Column = (&'static str, fn(&Amplification) -> Option<Mean>, fn(f64) -> String);

const COLUMNS: [Column; 5] = [
    ("written/asked", |of| of.written, |value| number(value, 3)),
    ("read/asked", |of| of.read, |value| number(value, 3)),
    ("bytes/file", |of| of.bytes_per_file, |value| number(value, 4)),
    ("asked/file", |of| of.asked_per_file, |value| number(value, 4)),
    ("inodes/file", |of| of.inodes_per_file, |value| number(value, 3)),
];

/// Writes a line for each variant, and the columns of which anything is known; `levels` says whether
/// they stand for several. Fails only if `out` does.
pub(super) fn write_amplifications(
    all: &[Amplification],
    levels: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let n = COLUMNS.iter().flat_map(|(_, of, _)| all.iter().filter_map(of)).map(|mean| mean.n);
    let (least, most) = (n.clone().min().unwrap_or_default(), n.max().unwrap_or_default());
    let range = if least == most { String::new() } else { format!("{least} to ") };
    let repeats = format!("{range}{}", counted(u64::from(most), "repeat"));
    let has = |of: fn(&Amplification) -> Option<Mean>| all.iter().any(|one| of(one).is_some());
    let parts = [
        (has(|of| of.written), "what the device wrote for each byte of content written"),
        (has(|of| of.read), "what it read for each byte read cold"),
        (has(|of| of.bytes_per_file), "what each new file took"),
    ];
    let told: Vec<&str> = parts.iter().filter(|(known, _)| *known).map(|(_, text)| *text).collect();
    let over = if levels { "all levels, " } else { "" };
    write_wrapped("", &format!("{}; mean over {over}{repeats}:", told.join("; ")), out)?;
    let known = |column: &&Column| all.iter().any(|one| column.1(one).is_some());
    let columns: Vec<&Column> = COLUMNS.iter().filter(known).collect();
    let heads = columns.iter().map(|(head, ..)| (*head, Align::Right));
    let mut table =
        Table::new(&[("variant", Align::Left)].into_iter().chain(heads).collect::<Vec<_>>());
    for one in all {
        let cell = |(_, of, write): &&Column| of(one).map_or("-".into(), |mean| write(mean.value));
        let name = [one.variant.clone()].into_iter();
        table.row(name.chain(columns.iter().map(cell)).collect());
    }
    table.write(out)
}
