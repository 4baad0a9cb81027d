//! What it takes to do a run again.

use super::blocks::PageBlock;
use crate::analysis::Analysis;

/// The command, the parameters and the job file of a run. Nothing of the kind is known of published
/// figures.
pub(super) fn repeat(analysis: &Analysis<'_>) -> Vec<PageBlock> {
    let run = &analysis.book.run;
    if run.reference.is_some() {
        let none = "Published figures; what made them is not at hand.";
        return vec![PageBlock::Empty(none.into())];
    }
    let mut blocks = vec![PageBlock::Command(run.command.clone())];
    let parameters = run.parameters.iter().map(|(name, value)| format!("{name} = {value}"));
    let parameters: Vec<String> = parameters.collect();
    if !parameters.is_empty() {
        let with = format!("with {}; seed {}", parameters.join(", "), run.seed);
        blocks.push(PageBlock::Note(with));
    }
    blocks.extend((!run.job.is_empty()).then(|| PageBlock::JobFile(run.job.clone())));
    blocks
}
