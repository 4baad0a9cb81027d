//! Writes distributions of latencies as HdrHistogram's own programs do, for its plotter
//! (<https://hdrhistogram.github.io/HdrHistogram/plotFiles.html>): a file for each phase of each variant
//! at each level. Latencies are in microseconds. The plotter passes over lines that begin with `#`, so
//! what a file tells of stands in one at its end.

use std::collections::BTreeSet;

use super::format::{ExportFormat, ExportText, safe};
use crate::names::{cell_name, plain_level, unused};
use boatload_analysis::Analysis;
use boatload_analysis::latencies::Distribution;
use boatload_base::failure::shown;
use boatload_base::units::Unit;
use boatload_results::book::{Book, Level};

pub(super) const HGRM: ExportFormat = ExportFormat {
    name: "hgrm",
    about: "percentiles of latencies for HdrHistogram's plotter, a file for each phase",
    texts: percentiles,
};

fn percentiles(analysis: &Analysis<'_>) -> Result<Vec<ExportText>, String> {
    let (book, all) = (analysis.book, analysis.distributions());
    if all.is_empty() {
        return Err("no histogram of its latencies was kept".into());
    }
    let named = analysis.summary().has_variants();
    let mut names = BTreeSet::new();
    let file = |one: &Distribution| {
        let stem = file_stem(one, named);
        // Two names may be the same once they are safe.
        let numbered = |number| format!("{stem}-{number}.hgrm");
        let name = unused(format!("{stem}.hgrm"), numbered, &mut names);
        ExportText { name, text: text(one, book) }
    };
    Ok(all.iter().map(file).collect())
}

/// What a file is named after: `create-ext4-65percent`.
fn file_stem(one: &Distribution, named: bool) -> String {
    let unit = |level: &Level| if level.unit == Unit::Count { "" } else { level.unit.as_str() };
    let level = one.level.as_ref().map(|level| plain_level(level) + unit(level));
    let parts = [Some(one.phase.clone()), named.then(|| one.variant.clone()), level];
    parts.iter().flatten().map(|part| safe(part)).collect::<Vec<_>>().join("-")
}

fn text(one: &Distribution, book: &Book) -> String {
    let mut text = format!(
        "{:>12} {:>14} {:>10} {:>14}\n\n",
        "Value", "Percentile", "TotalCount", "1/(1-Percentile)"
    );
    for step in &one.steps {
        let (value, quantile) = (step.value_ns as f64 / 1e3, step.quantile);
        text += &format!("{value:12.3} {quantile:14.12} {:10}", step.operations);
        if quantile < 1.0 {
            text += &format!(" {:14.2}", 1.0 / (1.0 - quantile));
        }
        text.push('\n');
    }
    let of = format!("{} of {}", one.phase, cell_name(&one.variant, one.level.as_ref()));
    let [of, scenario, id] = [&of, &book.run.scenario, &book.run.id].map(shown);
    text + &format!("# microseconds; {of}; {scenario} {id}\n")
}
