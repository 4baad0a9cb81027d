//! Saving a whole run at once, as another store had it.

use std::collections::BTreeMap;

use super::*;
use crate::measure::book::Book;

impl Store {
    /// Saves a run with everything it gave, or nothing of it. Fails if the store has a run with
    /// this id.
    pub fn import(&mut self, book: &Book) -> Result<()> {
        self.commit("save a run in", |connection| {
            let host_id = hosts::find_or_insert(connection, &book.host)?;
            write_run(connection, &book.run, &book.host, host_id)?;
            for made in &book.filesystems {
                filesystems::write(connection, &book.run.id, made)?;
            }
            let mut cells = Cells { connection, book, known: BTreeMap::new() };
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
    book: &'a Book,
    known: BTreeMap<Known<'a>, i64>,
}

/// A cell by its variant, repeat and level: axis, the bits of its value, unit.
type Known<'a> = (&'a str, u32, Option<(&'a str, u64, &'static str)>);

impl<'a> Cells<'a> {
    fn find(&mut self, key: &'a CellKey) -> Work<CellId> {
        if let Some(cell) = self.known.get(&known(key)) {
            return Ok(CellId(*cell));
        }
        let cell = write_cell(self.connection, &self.book.run.id, key)?;
        // Which cells of an incomplete run were whole is not told.
        self.connection.execute(
            "UPDATE cells SET complete = ?2 WHERE id = ?1",
            params![cell, self.book.run.complete],
        )?;
        self.known.insert(known(key), cell);
        Ok(CellId(cell))
    }
}

/// A level may be no number, which is not the same as itself, and zero has two signs.
fn known(key: &CellKey) -> Known<'_> {
    let level = key.level.as_ref().map(|level| {
        let value = if level.value.is_nan() { f64::NAN } else { level.value + 0.0 };
        (level.axis.as_str(), value.to_bits(), level.unit.word())
    });
    (&key.variant, key.repeat, level)
}
