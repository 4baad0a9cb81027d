//! The reading that says at which levels of the axis (a file size, a number of threads) each of two variants is the faster. Of
//! several pairs it shows one that changes places, else the one that differs most; it claims nothing between measured levels.

use super::answer_draft::{AnswerDraft, Lack};
use super::reading::{ChartFamily, Picture, Reading, RunView};
use super::table::AnswerTable;
use crate::answer::Verdict;
use crate::effect_finding::{ComparedRatio, EffectCell, EffectFinding};
use crate::effects::decide::Decision;
use crate::findings::say;
use crate::observations::Observations;
use crate::statement::{Part, Sentence, Statement, parts};
use boatload_base::distinct::each_once;
use boatload_base::units::grouped;
use boatload_plan::Conclusion;
use boatload_results::book::{Book, Level, Measurement};

/// The reading.
#[derive(Debug)]
pub(super) struct Crossing;

impl Reading for Crossing {
    fn effects(&self, all: &Observations<'_>, alpha: f64) -> Vec<EffectFinding> {
        super::ranking::Ranking.effects(all, alpha)
    }

    /// All pairs at both end levels.
    fn asked<'a>(&self, all: Vec<&'a EffectFinding>) -> Vec<&'a EffectFinding> {
        let value = |one: &EffectFinding| one.to.level.as_ref().map(|level| level.value);
        let values = || all.iter().filter_map(|one| value(one));
        let ends = [values().fold(f64::INFINITY, f64::min), values().fold(f64::MIN, f64::max)];
        let is_end = |one: &&EffectFinding| value(one).is_some_and(|value| ends.contains(&value));
        all.iter().copied().filter(is_end).collect()
    }

    fn answer(&self, run: &RunView<'_>) -> Option<AnswerDraft> {
        let pairs = pairs(run);
        let told = pairs.first()?;
        let places = |pair: &ComparedPair<'_>| -> Vec<usize> {
            pair.levels.iter().map(|level| level.place).collect()
        };
        if told.weight() == 0.0 {
            return Some(open(&pairs).made_of(pairs.iter().flat_map(places).collect()));
        }
        let in_phase = match each_once(pairs.iter().map(|one| one.phase)).len() {
            1 => Vec::new(),
            _ => parts!["in ", Part::Phase(told.phase.into()), " "],
        };
        let statement = Statement::new(told.sentence(in_phase));
        Some(AnswerDraft::proven(Verdict::Yes, statement).made_of(places(told)))
    }

    fn table(&self, run: &RunView<'_>) -> Option<AnswerTable> {
        super::ranking::table_by_level(run)
    }

    fn picture(&self, run: &RunView<'_>) -> Option<Picture> {
        let phase = pairs(run).first()?.phase.to_string();
        Some(Picture { family: ChartFamily::Levels, phase: Some(phase) })
    }
}

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

impl ComparedLevel<'_> {
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

    /// `11.8 times at 1 KiB`; with no more than the number where the level stands before it.
    fn by_at(&self, is_named: bool) -> Vec<Part> {
        let at = (!is_named).then(|| parts![" at ", Part::Level(say::level(self.level))]);
        parts![self.by().times(), " times", at]
    }
}

/// The pairs that can be compared at several levels, the one that is told first. One that waits for the device after each operation does another work.
fn pairs<'a>(run: &RunView<'a>) -> Vec<ComparedPair<'a>> {
    let mut all: Vec<ComparedPair<'a>> = Vec::new();
    for one in run.effects_of(Conclusion::Ranking) {
        let effect = one.effect;
        let sides = effect.to.variant.as_deref().zip(effect.from.variant.as_deref());
        let known = effect.phase.as_deref().zip(sides).zip(effect.to.level.as_ref());
        let known = known.filter(|_| are_as_durable(run.book, effect));
        let Some(((phase, (to, from)), level)) = known else { continue };
        let compared = ComparedLevel { level, compared: effect.headline(), place: one.place };
        match all.iter_mut().find(|one| one.phase == phase && one.variants == [to, from]) {
            Some(one) => one.levels.push(compared),
            None => all.push(ComparedPair { phase, variants: [to, from], levels: vec![compared] }),
        }
    }
    for one in &mut all {
        one.levels.sort_by(|a, b| a.level.value.total_cmp(&b.level.value));
    }
    all.retain(|one| one.levels.len() > 1);
    all.sort_by(|a, b| b.weight().total_cmp(&a.weight()));
    all.sort_by_key(|pair| !pair.crosses());
    all
}

/// Whether both variants of an effect promise the same.
fn are_as_durable(book: &Book, effect: &EffectFinding) -> bool {
    let durability = |cell: &EffectCell| {
        let own = |m: &&Measurement| {
            effect.phase.as_ref() == Some(&m.phase)
                && cell.variant.as_ref() == Some(&m.cell.variant)
        };
        book.measurements.iter().find(own).and_then(|m| m.durability)
    };
    durability(&effect.from) == durability(&effect.to)
}

