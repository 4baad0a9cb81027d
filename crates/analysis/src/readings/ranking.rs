//! Which variant is the fastest: over the whole job, and in the phase that carries the difference. What it claims is what a
//! headline may claim.

use super::answer_draft::{AnswerDraft, Lack};
use super::reading::{ChartFamily, Picture, Reading, RunView};
use super::table::{AnswerCell, AnswerNote, AnswerRow, AnswerTable, about_ratios};
use crate::answer::Verdict;
use crate::effect_finding::{ComparedRatio, EffectFinding};
use crate::effects::decide::Decision;
use crate::findings::say;
use crate::observations::Observations;
use crate::run_effects;
use crate::statement::{Part, Sentence, Statement, alternatives, listed_parts, parts, text_of};
use crate::summary::PhaseSummary;
use crate::variant_order::{RankedVariant, RankedVariants};
use boatload_base::distinct::each_once;
use boatload_base::units::{Unit, grouped};
use boatload_plan::mix::mix_of;
use boatload_results::book::Level;
use boatload_results::content::lists;

/// A phase in which one takes this many times as much longer as over the whole job is named with it.
const NAMED_BESIDE: f64 = 2.0;
/// From so many times as much on the phase carries the difference, and comes first.
const CARRIES: f64 = 50.0;
/// Variants that a sentence names with their ratios.
const NAMED_MAX: usize = 4;

/// The reading.
#[derive(Debug)]
pub(super) struct Ranking;

impl Reading for Ranking {
    fn effects(&self, all: &Observations<'_>, alpha: f64) -> Vec<EffectFinding> {
        let mut effects = run_effects::ranking(all, alpha);
        effects.iter_mut().for_each(|one| one.text = text_of(&in_table(one)));
        effects
    }

    /// All pairs of the whole job, or without it of a mix as a whole, or without both all pairs.
    fn asked<'a>(&self, all: Vec<&'a EffectFinding>) -> Vec<&'a EffectFinding> {
        let phases: Vec<Option<&str>> = all.iter().map(|one| one.phase.as_deref()).collect();
        let lead = leading(&phases);
        all.into_iter().filter(|one| lead.contains(&one.phase.as_deref())).collect()
    }

    fn answer(&self, run: &RunView<'_>) -> Option<AnswerDraft> {
        let named: Vec<Option<&str>> = run.orders.iter().map(|one| one.phase.as_deref()).collect();
        let lead = leading(&named);
        let is_told = |one: &&RankedVariants| {
            let is_work = one.phase.as_deref().is_some_and(|phase| mix_of(phase).is_some());
            !is_work || lead.contains(&one.phase.as_deref())
        };
        let (jobs, phases): (Vec<&RankedVariants>, Vec<&RankedVariants>) =
            run.orders.iter().filter(is_told).partition(|one| one.phase.is_none());
        let phases: Vec<&RankedVariants> = match jobs.is_empty() {
            true => phases.into_iter().filter(|one| lead.contains(&one.phase.as_deref())).collect(),
            false => phases,
        };
        let number =
            each_once(phases.iter().map(|one: &&RankedVariants| one.phase.as_deref())).len();
        let (draft, stated) = match (jobs.as_slice(), number, phases.as_slice()) {
            ([job], ..) => of_job(job, &phases),
            ([], 1, [only]) => (of_order(only), vec![*only]),
            ([], 1, _) => (over_levels(&phases), phases),
            ([_, _, ..], ..) => (over_levels(&jobs), jobs),
            ([], 2.., _) => (over_phases(&phases), phases),
            _ => return None,
        };
        let effects = stated.iter().flat_map(|one| one.others.iter().map(|other| other.effect));
        Some(draft.made_of(effects.collect()))
    }

    fn table(&self, run: &RunView<'_>) -> Option<AnswerTable> {
        table_of_order(run).or_else(|| table_by_level(run))
    }

    fn picture(&self, _run: &RunView<'_>) -> Option<Picture> {
        Some(Picture::new(ChartFamily::Ranking))
    }
}

