//! Answers whether operations get slower from some level of the axis on: in all tasks on average, and in
//! some of them.

use super::Verdict;
use super::draft::{AnswerDraft, Lack};
use super::figures::AnswerFigure;
use super::left_out::{LeftOutTasks, MeasuredTask};
use super::words::{AxisWords, as_long, at_most, begun, in_brackets, of_tasks, share, task};
use crate::analysis::findings::knee::{GeneralSlowdown, KneeFinding, SlowLevel};
use crate::analysis::findings::ranking::ON_AVERAGE;
use crate::analysis::findings::say;
use crate::analysis::thresholds::SLOWER_MARGIN;

/// From all knees of a run, from all its tasks together, and all tasks that were measured; none if there is no
/// knee to speak of.
pub(super) fn knee(
    all: &[&KneeFinding],
    general: Option<GeneralSlowdown>,
    measured: &[MeasuredTask<'_>],
) -> Option<AnswerDraft> {
    let first = all.first()?;
    let axis = AxisWords { name: &first.axis, unit: first.unit };
    let judged: Vec<&KneeFinding> = all.iter().copied().filter(|one| one.enough_data).collect();
    let range = axis.between(first.range);
    if judged.is_empty() {
        let text = format!(
            "too few measurements {range}: {} levels, {} of each",
            first.levels, first.repeats
        );
        return Some(AnswerDraft::cannot_tell(Lack::Repeats, text, Vec::new()));
    }
    let (found, none): (Vec<&KneeFinding>, Vec<&KneeFinding>) =
        judged.iter().copied().partition(|one| one.at.is_some());
    let left_out = left_out(&judged, measured);
    let evidence = evidence(&found, &none, &left_out);
    let together = match judged.as_slice() {
        [one] => name_of(one),
        _ if left_out.is_empty() => format!("all {} tasks {ON_AVERAGE}", judged.len()),
        _ => format!("{} of {} tasks {ON_AVERAGE}", judged.len(), measured.len()),
    };
    let takes = if judged.len() == 1 { "takes" } else { "take" };
    if let Some(general) = general.as_ref().filter(|general| general.is_slower()) {
        let has_no_step = general.knee.is_none() && found.is_empty();
        let gradual = most_gradual(&none).first().copied();
        let gradual = gradual.filter(|_| has_no_step && judged.len() > 1);
        let most = gradual.map(about_gradual).unwrap_or_default();
        let text = about_general(general, &axis, &together, takes) + &most;
        let of_all = AnswerFigure::of_slowdown(general, axis, &together);
        let figures = [of_all].into_iter().chain(gradual.and_then(AnswerFigure::of_knee));
        let draft = AnswerDraft::proven(Verdict::Yes, text, evidence);
        return Some(draft.made_of(figures.collect()));
    }
    // Of one task this is what was just asked; of several, few may differ from the rest.
    if let Some((text, figures)) = about_single(&judged, &axis) {
        let text = format!("{range} {text}");
        return Some(AnswerDraft::proven(Verdict::Yes, text, evidence).made_of(figures));
    }
    let Some(general) = general else {
        let text = format!("{range} the tasks were not measured alike, so not together");
        // A level that one of them lacks comes with no repeat.
        let lacks = match all.iter().all(|one| one.levels == first.levels) {
            true => Lack::Repeats,
            false => Lack::CountedLevels,
        };
        return Some(AnswerDraft::cannot_tell(lacks, text, evidence));
    };
    if let Some(slow) = general.slow_level {
        let text = about_slow_level(&slow, &axis, &format!("{together} {takes}"), first.range.high);
        let figures = vec![AnswerFigure::of_slow_level(&slow, axis, &together)];
        return Some(AnswerDraft::proven(Verdict::Yes, text, evidence).made_of(figures));
    }
    let most = general.slower_at_most();
    let figures = vec![AnswerFigure::of_slowdown(&general, axis, &together)];
    if most <= SLOWER_MARGIN {
        let longer = at_most(most);
        let text = format!(
            "no general slowdown {range}: {together} {takes} at most {longer} longer from any level on"
        );
        return Some(AnswerDraft::proven(Verdict::No, text, evidence).made_of(figures));
    }
    let text = format!(
        "{range} no general slowdown was found, but one of up to {} was not excluded",
        at_most(most)
    );
    Some(AnswerDraft::cannot_tell(Lack::Precision, text, evidence).made_of(figures))
}

/// `2 of 18 tasks get slower, read-file most: 1.5 times as long (1.2 to 1.9) from about 80% on`: those with proven knees,
/// else those that take longer without one; none where there are none of either.
fn about_single(
    judged: &[&KneeFinding],
    axis: &AxisWords<'_>,
) -> Option<(String, Vec<AnswerFigure>)> {
    let those = |is: &dyn Fn(&KneeFinding) -> bool| -> Vec<&KneeFinding> {
        judged.iter().copied().filter(|one| is(one)).collect()
    };
    let with_knee = those(&|one| one.at.is_some() && one.proven);
    let gradual = most_gradual(&those(&KneeFinding::is_gradually_slower_by_much));
    let (slower, most) = match (with_knee.is_empty(), gradual.first()) {
        (false, _) => (&with_knee, most_of_all(&with_knee, axis)),
        (true, Some(most)) => (&gradual, format!(" without a proven step{}", about_gradual(most))),
        (true, None) => return None,
    };
    let number = of_tasks(slower.len(), judged.len());
    let gets = if slower.len() == 1 { "gets" } else { "get" };
    let figures = slower.iter().filter_map(|one| AnswerFigure::of_knee(one)).collect();
    Some((format!("{number} {gets} slower{most}"), figures))
}

/// `at 50% full create takes 2.01 times as long (1.94 to 2.08) as at 30%; from there on no slowdown is proven`
fn about_slow_level(
    slow: &SlowLevel,
    axis: &AxisWords<'_>,
    they_take: &str,
    highest: f64,
) -> String {
    let from_there = if slow.at == highest { "" } else { "; from there on no slowdown is proven" };
    format!(
        "at {} {they_take} {} as at {}{from_there}",
        axis.level(slow.at),
        as_long(slow.interval.middle_ratio(), Some(slow.interval)),
        axis.value(slow.lowest),
    )
}

fn about_general(
    general: &GeneralSlowdown,
    axis: &AxisWords<'_>,
    together: &str,
    takes: &str,
) -> String {
    match (&general.knee, general.halves) {
        (Some(knee), _) => {
            let [low, high] = [knee.interval.low, knee.interval.high].map(|at| axis.value(at));
            let from = match low == high {
                true => format!("from {}", axis.level(knee.interval.high)),
                false => format!("from between {low} and {}", axis.level(knee.interval.high)),
            };
            let longer = as_long(knee.factor, Some(knee.factor_interval));
            format!("{from} on, {together} {takes} {longer}")
        }
        (None, halves) => format!(
            "{together} {takes} {} at {} and more as below",
            as_long(halves.middle_ratio(), Some(halves)),
            axis.value(general.middle),
        ),
    }
}

/// `; most in read-file (fragmented): 3.07 times (1.02 to 9.24)`
fn about_gradual(one: &KneeFinding) -> String {
    let times = one.gradual_ratio.map(say::times).unwrap_or_default();
    let interval = in_brackets(one.gradual_interval);
    format!("; most in {}: {times} times{interval}", name_of(one))
}

fn name_of(one: &KneeFinding) -> String {
    task(one.variant.as_deref().unwrap_or_default(), one.phase.as_deref().unwrap_or("it"))
}

/// Those that get slower without a step, the one that does most first.
fn most_gradual<'a>(none: &[&'a KneeFinding]) -> Vec<&'a KneeFinding> {
    let mut gradual: Vec<_> =
        none.iter().copied().filter(|one| one.is_gradually_slower()).collect();
    let times = |one: &KneeFinding| one.gradual_ratio.unwrap_or(1.0);
    gradual.sort_by(|a, b| times(b).total_cmp(&times(a)));
    gradual
}

