//! Orders the variants of a phase, or of the whole job, at one level, by the effects between them.

use super::effect::{ComparedRatio, EffectFinding, Reading};
use super::effects::decide::Decision;
use super::finding::Finding;
use super::findings::say::listed;
use super::observations::{LeftOutVariant, Observations, TimeTable};
use crate::base::distinct::each_once;
use crate::results::book::{Book, Level};
use crate::results::order::variants;

/// The variants of a phase at a level, from the fastest on.
#[derive(Clone, Debug, PartialEq)]
pub struct RankedVariants {
    /// The phase; none for the whole job.
    pub phase: Option<String>,
    /// The level; none without an axis.
    pub level: Option<Level>,
    /// The one with the least mean time.
    pub first: String,
    /// The others, by their mean times.
    pub others: Vec<RankedVariant>,
    /// Variants that cannot take part.
    pub(in crate::analysis) left_out: Vec<LeftOutVariant>,
    /// What was found of the caches of some variants, where that is not the same of all.
    pub(in crate::analysis) caches: Vec<CacheDifference>,
    /// Whether content was left that the device had not when a phase ended.
    pub(in crate::analysis) unwritten: bool,
}

/// A variant, compared with the first one of its order.
#[derive(Clone, Debug, PartialEq)]
pub struct RankedVariant {
    /// Its name.
    pub name: String,
    /// How many times as long it takes, as tables state it.
    pub stated: ComparedRatio,
    /// The same as a headline states it.
    pub headline: ComparedRatio,
    /// The place of the effect among the concluded ones.
    pub(in crate::analysis) effect: usize,
}

/// What was found of the caches of some variants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::analysis) struct CacheDifference {
    variants: Vec<String>,
    /// `warm`
    found: String,
}

/// The orders of a run with these conclusions: the whole job first, each at each level.
pub(super) fn ranked(book: &Book, concluded: &[Finding]) -> Vec<RankedVariants> {
    let names = variants(book);
    let all = Observations::new(book, &names);
    let tables = all.jobs().into_iter().chain(all.tables());
    tables.filter_map(|table| order(&table, concluded)).collect()
}

/// None of fewer than two variants, and where none were compared.
fn order(table: &TimeTable<'_>, concluded: &[Finding]) -> Option<RankedVariants> {
    let mut by_time: Vec<(&str, f64)> =
        table.rows.iter().map(|row| (row.variant, row.mean())).collect();
    by_time.sort_by(|a, b| a.1.total_cmp(&b.1));
    let ((first, _), others) = by_time.split_first()?;
    let behind = |(name, _): &(&str, f64)| {
        let (effect, found) = concluded.iter().enumerate().find_map(|(at, finding)| {
            let Finding::Effect(found) = finding else { return None };
            is_between(found, table, [first, name]).then_some((at, found))
        })?;
        let is_first = found.from.variant.as_deref() == Some(*first);
        let seen = |compared: ComparedRatio| if is_first { compared } else { compared.reversed() };
        let (stated, headline) = (seen(found.stated()), seen(found.headline()));
        Some(RankedVariant { name: name.to_string(), stated, headline, effect })
    };
    let others: Vec<RankedVariant> = others.iter().filter_map(behind).collect();
    (!others.is_empty()).then(|| RankedVariants {
        phase: table.phase.map(String::from),
        level: table.level.cloned(),
        first: first.to_string(),
        others,
        left_out: table.left_out.clone(),
        caches: cache_differences(table),
        unwritten: table.unwritten,
    })
}

fn is_between(found: &EffectFinding, table: &TimeTable<'_>, pair: [&str; 2]) -> bool {
    let sides = [&found.from, &found.to].map(|cell| cell.variant.as_deref());
    found.reading == Reading::Ranking
        && found.phase.as_deref() == table.phase
        && found.to.level.as_ref() == table.level
        && pair.iter().all(|name| sides.contains(&Some(name)))
}

/// What was found of the caches, where that is not the same of all variants.
fn cache_differences(table: &TimeTable<'_>) -> Vec<CacheDifference> {
    let states = each_once(table.rows.iter().map(|row| row.caches.join(" and ")));
    if states.len() < 2 {
        return Vec::new();
    }
    let variants = |state: &String| {
        let own = table.rows.iter().filter(|row| row.caches.join(" and ") == *state);
        own.map(|row| row.variant.to_string()).collect()
    };
    let difference = |found| CacheDifference { variants: variants(&found), found };
    states.into_iter().map(difference).collect()
}

const UNWRITTEN: &str = "What was not yet on the device when a phase ended is in none of these times: \
                         ask for a sync with `durability`.";

impl RankedVariants {
    /// The order in one sentence, or a few, as tables state it.
    pub fn sentence(&self) -> String {
        let what = self.phase.as_deref().unwrap_or("the whole job");
        let place = self
            .level
            .as_ref()
            .map(|one| format!(" at {}", super::findings::say::level_in_words(one)));
        let mut sentence = format!("{what}{}: {}.", place.unwrap_or_default(), self.about_order());
        for note in self.notes() {
            sentence += &format!(" {note}");
        }
        sentence
    }

    /// What a reader must know of the order: who is not in it, whose caches were found otherwise, and what is not in the times.
    pub(in crate::analysis) fn notes(&self) -> Vec<String> {
        let caches =
            self.caches.iter().map(|one| format!("{} {}", one.variants.join(", "), one.found));
        let caches: Vec<String> = caches.collect();
        let differed = format!("Their caches differed: {}.", caches.join("; "));
        let unwritten = self.unwritten.then(|| UNWRITTEN.to_string());
        let differed = (!caches.is_empty()).then_some(differed);
        self.about_left_out().into_iter().chain(differed).chain(unwritten).collect()
    }

    /// A sentence on the variants that the order leaves out, if any.
    pub(in crate::analysis) fn about_left_out(&self) -> Option<String> {
        let each = self.left_out.iter().map(|one| format!("{} ({})", one.variant, one.reason));
        let each: Vec<String> = each.collect();
        (!each.is_empty()).then(|| format!("Left out: {}.", each.join(", ")))
    }

    fn about_order(&self) -> String {
        let first = &self.first;
        let with = |decision: Decision| -> Vec<&RankedVariant> {
            self.others.iter().filter(|one| one.stated.decision == decision).collect()
        };
        let [slower, alike, open, faster] =
            [Decision::Longer, Decision::Within, Decision::Open, Decision::Shorter].map(with);
        let lead =
            if open.is_empty() && faster.is_empty() { "is the fastest" } else { "came first" };
        let mut parts = vec![format!("{first} {lead}")];
        let names = |all: &[&RankedVariant]| -> Vec<String> {
            all.iter().map(|one| one.name.to_string()).collect()
        };
        if !alike.is_empty() {
            let (names, are) = (listed(&names(&alike)), if alike.len() > 1 { "are" } else { "is" });
            parts.push(format!("{names} {are} within 10% of it"));
        }
        let takes = |one: &&RankedVariant| format!("{} takes {}", one.name, one.stated.as_long());
        parts.extend(slower.iter().chain(&faster).map(takes));
        let may = |one: &&RankedVariant| format!("{} {}", one.name, one.stated.as_open(""));
        parts.extend(open.iter().map(may));
        parts.join("; ")
    }
}
