//! Answers which variant is the fastest, from the rankings: that of the whole job where there is one.

use super::Verdict;
use super::draft::{AnswerDraft, Lack};
use super::figures::AnswerFigure;
use super::words::{AxisWords, as_long, at_most, begun, fits, in_brackets};
use crate::analysis::findings::ranking::{
    FastestVariants, ON_AVERAGE, RankingFinding, RankingStep,
};
use crate::analysis::findings::say::{self, listed};
use crate::analysis::thresholds::SLOWER_MARGIN;
use crate::base::distinct::each_once;

/// From all rankings of a run; none if there is none.
pub(super) fn ranking(all: &[&RankingFinding]) -> Option<AnswerDraft> {
    let whole: Vec<&RankingFinding> = all.iter().copied().filter(|r| r.phase.is_none()).collect();
    let phases = each_once(all.iter().filter_map(|r| r.phase.as_deref()));
    let (draft, stated) = match (whole.as_slice(), phases.as_slice(), all) {
        ([one], _, _) | ([], [_], [one]) => (of_one(one, all), vec![*one]),
        ([], [_], [_, _, ..]) => (over_levels(all), all.to_vec()),
        ([_, _, ..], _, _) => (over_levels(&whole), whole),
        ([], [_, _, ..], _) => (over_phases(all, &phases), all.to_vec()),
        _ => return None,
    };
    Some(draft.made_of(stated.into_iter().flat_map(AnswerFigure::of_ranking).collect()))
}

/// The largest share by which a variant differs from the first, in either direction, as far as the
/// intervals allow it; none where one has no interval.
fn differs_at_most(steps: &[&RankingStep]) -> Option<f64> {
    let most = |step: &&RankingStep| {
        let interval = step.behind_first.interval?;
        Some((interval.high - 1.0).max(1.0 / interval.low - 1.0))
    };
    steps.iter().map(most).try_fold(0.0, |most: f64, one| Some(most.max(one?)))
}

/// The first and those that do not differ significantly from it, and those that do.
fn parted(one: &RankingFinding) -> [Vec<&RankingStep>; 2] {
    let (ties, slower) = one.steps.iter().partition(|step| step.behind_first.tie);
    [ties, slower]
}

/// What is ranked, as an answer begins: `over the whole job `.
fn scope(one: &RankingFinding) -> String {
    let place = match one.levels.as_slice() {
        [] => String::new(),
        levels @ [_] => format!("{}, ", at_levels(one, levels)),
        levels => format!("{ON_AVERAGE} {}, ", at_levels(one, levels)),
    };
    let but = without(&[one]);
    match &one.phase {
        None => format!("over the whole job{but} {place}"),
        Some(phase) => format!("in {phase}{but} {place}"),
    }
}

/// The variants that some rankings lack: ` (without btrfs)`; nothing where all take part.
fn without(all: &[&RankingFinding]) -> String {
    let left_out = all.iter().flat_map(|one| &one.left_out);
    let names = each_once(left_out.map(|one| one.variant.clone()));
    match names.len() {
        0 => String::new(),
        1 | 2 => format!(" (without {})", listed(&names)),
        many => format!(" (without {many} variants)"),
    }
}

fn at_levels(one: &RankingFinding, levels: &[f64]) -> String {
    let axis = AxisWords {
        name: one.axis.as_deref().unwrap_or_default(),
        unit: one.unit.unwrap_or_default(),
    };
    match levels {
        [first, .., last] => format!("from {} to {}", axis.value(*first), axis.level(*last)),
        [only] => format!("at {}", axis.level(*only)),
        [] => String::new(),
    }
}

fn names<'a>(first: &'a str, others: &[&'a RankingStep]) -> Vec<String> {
    let others = others.iter().map(|step| step.slower.as_str());
    std::iter::once(first).chain(others).map(String::from).collect()
}

/// The variants of an order that share its first place, and those behind them.
struct Leaders<'a> {
    together: Vec<&'a RankingStep>,
    behind: Vec<&'a RankingStep>,
    /// Whether one of those behind is too unsteady to be placed: it may tie with the first although a faster one does not.
    is_open: bool,
}

