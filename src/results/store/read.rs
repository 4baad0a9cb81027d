//! Reading runs back, whole or in summary.

use std::collections::BTreeMap;

use rusqlite::{OptionalExtension, Row};
use serde::de::DeserializeOwned;

use super::{Store, StoreResult};
use crate::base::failure::{Failure, Result, shown};
use crate::plan::Scale;
use crate::results::book::{Book, Measurement};

/// A run in one line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunSummary {
    /// Its id.
    pub id: String,
    /// The scenario's name.
    pub scenario: String,
    /// How much of it was run.
    pub scale: Scale,
    /// When it began, RFC 3339 in UTC.
    pub started: String,
    /// When it ended; none while it runs or if it was killed.
    pub finished: Option<String>,
    /// Whether every cell was done.
    pub complete: bool,
    /// Type of the file system that its directory lies on.
    pub filesystem: String,
    /// Types of the file systems that were made for it and measured instead, each once, in the
    /// order they were made; empty if none was.
    pub made: Vec<String>,
    /// Name of the block device under the directory; none where there is none.
    pub device: Option<String>,
    /// Measurements saved.
    pub measurements: u64,
    /// How many of them are invalid.
    pub invalid: u64,
}

/// Most candidates that a message lists.
const CANDIDATES: usize = 8;

impl Store {
    /// The id of the run that `asked` stands for: an id, a prefix that no other run has, or `last`
    /// for the one that began last. Fails with what to do if there is none or more than one.
    pub fn find_run(&self, asked: &str) -> Result<String> {
        let ids = self.candidates(asked).map_err(|problem| self.failure("read", &problem))?;
        match ids.as_slice() {
            [id] => Ok(id.clone()),
            ids if ids.iter().any(|id| id == asked) => Ok(asked.to_string()),
            [] => Err(self.nothing_found(asked)),
            ids => Err(ambiguous(asked, ids)),
        }
    }

    /// Whether there is a run with just this id.
    pub fn has_run(&self, id: &str) -> Result<bool> {
        let found = self.connection.prepare_cached("SELECT 1 FROM runs WHERE id = ?1");
        let found = found.and_then(|mut query| query.exists((id,)));
        found.map_err(|error| self.failure("read", &error.into()))
    }

    /// All runs, newest first.
    pub fn runs(&self) -> Result<Vec<RunSummary>> {
        self.read_runs().map_err(|problem| self.failure("read", &problem))
    }

    fn read_runs(&self) -> StoreResult<Vec<RunSummary>> {
        self.read_rows(
            "SELECT document, \
               (SELECT count(*) FROM measurement_documents WHERE run_id = id), \
               (SELECT count(*) FROM measurement_documents WHERE run_id = id AND NOT valid) \
             FROM runs ORDER BY started DESC, number DESC",
            (),
            |row| {
                let count = |column| row.get::<_, i64>(column).map(i64::unsigned_abs);
                Ok(summary(read_document(row, 0)?, count(1)?, count(2)?))
            },
        )
    }

    /// A run with everything it gave so far. `id` is a whole id, as [`Store::find_run`] gives.
    pub fn load(&self, id: &str) -> Result<Book> {
        let book = self.load_book(id).map_err(|problem| self.failure("read", &problem))?;
        book.ok_or_else(|| self.nothing_found(id))
    }

    /// Operations per second of each phase in the newest complete run of a scenario on a file
    /// system of this type on this device: what to expect of the next. Simulated runs do not
    /// count, nor do those that measured file systems made for them; empty if there is no such run.
    pub fn phase_rates(
        &self,
        scenario: &str,
        filesystem_kind: &str,
        device: Option<&str>,
    ) -> Result<BTreeMap<String, f64>> {
        let rates = self.read_rates(scenario, filesystem_kind, device);
        rates.map_err(|problem| self.failure("read", &problem))
    }

    fn read_rates(
        &self,
        scenario: &str,
        filesystem_kind: &str,
        device: Option<&str>,
    ) -> StoreResult<BTreeMap<String, f64>> {
        let runs =
            "SELECT document FROM runs WHERE complete AND scenario = ?1 ORDER BY number DESC";
        for book in self.read_rows(runs, (scenario,), |row| read_document::<Book>(row, 0))? {
            let host = &book.host;
            let same_device = host.device.as_ref().map(|device| device.name.as_str()) == device;
            if host.filesystem.kind != filesystem_kind
                || !same_device
                || !book.filesystems.is_empty()
            {
                continue;
            }
            let rates = rates(&self.read_measurements(&book.run.id)?);
            if !rates.is_empty() {
                return Ok(rates);
            }
        }
        Ok(BTreeMap::new())
    }

