//! Defines what a reading is, and what it sees of a run.

use super::answer_draft::AnswerDraft;
use super::table::{AnswerCell, AnswerNote, AnswerRow, AnswerTable};
use crate::effect_finding::EffectFinding;
use crate::effects::decide::Decision;
use crate::findings::say::percent;
use crate::limit::Limit;
use crate::observations::{Observations, units_of_work};
use crate::summary::{PhaseSummary, Summary};
use crate::variant_order::{PlacedEffect, RankedVariants};
use crate::warnings::{RATE_SHARE_MIN, rate_share};
use boatload_base::distinct::each_once;
use boatload_base::named_enum;
use boatload_base::units::counted;
use boatload_op::Subject;
use boatload_plan::Conclusion;
use boatload_results::book::{Book, Level, Measurement};
use boatload_results::content::{constant_operations, is_bulk, is_listing};

/// A way to look at the measurements of a run.
pub(crate) trait Reading: Sync + std::fmt::Debug {
    /// Its effects, each with its sentence. Every family of claims is decided at this alpha.
    fn effects(&self, _all: &Observations<'_>, _alpha: f64) -> Vec<EffectFinding> {
        Vec::new()
    }

    /// The effects that must be decided for a run to end.
    fn asked<'a>(&self, all: Vec<&'a EffectFinding>) -> Vec<&'a EffectFinding> {
        all
    }

    /// What it says of a run; `None` when it has nothing to say.
    fn answer(&self, run: &RunView<'_>) -> Option<AnswerDraft>;

    /// The table that shows this; `None` when rates do.
    fn table(&self, _run: &RunView<'_>) -> Option<AnswerTable> {
        None
    }

    /// The picture that shows it best; `None` when no one does.
    fn picture(&self, _run: &RunView<'_>) -> Option<Picture> {
        None
    }
}

/// A picture: a family of charts, and the phase that it is of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// What kind of chart it is.
    pub family: ChartFamily,
    /// `None` if it is of all phases.
    pub phase: Option<String>,
}

named_enum! {
    /// A kind of chart, by the word that its keys begin with.
    pub enum ChartFamily {
        /// What variants take beside the fastest.
        Ranking = "ranking",
        /// Operations a second.
        Rates = "rates",
        /// Bytes a second.
        Bytes = "bytes",
        /// Times at each level.
        Levels = "levels",
        /// Times over the course of a phase.
        Growth = "growth",
        /// Percentiles of latencies.
        Percentiles = "percentiles",
    }
}

impl Picture {
    /// One of all phases.
    pub fn new(family: ChartFamily) -> Self {
        Self { family, phase: None }
    }

    /// The chart of one phase.
    pub fn of_phase(family: ChartFamily, phase: &str) -> Self {
        Self { family, phase: Some(phase.into()) }
    }

    /// Whether that is a part of the other: the same family, and the same phase if it has one.
    pub fn is_in(&self, other: &Self) -> bool {
        self.family == other.family && (self.phase.is_none() || self.phase == other.phase)
    }
}

/// What a reading sees of a run.
pub struct RunView<'a> {
    pub book: &'a Book,
    pub summary: &'a Summary,
    /// All that the job asks for.
    pub effects: Vec<PlacedEffect<'a>>,
    /// The orders of the variants: of the whole job first, then of each phase, at each level.
    pub orders: &'a [RankedVariants],
}

