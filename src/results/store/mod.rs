//! Stores every run in one SQLite file, committed after every phase, so that a killed run stays readable.
//! docs/STORE.md describes how to read it without boatload.

mod read;

use std::fs::DirBuilder;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior, params};
use serde::Serialize;

use crate::base::failure::{Failure, Result, shown};
use crate::results::book::{Book, Measurement};

pub use read::RunSummary;

/// How long a command waits for another boatload that is writing.
const BUSY_WAIT: Duration = Duration::from_secs(10);

/// How long it waits where waiting was in vain before.
const BUSY_WAIT_AGAIN: Duration = Duration::from_millis(100);

/// How often and how long apart a store that another process is making is tried again.
const BUSY_TRIES: u32 = 20;
const BUSY_PAUSE: Duration = Duration::from_millis(50);

/// How long to wait for others.
#[derive(Clone, Copy, Debug)]
pub enum Patience {
    /// As any command does.
    Long,
    /// Hardly: they were waited for.
    Short,
}

/// An open store.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    path: PathBuf,
    /// The device and inode of its file when it was opened to write.
    file: Option<(u64, u64)>,
}

impl Store {
    /// Opens the store at `path`, made with its parent directories (mode 0700) if missing.
    /// Fails on a file that is no store, a store of another schema, and a place that cannot be
    /// written.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref().to_path_buf();
        make_parents(&path)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        // SQLite has names of its own, such as `:memory:`; none of them has a folder.
        let connection = Connection::open_with_flags(Path::new(".").join(&path), flags)
            .map_err(|error| failure(&path, "open", &error))?;
        let mut store = Self { connection, path, file: None };
        store.configure_in_turn().map_err(|error| store.failure("open", &error))?;
        store.file = file_at(&store.path);
        Ok(store)
    }

    /// The store that is at its path now, made if it is missing, where that is another file than the one that was
    /// opened; none if it is the same.
    ///
    /// # Errors
    /// If there is none and none can be made.
    pub fn reopened(&self) -> Result<Option<Self>> {
        let is_same = self.file.is_none() || self.file == file_at(&self.path);
        if is_same { Ok(None) } else { Self::open(&self.path).map(Some) }
    }

    /// How long to wait from now on while another process writes.
    ///
    /// # Errors
    /// If SQLite does not take it.
    pub fn wait_for_others(&self, patience: Patience) -> Result<()> {
        let wait = match patience {
            Patience::Long => BUSY_WAIT,
            Patience::Short => BUSY_WAIT_AGAIN,
        };
        self.connection.busy_timeout(wait).map_err(|error| failure(&self.path, "use", &error))
    }

    /// A store that nobody keeps, in memory.
    ///
    /// # Errors
    /// If SQLite cannot make one.
    pub fn in_memory() -> Result<Self> {
        let path = PathBuf::from(":memory:");
        let connection =
            Connection::open_in_memory().map_err(|error| failure(&path, "make", &error))?;
        let mut store = Self { connection, path, file: None };
        store.configure_in_turn().map_err(|error| store.failure("make", &error))?;
        Ok(store)
    }

    /// While another process makes the same store, SQLite refuses some steps at once instead of
    /// waiting as it should: then all of them are tried again.
    fn configure_in_turn(&mut self) -> StoreResult<()> {
        let mut configured = self.configure(BUSY_WAIT / BUSY_TRIES);
        for _ in 1..BUSY_TRIES {
            match &configured {
                Err(StoreProblem::Database(error))
                    if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => {}
                _ => break,
            }
            std::thread::sleep(BUSY_PAUSE);
            configured = self.configure(BUSY_WAIT / BUSY_TRIES);
        }
        self.connection.busy_timeout(BUSY_WAIT)?;
        configured
    }

    /// Opens the store at `path` only to read it: neither it nor a file beside it is written or
    /// made. Fails on a missing file and on what [`Store::open`] fails on.
    pub fn open_to_read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref().to_path_buf();
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
        let connection = Connection::open_with_flags(read_only_uri(&path), flags)
            .map_err(|error| failure(&path, "read", &error))?;
        let store = Self { connection, path, file: None };
        check_schema(&store.connection).map_err(|error| store.failure("read", &error))?;
        Ok(store)
    }

    /// Checks before it changes anything, so that a foreign file stays as it is.
    fn configure(&mut self, wait: Duration) -> StoreResult<()> {
        self.connection.busy_timeout(wait)?;
        check_schema(&self.connection)?;
        // Where WAL cannot be had, as on some network file systems, the mode stays as it was.
        self.connection.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(()))?;
        self.connection.pragma_update(None, "synchronous", "normal")?;
        self.connection.pragma_update(None, "foreign_keys", true)?;
        make_tables(&mut self.connection)
    }

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

    fn failure(&self, doing: &str, problem: &StoreProblem) -> Failure {
        match problem {
            StoreProblem::Database(error) => failure(&self.path, doing, error),
            StoreProblem::Stated(sentence) => Failure::failed(format!(
                "cannot {doing} the store {}: {sentence}",
                shown(&self.path)
            )),
        }
    }
}

