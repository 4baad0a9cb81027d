//! The schema's versions: an ordered list of steps, counted in `PRAGMA user_version`.

use rusqlite::{Connection, TransactionBehavior};

use super::Problem;

/// `PRAGMA application_id` of every store: "boat" in ASCII. file(1) shows it.
pub(super) const APPLICATION_ID: i32 = 0x626f_6174;

/// Step *n* (from 1) brings a store from version *n* - 1 to version *n*. Steps are never changed
/// once released, only added.
pub(super) const STEPS: &[&str] = &[
    include_str!("schema.sql"),
    include_str!("schema-2.sql"),
    include_str!("schema-3.sql"),
    include_str!("schema-4.sql"),
    include_str!("schema-5.sql"),
    include_str!("schema-6.sql"),
];

/// The version that has the table `conditions`.
const CONDITIONS: i64 = 2;

/// The version that has the table `filesystems` and what phases took of them.
const FILESYSTEMS: i64 = 3;

/// The version that has the table `disturbances`.
const DISTURBANCES: i64 = 4;

/// Refuses what is no store of this or an older boatload, changing nothing.
pub(super) fn check(connection: &Connection) -> Result<(), Problem> {
    // One snapshot: another process may be making the store at this moment.
    let snapshot = connection.unchecked_transaction()?;
    check_version(&snapshot)
}

fn check_version(connection: &Connection) -> Result<(), Problem> {
    let application: i32 = pragma(connection, "application_id")?;
    let version: i64 = pragma(connection, "user_version")?;
    let tables: i64 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", (), |row| row.get(0))?;
    if application != APPLICATION_ID && (tables > 0 || application != 0 || version != 0) {
        return Err(Problem::Told(
            "it is a database of another program, and was left as it is. \
             Pass --store FILE with another file."
                .into(),
        ));
    }
    if version < 0 || version > STEPS.len() as i64 {
        return Err(Problem::Told(format!(
            "it has schema {version} of a newer boatload; this one knows schemas up to {}. \
             Use the newer boatload, or pass --store FILE with another file.",
            STEPS.len()
        )));
    }
    Ok(())
}

/// Whether there are conditions in this store: one that is only read is not brought up to date.
pub(super) fn has_conditions(connection: &Connection) -> rusqlite::Result<bool> {
    Ok(pragma::<i64>(connection, "user_version")? >= CONDITIONS)
}

/// The same for file systems that were made, and what phases took of them.
pub(super) fn has_filesystems(connection: &Connection) -> rusqlite::Result<bool> {
    Ok(pragma::<i64>(connection, "user_version")? >= FILESYSTEMS)
}

/// The same for what else happened during measurements.
pub(super) fn has_disturbances(connection: &Connection) -> rusqlite::Result<bool> {
    Ok(pragma::<i64>(connection, "user_version")? >= DISTURBANCES)
}

/// Takes the steps that are still missing, all or none, also when two processes begin at once.
pub(super) fn run(connection: &mut Connection) -> Result<(), Problem> {
    if pragma::<i64>(connection, "user_version")? == STEPS.len() as i64 {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have taken them while this one waited for the lock.
    check_version(&transaction)?;
    let done: i64 = pragma(&transaction, "user_version")?;
    for (at, step) in STEPS.iter().enumerate().skip(usize::try_from(done).unwrap_or(0)) {
        transaction.execute_batch(step)?;
        transaction.pragma_update(None, "user_version", at as i64 + 1)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    Ok(transaction.commit()?)
}

fn pragma<T: rusqlite::types::FromSql>(connection: &Connection, name: &str) -> rusqlite::Result<T> {
    connection.pragma_query_value(None, name, |row| row.get(0))
}
