//! The list of published figures, for `boatload runs --references`.

use std::io::{self, Write};

use super::table::{Align, Table};
use crate::measure::book::Book;

/// A fact that was not published.
pub(super) const NOT_TOLD: &str = "not told";

/// Writes one line for each of the published figures, below the question it answers. Fails only
/// if `out` does.
pub fn write_references(references: &[Book], out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "`boatload show reference:NAME` shows one; the names:")?;
    let heads = ["name", "file system", "system", "published"];
    let mut table = Table::new(&heads.map(|head| (head, Align::Left)));
    let mut question = "";
    for book in references {
        if book.run.question != question {
            question = &book.run.question;
            table.heading(question);
        }
        let Some(reference) = &book.run.reference else { continue };
        let filesystem = match book.host.filesystem.kind.as_str() {
            "" => NOT_TOLD,
            kind => kind,
        };
        table.row(vec![
            reference.name.clone(),
            filesystem.into(),
            reference.system.clone().unwrap_or_else(|| NOT_TOLD.into()),
            year(&reference.published),
        ]);
    }
    table.write(out)
}

/// The year of a date; what else is known of it as it stands.
fn year(published: &str) -> String {
    published.split_once('-').map_or(published, |(year, _)| year).into()
}
