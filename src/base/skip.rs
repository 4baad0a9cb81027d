//! Says what a test of the library could not test, and why, as the tests beside the library do.

use std::io::Write;

/// Says it on standard error, and in the file that `BOATLOAD_SKIPS` names.
pub(crate) fn skip(what: &str, why: &str) {
    let line = format!("SKIP: {what}: {why}\n");
    std::io::stderr().write_all(line.as_bytes()).unwrap();
    if let Some(path) = std::env::var_os("BOATLOAD_SKIPS") {
        let mut file = std::fs::OpenOptions::new().append(true).create(true).open(path).unwrap();
        file.write_all(line.as_bytes()).unwrap();
    }
}
