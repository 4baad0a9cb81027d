//! The reading for a job that asks for no other: the rate of each phase, or the latencies of a trace. Of several variants or
//! levels its sentence tells of the first and the last. Cold reads of `smallfiles` are also placed among kinds of disk.

use super::answer_draft::{AnswerDraft, Lack};
use super::disk_kinds::{self, Likeness};
use super::ranking::about_rates;
use super::rates::AnswerRate;
use super::reading::{Reading, RunView};
use super::table::{AnswerCell, AnswerNote, AnswerRow, AnswerTable};
use crate::findings::say;
use crate::statement::{Part, Sentence, Statement, alternatives, listed_parts, parts};
use crate::summary::{PhaseSummary, VariantSummary};
use boatload_base::distinct::each_once;
use boatload_base::units::{duration, figures};
use boatload_plan::{CacheAsked, DEFAULT_VARIANT, find_scenario};
use boatload_results::book::{Book, CacheState, Measurement};

/// Rates that are known to within this share need no word on it.
const WITHIN_MIN: f64 = 0.02;
/// A rate that is known so much worse than the others has a word of its own.
const WORSE_MIN: f64 = 0.25;
/// The scenario whose rates are kept for each kind of disk.
const KEPT_SCENARIO: &str = "smallfiles";

/// The reading.
#[derive(Debug)]
pub(super) struct Profile;

impl Reading for Profile {
    fn answer(&self, run: &RunView<'_>) -> Option<AnswerDraft> {
        let groups = &run.summary.groups;
        let statement = match groups.as_slice() {
            [] => return None,
            [only] => of_one(run, only)?,
            [first, .., last] => Statement::new(between(first, last)?),
        };
        let lacks = if ranks(run.book) { Lack::Variants } else { Lack::Nothing };
        let draft = AnswerDraft::measured(statement, lacks);
        Some(AnswerDraft { is_measured: true, ..draft })
    }

    /// A row for each phase of each variant at each level.
    fn table(&self, run: &RunView<'_>) -> Option<AnswerTable> {
        if !run.summary.levels().is_empty() {
            return super::ranking::table_by_level(run);
        }
        let is_single = run.summary.groups.len() == 1;
        let groups = run.summary.groups.iter();
        let rows = groups.flat_map(|group| group.rows.iter().map(move |row| (group, row)));
        let rows: Vec<(&VariantSummary, &PhaseSummary)> =
            rows.filter(|(_, row)| !row.is_settle()).collect();
        let mut table = AnswerTable { corner: "operation".into(), ..AnswerTable::default() };
        let row = |(group, row): &(&VariantSummary, &PhaseSummary)| {
            let variant = Some(group.variant.as_str()).filter(|_| !is_single);
            AnswerRow::of(crate::effect_finding::task_parts(variant, &row.phase))
        };
        table.rows = rows.iter().map(row).collect();
        let known = |cell: fn(&PhaseSummary) -> Option<AnswerCell>| {
            rows.iter().map(|(_, row)| cell(row).unwrap_or(AnswerCell::Missing)).collect::<Vec<_>>()
        };
        table.add("a second", known(|row| Some(AnswerCell::Rate(row.rate?, row.rate_unit))));
        table.add(
            "interval",
            known(|row| {
                row.rate?.interval?;
                Some(AnswerCell::RateInterval(row.rate?, row.rate_unit))
            }),
        );
        table.add("p50", known(|row| Some(AnswerCell::Time(row.tail?.p50_ns? as f64))));
        table.add("p99", known(|row| Some(AnswerCell::Time(row.tail?.p99_ns? as f64))));
        table.add("limited by", rows.iter().map(|(_, row)| run.limits([*row].into_iter())));
        let has_interval =
            rows.iter().any(|(_, row)| row.rate.is_some_and(|r| r.interval.is_some()));
        table.notes.extend(has_interval.then(|| AnswerNote::new("intervals at 95% each")));
        let has_sync = rows.iter().any(|(_, row)| row.sync_seconds.is_some());
        table.notes.extend(match has_sync {
            true => vec![
                AnswerNote::of_names(["a second"], "with the sync at each phase's end"),
                AnswerNote::of_names(["p50", "p99"], "without"),
            ],
            false => about_rates(run),
        });
        let phases = each_once(rows.iter().map(|(_, row)| row.phase.as_str()));
        table.notes.extend(run.about_counts(&phases));
        Some(table)
    }
}

/// Whether its scenario ranks file systems, which takes two.
fn ranks(book: &Book) -> bool {
    let is_one = each_once(book.measurements.iter().map(|m| (&m.cell.variant, &m.cell.level)));
    book.run.conclude.is_empty() && is_one.len() == 1 && find_scenario(&book.run.scenario).is_some()
}