impl<'a> Leaders<'a> {
    fn of(one: &'a RankingFinding) -> Self {
        let all = one.steps.len();
        let places = one.steps.iter().position(|step| !step.behind_first.tie).unwrap_or(all);
        let (together, behind) = one.steps.split_at(places);
        let is_open = behind.iter().any(|step| step.behind_first.tie);
        Self { together: together.iter().collect(), behind: behind.iter().collect(), is_open }
    }
}

/// `ext3 and ext4 are the fastest`; where some behind cannot be placed, or these may well differ, they only `came first`.
fn are_first(first: &str, together: &[&RankingStep], is_open: bool) -> String {
    let is_open = is_open || !together.iter().all(|step| step.behind_first.is_alike());
    let are = match (is_open, together.is_empty()) {
        (true, _) => "came first",
        (false, true) => "is the fastest",
        (false, false) => "are the fastest",
    };
    format!("{} {are}", listed(&names(first, together)))
}

/// One order, over the whole job or in the only phase, after what it leaves out.
fn of_one(one: &RankingFinding, all: &[&RankingFinding]) -> AnswerDraft {
    let draft = of_order(one, all);
    let is_unsaid = |left_out: &String| !draft.evidence.iter().any(|said| said.contains(left_out));
    let left_out = one.about_left_out().filter(is_unsaid);
    let evidence = left_out.into_iter().chain(draft.evidence.iter().cloned()).collect();
    AnswerDraft { evidence, ..draft }
}

/// The order; the phases are its evidence.
fn of_order(one: &RankingFinding, all: &[&RankingFinding]) -> AnswerDraft {
    let mut evidence: Vec<String> = fastest_by_phase(all).into_iter().collect();
    let Some(first) = one.order.first() else {
        return AnswerDraft::cannot_tell(Lack::Variants, "nothing was compared".into(), evidence);
    };
    let [ties, slower] = parted(one);
    if slower.is_empty() {
        return undecided(one, first, &ties, evidence);
    }
    let Leaders { together, behind, is_open } = Leaders::of(one);
    let scope = scope(one);
    let lead = format!("{scope}{}", are_first(first, &together, is_open));
    if !together.is_empty() {
        evidence.insert(0, about_ties(first, &together));
    }
    let than = if together.is_empty() { String::new() } else { format!(" as {first}") };
    let about = |with_intervals| match is_open {
        true => about_open(&lead, &than, &behind, with_intervals),
        false => about_each(&lead, &than, &behind, with_intervals),
    };
    let texts = [about(true), about(false)];
    let [whole, _] = &texts;
    if !fits(whole) {
        evidence.insert(0, one.sentence());
    }
    let text = texts.into_iter().find(|text| fits(text)).unwrap_or_else(|| match is_open {
        true => about_many_open(&scope, first, &together, &behind),
        false => about_many(&lead, &behind),
    });
    AnswerDraft::proven(Verdict::Yes, text, evidence)
}

/// `ext3 is the fastest: ext4 takes 1.19 times as long (1.05 to 1.36), xfs 1.71 (1.05 to 2.80)`
fn about_each(lead: &str, than: &str, behind: &[&RankingStep], with_intervals: bool) -> String {
    let each = behind.iter().enumerate().map(|(at, step)| {
        let compared = step.behind_first;
        let interval = in_brackets(compared.interval.filter(|_| with_intervals));
        let times = say::times(compared.ratio);
        match at {
            0 => format!("{} takes {times} times as long{than}{interval}", step.slower),
            _ => in_short(step, with_intervals),
        }
    });
    format!("{lead}: {}", each.collect::<Vec<_>>().join(", "))
}