impl<'a> RunView<'a> {
    /// The effects of a reading.
    pub fn effects_of(&self, reading: Conclusion) -> Vec<PlacedEffect<'a>> {
        self.effects.iter().filter(|one| one.effect.reading == reading).copied().collect()
    }

    /// What limited these rows, each once.
    pub fn limits<'r>(&self, rows: impl Iterator<Item = &'r PhaseSummary>) -> AnswerCell {
        let limits = each_once(rows.filter_map(|row| row.limit).map(Limit::in_words));
        if limits.is_empty() { AnswerCell::Missing } else { AnswerCell::Name(limits.join(", ")) }
    }

    /// What limited a phase of a variant at its highest level.
    pub(crate) fn limit_of(&self, effect: &EffectFinding) -> AnswerCell {
        let (variant, level) = (effect.to.variant.as_deref(), effect.to.level.as_ref());
        let row = variant.zip(effect.phase.as_deref());
        let row = row.and_then(|(variant, phase)| self.summary.row(variant, level, phase));
        self.limits(row.into_iter())
    }

    /// By how much a time of an effect is multiplied to be that of what tables show, and what that is.
    pub(crate) fn shown_unit(&self, phase: &str) -> ShownUnit {
        let own = || self.book.measurements.iter().filter(|m| m.valid() && m.phase == phase);
        let sum = |of: &dyn Fn(&Measurement) -> f64| own().map(of).sum::<f64>();
        if own().any(is_listing) {
            let entries = sum(&|m| m.entries_found.unwrap_or_default() as f64);
            let bytes = sum(&|m| units_of_work(m, true));
            let is_known = entries > 0.0;
            return match is_known {
                true => ShownUnit { factor: bytes / entries, of: "an entry" },
                false => ShownUnit { factor: 1024.0, of: "1 KiB of entries" },
            };
        }
        match own().next().is_some() && own().all(is_bulk) {
            true => ShownUnit { factor: 1_048_576.0, of: "1 MiB" },
            false => ShownUnit { factor: 1.0, of: OPERATION },
        }
    }

    /// A time of an effect as a table shows it.
    pub fn time(&self, phase: Option<&str>, ns: Option<f64>) -> AnswerCell {
        let factor = phase.map_or(1.0, |phase| self.shown_unit(phase).factor);
        ns.map_or(AnswerCell::Missing, |ns| AnswerCell::Time(ns * factor))
    }

    /// What the times of these phases are of: `times of an operation; list-cold: of an entry`.
    fn about_times(&self, phases: &[&str]) -> Vec<AnswerNote> {
        let of = |phase: &&str| self.shown_unit(phase).of;
        let mut units = each_once(phases.iter().map(of));
        units.sort_by_key(|unit| *unit != OPERATION);
        let named = |(at, unit): (usize, &&str)| match at {
            0 if *unit == OPERATION || units.len() == 1 => {
                AnswerNote::new(format!("times of {unit}"))
            }
            _ => {
                let own = phases.iter().filter(|phase| of(phase) == *unit).copied();
                AnswerNote::of_names(own, &format!("of {unit}"))
            }
        };
        units.iter().enumerate().map(named).collect()
    }

    /// How many files each of these phases worked on, where not all did on as many: `create, delete: 300,000 files; others:
    /// 30,000`.
    pub(crate) fn about_counts(&self, phases: &[&str]) -> Vec<AnswerNote> {
        let is_of_files = |phase: &&str| {
            let one = self.book.measurements.iter().find(|m| m.phase == **phase);
            let operation =
                one.filter(|m| !is_bulk(m) && !m.is_part()).and_then(|m| m.job_operation());
            operation.is_some_and(|operation| operation.subject == Subject::File)
        };
        let count =
            |phase: &&str| constant_operations(self.book, phase).filter(|_| is_of_files(phase));
        let levels = if self.summary.levels().is_empty() { "" } else { " at each level" };
        let counts = each_once(phases.iter().filter_map(count));
        let mixes = phases.iter().flat_map(|phase| self.about_mix(phase)).collect();
        if counts.is_empty() || phases.iter().all(|phase| count(phase) == Some(counts[0])) {
            return mixes;
        }
        let own =
            |number: u64| phases.iter().filter(move |one| count(one) == Some(number)).copied();
        let most = counts.iter().max_by_key(|number| own(**number).count());
        let is_rest = |number: &u64| own(*number).count() > NAMED_MAX && Some(number) == most;
        let (rest, named): (Vec<u64>, Vec<u64>) = counts.iter().partition(|one| is_rest(one));
        let text = |number: u64| counted(number, "file") + levels;
        let named =
            named.into_iter().map(|number| AnswerNote::of_names(own(number), &text(number)));
        let rest = rest
            .into_iter()
            .map(|number| AnswerNote::new(format!("other phases: {}", text(number))));
        named.chain(rest).chain(mixes).collect()
    }

    /// Whether a phase is a mix or a part of one.
    pub(crate) fn is_of_mix(&self, phase: &str) -> bool {
        self.book.measurements.iter().any(|m| m.phase == phase && (m.is_mix() || m.is_part()))
    }

    /// The turns in each second that a mix was to keep; `None` of other phases, and of its works.
    pub(crate) fn pace_of(&self, phase: &str) -> Option<f64> {
        let mut own = self.book.measurements.iter().filter(|m| m.phase == *phase && !m.is_part());
        own.find_map(|m| m.turns_per_second_asked)
    }

    /// The pace that a mix was to keep, and the files that it removed because there was no room for more.
    fn about_mix(&self, phase: &str) -> Vec<AnswerNote> {
        let own = || self.book.measurements.iter().filter(|m| m.phase == *phase);
        let asked = self.pace_of(phase).map(|asked| {
            let turns = counted(asked.round() as u64, "turn");
            let least = own().filter_map(rate_share).reduce(f64::min).unwrap_or(1.0);
            let share = percent(least);
            let held = match least < RATE_SHARE_MIN {
                true => format!("not held ({share} at worst)"),
                false if share == "100%" => "held".into(),
                false => format!("held ({share} at worst)"),
            };
            format!("{turns} a second asked and {held}, response times from when each was due")
        });
        let most = |of: fn(&Measurement) -> Option<u64>| own().filter_map(of).max();
        let evicted = most(|m| m.evictions).filter(|most| *most > 0);
        let evicted = evicted
            .map(|most| format!("up to {} deleted to make room", counted(most, "further file")));
        let gone = most(|m| m.gone);
        let gone = gone.map(|most| format!("up to {} found no file", counted(most, "turn")));
        let notes = [asked, evicted, gone].into_iter().flatten();
        notes.map(|text| AnswerNote::of_names([phase], &text)).collect()
    }
}

