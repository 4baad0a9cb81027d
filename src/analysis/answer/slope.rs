//! Answers whether rates fall as the axis grows, from the slopes of all tasks together.

use super::Verdict;
use super::draft::{AnswerDraft, Lack};
use super::figures::AnswerFigure;
use super::left_out::{LeftOutTasks, MeasuredTask};
use super::words::{AxisWords, as_long, at_most, begun, of_tasks, share, shares, task};
use crate::analysis::findings::say::{listed, times};
use crate::analysis::findings::slope::{DEVICE_ITSELF, SlopeFinding};
use crate::analysis::statistics::Interval;
use crate::analysis::thresholds::SLOWER_MARGIN;
use crate::base::distinct::each_once;
use crate::plan::DEFAULT_VARIANT;

/// Tasks that an answer names.
const NAMED_MAX: usize = 2;

/// From all slopes of a run, and all tasks that were measured; none if there is none.
pub(super) fn slope(all: &[&SlopeFinding], measured: &[MeasuredTask<'_>]) -> Option<AnswerDraft> {
    let widest = all.iter().max_by(|a, b| a.range.width().total_cmp(&b.range.width()))?;
    let figures = all.iter().map(|one| AnswerFigure::of_slope(one)).collect();
    let left_out = |compared: &dyn Fn(&SlopeFinding) -> bool| {
        let compared = all.iter().filter(|one| compared(one));
        let tasks = compared.map(|one| MeasuredTask::new(&one.variant, &one.phase));
        LeftOutTasks::new(measured, &tasks.collect::<Vec<_>>())
    };
    let uncompared = left_out(&|_| true);
    // What lacks a level at an end says nothing of the whole range.
    let short = left_out(&|one| one.range == widest.range);
    // A single variant needs no name: what was measured says on what.
    let is_single = all.iter().all(|one| one.variant == widest.variant)
        && measured.iter().all(|one| one.variant == widest.variant);
    let told = |one: &&SlopeFinding| {
        let variant = if is_single { DEFAULT_VARIANT.into() } else { one.variant.clone() };
        SlopeFinding { variant, ..(*one).clone() }
    };
    let told: Vec<SlopeFinding> = all.iter().map(told).collect();
    let told: Vec<&SlopeFinding> = told.iter().collect();
    let tasks = told.len().max(measured.len());
    let draft = slower(&told, tasks, &uncompared)
        .or_else(|| by_device_itself(&told, &uncompared))
        .or_else(|| not_slower(&told, widest.range, &short))
        .unwrap_or_else(|| open(&told, &uncompared));
    Some(draft.made_of(figures))
}

fn axis_of(one: &SlopeFinding) -> AxisWords<'_> {
    AxisWords { name: &one.axis, unit: one.unit }
}

/// What is said of the others beside those that an answer states, over its range if it has one.
fn others(all: &[&SlopeFinding], stated: &[&SlopeFinding], range: Option<Interval>) -> Vec<String> {
    let others = all.iter().filter(|one| !stated.contains(one));
    let others = others.map(|one| match range == Some(one.range) {
        true => over_same_range(one),
        false => begun(&one.sentence()),
    });
    others.collect()
}

/// The range of all of them; none where they differ.
fn range_of(all: &[&SlopeFinding]) -> Option<Interval> {
    match each_once(all.iter().map(|one| one.range)).as_slice() {
        [only] => Some(*only),
        _ => None,
    }
}

