//! Whether operations take longer at the highest level of the axis than at the lowest, and from which level on: the phase that
//! carries the effect, then all together.

use super::answer_draft::{AnswerDraft, Lack};
use super::reading::{
    ChartFamily, Picture, Reading, RunView, common_ends, decided, effects_table, least_certain,
};
use super::table::{AnswerCell, AnswerNote, AnswerTable};
use crate::answer::Verdict;
use crate::effect_finding::{EffectFinding, LevelStep};
use crate::effects::contrast::MARGIN_RATIO;
use crate::effects::decide::Decision;
use crate::findings::say;
use crate::observations::Observations;
use crate::run_effects;
use crate::statement::{Part, Sentence, Statement, parts, text_of};
use boatload_base::distinct::each_once;
use boatload_base::units::grouped;
use boatload_plan::Conclusion;
use boatload_results::book::Level;

/// Phases that a sentence names beside the one that carries the effect.
const OTHERS_NAMED: usize = 2;

/// The reading.
#[derive(Debug)]
pub(super) struct Levels;

impl Reading for Levels {
    fn effects(&self, all: &Observations<'_>, alpha: f64) -> Vec<EffectFinding> {
        let mut effects = run_effects::levels(all, alpha);
        effects.iter_mut().for_each(|one| one.text = text_of(&in_table(one)));
        effects
    }

    /// All phases together, and the one that changes most.
    fn asked<'a>(&self, all: Vec<&'a EffectFinding>) -> Vec<&'a EffectFinding> {
        let (phases, mut asked): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|one| one.phase.is_some());
        asked.extend(phases.into_iter().max_by(|a, b| a.size().total_cmp(&b.size())));
        asked
    }

    fn answer(&self, run: &RunView<'_>) -> Option<AnswerDraft> {
        let all = run.effects_of(Conclusion::Levels);
        let (of_phase, together): (Vec<&EffectFinding>, Vec<&EffectFinding>) =
            all.iter().map(|one| one.effect).partition(|one| one.phase.is_some());
        of_phase.first()?.from.level.as_ref()?;
        let tasks = Tasks { all: of_phase, together: together.first().copied() };
        Some(tasks.answer().made_of(all.iter().map(|one| one.place).collect()))
    }

    fn table(&self, run: &RunView<'_>) -> Option<AnswerTable> {
        let rows = by_ratio(run);
        let ends = common_ends(&rows).map(|ends| ends.map(say::level));
        let heads = ends.unwrap_or_else(|| ["lowest".into(), "highest".into()]);
        let axis = &rows.first()?.to.level.as_ref()?.axis;
        let mut table = effects_table(run, &rows, say::axis_word(axis), &heads);
        table.add("limited by", rows.iter().map(|one| run.limit_of(one)));
        let since = |one: &EffectFinding| {
            let since = one.headline.since.filter(|_| one.headline().mark().is_difference());
            let level = Level { value: since?, ..one.to.level.clone()? };
            Some(AnswerCell::Name(say::level(&level)))
        };
        table.add("from", rows.iter().map(|one| since(one).unwrap_or(AnswerCell::Missing)));
        table.notes.push(AnswerNote::of_names(["from"], "the first level that differs"));
        let phases = each_once(rows.iter().filter_map(|one| one.phase.as_deref()));
        table.notes.extend(run.about_counts(&phases));
        Some(table)
    }

    fn picture(&self, run: &RunView<'_>) -> Option<Picture> {
        let rows = by_ratio(run);
        let most = decided(&rows, Decision::Longer).first().copied().or(rows.first().copied())?;
        Some(Picture { family: ChartFamily::Levels, phase: most.phase.clone() })
    }
}

/// The effects of single phases, from the one that takes longest as long on.
fn by_ratio<'a>(run: &RunView<'a>) -> Vec<&'a EffectFinding> {
    let all = run.effects_of(Conclusion::Levels).into_iter().map(|one| one.effect);
    let mut rows: Vec<&EffectFinding> = all.filter(|one| one.phase.is_some()).collect();
    rows.sort_by(|a, b| b.ratio.total_cmp(&a.ratio));
    rows
}

/// The effect as a list of all has it.
fn in_table(one: &EffectFinding) -> Vec<Part> {
    let Some((low, high)) = one.from.level.as_ref().zip(one.to.level.as_ref()) else {
        let takes = one.stated().takes(parts![" as at the lowest"]);
        return parts!["all phases together: at the highest level it ", takes];
    };
    let since = one.stated.since.filter(|since| *since < high.value).map(|since| {
        let from = Level { value: since, ..high.clone() };
        let way = if one.ratio < 1.0 { "shorter" } else { "longer" };
        format!(", {way} from {} on", say::level(&from))
    });
    let takes = one.stated().takes(parts![" as at ", say::level(low)]);
    let device = if one.device_itself { DEVICE_ITSELF } else { "" };
    parts![one.task(), " ", say::at_level(high), " ", takes, since, device]
}

const DEVICE_ITSELF: &str = ", but the device had the same requests: it may be the device itself";

/// The phases of all variants over the axis.
struct Tasks<'a> {
    all: Vec<&'a EffectFinding>,
    together: Option<&'a EffectFinding>,
}

