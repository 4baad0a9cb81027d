//! The run document, as `--json` writes it. It is what `import` reads.

use super::{Export, ExportText, only};
use crate::measure::analysis::Analysis;
use crate::report::Report;
use crate::report::json::Json;

pub(super) struct Document;

impl Export for Document {
    fn name(&self) -> &'static str {
        "json"
    }

    fn about(&self) -> &'static str {
        "the run document, which `boatload import` reads"
    }

    fn texts(&self, analysis: &Analysis<'_>) -> Result<Vec<ExportText>, String> {
        let mut bytes = Vec::new();
        Json.render(analysis, &mut bytes).map_err(|error| error.to_string())?;
        Ok(only(analysis.book, "json", String::from_utf8_lossy(&bytes).into_owned()))
    }
}
