//! Answers whether operations take longer as a phase goes on, from the growth of all variants and levels.

use super::Verdict;
use super::draft::{AnswerDraft, Lack};
use super::words::{as_long, at_most, task};
use crate::analysis::findings::growth::{GrowthFigures, GrowthFinding, GrowthShape};
use crate::analysis::findings::say::{self, listed};
use crate::analysis::statistics::Interval;
use crate::analysis::thresholds::SLOWER_MARGIN;
use crate::base::distinct::each_once;
use crate::base::units::{self, grouped};

/// From all growths of a run; none if there is none.
pub(super) fn growth(all: &[&GrowthFinding]) -> Option<AnswerDraft> {
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
            about_one(only.0, only.1),
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

/// Those of which nothing is proven.
fn open(all: &[&GrowthFinding]) -> Vec<String> {
    let is_open = |one: &&&GrowthFinding| !one.figures.as_ref().is_some_and(is_slower);
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

fn about_one(one: &GrowthFinding, figures: &GrowthFigures) -> String {
    let way = match one.shape {
        GrowthShape::Threshold => figures.threshold.as_ref().map(|found| {
            let at = units::figures(found.at, 3);
            format!(", from about {at} on")
        }),
        _ => None,
    };
    let longer = as_long(figures.ratio, Some(figures.interval));
    format!(
        "at {} {} takes {longer} as at first{}",
        extent(one),
        task(&one.variant, &one.phase),
        way.unwrap_or_default()
    )
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
    let findings: Vec<&GrowthFinding> = slower.iter().map(|one| one.0).collect();
    let each = each_once(findings.iter().map(|one| one.variant.as_str()));
    let series = if each.len() == findings.len() { "variants" } else { "series" };
    let of = match slower.len() == all {
        true => format!("all {all} {series}"),
        false => format!("{} of {all} {series}", slower.len()),
    };
    format!(
        "at {} {} takes {} to {} times ({}) as long as at first in {of}",
        extent(findings[0]),
        phases(&findings),
        say::times(least),
        say::times(most),
        say::span(span)
    )
}
