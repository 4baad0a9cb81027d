//! Saving a whole run at once, as another store had it.

use super::*;
use crate::measure::book::ResultBook;

impl Store {
    /// Saves a run with everything it gave, or nothing of it. Fails if the store has a run with
    /// this id.
    pub fn import(&mut self, book: &ResultBook) -> Result<()> {
        self.commit("save a run in", |connection| {
            let host_id = hosts::find_or_insert(connection, &book.host)?;
            write_run(connection, &book.run, &book.host, host_id)?;
            for made in &book.filesystems {
                filesystems::write(connection, &book.run.id, made)?;
            }
            let mut cells = Cells { connection, book, known: Vec::new() };
            for condition in &book.conditions {
                write_condition(connection, cells.find(&condition.cell)?, condition)?;
            }
            for measurement in &book.measurements {
                write_whole(connection, cells.find(&measurement.cell)?, measurement)?;
            }
            let mut findings = book.findings.iter();
            findings.try_for_each(|finding| write_finding(connection, &book.run.id, finding))
        })
    }
}

/// The cells that were written so far.
struct Cells<'a> {
    connection: &'a Connection,
    book: &'a ResultBook,
    known: Vec<(&'a CellKey, CellId)>,
}

impl<'a> Cells<'a> {
    fn find(&mut self, key: &'a CellKey) -> Work<CellId> {
        if let Some((_, cell)) = self.known.iter().rev().find(|(known, _)| same(known, key)) {
            return Ok(*cell);
        }
        let cell = write_cell(self.connection, &self.book.run.id, key)?;
        // Which cells of an incomplete run were whole is not told.
        self.connection.execute(
            "UPDATE cells SET complete = ?2 WHERE id = ?1",
            params![cell, self.book.run.complete],
        )?;
        self.known.push((key, CellId(cell)));
        Ok(CellId(cell))
    }
}

/// A level may be no number, which is not the same as itself.
fn same(a: &CellKey, b: &CellKey) -> bool {
    let level = |key: &CellKey| {
        let level = key.level.as_ref()?;
        let value = if level.value.is_nan() { None } else { Some(level.value.to_bits()) };
        Some((level.axis.clone(), value, level.unit))
    };
    (&a.variant, a.repeat, level(a)) == (&b.variant, b.repeat, level(b))
}
