//! Answers which variant is the fastest, from the orders of a run: by the whole job if there is one. What it claims is
//! what a headline may claim.

use super::Verdict;
use super::draft::{AnswerDraft, Lack};
use super::words::{begun, fits};
use crate::analysis::effects::decide::Decision;
use crate::analysis::findings::say::{self, listed};
use crate::analysis::ranked::{RankedVariant, RankedVariants};
use crate::base::distinct::each_once;

/// From all orders of a run; none if there is none.
pub(super) fn ranking(all: &[RankedVariants]) -> Option<AnswerDraft> {
    let whole: Vec<&RankedVariants> = all.iter().filter(|one| one.phase.is_none()).collect();
    let phases = each_once(all.iter().filter_map(|one| one.phase.as_deref()));
    let every: Vec<&RankedVariants> = all.iter().collect();
    let (draft, stated) = match (whole.as_slice(), phases.as_slice(), every.as_slice()) {
        ([one], ..) | ([], [_], [one]) => (of_one(one, &every), vec![*one]),
        ([], [_], [_, _, ..]) => (over_levels(&every), every),
        ([_, _, ..], ..) => (over_levels(&whole), whole),
        ([], [_, _, ..], _) => (over_phases(&every, phases.len()), every),
        _ => return None,
    };
    let effects = stated.iter().flat_map(|one| one.others.iter().map(|other| other.effect));
    Some(draft.made_of(effects.collect()))
}

/// The variants behind the first of an order, by what a headline says of them.
struct Parted<'a> {
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
            slower: with(|decision| decision == Decision::Longer),
            alike: with(|decision| decision == Decision::Within),
            open: with(|decision| matches!(decision, Decision::Open | Decision::Shorter)),
        }
    }

    /// `ext3 is the fastest`, `ext3 and ext4 are the fastest`; where some cannot be placed they only `came first`.
    fn lead(&self, first: &str) -> String {
        let names =
            names([first].into_iter().chain(self.alike.iter().map(|one| one.name.as_str())));
        let are = match (self.open.is_empty(), names.len()) {
            (false, _) => "came first",
            (true, 1) => "is the fastest",
            (true, _) => "are the fastest",
        };
        format!("{} {are}", listed(&names))
    }
}

fn names<'a>(all: impl Iterator<Item = &'a str>) -> Vec<String> {
    all.map(String::from).collect()
}

/// What is ranked, as an answer begins: `over the whole job `.
fn scope(one: &RankedVariants) -> String {
    let place = one.level.as_ref().map(|level| format!("at {}, ", say::level_in_words(level)));
    let (place, but) = (place.unwrap_or_default(), without(&[one]));
    match &one.phase {
        None => format!("over the whole job{but} {place}"),
        Some(phase) => format!("in {phase}{but} {place}"),
    }
}

/// The variants that some orders lack: ` (without btrfs)`; nothing where all take part.
fn without(all: &[&RankedVariants]) -> String {
    let left_out = all.iter().flat_map(|one| &one.left_out);
    let names = each_once(left_out.map(|one| one.variant.clone()));
    match names.len() {
        0 => String::new(),
        1 | 2 => format!(" (without {})", listed(&names)),
        many => format!(" (without {many} variants)"),
    }
}

/// One order, over the whole job or in the only phase; the phases are its evidence.
fn of_one(one: &RankedVariants, all: &[&RankedVariants]) -> AnswerDraft {
    let mut evidence = one.notes();
    evidence.extend(fastest_by_phase(all));
    let parted = Parted::of(one);
    if parted.slower.is_empty() {
        return undecided(one, &parted, evidence);
    }
    if !parted.alike.is_empty() {
        let others = listed(&names(parted.alike.iter().map(|one| one.name.as_str())));
        let take = if parted.alike.len() > 1 { "take" } else { "takes" };
        evidence
            .insert(0, format!("{} {take} as long as {} within 10%.", begun(&others), one.first));
    }
    let lead = format!("{}{}", scope(one), parted.lead(&one.first));
    let than = if parted.alike.is_empty() { String::new() } else { format!(" as {}", one.first) };
    let texts = [true, false].map(|with| about_each(&lead, &than, &parted, with));
    if !fits(&texts[0]) {
        evidence.insert(0, begun(&one.sentence()));
    }
    let text = texts.into_iter().find(|text| fits(text));
    AnswerDraft::proven(Verdict::Yes, text.unwrap_or_else(|| about_many(&lead, &parted)), evidence)
}