/// The largest knee of some.
fn most_of_all(found: &[&KneeFinding], axis: &AxisWords<'_>) -> String {
    let most =
        found.iter().max_by(|a, b| a.factor.unwrap_or(0.0).total_cmp(&b.factor.unwrap_or(0.0)));
    let figures = most.and_then(|one| Some((one, one.factor?, one.at?)));
    figures.map_or(String::new(), |(one, factor, at)| {
        let name = name_of(one);
        let longer = as_long(factor, one.factor_interval);
        format!(", {name} most: {longer} from about {} on", axis.value(at))
    })
}

/// The tasks that were measured and have too few measurements for a knee.
fn left_out(judged: &[&KneeFinding], measured: &[MeasuredTask<'_>]) -> LeftOutTasks {
    let judged = judged.iter().filter_map(|one| {
        let (variant, phase) = (one.variant.as_deref()?, one.phase.as_deref()?);
        Some(MeasuredTask::new(variant, phase))
    });
    LeftOutTasks::new(measured, &judged.collect::<Vec<_>>())
}

/// Exceptions first, then what would have been seen in the others, and last what is not among these.
fn evidence(found: &[&KneeFinding], none: &[&KneeFinding], left_out: &LeftOutTasks) -> Vec<String> {
    let told = |one: &&KneeFinding| {
        format!("{}{}", if one.proven { "" } else { "Exception: " }, one.sentence())
    };
    let mut all: Vec<String> = found.iter().take(2).map(told).collect();
    let room = 2 - all.len();
    all.extend(most_gradual(none).iter().map(|one| one.sentence()).take(room));
    let steps = none.iter().filter_map(|one| one.smallest_detectable);
    let (least, most) = (steps.clone().fold(f64::INFINITY, f64::min), steps.fold(0.0, f64::max));
    if !none.is_empty() {
        let steps = match least == most {
            true => format!("one below {}", share(least)),
            false => format!(
                "one below {} in the steadiest task, {} in the noisiest,",
                share(least),
                share(most)
            ),
        };
        let place = match none.len() + found.len() {
            1 => String::new(),
            all => format!("In {} of {all} single tasks ", none.len()),
        };
        let sentence =
            format!("{place}no sudden slowdown was found; {steps} could have been missed.");
        all.push(begun(&sentence));
    }
    all.extend(left_out.sentence());
    all
}
