//! Composes the answer of a run: what its reading says, what is missing, how far to trust it, and the next command.

use super::missing::MissingParts;
use super::needed::RepeatsNeeded;
use super::reliability::{fewest_repeats, trust};
use super::{AnswerFinding, Reliability, Verdict, next};
use crate::effect_finding::EffectFinding;
use crate::figures::{RunFigures, alpha};
use crate::finding::Finding;
use crate::findings::say;
use crate::readings::answer_draft::{AnswerDraft, Lack};
use crate::repeat_step::step_over_repeats;
use crate::statement::{Part, Sentence, Statement, parts};
use boatload_results::book::{Book, Measurement};

/// The answer of a run with these findings, warnings among them, and what its reading says; none if nothing at all was
/// measured.
pub(crate) fn answer(
    analysis: &RunFigures<'_>,
    said: Option<&AnswerDraft>,
    findings: &[Finding],
) -> Option<AnswerFinding> {
    let book = analysis.book;
    if book.measurements.is_empty() {
        return None;
    }
    let trust = trust(analysis, findings);
    let missing = MissingParts::of(book);
    let mut draft = said.cloned().unwrap_or_else(|| too_little(analysis, missing.is_some()));
    let mut reliability = trust.reliability;
    let mut reason = trust.reason.clone();
    if !book.run.complete {
        (reliability, reason) = (Reliability::Low, "not all of it was measured".into());
    }
    if missing.as_ref().is_some_and(MissingParts::is_whole) && draft.verdict != Verdict::Yes {
        // Of what is missing nothing is known, so not that there is nothing, nor would more repeats show it.
        draft.statement = match draft.verdict {
            Verdict::No => draft.statement.led_by("of the others: "),
            _ => draft.statement,
        };
        let was_open = draft.verdict == Verdict::CannotTell;
        draft.verdict = Verdict::CannotTell;
        draft.is_measured |= !was_open;
        if draft.lacks != Lack::Variants {
            draft.lacks = Lack::Measurements;
        }
    }
    let is_open = draft.verdict == Verdict::CannotTell && !draft.is_measured;
    // Clean measurements that do not decide are no reason to trust an answer.
    if is_open && reliability == Reliability::High {
        (reliability, reason) = (Reliability::Medium, format!("not decided; {reason}"));
    }
    if trust.has_no_journal && draft.verdict == Verdict::CannotTell {
        draft.statement = draft.statement.and([Sentence::ranked(3, parts![NO_JOURNAL])]);
    }
    if is_open {
        draft.statement = draft.statement.led_by("not proven: ");
    }
    // What is proven of measurements that others disturbed, or of a single run, is proven of these.
    draft.verdict = match (draft.verdict, reliability) {
        (Verdict::Yes, Reliability::Low) => Verdict::Likely,
        (Verdict::No, Reliability::Low) => Verdict::LikelyNo,
        (verdict, _) => verdict,
    };
    if matches!(draft.verdict, Verdict::Likely | Verdict::LikelyNo) && !draft.is_measured {
        draft.statement = draft.statement.led_by("likely: ");
    }
    if let Some(step) = about_step(book) {
        draft.statement = draft.statement.and([step]);
    }
    if !book.run.complete {
        draft = unfinished(book, draft);
    }
    if let Some(missing) = missing.filter(|_| said.is_some() || book.run.complete) {
        draft.statement = draft.statement.behind(missing.sentence());
    }
    let effects: Vec<&EffectFinding> =
        draft.effects.iter().filter_map(|at| effect_at(findings, *at)).collect();
    let needed = RepeatsNeeded::of(&draft, &effects, alpha(book));
    Some(AnswerFinding {
        verdict: draft.verdict,
        // Before what is concluded stands the answer.
        effects: draft.effects.iter().map(|at| at + 1).collect(),
        reliability,
        reason,
        next: next::next(book, &draft, &trust, needed),
        statement: draft.statement,
    })
}

const NO_JOURNAL: &str =
    "ext4 without a journal creates files more slowly after deletions, so repeats differ";

fn effect_at(findings: &[Finding], at: usize) -> Option<&EffectFinding> {
    match findings.get(at) {
        Some(Finding::Effect(found)) => Some(found),
        _ => None,
    }
}

/// From which repeat on all takes longer, or shorter.
fn about_step(book: &Book) -> Option<Sentence> {
    let step = step_over_repeats(book)?;
    let from = parts!["from repeat ", Part::Count(step.from_repeat.to_string()), " on all phases "];
    let times = Part::Figure(say::near(step.ratio));
    let why = ": the machine or the disk changed while it was measured";
    Some(Sentence::ranked(1, parts![from, "take ", times, " times as long as before", why]))
}

/// Nothing is concluded of what was measured, and why.
fn too_little(analysis: &RunFigures<'_>, is_named: bool) -> AnswerDraft {
    let measurements = &analysis.book.measurements;
    let text = match measurements.iter().any(Measurement::valid) {
        true => "too few measurements or levels for a conclusion",
        false => "nothing is concluded",
    };
    // Repeats do not make a phase end before its limit.
    let is_limited = measurements.iter().any(Measurement::reached_limit);
    let lacks = match is_limited && fewest_repeats(analysis) > 1 || is_named {
        true => Lack::Measurements,
        false => Lack::Repeats,
    };
    let statement = Statement::new(Sentence::new(parts![text]));
    AnswerDraft { is_measured: true, ..AnswerDraft::open(lacks, statement) }
}

/// A run that is not complete: what its measurements say is no answer yet.
fn unfinished(book: &Book, draft: AnswerDraft) -> AnswerDraft {
    let text = match book.is_cut_short() {
        true => "the run was stopped before its end",
        false => "the run has not ended",
    };
    let statement = match draft.verdict {
        Verdict::CannotTell => Statement::default(),
        _ => draft.statement.led_by("until then: "),
    };
    let statement = statement.behind(Sentence::new(parts![text]));
    AnswerDraft { effects: draft.effects, ..AnswerDraft::open(Lack::Repeats, statement) }
}
