//! A short account for a text in Markdown, as GitHub reads it: what is concluded, the figures in one
//! table, where it was measured, and how to do it again.

use super::labels::has_variants;
use super::{Export, ExportText, only};
use crate::base::failure::shown;
use crate::base::units::Unit;
use crate::measure::analysis::Analysis;
use crate::measure::book::Book;
use crate::measure::finding::Finding;
use crate::measure::summary::{PhaseSummary, Summary, VariantSummary};
use crate::report::names::{cell_name, level_value};
use crate::report::phases::about_interval;
use crate::report::provenance::{about_system, is_latencies_only};
use crate::report::terminal::{about_machine, about_place};
use crate::report::text::{byte_rate, number, short_seconds, short_time, uncertainty};

pub(super) struct Markdown;

impl Export for Markdown {
    fn name(&self) -> &'static str {
        "markdown"
    }

    fn about(&self) -> &'static str {
        "conclusions, a table and the host, to paste into an issue"
    }

    fn texts(&self, analysis: &Analysis<'_>) -> Result<Vec<ExportText>, String> {
        let (book, summary) = (analysis.book, analysis.summary());
        let run = &book.run;
        let (warnings, answers): (Vec<_>, Vec<_>) =
            book.findings.iter().partition(|finding| finding.is_warning());
        let mut blocks = vec![format!("### {}: {}", plain(&run.scenario), plain(&run.question))];
        blocks.push(list(answers.into_iter().map(sentence)));
        blocks.push(table(book, summary));
        blocks.push(plain(about_interval(summary)));
        blocks.push(list(invalid(summary)));
        blocks
            .push(list(warnings.into_iter().map(|one| format!("**warning:** {}", sentence(one)))));
        blocks.push(list(facts(book).into_iter()));
        if !run.command.is_empty() {
            blocks.push(format!("To repeat it:\n\n{}", fenced(&run.command)));
        }
        blocks.retain(|block| !block.is_empty());
        Ok(only(book, "md", blocks.join("\n\n") + "\n"))
    }
}

/// A text without a meaning in Markdown or HTML, that names nobody and links nowhere.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    for c in shown(text).chars() {
        match c {
            '<' => plain.push_str("&lt;"),
            '>' => plain.push_str("&gt;"),
            '&' => plain.push_str("&amp;"),
            // GitHub takes a word after these for a person or an issue, also behind a backslash.
            '@' | '#' => plain.extend([c.to_string(), "<!-- -->".into()]),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '$' => plain.extend(['\\', c]),
            c => plain.push(c),
        }
    }
    plain
}

fn list(lines: impl Iterator<Item = String>) -> String {
    lines.map(|line| format!("- {line}")).collect::<Vec<_>>().join("\n")
}

fn sentence(finding: &Finding) -> String {
    plain(format!("{} {}", finding.sentence(), finding.hint()).trim_end())
}

/// In a fence that is longer than any in the text.
fn fenced(text: &str) -> String {
    let text = shown(text);
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat((longest + 1).max(3));
    format!("{fence}\n{text}\n{fence}")
}

fn facts(book: &Book) -> Vec<String> {
    let run = &book.run;
    if let Some(reference) = &run.reference {
        let from = [&reference.title, &reference.publisher, &reference.published];
        let from = from.map(String::as_str).join("; ");
        let head = [
            format!("Published, not measured by boatload: {from}"),
            format!("Measured on {}", about_system(reference, &book.host)),
        ];
        return head.iter().chain(&reference.notes).map(|fact| plain(fact)).collect();
    }
    let mut facts = vec![
        format!("Measured on {}", about_place(book)),
        format!("Machine: {}", about_machine(&book.host)),
        format!(
            "Run {} of {}, {} scale, seed {}, boatload {}",
            run.id, run.started, run.scale, run.seed, run.boatload
        ),
    ];
    if !run.complete {
        facts.push("Incomplete: not every cell was done".into());
    }
    facts.iter().map(|fact| plain(fact)).collect()
}

