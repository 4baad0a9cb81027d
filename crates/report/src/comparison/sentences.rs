//! Says what a comparison or a check proves: its first line is what the reader acts on.

use crate::names::level_value;
use boatload_analysis::compare::{
    Absence, Check, CheckOutcome, CheckVerdict, ComparedRow, Comparison, LoadedSide, PhaseKey,
};
use boatload_analysis::effects::decide::Decision;
use boatload_analysis::findings::say::{listed, near, percent, span, times};
use boatload_analysis::statement::begun;
use boatload_analysis::uncertainty::{Estimate, IntervalBasis};
use boatload_base::distinct::each_once;
use boatload_base::units::{self, Quantity, Unit, counted, grouped};

/// More rows are in the table alone; of names without figures twice as many are stated.
const NAMED_MAX: usize = 2;

/// What is proven of the whole job, then of the phases, then what is not compared.
pub(crate) fn comparison_sentences(comparison: &Comparison) -> Vec<String> {
    let (jobs, phases): (Vec<_>, Vec<_>) =
        comparison.in_both().partition(|row| row.key.phase.is_none());
    let mut all = Vec::new();
    for rows in [jobs, phases] {
        for (lead, decision, in_headline) in [
            ("Slower", Decision::Longer, true),
            ("Faster", Decision::Shorter, true),
            ("Likely slower", Decision::Longer, false),
            ("Likely faster", Decision::Shorter, false),
            ("Within 10%", Decision::Within, true),
            ("Likely within 10%", Decision::Within, false),
        ] {
            let is = |row: &&ComparedRow| {
                (row.effect.decision, row.effect.in_headline) == (decision, in_headline)
            };
            let rows_of = rows.iter().copied().filter(is).collect();
            all.extend(rows_sentence(lead, rows_of, &rows, NAMED_MAX));
        }
        let open: Vec<&ComparedRow> =
            rows.iter().copied().filter(|row| row.effect.decision == Decision::Open).collect();
        for why in each_once(open.iter().map(|row| why_open(row, comparison))) {
            let alike = open.iter().copied().filter(|row| why_open(row, comparison) == why);
            let alike: Vec<&ComparedRow> = alike.collect();
            let width = widest(&alike).filter(|_| why.is_empty());
            let (lead, named_max) = match width {
                Some(_) if alike.len() > 1 => ("No difference is proven", 0),
                Some(_) => ("Not proven", 0),
                None => ("Not proven", 1),
            };
            let why = width.map_or(why, |width| {
                format!("{} differ by {width}.", begun(equal_runs(comparison)))
            });
            let sentence = rows_sentence(lead, alike, &rows, named_max);
            all.extend(sentence.map(|sentence| format!("{sentence} {why}")));
        }
    }
    all.extend(not_compared(comparison));
    all
}

/// `Slower in 2 of 5 phases: create takes 1.52 times as long (1.25 to 1.80), stat 1.21 (1.04 to 1.41).`
/// Of several rows so many are named, or none.
fn rows_sentence(
    lead: &str,
    rows: Vec<&ComparedRow>,
    of: &[&ComparedRow],
    named_max: usize,
) -> Option<String> {
    let first = rows.first()?;
    let phases = each_once(of.iter().filter_map(|row| row.key.phase.as_ref()));
    let many = match rows.len() {
        n if n == of.len() && first.effect.decision == Decision::Open => format!("any of {n}"),
        n if n == of.len() => format!("all {n}"),
        n => format!("{n} of {}", of.len()),
    };
    let place = match of.len() {
        1 if phases.is_empty() => {
            return Some(format!("{lead}: {}.", slowdown("B takes", first, true)));
        }
        1 => String::new(),
        _ if phases.is_empty() => format!(" in {many} whole jobs"),
        all if phases.len() == all => format!(" in {many} phases"),
        _ => format!(" in {many} rows"),
    };
    match named_max {
        0 if rows.len() > 1 => Some(format!("{lead}{place}.")),
        _ => Some(format!("{lead}{place}: {}.", slowdowns(rows, named_max.max(1)))),
    }
}

/// `the whole job takes 1.52 times as long (1.25 to 1.80), create 1.21 (1.04 to 1.41), and 2 more`: the whole job first,
/// then the largest difference.
fn slowdowns(mut rows: Vec<&ComparedRow>, named_max: usize) -> String {
    rows.sort_by(|a, b| b.effect.size().total_cmp(&a.effect.size()));
    rows.sort_by_key(|row| row.key.phase.is_some());
    let named = rows.iter().enumerate().map(|(at, row)| {
        let verb = if at == 0 { " takes" } else { "" };
        slowdown(&format!("{}{verb}", phase_name(&row.key)), row, at == 0)
    });
    few(&named.collect::<Vec<_>>(), named_max)
}

