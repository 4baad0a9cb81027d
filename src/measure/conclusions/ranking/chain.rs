//! The words of an order: each variant is held against the one before it.

use super::Step;
use crate::measure::conclusions::say;

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
    let Step { faster, slower, ratio } = step;
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
            format!("{faster} is {times} times as fast as {slower} ({})", say::span(interval))
        }
    }
}

/// Many steps, shorter than one by one.
fn chain(steps: &[Step<'_>]) -> String {
    let mut told = Vec::new();
    for (at, step) in steps.iter().enumerate() {
        let Step { faster, slower, ratio } = step;
        let (times, first) = (times(step), at == 0);
        let part = match ratio.interval() {
            None => {
                format!("{slower} was measured too seldom to compare with {faster} ({times} times)")
            }
            Some(interval) if ratio.tie() => {
                let span = say::span(interval);
                let tie = if first {
                    format!("{faster} and {slower} tie")
                } else {
                    format!("{slower} ties with {faster}")
                };
                format!("{tie} ({times} times, {span})")
            }
            Some(interval) => {
                let span = say::span(interval);
                let than = if first { String::new() } else { format!(" as {faster}") };
                format!("{slower} takes {times} times as long{than} ({span})")
            }
        };
        if first && !ratio.tie() {
            told.push(format!("{faster} is the fastest"));
        }
        told.push(part);
    }
    told.join("; ")
}

fn times(step: &Step<'_>) -> String {
    say::times(step.ratio.times())
}