/// The range, then each of them; where they have different ranges, each with its own.
fn over_ranges<'a>(
    all: &[&'a SlopeFinding],
    over: fn(AxisWords<'a>, Interval) -> String,
    about: fn(&SlopeFinding) -> String,
) -> String {
    let over = |one: &'a SlopeFinding| over(axis_of(one), one.range);
    match (all, range_of(all)) {
        ([first, ..], Some(_)) => {
            let each: Vec<String> = all.iter().map(|one| about(one)).collect();
            format!("{} {}", over(first), listed(&each))
        }
        _ => {
            let each = all.iter().map(|one| format!("{} {}", over(one), about(one)));
            listed(&each.collect::<Vec<_>>())
        }
    }
}

fn is_slower(one: &SlopeFinding) -> bool {
    one.effect && one.change < 0.0
}

/// Some of so many tasks are slower; none if none is, but for what may be the device's own.
fn slower(all: &[&SlopeFinding], tasks: usize, left_out: &LeftOutTasks) -> Option<AnswerDraft> {
    let slower: Vec<&SlopeFinding> =
        all.iter().copied().filter(|one| is_slower(one) && !one.device_itself).collect();
    let most = slower.iter().copied().min_by(|a, b| a.whole().total_cmp(&b.whole()))?;
    let range = range_of(&slower);
    let number = of_tasks(slower.len(), tasks);
    let text = match range {
        _ if slower.len() <= NAMED_MAX => over_ranges(&slower, AxisWords::over, about),
        Some(range) => {
            let over = axis_of(most).over(range);
            format!("{over} {number} are slower, most of all: {}", about(most))
        }
        None => {
            let most = over_ranges(&[most], AxisWords::over, about);
            format!("{number} are slower, most of all: {most}")
        }
    };
    let stated = if slower.len() <= NAMED_MAX { slower } else { Vec::new() };
    let evidence = left_out.sentence().into_iter().chain(others(all, &stated, range));
    let evidence = evidence.collect();
    Some(AnswerDraft::proven(Verdict::Yes, text, evidence))
}

/// Some are slower or faster, but it may be the device's own; none if none is. What makes a device faster may hide that
/// something else slows it down.
fn by_device_itself(all: &[&SlopeFinding], left_out: &LeftOutTasks) -> Option<AnswerDraft> {
    let mut own: Vec<&SlopeFinding> =
        all.iter().copied().filter(|one| one.effect && one.device_itself).collect();
    own.sort_by(|a, b| a.whole().total_cmp(&b.whole()));
    // With what stands behind it there are no words for more.
    own.truncate(1);
    own.first()?;
    let text = over_ranges(&own, AxisWords::over, about) + DEVICE_ITSELF;
    let others = others(all, &own, range_of(&own));
    let evidence = left_out.sentence().into_iter().chain(others).collect();
    Some(AnswerDraft::cannot_tell(Lack::SteadyDevice, text, evidence))
}

/// How much a task may be slower, as a share.
fn slower_by(one: &SlopeFinding) -> f64 {
    -one.bounds().low
}

/// None of those with this range is slower by more than the margin, nor are the others over theirs; none if one may be.
fn not_slower(
    all: &[&SlopeFinding],
    range: Interval,
    left_out: &LeftOutTasks,
) -> Option<AnswerDraft> {
    let first = all.first()?;
    let most = all.iter().map(|one| slower_by(one)).fold(0.0, f64::max);
    if most > SLOWER_MARGIN {
        return None;
    }
    let (apart, within) = (left_out.apart(), axis_of(first).within(range));
    let nothing_is = match all.len() == 1 && left_out.is_empty() {
        true => format!("{} is not", task(&first.variant, &first.phase)),
        false => "nothing is".into(),
    };
    let text = format!("{apart}{within} {nothing_is} more than {} slower", at_most(most));
    let unsaid = left_out.sentence_beside_apart().into_iter();
    let evidence = unsaid.chain(others(all, &[], Some(range))).collect();
    Some(AnswerDraft::proven(Verdict::No, text, evidence))
}

/// Those that may be slower the most.
fn open(all: &[&SlopeFinding], left_out: &LeftOutTasks) -> AnswerDraft {
    let mut open: Vec<&SlopeFinding> =
        all.iter().copied().filter(|one| slower_by(one) > SLOWER_MARGIN).collect();
    open.sort_by(|a, b| a.bounds().low.total_cmp(&b.bounds().low));
    open.truncate(NAMED_MAX);
    let text = over_ranges(&open, AxisWords::within, may_be);
    let others = others(all, &open, range_of(&open));
    let evidence = left_out.sentence().into_iter().chain(others).collect();
    let is_slower_between =
        |one: &&SlopeFinding| one.levels.iter().any(|level| level.interval.high < -SLOWER_MARGIN);
    let ends_within = |one: &&SlopeFinding| {
        one.levels.last().is_some_and(|level| level.interval.low >= -SLOWER_MARGIN)
    };
    // That nothing is slower is excluded then, and that anything is over the whole range.
    let lacks = match all.iter().any(is_slower_between) && all.iter().all(ends_within) {
        true => Lack::Design,
        false => Lack::Precision,
    };
    AnswerDraft::cannot_tell(lacks, text, evidence)
}

/// A sentence on a task beside those of an answer, over the same range: the finding's own is for each step of the axis.
fn over_same_range(one: &SlopeFinding) -> String {
    match one.effect && one.change > 0.0 {
        false => begun(&one.sentence()),
        true => {
            let but = if one.device_itself { DEVICE_ITSELF } else { "" };
            format!("{} over the same range{but}.", begun(&about(one)))
        }
    }
}

/// `write is 30% slower (10% to 50%)`, `read is 5% faster (2% to 9%)`, `create takes 480 times as long (440 to 520)`
fn about(one: &SlopeFinding) -> String {
    let (task, interval) = (task(&one.variant, &one.phase), one.whole_interval());
    if one.change > 0.0 {
        let span = shares(interval.low.max(0.0), interval.high);
        return format!("{task} is {} faster ({span})", share(one.whole()));
    }
    if let Some((times, ends)) = one.times_as_long() {
        return format!("{task} takes {}", as_long(times, Some(ends)));
    }
    // The line of a rate that falls steeply at first may end below zero.
    let [low, high] = [-interval.high, -interval.low].map(|end| end.clamp(0.0, 1.0));
    let span = shares(low, high);
    let slower = share(one.whole().abs().min(1.0));
    format!("{task} is {slower} slower ({span})")
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
