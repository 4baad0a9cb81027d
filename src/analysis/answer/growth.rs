//! Answers whether operations take longer as a phase goes on, from the growth of all variants and levels.

use super::Verdict;
use super::draft::{AnswerDraft, Lack, PlacedEffect};
use super::left_out::{LeftOutTasks, MeasuredTask};
use super::words::{begun, fits};
use crate::analysis::effect::EffectFinding;
use crate::analysis::effects::decide::Decision;
use crate::analysis::findings::growth::GrowthCourse;
use crate::analysis::findings::say::{self, listed};
use crate::base::distinct::each_once;
use crate::base::units::grouped;

/// Phases that an answer names.
const PHASES_MAX: usize = 4;

/// What the ends are compared with.
const AS_AT_FIRST: &str = "as after the first tenth";

/// A growth with its course.
type GrownEffect<'a> = (&'a EffectFinding, &'a GrowthCourse);

/// From all growths of a run, and all tasks that were measured; none if there is none.
pub(super) fn growth(
    all: &[PlacedEffect<'_>],
    measured: &[MeasuredTask<'_>],
) -> Option<AnswerDraft> {
    let known = all.iter().filter_map(|one| Some((one.effect, one.effect.course.as_ref()?)));
    let known: Vec<GrownEffect<'_>> = known.collect();
    known.first()?;
    let places = all.iter().map(|one| one.place).collect();
    Some(of_all(&known, measured).made_of(places))
}

fn of_all(all: &[GrownEffect<'_>], measured: &[MeasuredTask<'_>]) -> AnswerDraft {
    let with = |decision: Decision| -> Vec<GrownEffect<'_>> {
        all.iter().copied().filter(|one| one.0.headline.decision == decision).collect()
    };
    let (slower, open) = (with(Decision::Longer), with(Decision::Open));
    let left_out = left_out(all, measured);
    let sentences = |of: &[GrownEffect<'_>]| -> Vec<String> {
        of.iter().map(|one| begun(&one.0.sentence())).collect()
    };
    if !slower.is_empty() {
        let text = match slower.as_slice() {
            [only] => about_one(*only, all, open.len()),
            _ => about_some(&slower, all),
        };
        let others: Vec<GrownEffect<'_>> =
            all.iter().copied().filter(|one| slower.len() > 1 || *one != slower[0]).collect();
        let evidence = left_out.sentence().into_iter().chain(sentences(&others)).collect();
        return AnswerDraft::proven(Verdict::Yes, text, evidence);
    }
    if open.is_empty() {
        let faster = with(Decision::Shorter);
        let than = faster.first().map(|one| {
            format!("; at the end {} takes {}", name(*one, all), one.0.headline().as_long())
        });
        let does = verb(all, "does", "do");
        let text = format!(
            "{}{} {does} not get slower by more than 10%{}{}",
            left_out.apart(),
            phases(all),
            up_to(all),
            than.unwrap_or_default()
        );
        let evidence = left_out.sentence_beside_apart().into_iter().chain(sentences(all)).collect();
        return AnswerDraft::proven(Verdict::No, text, evidence);
    }
    if all.iter().all(|one| one.0.headline.interval.is_none()) {
        let most = all.iter().max_by(|a, b| a.0.ratio.total_cmp(&b.0.ratio));
        let text = most.map_or(String::new(), |one| {
            let times = say::times(one.0.ratio);
            format!(
                "one repeat proves no growth; in this run at {} {} took {times} times as long {AS_AT_FIRST}",
                extent(one.1),
                name(*one, all)
            )
        });
        return AnswerDraft::cannot_tell(Lack::Repeats, text, sentences(all));
    }
    let high = |one: &&GrownEffect<'_>| one.0.headline().told().map_or(0.0, |told| told.high);
    let widest = open.iter().max_by(|a, b| high(a).total_cmp(&high(b)));
    let text = widest.map_or(String::new(), |one| {
        let open = one.0.headline().as_open(&format!(" {AS_AT_FIRST}"));
        format!("at the end, after {}, {} {open}", extent(one.1), name(*one, all))
    });
    AnswerDraft::cannot_tell(Lack::Precision, text, sentences(all))
}

/// Of the phases whose growth is known elsewhere, the tasks of which it is not.
fn left_out(all: &[GrownEffect<'_>], measured: &[MeasuredTask<'_>]) -> LeftOutTasks {
    let compared = all.iter().filter_map(|(one, _)| {
        Some(MeasuredTask::new(one.to.variant.as_deref()?, one.phase.as_deref()?))
    });
    let compared: Vec<MeasuredTask<'_>> = compared.collect();
    let is_grown = |one: &&MeasuredTask<'_>| compared.iter().any(|other| other.phase == one.phase);
    let grown: Vec<MeasuredTask<'_>> = measured.iter().filter(is_grown).copied().collect();
    LeftOutTasks::new(&grown, &compared)
}

/// `400,000 files`
fn extent(course: &GrowthCourse) -> String {
    format!("{} {}", grouped(course.operations), course.counted.noun())
}

/// ` up to 400,000 files`; of phases with different numbers the smallest.
fn up_to(all: &[GrownEffect<'_>]) -> String {
    let counted = each_once(all.iter().map(|one| one.1.counted));
    let each = each_once(all.iter().map(|one| one.1.operations));
    match (counted.as_slice(), each.as_slice(), each.iter().min()) {
        ([counted], [only], _) => format!(" up to {} {}", grouped(*only), counted.noun()),
        ([counted], _, Some(least)) => {
            format!(" up to at least {} {}", grouped(*least), counted.noun())
        }
        _ => " up to the end".into(),
    }
}

/// `400,000 files`; where not all have as many, `the end`.
fn end(all: &[GrownEffect<'_>]) -> String {
    match each_once(all.iter().map(|one| extent(one.1))).as_slice() {
        [only] => only.clone(),
        _ => "the end".into(),
    }
}

/// `open and read`; of many their number.
fn phases(all: &[GrownEffect<'_>]) -> String {
    let names = each_once(all.iter().filter_map(|one| one.0.phase.clone()));
    if names.len() <= PHASES_MAX { listed(&names) } else { format!("{} phases", names.len()) }
}

/// The verb behind [`phases`].
fn verb(all: &[GrownEffect<'_>], of_one: &'static str, of_many: &'static str) -> &'static str {
    let is_one = all.windows(2).all(|two| two[0].0.phase == two[1].0.phase);
    if is_one { of_one } else { of_many }
}

/// A task, with its level where not all are of one.
fn name(one: GrownEffect<'_>, all: &[GrownEffect<'_>]) -> String {
    let level = &one.0.to.level;
    let is_of_one_level = all.iter().all(|other| other.0.to.level == *level);
    let at = level.as_ref().filter(|_| !is_of_one_level);
    let at = at.map(|level| format!(" at {}", say::level_in_words(level)));
    one.0.task() + &at.unwrap_or_default()
}

/// The only one of all that is slower.
fn about_one(one: GrownEffect<'_>, all: &[GrownEffect<'_>], open: usize) -> String {
    let (task, others) = (name(one, all), all.len() - 1);
    let but = match (open, others) {
        (0, _) => String::new(),
        (1, 1) => "; the other is open".into(),
        _ if open == others => format!("; the {others} others are open"),
        _ => format!("; {open} of {others} others are open"),
    };
    let (longer, at) = (one.0.headline().as_long(), extent(one.1));
    let law = one.1.by_law().map(|law| format!(", growing {law}")).unwrap_or_default();
    let whole = format!("at {at} {task} takes {longer} {AS_AT_FIRST}{law}{but}");
    if fits(&whole) { whole } else { format!("at {at} {task} takes {longer} {AS_AT_FIRST}{but}") }
}

/// Several: from the least to the most of their ratios.
fn about_some(slower: &[GrownEffect<'_>], all: &[GrownEffect<'_>]) -> String {
    // Names stand in the order of their ratios.
    let mut by_ratio = slower.to_vec();
    by_ratio.sort_by(|a, b| a.0.ratio.total_cmp(&b.0.ratio));
    let told = by_ratio.iter().filter_map(|one| one.0.headline().told());
    let low = told.clone().map(|one| one.low).fold(f64::INFINITY, f64::min);
    let high = told.map(|one| one.high).fold(0.0, f64::max);
    let each = each_once(by_ratio.iter().filter_map(|one| one.0.to.variant.clone()));
    let is_one_phase = by_ratio.windows(2).all(|two| two[0].0.phase == two[1].0.phase);
    let of_variants = is_one_phase && each.len() == by_ratio.len();
    let series = if of_variants { "variants" } else { "series" };
    // Those of other phases are in no number of these.
    let is_named =
        |one: &&GrownEffect<'_>| by_ratio.iter().any(|other| other.0.phase == one.0.phase);
    let number = all.iter().filter(is_named).count();
    let of = match (by_ratio.len() == number, each.as_slice()) {
        (true, _) => format!("all {number} {series}"),
        (false, [one, other]) if of_variants => format!("{one} and {other}"),
        (false, _) => format!("{} of {number} {series}", by_ratio.len()),
    };
    let [least, most] =
        [by_ratio.first(), by_ratio.last()].map(|one| one.map_or(1.0, |one| one.0.ratio));
    let (least, most) = (say::times(least), say::times(most));
    let times = if least == most { format!("about {least}") } else { format!("{least} to {most}") };
    let span = if high > 0.0 {
        format!(" ({} to {})", say::near(low), say::near(high))
    } else {
        String::new()
    };
    let (end, phases) = (end(&by_ratio), phases(&by_ratio));
    let take = verb(&by_ratio, "takes", "take");
    format!("at {end} {phases} {take} {times} times as long {AS_AT_FIRST}{span} in {of}")
}
