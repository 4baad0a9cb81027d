//! Answers up to which level of the axis nothing takes longer, from how far each variant scales.

use super::Verdict;
use super::draft::{AnswerDraft, Lack};
use super::figures::AnswerFigure;
use super::left_out::{LeftOutTasks, MeasuredTask, NAMED_MAX};
use super::words::{AxisWords, fits, in_brackets, share};
use crate::analysis::findings::say::{self, listed};
use crate::analysis::findings::scaling::{LevelTime, ScaledPhase, ScalingFinding};
use crate::analysis::statistics::Interval;
use crate::base::distinct::each_once;
use crate::plan::DEFAULT_VARIANT;

/// From the scaling of all variants, and all tasks that were measured; none if there is none.
pub(super) fn scaling(
    all: &[&ScalingFinding],
    measured: &[MeasuredTask<'_>],
) -> Option<AnswerDraft> {
    let figures = all.iter().flat_map(|one| AnswerFigure::of_scaling(one)).collect();
    Some(of_all(all, measured)?.made_of(figures))
}

fn of_all(all: &[&ScalingFinding], measured: &[MeasuredTask<'_>]) -> Option<AnswerDraft> {
    let first = all.first()?;
    let measured: Vec<_> = measured.iter().map(|one| one.over_levels()).collect();
    let compared: Vec<MeasuredTask<'_>> = all.iter().flat_map(|one| tasks(one)).collect();
    let left_out = LeftOutTasks::new(&measured, &compared);
    let is_flat = |one: &&&ScalingFinding| one.up_to == Some(one.range.high);
    if all.iter().filter(is_flat).count() == all.len() {
        return Some(flat(first, all, &left_out));
    }
    let is_beyond =
        |one: &&&ScalingFinding| one.phases.iter().any(|phase| phase.slower_from.is_some());
    let slower =
        all.iter().find(is_beyond).or_else(|| all.iter().find(|one| slowest(one).is_some()));
    let told = slower.or_else(|| all.iter().find(|one| !is_flat(one)))?;
    let of_variant = measured.iter().copied().filter(|one| one.variant == told.variant);
    let own = LeftOutTasks::new(&of_variant.collect::<Vec<_>>(), &tasks(told));
    let is_said = told.up_to.is_some() && own.apart() == left_out.apart();
    let unsaid = if is_said { left_out.sentence_beside_apart() } else { left_out.sentence() };
    let others = all.iter().filter(|other| **other != *told);
    let evidence = others.map(|other| other.sentence()).chain(unsaid).collect();
    let lead = match told.variant.as_str() {
        DEFAULT_VARIANT => String::new(),
        variant => format!("{variant}: "),
    };
    let text = format!("{lead}{}", about(told, &own.apart()));
    let whole = format!("{text}{}", also_slower(told, all, &measured));
    let phases = || all.iter().flat_map(|one| &one.phases);
    let is_slower_between =
        |phase: &ScaledPhase| phase.levels.iter().any(|one| one.is_slower(told.margin));
    let ends_within =
        |phase: &ScaledPhase| phase.levels.last().is_some_and(|last| last.is_within(told.margin));
    let has_interval = |phase: &ScaledPhase| phase.levels.iter().any(|one| one.interval.is_some());
    let lacks = match told.phases.iter().any(has_interval) {
        // That nothing takes longer is excluded then, and that anything does from some level on.
        true if phases().any(is_slower_between) && phases().all(ends_within) => Lack::Design,
        true => Lack::Precision,
        false => Lack::Repeats,
    };
    Some(match slower {
        Some(_) => {
            AnswerDraft::proven(Verdict::Yes, if fits(&whole) { whole } else { text }, evidence)
        }
        None => AnswerDraft::cannot_tell(lacks, text, evidence),
    })
}

fn tasks(one: &ScalingFinding) -> Vec<MeasuredTask<'_>> {
    let phases = one.phases.iter();
    phases.map(|phase| MeasuredTask::new(&one.variant, &phase.phase)).collect()
}

/// Nothing takes longer in any variant: up to the highest level that all of them have. Where they have different ones, each
/// is evidence by itself.
fn flat(first: &ScalingFinding, all: &[&ScalingFinding], left_out: &LeftOutTasks) -> AnswerDraft {
    let axis = axis_of(first);
    let highest = all.iter().map(|one| one.range.high).fold(f64::INFINITY, f64::min);
    let lowest = match all.iter().all(|one| one.range.low == first.range.low) {
        true => format!("with {}", axis.value(first.range.low)),
        false => "at its lowest level".into(),
    };
    let text = format!(
        "{}up to {} nothing takes more than {} longer than {lowest}",
        left_out.apart(),
        axis.level(highest),
        share(first.margin),
    );
    let each = all.iter().filter(|_| all.iter().any(|one| one.range != first.range));
    let each = each.map(|one| one.sentence());
    let evidence = left_out.sentence_beside_apart().into_iter().chain(each).collect();
    AnswerDraft::proven(Verdict::No, text, evidence)
}

fn axis_of(one: &ScalingFinding) -> AxisWords<'_> {
    AxisWords { name: &one.axis, unit: one.unit }
}

