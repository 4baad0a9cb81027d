//! Finds and makes the file of a store, and has SQLite open it and the files next to it only where they are what they should be.
#![expect(
    unsafe_code,
    reason = "SQLite takes the function that opens files through its interface for C"
)]

use std::ffi::{CStr, OsStr, c_char, c_int};
use std::fs::Metadata;
use std::io::{Error, Result};
use std::os::fd::IntoRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rusqlite::ffi;
use rustix::fs::{Mode, OFlags};

use boatload_base::output::{Output, open_file};

/// What SQLite adds to the name of a database for the files next to it.
const BESIDE: [&str; 3] = ["-journal", "-wal", "-shm"];

/// The path at which SQLite is to open a store to write, behind all links; the file is made if it is missing.
///
/// # Errors
/// If that file, or one that SQLite would use next to it, is not what this process or one of its user made; and if it cannot be
/// made.
pub(super) fn place_to_write(path: &Path) -> Result<PathBuf> {
    open_through_checks()?;
    let output = Output::find(path)?;
    match output.file()? {
        Some(file) if file.len() == 0 && !is_just_made(file) => {
            return Err(Error::other(
                "it is an empty file that boatload did not make: remove it if nothing needs it",
            ));
        }
        Some(file) => has_one_name(file)?,
        None => output.make_private()?,
    }
    for ending in BESIDE {
        let beside = output.beside(ending);
        let beside = beside.and_then(|beside| beside.file()?.map_or(Ok(()), has_one_name));
        beside.map_err(|error| {
            Error::other(format!("its file with the ending {ending} is refused: {error}"))
        })?;
    }
    output.path()
}

/// Another name of a file can be a link to one that nobody meant; and by two names SQLite would keep two journals.
fn has_one_name(file: &Metadata) -> Result<()> {
    match file.nlink() {
        0 | 1 => Ok(()),
        names => Err(Error::other(format!(
            "it is a file with {names} names (hard links), and a store would change it under each: remove it, or use a copy"
        ))),
    }
}

/// Whether an empty file can be what boatload makes before SQLite fills it: its user's alone, with one name.
fn is_just_made(file: &Metadata) -> bool {
    let is_own = file.uid() == rustix::process::geteuid().as_raw();
    is_own && file.mode() & 0o177 == 0 && file.nlink() == 1
}

/// From now on SQLite opens each file through [`open_file`]: what is checked is what it works on.
///
/// # Errors
/// If it refuses.
pub(super) fn open_through_checks() -> Result<()> {
    static IS_SET: OnceLock<bool> = OnceLock::new();
    let set = || {
        type Open = unsafe extern "C" fn(*const c_char, c_int, c_int) -> c_int;
        // SAFETY: the default VFS lives as long as the process. Its call "open" is a function with these arguments
        // (`osOpen` in os_unix.c), and all functions have pointers of one size.
        unsafe {
            let vfs = ffi::sqlite3_vfs_find(std::ptr::null());
            let call = std::mem::transmute::<Open, unsafe extern "C" fn()>(open);
            let set = vfs.as_ref().and_then(|vfs| vfs.xSetSystemCall);
            set.is_some_and(|set| set(vfs, c"open".as_ptr(), Some(call)) == ffi::SQLITE_OK)
        }
    };
    match IS_SET.get_or_init(set) {
        true => Ok(()),
        false => Err(Error::other("SQLite does not let boatload check the files that it opens")),
    }
}

/// open(2) for SQLite.
unsafe extern "C" fn open(path: *const c_char, flags: c_int, mode: c_int) -> c_int {
    // SAFETY: SQLite gives a path that ends with a zero.
    let path = Path::new(OsStr::from_bytes(unsafe { CStr::from_ptr(path) }.to_bytes()));
    let flags = OFlags::from_bits_retain(flags.cast_unsigned());
    match open_file(path, flags, Mode::from_raw_mode(mode.cast_unsigned())) {
        Ok(file) => file.into_raw_fd(),
        Err(error) => {
            // After this one SQLite does not try to open the file only to read it.
            let code = error.raw_os_error().unwrap_or(libc::EISDIR);
            // SAFETY: it is this thread's own.
            unsafe { *libc::__errno_location() = code };
            -1
        }
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::{Connection, OpenFlags};

    use super::*;

    #[test]
    fn what_takes_the_place_of_a_store_after_it_was_checked_is_not_opened_by_sqlite() {
        let folder = tempfile::tempdir().unwrap();
        let [empty, second, pipe] =
            ["empty", "second", "pipe"].map(|name| folder.path().join(name));
        std::fs::write(&empty, "").unwrap();
        std::fs::hard_link(&empty, &second).unwrap();
        let mode = Mode::RUSR | Mode::WUSR;
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        open_through_checks().unwrap();
        for flags in [OpenFlags::SQLITE_OPEN_READ_WRITE, OpenFlags::SQLITE_OPEN_READ_ONLY] {
            assert!(Connection::open_with_flags(&pipe, flags).is_err());
        }
        let create =
            || Connection::open(&empty).and_then(|made| made.execute_batch("CREATE TABLE t (a)"));
        assert!(create().is_err());
        assert_eq!(std::fs::metadata(&empty).unwrap().len(), 0);
        std::fs::remove_file(&second).unwrap();
        create().unwrap();
    }
}
