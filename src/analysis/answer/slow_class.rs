//! Answers where operations of a traced program take longest.

use super::Verdict;
use super::draft::{AnswerDraft, Lack};
use crate::analysis::findings::say;
use crate::analysis::findings::slow_class::SlowClassFinding;
use crate::results::book::TraceBy;

/// From what was found of all phases.
pub(super) fn slow_class(by: TraceBy, all: &[&SlowClassFinding]) -> AnswerDraft {
    let classes = match by {
        TraceBy::Directory => "directories",
        TraceBy::Size => "sizes",
        TraceBy::PathDepth => "depths",
    };
    let slower = all.iter().filter(|one| one.is_slower());
    if let Some(most) = slower.max_by(|a, b| a.excess_ns().total_cmp(&b.excess_ns())) {
        let text = format!(
            "{} takes longer {}: {} times ({}) as long as {}",
            most.phase,
            most.place(),
            say::times(most.ratio),
            say::span(most.interval),
            most.reference()
        );
        return AnswerDraft::measured(text, others(all, &most.phase), Lack::Nothing);
    }
    let Some(widest) = all.iter().max_by(|a, b| a.interval.high.total_cmp(&b.interval.high)) else {
        let text = format!("no two {classes} have 256 successful calls of one operation each");
        return AnswerDraft::cannot_tell(Lack::Precision, text, Vec::new());
    };
    let high = say::times(widest.interval.high);
    if all.iter().all(|one| one.is_alike()) {
        let text = format!(
            "where an operation takes longest on average, it takes at most {high} times as long as in the median of the {classes} compared"
        );
        return AnswerDraft::proven(Verdict::No, text, others(all, ""));
    }
    let text = format!(
        "{} may take up to {high} times as long {} as {}",
        widest.phase,
        widest.place(),
        widest.reference()
    );
    AnswerDraft::cannot_tell(Lack::Precision, text, others(all, &widest.phase))
}

/// What is said of the other phases, those with the most time first.
fn others(all: &[&SlowClassFinding], but: &str) -> Vec<String> {
    let mut others: Vec<_> = all.iter().filter(|one| one.phase != but).collect();
    others.sort_by(|a, b| b.excess_ns().total_cmp(&a.excess_ns()));
    others.into_iter().map(|one| one.sentence()).collect()
}
