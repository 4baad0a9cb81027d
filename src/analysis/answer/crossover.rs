//! Answers which of two variants is the faster at which level, from the pair that differs most.

use super::Verdict;
use super::draft::{AnswerDraft, Lack};
use super::figures::AnswerFigure;
use super::left_out::{LeftOutTasks, MeasuredTask};
use super::words::{AxisWords, WORDS_MAX, at_most, in_brackets, number_of_words};
use crate::analysis::findings::crossover::{CrossoverFinding, LevelWinner};
use crate::analysis::findings::say;
use crate::analysis::thresholds::SLOWER_MARGIN;
use crate::base::distinct::each_once;

/// From all crossovers of a run, and all tasks that were measured; none if there is none.
pub(super) fn crossover(
    all: &[&CrossoverFinding],
    measured: &[MeasuredTask<'_>],
) -> Option<AnswerDraft> {
    let told = all.iter().max_by(|a, b| weight(a).total_cmp(&weight(b)))?;
    let mut others: Vec<&CrossoverFinding> =
        all.iter().copied().filter(|other| *other != *told).collect();
    others.sort_by(|a, b| weight(b).total_cmp(&weight(a)));
    let left_out = left_out(all, measured);
    let unsaid = left_out.sentence().into_iter();
    let evidence: Vec<String> = unsaid.chain(others.iter().map(|other| other.sentence())).collect();
    if won(told).next().is_some() {
        let none = match others.is_empty() {
            true => "no difference is proven",
            false => "no difference between these two is proven",
        };
        let in_phase = match each_once(all.iter().map(|one| &one.phase)).len() {
            1 => String::new(),
            _ => format!("in {} ", told.phase),
        };
        let about = |none, with_intervals| {
            format!("{in_phase}{}", parts(told, none, with_intervals).join("; "))
        };
        let texts = [about(Some(none), true), about(Some(none), false), about(None, true)];
        let short = texts.iter().find(|text| number_of_words(text) < WORDS_MAX);
        let text = short.cloned().unwrap_or_else(|| about(None, false));
        let draft = AnswerDraft::proven(Verdict::Yes, text, evidence);
        return Some(draft.made_of(AnswerFigure::of_crossover(told)));
    }
    let figures = all.iter().flat_map(|one| AnswerFigure::of_crossover(one)).collect();
    Some(undecided(all, evidence).made_of(figures))
}

/// The tasks that were measured and are in no pair.
fn left_out(all: &[&CrossoverFinding], measured: &[MeasuredTask<'_>]) -> LeftOutTasks {
    let compared = all
        .iter()
        .flat_map(|one| one.variants.iter().map(|variant| MeasuredTask::new(variant, &one.phase)));
    LeftOutTasks::new(measured, &compared.collect::<Vec<_>>())
}

fn won(one: &CrossoverFinding) -> impl Iterator<Item = &LevelWinner> {
    one.levels.iter().filter(|level| level.winner.is_some())
}

/// How much a pair has to tell: the logarithms of its proven ratios.
fn weight(one: &CrossoverFinding) -> f64 {
    won(one).map(|level| level.ratio.ln().abs()).sum()
}

fn axis_of(one: &CrossoverFinding) -> AxisWords<'_> {
    AxisWords { name: &one.axis, unit: one.unit }
}

/// Neighbouring levels with one winner, each as a part of the text; those without one are called `none`, or left out.
fn parts(one: &CrossoverFinding, none: Option<&str>, with_intervals: bool) -> Vec<String> {
    let axis = axis_of(one);
    let mut parts: Vec<String> = Vec::new();
    let mut is_named = false;
    let ends = one.ends();
    for levels in one.neighbours(|a, b| a.winner == b.winner) {
        let (Some(first), Some(last)) = (levels.first(), levels.last()) else { continue };
        let (is_lowest, is_highest) = (first.value == ends.low, last.value == ends.high);
        let is_everywhere = is_lowest && is_highest;
        let place = match (levels.len(), is_lowest, is_highest) {
            (1, ..) => format!("at {}", axis.value(first.value)),
            (_, true, false) => format!("up to {}", axis.value(last.value)),
            (_, false, true) => format!("from {} on", axis.value(first.value)),
            _ => format!("from {} to {}", axis.value(first.value), axis.value(last.value)),
        };
        let Some(winner) = &first.winner else {
            parts.extend(none.map(|none| format!("{place} {none}")));
            continue;
        };
        let loser = &one.variants[usize::from(*winner == one.variants[0])];
        let by = |level: &LevelWinner| {
            let interval = level.span().filter(|_| with_intervals);
            format!("{} times{}", say::times(level.times()), in_brackets(interval))
        };
        let at = |level: &LevelWinner| format!("{} at {}", by(level), axis.value(level.value));
        let by = match levels.len() {
            1 if !is_everywhere => by(first),
            1 => at(first),
            _ => format!("{}, {}", at(first), at(last)),
        };
        let than = if is_named { String::new() } else { format!(" than {loser}") };
        is_named = true;
        let where_won = if is_everywhere { String::new() } else { format!("{place} ") };
        parts.push(format!("{where_won}{winner} is faster{than}: {by}"));
    }
    parts
}

/// The largest ratio that was seen: `file-per-block was 13.6 times as fast as file-per-chunk at 1 KiB`.
fn largest(all: &[&CrossoverFinding]) -> String {
    let levels = all.iter().flat_map(|one| one.levels.iter().map(move |level| (one, level)));
    let most = levels.max_by(|a, b| a.1.times().total_cmp(&b.1.times()));
    most.map_or(String::new(), |(one, level)| {
        let [first, second] = &one.variants;
        let (faster, slower) = if level.ratio < 1.0 { (second, first) } else { (first, second) };
        let (times, at) = (say::times(level.times()), axis_of(one).value(level.value));
        format!("{faster} was {times} times as fast as {slower} at {at}")
    })
}

/// No pair of which one is the faster anywhere.
fn undecided(all: &[&CrossoverFinding], evidence: Vec<String>) -> AnswerDraft {
    let intervals = || all.iter().flat_map(|one| &one.levels).map(|level| level.interval);
    let pairs = match all {
        [one] => format!("between {} and {}", one.variants[0], one.variants[1]),
        _ => format!("in {} pairs of variants", all.len()),
    };
    if intervals().any(|one| one.is_none()) {
        let text = format!("too few repeats to compare; in this run {}", largest(all));
        return AnswerDraft::cannot_tell(Lack::Repeats, text, evidence);
    }
    let most = intervals().flatten().map(|one| (one.high - 1.0).max(1.0 / one.low - 1.0));
    let most = most.fold(0.0, f64::max);
    if most <= SLOWER_MARGIN {
        let is_everywhere = all.iter().all(|one| one.uncompared.is_empty());
        let compared = if is_everywhere { "" } else { " compared" };
        let most = at_most(most);
        let text = format!("no difference {pairs} is larger than {most} at any level{compared}");
        return AnswerDraft::proven(Verdict::No, text, evidence);
    }
    let text = format!(
        "{pairs} no difference is proven; one may still be up to {} times as fast as the other",
        say::times(1.0 + most)
    );
    AnswerDraft::cannot_tell(Lack::Precision, text, evidence)
}
