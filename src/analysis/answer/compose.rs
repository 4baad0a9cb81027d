//! Composes the answer of a run from its findings: what they say together, how far to trust it, and the
//! next command.

use super::draft::{AnswerDraft, Lack, PlacedEffect};
use super::left_out::measured_tasks;
use super::needed::RepeatsNeeded;
use super::reliability::{fewest_repeats, joined, trust};
use super::source::ByteFindings;
use super::uncounted::UncountedParts;
use super::words::{WORDS_MAX, begun, number_of_words};
use super::{
    AnswerFinding, Reliability, Verdict, crossing, growth, levels, next, profile, ranking,
    slow_class, source,
};
use crate::analysis::effect::{EffectFinding, Reading};
use crate::analysis::figures::RunFigures;
use crate::analysis::finding::Finding;
use crate::plan::{Conclusion, find_scenario};
use crate::results::book::Measurement;

/// The findings of one kind.
macro_rules! of_kind {
    ($findings:expr, $kind:ident) => {
        $findings
            .iter()
            .filter_map(|one| match one {
                Finding::$kind(found) => Some(found),
                _ => None,
            })
            .collect::<Vec<_>>()
    };
}

/// Sentences of evidence at most.
const EVIDENCE_MAX: usize = 3;

/// The answer of a run with these findings, warnings among them; none if nothing at all was measured.
pub(in crate::analysis) fn answer(
    analysis: &RunFigures<'_>,
    draft: &AnswerDraft,
    findings: &[Finding],
) -> Option<AnswerFinding> {
    let book = analysis.book;
    if book.measurements.is_empty() {
        return None;
    }
    let trust = trust(analysis, findings);
    let mut draft = draft.clone();
    if !book.run.complete {
        draft = unfinished(analysis, draft);
    }
    let mut reliability = trust.reliability;
    let mut reason = trust.reason.clone();
    if !book.run.complete {
        (reliability, reason) = (Reliability::Low, "not all of it was measured".into());
    }
    // Clean measurements that do not decide are no reason to trust an answer.
    let is_open = draft.verdict == Verdict::CannotTell && !draft.is_measured;
    if is_open && reliability == Reliability::High {
        let why = match draft.lacks {
            Lack::CountedLevels => "not all levels count",
            _ => "too uncertain to tell",
        };
        reliability = Reliability::Medium;
        reason = joined(&[why.into()], &[reason]);
    }
    // What is proven of measurements that others disturbed, or of a single run, is proven of these.
    draft.verdict = match (draft.verdict, reliability) {
        (Verdict::Yes, Reliability::Low) => Verdict::Likely,
        (Verdict::No, Reliability::Low) => Verdict::LikelyNo,
        (verdict, _) => verdict,
    };
    let whole = sentence(&draft, &book.run.question);
    let text = shortened(&whole);
    let whole = Some(whole).filter(|whole| *whole != text);
    let effects: Vec<&EffectFinding> =
        draft.effects.iter().filter_map(|at| effect_at(findings, *at)).collect();
    let needed = RepeatsNeeded::of(&draft, &effects);
    // On a quiet machine they may.
    let in_vain = needed.in_vain().filter(|_| !trust.is_disturbed);
    let why = why_unsure(&draft, trust.has_no_journal).or(in_vain);
    let evidence = whole.into_iter().chain(why).chain(draft.evidence.iter().cloned());
    Some(AnswerFinding {
        verdict: draft.verdict,
        text,
        evidence: evidence.take(EVIDENCE_MAX).collect(),
        // Before what is concluded stands the answer.
        effects: draft.effects.iter().map(|at| at + 1).collect(),
        reliability,
        reason,
        next: next::next(book, &draft, &trust, needed),
    })
}

fn effect_at(findings: &[Finding], at: usize) -> Option<&EffectFinding> {
    match findings.get(at) {
        Some(Finding::Effect(found)) => Some(found),
        _ => None,
    }
}

/// Why a run could not tell, or why its rates vary, where its file system is the reason.
fn why_unsure(draft: &AnswerDraft, has_no_journal: bool) -> Option<String> {
    let is_unsure = draft.is_measured || draft.verdict == Verdict::CannotTell;
    let is_why = has_no_journal && is_unsure && draft.lacks != Lack::CountedLevels;
    is_why.then(|| {
        "Without a journal ext4 creates files more slowly after deletions, so repeats differ; \
         --filesystem ext4 makes one with a journal."
            .into()
    })
}

/// The text with the word for its verdict before it, and a full stop.
fn sentence(draft: &AnswerDraft, question: &str) -> String {
    let asks_whether = {
        let first = question.split_whitespace().next().unwrap_or_default();
        ["Are", "Can", "Do", "Does", "Has", "Have", "Is", "Will"].contains(&first)
    };
    // An order is no yes: the question may expect the other one.
    let is_order = matches!(draft.kind, Some(Conclusion::Ranking | Conclusion::Crossing));
    let is_negative = draft.text.starts_with("no ");
    let lead = match draft.verdict {
        _ if draft.is_measured => "",
        Verdict::Yes if asks_whether && !is_order => "Yes: ",
        Verdict::Yes => "",
        Verdict::Likely if asks_whether && !is_order => "Likely yes: ",
        Verdict::LikelyNo if asks_whether && is_negative => "Likely ",
        Verdict::LikelyNo if asks_whether => "Likely no: ",
        Verdict::Likely | Verdict::LikelyNo => "Likely: ",
        Verdict::No if asks_whether && !is_negative => "No: ",
        Verdict::No => "",
        Verdict::CannotTell => "Cannot tell: ",
    };
    format!("{}.", begun(&format!("{lead}{}", draft.text)))
}

