//! Writes a short report in GitHub's Markdown: the answer, its table, all findings folded, the host, and the commands that
//! repeat it.

use super::format::{ExportFormat, ExportText, only};
use crate::answer_table::{shown_rows, table_of};
use crate::first_screen::about_reliability;
use crate::page::run_facts;
use crate::phases::{figures_table, phase_notes};
use boatload_analysis::Analysis;
use boatload_analysis::finding::Finding;
use boatload_base::failure::shown;

pub(super) const MARKDOWN: ExportFormat = ExportFormat {
    name: "markdown",
    about: "conclusions, a table and the host, to paste into an issue",
    texts: account,
};

/// Rows of the table of an answer; all figures stand folded below it.
const ROWS_MAX: usize = 24;

fn account(analysis: &Analysis<'_>) -> Result<Vec<ExportText>, String> {
    let run = &analysis.book.run;
    let warnings = analysis.findings().iter().filter(|finding| finding.is_warning());
    let mut blocks = vec![format!("### {}: {}", plain(&run.scenario), plain(&run.question))];
    if let Some(answer) = analysis.answer() {
        blocks.push(format!("**{}**", plain(&answer.statement.to_string())));
        blocks.push(plain(&about_reliability(answer)));
    }
    if run.reference.is_none() {
        let table = analysis.answer_table();
        let named = analysis.answer().map(|answer| answer.statement.clone()).unwrap_or_default();
        let rows = shown_rows(&table, &named, ROWS_MAX);
        blocks.push(table_of(&table, &rows, table.columns.len()).markdown(plain));
        blocks.push(plain(&table.notes_of(&rows, table.columns.len())));
    }
    let findings = list(analysis.statements().iter().map(|sentence| plain(sentence)));
    let warnings = list(warnings.map(sentence));
    let notes = list(phase_notes(analysis.summary()).iter().map(|note| plain(note)));
    let figures = figures_table(analysis);
    let figures = figures.map_or("Nothing was measured.".into(), |table| table.markdown(plain));
    let all = [findings, figures, notes, warnings];
    let all: Vec<String> = all.into_iter().filter(|block| !block.is_empty()).collect();
    blocks.push(match run.reference {
        Some(_) => all.join("\n\n"),
        None => folded("All findings and figures", &all.join("\n\n")),
    });
    blocks.push(list(facts(analysis)));
    if !run.command.is_empty() {
        blocks.push(format!("To repeat it:\n\n{}", fenced(&run.command)));
    }
    blocks.retain(|block| !block.is_empty());
    Ok(only(analysis.book, "md", blocks.join("\n\n") + "\n"))
}

fn folded(title: &str, text: &str) -> String {
    format!("<details><summary>{title}</summary>\n\n{text}\n\n</details>")
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

fn facts(analysis: &Analysis<'_>) -> impl Iterator<Item = String> {
    let notes = analysis.book.run.reference.iter().flat_map(|reference| reference.notes.clone());
    let facts = run_facts(analysis).into_iter().map(|(name, text)| format!("{name}: {text}"));
    facts.chain(notes).map(|fact| plain(&fact))
}
