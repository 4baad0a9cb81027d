//! The words of an order: each variant is held against the first.

use super::{Field, Runner, Step};
use crate::measure::conclusions::ratio::Ratio;
use crate::measure::conclusions::say;
use crate::measure::order::each_once;

/// The steps of an order in words.
pub(super) fn told(steps: &[Step<'_>]) -> String {
    match steps {
        [only] => pair(only),
        [first, others @ ..] if steps.iter().all(|step| step.ratio.interval().is_none()) => {
            let next = others.iter().map(|s| format!("{} ({})", s.slower, times(s)));
            format!(
                "measured too seldom to compare; {} came first, then {} ({} times as long), {}",
                first.faster,
                first.slower,
                times(first),
                next.collect::<Vec<_>>().join(", ")
            )
        }
        steps => chain(steps),
    }
}

/// A step by itself.
fn pair(step: &Step<'_>) -> String {
    let Step { faster, slower, ratio, .. } = step;
    let times = times(step);
    match ratio.interval() {
        None => {
            format!("{faster} and {slower} were measured too seldom to compare ({times} times)")
        }
        Some(interval) if ratio.tie() => {
            let span = say::span(interval);
            format!("no difference seen between {faster} and {slower} ({times} times, {span})")
        }
        Some(interval) => {
            format!("{faster} is {times} times as fast as {slower} ({})", say::beyond(interval))
        }
    }
}

/// Many: each held against the first, and those behind it that the order does not tell apart.
fn chain(steps: &[Step<'_>]) -> String {
    let Some(first) = steps.first().map(|step| step.faster) else { return String::new() };
    let ahead = steps.iter().all(|step| !step.behind_first.tie());
    let mut told = vec![format!("{first} {}", if ahead { "is the fastest" } else { "came first" })];
    told.extend(steps.iter().map(|step| against(step.slower, &step.behind_first, "it")));
    for step in &steps[1..] {
        // Two that the first is not ahead of are told as such already.
        if step.ratio.tie() && !step.behind_first.tie() {
            told.push(against(step.slower, &step.ratio, step.faster));
        }
    }
    told.join("; ")
}

/// Within this, two that cannot be told apart are as good as alike.
const ALIKE_TIMES: f64 = 1.25;

/// One held against another that came before it.
fn against(slower: &str, ratio: &Ratio, other: &str) -> String {
    let times = say::times(ratio.times());
    match ratio.interval() {
        None => format!("{slower} was measured too seldom to compare ({times} times)"),
        Some(interval) if ratio.tie() => {
            let alike = interval[1] <= ALIKE_TIMES;
            let words = if alike { "ties with" } else { "is not told apart from" };
            format!("{slower} {words} {other} ({times} times, {})", say::span(interval))
        }
        Some(interval) => {
            format!("{slower} takes {times} times as long ({})", say::beyond(interval))
        }
    }
}

/// What was found of the caches, where that is not the same for all; else nothing.
pub(super) fn caches(fields: &[Field<'_>]) -> String {
    let of = |runner: &Runner<'_>| runner.caches.join(" and ");
    let all = || fields.iter().flat_map(|field| &field.runners);
    let states = each_once(all().map(of));
    if states.len() < 2 {
        return String::new();
    }
    let told = states.iter().map(|state| {
        let names = each_once(all().filter(|r| of(r) == *state).map(|runner| runner.variant));
        format!("{} {state}", names.join(", "))
    });
    format!(" Their caches were not alike: {}.", told.collect::<Vec<_>>().join("; "))
}

fn times(step: &Step<'_>) -> String {
    say::times(step.ratio.times())
}
