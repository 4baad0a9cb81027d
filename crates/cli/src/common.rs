//! Holds what commands share: the store, the command line that was typed, files that are read, how a run ends.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::{Args, ColorChoice};

use boatload_base::failure::{Exit, Failure, Result, shown};
use boatload_base::files::{open_to_read, read_start_of};
use boatload_base::shell;
use boatload_host::paths;
use boatload_results::book::Book;
use boatload_results::store::Store;

// A command that needs the store. A comment for users here would take the place of the command's.
#[derive(Args)]
pub(super) struct Stored<C: Args> {
    #[command(flatten)]
    pub(super) command: C,
    #[command(flatten)]
    pub(super) store: StorePlace,
}

// Where results are kept: opened only when they are needed.
#[derive(Args)]
pub(super) struct StorePlace {
    /// The store of results [default: ~/.local/share/boatload/boatload.db]
    // Behind the arguments of each command, whatever their number.
    #[arg(long, value_name = "FILE", display_order = 900, global = true, hide_short_help = true)]
    #[arg(env = STORE_VARIABLE, hide_env_values = true)]
    pub(super) store: Option<PathBuf>,
}

/// Names the store where `--store` does not.
const STORE_VARIABLE: &str = "BOATLOAD_STORE";

/// Names the directory to work in where `--dir` does not.
pub(super) const DIRECTORY_VARIABLE: &str = "BOATLOAD_DIR";

// When help and errors have colours. It is read before the command line is parsed.
#[derive(Args, Clone, Copy)]
pub(super) struct ColorUse {
    /// Colours of help and errors: auto, always or never
    #[arg(
        long = "color",
        value_name = "WHEN",
        default_value = "auto",
        display_order = 901,
        global = true
    )]
    #[arg(hide_short_help = true, hide_possible_values = true)]
    _color: ColorChoice,
}

impl StorePlace {
    /// The one that the environment names, or the default.
    pub(super) fn of_environment() -> Self {
        Self { store: std::env::var_os(STORE_VARIABLE).map(PathBuf::from) }
    }

    pub(super) fn path(&self) -> Result<PathBuf> {
        self.store.clone().map_or_else(paths::default_store, Ok)
    }

    /// To write; it is made if it is missing.
    pub(super) fn open(&self) -> Result<Store> {
        Store::open(self.path()?)
    }

    /// To read; `None` when there is no store yet.
    pub(super) fn open_to_read(&self) -> Result<Option<Store>> {
        let path = self.path()?;
        // Where that is unknown, opening it says why.
        let is_there = path.try_exists().unwrap_or(true);
        if is_there { Store::open_to_read(path).map(Some) } else { Ok(None) }
    }
}

/// The same of a command that works in `directory`, which it names also where the environment did: so it means the same later.
pub(super) fn command_line_in(directory: &Path) -> String {
    let mut words: Vec<OsString> = std::env::args_os().collect();
    let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
    let is_named = words[..end].iter().any(|word| word.as_encoded_bytes().starts_with(b"--dir"));
    if !is_named && directory != Path::new(".") {
        words.splice(end..end, ["--dir".into(), directory.into()]);
    }
    shell::command_line(words)
}

/// What a file has, at most a byte more than may be read; `-` is standard input.
///
/// # Errors
/// If it cannot be read.
pub(super) fn read_input(path: &Path, bytes_max: u64) -> Result<Vec<u8>> {
    let most = usize::try_from(bytes_max).unwrap_or(usize::MAX).saturating_add(1);
    let bytes = match path == Path::new("-") {
        true => read_start_of(std::io::stdin(), most),
        false => open_to_read(path).and_then(|file| read_start_of(file, most)),
    };
    bytes.map_err(|error| Failure::from_system(format!("read {}", shown(path)), error))
}

/// Good, unless a measurement is invalid.
pub(super) fn exit_of(book: &Book) -> Exit {
    if book.measurements.iter().all(|m| m.valid()) { Exit::Good } else { Exit::Invalid }
}