/// What an answer ranks, of the whole job (`None`) and phases: the job, else mixes as wholes, or, where they are no measure,
/// their first work, and not the phases that prepare them; else all.
fn leading<'a>(all: &[Option<&'a str>]) -> Vec<Option<&'a str>> {
    if all.contains(&None) {
        return vec![None];
    }
    let whole = |one: &&Option<&str>| all.iter().flatten().any(|phase| mix_of(phase) == **one);
    let is_work = |one: &&Option<&str>| one.is_some_and(|phase| mix_of(phase).is_some());
    let mixes: Vec<Option<&str>> = all.iter().filter(whole).copied().collect();
    match all.iter().find(is_work) {
        Some(_) if !mixes.is_empty() => mixes,
        Some(first) => all.iter().filter(|one| *one == first).copied().collect(),
        None => all.to_vec(),
    }
}

/// The effect as a list of all has it.
fn in_table(one: &EffectFinding) -> Vec<Part> {
    let [from, to] = [&one.from, &one.to].map(|cell| cell.variant.clone().unwrap_or_default());
    let what = one.phase.clone().unwrap_or_else(|| "the whole job".into());
    let takes = one.stated().takes(parts![" as ", from]);
    parts![what, say::behind_at(one.to.level.as_ref()), ": ", to, " ", takes]
}

fn variant(name: &str) -> Vec<Part> {
    parts![Part::Variant(name.into())]
}

/// The variants of an order, by what a headline says of them.
struct Parted<'a> {
    first: &'a str,
    slower: Vec<&'a RankedVariant>,
    alike: Vec<&'a RankedVariant>,
    open: Vec<&'a RankedVariant>,
}

impl<'a> Parted<'a> {
    fn of(one: &'a RankedVariants) -> Self {
        let with = |is: fn(Decision) -> bool| {
            one.others.iter().filter(|other| is(other.headline.decision)).collect()
        };
        Self {
            first: &one.first,
            slower: with(|decision| decision == Decision::Longer),
            alike: with(|decision| decision == Decision::Within),
            open: with(|decision| matches!(decision, Decision::Open | Decision::Shorter)),
        }
    }

    /// `ext3 and ext4`: those that nothing is proven to be faster than, and that take as long as each other.
    fn fastest(&self) -> Vec<Part> {
        let alike = self.alike.iter().map(|one| variant(&one.name));
        listed_parts(std::iter::once(variant(self.first)).chain(alike).collect())
    }

    /// `ext3 or ext4`: all that are not proven to take longer than the first.
    fn candidates(&self) -> Vec<Part> {
        let others = self.alike.iter().chain(&self.open).map(|one| variant(&one.name));
        alternatives(std::iter::once(variant(self.first)).chain(others).collect())
    }

    fn is_or_are(&self) -> &'static str {
        if self.alike.is_empty() { " is" } else { " are" }
    }
}

/// `the whole job`, `create (without btrfs) at 98% full`
fn scope(one: &RankedVariants) -> Vec<Part> {
    let names = each_once(one.left_out.iter().map(|left_out| left_out.variant.as_str()));
    let names: Vec<Vec<Part>> = names.into_iter().map(variant).collect();
    let without = (!names.is_empty()).then(|| parts![" (without ", listed_parts(names), ")"]);
    let what = match &one.phase {
        None => parts!["the whole job"],
        Some(phase) => parts![Part::Phase(phase.clone())],
    };
    parts![what, without, say::behind_at(one.level.as_ref())]
}

/// `the whole job takes 1.25 times as long on ext3 (1.15 to 1.36)`, with what it is compared with.
fn takes(order: &RankedVariants, slower: &RankedVariant, than: Option<&str>) -> Vec<Part> {
    parts![scope(order), " takes ", slower.headline.as_long(on(slower, than))]
}

