//! Reads runs from the store, whole or in summary. Finds the run that an id, a tag or `last~1` means, and the rates of an earlier
//! run, from which to expect the rates of the next.

use std::collections::BTreeMap;
use std::path::Path;

use rusqlite::Row;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{READ, Store};
use crate::book::{Book, Measurement};
use crate::json_string_limits::check_string_lengths;
use boatload_base::failure::{Failure, Result, shown};
use boatload_base::units::counted;
use boatload_plan::EngineName;

/// A run without its measurements, and how many it has.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunSummary {
    /// The run, without its measurements.
    pub book: Book,
    /// Measurements saved.
    pub measurements: u64,
    /// How many of them are invalid.
    pub invalid: u64,
    /// How many of them are of the simulated file system.
    pub simulated: u64,
    /// A name that commands take for it.
    pub tag: Option<String>,
    /// What somebody noted of it.
    pub note: Option<String>,
}

/// A run that this boatload cannot read: another version wrote it, or somebody changed it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct UnreadableRun {
    /// Its id.
    pub id: String,
    /// Its scenario; empty if that is unknown.
    pub scenario: String,
    /// Why.
    pub why: String,
}

/// The runs of a store, the one that was stored last first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunList {
    /// Those that can be read.
    pub runs: Vec<RunSummary>,
    /// The others.
    pub unreadable: Vec<UnreadableRun>,
}

/// Most candidates that a message lists.
const CANDIDATES: usize = 8;

impl Store {
    /// The id of the run that `asked` stands for: an id, a tag, a prefix of an id that no other run has, `last` for the
    /// one that was stored last, or `last~1` for the one before. Fails with what to do if there is none or more than one.
    pub fn find_run(&self, asked: &str) -> Result<String> {
        let ids = self.candidates(asked)?;
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
        found.map_err(|error| self.failure(READ, &error.into()))
    }

    /// All runs.
    pub fn runs(&self) -> Result<RunList> {
        let rows = self.read_rows(
            "SELECT document, \
               (SELECT count(*) FROM measurement_documents WHERE run_id = id), \
               (SELECT count(*) FROM measurement_documents WHERE run_id = id AND NOT valid), \
               (SELECT count(*) FROM measurements WHERE run_id = id AND engine = ?1), \
               tag, note, id, coalesce(scenario, '') \
             FROM runs ORDER BY number DESC",
            (EngineName::Sim.as_str(),),
            |row| {
                let count = |column| row.get::<_, i64>(column).map(i64::unsigned_abs);
                let [measurements, invalid, simulated] = [count(1)?, count(2)?, count(3)?];
                let (tag, note, id, scenario) =
                    (row.get(4)?, row.get(5)?, row.get(6)?, row.get(7)?);
                let run = RunSummary {
                    measurements,
                    invalid,
                    simulated,
                    tag,
                    note,
                    ..RunSummary::default()
                };
                Ok(match parsed(row, 0) {
                    Ok(book) => Ok(RunSummary { book, ..run }),
                    Err(why) => Err(UnreadableRun { id, scenario, why: why.to_string() }),
                })
            },
        )?;
        let mut all = RunList::default();
        for row in rows {
            match row {
                Ok(run) => all.runs.push(run),
                Err(run) => all.unreadable.push(run),
            }
        }
        Ok(all)
    }

    /// A run with everything it gave until now. `id` is a whole id, as [`Store::find_run`] gives.
    pub fn load(&self, id: &str) -> Result<Book> {
        // One snapshot, also while a run is writing.
        let snapshot = self.connection.unchecked_transaction();
        let _snapshot = snapshot.map_err(|error| self.failure(READ, &error.into()))?;
        let query = "SELECT document FROM runs WHERE id = ?1";
        let found = self.read_rows(query, (id,), |row| read_document::<Book>(row, 0))?;
        let book = found.into_iter().next().ok_or_else(|| self.nothing_found(id))?;
        Ok(Book { measurements: self.read_measurements(id)?, ..book })
    }

    /// Operations per second of each phase in the newest complete run of a scenario on a file
    /// system of this type on this device: what to expect of the next. Simulated runs do not
    /// count, nor do those that measured file systems made for them, nor what cannot be read; empty if there is no such run.
    pub fn phase_rates(
        &self,
        scenario: &str,
        filesystem_kind: &str,
        device: Option<&str>,
    ) -> Result<BTreeMap<String, f64>> {
        let runs =
            "SELECT document FROM runs WHERE complete AND scenario = ?1 ORDER BY number DESC";
        let is_there = |book: &Book| {
            let host = &book.host;
            let same_device = host.device.as_ref().map(|device| device.name.as_str()) == device;
            host.filesystem.kind == filesystem_kind && same_device && book.filesystems.is_empty()
        };
        let books = self.read_rows(runs, (scenario,), |row| Ok(parsed::<Book>(row, 0).ok()))?;
        for book in books.iter().flatten().filter(|book| is_there(book)) {
            let Ok(measurements) = self.read_measurements(&book.run.id) else { continue };
            let rates = rates(&measurements);
            if !rates.is_empty() {
                return Ok(rates);
            }
        }
        Ok(BTreeMap::new())
    }

