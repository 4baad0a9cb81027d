//! Answers with a profile where nothing is compared and nothing grows: how fast the phases are, which is
//! the slowest, and what limits it.

use super::draft::{AnswerDraft, Lack};
use super::rates::AnswerRate;
use super::words::begun;
use crate::analysis::figures::RunFigures;
use crate::analysis::findings::say::{self, listed};
use crate::analysis::limit::Limit;
use crate::analysis::summary::{PhaseSummary, VariantSummary, summarize};
use crate::base::units::{Unit, duration};
use crate::plan::{CacheAsked, DEFAULT_VARIANT};
use crate::results::book::{Book, Measurement};
use crate::results::reference;

/// Of a run; `ranks` is whether its scenario ranks file systems, which takes two. None if nothing valid
/// was measured.
pub(super) fn profile(analysis: &RunFigures<'_>, ranks: bool) -> Option<AnswerDraft> {
    let groups = &analysis.summary().groups;
    let (text, evidence) = match groups.as_slice() {
        [] => return None,
        [only] => {
            let (text, mut evidence) = of_one(only)?;
            evidence.extend(slowest(only).and_then(|row| on_modelled_disks(analysis.book, row)));
            (text, evidence)
        }
        [first, .., last] => (between(first, last)?, Vec::new()),
    };
    let filesystem = analysis.book.filesystem_of(&groups[0].variant);
    let kind = filesystem.map(|kind| format!(" ({kind})"));
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

/// The phase with the fewest operations a second; none where there is one phase, or where the rate of one counts bytes.
fn slowest(group: &VariantSummary) -> Option<&PhaseSummary> {
    let mean = |row: &&PhaseSummary| row.rate.map_or(f64::INFINITY, |rate| rate.mean);
    let is_alike = measured(group).all(|row| row.rate_unit == Unit::Count);
    let are_several = measured(group).count() > 1;
    let slowest = measured(group).min_by(|a, b| mean(a).total_cmp(&mean(b)));
    slowest.filter(|_| is_alike && are_several)
}

/// Whether its interval lies below those of all others: else it came last in this run, and may not be the slowest.
fn is_proven_slowest(slowest: &PhaseSummary, group: &VariantSummary) -> bool {
    let interval = |row: &PhaseSummary| row.rate.and_then(|rate| rate.interval);
    let is_below = |other: &PhaseSummary| {
        interval(slowest).zip(interval(other)).is_some_and(|(own, other)| own.high < other.low)
    };
    measured(group).all(|row| row.phase == slowest.phase || is_below(row))
}

/// The rates of the same phase on disks that are known, on the same type of file system; none where it was not
/// measured there, or not with cold caches here.
fn on_modelled_disks(book: &Book, row: &PhaseSummary) -> Option<String> {
    let own: Vec<&Measurement> =
        book.measurements.iter().filter(|m| m.phase == row.phase).collect();
    let filesystem = book.filesystem_of(&own.first()?.cell.variant)?;
    if own.iter().any(|m| m.cache.asked != CacheAsked::Cold || book.is_on_model(m)) {
        return None;
    }
    let kept = reference::on_modelled_disks(&book.run.scenario, filesystem);
    let told = kept.iter().filter_map(|kept| {
        let disk = kept.run.reference.as_ref()?.disk.as_ref()?;
        let summary = summarize(kept);
        let row = summary.rows().find(|other| other.phase == row.phase)?;
        Some((AnswerRate::of(row)?.value(), disk))
    });
    let mut told = told.collect::<Vec<_>>().into_iter();
    let (rate, disk) = told.next()?;
    let others: String = told.map(|(rate, disk)| format!(", {rate} on {disk}")).collect();
    Some(format!("{} on modelled disks: {rate} a second on {disk}{others}.", begun(&row.phase)))
}

/// The first phase and the slowest; the others are evidence.
fn of_one(group: &VariantSummary) -> Option<(String, Vec<String>)> {
    let rows: Vec<&PhaseSummary> = measured(group).collect();
    let Some(first) = rows.first() else { return latencies(group) };
    let in_words = |row: &PhaseSummary| Some(AnswerRate::of(row)?.in_words());
    let slowest = slowest(group);
    let mut text = format!("{} {}", first.phase, in_words(first)?);
    let limited = |row: &PhaseSummary| {
        let of = |limit: Limit| match limit {
            Limit::Lock | Limit::Waiting => format!(", limited by {}", limit.in_words()),
            _ => format!(", limited by the {}", limit.in_words()),
        };
        row.limit.map(of).unwrap_or_default()
    };
    match slowest {
        Some(row) if row.phase == first.phase => {
            let place =
                if is_proven_slowest(row, group) { "the slowest" } else { "which came last" };
            text += &format!(", {place}{}", limited(row));
        }
        Some(row) => {
            let is_last =
                if is_proven_slowest(row, group) { "is the slowest" } else { "came last" };
            text += &format!("; {} {is_last}, {}{}", row.phase, in_words(row)?, limited(row));
        }
        None => text += &limited(first),
    }
    let failed = group.rows.iter().filter(|row| row.has_only_failed()).map(|row| row.phase.clone());
    let failed: Vec<String> = failed.collect();
    if !failed.is_empty() {
        text += &format!("; no valid measurement of {}", listed(&failed));
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
    let at = |group: &VariantSummary| {
        let level = group.level.as_ref().map(|level| format!("at {}", say::level_in_words(level)));
        match (level, group.variant.as_str()) {
            (Some(level), DEFAULT_VARIANT) => level,
            (Some(level), variant) => format!("{level} ({variant})"),
            (None, variant) => format!("on {variant}"),
        }
    };
    let in_words = |row: &PhaseSummary| Some(AnswerRate::of(row)?.in_words());
    Some(format!(
        "{} {} {}; {} {}",
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