    fn candidates(&self, asked: &str) -> StoreResult<Vec<String>> {
        if asked == "last" {
            let newest = "SELECT id FROM runs ORDER BY started DESC, number DESC LIMIT 1";
            return self.read_rows(newest, (), |row| row.get(0));
        }
        self.read_rows(
            "SELECT id FROM runs WHERE ?1 <> '' AND substr(id, 1, length(?1)) = ?1 \
             ORDER BY started DESC, number DESC",
            (asked,),
            |row| row.get(0),
        )
    }

    fn nothing_found(&self, asked: &str) -> Failure {
        match self.runs() {
            Err(failure) => failure,
            Ok(runs) if runs.is_empty() => Failure::failed(format!(
                "the store {} has no runs yet; `boatload run` makes one",
                shown(&self.path)
            )),
            Ok(_) => Failure::usage(format!(
                "no run has an id that begins with \"{}\"; `boatload runs` lists them",
                shown(asked)
            )),
        }
    }

    fn load_book(&self, id: &str) -> StoreResult<Option<Book>> {
        // One snapshot, also while a run is writing.
        let _snapshot = self.connection.unchecked_transaction()?;
        let mut query =
            self.connection.prepare_cached("SELECT document FROM runs WHERE id = ?1")?;
        let found = query.query_row((id,), |row| read_document::<Book>(row, 0)).optional()?;
        let Some(book) = found else { return Ok(None) };
        Ok(Some(Book { measurements: self.read_measurements(id)?, ..book }))
    }

    fn read_measurements(&self, run_id: &str) -> StoreResult<Vec<Measurement>> {
        self.read_rows(
            "SELECT document FROM measurement_documents WHERE run_id = ?1 ORDER BY number",
            (run_id,),
            |row| read_document(row, 0),
        )
    }

    fn read_rows<T>(
        &self,
        query: &str,
        values: impl rusqlite::Params,
        read: impl FnMut(&Row) -> rusqlite::Result<T>,
    ) -> StoreResult<Vec<T>> {
        let mut statement = self.connection.prepare_cached(query)?;
        let rows = statement.query_map(values, read)?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }
}

fn ambiguous(asked: &str, ids: &[String]) -> Failure {
    let mut listed: Vec<_> = ids.iter().take(CANDIDATES).map(String::as_str).collect();
    if ids.len() > CANDIDATES {
        listed.push("...");
    }
    Failure::usage(format!(
        "\"{}\" is the beginning of {} runs: {}; give more of the id",
        shown(asked),
        ids.len(),
        listed.join(", ")
    ))
}

/// The JSON of a column.
fn read_document<T: DeserializeOwned>(row: &Row, column: usize) -> rusqlite::Result<T> {
    serde_json::from_str(row.get_ref(column)?.as_str()?).map_err(|error| {
        let text = rusqlite::types::Type::Text;
        rusqlite::Error::FromSqlConversionFailure(column, text, error.into())
    })
}

fn summary(book: Book, measurements: u64, invalid: u64) -> RunSummary {
    let mut made: Vec<String> = Vec::new();
    for one in book.filesystems {
        if !made.contains(&one.kind) {
            made.push(one.kind);
        }
    }
    RunSummary {
        id: book.run.id,
        scenario: book.run.scenario,
        scale: book.run.scale,
        started: book.run.started,
        finished: book.run.finished,
        complete: book.run.complete,
        filesystem: book.host.filesystem.kind,
        made,
        device: book.host.device.map(|device| device.name),
        measurements,
        invalid,
    }
}

/// Operations per second of each phase on a real file system.
fn rates(measurements: &[Measurement]) -> BTreeMap<String, f64> {
    let mut sums: BTreeMap<String, (u64, f64)> = BTreeMap::new();
    let real = |m: &&Measurement| m.valid() && !m.is_simulated() && m.seconds > 0.0;
    for m in measurements.iter().filter(real) {
        let (operations, seconds) = sums.entry(m.phase.clone()).or_default();
        *operations += m.operations;
        *seconds += m.seconds;
    }
    sums.into_iter().map(|(phase, (done, seconds))| (phase, done as f64 / seconds)).collect()
}
