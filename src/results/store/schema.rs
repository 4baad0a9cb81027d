//! The store's schema, its version in `PRAGMA user_version`, and the refusal of other databases.

use rusqlite::{Connection, TransactionBehavior};

use super::StoreProblem;

/// `PRAGMA application_id` of every store: "boat" in ASCII. file(1) shows it.
pub(super) const APPLICATION_ID: i32 = 0x626f_6174;

/// `PRAGMA user_version` of a store with this schema.
pub(super) const VERSION: i64 = 1;

/// Its tables.
pub(super) const SCHEMA: &str = include_str!("schema.sql");

/// Refuses what is no store of this schema, changing nothing.
pub(super) fn check(connection: &Connection) -> Result<(), StoreProblem> {
    // One snapshot: another process may be making the store at this moment.
    let snapshot = connection.unchecked_transaction()?;
    is_made(&snapshot).map(|_| ())
}

/// Whether the tables are there; an empty database has none yet.
fn is_made(connection: &Connection) -> Result<bool, StoreProblem> {
    let application: i32 = pragma(connection, "application_id")?;
    let version: i64 = pragma(connection, "user_version")?;
    let tables: i64 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", (), |row| row.get(0))?;
    if application != APPLICATION_ID && (tables > 0 || application != 0 || version != 0) {
        return Err(StoreProblem::Stated(
            "it is a database of another program, and was left as it is. \
             Pass --store FILE with another file."
                .into(),
        ));
    }
    if version != 0 && version != VERSION {
        return Err(StoreProblem::Stated(format!(
            "it has schema {version} of another boatload; this one reads schema {VERSION}. \
             Use the other boatload, or pass --store FILE with another file."
        )));
    }
    Ok(version == VERSION)
}

/// Makes the tables that are missing, all or none, also when two processes begin at once.
pub(super) fn make(connection: &mut Connection) -> Result<(), StoreProblem> {
    if is_made(connection)? {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have made them while this one waited for the lock.
    if !is_made(&transaction)? {
        transaction.execute_batch(SCHEMA)?;
        transaction.pragma_update(None, "user_version", VERSION)?;
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    }
    Ok(transaction.commit()?)
}

fn pragma<T: rusqlite::types::FromSql>(connection: &Connection, name: &str) -> rusqlite::Result<T> {
    connection.pragma_query_value(None, name, |row| row.get(0))
}