/// ` on ext3 as on ext4`
fn on(slower: &RankedVariant, than: Option<&str>) -> Vec<Part> {
    parts![" on ", variant(&slower.name), than.map(|than| parts![" as on ", variant(than)])]
}

/// One order: which is the fastest, and how much longer each other takes.
fn of_order(one: &RankedVariants) -> AnswerDraft {
    let parted = Parted::of(one);
    if let [first, others @ ..] = parted.slower.as_slice() {
        let is_placed = parted.open.is_empty();
        let lead = match is_placed {
            true => parts![parted.fastest(), parted.is_or_are(), " the fastest"],
            false => parts![parted.candidates(), " is the fastest"],
        };
        let is_alone = is_placed && parted.alike.is_empty();
        let than = Some(parted.first).filter(|_| !is_alone);
        let mut sentence = Sentence::new(takes(one, first, than));
        for one in others.iter().take(NAMED_MAX - 1) {
            let named = parts![", ", one.headline.times(), " on ", variant(&one.name)];
            sentence = sentence.with(2, named).with(4, one.headline.in_brackets());
        }
        let more = others.len().saturating_sub(NAMED_MAX - 1);
        let more = (more > 0).then(|| parts![", and ", Part::Count(grouped(more as u64)), " more"]);
        sentence = sentence.with(2, more.unwrap_or_default());
        let open = least_certain(&parted.open).map(|open| {
            let names = parted.open.iter().map(|one| variant(&one.name)).collect();
            let excluded = match open.headline.interval {
                Some(_) => {
                    parts![": ", open.headline.not_excluded(), " on ", variant(&open.name)]
                }
                None => Vec::new(),
            };
            let first = Part::Variant(parted.first.into());
            let between = parts!["between ", first, " and ", listed_parts(names)];
            Sentence::ranked(1, parts![between, " no difference is proven"]).with(3, excluded)
        });
        let statement = Statement::new(Sentence::new(lead)).and([sentence]).and(open);
        return AnswerDraft::proven(Verdict::Yes, statement);
    }
    undecided(one, &parted)
}

fn least_certain<'a>(all: &[&'a RankedVariant]) -> Option<&'a RankedVariant> {
    let high = |one: &&&RankedVariant| one.headline.interval.map_or(one.headline.ratio, |i| i.high);
    all.iter().max_by(|a, b| high(a).total_cmp(&high(b))).copied()
}

/// No variant is proven to take longer than the first.
fn undecided(order: &RankedVariants, parted: &Parted<'_>) -> AnswerDraft {
    let takes = |one: &RankedVariant| takes(order, one, Some(parted.first));
    let Some(widest) = least_certain(&parted.open) else {
        let most = least_certain(&parted.alike);
        let most = most.map(|one| Sentence::ranked(1, takes(one)));
        let text = parts![parted.fastest(), " take equally long, within 10%"];
        let statement = Statement::new(Sentence::new(text)).and(most);
        return AnswerDraft::proven(Verdict::No, statement);
    };
    let is_once = parted.open.iter().all(|one| one.headline.interval.is_none());
    let excluded = widest.headline.not_excluded();
    let excluded = if excluded.is_empty() { excluded } else { parts!["; ", excluded] };
    let others = parted.open.len() - 1;
    let others = (others > 0 && !is_once).then(|| {
        let are = if others == 1 { " other is" } else { " others are" };
        Sentence::ranked(2, parts![Part::Count(grouped(others as u64)), are, " open too"])
    });
    let first = Sentence::new(takes(widest)).with(1, excluded);
    let lacks = if is_once { Lack::Repeats } else { Lack::Precision };
    AnswerDraft::open(lacks, Statement::new(first).and(others))
}

/// The proven ratio of an order that is the largest.
fn largest(one: &RankedVariants) -> Option<&RankedVariant> {
    let slower = one.others.iter().filter(|other| other.headline.decision == Decision::Longer);
    slower.max_by(|a, b| a.headline.ratio.total_cmp(&b.headline.ratio))
}

