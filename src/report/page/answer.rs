//! What is concluded: sentences first, then what warns of them.

use super::super::comparison::comparison_sentences;
use super::blocks::{PageBlock, PageSentence};
use crate::analysis::Analysis;
use crate::analysis::compare::Comparison;
use crate::analysis::compare::differences::letter;
use crate::analysis::finding::Finding;

/// The sentences of all runs, those of a comparison before them.
pub(super) fn answer(
    analyses: &[&Analysis<'_>],
    comparison: Option<&Comparison>,
) -> Vec<PageBlock> {
    let mut blocks = Vec::new();
    if let Some(comparison) = comparison {
        let all = comparison_sentences(comparison).into_iter().map(PageSentence::plain).collect();
        blocks.extend(PageBlock::sentences("findings", all));
    }
    for (at, analysis) in analyses.iter().enumerate() {
        if analyses.len() > 1 {
            let heading = format!("{}: {}", letter(at), analysis.book.run.id);
            blocks.push(PageBlock::Heading(heading));
        }
        blocks.extend(of_run(analysis).into_iter().flatten());
    }
    blocks
}

fn of_run(analysis: &Analysis<'_>) -> [Option<PageBlock>; 2] {
    let book = analysis.book;
    let (warnings, answers): (Vec<_>, Vec<_>) =
        analysis.findings().iter().partition(|finding| finding.is_warning());
    let answers = answers.into_iter().map(|finding| PageSentence::plain(finding.sentence()));
    let found = PageBlock::sentences("findings", answers.collect());
    let notes = book.run.reference.iter().flat_map(|reference| &reference.notes);
    let notes =
        notes.map(|note| PageSentence { lead: "note", ..PageSentence::plain(note.clone()) });
    let warned = warnings.into_iter().map(warning).chain(notes).collect();
    let none = "Nothing is concluded from this run: it compares nothing, and nothing grows in it. Its \
                figures are below.";
    let found = found.unwrap_or_else(|| PageBlock::Empty(none.into()));
    [Some(found), PageBlock::sentences("warnings", warned)]
}

fn warning(finding: &Finding) -> PageSentence {
    PageSentence { lead: "warning", text: finding.sentence(), hint: finding.hint().to_string() }
}
