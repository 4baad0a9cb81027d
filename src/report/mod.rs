//! Renderings of a run. Nothing is computed here: figures come from `measure`, a report only
//! writes them.

mod amplification;
mod comparison;
mod course;
mod export;
mod figures;
mod filesystems;
mod grid;
mod host;
mod json;
mod matrix;
mod names;
mod page;
mod phases;
mod place;
mod plot;
mod provenance;
mod references_table;
mod runs_table;
mod selftest;
mod table;
mod terminal;
pub(crate) mod text;
mod variance;
mod windows;

use std::io::{self, Write};

use crate::measure::analysis::Analysis;

pub use comparison::{
    RUNS_MAX, write_check, write_check_json, write_comparison, write_comparison_json,
    write_side_by_side,
};
pub use export::{EXPORTS, Export, ExportText, find_export};
pub use host::host_lines;
pub use json::{DOCUMENT_BYTES_MAX, ReadDocument, read_document};
pub use page::{PAGE_RUNS_MAX, page_text};
pub use plot::{Colours, Style, plain, write_plots};
pub use references_table::write_references;
pub use runs_table::write_runs;
pub use selftest::{write_same, write_simulated, write_slower};
pub use terminal::write_plotted;

/// One way to write a run.
pub trait Report: Sync {
    /// Its name on the command line.
    fn name(&self) -> &'static str;

    /// Writes the run. Fails only if `out` does.
    fn render(&self, analysis: &Analysis<'_>, out: &mut dyn Write) -> io::Result<()>;
}

/// Every report that a command can ask for.
pub const REPORTS: &[&dyn Report] = &[
    &phases::Details,
    &host::Host,
    &json::Json,
    &terminal::Terminal,
    &variance::Variance,
    &windows::Windows,
];

/// The report with this name.
pub fn find_report(name: &str) -> Option<&'static dyn Report> {
    REPORTS.iter().find(|report| report.name() == name).copied()
}

#[cfg(test)]
mod tests;