/// The whole job, and the phase in which one variant takes much longer than over the whole job: it comes first where it
/// carries the difference.
fn of_job<'a>(
    job: &'a RankedVariants,
    phases: &[&'a RankedVariants],
) -> (AnswerDraft, Vec<&'a RankedVariants>) {
    let mut draft = of_order(job);
    let winners = by_phase(phases);
    let exception = exception(job, phases);
    let against = exception.as_ref().map(|one| one.order);
    let ratio = |one: &RankedVariants| largest(one).map_or(1.0, |one| one.headline.ratio);
    let most = phases.iter().max_by(|a, b| ratio(a).total_cmp(&ratio(b)));
    let most = most.filter(|most| ratio(most) >= NAMED_BESIDE * ratio(job)).copied();
    let of_phase = most.and_then(|most| Some((most, largest(most)?)));
    if let Some((most, slower)) = of_phase {
        if largest(job).is_none() || ratio(most) >= CARRIES * ratio(job) {
            let is_open = draft.verdict == Verdict::CannotTell;
            let sentence = Sentence::new(takes(most, slower, Some(&most.first)));
            let statement = draft.statement.behind(sentence);
            draft = AnswerDraft::proven(Verdict::Yes, statement);
            if is_open {
                draft.statement = draft.statement.and([Sentence::ranked(
                    2,
                    parts!["over the whole job no difference is proven"],
                )]);
            }
        } else {
            let times = slower.headline.as_long(on(slower, Some(&most.first)));
            let lead = parts!["the largest difference is in ", scope(most), ": "];
            let sentence = Sentence::ranked(2, parts![lead, times]);
            draft.statement = draft.statement.and([sentence]);
        }
    }
    let exception = exception.map(|one| one.sentence);
    draft.statement = draft.statement.and(exception).and(winners);
    let phases = of_phase.map(|(most, _)| most).into_iter().chain(against);
    (draft, each_once(std::iter::once(job).chain(phases)))
}

/// A phase in which the fastest of the whole job is proven to take longer than another variant.
struct RankException<'a> {
    order: &'a RankedVariants,
    sentence: Sentence,
}

/// The largest of them: `but read-sequential takes 2.65 times as long on ext4 as on btrfs (2.3 to 3.1)`; `None` when there is none.
fn exception<'a>(job: &RankedVariants, phases: &[&'a RankedVariants]) -> Option<RankException<'a>> {
    largest(job)?;
    let behind = |order: &'a RankedVariants| {
        let own = order.others.iter().find(|other| other.name == job.first)?;
        (own.headline.decision == Decision::Longer).then_some((order, own))
    };
    let all = phases.iter().filter_map(|order| behind(order));
    let (order, own) = all.max_by(|a, b| a.1.headline.ratio.total_cmp(&b.1.headline.ratio))?;
    let sentence = parts!["but ", takes(order, own, Some(&order.first))];
    Some(RankException { order, sentence: Sentence::ranked(1, sentence) })
}

/// The first variant of an order if every other one is proven to take longer.
fn only_first(one: &RankedVariants) -> Option<&str> {
    let is_slower = |other: &RankedVariant| other.headline.decision == Decision::Longer;
    one.others.iter().all(is_slower).then_some(one.first.as_str())
}

/// Each variant that is the fastest in some phases, at all levels of these, with them, the one with most phases first.
fn winners<'a>(all: &[&'a RankedVariants]) -> Vec<(&'a str, Vec<&'a str>)> {
    let mut wins: Vec<(&str, Vec<&str>)> = Vec::new();
    for phase in each_once(all.iter().filter_map(|one| one.phase.as_deref())) {
        let own = all.iter().copied().filter(|one| one.phase.as_deref() == Some(phase));
        let firsts = each_once(own.map(only_first));
        let [Some(variant)] = firsts.as_slice() else { continue };
        match wins.iter_mut().find(|(name, _)| name == variant) {
            Some((_, phases)) => phases.push(phase),
            None => wins.push((variant, vec![phase])),
        }
    }
    wins.sort_by_key(|(_, phases)| std::cmp::Reverse(phases.len()));
    wins
}