/// Without the last parts of a sentence that has too many words.
fn shortened(whole: &str) -> String {
    let mut text = whole.trim_end_matches('.').to_string();
    while number_of_words(&text) > WORDS_MAX {
        let end = text.rfind("; ").or_else(|| text.rfind(", "));
        let Some(end) = end else { break };
        text.truncate(end);
    }
    let words: Vec<&str> = text.split_whitespace().take(WORDS_MAX).collect();
    format!("{}.", words.join(" "))
}

/// What the findings say together, warnings not among them: of the first kind that the job wants and that there are
/// some of.
pub(in crate::analysis) fn draft(analysis: &RunFigures<'_>, findings: &[Finding]) -> AnswerDraft {
    let run = &analysis.book.run;
    if let Some(by) = run.traced.as_ref().and_then(|traced| traced.by) {
        return slow_class::slow_class(by, &of_kind!(findings, SlowClass));
    }
    let made = run.conclude.iter().find_map(|kind| draft_of(*kind, analysis, findings));
    // The built-in scenario that concludes nothing by itself ranks the file systems it is given.
    let is_one = analysis.summary().groups.len() == 1 && find_scenario(&run.scenario).is_some();
    let ranks = run.conclude.is_empty() && is_one;
    let is_profile = run.conclude.is_empty();
    let made = made.or_else(|| is_profile.then(|| profile::profile(analysis, ranks)).flatten());
    made.unwrap_or_else(|| too_little(analysis))
}

/// What the findings of one kind say together; none if there are none.
fn draft_of(
    kind: Conclusion,
    analysis: &RunFigures<'_>,
    findings: &[Finding],
) -> Option<AnswerDraft> {
    let measured = measured_tasks(analysis.book);
    let made = match kind {
        Conclusion::Ranking => ranking::ranking(analysis.ranked()),
        Conclusion::Levels => levels::levels(&effects(findings, Reading::Levels), &measured),
        Conclusion::Growth => growth::growth(&effects(findings, Reading::Growth), &measured),
        Conclusion::Crossing => {
            let mut pairs = effects(findings, Reading::Ranking);
            pairs.retain(|pair| crossing::are_as_durable(analysis.book, pair.effect));
            crossing::crossing(&pairs, &measured)
        }
        Conclusion::Source => source::source(analysis.summary(), &bytes(findings)),
    };
    let uncounted = UncountedParts::of(analysis.book, kind);
    made.map(|draft| AnswerDraft { kind: Some(kind), ..draft.apart_from(uncounted.as_ref()) })
}

fn effects(findings: &[Finding], reading: Reading) -> Vec<PlacedEffect<'_>> {
    let all = findings.iter().enumerate().filter_map(|(place, one)| match one {
        Finding::Effect(effect) if effect.reading == reading => {
            Some(PlacedEffect { place, effect })
        }
        _ => None,
    });
    all.collect()
}

fn bytes(findings: &[Finding]) -> ByteFindings<'_> {
    ByteFindings {
        sources: of_kind!(findings, Source),
        destinations: of_kind!(findings, Destination),
        lower_caches: of_kind!(findings, LowerCache),
    }
}

/// Nothing is concluded of what was measured: why, and what was measured nevertheless.
fn too_little(analysis: &RunFigures<'_>) -> AnswerDraft {
    let measurements = &analysis.book.measurements;
    let invalid = measurements.iter().find_map(|m| m.invalid.first());
    let (text, uncounted) = match invalid.filter(|_| !measurements.iter().any(|m| m.valid())) {
        Some(reason) => {
            let reason = reason.sentence();
            let reason: Vec<&str> = reason.split_whitespace().take(15).collect();
            (format!("no measurement is valid: {}", reason.join(" ")), None)
        }
        None => {
            let text = "too few valid measurements or levels for a conclusion";
            (text.into(), UncountedParts::all(analysis.book).map(|parts| parts.sentence()))
        }
    };
    let measured = profile::profile(analysis, false).map(|profile| stated(&profile));
    // Repeats do not make a phase end before its limit.
    let is_limited = measurements.iter().any(Measurement::reached_limit);
    let lacks = match is_limited && fewest_repeats(analysis) > 1 {
        true => Lack::CountedLevels,
        false => Lack::Repeats,
    };
    AnswerDraft::cannot_tell(lacks, text, uncounted.into_iter().chain(measured).collect())
}

/// A run that is not complete: what its measurements say so far is evidence only.
fn unfinished(analysis: &RunFigures<'_>, draft: AnswerDraft) -> AnswerDraft {
    let text = match analysis.book.is_cut_short() {
        true => "the run was stopped before its end",
        false => "the run has not ended",
    };
    let so_far = match draft.verdict {
        Verdict::CannotTell => Vec::new(),
        _ => vec![format!("So far: {}.", draft.text)],
    };
    let evidence = so_far.into_iter().chain(draft.evidence).collect();
    let (effects, kind) = (draft.effects, draft.kind);
    let unfinished = AnswerDraft::cannot_tell(Lack::Repeats, text.into(), evidence);
    AnswerDraft { effects, kind, ..unfinished }
}

fn stated(draft: &AnswerDraft) -> String {
    format!("{}.", begun(&draft.text))
}