/// What a run asks that has one variant of a scenario which compares several: none of another one.
pub(crate) fn own_question(book: &Book) -> Option<&'static str> {
    let is_own = book.run.scenario == KEPT_SCENARIO && ranks(book);
    let question = match book.filesystems.is_empty() {
        true => "How fast is this directory for small files?",
        false => "How fast is this file system for small files?",
    };
    is_own.then_some(question)
}

fn measured(group: &VariantSummary) -> impl Iterator<Item = &PhaseSummary> {
    group.rows.iter().filter(|row| row.has_own_rate())
}

/// What kind of disk it is like, then the rate of each phase.
fn of_one(run: &RunView<'_>, group: &VariantSummary) -> Option<Statement> {
    let rows: Vec<&PhaseSummary> = measured(group).collect();
    if rows.is_empty() {
        return latencies(group);
    }
    let mut others = Sentence::default();
    let kind = disk_kind(run.book, group);
    let told: Vec<&str> = kind.iter().flat_map(|kind| kind.phases.iter().copied()).collect();
    let others_of = rows.iter().filter(|row| !told.contains(&row.phase.as_str()));
    for (at, row) in others_of.enumerate() {
        let Some(rate) = AnswerRate::of(row) else { continue };
        let [value, interval] = rate.parts(None);
        let before = if at == 0 { Vec::new() } else { parts![", "] };
        let at_rate = parts![before, Part::Phase(row.phase.clone()), " at ", value];
        // With a margin for all of them below, their own intervals are in the table.
        let rank = if at < 2 { 0 } else { 2 };
        // Whoever serves or delivers is asked how long one has to wait.
        let p99 = row.tail.and_then(|tail| tail.p99_ns).filter(|_| run.is_of_mix(&row.phase));
        let p99 = p99.map(|ns| parts![", 99% within ", Part::Figure(duration(ns as f64))]);
        others = others.with(rank, at_rate).with(5, interval).with(rank, p99.unwrap_or_default());
    }
    let others = (!others.is_empty()).then_some(others);
    let margin = margin(&rows);
    match kind.map(|kind| kind.sentence) {
        Some(first) => Some(Statement::new(first).and(others).and(margin)),
        None => Some(Statement::new(others?).and(margin)),
    }
}

/// `each rate is known within 6%; create only within 60%`
fn margin(rows: &[&PhaseSummary]) -> Option<Sentence> {
    let known = rows.iter().filter_map(|row| Some((*row, row.rate?.known_within()?)));
    let mut known: Vec<(&PhaseSummary, f64)> = known.collect();
    known.sort_by(|a, b| a.1.total_cmp(&b.1));
    let split = known.iter().position(|(_, share)| *share > WORSE_MIN).unwrap_or(known.len());
    let (near, far) = known.split_at(split);
    let within = |share: f64| Part::Figure(say::percent(share));
    let all = near.last().filter(|(_, share)| *share > WITHIN_MIN);
    let worst = far.last().map(|(_, share)| *share);
    let names = far.iter().map(|(row, _)| parts![Part::Phase(row.phase.clone())]).collect();
    let only = worst.map(|share| {
        // Behind a sentence on the others it needs no verb of its own.
        let verb = match (all.is_some(), far.len()) {
            (true, _) => "",
            (false, 1) => " is known",
            (false, _) => " are known",
        };
        let bound = match share < 1.0 {
            true => parts![verb, " only within ", within(share)],
            false => parts![" may be several times as fast or slow"],
        };
        parts![listed_parts(names), bound]
    });
    match (all, only) {
        (Some((_, share)), only) => {
            let only = only.map(|only| parts!["; ", only]);
            // Of a mix one rate is told, and the table has others.
            let whose = if rows.len() == 1 { "the rate" } else { "each rate" };
            Some(
                Sentence::ranked(1, parts![whose, " is known within ", within(*share)])
                    .with(1, only.unwrap_or_default()),
            )
        }
        (None, only) => only.map(|only| Sentence::ranked(1, only)),
    }
}

/// A sentence on the kind of disk, and the phases that it tells of.
struct DiskKind<'a> {
    sentence: Sentence,
    phases: Vec<&'a str>,
}

