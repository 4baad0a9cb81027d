//! Answers whether operations take longer at the highest level of the axis than at the lowest, and from which level on: all
//! phases together, and the phase that carries the effect.

use super::Verdict;
use super::draft::{AnswerDraft, Lack, PlacedEffect};
use super::left_out::{LeftOutTasks, MeasuredTask};
use super::words::{AxisWords, begun, fits, of_tasks};
use crate::analysis::effect::{EffectFinding, LevelStep};
use crate::analysis::effects::contrast::MARGIN_RATIO;
use crate::analysis::effects::decide::Decision;
use crate::analysis::findings::say;
use crate::base::distinct::each_once;
use crate::results::book::Level;

/// From all effects over an axis, and all tasks that were measured; none if there is none.
pub(super) fn levels(
    all: &[PlacedEffect<'_>],
    measured: &[MeasuredTask<'_>],
) -> Option<AnswerDraft> {
    let of_phase: Vec<&EffectFinding> =
        all.iter().map(|one| one.effect).filter(|one| one.phase.is_some()).collect();
    let first = of_phase.first()?;
    let together = all.iter().map(|one| one.effect).find(|one| one.phase.is_none());
    let measured: Vec<_> = measured.iter().map(|one| one.over_levels()).collect();
    let compared = of_phase.iter().filter_map(|one| {
        Some(MeasuredTask::new(one.to.variant.as_deref()?, one.phase.as_deref()?))
    });
    let left_out = LeftOutTasks::new(&measured, &compared.collect::<Vec<_>>());
    let mut evidence: Vec<String> = left_out.sentence().into_iter().collect();
    let (of_device, longer): (Vec<_>, Vec<_>) =
        decided(&of_phase, Decision::Longer).into_iter().partition(|one| one.device_itself);
    let effects = all.iter().map(|one| one.place).collect();
    let draft = if let ([one, ..], true) = (of_device.as_slice(), longer.is_empty()) {
        evidence.push(begun(&one.sentence()));
        let text = format!("{}, but perhaps of the device itself", about(one));
        AnswerDraft::cannot_tell(Lack::SteadyDevice, text, evidence)
    } else if !longer.is_empty() {
        let (text, more) = about_longer(&longer, &of_phase, together);
        evidence.extend(more);
        AnswerDraft::proven(Verdict::Yes, text, evidence)
    } else {
        without_longer(&of_phase, together, &left_out, evidence)
    };
    let is_known = first.from.level.is_some();
    is_known.then(|| draft.made_of(effects))
}

/// Those that a headline may claim this of, by size.
fn decided<'a>(all: &[&'a EffectFinding], decision: Decision) -> Vec<&'a EffectFinding> {
    let mut some: Vec<&EffectFinding> =
        all.iter().copied().filter(|one| one.headline.decision == decision).collect();
    some.sort_by(|a, b| b.ratio.ln().abs().total_cmp(&a.ratio.ln().abs()));
    some
}

/// `read-file (fragmented) takes 5.20 times as long (4.6 to 6.1) at 94% full as at 30%, from 50% on`
fn about(one: &EffectFinding) -> String {
    let (Some(low), Some(high)) = (&one.from.level, &one.to.level) else { return String::new() };
    let axis = AxisWords { name: &high.axis, unit: high.unit };
    let since = one.headline.since.filter(|since| *since < high.value);
    let since = since.map(|since| format!(", from {} on", axis.value(since)));
    format!(
        "{} takes {} {} as {}{}",
        one.task(),
        one.headline().as_long(),
        at(high),
        at_value(low),
        since.unwrap_or_default()
    )
}

/// `at 94% full`, `with 2,000,000 files`
fn at(level: &Level) -> String {
    format!("at {}", say::level_in_words(level))
}

fn at_value(level: &Level) -> String {
    format!("at {}", say::level(level))
}

/// `all 72 tasks together take 1.16 times as long (1.14 to 1.17)`; none of a single one, and where that is not proven.
fn about_together(together: Option<&EffectFinding>, number: usize) -> Option<String> {
    let one = together?;
    let (headline, tasks) = (one.headline(), of_tasks(number, number));
    Some(match headline.decision {
        Decision::Longer | Decision::Shorter => {
            format!("{tasks} together take {}", headline.as_long())
        }
        Decision::Within => {
            let interval = headline.told().map(|told| format!(" ({})", say::span(told)));
            format!("{tasks} together take as long within 10%{}", interval.unwrap_or_default())
        }
        Decision::Open => return None,
    })
}

