//! The store: one SQLite file that keeps every run, committed after every phase, so that a run
//! that was killed stays readable. docs/STORE.md says how to read it without boatload.

mod read;
mod schema;
mod write;

use std::fs::DirBuilder;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::base::failure::{Failure, Result, shown};

pub use read::RunSummary;

/// How long a command waits for another boatload that is writing.
const BUSY_WAIT: Duration = Duration::from_secs(10);

/// How often and how long apart a store that another process is making is tried again.
const BUSY_TRIES: u32 = 20;
const BUSY_PAUSE: Duration = Duration::from_millis(50);

/// An open store.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    path: PathBuf,
}

impl Store {
    /// Opens the store at `path`, made with its parent directories (mode 0700) if missing.
    /// Fails on a file that is no store, a store of another schema, and a place that cannot be
    /// written.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref().to_path_buf();
        make_parents(&path)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let connection = Connection::open_with_flags(&path, flags)
            .map_err(|error| failure(&path, "open", &error))?;
        let mut store = Self { connection, path };
        store.configure_in_turn().map_err(|error| store.failure("open", &error))?;
        Ok(store)
    }

    /// A store that nobody keeps, in memory.
    ///
    /// # Errors
    /// If SQLite cannot make one.
    pub fn in_memory() -> Result<Self> {
        let path = PathBuf::from(":memory:");
        let connection =
            Connection::open_in_memory().map_err(|error| failure(&path, "make", &error))?;
        let mut store = Self { connection, path };
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
        let store = Self { connection, path };
        schema::check(&store.connection).map_err(|error| store.failure("read", &error))?;
        Ok(store)
    }

    /// Checks before it changes anything, so that a foreign file stays as it is.
    fn configure(&mut self, wait: Duration) -> StoreResult<()> {
        self.connection.busy_timeout(wait)?;
        schema::check(&self.connection)?;
        // Where WAL cannot be had, as on some network file systems, the mode stays as it was.
        self.connection.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(()))?;
        self.connection.pragma_update(None, "synchronous", "normal")?;
        self.connection.pragma_update(None, "foreign_keys", true)?;
        schema::make(&mut self.connection)
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
