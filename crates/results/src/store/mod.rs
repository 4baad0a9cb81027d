//! Stores every run in one SQLite file, committed after every phase, so that a killed run stays readable.
//! docs/STORE.md describes how to read it without boatload.

mod place;
mod read;
mod tidying;
mod unfinished;

use std::fs::{DirBuilder, File, Permissions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior, params};
use rustix::fs::{Mode, OFlags};
use serde::Serialize;

use crate::book::{Book, Measurement};
use boatload_base::failure::{Failure, Result, shown};
use place::{open_through_checks, place_to_write};

pub use read::{RunList, RunSummary, UnreadableRun};
pub use tidying::{TAG_RULE, is_tag};
pub use unfinished::{FinishedCell, RunGrowth, RunOrigin};

/// How long a command waits for another boatload that is writing.
const BUSY_WAIT: Duration = Duration::from_secs(10);

/// How long it waits after a wait that was not enough.
const BUSY_WAIT_AGAIN: Duration = Duration::from_millis(100);

/// Tries to open a store that another process is making this many times, with this pause between them.
const BUSY_TRIES: u32 = 20;
const BUSY_PAUSE: Duration = Duration::from_millis(50);

/// The version of SQLite that is built in.
pub fn sqlite_version() -> &'static str {
    rusqlite::version()
}

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
    /// None for a store that nobody keeps.
    path: Option<PathBuf>,
    /// The device and inode of its file when it was opened to write.
    file: Option<(u64, u64)>,
}

