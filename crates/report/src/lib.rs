//! Writes an analysis as text, pages, charts and documents. Figures are computed in `analysis`, not here.

mod answer_table;
mod audit;
mod charts;
mod comparison;
mod crash;
mod export;
mod filesystems;
mod first_screen;
mod format;
mod head;
mod host;
mod json;
mod lists;
mod markup;
mod names;
mod page;
mod phases;
mod ranks;
mod selftest;
mod table;
mod terminal;
pub mod text;

pub use audit::{write_audits, write_audits_json};
pub use comparison::{
    RUNS_MAX, write_check, write_check_json, write_comparison, write_comparison_json,
};
pub use crash::{write_crash, write_crash_json};
pub use export::{EXPORTS, ExportFormat, ExportText, find_export};
pub use format::ReportFormat;
pub use host::host_lines;
pub use json::{DOCUMENT_BYTES_MAX, read_document};
pub use lists::{write_references, write_runs, write_runs_json};
pub use page::{PAGE_RUNS_MAX, page_text};
pub use selftest::{write_same, write_slower, write_twins};
pub use terminal::write_screen;

/// Every report that a command can ask for.
pub const REPORTS: &[ReportFormat] = &[terminal::DETAILS, json::JSON, terminal::TERMINAL];

/// The report with this name.
pub fn find_report(name: &str) -> Option<&'static ReportFormat> {
    REPORTS.iter().find(|report| report.name == name)
}

#[cfg(test)]
mod tests;
