//! What a report says of published figures in place of a run's own facts.

use std::io::{self, Write};

use super::table::{Align, Table};
use super::text::{time, write_wrapped};
use crate::base::units::{self, grouped};
use crate::host::facts::HostFacts;
use crate::measure::book::{Book, Provenance};
use crate::measure::reference::PREFIX;
use crate::measure::summary::Summary;

/// Where the figures come from, and on what they were measured.
pub(super) fn write_head(
    reference: &Provenance,
    host: &HostFacts,
    out: &mut dyn Write,
) -> io::Result<()> {
    let name = format!("{PREFIX}{}: published, not measured by boatload", reference.name);
    write_wrapped("", &name, out)?;
    let Provenance { title, publisher, published, url, .. } = reference;
    write_wrapped("from: ", &format!("{title}; {publisher}; {published}"), out)?;
    write_wrapped("      ", url.as_deref().unwrap_or_default(), out)?;
    write_wrapped("on:   ", &about_system(reference, host), out)?;
    write_wrapped("n:    ", &reference.repeated, out)
}

/// The system as far as it is told, and what is not.
pub(super) fn about_system(reference: &Provenance, host: &HostFacts) -> String {
    let filesystem = &host.filesystem.kind;
    let place = match (filesystem.as_str(), &reference.disk) {
        ("", None) => "an unknown file system".into(),
        ("", Some(disk)) => format!("an unknown file system on {disk}"),
        (kind, None) => kind.to_string(),
        (kind, Some(disk)) => format!("{kind} on {disk}"),
    };
    let memory =
        (host.memory_bytes > 0).then(|| format!("{} of memory", units::bytes(host.memory_bytes)));
    let system = reference.system.clone().unwrap_or_default();
    let known = [place, system, host.kernel.clone(), host.cpu.clone()];
    let known = known.into_iter().chain(memory).filter(|fact| !fact.is_empty());
    known.collect::<Vec<_>>().join("; ")
}

/// What a reader must know of the figures.
pub(super) fn write_notes(reference: &Provenance, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out)?;
    reference.notes.iter().try_for_each(|note| write_wrapped("note: ", note, out))
}

/// Whether nothing but the latencies of single operations was published.
pub(super) fn is_latencies_only(book: &Book, summary: &Summary) -> bool {
    let mut rows = summary.groups.iter().flat_map(|group| &group.rows);
    let mut windows = book.measurements.iter().flat_map(|m| &m.windows).peekable();
    windows.peek().is_some()
        && windows.all(|window| window.operations == 1)
        && rows.all(|row| row.rate.is_none() && row.invalid.is_empty())
}

/// Each operation that is told of in a row, a column for each measurement.
pub(super) fn latencies(book: &Book) -> Table {
    let heads = book.measurements.iter().map(|m| (m.cell.variant.clone(), Align::Right));
    let phase = book.measurements.first().map(|m| m.phase.clone()).unwrap_or_default();
    let mut table =
        Table::new(&[(phase, Align::Right)].into_iter().chain(heads).collect::<Vec<_>>());
    let windows = || book.measurements.iter().flat_map(|m| &m.windows);
    let mut firsts: Vec<u64> = windows().map(|window| window.first).collect();
    firsts.sort_unstable();
    firsts.dedup();
    for first in firsts {
        let of = |m: &crate::measure::book::Measurement| {
            time(m.windows.iter().find(|window| window.first == first).map(|w| w.mean_ns))
        };
        let number = [grouped(first.saturating_add(1))].into_iter();
        table.row(number.chain(book.measurements.iter().map(of)).collect());
    }
    table
}