impl Tasks<'_> {
    fn answer(&self) -> AnswerDraft {
        let longer = decided(&self.all, Decision::Longer);
        let (of_device, longer): (Vec<_>, Vec<_>) =
            longer.into_iter().partition(|one| one.device_itself);
        let is_longer_together =
            self.together.is_some_and(|one| one.headline.decision == Decision::Longer);
        match (longer.as_slice(), of_device.as_slice()) {
            ([], [one, ..]) => {
                let sentence = about(one).with(0, parts![DEVICE_ITSELF]);
                AnswerDraft::open(Lack::SteadyDevice, Statement::new(sentence))
            }
            ([], []) if is_longer_together => {
                let first = Sentence::new(self.about_together().unwrap_or_default());
                let which = Sentence::ranked(1, parts!["no single task is proven to take longer"]);
                AnswerDraft::proven(Verdict::Yes, Statement::new(first).and([which]))
            }
            ([], []) => self.without_longer(),
            ([most, others @ ..], _) => self.with_longer(most, others),
        }
    }

    fn with_longer(&self, most: &EffectFinding, others: &[&EffectFinding]) -> AnswerDraft {
        let together = self.about_together().map(|one| Sentence::ranked(2, one));
        let first = self.about_files(most, others).unwrap_or_else(|| about(most));
        let statement = Statement::new(first).and(self.about_others(others)).and(together);
        AnswerDraft::proven(Verdict::Yes, statement)
    }

    /// `slower from 10,000 files on than with 1,000: delete-cold takes 1.41 times as long at 10,000 files, 5.73 times at 1,000,000
    /// (5.04 to 6.52)`, or `fast up to 10,000 files, slower from 100,000 on: ...` where a level between was tried and proven to
    /// be no slower; `None` where no files grow.
    fn about_files(&self, most: &EffectFinding, others: &[&EffectFinding]) -> Option<Sentence> {
        let [low, high] = [most.from.level.as_ref()?, most.to.level.as_ref()?];
        let longer = || std::iter::once(most).chain(others.iter().copied());
        let since = longer().filter_map(|one| one.headline.since).reduce(f64::min)?;
        if high.axis != FILES_OF_DIRECTORIES {
            return None;
        }
        let level = |value: f64| Level { value, ..high.clone() };
        let [from, lowest] = [level(since), low.clone()].map(|one| Part::Level(say::level(&one)));
        let is_fast = |value: f64| {
            let mut steps = self.all.iter().flat_map(|one| &one.steps);
            steps.all(|step| step.value != value || step.is_no_longer())
        };
        let below = most.steps.iter().map(|step| step.value).filter(|value| *value < since);
        let fast = below.filter(|value| is_fast(*value)).reduce(f64::max);
        let lead = match fast {
            Some(fast) => {
                let fast = Part::Level(say::level_in_words(&level(fast)));
                parts!["fast up to ", fast, ", slower from ", from, " on: "]
            }
            None => {
                let from = Part::Level(say::level_in_words(&level(since)));
                parts!["slower from ", from, " on than with ", lowest, ": "]
            }
        };
        let own = most.headline.since.filter(|own| *own < high.value);
        let step = own.and_then(|own| most.steps.iter().find(|step| step.value == own));
        let Some(step) = step else { return Some(without_since(most).led_by(lead)) };
        let at = parts![" times as long ", say::at_level(&level(step.value))];
        let ratio = Part::Figure(say::near(step.ratio));
        let last =
            parts![", ", most.headline().times(), " times at ", Part::Level(say::level(high))];
        let sentence = Sentence::new(parts![lead, most.task(), " takes ", ratio, at, last]);
        Some(sentence.with(0, most.headline().in_brackets()))
    }

    /// `5 of the 20 others take longer too: create-again (single) 3.20 times as long (2.9 to 3.6), ...`
    fn about_others(&self, others: &[&EffectFinding]) -> Option<Sentence> {
        let number = Part::Count(grouped(others.len() as u64));
        let all = grouped(self.all.len() as u64 - 1);
        let lead = match others.len() {
            0 => return None,
            1 if self.all.len() == 2 => parts!["the other takes longer too"],
            1 => parts!["one of the ", all, " others takes longer too"],
            many if many + 1 == self.all.len() => parts!["the ", number, " others take longer too"],
            _ => parts![number, " of the ", all, " others take longer too"],
        };
        let mut sentence = Sentence::ranked(1, lead);
        for (at, one) in others.iter().take(OTHERS_NAMED).enumerate() {
            let before = if at == 0 { ": " } else { ", " };
            let times = parts![one.headline().times(), " times"];
            let named = parts![before, one.task(), " ", times];
            sentence = sentence.with(3 + at as u8, named).with(6, one.headline().in_brackets());
        }
        Some(sentence)
    }

    /// `all 72 tasks together take 1.16 times as long at 94% full as at 30% (1.14 to 1.17)`; none of a single task.
    fn about_together(&self) -> Option<Vec<Part>> {
        let one = self.together?;
        let number = Part::Count(grouped(self.all.len() as u64));
        let takes = one.headline().as_long(self.ends());
        Some(parts!["all ", number, " tasks together take ", takes])
    }

    /// ` at 94% full as at 30%` where all have the same ends.
    fn ends(&self) -> Vec<Part> {
        match common_ends(&self.all) {
            Some([low, high]) => between(low, high),
            None => parts![" at the highest level as at the lowest"],
        }
    }

    /// No single task is proven to take longer.
    fn without_longer(&self) -> AnswerDraft {
        let shorter = decided(&self.all, Decision::Shorter);
        let alike = decided(&self.all, Decision::Within);
        if alike.len() + shorter.len() == self.all.len() {
            let mut first =
                Sentence::new(parts!["nothing takes more than 10% longer", self.than()]);
            for (at, one) in least_certain(&alike).iter().chain(shorter.first()).enumerate() {
                let [before, unit] = if at == 0 { [": ", " times as long"] } else { [", ", ""] };
                let verb = if at == 0 { " takes " } else { " " };
                first = first
                    .with(1, parts![before, one.task(), verb, one.headline().times(), unit])
                    .with(1, one.headline().in_brackets());
            }
            if let Some([_, high]) = common_ends(&self.all)
                && high.axis == FILES_OF_DIRECTORIES
            {
                let lead = parts!["fast up to ", Part::Level(say::level_in_words(high)), ": "];
                first = first.led_by(lead);
            }
            return AnswerDraft::proven(Verdict::No, Statement::new(first));
        }
        if self.all.iter().all(|one| one.headline.interval.is_none()) {
            let most = self.all.iter().max_by(|a, b| a.ratio.total_cmp(&b.ratio));
            let statement = most.map(|one| Statement::new(about(one))).unwrap_or_default();
            return AnswerDraft::open(Lack::Repeats, statement);
        }
        let open = decided(&self.all, Decision::Open);
        let Some(widest) = least_certain(&open) else {
            return AnswerDraft::open(Lack::Precision, Statement::default());
        };
        let excluded = |one: &EffectFinding| one.headline().not_excluded();
        let together = self.together.filter(|one| one.headline.decision == Decision::Open);
        let statement = match together.and(self.about_together()) {
            Some(whole) => {
                let least = parts!["the least certain is ", widest.task(), ": ", excluded(widest)];
                Statement::new(Sentence::new(whole)).and([Sentence::ranked(1, least)])
            }
            None => {
                let first = about(widest).with(1, parts!["; ", excluded(widest)]);
                let whole = self.about_together().map(|whole| Sentence::ranked(2, whole));
                Statement::new(first).and(whole)
            }
        };
        AnswerDraft::open(Lack::Precision, statement.and(self.most_between()))
    }

    /// ` at 400,000 files than at 0`
    fn than(&self) -> Vec<Part> {
        match common_ends(&self.all) {
            Some([low, high]) => parts![" ", say::at_level(high), " than at ", say::level(low)],
            None => parts![" at the highest level than at the lowest"],
        }
    }

    /// What takes longest at a level between the lowest and the highest, beyond its interval and the margin.
    fn most_between(&self) -> Option<Sentence> {
        let between = self.all.iter().flat_map(|one| {
            let steps = one.steps.split_last().map_or(&[][..], |(_, between)| between);
            steps.iter().map(move |step| (one, step))
        });
        let is_longer = |step: &LevelStep| {
            step.ratio >= MARGIN_RATIO && step.interval.is_some_and(|interval| interval.low > 1.0)
        };
        let longer = between.filter(|(_, step)| is_longer(step));
        let (one, step) = longer.max_by(|a, b| a.1.ratio.total_cmp(&b.1.ratio))?;
        let level = Level { value: step.value, ..one.to.level.clone()? };
        let times = parts![Part::Figure(say::near(step.ratio)), " times as long"];
        let place = parts![" ", say::at_level(&level)];
        Some(Sentence::ranked(4, parts!["in between ", one.task(), " takes ", times, place]))
    }
}

/// The axis of the question up to how many files a directory is fast.
const FILES_OF_DIRECTORIES: &str = "file-count";
/// ` at 94% full as at 30%`
fn between(low: &Level, high: &Level) -> Vec<Part> {
    parts![" ", say::at_level(high), " as at ", Part::Level(say::level(low))]
}

/// `read-file (fragmented) takes 5.25 times as long at 94% full as at 30% (4.57 to 6.03), from 50% on`
fn about(one: &EffectFinding) -> Sentence {
    let Some(high) = &one.to.level else { return Sentence::default() };
    let since = one.headline.since.filter(|since| *since < high.value);
    let since = since.map(|since| say::level(&Level { value: since, ..high.clone() }));
    let since = since.map(|since| parts![", from ", Part::Level(since), " on"]);
    without_since(one).with(1, since.unwrap_or_default())
}

/// The same without its last part.
fn without_since(one: &EffectFinding) -> Sentence {
    let (Some(low), Some(high)) = (&one.from.level, &one.to.level) else {
        return Sentence::default();
    };
    let takes = one.headline().as_long(between(low, high));
    Sentence::new(parts![one.task(), " takes ", takes])
}
