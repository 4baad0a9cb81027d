//! What is concluded: sentences first, then what warns of them.

use super::super::compare::sentences;
use super::escape::escape;
use crate::measure::analysis::Analysis;
use crate::measure::book::Finding;
use crate::measure::compare::Comparison;
use crate::measure::differences::letter;

/// More of them are folded away.
const OPEN_MAX: usize = 12;

/// The sentences of all runs, those of a comparison before them.
pub(super) fn answer(analyses: &[&Analysis<'_>], comparison: Option<&Comparison>) -> String {
    let mut html = String::new();
    if let Some(comparison) = comparison {
        let said = sentences(comparison);
        html += &list("findings", said.iter().map(|text| format!("<li>{}</li>", escape(text))));
    }
    for (at, analysis) in analyses.iter().enumerate() {
        if analyses.len() > 1 {
            html += &format!("<h3>{}: {}</h3>\n", letter(at), escape(&analysis.book.run.id));
        }
        html += &of_run(analysis);
    }
    html
}

fn of_run(analysis: &Analysis<'_>) -> String {
    let book = analysis.book;
    let (warnings, answers): (Vec<_>, Vec<_>) =
        book.findings.iter().partition(|finding| finding.kind == "warning");
    let found = list("findings", answers.into_iter().map(sentence));
    let notes = book.run.reference.iter().flat_map(|reference| &reference.notes);
    let notes = notes.map(|note| format!("<li><b>note:</b> {}</li>", escape(note)));
    let warned = warnings.into_iter().map(warning).chain(notes);
    let none = "<p class=\"none\">Nothing is concluded from this run: it compares nothing, and \
                nothing grows in it. Its figures are below.</p>\n";
    format!("{}{}", if found.is_empty() { none } else { &found }, list("warnings", warned))
}

fn sentence(finding: &Finding) -> String {
    format!("<li>{}</li>", escape(&finding.sentence))
}

fn warning(finding: &Finding) -> String {
    let hint = finding.figures.get("hint").and_then(|hint| hint.as_str()).unwrap_or_default();
    let hint = if hint.is_empty() {
        String::new()
    } else {
        format!(" <span class=\"hint\">{}</span>", escape(hint))
    };
    format!("<li><b>warning:</b> {}{hint}</li>", escape(&finding.sentence))
}

/// A list, of which the rest is folded away when it is long; empty without items.
fn list(class: &str, items: impl Iterator<Item = String>) -> String {
    let items: Vec<String> = items.collect();
    let (open, folded) = items.split_at(items.len().min(OPEN_MAX));
    let whole = |items: &[String]| format!("<ul class=\"{class}\">\n{}\n</ul>\n", items.join("\n"));
    match (open, folded) {
        ([], _) => String::new(),
        (_, []) => whole(open),
        _ => {
            let (many, rest) = (folded.len(), whole(folded));
            let more = format!("<details><summary>{many} more</summary>\n{rest}</details>\n");
            whole(open) + &more
        }
    }
}
