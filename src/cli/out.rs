//! Writing to the terminal: results to standard output, everything else to standard error.

use std::io::{ErrorKind, Write};

use crate::base::failure::{Failure, Result};

/// Writes a result. A reader that has gone away (`| head`) has seen enough: not an error.
pub(super) fn print(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    match written {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::from_system("write to standard output", error))
        }
        _ => Ok(()),
    }
}

/// Writes a line about what is going on.
pub(super) fn note(text: &str) {
    // Nobody can be told that standard error is gone.
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// Writes why the command ends.
pub(super) fn complain(text: &str) {
    note(&format!("boatload: {text}"));
}
