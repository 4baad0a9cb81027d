//! Writing a run as it goes: every call is one committed transaction.

use rusqlite::{Connection, TransactionBehavior, params};
use serde::Serialize;

use super::{Store, StoreProblem, StoreResult};
use crate::base::failure::Result;
use crate::results::book::{Book, Measurement};

impl Store {
    /// Saves a run that has begun, without its measurements. Fails if the store has a run with this
    /// id.
    pub fn begin_run(&mut self, book: &Book) -> Result<()> {
        self.commit("save a run in", |connection| insert_run(connection, book))
    }

    /// Saves all of a run but its measurements anew. Fails if the store has no run with this id.
    pub fn update_run(&mut self, book: &Book) -> Result<()> {
        self.commit("save a run in", |connection| {
            let update = "UPDATE runs SET document = ?2 WHERE id = ?1";
            let document = json(&book.without_measurements())?;
            match connection.execute(update, params![book.run.id, document])? {
                1 => Ok(()),
                _ => Err(StoreProblem::Stated("it has no such run.".into())),
            }
        })
    }

    /// Saves what one phase gave.
    pub fn add_measurement(&mut self, run_id: &str, measurement: &Measurement) -> Result<()> {
        self.commit("save a measurement in", |connection| {
            insert_measurement(connection, run_id, measurement)
        })
    }

    /// Saves a whole run at once, or nothing of it. Fails if the store has a run with this id.
    pub fn import(&mut self, book: &Book) -> Result<()> {
        self.commit("save a run in", |connection| {
            insert_run(connection, book)?;
            let mut all = book.measurements.iter();
            all.try_for_each(|one| insert_measurement(connection, &book.run.id, one))
        })
    }

    /// Does all of `work` or nothing of it.
    fn commit<T>(
        &mut self,
        doing: &str,
        work: impl FnOnce(&Connection) -> StoreResult<T>,
    ) -> Result<T> {
        let done = (|| {
            let transaction =
                self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let value = work(&transaction)?;
            transaction.commit()?;
            Ok(value)
        })();
        done.map_err(|problem| self.failure(doing, &problem))
    }
}

fn insert_run(connection: &Connection, book: &Book) -> StoreResult<()> {
    let insert = "INSERT INTO runs (id, document) VALUES (?1, ?2)";
    connection.execute(insert, params![book.run.id, json(&book.without_measurements())?])?;
    Ok(())
}

fn insert_measurement(connection: &Connection, run_id: &str, one: &Measurement) -> StoreResult<()> {
    let insert = "INSERT INTO measurement_documents (run_id, document) VALUES (?1, ?2)";
    connection.prepare_cached(insert)?.execute(params![run_id, json(one)?])?;
    Ok(())
}

fn json(value: &impl Serialize) -> rusqlite::Result<String> {
    serde_json::to_string(value)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
}
