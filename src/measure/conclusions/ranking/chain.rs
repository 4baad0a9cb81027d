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
    for alike in steps.chunk_by(|a, b| Verdict::of(&a.behind_first) == Verdict::of(&b.behind_first))
    {
        let behind: Vec<_> = alike.iter().map(|step| (step.slower, &step.behind_first)).collect();
        told.push(against(&behind, "it"));
    }
    for step in &steps[1..] {
        // Two that the first is not ahead of are told as such already.
        if step.ratio.tie() && !step.behind_first.tie() {
            told.push(against(&[(step.slower, &step.ratio)], step.faster));
        }
    }
    told.join("; ")
}

/// Within this, two that cannot be told apart are as good as alike.
const ALIKE_TIMES: f64 = 1.25;

/// What a comparison came to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    /// There were too few measurements for one.
    None,
    Tie,
    NotToldApart,
    Slower,
}

impl Verdict {
    fn of(ratio: &Ratio) -> Self {
        match ratio.interval() {
            None => Self::None,
            Some([_, high]) if ratio.tie() && high <= ALIKE_TIMES => Self::Tie,
            Some(_) if ratio.tie() => Self::NotToldApart,
            Some(_) => Self::Slower,
        }
    }
}

/// Some of one verdict, held against another that came before them.
fn against(slower: &[(&str, &Ratio)], other: &str) -> String {
    let Some((_, ratio)) = slower.first() else { return String::new() };
    let (verdict, one) = (Verdict::of(ratio), slower.len() == 1);
    if verdict == Verdict::Slower {
        let takes = slower.iter().map(|(name, ratio)| {
            let span = ratio.interval().map_or_else(String::new, say::beyond);
            format!("{name} takes {} times as long ({span})", say::times(ratio.times()))
        });
        return takes.collect::<Vec<_>>().join("; ");
    }
    let named = slower.iter().map(|(name, ratio)| {
        let span = ratio.interval().map(|interval| format!(", {}", say::span(interval)));
        let times = say::times(ratio.times());
        format!("{name} ({times} times{})", span.unwrap_or_default())
    });
    let does = match (verdict, one) {
        (Verdict::None, true) => "was measured too seldom to compare with",
        (Verdict::None, false) => "were measured too seldom to compare with",
        (Verdict::Tie, true) => "ties with",
        (Verdict::Tie, false) => "tie with",
        (_, true) => "is not told apart from",
        (_, false) => "are not told apart from",
    };
    format!("{} {does} {other}", listed(&named.collect::<Vec<_>>()))
}

/// `a, b and c`
fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
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