/// Some take longer: the one that does most, how many others do, and all together.
fn about_longer(
    longer: &[&EffectFinding],
    all: &[&EffectFinding],
    together: Option<&EffectFinding>,
) -> (String, Vec<String>) {
    let most = about(longer[0]);
    let number = match longer.len() {
        1 => String::new(),
        many => format!("{} take longer, most of all: ", of_tasks(many, all.len())),
    };
    let whole = about_together(together, all.len());
    let mut texts = vec![format!("{number}{most}")];
    texts.extend(whole.iter().map(|whole| format!("{number}{most}; {whole}")));
    let text = texts.iter().rev().find(|text| fits(text)).unwrap_or(&texts[0]).clone();
    let mut evidence = Vec::new();
    if let Some(whole) = whole.filter(|whole| !text.contains(whole.as_str())) {
        evidence.push(format!("{}.", begun(&whole)));
    }
    evidence.extend(longer[1..].iter().map(|one| format!("{}.", begun(&about(one)))));
    (text, evidence)
}

/// No single task is proven to take longer.
fn without_longer(
    all: &[&EffectFinding],
    together: Option<&EffectFinding>,
    left_out: &LeftOutTasks,
    mut evidence: Vec<String>,
) -> AnswerDraft {
    let (at, than) = ends_of(all);
    evidence.extend(most_between(all));
    let shorter = decided(all, Decision::Shorter);
    let sentences = || all.iter().map(|one| begun(&one.sentence()));
    let slower_together = together.filter(|one| one.headline.decision == Decision::Longer);
    if slower_together.is_some() {
        let whole = about_together(together, all.len()).unwrap_or_default();
        evidence.extend(sentences());
        return AnswerDraft::proven(Verdict::Yes, format!("{at}{whole}{than}"), evidence);
    }
    let alike = decided(all, Decision::Within).len();
    if alike + shorter.len() == all.len() {
        evidence.extend(sentences());
        let apart = left_out.apart();
        let most = shorter.first().map(|one| format!("; {}", about(one))).unwrap_or_default();
        let text = format!(
            "{apart}{at}nothing takes more than 10% longer{}{most}",
            than.replacen("as", "than", 1)
        );
        return AnswerDraft::proven(Verdict::No, text, evidence);
    }
    if all.iter().all(|one| one.headline.interval.is_none()) {
        evidence.extend(sentences());
        let text = format!("{at}too few repeats to see whether anything takes longer");
        return AnswerDraft::cannot_tell(Lack::Repeats, text, evidence);
    }
    let open = all.iter().filter(|one| one.headline.decision == Decision::Open);
    let high = |one: &&&EffectFinding| one.headline().told().map_or(0.0, |told| told.high);
    let most = open.max_by(|a, b| high(a).total_cmp(&high(b)));
    let most = most.map(|one| format!("{} {}", one.task(), one.headline().as_open(&than)));
    let whole = about_together(together, all.len()).map(|whole| format!("; {whole}"));
    evidence.extend(sentences());
    let text = format!("{at}{}", most.unwrap_or_default());
    let with_whole = format!("{text}{}", whole.unwrap_or_default());
    let text = if fits(&with_whole) { with_whole } else { text };
    AnswerDraft::cannot_tell(Lack::Precision, text, evidence)
}

/// What stands before and behind a statement on all: `at 94% full ` and ` as at 30%`, where all have the same ends.
fn ends_of(all: &[&EffectFinding]) -> (String, String) {
    let ends = each_once(all.iter().map(|one| (&one.from.level, &one.to.level)));
    match ends.as_slice() {
        [(Some(low), Some(high))] => (format!("{} ", at(high)), format!(" as {}", at_value(low))),
        _ => ("at the highest level ".into(), " as at the lowest".into()),
    }
}

/// What takes longest at a level between the lowest and the highest, beyond its interval and the margin; none where nothing
/// does.
fn most_between(all: &[&EffectFinding]) -> Option<String> {
    let between = all.iter().flat_map(|one| {
        let steps = one.steps.split_last().map_or(&[][..], |(_, between)| between);
        steps.iter().map(move |step| (one, step))
    });
    let is_longer = |step: &LevelStep| {
        step.ratio >= MARGIN_RATIO && step.interval.is_some_and(|interval| interval.low > 1.0)
    };
    let longer = between.filter(|(_, step)| is_longer(step));
    let (one, step) = longer.max_by(|a, b| a.1.ratio.total_cmp(&b.1.ratio))?;
    let level = Level { value: step.value, ..one.to.level.clone()? };
    let times = say::times(step.ratio);
    let than = one.from.level.as_ref().map(at_value).unwrap_or_default();
    Some(format!("In between {} took {times} times as long {} as {than}.", one.task(), at(&level)))
}