/// From reads of proven cold caches in a run of the scenario that is kept for each kind; none of a modelled disk.
fn disk_kind<'a>(book: &Book, group: &'a VariantSummary) -> Option<DiskKind<'a>> {
    let own = |phase: &str| {
        let all = book.measurements.iter().filter(|m| m.phase == phase && m.valid());
        all.collect::<Vec<&Measurement>>()
    };
    let is_cold = |m: &&Measurement| {
        let is_real = !m.is_simulated() && !book.is_on_model(m);
        let is_read = m.job_operation().is_some_and(|operation| operation.reads_content);
        let is_cold =
            m.cache.asked == CacheAsked::Cold && m.cache.found == CacheState::ColdVerified;
        is_real && is_read && is_cold
    };
    let reads = measured(group).filter(|row| own(&row.phase).iter().all(is_cold));
    let reads: Vec<(&str, f64)> =
        reads.filter_map(|row| Some((row.phase.as_str(), row.rate?.mean))).collect();
    let kept = disk_kinds::kept();
    let likeness =
        disk_kinds::likeness(&reads, &kept).filter(|_| book.run.scenario == KEPT_SCENARIO)?;
    let range = |rates: &[f64]| {
        let end = |of: fn(f64, f64) -> f64| rates.iter().copied().reduce(of).unwrap_or(0.0);
        let [low, high] = [end(f64::min), end(f64::max)].map(|rate| figures(rate, 3));
        Part::Figure(if low == high { low } else { format!("{low} to {high}") })
    };
    let rates: Vec<AnswerRate> = measured(group)
        .filter(|row| reads.iter().any(|(phase, _)| *phase == row.phase))
        .filter_map(AnswerRate::of)
        .collect();
    let [rates, _] = AnswerRate::range(&rates)?.parts_of("files a second", None);
    let of_kind = |kind: &str| {
        let own = kept.iter().filter(|one| one.kind == kind);
        let own = own.filter(|one| reads.iter().any(|(phase, _)| *phase == one.phase));
        let rates: Vec<f64> = own.flat_map(|one| one.rates.iter().copied()).collect();
        parts![Part::Variant(kind.into()), ": ", range(&rates)]
    };
    let named = |kind: &str| parts![disk_kinds::in_words(kind)];
    let (lead, kinds) = match &likeness {
        Likeness::Like(kinds) => {
            let names = kinds.iter().map(|kind| named(kind)).collect();
            (parts!["like ", alternatives(names)], kinds.clone())
        }
        Likeness::Between(slower, faster) => {
            let lead = parts!["faster than ", named(slower), ", slower than ", named(faster)];
            (lead, vec![slower.clone(), faster.clone()])
        }
        Likeness::Faster(kind) => (parts!["faster than every modelled disk"], vec![kind.clone()]),
        Likeness::Slower(kind) => (parts!["slower than every modelled disk"], vec![kind.clone()]),
    };
    let kinds: Vec<Vec<Part>> = kinds.iter().map(|kind| of_kind(kind)).collect();
    let kinds = kinds.join(&Part::Text("; ".into()));
    let rates = parts![": cold reads at ", rates];
    let sentence = Sentence::new(parts![lead, rates]).with(1, parts![" (", kinds, ")"]);
    Some(DiskKind { sentence, phases: reads.into_iter().map(|one| one.0).collect() })
}

/// The first phase of the first and of the last of several.
fn between(first: &VariantSummary, last: &VariantSummary) -> Option<Sentence> {
    let row = measured(first).next()?;
    let other = measured(last).find(|other| other.phase == row.phase)?;
    let place = |group: &VariantSummary| {
        let variant = Part::Variant(group.variant.clone());
        match (&group.level, group.variant.as_str()) {
            (Some(level), DEFAULT_VARIANT) => say::at_level(level),
            (Some(level), _) => parts![say::at_level(level), " (", variant, ")"],
            (None, _) => parts!["on ", variant],
        }
    };
    let [[value, interval], [of_last, interval_of_last]] =
        [AnswerRate::of(row)?, AnswerRate::of(other)?].map(|rate| rate.parts(None));
    let phase = Part::Phase(row.phase.clone());
    let sentence = Sentence::new(parts![phase, " ", place(first), " at ", value]).with(2, interval);
    let of_last = parts![", ", place(last), " at ", of_last];
    Some(sentence.with(0, of_last).with(2, interval_of_last))
}

/// Of what has only latencies, such as a trace: those of each operation.
fn latencies(group: &VariantSummary) -> Option<Statement> {
    let told = group.rows.iter().filter_map(|row| {
        let tail = row.tail?;
        let [p50, p99] = [tail.p50_ns?, tail.p99_ns?].map(|ns| Part::Figure(duration(ns as f64)));
        let phase = Part::Phase(row.phase.clone());
        Some(parts![phase, ": half take at most ", p50, ", 99% at most ", p99])
    });
    let mut told = told.into_iter();
    let first = Statement::new(Sentence::new(told.next()?));
    Some(first.and(told.map(|parts| Sentence::ranked(1, parts))))
}
