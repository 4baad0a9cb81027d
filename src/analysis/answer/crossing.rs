//! Answers which of two variants is the faster at which level, from the pair that differs most, and where the decided winner
//! changes. Between levels nothing is decided.

use super::Verdict;
use super::draft::{AnswerDraft, Lack, PlacedEffect};
use super::left_out::{LeftOutTasks, MeasuredTask};
use super::words::{WORDS_MAX, begun, number_of_words};
use crate::analysis::effect::{ComparedRatio, EffectCell, EffectFinding};
use crate::analysis::effects::decide::Decision;
use crate::analysis::findings::say;
use crate::base::distinct::each_once;
use crate::results::book::{Book, Level, Measurement};

/// Two variants in one phase, at each level that both have.
struct ComparedPair<'a> {
    phase: &'a str,
    variants: [&'a str; 2],
    /// Lowest first.
    levels: Vec<ComparedLevel<'a>>,
}

/// How many times as long the first of two takes as the second at a level.
struct ComparedLevel<'a> {
    level: &'a Level,
    compared: ComparedRatio,
    /// The place of its effect among the findings.
    place: usize,
}

impl<'a> ComparedLevel<'a> {
    /// Which of the pair is proven the faster, 0 or 1; `None` where the effect is open or within 10%.
    fn winner(&self) -> Option<usize> {
        match self.compared.decision {
            Decision::Longer => Some(1),
            Decision::Shorter => Some(0),
            Decision::Within | Decision::Open => None,
        }
    }

    /// The ratio of the loser's time to the winner's.
    fn by(&self) -> ComparedRatio {
        if self.compared.ratio < 1.0 { self.compared.reversed() } else { self.compared }
    }
}

/// From all effects between variants, and all tasks that were measured; none without levels.
pub(super) fn crossing(
    effects: &[PlacedEffect<'_>],
    measured: &[MeasuredTask<'_>],
) -> Option<AnswerDraft> {
    let mut all = pairs(effects);
    all.sort_by(|a, b| weight(b).total_cmp(&weight(a)));
    let (told, others) = all.split_first()?;
    let compared =
        all.iter().flat_map(|one| one.variants.map(|name| MeasuredTask::new(name, one.phase)));
    let left_out = LeftOutTasks::new(measured, &compared.collect::<Vec<_>>());
    let about_others = others.iter().map(|other| format!("{}: {}.", other.phase, other.sentence()));
    let evidence: Vec<String> =
        left_out.sentence().into_iter().chain(about_others.map(|text| begun(&text))).collect();
    if weight(told) == 0.0 {
        let places = all.iter().flat_map(|one| one.levels.iter().map(|level| level.place));
        let places = places.collect();
        return Some(undecided(&all, evidence).made_of(places));
    }
    let in_phase = match each_once(all.iter().map(|one| one.phase)).len() {
        1 => String::new(),
        _ => format!("in {} ", told.phase),
    };
    let about = |none, detail| format!("{in_phase}{}", told.parts(none, detail).join("; "));
    let none = Some("no difference is proven");
    let texts = [
        about(none, WinnerDetail::Intervals),
        about(none, WinnerDetail::Ratios),
        about(None, WinnerDetail::Intervals),
        about(None, WinnerDetail::Ratios),
        about(none, WinnerDetail::Name),
    ];
    let short = texts.into_iter().find(|text| number_of_words(text) < WORDS_MAX);
    let text = short.unwrap_or_else(|| about(None, WinnerDetail::Name));
    let places = told.levels.iter().map(|level| level.place).collect();
    Some(AnswerDraft::proven(Verdict::Yes, text, evidence).made_of(places))
}

/// Whether both variants of an effect promise the same: one that waits for the device after each operation does another work.
pub(super) fn are_as_durable(book: &Book, effect: &EffectFinding) -> bool {
    let durability = |cell: &EffectCell| {
        let own = |m: &&Measurement| {
            effect.phase.as_ref() == Some(&m.phase)
                && cell.variant.as_ref() == Some(&m.cell.variant)
        };
        book.measurements.iter().find(own).and_then(|m| m.durability)
    };
    durability(&effect.from) == durability(&effect.to)
}

fn pairs<'a>(effects: &[PlacedEffect<'a>]) -> Vec<ComparedPair<'a>> {
    let mut all: Vec<ComparedPair<'a>> = Vec::new();
    for PlacedEffect { place, effect } in effects {
        let sides = effect.to.variant.as_deref().zip(effect.from.variant.as_deref());
        let known = effect.phase.as_deref().zip(sides).zip(effect.to.level.as_ref());
        let Some(((phase, (to, from)), level)) = known else { continue };
        let compared = ComparedLevel { level, compared: effect.headline(), place: *place };
        match all.iter_mut().find(|one| one.phase == phase && one.variants == [to, from]) {
            Some(one) => one.levels.push(compared),
            None => all.push(ComparedPair { phase, variants: [to, from], levels: vec![compared] }),
        }
    }
    for one in &mut all {
        one.levels.sort_by(|a, b| a.level.value.total_cmp(&b.level.value));
    }
    all.retain(|one| one.levels.len() > 1);
    all
}

