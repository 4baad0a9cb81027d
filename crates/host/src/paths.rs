//! Finds the directories for boatload's own data, by the XDG Base Directory Specification.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use boatload_base::failure::{Failure, Result};

/// The store's path, if the user names none: `$XDG_DATA_HOME/boatload/boatload.db`, else below
/// `$HOME/.local/share`. Nothing is created.
///
/// # Errors
/// If neither variable holds an absolute path.
pub fn default_store() -> Result<PathBuf> {
    store_below(std::env::var_os("XDG_DATA_HOME"), std::env::var_os("HOME"))
}

fn store_below(data_home: Option<OsString>, home: Option<OsString>) -> Result<PathBuf> {
    // The specification has relative paths in these variables ignored.
    let absolute = |path: OsString| Path::new(&path).is_absolute().then(|| PathBuf::from(path));
    data_home
        .and_then(absolute)
        .or_else(|| Some(home.and_then(absolute)?.join(".local/share")))
        .map(|data| data.join("boatload/boatload.db"))
        .ok_or_else(|| {
            Failure::usage(
                "cannot tell where to keep results: neither XDG_DATA_HOME nor HOME holds an \
                 absolute path. Set one of them, or name a file with --store FILE.",
            )
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store(data_home: Option<&str>, home: Option<&str>) -> Result<PathBuf> {
        store_below(data_home.map(OsString::from), home.map(OsString::from))
    }

    #[test]
    fn the_data_home_comes_first_and_the_home_after_it() {
        assert_eq!(store(Some("/d"), Some("/h")).unwrap(), Path::new("/d/boatload/boatload.db"));
        let below_home = Path::new("/h/.local/share/boatload/boatload.db");
        assert_eq!(store(None, Some("/h")).unwrap(), below_home);
        assert_eq!(store(Some(""), Some("/h")).unwrap(), below_home, "empty is unset");
        assert_eq!(store(Some("relative"), Some("/h")).unwrap(), below_home);
    }

    #[test]
    fn without_either_the_error_says_what_to_set() {
        let failure = store(Some("relative"), None).unwrap_err();
        assert!(failure.sentence.contains("--store FILE"), "{failure}");
    }
}