/// What work in the store comes to.
type StoreResult<T> = std::result::Result<T, StoreProblem>;

/// What goes wrong inside the store, before the path is put to it.
#[derive(Debug)]
enum StoreProblem {
    Database(rusqlite::Error),
    Stated(String),
}

impl From<rusqlite::Error> for StoreProblem {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database(error)
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

/// `PRAGMA application_id` of every store: "boat" in ASCII. file(1) shows it.
const APPLICATION_ID: i32 = 0x626f_6174;

/// `PRAGMA user_version` of a store with this schema.
const VERSION: i64 = 1;

/// Its tables.
const SCHEMA: &str = include_str!("schema.sql");

/// Refuses what is no store of this schema, changing nothing.
fn check_schema(connection: &Connection) -> StoreResult<()> {
    // One snapshot: another process may be making the store at this moment.
    let snapshot = connection.unchecked_transaction()?;
    is_made(&snapshot).map(|_| ())
}

/// Whether the tables are there; an empty database has none yet.
fn is_made(connection: &Connection) -> StoreResult<bool> {
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
fn make_tables(connection: &mut Connection) -> StoreResult<()> {
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

/// Even a reader of a file in WAL mode makes files beside it, unless it is opened as immutable
/// (<https://sqlite.org/wal.html#read_only_databases>). Someone does if those files are there, and
/// then they need not be made.
fn read_only_uri(path: &Path) -> String {
    // SQLite keeps those files beside the file itself, not beside a link to it.
    let path = &path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    let mut uri = String::from("file:");
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' => uri.push(char::from(*byte)),
            byte if byte.is_ascii_alphanumeric() => uri.push(char::from(*byte)),
            byte => uri.push_str(&format!("%{byte:02x}")),
        }
    }
    let is_there = |ending: &str| {
        let mut beside = path.as_os_str().to_os_string();
        beside.push(ending);
        Path::new(&beside).exists()
    };
    let written = is_there("-wal") || is_there("-journal");
    uri + if written { "?mode=ro" } else { "?immutable=1" }
}

/// The device and inode of a file; none if there is none.
fn file_at(path: &Path) -> Option<(u64, u64)> {
    std::fs::metadata(path).ok().map(|file| (file.dev(), file.ino()))
}

fn make_parents(path: &Path) -> Result<()> {
    let Some(parent) = path.parent().filter(|p| !p.as_os_str().is_empty()) else {
        return Ok(());
    };
    DirBuilder::new().recursive(true).mode(0o700).create(parent).map_err(|error| {
        Failure::failed(format!(
            "cannot make the directory {} for the store: {error}. {ELSEWHERE}",
            shown(parent)
        ))
    })
}

const ELSEWHERE: &str = "Results are kept there; pass --store FILE to keep them elsewhere.";

/// The sentence for an error of SQLite, with what to do about it.
fn failure(path: &Path, doing: &str, error: &rusqlite::Error) -> Failure {
    let (what, advice) = match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => ("it is not a database".into(), ELSEWHERE),
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
            ("it cannot be written".into(), ELSEWHERE)
        }
        Some(ErrorCode::CannotOpen) => {
            ("the file cannot be opened or made for writing".into(), ELSEWHERE)
        }
        Some(ErrorCode::DatabaseBusy) => {
            ("another program has been writing to it for too long".into(), "Try again later.")
        }
        Some(ErrorCode::DiskFull) => ("no space is left there".into(), ELSEWHERE),
        _ => (error.to_string(), ELSEWHERE),
    };
    Failure::failed(format!("cannot {doing} the store {}: {what}. {advice}", shown(path)))
}

#[cfg(test)]
mod tests;
