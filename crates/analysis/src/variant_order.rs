//! Orders variants by mean time, for each phase or the whole job at each level, with how far each is behind the fastest.

use super::effect_finding::{ComparedRatio, Conclusion, EffectFinding};
use super::effects::decide::Decision;
use super::findings::say::level_in_words;
use super::observations::{LeftOutVariant, Observations, TimeTable};
use super::statement::text_of;
use boatload_base::distinct::each_once;
use boatload_results::book::{Book, Level};
use boatload_results::order::variants;

/// An effect with its place among what is concluded.
#[derive(Clone, Copy, Debug)]
pub struct PlacedEffect<'a> {
    /// Its place in the order of the run.
    pub place: usize,
    /// What was found.
    pub effect: &'a EffectFinding,
}

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
    /// The geometric mean of each variant's times.
    mean_ns: Vec<(String, f64)>,
    /// Variants that cannot take part.
    pub left_out: Vec<LeftOutVariant>,
    /// What was found of the caches of some variants, where that is not the same of all.
    pub caches: Vec<String>,
    /// Whether content was left that the device had not when a phase ended.
    pub unwritten: bool,
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
    pub effect: usize,
}

/// The orders of a run with these conclusions: the whole job first, each at each level.
pub(super) fn ranked(book: &Book, concluded: &[PlacedEffect<'_>]) -> Vec<RankedVariants> {
    let names = variants(book);
    let all = Observations::new(book, &names);
    let tables = all.jobs().into_iter().chain(all.tables());
    tables.filter_map(|table| order(&table, concluded)).collect()
}

/// None of fewer than two variants, and where none were compared.
fn order(table: &TimeTable<'_>, concluded: &[PlacedEffect<'_>]) -> Option<RankedVariants> {
    let mut by_time: Vec<(&str, f64)> =
        table.rows.iter().map(|row| (row.variant, row.mean())).collect();
    by_time.sort_by(|a, b| a.1.total_cmp(&b.1));
    let ((first, _), others) = by_time.split_first()?;
    let behind = |(name, _): &(&str, f64)| {
        let PlacedEffect { place, effect: found } =
            *concluded.iter().find(|one| is_between(one.effect, table, [first, name]))?;
        let is_first = found.from.variant.as_deref() == Some(*first);
        let seen = |compared: ComparedRatio| if is_first { compared } else { compared.reversed() };
        let (stated, headline) = (seen(found.stated()), seen(found.headline()));
        Some(RankedVariant { name: name.to_string(), stated, headline, effect: place })
    };
    let others: Vec<RankedVariant> = others.iter().filter_map(behind).collect();
    (!others.is_empty()).then(|| RankedVariants {
        phase: table.phase.map(String::from),
        mean_ns: by_time.iter().map(|(name, log)| (name.to_string(), log.exp() * 1e9)).collect(),
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
    found.reading == Conclusion::Ranking
        && found.phase.as_deref() == table.phase
        && found.to.level.as_ref() == table.level
        && pair.iter().all(|name| sides.contains(&Some(name)))
}

/// What was found of the caches, where it is not the same of all variants: `ext4, xfs warm`.
fn cache_differences(table: &TimeTable<'_>) -> Vec<String> {
    let states = each_once(table.rows.iter().map(|row| row.caches.join(" and ")));
    let of_state = |state: &String| {
        let own = table.rows.iter().filter(|row| row.caches.join(" and ") == *state);
        format!("{} {state}", own.map(|row| row.variant).collect::<Vec<_>>().join(", "))
    };
    if states.len() < 2 { Vec::new() } else { states.iter().map(of_state).collect() }
}

const UNWRITTEN: &str = " What was not yet on the device when a phase ended is in none of these times: \
                         ask for a sync with `durability`.";

impl RankedVariants {
    /// The order in one sentence, or a few, as tables state it: with who is not in it, whose caches were found otherwise, and
    /// what is not in the times.
    pub fn sentence(&self) -> String {
        let what = self.phase.as_deref().unwrap_or("the whole job");
        let level = self.level.as_ref().map(level_in_words);
        let place = level.map_or_else(String::new, |level| format!(" at {level}"));
        let mut sentence = format!("{what}{place}: {}.", self.about_order());
        let left_out = self.left_out.iter().map(|one| format!("{} ({})", one.variant, one.reason));
        let left_out: Vec<String> = left_out.collect();
        if !left_out.is_empty() {
            sentence += &format!(" Left out: {}.", left_out.join(", "));
        }
        if !self.caches.is_empty() {
            sentence += &format!(" Their caches differed: {}.", self.caches.join("; "));
        }
        sentence + if self.unwritten { UNWRITTEN } else { "" }
    }

    /// How long a variant takes for the whole job, or for an operation or a byte of the phase, in nanoseconds.
    pub(crate) fn mean_ns(&self, variant: &str) -> Option<f64> {
        self.mean_ns.iter().find(|(name, _)| name == variant).map(|(_, ns)| *ns)
    }

    fn about_order(&self) -> String {
        let is_first_of =
            |decision: Decision| self.others.iter().any(|one| one.stated.decision == decision);
        let is_open = is_first_of(Decision::Open) || is_first_of(Decision::Shorter);
        let lead = if is_open { "has the least mean time" } else { "is the fastest" };
        let takes = |one: &RankedVariant| {
            format!("{} {}", one.name, text_of(&one.stated.takes(Vec::new())))
        };
        let lead = format!("{} {lead}", self.first);
        let others = self.others.iter().map(takes);
        std::iter::once(lead).chain(others).collect::<Vec<_>>().join("; ")
    }
}