/// How much a pair has to tell: the logarithms of its proven ratios.
fn weight(one: &ComparedPair<'_>) -> f64 {
    let won = one.levels.iter().filter(|level| level.winner().is_some());
    won.map(|level| level.compared.ratio.ln().abs()).sum()
}

/// What is told of a winner.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WinnerDetail {
    /// Ratios with their intervals.
    Intervals,
    /// Ratios.
    Ratios,
    /// Its name.
    Name,
}

impl ComparedPair<'_> {
    fn sentence(&self) -> String {
        self.parts(Some("no difference is proven"), WinnerDetail::Intervals).join("; ")
    }

    /// Neighbouring levels with one winner, each as a part of the text; those without one are called `none`, or left out.
    fn parts(&self, none: Option<&str>, detail: WinnerDetail) -> Vec<String> {
        let ends =
            [self.levels.first(), self.levels.last()].map(|one| one.map(|one| one.level.value));
        let mut parts: Vec<String> = Vec::new();
        let mut is_named = false;
        for levels in self.levels.chunk_by(|a, b| a.winner() == b.winner()) {
            let (Some(first), Some(last)) = (levels.first(), levels.last()) else { continue };
            let reaches = [first, last].map(|one| Some(one.level.value));
            let (is_lowest, is_highest) = (reaches[0] == ends[0], reaches[1] == ends[1]);
            let [low, high] = [first, last].map(|one| say::level(one.level));
            let place = match (levels.len(), is_lowest, is_highest) {
                (1, ..) => format!("at {low}"),
                (_, true, false) => format!("up to {high}"),
                (_, false, true) => format!("from {low} on"),
                _ => format!("from {low} to {high}"),
            };
            let Some(winner) = first.winner() else {
                parts.extend(none.map(|none| format!("{place} {none}")));
                continue;
            };
            let by = |level: &ComparedLevel<'_>| {
                let told = level.by().told().filter(|_| detail == WinnerDetail::Intervals);
                let interval = told.map(|told| format!(" ({})", say::span(told)));
                format!("{} times{}", say::times(level.by().ratio), interval.unwrap_or_default())
            };
            let at =
                |level: &ComparedLevel<'_>| format!("{} at {}", by(level), say::level(level.level));
            let by = match (detail, levels.len()) {
                (WinnerDetail::Name, _) => String::new(),
                (_, 1) => format!(": {}", by(first)),
                _ => format!(": {}, {}", at(first), at(last)),
            };
            let loser = self.variants[1 - winner];
            let than = if is_named { String::new() } else { format!(" than {loser}") };
            is_named = true;
            let is_everywhere = is_lowest && is_highest;
            let place = if is_everywhere { "at every level".to_string() } else { place };
            parts.push(format!("{place} {} is faster{than}{by}", self.variants[winner]));
        }
        parts
    }
}

/// No variant is proven faster than another at any level.
fn undecided(all: &[ComparedPair<'_>], evidence: Vec<String>) -> AnswerDraft {
    let levels = || all.iter().flat_map(|one| &one.levels);
    let between = match all {
        [one] => format!("between {} and {}", one.variants[0], one.variants[1]),
        _ => format!("in {} pairs of variants", all.len()),
    };
    if levels().any(|one| one.compared.interval.is_none()) {
        let text = format!("too few repeats to compare; in this run {}", largest(all));
        return AnswerDraft::cannot_tell(Lack::Repeats, text, evidence);
    }
    if levels().all(|one| one.compared.decision == Decision::Within) {
        let text = format!("no difference {between} is larger than 10% at any level");
        return AnswerDraft::proven(Verdict::No, text, evidence);
    }
    let told = levels().filter_map(|one| one.by().told()).map(|told| told.high);
    let most = told.fold(1.0, f64::max);
    let text = format!(
        "{between} no difference is proven; one may still be up to {} times as fast as the other",
        say::times(most)
    );
    AnswerDraft::cannot_tell(Lack::Precision, text, evidence)
}

/// The largest ratio that was seen: `file-per-block was 13.6 times as fast as file-per-chunk at 1 KiB`.
fn largest(all: &[ComparedPair<'_>]) -> String {
    let levels = all.iter().flat_map(|one| one.levels.iter().map(move |level| (one, level)));
    let most = levels.max_by(|a, b| a.1.by().ratio.total_cmp(&b.1.by().ratio));
    most.map_or(String::new(), |(one, level)| {
        let [first, second] = one.variants;
        let is_first = level.compared.ratio < 1.0;
        let (faster, slower) = if is_first { (first, second) } else { (second, first) };
        let (times, at) = (say::times(level.by().ratio), say::level(level.level));
        format!("{faster} was {times} times as fast as {slower} at {at}")
    })
}
