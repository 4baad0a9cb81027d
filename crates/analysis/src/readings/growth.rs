//! Whether operations take longer as a phase goes on: the last tenth of its operations against the second.

use super::answer_draft::{AnswerDraft, Lack};
use super::reading::{
    ChartFamily, Picture, Reading, RunView, decided, effects_table, least_certain,
};
use super::table::{AnswerNote, AnswerTable};
use crate::answer::Verdict;
use crate::effect_finding::EffectFinding;
use crate::effects::decide::Decision;
use crate::findings::growth::{CountedThing, GrowthCourse};
use crate::findings::say;
use crate::observations::Observations;
use crate::run_effects;
use crate::statement::{Part, Sentence, Statement, parts, text_of};
use boatload_base::distinct::each_once;
use boatload_base::units::grouped;
use boatload_plan::Conclusion;

/// Series that a sentence names beside the one that grows most.
const OTHERS_NAMED: usize = 3;

/// The reading.
#[derive(Debug)]
pub(super) struct Growth;

impl Reading for Growth {
    fn effects(&self, all: &Observations<'_>, alpha: f64) -> Vec<EffectFinding> {
        let mut effects = run_effects::growth(all, alpha);
        effects.iter_mut().for_each(|one| one.text = text_of(&in_table(one)));
        effects
    }

    fn answer(&self, run: &RunView<'_>) -> Option<AnswerDraft> {
        let placed = run.effects_of(Conclusion::Growth);
        let all: Vec<&EffectFinding> = placed.iter().map(|one| one.effect).collect();
        all.first()?;
        let draft = answer(&all);
        Some(draft.made_of(placed.iter().map(|one| one.place).collect()))
    }

    fn table(&self, run: &RunView<'_>) -> Option<AnswerTable> {
        let all = run.effects_of(Conclusion::Growth).into_iter().map(|one| one.effect);
        let mut rows: Vec<&EffectFinding> = all.collect();
        rows.sort_by(|a, b| b.ratio.total_cmp(&a.ratio));
        let course = rows.first()?.course.as_ref()?;
        let courses = || rows.iter().filter_map(|one| one.course.as_ref());
        let sizes = each_once(courses().map(|one| (one.operations_of_tenth, one.operations)));
        let tenth = match sizes.as_slice() {
            [(tenth, _)] => grouped(*tenth),
            _ => "tenth".into(),
        };
        let heads = [format!("second {tenth}"), format!("last {tenth}")];
        let mut table = effects_table(run, &rows, course.counted.as_str(), &heads);
        table.add("limited by", rows.iter().map(|one| run.limit_of(one)));
        let is_synced = |phase: &str| {
            let mut own = run.summary.rows().filter(|row| row.phase == phase);
            own.any(|row| row.sync_seconds.is_some())
        };
        if rows.iter().filter_map(|one| one.phase.as_deref()).any(is_synced) {
            table.notes.push(AnswerNote::new("without syncs"));
        }
        Some(table)
    }

    fn picture(&self, _run: &RunView<'_>) -> Option<Picture> {
        Some(Picture::new(ChartFamily::Growth))
    }
}

/// The effect as a list of all has it.
fn in_table(one: &EffectFinding) -> Vec<Part> {
    let Some(course) = &one.course else { return Vec::new() };
    let tenth = grouped(course.operations_of_tenth);
    let start_up = course.slow_start_up().map(|times| {
        let times = say::times(times);
        format!("; the first {tenth}, its start-up, take {times} times as long as the second")
    });
    let way = if one.ratio < 1.0 { "falling" } else { "growing" };
    let law = course.by_law().map(|law| format!(", {way} {law}"));
    let place = parts![one.task(), say::behind_at(one.to.level.as_ref()), ": for "];
    let takes = one.stated().takes(parts![" as for the second ", tenth.clone()]);
    parts![place, last(course), " it ", takes, law, start_up]
}

/// `the last 2,000 of 20,000 files`
fn last(course: &GrowthCourse) -> Vec<Part> {
    let [tenth, all] = [course.operations_of_tenth, course.operations].map(grouped);
    parts!["the last ", tenth, " of ", Part::Count(all), " ", course.counted.as_str()]
}