impl ComparedPair<'_> {
    /// How much it has to tell: the logarithms of its proven ratios.
    fn weight(&self) -> f64 {
        let won = self.levels.iter().filter(|level| level.winner().is_some());
        won.map(|level| level.compared.ratio.ln().abs()).sum()
    }

    /// Whether each is proven the faster at some level.
    fn crosses(&self) -> bool {
        [0, 1].iter().all(|one| self.levels.iter().any(|level| level.winner() == Some(*one)))
    }

    /// Neighbouring levels with one winner, each as a part of the text.
    fn sentence(&self, lead: Vec<Part>) -> Sentence {
        let mut sentence = Sentence::default();
        let mut before = lead;
        let mut is_named = false;
        for levels in self.levels.chunk_by(|a, b| a.winner() == b.winner()) {
            let (Some(first), Some(last)) = (levels.first(), levels.last()) else { continue };
            let place =
                parts![std::mem::replace(&mut before, parts!["; "]), self.place(first, last)];
            let Some(winner) = first.winner() else {
                let open = parts![place, " no difference is proven"];
                // As the first clause it leads the others.
                let rank = if is_named { 2 } else { 0 };
                sentence = sentence.with(rank, open);
                continue;
            };
            let loser = Part::Variant(self.variants[1 - winner].into());
            let than = (!is_named).then(|| parts![" than ", loser]);
            is_named = true;
            let winner = Part::Variant(self.variants[winner].into());
            let faster = parts![place, " ", winner, " is faster", than, ": "];
            let is_named = levels.len() == 1;
            sentence = sentence
                .with(0, parts![faster, first.by_at(is_named)])
                .with(4, first.by().in_brackets());
            if levels.len() > 1 {
                let last_by = parts![", ", last.by_at(false)];
                sentence = sentence.with(1, last_by).with(4, last.by().in_brackets());
            }
        }
        sentence
    }

    /// `up to 32 KiB`, `at every level`
    fn place(&self, first: &ComparedLevel<'_>, last: &ComparedLevel<'_>) -> Vec<Part> {
        let is = |one: Option<&ComparedLevel<'_>>, level: &Level| {
            one.is_some_and(|one| one.level.value == level.value)
        };
        let ends = (is(self.levels.first(), first.level), is(self.levels.last(), last.level));
        let [low, high] = [first, last].map(|one| Part::Level(say::level(one.level)));
        match ends {
            (true, true) => parts!["at every level"],
            _ if first.level.value == last.level.value => parts!["at ", low],
            (true, false) => parts!["up to ", high],
            (false, true) => parts!["from ", low, " on"],
            (false, false) => parts!["from ", low, " to ", high],
        }
    }
}

/// No variant is proven faster than another at any level.
fn open(all: &[ComparedPair<'_>]) -> AnswerDraft {
    let levels = || all.iter().flat_map(|one| one.levels.iter().map(move |level| (one, level)));
    let high = |level: &ComparedLevel<'_>| level.by().interval.map_or(1.0, |one| one.high);
    let between = match all {
        [one] => {
            let [a, b] = one.variants.map(|name| Part::Variant(name.into()));
            parts!["between ", a, " and ", b]
        }
        _ => parts!["in ", Part::Count(grouped(all.len() as u64)), " pairs of variants"],
    };
    if levels().all(|(_, level)| level.compared.decision == Decision::Within) {
        let text = parts!["no difference ", between, " is larger than 10% at any level"];
        return AnswerDraft::proven(Verdict::No, Statement::new(Sentence::new(text)));
    }
    let lacks_interval = levels().any(|(_, level)| level.compared.interval.is_none());
    let size = |level: &ComparedLevel<'_>| match lacks_interval {
        true => level.by().ratio,
        false => high(level),
    };
    let Some((one, level)) = levels().max_by(|a, b| size(a.1).total_cmp(&size(b.1))) else {
        return AnswerDraft::open(Lack::Repeats, Statement::default());
    };
    let is_first = level.compared.ratio < 1.0;
    let [fast, slow] = if is_first { [0, 1] } else { [1, 0] };
    let [fast, slow] = [fast, slow].map(|at| Part::Variant(one.variants[at].into()));
    let place = parts!["at ", Part::Level(say::level(level.level)), " "];
    let takes = level.by().as_long(parts![" as ", fast]);
    let excluded = level.by().not_excluded();
    let excluded = if excluded.is_empty() { excluded } else { parts!["; ", excluded] };
    let first = Sentence::new(parts![place, slow, " takes ", takes]).with(1, excluded);
    let lacks = if lacks_interval { Lack::Repeats } else { Lack::Precision };
    AnswerDraft::open(lacks, Statement::new(first))
}