/// `create takes 1.12 times as long (1.08 to 1.16)`
fn slowdown(lead: &str, row: &ComparedRow, is_first: bool) -> String {
    let ratio = row.effect.ratio.map_or_else(|| "-".into(), near);
    let unit = if is_first { " times as long" } else { "" };
    let interval = row.effect.interval.map(|interval| format!(" ({})", span(interval)));
    format!("{lead} {ratio}{unit}{}", interval.unwrap_or_default())
}

/// `create of ext4 at space-used 80%`
pub(crate) fn phase_name(key: &PhaseKey) -> String {
    let mut name = key.phase.clone().unwrap_or_else(|| "the whole job".into());
    if let Some(variant) = &key.variant {
        name += &format!(" of {variant}");
    }
    if let Some(level) = &key.level {
        name += &format!(" at {} {}", level.axis, level_value(level));
    }
    name
}

/// `create, stat, and 3 more`
fn few(names: &[String], most: usize) -> String {
    let named = names[..names.len().min(most)].join(", ");
    match names.len().saturating_sub(most) {
        0 => named,
        more => format!("{named}, and {more} more"),
    }
}

fn names(rows: &[&ComparedRow]) -> String {
    few(&rows.iter().map(|row| phase_name(&row.key)).collect::<Vec<_>>(), 2 * NAMED_MAX)
}

/// Why nothing is proven of a row; empty if it is the width of its interval.
fn why_open(row: &ComparedRow, comparison: &Comparison) -> String {
    match (row.effect.loaded_side, row.effect.interval) {
        (Some(LoadedSide::A), _) => "Only A was measured under background load.".into(),
        (Some(LoadedSide::B), _) if row.disturbed[0] => {
            "B was measured under background load, but few runs of A.".into()
        }
        (Some(LoadedSide::B), _) => "Only B was measured under background load.".into(),
        (None, Some(_)) => String::new(),
        (None, None) => {
            let lacks_error =
                |value: Estimate| value.basis != IntervalBasis::Repeats || value.n < 2;
            let mut why = Vec::new();
            let sides = [("A", row.a), ("B", row.b)].into_iter().zip(comparison.is_published());
            for ((letter, _), is_published) in
                sides.filter(|((_, value), _)| value.is_some_and(lacks_error))
            {
                let lacks =
                    if is_published { "was published without an error" } else { "has one repeat" };
                why.push(format!("{letter} {lacks}"));
            }
            if why.is_empty() { "The values vary too much.".into() } else { listed(&why) + "." }
        }
    }
}

/// The runs that show how much equal ones differ.
fn equal_runs(comparison: &Comparison) -> &'static str {
    match comparison.known_runs() {
        0 | 1 => "equal runs on other machines",
        _ => "equal runs here",
    }
}

/// By how much equal runs may differ, in the row where it is most.
fn widest(rows: &[&ComparedRow]) -> Option<String> {
    let widths = rows.iter().filter_map(|row| row.effect.half_width());
    let most = widths.max_by(f64::total_cmp)?;
    Some(format!("up to {}", share(most)))
}

fn not_compared(comparison: &Comparison) -> Vec<String> {
    let about = |row: &ComparedRow| match (row.a.is_some(), row.b.is_some(), row.absence) {
        (true, true, _) => None,
        (true, false, Some(Absence::ReachedLimit)) => Some("a repeat of B reached its limit"),
        (true, false, Some(Absence::Invalid)) => Some("invalid in B"),
        (true, false, _) => Some("only in A"),
        (false, true, Some(Absence::ReachedLimit)) => Some("a repeat of A reached its limit"),
        (false, true, Some(Absence::Invalid)) => Some("invalid in A"),
        (false, true, _) => Some("only in B"),
        (false, false, Some(Absence::OtherPace)) => Some("A and B were asked for different rates"),
        (false, false, _) => Some("without a valid value in both"),
    };
    let sentence = |what: &str| {
        let rows = comparison.rows.iter().filter(|row| about(row) == Some(what));
        format!("Not compared, {what}: {}.", names(&rows.collect::<Vec<_>>()))
    };
    each_once(comparison.rows.iter().filter_map(about)).into_iter().map(sentence).collect()
}