const OPERATION: &str = "an operation";
/// More phases than these are not named, where they are all the others.
const NAMED_MAX: usize = 3;

/// What the times of a table are of.
pub(crate) struct ShownUnit {
    factor: f64,
    of: &'static str,
}

/// Those that a headline may claim this of, the largest first.
pub(crate) fn decided<'a>(all: &[&'a EffectFinding], decision: Decision) -> Vec<&'a EffectFinding> {
    let mut some: Vec<&EffectFinding> =
        all.iter().copied().filter(|one| one.headline.decision == decision).collect();
    some.sort_by(|a, b| b.size().total_cmp(&a.size()));
    some
}

/// The one whose interval reaches highest; none without an interval.
pub(crate) fn least_certain<'a>(all: &[&'a EffectFinding]) -> Option<&'a EffectFinding> {
    let high = |one: &&EffectFinding| one.headline.interval.map_or(0.0, |told| told.high);
    all.iter().copied().max_by(|a, b| high(a).total_cmp(&high(b)))
}

/// A table with a row for each of these effects: both times, the ratio, its interval, and what limited it.
pub(crate) fn effects_table(
    run: &RunView<'_>,
    rows: &[&EffectFinding],
    corner: &str,
    heads: &[String; 2],
) -> AnswerTable {
    let mut table = AnswerTable { corner: corner.into(), ..AnswerTable::default() };
    let phases = each_once(rows.iter().filter_map(|one| one.phase.as_deref()));
    let variants = each_once(rows.iter().filter_map(|one| one.to.variant.as_deref()));
    // What all rows share is not repeated in each.
    let row = |one: &&EffectFinding| {
        let row = AnswerRow::of(one.task());
        match (phases.len(), variants.len()) {
            (1, 2..) => AnswerRow { name: one.to.variant.clone().unwrap_or_default(), ..row },
            (2.., 1) => AnswerRow { name: one.phase.clone().unwrap_or_default(), ..row },
            _ => row,
        }
    };
    table.rows = rows.iter().map(row).collect();
    let time = |one: &EffectFinding, ns| run.time(one.phase.as_deref(), ns);
    table.add(&heads[0], rows.iter().map(|one| time(one, one.from.ns)));
    table.add(&heads[1], rows.iter().map(|one| time(one, one.to.ns)));
    let only = phases.first().filter(|_| phases.len() == 1 && variants.len() > 1);
    table.notes.extend(match only {
        Some(phase) => {
            vec![AnswerNote::new(format!("{phase}: times of {}", run.shown_unit(phase).of))]
        }
        None => run.about_times(&phases),
    });
    table.add_ratios(&rows.iter().map(|one| Some(one.headline())).collect::<Vec<_>>());
    table
}

/// The levels of these effects where all have the same, low and high.
pub(crate) fn common_ends<'a>(all: &[&'a EffectFinding]) -> Option<[&'a Level; 2]> {
    match each_once(all.iter().map(|one| (&one.from.level, &one.to.level))).as_slice() {
        [(Some(low), Some(high))] => Some([low, high]),
        _ => None,
    }
}
