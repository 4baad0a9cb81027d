//! Answers whether rates fall as the axis grows, from the slopes of all tasks together.

use super::Verdict;
use super::draft::{AnswerDraft, Lack};
use super::figures::AnswerFigure;
use super::words::{AxisWords, at_most, begun, of_tasks, share, shares, task};
use crate::analysis::findings::say::{listed, times};
use crate::analysis::findings::slope::SlopeFinding;
use crate::analysis::thresholds::SLOWER_MARGIN;
use crate::plan::DEFAULT_VARIANT;

/// Tasks that an answer names.
const NAMED_MAX: usize = 2;

/// From all slopes of a run; none if there is none.
pub(super) fn slope(all: &[&SlopeFinding]) -> Option<AnswerDraft> {
    let figures = all.iter().map(|one| AnswerFigure::of_slope(one)).collect();
    // A single variant needs no name: what was measured says on what.
    let is_single = all.windows(2).all(|two| two[0].variant == two[1].variant);
    let told = |one: &&SlopeFinding| {
        let variant = if is_single { DEFAULT_VARIANT.into() } else { one.variant.clone() };
        SlopeFinding { variant, ..(*one).clone() }
    };
    let told: Vec<SlopeFinding> = all.iter().map(told).collect();
    Some(of_all(&told.iter().collect::<Vec<_>>())?.made_of(figures))
}

fn of_all(all: &[&SlopeFinding]) -> Option<AnswerDraft> {
    let first = all.first()?;
    let axis = AxisWords { name: &first.axis, unit: first.unit };
    let (over, within) = (axis.over(first.range), axis.within(first.range));
    let slower: Vec<&SlopeFinding> =
        all.iter().copied().filter(|one| one.effect && one.change < 0.0).collect();
    let evidence = |stated: &[&SlopeFinding]| {
        let others = all.iter().filter(|one| !stated.contains(one));
        others.map(|one| over_same_range(one)).collect::<Vec<String>>()
    };
    if !slower.is_empty() {
        let text = match slower.as_slice() {
            named if named.len() <= NAMED_MAX => {
                let each: Vec<String> = named.iter().map(|one| about(one)).collect();
                format!("{over} {}", listed(&each))
            }
            many => {
                let number = of_tasks(many.len(), all.len());
                let most = many.iter().min_by(|a, b| a.whole().total_cmp(&b.whole()));
                let most = most.map_or(String::new(), |one| about(one));
                format!("{over} {number} are slower, most of all: {most}")
            }
        };
        let stated = if slower.len() <= NAMED_MAX { slower } else { Vec::new() };
        return Some(AnswerDraft::proven(Verdict::Yes, text, evidence(&stated)));
    }
    let slower_by = |one: &&SlopeFinding| -one.bounds().low;
    let most = all.iter().map(slower_by).fold(0.0, f64::max);
    if most <= SLOWER_MARGIN {
        let nothing =
            if all.len() == 1 { task(&first.variant, &first.phase) } else { "nothing".into() };
        let is = if all.len() == 1 { "is not" } else { "is" };
        let text = format!("{within} {nothing} {is} more than {} slower", at_most(most));
        return Some(AnswerDraft::proven(Verdict::No, text, evidence(&[])));
    }
    let mut open: Vec<&SlopeFinding> =
        all.iter().copied().filter(|one| slower_by(one) > SLOWER_MARGIN).collect();
    open.sort_by(|a, b| a.bounds().low.total_cmp(&b.bounds().low));
    open.truncate(NAMED_MAX);
    let each: Vec<String> = open.iter().map(|one| may_be(one)).collect();
    let text = format!("{within} {}", listed(&each));
    Some(AnswerDraft::cannot_tell(Lack::Precision, text, evidence(&open)))
}

/// A sentence on a task beside those of an answer, over the same range: the finding's own is for each step of the axis.
fn over_same_range(one: &SlopeFinding) -> String {
    match one.effect && one.change > 0.0 {
        false => begun(&one.sentence()),
        true => {
            let (by, interval) = (one.whole(), one.whole_interval());
            let span = shares(interval.low.max(0.0), interval.high);
            let task = task(&one.variant, &one.phase);
            format!("{} is {} faster ({span}) over the same range.", begun(&task), share(by))
        }
    }
}

/// `write is 30% slower (10% to 50%)`
fn about(one: &SlopeFinding) -> String {
    let interval = one.whole_interval();
    let span = shares((-interval.high).max(0.0), (-interval.low).min(1.0));
    // The line of a rate that falls steeply at first would end below zero.
    let slower = share(one.whole().abs().min(1.0));
    format!("{} is {slower} slower ({span})", task(&one.variant, &one.phase))
}

/// From so large a gain on, percents say less than how many times as fast it is.
const TIMES_FROM: f64 = 2.0;

/// `read may be 61% slower to 22% faster`
fn may_be(one: &SlopeFinding) -> String {
    let interval = one.bounds();
    let slower = share((-interval.low).min(1.0));
    let other = match interval.high {
        high if high <= 0.0 => "unchanged".to_string(),
        high if high < TIMES_FROM => format!("{} faster", share(high)),
        high => format!("{} times as fast", times(1.0 + high)),
    };
    format!("{} may be {slower} slower to {other}", task(&one.variant, &one.phase))
}