/// `ext3 is the fastest: ext4 takes 1.19 times as long (1.05 to 1.36), xfs 1.71 (1.05 to 2.80); btrfs may take 0.94 to 1.40
/// times as long`
fn about_each(lead: &str, than: &str, parted: &Parted<'_>, with_intervals: bool) -> String {
    let each = parted.slower.iter().enumerate().map(|(at, one)| {
        let told = one.headline.told().filter(|_| with_intervals);
        let interval = told.map(|interval| format!(" ({})", say::span(interval)));
        let (name, interval) = (&one.name, interval.unwrap_or_default());
        let times = say::near(one.headline.ratio);
        match at {
            0 => format!("{name} takes {times} times as long{than}{interval}"),
            _ => format!("{name} {times}{interval}"),
        }
    });
    let slower = each.collect::<Vec<_>>().join(", ");
    let open = match parted.open.as_slice() {
        [] => String::new(),
        [one] if with_intervals => format!("; {} {}", one.name, one.headline.as_open("")),
        many => format!(
            "; {} cannot be placed",
            listed(&names(many.iter().map(|one| one.name.as_str())))
        ),
    };
    format!("{lead}: {slower}{open}")
}

/// All slower ones by the least and the most of their ratios.
fn about_many(lead: &str, parted: &Parted<'_>) -> String {
    let (least, most) = ends(parted.slower.iter().map(|one| one.headline.ratio));
    let number = parted.slower.len();
    let open = match parted.open.len() {
        0 => String::new(),
        open => format!("; {open} cannot be placed"),
    };
    format!("{lead}: {number} others take {least} to {most} times as long{open}")
}

/// The least and the most of some ratios, in words.
fn ends(ratios: impl Iterator<Item = f64> + Clone) -> (String, String) {
    let least = ratios.clone().fold(f64::INFINITY, f64::min);
    let most = ratios.fold(0.0, f64::max);
    (say::near(least), say::near(most))
}

/// No variant is proven to take longer than the first.
fn undecided(one: &RankedVariants, parted: &Parted<'_>, mut evidence: Vec<String>) -> AnswerDraft {
    let (scope, first) = (scope(one), &one.first);
    if one.others.iter().all(|other| other.headline.interval.is_none()) {
        let took = one.others.first().map(|other| {
            format!("; {} took {} times as long", other.name, say::times(other.headline.ratio))
        });
        let took = took.unwrap_or_default();
        let text =
            format!("too few repeats to compare; in this run {scope}{first} came first{took}");
        return AnswerDraft::cannot_tell(Lack::Repeats, text, evidence);
    }
    if parted.open.is_empty() {
        let text = match parted.alike.as_slice() {
            [other] => format!("{scope}{first} and {} take as long, within 10%", other.name),
            others => {
                let others = listed(&names(others.iter().map(|one| one.name.as_str())));
                format!("{scope}{others} take as long as {first}, within 10%")
            }
        };
        return AnswerDraft::proven(Verdict::No, text, evidence);
    }
    if one.others.len() > 1 {
        evidence.insert(0, begun(&one.sentence()));
    }
    let told = parted.open.iter().filter_map(|one| one.headline.told());
    let lows = told.clone().map(|one| one.low).fold(f64::INFINITY, f64::min);
    let highs = told.map(|one| one.high).fold(0.0, f64::max);
    let (low, high) = (say::near(lows), say::near(highs));
    let came_first = match one.others.as_slice() {
        [other] => format!("no difference is proven; {first} came first, {}", other.name),
        _ => format!("no difference from {first} is proven, which came first; others"),
    };
    let text = match highs > 0.0 {
        true => format!("{scope}{came_first} may take {low} to {high} times as long"),
        false => format!("{scope}{came_first} vary too much to tell"),
    };
    AnswerDraft::cannot_tell(Lack::Precision, text, evidence)
}

/// Orders at several levels of one phase, or of the whole job.
fn over_levels(all: &[&RankedVariants]) -> AnswerDraft {
    let evidence: Vec<String> = all.iter().map(|one| begun(&one.sentence())).collect();
    let what = all.first().and_then(|one| one.phase.as_deref());
    let what = what.map_or("over the whole job".to_string(), |phase| format!("in {phase}"));
    let lead = |one: &RankedVariants| {
        let parted = Parted::of(one);
        (!parted.slower.is_empty())
            .then(|| format!("{}{}", parted.lead(&one.first), without(&[one])))
    };
    let leads: Vec<Option<String>> = all.iter().map(|one| lead(one)).collect();
    let placed: Vec<(&RankedVariants, Option<String>)> = all.iter().copied().zip(leads).collect();
    let parts = placed.chunk_by(|a, b| a.1 == b.1).filter_map(|same| {
        let lead = same.first()?.1.as_ref()?;
        let levels: Vec<_> = same.iter().filter_map(|one| one.0.level.as_ref()).collect();
        let at = match levels.as_slice() {
            [] => return None,
            _ if levels.len() == all.len() => "at every level".to_string(),
            [only] => format!("at {}", say::level_in_words(only)),
            [low, .., high] => format!("from {} to {}", say::level(low), say::level_in_words(high)),
        };
        Some(format!("{at} {lead}"))
    });
    let parts: Vec<String> = parts.collect();
    if parts.is_empty() {
        return without_difference(
            all,
            format!("{what} no difference is proven at any level"),
            evidence,
        );
    }
    let joined = |number: usize| format!("{what} {}", parts[..number].join("; "));
    let texts = (1..=parts.len()).rev().map(joined);
    let text = { texts }
        .find(|text| fits(text))
        .unwrap_or_else(|| format!("{what} the order of the variants changes from level to level"));
    AnswerDraft::proven(Verdict::Yes, text, evidence)
}