fn invalid(summary: &Summary) -> impl Iterator<Item = String> {
    summary.groups.iter().flat_map(|group| {
        group.rows.iter().flat_map(move |row| {
            row.invalid.iter().map(move |one| {
                let of = cell_name(&group.variant, group.level.as_ref());
                let reasons = one.reasons.join("; ");
                plain(&format!("invalid: {} of {of}, repeat {}: {reasons}", row.phase, one.repeat))
            })
        })
    })
}

/// A longer table is folded away.
const ROWS_MAX: usize = 30;

fn table(book: &Book, summary: &Summary) -> String {
    if is_latencies_only(book, summary) {
        return "Only latencies of single operations were published: `--format csv-windows`."
            .into();
    }
    let columns = Columns {
        variants: has_variants(book),
        axis: summary.levels().first().map(|level| level.axis.clone()),
        sync: summary.rows().any(|row| row.sync_seconds.is_some()),
        tail: summary.rows().any(|row| row.tail.is_some()),
    };
    let rows: Vec<_> = summary.groups.iter().flat_map(|group| columns.rows(group)).collect();
    if rows.is_empty() {
        return "Nothing was measured.".into();
    }
    let lines = columns.heads().into_iter().chain(rows.iter().map(|row| line(row)));
    let lines: Vec<String> = lines.collect();
    let table = lines.join("\n");
    if rows.len() > ROWS_MAX {
        let count = rows.len();
        return format!("<details><summary>{count} rows</summary>\n\n{table}\n\n</details>");
    }
    table
}

fn line(cells: &[String]) -> String {
    format!("| {} |", cells.iter().map(|cell| plain(cell)).collect::<Vec<_>>().join(" | "))
}

/// Columns that not every run has.
struct Columns {
    variants: bool,
    axis: Option<String>,
    sync: bool,
    tail: bool,
}

impl Columns {
    /// The line of names, and the one that says how cells stand.
    fn heads(&self) -> [String; 2] {
        let mut words: Vec<String> = Vec::new();
        words.extend(self.variants.then(|| "variant".into()));
        words.extend(self.axis.clone());
        words.push("phase".into());
        let mut numbers = vec!["rate", "±", "n", "seconds"];
        numbers.extend(self.sync.then_some("sync"));
        numbers.extend(["p50", "p99", "max"].into_iter().filter(|_| self.tail));
        let ways = vec!["---"; words.len()].into_iter().chain(vec!["--:"; numbers.len()]);
        let ways = ways.chain(["---"]).collect::<Vec<_>>().join(" | ");
        words.extend(numbers.into_iter().chain(["cache"]).map(String::from));
        [line(&words), format!("| {ways} |")]
    }

    fn rows(&self, group: &VariantSummary) -> Vec<Vec<String>> {
        group.rows.iter().filter(|row| row.rate.is_some()).map(|row| self.row(group, row)).collect()
    }

    fn row(&self, group: &VariantSummary, row: &PhaseSummary) -> Vec<String> {
        let mut cells = Vec::new();
        cells.extend(self.variants.then(|| group.variant.clone()));
        let level = group.level.as_ref().map_or_else(|| "-".into(), level_value);
        cells.extend(self.axis.as_ref().map(|_| level));
        cells.push(format!("{}{}", row.phase, if row.disturbed > 0 { " (disturbed)" } else { "" }));
        let rate = row.rate.map(|rate| match row.rate_unit {
            Unit::Bytes => byte_rate(rate.mean, rate.figures),
            _ => format!("{} ops/s", number(rate.mean, rate.figures)),
        });
        cells.push(rate.unwrap_or_else(|| "-".into()));
        cells.push(uncertainty(row.rate.and_then(|rate| rate.relative())));
        cells.push(row.rate.map_or_else(|| "-".into(), |rate| rate.n.to_string()));
        cells.push(short_seconds(row.seconds));
        cells.extend(self.sync.then(|| short_seconds(row.sync_seconds)));
        if self.tail {
            let time = |ns: Option<u64>| short_time(ns.map(|ns| ns as f64));
            let tail = row.tail;
            cells.push(time(tail.and_then(|tail| tail.p50_ns)));
            cells.push(time(tail.and_then(|tail| tail.p99_ns)));
            cells.push(time(tail.map(|tail| tail.max_ns)));
        }
        cells.push(row.cache.clone());
        cells
    }
}