    fn candidates(&self, asked: &str) -> Result<Vec<String>> {
        if let Some(back) = runs_back(asked) {
            let newest = "SELECT id FROM runs ORDER BY number DESC LIMIT 1 OFFSET ?1";
            return self.read_rows(newest, (back,), |row| row.get(0));
        }
        let tagged = "SELECT id FROM runs WHERE tag = ?1";
        let tagged = self.read_rows(tagged, (asked,), |row| row.get(0))?;
        if !tagged.is_empty() {
            return Ok(tagged);
        }
        self.read_rows(
            "SELECT id FROM runs WHERE ?1 <> '' AND substr(id, 1, length(?1)) = ?1 \
             ORDER BY number DESC",
            (asked,),
            |row| row.get(0),
        )
    }

    fn nothing_found(&self, asked: &str) -> Failure {
        let runs = self.read_rows("SELECT id FROM runs", (), |row| row.get::<_, String>(0));
        match runs {
            Err(failure) => failure,
            Ok(runs) if runs.is_empty() => Failure::failed(format!(
                "the store {} has no runs yet; `boatload run` makes one",
                shown(self.name())
            )),
            Ok(runs) if runs_back(asked).is_some() => Failure::usage(format!(
                "{asked} goes back too far: the store has {}; `boatload runs` lists them",
                counted(runs.len() as u64, "run")
            )),
            Ok(_) if Path::new(asked).is_file() => Failure::usage(format!(
                "no run has the tag \"{0}\", which is a file; `boatload import` stores a run document",
                shown(asked)
            )),
            Ok(_) => Failure::usage(format!(
                "no run has the tag \"{0}\" or an id that begins so in {1}; `boatload runs` lists them, and \
                 --store names another store",
                shown(asked),
                shown(self.name())
            )),
        }
    }

    fn read_measurements(&self, run_id: &str) -> Result<Vec<Measurement>> {
        self.read_rows(
            "SELECT document FROM measurement_documents WHERE run_id = ?1 ORDER BY number",
            (run_id,),
            |row| read_document(row, 0),
        )
    }

    pub(super) fn read_rows<T>(
        &self,
        query: &str,
        values: impl rusqlite::Params,
        read: impl FnMut(&Row) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>> {
        let statement = self.connection.prepare_cached(query);
        let rows = statement.and_then(|mut statement| statement.query_map(values, read)?.collect());
        rows.map_err(|error: rusqlite::Error| self.failure(READ, &error.into()))
    }
}

/// How many runs before the last a word means: `last`, `last~1`; `None` if it means something else.
fn runs_back(asked: &str) -> Option<u32> {
    match asked.strip_prefix("last")? {
        "" => Some(0),
        back => back.strip_prefix('~')?.parse().ok(),
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
pub(super) fn read_document<T: DeserializeOwned>(row: &Row, column: usize) -> rusqlite::Result<T> {
    let text = rusqlite::types::Type::Text;
    parsed(row, column).map_err(|why| rusqlite::Error::FromSqlConversionFailure(column, text, why))
}

/// The same, or why it is none.
fn parsed<T: DeserializeOwned>(
    row: &Row,
    column: usize,
) -> std::result::Result<T, Box<dyn std::error::Error + Send + Sync>> {
    let text = row.get_ref(column)?.as_str()?;
    check_string_lengths(text)?;
    Ok(serde_json::from_str(text)?)
}

/// Operations per second of each phase on a real file system.
fn rates(measurements: &[Measurement]) -> BTreeMap<String, f64> {
    let mut sums: BTreeMap<String, (u64, f64)> = BTreeMap::new();
    let real = |m: &&Measurement| m.valid() && !m.is_simulated() && m.seconds > Some(0.0);
    for m in measurements.iter().filter(real) {
        let (operations, seconds) = sums.entry(m.phase.clone()).or_default();
        *operations += m.operations;
        *seconds += m.seconds.unwrap_or_default();
    }
    sums.into_iter().map(|(phase, (done, seconds))| (phase, done as f64 / seconds)).collect()
}
