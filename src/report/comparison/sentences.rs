//! The sentences of a comparison and of a check.

use super::parts::{NAMED_MAX, few, phase_name, share};
use crate::analysis::compare::{
    Absence, Check, CheckOutcome, ComparedRow, Comparison, SpeedVerdict,
};
use crate::analysis::findings::say::{span, times};
use crate::analysis::statistics::Interval;
use crate::analysis::uncertainty::Estimate;
use crate::base::units::{Quantity, Unit, counted};

/// What the comparison comes to, the whole job first.
pub(in crate::report) fn comparison_sentences(comparison: &Comparison) -> Vec<String> {
    let (jobs, phases): (Vec<_>, Vec<_>) =
        comparison.in_both().partition(|row| row.key.phase.is_none());
    let mut all = Vec::new();
    for rows in [&jobs, &phases] {
        let with = |verdict| {
            let rows = rows.iter().copied();
            rows.filter(|row| row.test.verdict == verdict).collect::<Vec<&ComparedRow>>()
        };
        all.extend(faster_or_slower(SpeedVerdict::Slower, with(SpeedVerdict::Slower), rows.len()));
        all.extend(faster_or_slower(SpeedVerdict::Faster, with(SpeedVerdict::Faster), rows.len()));
        all.extend(no_difference(&with(SpeedVerdict::NoDifference)));
        all.extend(cannot_tell(&with(SpeedVerdict::CannotTell)));
    }
    if jobs.is_empty() && phases.is_empty() {
        all.push("Nothing has a valid rate in both runs.".into());
    }
    all.extend(not_compared(comparison));
    all
}

/// `B is slower in 2 of 5 phases: create takes 1.12 times as long (1.05 to 1.20), ...`
fn faster_or_slower(
    verdict: SpeedVerdict,
    mut rows: Vec<&ComparedRow>,
    of: usize,
) -> Option<String> {
    let size = |row: &ComparedRow| row.test.ratio.map_or(0.0, |ratio| ratio.ln().abs());
    rows.sort_by(|a, b| size(b).total_cmp(&size(a)));
    let is_job = rows.first()?.key.phase.is_none();
    let (word, verb) = match verdict {
        SpeedVerdict::Slower => ("slower", " takes"),
        _ => ("faster", " is"),
    };
    let mut named = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        let change = if verdict == SpeedVerdict::Slower { slowdown(row) } else { speedup(row) };
        let verb = if at == 0 { verb } else { "" };
        named.push(format!("{}{verb} {change}", phase_name(&row.key)));
    }
    let (n, what) = (rows.len(), if is_job { "whole jobs" } else { "phases" });
    let place = match n {
        _ if of == 1 => String::new(),
        n if n == of => format!(" in all {n} {what}"),
        n => format!(" in {n} of {of} {what}"),
    };
    Some(format!("B is {word}{place}: {}.", few(&named)))
}

/// `1.12 times as long (1.08 to 1.16)`
fn slowdown(row: &ComparedRow) -> String {
    ratio_text(row.test.slowdown(), "long", row.test.slowdown_interval())
}

fn speedup(row: &ComparedRow) -> String {
    ratio_text(row.test.ratio, "fast", row.test.interval)
}

fn ratio_text(ratio: Option<f64>, word: &str, interval: Option<Interval>) -> String {
    let ratio = ratio.map_or_else(|| "-".into(), times);
    let interval = interval.map(|interval| format!(" ({})", span(interval)));
    format!("{ratio} times as {word}{}", interval.unwrap_or_default())
}

/// `No significant difference in create (smallest detectable: 4.0%), delete (3.2%).`
fn no_difference(rows: &[&ComparedRow]) -> Option<String> {
    let of = |row: &ComparedRow| row.test.smallest_detectable.unwrap_or(f64::NAN);
    if rows.len() <= NAMED_MAX {
        let mut named = Vec::new();
        for (at, row) in rows.iter().enumerate() {
            let lead = if at == 0 { "smallest detectable: " } else { "" };
            named.push(format!("{} ({lead}{})", phase_name(&row.key), share(of(row))));
        }
        return (!rows.is_empty())
            .then(|| format!("No significant difference in {}.", named.join(", ")));
    }
    let least = rows.iter().map(|row| of(row)).fold(f64::INFINITY, f64::min);
    let most = rows.iter().map(|row| of(row)).fold(0.0, f64::max);
    Some(format!(
        "No significant difference in {} (smallest detectable: {} to {}).",
        names_or_number(rows),
        share(least),
        share(most)
    ))
}