/// Where some among the slower ones vary too much to be placed: `ext4 came first: xfs takes 1.16 times as long (1.06 to
/// 1.28); btrfs 1.50 (0.37 to 6.00) varies too much to be placed`
fn about_open(lead: &str, than: &str, behind: &[&RankingStep], with_intervals: bool) -> String {
    let (open, slower): (Vec<&RankingStep>, Vec<&RankingStep>) =
        behind.iter().partition(|step| step.behind_first.tie);
    let unplaced: Vec<String> = open.iter().map(|step| in_short(step, with_intervals)).collect();
    let varies = if open.len() == 1 { "varies" } else { "vary" };
    format!(
        "{}; {} {varies} too much to be placed",
        about_each(lead, than, &slower, with_intervals),
        listed(&unplaced)
    )
}

/// `xfs 1.71 (1.05 to 2.80)`
fn in_short(step: &RankingStep, with_interval: bool) -> String {
    let interval = in_brackets(step.behind_first.interval.filter(|_| with_interval));
    format!("{} {}{interval}", step.slower, say::times(step.behind_first.ratio))
}

/// All slower ones by the least and the most of their ratios.
fn about_many(lead: &str, slower: &[&RankingStep]) -> String {
    let ratios = || slower.iter().map(|step| step.behind_first.ratio);
    let least = ratios().fold(f64::INFINITY, f64::min);
    let most = ratios().fold(0.0, f64::max);
    let (least, most) = (say::times(least), say::times(most));
    format!("{lead}: the {} others take {least} to {most} times as long", slower.len())
}

/// `ext3 is faster than 3 of 6 others; 1 does not differ, 2 cannot be placed`
fn about_many_open(
    scope: &str,
    first: &str,
    together: &[&RankingStep],
    behind: &[&RankingStep],
) -> String {
    let open = behind.iter().filter(|step| step.behind_first.tie).count();
    let (all, slower) = (together.len() + behind.len(), behind.len() - open);
    let alike = match together.len() {
        0 => String::new(),
        1 => "1 does not differ, ".into(),
        many => format!("{many} do not differ, "),
    };
    format!(
        "{scope}{first} is faster than {slower} of {all} others; {alike}{open} cannot be placed"
    )
}

/// A sentence on those that no significant difference separates from the first.
fn about_ties(first: &str, ties: &[&RankingStep]) -> String {
    match differs_at_most(ties) {
        Some(most) if most <= SLOWER_MARGIN => {
            let others = listed(&names(first, ties)[1..]);
            format!("From {first}, {others} differs by at most {}.", at_most(most))
        }
        _ => format!("{}.", begun(&may_take(first, ties))),
    }
}

/// `compared with ext3, ext4 may take 0.43 to 3.06 times as long, xfs 0.50 to 2.00`
fn may_take(first: &str, ties: &[&RankingStep]) -> String {
    let each = ties.iter().enumerate().map(|(at, step)| {
        let span = step.behind_first.interval.map_or("any".into(), say::span);
        match at {
            0 => format!("compared with {first}, {} may take {span} times as long", step.slower),
            _ => format!("{} {span}", step.slower),
        }
    });
    each.collect::<Vec<_>>().join(", ")
}

fn is_undecided(one: &RankingFinding) -> bool {
    one.steps.iter().all(|step| step.behind_first.tie)
}

/// No significant difference from the first.
fn undecided(
    one: &RankingFinding,
    first: &str,
    ties: &[&RankingStep],
    mut evidence: Vec<String>,
) -> AnswerDraft {
    let scope = scope(one);
    let Some(most) = differs_at_most(ties) else {
        let times = ties.first().map_or(String::new(), |step| {
            let longer = as_long(step.behind_first.ratio, None);
            format!("; {} took {longer}", step.slower)
        });
        let text =
            format!("too few repeats to compare; in this run {scope}{first} came first{times}");
        return AnswerDraft::cannot_tell(Lack::Repeats, text, evidence);
    };
    if most <= SLOWER_MARGIN {
        let text = match ties {
            [other] => {
                format!("{scope}{first} and {} differ by at most {}", other.slower, at_most(most))
            }
            _ => {
                let others = listed(&names(first, ties)[1..]);
                format!("{scope}{others} differ from {first} by at most {}", at_most(most))
            }
        };
        return AnswerDraft::proven(Verdict::No, text, evidence);
    }
    evidence.insert(0, format!("{}.", begun(&may_take(first, ties))));
    let (low, high) = ties
        .iter()
        .filter_map(|step| step.behind_first.interval)
        .fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), one| {
            (low.min(one.low), high.max(one.high))
        });
    // Of several, two others may differ.
    let came_first = match ties {
        [other] => format!("no difference is proven; {first} came first, {}", other.slower),
        _ => format!("no difference from {first} is proven, which came first; the others"),
    };
    let (low, high) = (say::times(low), say::times(high));
    let text = format!("{scope}{came_first} may take {low} to {high} times as long");
    AnswerDraft::cannot_tell(Lack::Precision, text, evidence)
}