/// Where nothing takes longer than the first anywhere: all take as long, or it is open.
fn without_difference(all: &[&RankedVariants], text: String, evidence: Vec<String>) -> AnswerDraft {
    let others = || all.iter().flat_map(|one| &one.others);
    if others().all(|other| other.headline.interval.is_none()) {
        return AnswerDraft::cannot_tell(Lack::Repeats, text, evidence);
    }
    match others().all(|other| other.headline.decision == Decision::Within) {
        true => AnswerDraft::proven(Verdict::No, format!("{text}: within 10%"), evidence),
        false => AnswerDraft::cannot_tell(Lack::Precision, text, evidence),
    }
}

/// A variant with the phases that it is the fastest in, each with the variants that it lacks: `create (without btrfs)`.
struct PhaseWinner<'a> {
    variant: &'a str,
    phases: Vec<String>,
}

/// The first variant of an order if all others are proven to take longer.
fn only_first(one: &RankedVariants) -> Option<&str> {
    let is_slower = |other: &RankedVariant| other.headline.decision == Decision::Longer;
    one.others.iter().all(is_slower).then_some(one.first.as_str())
}

/// The variants that are the fastest in some phases, at all levels of these, the one with most phases first.
fn winners<'a>(all: &[&'a RankedVariants]) -> Vec<PhaseWinner<'a>> {
    let mut wins: Vec<PhaseWinner<'_>> = Vec::new();
    for phase in each_once(all.iter().filter_map(|one| one.phase.as_deref())) {
        let own = all.iter().copied().filter(|one| one.phase.as_deref() == Some(phase));
        let own: Vec<&RankedVariants> = own.collect();
        let firsts = each_once(own.iter().map(|one| only_first(one)));
        let [Some(variant)] = firsts.as_slice() else { continue };
        let named = format!("{phase}{}", without(&own));
        match wins.iter_mut().find(|one| one.variant == *variant) {
            Some(one) => one.phases.push(named),
            None => wins.push(PhaseWinner { variant, phases: vec![named] }),
        }
    }
    wins.sort_by_key(|one| std::cmp::Reverse(one.phases.len()));
    wins
}

/// What the first of an order is wherever a phase was compared.
fn fastest(all: &[&RankedVariants]) -> &'static str {
    match each_once(all.iter().map(|one| one.level.as_ref())).len() {
        0 | 1 => "fastest",
        _ => "fastest at every level",
    }
}

/// A sentence on the phases of a job; none where it has one phase.
fn fastest_by_phase(all: &[&RankedVariants]) -> Option<String> {
    let phases = each_once(all.iter().filter_map(|one| one.phase.as_deref())).len();
    let (wins, fastest) = (winners(all), fastest(all));
    match (phases, wins.as_slice()) {
        (0 | 1, _) => None,
        (_, []) => Some(format!("In no single phase is one variant proven the {fastest}.")),
        _ => Some(format!("By phase, the {fastest}: {}.", in_words(&wins))),
    }
}

fn in_words(wins: &[PhaseWinner<'_>]) -> String {
    let each = wins.iter().map(|one| format!("{} in {}", one.variant, listed(&one.phases)));
    each.collect::<Vec<_>>().join("; ")
}

/// Phases whose work differs between variants, so that nothing is the whole job.
fn over_phases(all: &[&RankedVariants], phases: usize) -> AnswerDraft {
    let (wins, fastest) = (winners(all), fastest(all));
    let whole = format!("{fastest}: {}", in_words(&wins));
    let Some(best) = wins.first() else { return without_winner(all, phases) };
    if fits(&whole) {
        return AnswerDraft::proven(Verdict::Yes, whole, Vec::new());
    }
    let (variant, won) = (best.variant, best.phases.len());
    let text = format!("{variant} is the {fastest} in {won} of {phases} phases");
    AnswerDraft::proven(Verdict::Yes, text, vec![format!("{}.", begun(&whole))])
}

/// No variant is the fastest in a phase wherever it was compared; in one some may take longer than others.
fn without_winner(all: &[&RankedVariants], phases: usize) -> AnswerDraft {
    let text = format!("in none of {phases} phases is one variant proven the {}", fastest(all));
    let evidence: Vec<String> = all.iter().map(|one| begun(&one.sentence())).collect();
    let has_slower = |one: &&&RankedVariants| !Parted::of(one).slower.is_empty();
    match all.iter().find(has_slower) {
        Some(one) => AnswerDraft { evidence, ..of_one(one, &[]) },
        None => without_difference(all, text, evidence),
    }
}
