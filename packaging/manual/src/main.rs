//! Writes the man pages of boatload into a directory: `boatload-manual DIR 2026-11-28`. ./dist puts them into packages.

mod pages;

use std::io::{self, ErrorKind};
use std::path::Path;

fn main() -> io::Result<()> {
    let mut words = std::env::args().skip(1);
    match (words.next(), words.next()) {
        (Some(directory), Some(date)) => pages::write(Path::new(&directory), &date),
        _ => Err(io::Error::new(
            ErrorKind::InvalidInput,
            "name a directory and a date: DIR 2026-11-28",
        )),
    }
}