/// Orders that change from level to level.
fn over_levels(all: &[&RankingFinding]) -> AnswerDraft {
    let decided: Vec<&&RankingFinding> = all.iter().filter(|one| !is_undecided(one)).collect();
    let evidence: Vec<String> = all.iter().map(|one| one.sentence()).collect();
    let what = all.first().and_then(|one| one.phase.as_deref());
    let what = what.map_or("over the whole job".to_string(), |phase| format!("in {phase}"));
    if decided.is_empty() {
        let text = format!("{what} no difference from the first is proven at any level");
        let steps: Vec<&RankingStep> = all.iter().flat_map(|one| &one.steps).collect();
        let lacks = match differs_at_most(&steps) {
            Some(_) => Lack::Precision,
            None => Lack::Repeats,
        };
        return AnswerDraft::cannot_tell(lacks, text, evidence);
    }
    let part = |one: &&&RankingFinding| {
        let first = one.order.first().map_or("", String::as_str);
        let Leaders { together, is_open, .. } = Leaders::of(one);
        let (at, are) = (at_levels(one, &one.levels), are_first(first, &together, is_open));
        let average = if one.levels.len() > 1 { format!(" {ON_AVERAGE}") } else { String::new() };
        format!("{at} {are}{}{average}", without(&[one]))
    };
    let joined = |number: usize| {
        let parts: Vec<String> = decided.iter().take(number).map(part).collect();
        format!("{what} {}", parts.join("; "))
    };
    let texts = (1..=decided.len()).rev().map(joined);
    let text = { texts }
        .find(|text| fits(text))
        .unwrap_or_else(|| format!("{what} the order of the variants changes from level to level"));
    AnswerDraft::proven(Verdict::Yes, text, evidence)
}

/// A variant with the phases that it is the fastest in.
struct PhaseWinner<'a> {
    variant: &'a str,
    /// Each with the variants that it lacks: `create (without btrfs)`.
    phases: Vec<String>,
    /// The rankings of these phases.
    rankings: Vec<&'a RankingFinding>,
}

impl PhaseWinner<'_> {
    /// `ext3 in create and delete`
    fn in_words(&self) -> String {
        format!("{} in {}", self.variant, listed(&self.phases))
    }
}

/// The variant that an order has first and that none ties with; none where there is none.
fn only_first(one: &RankingFinding) -> Option<&str> {
    let [ties, slower] = parted(one);
    one.order.first().map(String::as_str).filter(|_| ties.is_empty() && !slower.is_empty())
}

/// The variants that are the fastest in some phases, on average over the levels of these, the one with most phases first.
fn winners<'a>(all: &[&'a RankingFinding]) -> Vec<PhaseWinner<'a>> {
    let mut wins: Vec<PhaseWinner<'_>> = Vec::new();
    for phase in each_once(all.iter().filter_map(|one| one.phase.as_deref())) {
        let own = all.iter().copied().filter(|one| one.phase.as_deref() == Some(phase));
        let own: Vec<&RankingFinding> = own.collect();
        let firsts = each_once(own.iter().map(|one| only_first(one)));
        let [Some(variant)] = firsts.as_slice() else { continue };
        let named = format!("{phase}{}", without(&own));
        match wins.iter_mut().find(|one| one.variant == *variant) {
            Some(one) => {
                one.phases.push(named);
                one.rankings.extend(own);
            }
            None => wins.push(PhaseWinner { variant, phases: vec![named], rankings: own }),
        }
    }
    wins.sort_by_key(|one| std::cmp::Reverse(one.phases.len()));
    wins
}