/// What the check proves, the worst first.
pub(super) fn check_sentences(check: &Check) -> Vec<String> {
    let limit = Quantity { value: check.fail_on * 100.0, unit: Unit::Percent }.to_string();
    let verdict = check.verdict();
    let mut all = Vec::new();
    let regressions = check.with(CheckOutcome::Regression);
    let again = check.comparison.b_again.len() as u64;
    if !regressions.is_empty() {
        let confirmed = match again {
            0 => String::new(),
            runs => format!(", confirmed by {}", counted(runs, "more run")),
        };
        let named = slowdowns(regressions, NAMED_MAX);
        all.push(format!("REGRESSION: {named}; {limit} is allowed{confirmed}."));
    } else if again > 0 {
        let runs = counted(again + 1, "run");
        all.push(format!("NOT CONFIRMED: no slowdown of more than {limit} is proven in {runs}."));
    }
    if !check.comparison.b.complete {
        let id = &check.comparison.b.id;
        all.push(format!("NOT COMPLETE: run {id} is unfinished, so this check cannot pass."));
    }
    let invalid = check.with(CheckOutcome::Invalid);
    all.extend((!invalid.is_empty()).then(|| format!("INVALID: {}.", names(&invalid))));
    let works = each_once(check.with(CheckOutcome::OtherWork).into_iter().filter_map(about_work));
    let other = (!works.is_empty()).then(|| few(&works, NAMED_MAX));
    all.extend(other.map(|works| format!("Not compared, since the work differs: {works}.")));
    all.extend(check.rows().next().is_none().then(|| nothing(check)));
    all.extend(unsure(check, &limit));
    all.extend(good(check, &limit));
    all.extend(not_compared(&check.comparison));
    let is_open = matches!(verdict, CheckVerdict::Unsure | CheckVerdict::Nothing);
    if let Some(first) = all.first_mut().filter(|_| is_open) {
        *first += match check.fail_on_unsure {
            true => " Exit 4, because of --fail-on-unsure.",
            false => " Exit 0; 4 with --fail-on-unsure.",
        };
    }
    all
}

/// Facts that differ between runs that may still be compared.
const HARMLESS: [&str; 9] = [
    "measured", "seed", "repeats (no cause)", "most operations", "date", "kernel", "root",
    "caches", "boatload",
];

/// `Nothing to compare with yet: mount options data=journal is new. The run before: --baseline k7m.`
fn nothing(check: &Check) -> String {
    let Some(unlike) = &check.unlike else {
        let scenario = &check.comparison.b.scenario;
        return format!("Nothing to compare with yet: no earlier complete run of {scenario}.");
    };
    let new = unlike.differences.iter().filter(|one| !HARMLESS.contains(&one.name));
    let new: Vec<String> = new
        .map(|one| match one.values.last().cloned().flatten() {
            Some(value) if !value.contains("line") => format!("{} {value}", one.name),
            _ => one.name.to_string(),
        })
        .collect();
    let what = match new.len() {
        0 => "the place differs".into(),
        1 => format!("{} is new", new[0]),
        _ => format!("{} are new", listed(&new)),
    };
    format!("Nothing to compare with yet: {what}. The run before: --baseline {}.", unlike.id)
}

/// `UNSURE: equal runs here differ by up to 31%, so 5% cannot be checked. The slowest is create: it takes 1.06 times as long
/// (0.86 to 1.31).`
fn unsure(check: &Check, limit: &str) -> Option<String> {
    let (rows, all) = (check.with(CheckOutcome::Unsure), check.rows().count());
    let ratio = |row: &ComparedRow| row.effect.ratio.unwrap_or_default();
    let most = rows.iter().max_by(|a, b| ratio(a).total_cmp(&ratio(b)))?;
    let whys = each_once(rows.iter().map(|row| why_open(row, &check.comparison)));
    let why = match (whys.iter().find(|why| !why.is_empty()), widest(&rows)) {
        (None, Some(width)) => format!("{} differ by {width}", equal_runs(&check.comparison)),
        (why, _) => {
            let why = why.map(|why| why.trim_end_matches('.').to_string()).unwrap_or_default();
            why.replacen("Only", "only", 1)
        }
    };
    let place =
        if rows.len() == all { String::new() } else { format!(" in {} of {all} rows", rows.len()) };
    let slowest = (ratio(most) > 1.0 + check.fail_on).then(|| {
        format!(
            " The slowest is {}.",
            slowdown(&format!("{}: it takes", phase_name(&most.key)), most, true)
        )
    });
    Some(format!(
        "UNSURE: {why}, so {limit} cannot be checked{place}.{}",
        slowest.unwrap_or_default()
    ))
}