/// Rows without an interval.
fn cannot_tell(rows: &[&ComparedRow]) -> Option<String> {
    let without_error = |side: fn(&ComparedRow) -> Option<Estimate>| {
        rows.iter().any(|row| side(row).is_some_and(|value| value.half_width.is_none()))
    };
    let why = match [without_error(|row| row.a), without_error(|row| row.b)] {
        [true, true] => "each run has one value, of unknown error",
        [true, false] => "A has one value, of unknown error",
        [false, true] => "B has one value, of unknown error",
        [false, false] => "the values vary too much",
    };
    (!rows.is_empty()).then(|| format!("Cannot tell in {}: {why}.", names_or_number(rows)))
}

/// Names of a few, the number of many.
fn names_or_number(rows: &[&ComparedRow]) -> String {
    if rows.len() <= NAMED_MAX {
        return names(rows);
    }
    let is_job = rows.iter().all(|row| row.key.phase.is_none());
    counted(rows.len() as u64, if is_job { "whole job" } else { "phase" })
}

fn names(rows: &[&ComparedRow]) -> String {
    few(&rows.iter().map(|row| phase_name(&row.key)).collect::<Vec<_>>())
}

fn not_compared(comparison: &Comparison) -> Vec<String> {
    let with = |is: fn(&ComparedRow) -> bool| {
        comparison.rows.iter().filter(|row| is(row)).collect::<Vec<_>>()
    };
    let invalid = |row: &ComparedRow| row.absence == Some(Absence::Invalid);
    let groups = [
        ("invalid in B", with(|row| row.a.is_some() && row.b.is_none())),
        ("invalid in A", with(|row| row.a.is_none() && row.b.is_some())),
    ];
    let mut all = Vec::new();
    for ((what, rows), alone) in groups.into_iter().zip(["A", "B"]) {
        let (broken, other): (Vec<_>, Vec<_>) = rows.into_iter().partition(|row| invalid(row));
        all.push((what.to_string(), broken));
        all.push((format!("measured in {alone} alone"), other));
    }
    let neither = with(|row| row.a.is_none() && row.b.is_none());
    all.push(("without a valid rate in both".into(), neither));
    all.retain(|(_, rows)| !rows.is_empty());
    all.iter().map(|(what, rows)| format!("Not compared, {what}: {}.", names(rows))).collect()
}

/// What the check comes to, the worst first.
pub(super) fn check_sentences(check: &Check) -> Vec<String> {
    let limit = Quantity { value: check.fail_on * 100.0, unit: Unit::Percent }.to_string();
    let mut all = Vec::new();
    let regressions = check.with(CheckOutcome::Regression);
    if !regressions.is_empty() {
        let named = regressions.iter();
        let named = named.map(|row| format!("{} takes {}", phase_name(&row.key), slowdown(row)));
        let named = few(&named.collect::<Vec<_>>());
        all.push(format!("REGRESSION of more than {limit}: {named}."));
    }
    for (lead, rows) in [
        ("Cannot tell, all measurements are invalid", check.with(CheckOutcome::Invalid)),
        ("Cannot tell, the run ended before", check.with(CheckOutcome::Missing)),
        (&format!("UNSURE, perhaps more than {limit} slower"), check.with(CheckOutcome::Unsure)),
    ] {
        if !rows.is_empty() {
            all.push(format!("{lead}: {}.", names(&rows)));
        }
    }
    all.extend(good(check, &limit));
    let underpowered = check.underpowered();
    if !underpowered.is_empty() {
        all.push(format!(
            "A slowdown of more than {limit} cannot be excluded in {}: more repeats are needed.",
            names(&underpowered)
        ));
    }
    let not_in_both = check.with(CheckOutcome::NotInBoth);
    if !not_in_both.is_empty() {
        all.push(format!("Not in both: {}.", names(&not_in_both)));
    }
    all
}

/// `OK: no phase is more than 5% slower (smallest detectable: 4.0%).`
fn good(check: &Check, limit: &str) -> Option<String> {
    let (good, all) = (check.with(CheckOutcome::Ok), check.rows().count());
    let detectable = good.iter().filter_map(|row| row.test.smallest_detectable);
    let detectable = share(detectable.max_by(f64::total_cmp)?);
    let what = match good.len() {
        n if n == all => format!("no phase is more than {limit} slower"),
        n => format!("{n} of {all} rows are not more than {limit} slower"),
    };
    Some(format!("OK: {what} (smallest detectable: {detectable})."))
}