impl Store {
    /// Opens the store at `path`, made with its parent directories for their owner alone if missing.
    /// Fails on a file that is no store, a store of another schema, and a place that cannot be
    /// written.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        make_parents(path)?;
        Self::opened(path).map_err(|problem| problem.failure(path, "open"))
    }

    /// The same for a run. A store that is damaged, of another boatload, or does not answer keeps nobody from measuring: then a
    /// [`Store::stand_in`] is given, and why. What is no database at all was not meant, and is refused.
    pub fn open_for_run(path: impl AsRef<Path>) -> Result<(Self, Option<Failure>)> {
        let path = path.as_ref();
        make_parents(path)?;
        match Self::opened(path) {
            Ok(store) => Ok((store, None)),
            Err(problem) if problem.is_of_place() => Err(problem.failure(path, "open")),
            Err(problem) => Ok((Self::stand_in(path)?, Some(problem.failure(path, "open")))),
        }
    }

    fn opened(path: &Path) -> StoreResult<Self> {
        let place = place_to_write(path).map_err(StoreProblem::Place)?;
        // At its end a writer takes what a kill left in the WAL into the file: not into one that it must not change.
        let checked = connect_to_read(&place).and_then(|reader| {
            reader.busy_timeout(Duration::ZERO)?;
            check_schema(&reader)
        });
        if let Err(problem @ StoreProblem::Stated(_)) = checked {
            return Err(problem);
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let connection = Connection::open_with_flags(place, flags)?;
        // What may not be written SQLite opens to read, and says so at the first write alone.
        if connection.is_readonly("main")? {
            let read_only = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_READONLY);
            return Err(rusqlite::Error::SqliteFailure(read_only, None).into());
        }
        let mut store = Self { connection, path: Some(path.into()), file: None };
        store.configure_in_turn()?;
        store.file = file_at(path);
        Ok(store)
    }

    /// A store in memory in place of the one at `path`, which [`Store::reopened`] tries anew.
    ///
    /// # Errors
    /// If SQLite cannot make one.
    pub fn stand_in(path: &Path) -> Result<Self> {
        Ok(Self { path: Some(path.into()), file: Some(NO_FILE), ..Self::in_memory()? })
    }

    /// The store that is at its path now, made if it is missing, where that is another file than the one that was
    /// opened; `None` if it is the same.
    ///
    /// # Errors
    /// If there is none and none can be made.
    pub fn reopened(&self) -> Result<Option<Self>> {
        let Some(path) = self.path() else { return Ok(None) };
        let is_same = self.file.is_none() || self.file == file_at(path);
        if is_same { Ok(None) } else { Self::open(path).map(Some) }
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
        self.connection.busy_timeout(wait).map_err(|error| self.failure("use", &error.into()))
    }

    /// A store that nobody keeps, in memory.
    ///
    /// # Errors
    /// If SQLite cannot make one.
    pub fn in_memory() -> Result<Self> {
        let connection = Connection::open_in_memory();
        let connection =
            connection.map_err(|error| failure(Path::new(IN_MEMORY), "make", &error))?;
        let mut store = Self { connection, path: None, file: None };
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
            boatload_base::patience::pause(BUSY_PAUSE);
            configured = self.configure(BUSY_WAIT / BUSY_TRIES);
        }
        self.connection.busy_timeout(BUSY_WAIT)?;
        configured
    }

    /// Its path; `None` for a store that nobody keeps.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// What messages call it.
    fn name(&self) -> &Path {
        self.path().unwrap_or(Path::new(IN_MEMORY))
    }

    /// Opens the store at `path` only to read it: neither it nor a file next to it is written or
    /// made. Fails on a missing file and on what [`Store::open`] fails on.
    pub fn open_to_read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref().to_path_buf();
        let connection = connect_to_read(&path).map_err(|problem| problem.failure(&path, READ))?;
        let store = Self { connection, path: Some(path), file: None };
        // A run that was killed at its start may have left it without tables: then it is read as one without runs.
        match check_schema(&store.connection).map_err(|error| store.failure(READ, &error))? {
            true => Ok(store),
            false => Ok(Self { path: store.path, ..Self::in_memory()? }),
        }
    }

    /// Checks before it changes anything, so that a foreign file stays as it is.
    fn configure(&mut self, wait: Duration) -> StoreResult<()> {
        self.connection.busy_timeout(wait)?;
        check_schema(&self.connection)?;
        // Where WAL cannot be had, as on some network file systems, the mode stays unchanged.
        self.connection.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(()))?;
        self.connection.pragma_update(None, "synchronous", "normal")?;
        self.connection.pragma_update(None, "foreign_keys", true)?;
        make_tables(&mut self.connection)
    }

    /// Saves a run that has begun, without its measurements, and how it was begun, if that can be kept. Fails if the
    /// store has a run with this id.
    pub fn begin_run(&mut self, book: &Book, origin: Option<&RunOrigin>) -> Result<()> {
        self.commit("save a run in", |connection| insert_run(connection, book, origin))
    }

    /// Saves a whole run at once, or nothing of it. Fails if the store has a run with this id.
    pub fn import(&mut self, book: &Book) -> Result<()> {
        self.commit("save a run in", |connection| {
            insert_run(connection, book, None)?;
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
        problem.failure(self.name(), doing)
    }
}

/// The result of work in the store.
type StoreResult<T> = std::result::Result<T, StoreProblem>;

/// What goes wrong inside the store, before the path is put to it.
#[derive(Debug)]
enum StoreProblem {
    Database(rusqlite::Error),
    Stated(String),
    /// Nothing of boatload's is kept there.
    Place(io::Error),
}

impl StoreProblem {
    fn failure(&self, path: &Path, doing: &str) -> Failure {
        match self {
            Self::Database(error) => failure(path, doing, error),
            Self::Stated(sentence) => {
                Failure::failed(format!("cannot {doing} the store {}: {sentence}", shown(path)))
            }
            Self::Place(error) => {
                let path = shown(path);
                Failure::failed(format!("cannot {doing} the store {path}: {error}. {ELSEWHERE}"))
            }
        }
    }

    /// Whether no store can be there.
    fn is_of_place(&self) -> bool {
        use ErrorCode::{CannotOpen, NotADatabase, PermissionDenied, ReadOnly};
        let code = match self {
            Self::Database(error) => error.sqlite_error_code(),
            Self::Stated(_) => None,
            Self::Place(_) => return true,
        };
        matches!(code, Some(CannotOpen | NotADatabase | PermissionDenied | ReadOnly))
    }
}

impl From<rusqlite::Error> for StoreProblem {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database(error)
    }
}