/// The phase that gets slower by more than the margin the earliest, and of these the most; where none does, of those
/// that get slower.
fn slowest(one: &ScalingFinding) -> Option<(&ScaledPhase, f64)> {
    let beyond: Vec<_> =
        one.phases.iter().filter_map(|phase| Some((phase, phase.slower_from?))).collect();
    let near = one.phases.iter().filter(|phase| phase.is_near_margin(one.range.high));
    let known: Vec<_> = match beyond.is_empty() {
        true => near.filter_map(|phase| Some((phase, phase.longer_from?))).collect(),
        false => beyond,
    };
    let known = known.into_iter();
    let ratio = |phase: &ScaledPhase| phase.levels.last().map_or(0.0, |level| level.ratio);
    known.min_by(|a, b| a.1.total_cmp(&b.1).then(ratio(b.0).total_cmp(&ratio(a.0))))
}

/// The other variants in which the slowest phase of one gets slower too: it is not that variant alone.
fn also_slower(
    told: &ScalingFinding,
    all: &[&ScalingFinding],
    measured: &[MeasuredTask<'_>],
) -> String {
    let Some((slowest, _)) = slowest(told).filter(|(phase, _)| phase.slower_from.is_some()) else {
        return String::new();
    };
    let is_slower =
        |phase: &ScaledPhase| phase.phase == slowest.phase && phase.slower_from.is_some();
    let others = all.iter().filter(|one| one.variant != told.variant);
    let slower = others.filter(|one| one.phases.iter().any(is_slower));
    let slower: Vec<String> = slower.map(|one| one.variant.clone()).collect();
    let others = each_once(measured.iter().map(|one| one.variant)).len().saturating_sub(1);
    match slower.len() {
        0 => String::new(),
        1..=NAMED_MAX => format!("; it gets slower in {} too", listed(&slower)),
        number if number == others => "; it gets slower in all others too".into(),
        number => format!("; it gets slower in {number} of {others} others too"),
    }
}

/// How far everything is as fast, `apart` from what was not compared, then what is not.
fn about(one: &ScalingFinding, apart: &str) -> String {
    let axis = axis_of(one);
    let (margin, lowest) = (share(one.margin), axis.value(one.range.low));
    let reach = one.up_to.map(|up_to| {
        format!("{apart}up to {} nothing takes more than {margin} longer", axis.level(up_to))
    });
    let highest = axis.value(one.range.high);
    let beyond = match slowest(one) {
        Some((phase, from)) => {
            let last = phase.levels.last();
            let times = last.map_or(String::new(), |level| {
                let interval = in_brackets(level.interval);
                format!(", {} times{interval} at {highest}", say::times(level.ratio))
            });
            let is_beyond = reach.is_some() && phase.slower_from.is_some();
            let does = if is_beyond { "does" } else { "takes longer" };
            Some(format!("from {} on {} {does}{times}", axis.level(from), phase.phase))
        }
        None => most_open(one).map(|(phase, level, interval)| {
            let (ratio, at) = (say::span(interval), axis.value(level.value));
            format!("{} may take {ratio} times as long at {at}", phase.phase)
        }),
    };
    let level = axis.level(one.range.low);
    match (reach, beyond) {
        (Some(reach), Some(beyond)) => format!("{reach} than with {lowest}; {beyond}"),
        (Some(reach), None) => format!("{reach} than with {lowest}; beyond that nothing is known"),
        (None, Some(beyond)) => format!("{beyond}, compared with {level}"),
        (None, None) => format!("no interval tells what takes longer than with {level}"),
    }
}

/// The phase and the level that may take longest, of those beyond which nothing is known.
fn most_open(one: &ScalingFinding) -> Option<(&ScaledPhase, &LevelTime, Interval)> {
    let levels = one.phases.iter().flat_map(|phase| {
        let open = phase.levels.iter().filter(|level| !level.is_within(one.margin));
        open.filter_map(move |level| Some((phase, level, level.interval?)))
    });
    levels.max_by(|a, b| a.2.high.total_cmp(&b.2.high))
}