/// `xfs is the fastest in create and delete; ext4 in read`; `None` when no variant is in any phase.
fn by_phase(all: &[&RankedVariants]) -> Option<Sentence> {
    let wins = winners(all);
    let levels = each_once(all.iter().map(|one| one.level.as_ref())).len();
    let fastest =
        if levels > 1 { " is the fastest at every level in " } else { " is the fastest in " };
    let mut sentence = Sentence::default();
    for (at, (name, phases)) in wins.iter().enumerate() {
        let phases = phases.iter().map(|phase| parts![Part::Phase((*phase).into())]).collect();
        let phases = listed_parts(phases);
        sentence = match at {
            0 => Sentence::ranked(3, parts![variant(name), fastest, phases]),
            _ => sentence.with(3, parts!["; ", variant(name), " in ", phases]),
        };
    }
    (!wins.is_empty()).then_some(sentence)
}

/// Orders at several levels of one phase, or of the whole job.
fn over_levels(all: &[&RankedVariants]) -> AnswerDraft {
    let place = |levels: &[&RankedVariants]| {
        let levels: Vec<&Level> = levels.iter().filter_map(|one| one.level.as_ref()).collect();
        match levels.as_slice() {
            [only] => say::at_level(only),
            _ if levels.len() == all.len() => parts!["at every level"],
            [low, .., high] => {
                let high = Part::Level(say::level_in_words(high));
                parts!["from ", Part::Level(say::level(low)), " to ", high]
            }
            [] => Vec::new(),
        }
    };
    let fastest = |one: &RankedVariants| {
        let parted = Parted::of(one);
        let lead = parts![parted.fastest(), parted.is_or_are(), " the fastest"];
        (!parted.slower.is_empty() && parted.open.is_empty()).then_some(lead)
    };
    let what = all.first().and_then(|one| one.phase.clone());
    let what = what
        .map_or_else(|| parts!["over the whole job"], |phase| parts!["in ", Part::Phase(phase)]);
    let mut sentence = Sentence::new(what);
    let mut number = 0;
    for same in all.chunk_by(|a, b| fastest(a) == fastest(b)) {
        let Some(lead) = same.first().and_then(|one| fastest(one)) else { continue };
        let times: Vec<f64> =
            same.iter().filter_map(|one| largest(one)).map(|one| one.headline.ratio).collect();
        let [low, high] =
            [f64::min, f64::max].map(|of| times.iter().copied().reduce(of).unwrap_or(1.0));
        let [low, high] = [low, high].map(say::near);
        let to = if low == high { low } else { format!("{low} to {high}") };
        let before = if number == 0 { " " } else { "; " };
        let rank = if number == 0 { 0 } else { 1 };
        number += 1;
        sentence = sentence
            .with(rank, parts![before, place(same), " ", lead])
            .with(2, parts![", the slowest takes ", Part::Figure(to), " times as long"]);
    }
    if number > 0 {
        return AnswerDraft::proven(Verdict::Yes, Statement::new(sentence));
    }
    without_winner(all)
}

/// Phases whose work differs between variants, so that nothing is the whole job.
fn over_phases(all: &[&RankedVariants]) -> AnswerDraft {
    let wins = winners(all);
    match (by_phase(all), wins.first()) {
        (Some(sentence), Some(_)) => {
            let statement = Statement::new(sentence.demoted(0));
            let most = all.iter().filter_map(|one| Some((one, largest(one)?)));
            let most = most.max_by(|a, b| a.1.headline.ratio.total_cmp(&b.1.headline.ratio));
            let most =
                most.map(|(one, slower)| Sentence::ranked(1, takes(one, slower, Some(&one.first))));
            AnswerDraft::proven(Verdict::Yes, statement.and(most))
        }
        _ => without_winner(all),
    }
}