fn answer(all: &[&EffectFinding]) -> AnswerDraft {
    let (slower, open) = (decided(all, Decision::Longer), decided(all, Decision::Open));
    if let [most, others @ ..] = slower.as_slice() {
        let law = most.course.as_ref().and_then(GrowthCourse::by_law);
        let law = law.map(|law| parts![", growing ", law]);
        let first = about(most, all).with(3, law.unwrap_or_default());
        let more = [about_others(others, all), about_open(&open, all)];
        let statement = Statement::new(first).and(more.into_iter().flatten());
        return AnswerDraft::proven(Verdict::Yes, statement);
    }
    if open.is_empty() {
        let names = each_once(all.iter().filter_map(|one| one.phase.clone()));
        let names = names.into_iter().map(|name| parts![Part::Phase(name)]).collect();
        let text = parts![
            "at the end of ",
            crate::statement::listed_parts(names),
            " nothing takes more than 10% longer than near its beginning"
        ];
        let courses = || all.iter().filter_map(|one| one.course.as_ref());
        let files = courses().map(|one| one.operations).min();
        let files = files.filter(|_| courses().all(|one| one.counted == CountedThing::Files));
        let fast =
            files.map(|files| parts!["fast up to ", Part::Count(grouped(files)), " files: "]);
        let text = parts![fast, text];
        let most = least_certain(all).map(|one| about(one, all).demoted(1));
        return AnswerDraft::proven(Verdict::No, Statement::new(Sentence::new(text)).and(most));
    }
    if all.iter().all(|one| one.headline.interval.is_none()) {
        let most = all.iter().max_by(|a, b| a.ratio.total_cmp(&b.ratio));
        let statement = most.map(|one| Statement::new(about(one, all))).unwrap_or_default();
        return AnswerDraft::open(Lack::Repeats, statement);
    }
    let statement = least_certain(&open).map(|one| {
        let excluded = parts!["; ", one.headline().not_excluded()];
        Statement::new(about(one, all).with(1, excluded))
    });
    AnswerDraft::open(Lack::Precision, statement.unwrap_or_default())
}

/// A task, with its level where not all are of one.
fn name(one: &EffectFinding, all: &[&EffectFinding]) -> Vec<Part> {
    let is_of_one_level = all.iter().all(|other| other.to.level == one.to.level);
    let level = one.to.level.as_ref().filter(|_| !is_of_one_level);
    parts![one.task(), say::behind_at(level)]
}

/// `create (multiple) takes 1.91 times as long for the last 2,000 of 20,000 files as for the second 2,000 (1.61 to 2.27)`
fn about(one: &EffectFinding, all: &[&EffectFinding]) -> Sentence {
    let Some(course) = &one.course else { return Sentence::default() };
    let tenth = grouped(course.operations_of_tenth);
    let than = parts![" for ", last(course), " as for the second ", tenth];
    Sentence::new(parts![name(one, all), " takes ", one.headline().as_long(than)])
}

fn about_others(others: &[&EffectFinding], all: &[&EffectFinding]) -> Option<Sentence> {
    let [first, ..] = others else { return None };
    let times = |one: &EffectFinding| parts![name(one, all), " ", one.headline().times(), " times"];
    let mut sentence = Sentence::ranked(1, parts!["also longer: ", times(first)])
        .with(6, first.headline().in_brackets());
    for one in others.iter().take(OTHERS_NAMED).skip(1) {
        let named = parts![", ", times(one)];
        sentence = sentence.with(4, named).with(6, one.headline().in_brackets());
    }
    let more = others.len().saturating_sub(OTHERS_NAMED);
    let more = (more > 0).then(|| parts![", and ", Part::Count(grouped(more as u64)), " more"]);
    Some(sentence.with(4, more.unwrap_or_default()))
}

/// Which may grow too.
fn about_open(open: &[&EffectFinding], all: &[&EffectFinding]) -> Option<Sentence> {
    let widest = least_certain(open)?;
    let excluded = widest.headline().not_excluded();
    (!excluded.is_empty())
        .then(|| Sentence::ranked(3, parts!["for ", name(widest, all), " ", excluded]))
}
