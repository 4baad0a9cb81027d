//! Keeps what it takes to resume a run that ended early: how it was begun, and which of its cells are done.

use rusqlite::{Connection, OptionalExtension, params};
use serde::{Deserialize, Serialize};

use super::{Store, StoreProblem, StoreResult, insert_measurement, json};
use crate::book::{Book, CellKey, Measurement};
use boatload_base::failure::Result;
use boatload_host::process::ProcessMark;
use boatload_run::run_location::RunLocation;

/// How a run was begun, as far as its command does not say.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunOrigin {
    /// The working directory, where relative paths of the command begin.
    pub working_directory: String,
    /// Whether prepared file systems are kept as images, on which the order of the run depends.
    pub keeps_images: bool,
    /// Whether the image for file systems lies in memory.
    pub in_memory: bool,
    /// The memory that sizes of the job are multiples of, in bytes.
    pub memory_bytes: u64,
    /// A number that follows from all that the job does there: from all sizes, selections and phases.
    pub plan: u64,
    /// The directory, and the device for file systems.
    pub place: RunLocation,
    /// The process that runs it, or ran it last.
    pub process: ProcessMark,
}

/// A cell of a run that is done.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FinishedCell {
    /// Which cell.
    pub cell: CellKey,
    /// Measurements of the run until its end.
    pub measurements: usize,
    /// When it began, in seconds since the run began.
    pub begun: f64,
    /// When it ended, in the same seconds.
    pub ended: f64,
}

/// What a run has more than before.
#[derive(Clone, Copy, Debug, Default)]
pub struct RunGrowth<'a> {
    /// Measurements that are new.
    pub measurements: &'a [Measurement],
    /// Cells that are done since.
    pub cells: &'a [FinishedCell],
    /// The run, where more than its measurements changed.
    pub head: Option<&'a Book>,
}

impl Store {
    /// Saves what a run has more than before, all or nothing. Fails if the store has no run with this id.
    pub fn extend_run(&mut self, id: &str, growth: RunGrowth<'_>) -> Result<()> {
        self.commit("save measurements in", |connection| {
            let mut measurements = growth.measurements.iter();
            measurements.try_for_each(|one| insert_measurement(connection, id, one))?;
            growth.cells.iter().try_for_each(|one| insert_cell(connection, id, one))?;
            growth.head.map_or(Ok(()), |book| update_head(connection, book))
        })
    }

    /// How a run was begun, and its cells that are done; none of a run that was not begun with this store.
    pub fn origin_of(&self, id: &str) -> Result<Option<(RunOrigin, Vec<FinishedCell>)>> {
        let origin = "SELECT origin FROM runs WHERE id = ?1 AND origin IS NOT NULL";
        let origin = self.read_rows(origin, (id,), |row| super::read::read_document(row, 0))?;
        let cells = "SELECT document FROM finished_cells WHERE run_id = ?1 ORDER BY number";
        let cells = self.read_rows(cells, (id,), |row| super::read::read_document(row, 0))?;
        Ok(origin.into_iter().next().map(|origin| (origin, cells)))
    }

    /// Saves that this process continues a run, if no process has since `loaded` was; else the number of that one.
    pub fn take_over(&mut self, id: &str, loaded: &RunOrigin) -> Result<Option<u32>> {
        self.commit("save a run in", |connection| {
            let select = "SELECT origin FROM runs WHERE id = ?1 AND origin IS NOT NULL";
            let read = |row: &rusqlite::Row<'_>| super::read::read_document(row, 0);
            let found: Option<RunOrigin> = connection.query_row(select, (id,), read).optional()?;
            let Some(origin) = found else {
                return Err(StoreProblem::Stated("it has no such run.".into()));
            };
            if origin.process != loaded.process {
                return Ok(Some(origin.process.process));
            }
            let update = "UPDATE runs SET origin = ?2 WHERE id = ?1";
            let origin = RunOrigin { process: ProcessMark::this_process(), ..origin };
            connection.execute(update, params![id, json(&origin)?])?;
            Ok(None)
        })
    }

    /// Saves that a run is resumed: all of it but its measurements anew, and of these only the first ones.
    pub fn resume_run(&mut self, book: &Book, origin: &RunOrigin, kept: usize) -> Result<()> {
        self.commit("save a run in", |connection| {
            let id = &book.run.id;
            let delete = "DELETE FROM measurement_documents WHERE run_id = ?1 AND number NOT IN \
                (SELECT number FROM measurement_documents WHERE run_id = ?1 ORDER BY number LIMIT ?2)";
            let kept = i64::try_from(kept).unwrap_or(i64::MAX);
            connection.execute(delete, params![id, kept])?;
            update_head(connection, book)?;
            let update = "UPDATE runs SET origin = ?2 WHERE id = ?1";
            connection.execute(update, params![id, json(origin)?])?;
            Ok(())
        })
    }
}

pub(super) fn update_head(connection: &Connection, book: &Book) -> StoreResult<()> {
    let update = "UPDATE runs SET document = ?2 WHERE id = ?1";
    match connection.execute(update, params![book.run.id, json(&book.without_measurements())?])? {
        1 => Ok(()),
        _ => Err(StoreProblem::Stated("it has no such run.".into())),
    }
}

fn insert_cell(connection: &Connection, run_id: &str, one: &FinishedCell) -> StoreResult<()> {
    let insert = "INSERT INTO finished_cells (run_id, document) VALUES (?1, ?2)";
    connection.execute(insert, params![run_id, json(one)?])?;
    Ok(())
}