/// No variant is the fastest wherever it was compared: in one order some may take longer than others.
fn without_winner(all: &[&RankedVariants]) -> AnswerDraft {
    let ratio = |one: &RankedVariants| largest(one).map_or(0.0, |one| one.headline.ratio);
    let most = all.iter().max_by(|a, b| ratio(a).total_cmp(&ratio(b)));
    let others = || all.iter().flat_map(|one| &one.others);
    match most {
        Some(one) if ratio(one) > 0.0 => of_order(one),
        _ if others().all(|other| other.headline.decision == Decision::Within) => {
            let text = parts!["no difference is larger than 10% anywhere"];
            AnswerDraft::proven(Verdict::No, Statement::new(Sentence::new(text)))
        }
        _ => {
            let high = |one: &RankedVariants| {
                let others = one.others.iter().collect::<Vec<_>>();
                least_certain(&others).map_or(0.0, |one| {
                    one.headline.interval.map_or(one.headline.ratio, |interval| interval.high)
                })
            };
            let widest = all.iter().max_by(|a, b| high(a).total_cmp(&high(b)));
            widest.map_or_else(
                || AnswerDraft::open(Lack::Repeats, Statement::default()),
                |one| of_order(one),
            )
        }
    }
}

/// What is ranked in the first rows of a table.
const WHOLE_JOB: &str = "whole job";
/// The same of a mix that kept a rate.
const RESPONSE: &str = "mean response";

/// The time of the whole job, or the response time at a rate, and the ratios of what is ranked, then each phase: a column for each variant, from the fastest on. None
/// with levels.
fn table_of_order(run: &RunView<'_>) -> Option<AnswerTable> {
    let named: Vec<Option<&str>> = run.orders.iter().map(|one| one.phase.as_deref()).collect();
    let lead = leading(&named);
    let leads = |order: &&RankedVariants| lead.contains(&order.phase.as_deref());
    let order = run.orders.iter().filter(leads).find(|order| order.level.is_none())?;
    let mut phases = run.summary.rated_phases();
    phases.retain(|phase| mix_of(phase).is_none() || lead.contains(&Some(phase)));
    let mut table = AnswerTable { corner: "a second".into(), ..AnswerTable::default() };
    let row = |name: &str, about: Vec<Part>| AnswerRow { name: name.into(), about };
    let time_name = match &order.phase {
        None => Some(WHOLE_JOB.into()),
        Some(phase) if mix_of(phase).is_some() => Some(format!("mean of {phase}")),
        Some(phase) => run.pace_of(phase).map(|_| RESPONSE.into()),
    };
    table.rows.extend(time_name.as_deref().map(|name| row(name, Vec::new())));
    table.rows.push(row("times as long", Vec::new()));
    table.rows.push(row("interval", Vec::new()));
    let of_mix = order.phase.as_deref().filter(|phase| run.is_of_mix(phase));
    let tail_row = |phase: &str| row(&format!("p99 of {phase}"), Vec::new());
    table.rows.extend(of_mix.map(tail_row));
    table.rows.extend(phases.iter().map(|phase| row(phase, parts![Part::Phase((*phase).into())])));
    let others = order.others.iter().map(|other| (other.name.as_str(), Some(other.headline)));
    for (name, headline) in std::iter::once((order.first.as_str(), None)).chain(others) {
        let time = order.mean_ns(name).map_or(AnswerCell::Missing, AnswerCell::Time);
        let [times, interval] = ratio_cells(headline);
        let rates = phases.iter().map(|phase| rate(run.summary.row(name, None, phase)));
        let tail = of_mix.map(|phase| {
            let p99_ns = run.summary.row(name, None, phase).and_then(|row| row.tail?.p99_ns);
            p99_ns.map_or(AnswerCell::Missing, |ns| AnswerCell::Time(ns as f64))
        });
        let cells = time_name.as_ref().map(|_| time).into_iter().chain([times, interval]);
        let cells = cells.chain(tail).chain(rates);
        table.add(name, cells);
    }
    let limits =
        phases.iter().map(|phase| run.limits(run.summary.rows().filter(|row| row.phase == *phase)));
    let blank = std::iter::repeat_n(AnswerCell::Missing, table.rows.len() - phases.len());
    table.add("limited by", blank.chain(limits));
    table.notes.extend(about_ratios(order.others.iter().map(|one| &one.headline)));
    table.notes.extend(about_rates(run));
    table.notes.extend(run.about_counts(&phases));
    Some(table)
}

