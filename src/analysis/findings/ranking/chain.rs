//! The words of an order: each variant is compared with the first.

use super::{ComparedRatio, RankingStep};
use crate::analysis::findings::say::{beyond, span, times};

/// The steps of an order in words.
pub(super) fn about_order(steps: &[RankingStep]) -> String {
    match steps {
        [only] => about_pair(only),
        [first, others @ ..] if steps.iter().all(|step| step.compared.interval.is_none()) => {
            let next = others
                .iter()
                .map(|step| format!("{} ({})", step.slower, times(step.behind_first.ratio)));
            format!(
                "too few measurements to compare; {} came first, then {} ({} times as long), {}",
                first.faster,
                first.slower,
                times(first.behind_first.ratio),
                next.collect::<Vec<_>>().join(", ")
            )
        }
        steps => about_many(steps),
    }
}

/// A step by itself.
fn about_pair(step: &RankingStep) -> String {
    let RankingStep { faster, slower, compared, .. } = step;
    let ratio = times(compared.ratio);
    match compared.interval {
        None => format!("too few measurements to compare {faster} and {slower} ({ratio} times)"),
        Some(interval) if compared.tie => {
            let span = span(interval);
            format!(
                "no significant difference between {faster} and {slower} ({ratio} times, {span})"
            )
        }
        Some(interval) => {
            format!("{faster} is {ratio} times as fast as {slower} ({})", beyond(interval))
        }
    }
}

/// Many: each compared with the first, and those behind it with the one before where these do not
/// differ significantly.
fn about_many(steps: &[RankingStep]) -> String {
    let Some(first) = steps.first().map(|step| &step.faster) else { return String::new() };
    let ahead = steps.iter().all(|step| !step.behind_first.tie);
    let mut told = vec![format!("{first} {}", if ahead { "is the fastest" } else { "came first" })];
    for alike in steps.chunk_by(|a, b| {
        ComparisonResult::new(&a.behind_first) == ComparisonResult::new(&b.behind_first)
    }) {
        let behind: Vec<_> =
            alike.iter().map(|step| (step.slower.as_str(), &step.behind_first)).collect();
        told.push(against(&behind, "it"));
    }
    for step in &steps[1..] {
        // Two that the first is not ahead of are told as such already.
        if step.compared.tie && !step.behind_first.tie {
            told.push(against(&[(step.slower.as_str(), &step.compared)], &step.faster));
        }
    }
    told.join("; ")
}

/// Within this, two that do not differ significantly are as good as alike.
const ALIKE_TIMES: f64 = 1.25;

/// What a comparison came to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ComparisonResult {
    TooFewMeasurements,
    Tie,
    NoSignificantDifference,
    Slower,
}

impl ComparisonResult {
    fn new(compared: &ComparedRatio) -> Self {
        match compared.interval {
            None => Self::TooFewMeasurements,
            Some(interval) if compared.tie && interval.high <= ALIKE_TIMES => Self::Tie,
            Some(_) if compared.tie => Self::NoSignificantDifference,
            Some(_) => Self::Slower,
        }
    }
}

/// Some of the same result, compared with another that came before them.
fn against(slower: &[(&str, &ComparedRatio)], other: &str) -> String {
    let Some((_, compared)) = slower.first() else { return String::new() };
    let (result, one) = (ComparisonResult::new(compared), slower.len() == 1);
    if result == ComparisonResult::Slower {
        let takes = slower.iter().map(|(name, compared)| {
            let span = compared.interval.map_or_else(String::new, beyond);
            format!("{name} takes {} times as long ({span})", times(compared.ratio))
        });
        return takes.collect::<Vec<_>>().join("; ");
    }
    let named = slower.iter().map(|(name, compared)| {
        let span = compared.interval.map(|interval| format!(", {}", span(interval)));
        format!("{name} ({} times{})", times(compared.ratio), span.unwrap_or_default())
    });
    let does = match (result, one) {
        (ComparisonResult::TooFewMeasurements, true) => "has too few measurements to compare with",
        (ComparisonResult::TooFewMeasurements, false) => {
            "have too few measurements to compare with"
        }
        (ComparisonResult::Tie, true) => "ties with",
        (ComparisonResult::Tie, false) => "tie with",
        (_, true) => "does not differ significantly from",
        (_, false) => "do not differ significantly from",
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
