//! Answers whether operations take longer as a phase goes on, from the growth of all variants and levels.

use super::Verdict;
use super::draft::{AnswerDraft, Lack};
use super::figures::AnswerFigure;
use super::words::{as_long, at_most, task};
use crate::analysis::findings::growth::{GrowthFigures, GrowthFinding};
use crate::analysis::findings::say::{self, listed};
use crate::analysis::statistics::Interval;
use crate::analysis::thresholds::SLOWER_MARGIN;
use crate::base::distinct::each_once;
use crate::base::units::{self, grouped};

/// Ratios that lie so near each other are stated as one.
const ALIKE: f64 = 1.03;

/// From all growths of a run; none if there is none.
pub(super) fn growth(all: &[&GrowthFinding]) -> Option<AnswerDraft> {
    let figures = all.iter().filter_map(|one| AnswerFigure::of_growth(one)).collect();
    Some(of_all(all)?.made_of(figures))
}

fn of_all(all: &[&GrowthFinding]) -> Option<AnswerDraft> {
    let first = all.first()?;
    let known: Vec<(&GrowthFinding, &GrowthFigures)> =
        all.iter().filter_map(|one| Some((*one, one.figures.as_ref()?))).collect();
    let evidence: Vec<String> = all.iter().map(|one| one.sentence()).collect();
    if known.is_empty() {
        let text = format!("too few windows to see whether {} gets slower", first.phase);
        return Some(AnswerDraft::cannot_tell(Lack::Precision, text, evidence));
    }
    let slower: Vec<_> = known.iter().copied().filter(|one| is_slower(one.1)).collect();
    if let [only] = slower.as_slice() {
        return Some(AnswerDraft::proven(
            Verdict::Yes,
            about_one(only.0, only.1, open(all).len(), all.len() - 1),
            others(all, only.0),
        ));
    }
    if !slower.is_empty() {
        return Some(AnswerDraft::proven(Verdict::Yes, about_some(&slower, all.len()), open(all)));
    }
    let most = known.iter().map(|one| one.1.interval.high - 1.0).fold(0.0, f64::max);
    let is_no = known.len() == all.len() && most <= SLOWER_MARGIN;
    if is_no {
        let text = format!(
            "{} does not get slower by more than {} up to {}",
            phases(all),
            at_most(most),
            extent(first)
        );
        return Some(AnswerDraft::proven(Verdict::No, text, evidence));
    }
    let open = known.iter().max_by(|a, b| a.1.interval.high.total_cmp(&b.1.interval.high));
    let text = open.map_or(String::new(), |(one, figures)| {
        format!(
            "at the end, after {}, {} may take {} times as long as at first",
            extent(one),
            task(&one.variant, &one.phase),
            say::span(figures.interval)
        )
    });
    Some(AnswerDraft::cannot_tell(Lack::Precision, text, evidence))
}

/// Whether the end takes longer than the beginning for sure, by what is worth stating.
fn is_slower(figures: &GrowthFigures) -> bool {
    figures.interval.low > 1.0
}

/// Those of which it is proven neither that they get slower nor that they do not.
fn open(all: &[&GrowthFinding]) -> Vec<String> {
    let is_told = |figures: &GrowthFigures| {
        is_slower(figures) || figures.interval.high <= 1.0 + SLOWER_MARGIN
    };
    let is_open = |one: &&&GrowthFinding| !one.figures.as_ref().is_some_and(is_told);
    all.iter().filter(is_open).map(|one| one.sentence()).collect()
}

fn others(all: &[&GrowthFinding], but: &GrowthFinding) -> Vec<String> {
    all.iter().filter(|one| **one != but).map(|one| one.sentence()).collect()
}

/// `400,000 files`
fn extent(one: &GrowthFinding) -> String {
    let operations = one.figures.as_ref().map_or(0, |figures| figures.operations);
    format!("{} {}", grouped(operations), one.counted.noun())
}

fn phases(all: &[&GrowthFinding]) -> String {
    let names = each_once(all.iter().map(|one| one.phase.clone()));
    listed(&names)
}

/// The only one that is slower, of so many others, of which so many cannot be told.
fn about_one(one: &GrowthFinding, figures: &GrowthFigures, untold: usize, others: usize) -> String {
    let task = task(&one.variant, &one.phase);
    let longer = as_long(figures.ratio, Some(figures.interval));
    let but = match (untold, others) {
        (0, _) => String::new(),
        (1, 1) => "; the other cannot be told".into(),
        _ if untold == others => format!("; the {others} others cannot be told"),
        _ => format!("; {untold} of {others} others cannot be told"),
    };
    match slower_from(figures) {
        Some(from) => format!(
            "{task} takes over {} longer than at first from {} {} on, {longer} at {}{but}",
            at_most(SLOWER_MARGIN),
            units::figures(from, 2),
            one.counted.noun(),
            grouped(figures.operations)
        ),
        None => format!("at {} {task} takes {longer} as at first{but}", extent(one)),
    }
}

/// From how many operations on each takes longer than at first by what is worth stating, as the shape of the growth
/// has it; none where no shape holds.
fn slower_from(figures: &GrowthFigures) -> Option<f64> {
    let first = figures.blocks.first()?.fitted_ns?;
    let bound = first * (1.0 + SLOWER_MARGIN);
    let fitted: Option<Vec<(f64, f64)>> =
        figures.blocks.iter().map(|block| Some((block.operations, block.fitted_ns?))).collect();
    let fitted = fitted?;
    let last_within = fitted.iter().rposition(|(_, ns)| *ns <= bound)?;
    let ((from, low), (to, high)) = (fitted[last_within], *fitted.get(last_within + 1)?);
    Some(from + (to - from) * (bound - low) / (high - low))
}

/// Several: from the least to the most of their ratios.
fn about_some(slower: &[(&GrowthFinding, &GrowthFigures)], all: usize) -> String {
    let ratios = || slower.iter().map(|one| one.1.ratio);
    let (least, most) = (ratios().fold(f64::INFINITY, f64::min), ratios().fold(0.0, f64::max));
    let intervals = || slower.iter().map(|one| one.1.interval);
    let span = Interval {
        low: intervals().map(|one| one.low).fold(f64::INFINITY, f64::min),
        high: intervals().map(|one| one.high).fold(0.0, f64::max),
    };
    // Names stand in the order of their ratios.
    let mut by_ratio = slower.to_vec();
    by_ratio.sort_by(|a, b| a.1.ratio.total_cmp(&b.1.ratio));
    let findings: Vec<&GrowthFinding> = by_ratio.iter().map(|one| one.0).collect();
    let each = each_once(findings.iter().map(|one| one.variant.as_str()));
    let series = if each.len() == findings.len() { "variants" } else { "series" };
    let of = match (slower.len() == all, each.as_slice()) {
        (true, _) => format!("all {all} {series}"),
        (false, [one, other]) if series == "variants" => format!("{one} and {other}"),
        (false, _) => format!("{} of {all} {series}", slower.len()),
    };
    let times = match most / least <= ALIKE {
        true => format!("about {}", say::times((least * most).sqrt())),
        false => format!("{} to {}", say::times(least), say::times(most)),
    };
    let (extent, phases, span) = (extent(findings[0]), phases(&findings), say::span(span));
    format!("at {extent} {phases} takes {times} times as long as at first ({span}) in {of}")
}
