//! Answers with a profile where nothing is compared and nothing grows: how fast the phases are, which is
//! the slowest, and what limits it.

use super::draft::{AnswerDraft, Lack};
use super::rates::AnswerRate;
use super::words::begun;
use crate::analysis::Analysis;
use crate::analysis::findings::say;
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
    let kind = analysis.book.filesystem_of(&groups[0].variant).map(|kind| format!(" ({kind})"));
    Some(match ranks {
        true => {
            let kind = kind.unwrap_or_default();
            let text = format!("one file system measured{kind}, so no ranking: {text}");
            AnswerDraft::measured(text, evidence, Lack::Variants)
        }
        false => AnswerDraft::measured(text, evidence, Lack::Nothing),
    })
}

fn measured(group: &VariantSummary) -> impl Iterator<Item = &PhaseSummary> {
    group.rows.iter().filter(|row| !row.is_settle() && row.rate.is_some())
}

/// The first phase and the slowest; the others are evidence.
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
        let of = |limit: Limit| match limit {
            Limit::Processor | Limit::Device => format!(", limited by the {}", limit.in_words()),
            Limit::Lock | Limit::Wait => format!(", limited by {}", limit.in_words()),
        };
        row.limit.map(of).unwrap_or_default()
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
    Some((text, evidence))
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
