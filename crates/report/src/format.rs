//! Defines what a report is.

use std::io::{self, Write};

use boatload_analysis::Analysis;

/// One way to write a run.
pub struct ReportFormat {
    /// What the rest of boatload calls it.
    pub name: &'static str,
    /// Writes the run. Fails only if the output does.
    pub render: fn(&Analysis<'_>, &mut dyn Write) -> io::Result<()>,
}