/// Whether the first of an order is the fastest at each of its levels, and not only on average.
fn is_first_at_each(one: &RankingFinding) -> bool {
    let is_alone =
        |at: &FastestVariants| at.unclear.is_empty() && at.alike.iter().eq(one.order.first());
    one.fastest.iter().all(is_alone)
}

/// What these variants are wherever a phase was compared.
fn fastest(all: &[&RankingFinding], wins: &[PhaseWinner<'_>]) -> &'static str {
    let mut won = wins.iter().flat_map(|one| &one.rankings);
    match each_once(all.iter().flat_map(|one| &one.levels)).len() {
        0 | 1 => "fastest",
        _ if won.all(|one| is_first_at_each(one)) => "fastest at every level compared",
        _ => "fastest on average over the levels",
    }
}

/// A sentence on the phases of a job; none where it has one phase.
fn fastest_by_phase(all: &[&RankingFinding]) -> Option<String> {
    let phases = each_once(all.iter().filter_map(|one| one.phase.as_deref())).len();
    let wins = winners(all);
    let fastest = fastest(all, &wins);
    let parts: Vec<String> = wins.iter().map(PhaseWinner::in_words).collect();
    let won: usize = wins.iter().map(|one| one.phases.len()).sum();
    match (phases, won) {
        (0 | 1, _) => None,
        (_, 0) => Some(format!("In no single phase is one variant proven the {fastest}.")),
        (_, won) if won == phases => {
            Some(format!("By phase, the {fastest}: {}.", parts.join("; ")))
        }
        _ => Some(format!("By phase, proven the {fastest}: {}.", parts.join("; "))),
    }
}

/// Phases whose work differs between variants, so that nothing is the whole job.
fn over_phases(all: &[&RankingFinding], phases: &[&str]) -> AnswerDraft {
    let wins = winners(all);
    let fastest = fastest(all, &wins);
    let Some(best) = wins.first() else { return without_winner(all, phases.len()) };
    let parts: Vec<String> = wins.iter().map(PhaseWinner::in_words).collect();
    let whole = format!("{fastest}: {}", parts.join("; "));
    if fits(&whole) {
        return AnswerDraft::proven(Verdict::Yes, whole, Vec::new());
    }
    let (variant, won, but) = (best.variant, best.phases.len(), without(&best.rankings));
    let text = format!("{variant} is the {fastest} in {won} of {} phases{but}", phases.len());
    AnswerDraft::proven(Verdict::Yes, text, vec![format!("{}.", begun(&whole))])
}

/// No variant is the fastest in a phase wherever it was compared; at some of its levels one may be, or some may be slower
/// than others.
fn without_winner(all: &[&RankingFinding], phases: usize) -> AnswerDraft {
    let text =
        format!("in none of {phases} phases is one variant proven the {}", fastest(all, &[]));
    let evidence = all.iter().map(|one| one.sentence()).collect();
    if let Some((one, first)) = all.iter().find_map(|one| Some((one, only_first(one)?))) {
        let text = format!("{text}; {}{first} is", scope(one));
        return AnswerDraft::proven(Verdict::Yes, text, evidence);
    }
    if let Some(one) = all.iter().find(|one| !is_undecided(one)) {
        return AnswerDraft { evidence, ..of_order(one, &[]) };
    }
    let steps: Vec<&RankingStep> = all.iter().flat_map(|one| &one.steps).collect();
    match differs_at_most(&steps) {
        Some(most) if most <= SLOWER_MARGIN => {
            let phases = each_once(all.iter().filter_map(|one| one.phase.clone()));
            let (phases, most) = (listed(&phases), at_most(most));
            let text = format!("in {phases} no variant differs from the first by more than {most}");
            AnswerDraft::proven(Verdict::No, text, evidence)
        }
        Some(_) => AnswerDraft::cannot_tell(Lack::Precision, text, evidence),
        None => AnswerDraft::cannot_tell(Lack::Repeats, text, evidence),
    }
}