/// What rates include and count: syncs, and directories of listings, of which effects count the entries.
pub(super) fn about_rates(run: &RunView<'_>) -> Vec<AnswerNote> {
    let has_sync = |row: &PhaseSummary| row.sync_seconds.is_some();
    let syncs = run.summary.rows().any(has_sync).then(|| AnswerNote::new("syncs included"));
    let is_list = |row: &&PhaseSummary| row.rate_unit != Unit::Bytes && lists(run.book, &row.phase);
    let lists = each_once(run.summary.rows().filter(is_list).map(|row| row.phase.as_str()));
    let lists = (!lists.is_empty()).then(|| AnswerNote::of_names(lists, "directories a second"));
    syncs.into_iter().chain(lists).collect()
}

fn ratio_cells(headline: Option<ComparedRatio>) -> [AnswerCell; 2] {
    let Some(headline) = headline else {
        return [AnswerCell::Times(1.0, Decision::Open), AnswerCell::Missing];
    };
    let interval = headline.interval;
    let interval =
        interval.map_or(AnswerCell::Missing, |one| AnswerCell::Interval(one, Decision::Open));
    [AnswerCell::Times(headline.ratio, headline.mark()), interval]
}

/// The rate of a row.
pub(super) fn rate(row: Option<&PhaseSummary>) -> AnswerCell {
    let known = row.and_then(|row| Some((row.rate?, row.rate_unit)));
    known.map_or(AnswerCell::Missing, |(rate, unit)| AnswerCell::Rate(rate, unit))
}

/// A row for each variant in the only phase, or for each phase of each variant, with a column of rates for each level. None
/// without levels.
pub(super) fn table_by_level(run: &RunView<'_>) -> Option<AnswerTable> {
    let levels = run.summary.levels();
    let axis = &levels.first()?.axis;
    let phases = run.summary.rated_phases();
    let mut table = AnswerTable { corner: say::axis_word(axis).into(), ..AnswerTable::default() };
    let mut rows: Vec<(&str, &str)> = Vec::new();
    for phase in &phases {
        rows.extend(run.summary.variants().into_iter().map(|variant| (*phase, variant)));
    }
    let name = |(phase, name): &(&str, &str)| match (phases.len(), run.summary.has_variants()) {
        (1, true) => variant(name),
        _ => crate::effect_finding::task_parts(Some(name), phase),
    };
    table.rows = rows.iter().map(|row| AnswerRow::of(name(row))).collect();
    for level in &levels {
        let cells =
            rows.iter().map(|(phase, variant)| rate(run.summary.row(variant, Some(level), phase)));
        table.add(&say::level(level), cells);
    }
    let limits = rows.iter().map(|(phase, variant)| {
        let own = levels.iter().filter_map(|level| run.summary.row(variant, Some(level), phase));
        run.limits(own)
    });
    table.add("limited by", limits);
    let what = if let [phase] = phases.as_slice() {
        format!("{phase}: operations a second")
    } else {
        "operations or bytes a second".into()
    };
    table.notes.push(AnswerNote::new(what));
    table.notes.extend(about_rates(run));
    Some(table)
}