fn insert_run(connection: &Connection, book: &Book, origin: Option<&RunOrigin>) -> StoreResult<()> {
    let insert = "INSERT INTO runs (id, document, origin) VALUES (?1, ?2, ?3)";
    let origin = origin.map(json).transpose()?;
    connection
        .execute(insert, params![book.run.id, json(&book.without_measurements())?, origin])?;
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

/// Refuses what is no store of this schema, changing nothing; whether its tables are there.
fn check_schema(connection: &Connection) -> StoreResult<bool> {
    // One snapshot: another process may be making the store at this moment.
    let snapshot = connection.unchecked_transaction()?;
    is_made(&snapshot)
}

/// Whether the tables are there; an empty database has none yet.
fn is_made(connection: &Connection) -> StoreResult<bool> {
    let application: i32 = pragma(connection, "application_id")?;
    let version: i64 = pragma(connection, "user_version")?;
    let tables: i64 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", (), |row| row.get(0))?;
    if application != APPLICATION_ID && (tables > 0 || application != 0 || version != 0) {
        return Err(StoreProblem::Stated(
            "it is a database of another program, and was left unchanged. \
             Pass --store FILE with another file."
                .into(),
        ));
    }
    if version != VERSION && (version != 0 || tables > 0) {
        return Err(StoreProblem::Stated(format!(
            "it has schema {version} of another boatload; this one reads schema {VERSION}. \
             Use the other boatload, or pass --store FILE with another file."
        )));
    }
    Ok(version == VERSION)
}

/// Makes the tables that are missing, all or none, also when two processes begin at once.
fn make_tables(connection: &mut Connection) -> StoreResult<()> {
    if check_schema(connection)? {
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

fn connect_to_read(path: &Path) -> StoreResult<Connection> {
    open_through_checks().map_err(StoreProblem::Place)?;
    if std::fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return Err(StoreProblem::Place(io::Error::other("it is no regular file")));
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    Ok(Connection::open_with_flags(read_only_uri(path), flags)?)
}

/// Even a reader of a file in WAL mode makes files next to it, unless it is opened as immutable
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

/// What messages call a store that has no file.
const IN_MEMORY: &str = "in memory";

/// The device and inode of a stand-in, which no file has.
const NO_FILE: (u64, u64) = (0, 0);

/// The device and inode of a file; `None` if there is none.
fn file_at(path: &Path) -> Option<(u64, u64)> {
    std::fs::metadata(path).ok().map(|file| (file.dev(), file.ino()))
}

fn make_parents(path: &Path) -> Result<()> {
    let Some(parent) = path.parent().filter(|p| !p.as_os_str().is_empty()) else {
        return Ok(());
    };
    make_directory(parent).map_err(|error| {
        Failure::failed(format!(
            "cannot make the directory {} for the store: {error}. {ELSEWHERE}",
            shown(parent)
        ))
    })
}

/// Makes a directory and those above it that are missing, with mode 0700 whatever the umask is.
fn make_directory(path: &Path) -> io::Result<()> {
    if path.as_os_str().is_empty() || path.is_dir() {
        return Ok(());
    }
    path.parent().map_or(Ok(()), make_directory)?;
    match DirBuilder::new().mode(0o700).create(path) {
        Ok(()) => make_private(path),
        // Another process has made it meanwhile.
        Err(_) if path.is_dir() => Ok(()),
        Err(error) => Err(error),
    }
}

/// Gives a new directory mode 0700, unless something else has its name by now.
fn make_private(path: &Path) -> io::Result<()> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let made = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    if made.metadata()?.uid() != rustix::process::geteuid().as_raw() {
        return Ok(());
    }
    let same = format!("/proc/self/fd/{}", made.as_raw_fd());
    std::fs::set_permissions(same, Permissions::from_mode(0o700))
}

/// What is done to a store that is not changed.
const READ: &str = "read";

const ELSEWHERE: &str = "--store FILE keeps results elsewhere.";

/// The sentence for an error of SQLite, with what to do about it.
fn failure(path: &Path, doing: &str, error: &rusqlite::Error) -> Failure {
    if let rusqlite::Error::FromSqlConversionFailure(_, _, why) = error {
        let path = shown(path);
        return Failure::failed(format!(
            "cannot {doing} the store {path}: a document in it is none that this boatload reads: {why}"
        ));
    }
    let (what, advice) = match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => ("it is not a database".into(), ELSEWHERE),
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
            ("it cannot be written".into(), ELSEWHERE)
        }
        Some(ErrorCode::CannotOpen) if doing == READ => {
            ("the file cannot be opened".into(), ELSEWHERE)
        }
        Some(ErrorCode::CannotOpen) => {
            ("the file cannot be opened or made for writing".into(), ELSEWHERE)
        }
        Some(ErrorCode::DatabaseBusy) => (
            "another program has been writing to it for too long".into(),
            "Try again when it is done.",
        ),
        Some(ErrorCode::DiskFull) => ("no space is left there".into(), ELSEWHERE),
        _ => (error.to_string(), ELSEWHERE),
    };
    Failure::failed(format!("cannot {doing} the store {}: {what}. {advice}", shown(path)))
}

fn insert_measurement(connection: &Connection, run_id: &str, one: &Measurement) -> StoreResult<()> {
    let insert = "INSERT INTO measurement_documents (run_id, document) VALUES (?1, ?2)";
    connection.prepare_cached(insert)?.execute(params![run_id, json(one)?])?;
    Ok(())
}

#[cfg(test)]
mod tests;