/// `OK: nothing is more than 5% slower (a slowdown of 4% would have been seen).`
fn good(check: &Check, limit: &str) -> Option<String> {
    let (good, all) = (check.with(CheckOutcome::Ok), check.rows().count());
    let highest = good.iter().filter_map(|row| row.effect.interval);
    let most = highest.map(|interval| interval.high).max_by(f64::total_cmp)?;
    let seen = match most > 1.0 {
        true => format!("a slowdown of {} would have been seen", percent(most - 1.0)),
        false => format!("at most {} times as long", times(most)),
    };
    let what = match good.len() {
        n if n == all => format!("nothing is more than {limit} slower"),
        n => format!("{n} of {all} rows are not more than {limit} slower"),
    };
    Some(format!("OK: {what} ({seen})."))
}

/// How much more: `4.0%`, or from twice on `3.2 times`.
pub(crate) fn share(more: f64) -> String {
    if more < 1.0 { percent(more) } else { format!("{} times", times(1.0 + more)) }
}

/// How these rows of a comparison are to be read.
pub(crate) fn comparison_reading(comparison: &Comparison, rows: &[&ComparedRow]) -> Vec<String> {
    reading(comparison, rows, "At most 5% of these results are expected to be wrong.")
}

/// How these rows of a check are to be read.
pub(super) fn check_reading(check: &Check, rows: &[&ComparedRow]) -> Vec<String> {
    let most = times(1.0 + check.fail_on);
    let proven = format!(
        "REGRESSION is proven to lie above {most}, ok below; the chance that any of them is wrong is at most 5%."
    );
    reading(&check.comparison, rows, &proven)
}

fn reading(comparison: &Comparison, rows: &[&ComparedRow], proven: &str) -> Vec<String> {
    let is_history = rows.iter().any(|row| row.history.is_some());
    let known = match (comparison.known_runs(), is_history) {
        (0 | 1, _) => "How much equal runs differ is taken from other machines, until more runs are stored here."
                .into(),
        (runs, true) => {
            format!("How much equal runs differ is known from {runs} runs since the last step.")
        }
        (runs, false) => format!("How much equal runs differ is known from {runs} other runs."),
    };
    let lead = "B/A is how many times as long B took.";
    let text = match rows.iter().any(|row| row.effect.interval.is_some()) {
        true => format!("{lead} {proven} {known}"),
        false => lead.into(),
    };
    [text].into_iter().chain(about_marks(rows)).collect()
}

/// What the marks mean, each behind its mark.
fn about_marks(rows: &[&ComparedRow]) -> Vec<String> {
    let rows: Vec<&ComparedRow> = rows.iter().copied().filter(|row| row.is_in_both()).collect();
    let mut texts = Vec::new();
    if rows.iter().any(|row| row.disturbed.contains(&true)) {
        texts.push(
            "* measured under background load; where one side alone was, only what load cannot cause is decided".into(),
        );
    }
    if rows.iter().any(|row| row.left_out != [0, 0]) {
        texts.push(
            "Repeats under background load are left out where 3 or more are without it.".into(),
        );
    }
    for [a, b] in each_once(rows.iter().filter_map(|row| row.caches.as_ref())) {
        let [a, b] = [a, b].map(|word| if word.is_empty() { "in an unknown state" } else { word });
        texts.push(format!("~ caches {a} in A, {b} in B, which may be all of the difference"));
    }
    let works = each_once(rows.iter().copied().filter_map(about_work));
    if !works.is_empty() {
        texts.push(format!(
            "+ other work, which may be all of the difference: {}",
            few(&works, NAMED_MAX)
        ));
    }
    texts
}

fn about_work(row: &ComparedRow) -> Option<String> {
    let (phase, work) = (row.key.phase.as_ref()?, row.work?);
    let [of_a, of_b] = work.map(|work| grouped(work.operations.round() as u64));
    if of_a != of_b {
        return Some(format!("{phase} ({of_a} operations in A, {of_b} in B)"));
    }
    let [of_a, of_b] = work.map(|work| units::bytes(work.bytes_each.round() as u64));
    Some(format!("{phase} ({of_a} for each operation in A, {of_b} in B)"))
}
