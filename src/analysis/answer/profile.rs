//! Answers with a profile where nothing is compared and nothing grows: how fast the phases are, which is
//! the slowest, and what limits it.

use super::draft::{AnswerDraft, Lack};
use super::rates::AnswerRate;
use super::words::begun;
use crate::analysis::Analysis;
use crate::analysis::findings::say::{self, listed};
use crate::analysis::limit::Limit;
use crate::analysis::summary::{PhaseSummary, VariantSummary};
use crate::base::units::{Unit, duration};
use crate::plan::DEFAULT_VARIANT;

/// Of a run; `ranks` is whether its scenario ranks file systems, which takes two. None if nothing valid
/// was measured.
pub(super) fn profile(analysis: &Analysis<'_>, ranks: bool) -> Option<AnswerDraft> {
    let groups = &analysis.summary().groups;
    let (text, evidence) = match groups.as_slice() {
        [] => return None,
        [only] => of_one(only)?,
        [first, .., last] => (between(first, last)?, Vec::new()),
    };
    let kind = analysis.book.filesystem_of(&groups[0].variant).map(|kind| format!("{kind}: "));
    Some(match ranks {
        true => {
            let kind = kind.unwrap_or_default();
            let text = format!("one file system measured, so no ranking: {kind}{text}");
            AnswerDraft::measured(text, evidence, Lack::Variants)
        }
        false => AnswerDraft::measured(text, evidence, Lack::Nothing),
    })
}

fn measured(group: &VariantSummary) -> impl Iterator<Item = &PhaseSummary> {
    group.rows.iter().filter(|row| !row.is_settle() && row.rate.is_some())
}

/// The first phase and the slowest; the others are evidence, and what limits them.
fn of_one(group: &VariantSummary) -> Option<(String, Vec<String>)> {
    let rows: Vec<&PhaseSummary> = measured(group).collect();
    let Some(first) = rows.first() else { return latencies(group) };
    let in_words = |row: &PhaseSummary| Some(AnswerRate::of(row)?.in_words());
    let counts = || rows.iter().filter(|row| row.rate_unit == Unit::Count);
    let mean = |row: &&&PhaseSummary| row.rate.map_or(f64::INFINITY, |rate| rate.mean);
    let slowest = counts().min_by(|a, b| mean(a).total_cmp(&mean(b)));
    let slowest = slowest.filter(|_| counts().count() > 1);
    let mut text = format!("{} {}", first.phase, in_words(first)?);
    let limited = |row: &PhaseSummary| {
        row.limit.map_or(String::new(), |limit| format!(", limited by the {limit}"))
    };
    match slowest {
        Some(row) if row.phase == first.phase => text += &format!(", the slowest{}", limited(row)),
        Some(row) => {
            let rate = in_words(row)?;
            text += &format!("; {} is the slowest, {rate}{}", row.phase, limited(row));
        }
        None => text += &limited(first),
    }
    let is_told = |row: &&PhaseSummary| {
        row.phase == first.phase || slowest.is_some_and(|slowest| slowest.phase == row.phase)
    };
    let others = rows.iter().filter(|row| !is_told(row));
    let others: Vec<String> =
        others.filter_map(|row| Some(format!("{} {}", row.phase, in_words(row)?))).collect();
    let mut evidence = Vec::new();
    if !others.is_empty() {
        evidence.push(format!("{}.", begun(&others.join(", "))));
    }
    evidence.extend(limits(&rows));
    Some((text, evidence))
}

/// What limits which phases, in one sentence; none where nothing is known of it.
fn limits(rows: &[&PhaseSummary]) -> Option<String> {
    let of = |limit: Limit| {
        let own = rows.iter().filter(|row| row.limit == Some(limit));
        let names: Vec<String> = own.map(|row| row.phase.clone()).collect();
        (!names.is_empty()).then(|| format!("{limit} in {}", listed(&names)))
    };
    let all: Vec<String> = Limit::ALL.into_iter().filter_map(of).collect();
    (!all.is_empty()).then(|| format!("Limited by: {}.", all.join("; ")))
}

/// The first phase of the first and of the last of several.
fn between(first: &VariantSummary, last: &VariantSummary) -> Option<String> {
    let row = measured(first).next()?;
    let other = measured(last).find(|other| other.phase == row.phase)?;
    let at = |group: &VariantSummary| match (&group.level, group.variant.as_str()) {
        (Some(level), _) => format!("at {} of {}", say::level(level), level.axis),
        (None, DEFAULT_VARIANT) => String::new(),
        (None, variant) => format!("on {variant}"),
    };
    let in_words = |row: &PhaseSummary| Some(AnswerRate::of(row)?.in_words());
    Some(format!(
        "{} {} {}, {} {}",
        row.phase,
        in_words(row)?,
        at(first),
        in_words(other)?,
        at(last)
    ))
}

/// Of what has only latencies, such as a trace: the operation with the most.
fn latencies(group: &VariantSummary) -> Option<(String, Vec<String>)> {
    let told = group.rows.iter().filter_map(|row| {
        let tail = row.tail?;
        let (p50, p99) = (duration(tail.p50_ns? as f64), duration(tail.p99_ns? as f64));
        Some(format!("{}: half take at most {p50}, 99% at most {p99}", row.phase))
    });
    let mut told = told.collect::<Vec<_>>().into_iter();
    let first = told.next()?;
    Some((first, told.map(|one| format!("{}.", begun(&one))).collect()))
}
