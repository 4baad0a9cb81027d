//! Answers whether operations take longer as a phase goes on, from the growth of all variants and levels.

use super::Verdict;
use super::draft::{AnswerDraft, Lack};
use super::figures::AnswerFigure;
use super::left_out::{LeftOutTasks, MeasuredTask};
use super::words::{as_long, at_most, task};
use crate::analysis::findings::growth::{GrowthFigures, GrowthFinding, GrowthShape};
use crate::analysis::findings::say::{self, listed};
use crate::analysis::statistics::Interval;
use crate::analysis::thresholds::SLOWER_MARGIN;
use crate::base::distinct::each_once;
use crate::base::units::{self, grouped};

/// Phases that an answer names.
const PHASES_MAX: usize = 4;

/// Ratios that lie so near each other are stated as one.
const ALIKE: f64 = 1.03;

/// From all growths of a run, and all tasks that were measured; none if there is none.
pub(super) fn growth(all: &[&GrowthFinding], measured: &[MeasuredTask<'_>]) -> Option<AnswerDraft> {
    let figures = all.iter().filter_map(|one| AnswerFigure::of_growth(one)).collect();
    let draft = of_all(all, measured)?;
    let run = all.iter().map(|one| one.extent_of_runs()).find(|run| !run.is_empty());
    let text = format!("{}{}", run.unwrap_or_default(), draft.text);
    Some(AnswerDraft { text, ..draft }.made_of(figures))
}

fn of_all(all: &[&GrowthFinding], measured: &[MeasuredTask<'_>]) -> Option<AnswerDraft> {
    all.first()?;
    let known: Vec<(&GrowthFinding, &GrowthFigures)> =
        all.iter().filter_map(|one| Some((*one, one.figures.as_ref()?))).collect();
    let evidence: Vec<String> = all.iter().map(|one| one.sentence()).collect();
    if known.is_empty() {
        let (phases, gets) = (phases(all), verb(all, "gets", "get"));
        let text = format!("too few windows to see whether {phases} {gets} slower");
        return Some(AnswerDraft::cannot_tell(Lack::Design, text, evidence));
    }
    let left_out = left_out(all, measured);
    let slower: Vec<_> = known.iter().copied().filter(|one| is_slower(one.1)).collect();
    if !slower.is_empty() {
        let (text, evidence) = match slower.as_slice() {
            [only] => {
                let text = about_one(only.0, only.1, all);
                (text, others(all, only.0))
            }
            _ => (about_some(&slower, all), open(all)),
        };
        let evidence = left_out.sentence().into_iter().chain(evidence).collect();
        return Some(AnswerDraft::proven(Verdict::Yes, text, evidence));
    }
    let most = known.iter().map(|one| one.1.interval.high - 1.0).fold(0.0, f64::max);
    let is_no = known.len() == all.len() && most <= SLOWER_MARGIN;
    if is_no {
        let text = format!(
            "{}{} {} not get slower by more than {}{}",
            left_out.apart(),
            phases(all),
            verb(all, "does", "do"),
            at_most(most),
            up_to(all)
        );
        let unsaid = left_out.sentence_beside_apart();
        let evidence = unsaid.into_iter().chain(evidence).collect();
        return Some(AnswerDraft::proven(Verdict::No, text, evidence));
    }
    let told = known.iter().filter(|one| !one.1.is_untold());
    let open = told.max_by(|a, b| a.1.interval.high.total_cmp(&b.1.interval.high));
    let vague = || {
        let (phases, gets) = (phases(all), verb(all, "gets", "get"));
        format!("times differ too much to see whether {phases} {gets} slower")
    };
    let text = open.map_or_else(vague, |(one, figures)| {
        format!(
            "at the end, after {}, {} may take {} times as long {}",
            extent(one),
            name(one, all),
            say::span(figures.interval),
            as_at_first([*figures].into_iter())
        )
    });
    Some(AnswerDraft::cannot_tell(Lack::Precision, text, evidence))
}

/// Whether the end takes longer than the beginning for sure, by what is worth stating.
fn is_slower(figures: &GrowthFigures) -> bool {
    figures.interval.low > 1.0
}

/// Those of which it is proven neither that they get slower nor that they do not.
fn open(all: &[&GrowthFinding]) -> Vec<String> {
    let is_told = |figures: &GrowthFigures| {
        is_slower(figures) || figures.interval.high <= 1.0 + SLOWER_MARGIN
    };
    let is_open = |one: &&&GrowthFinding| !one.figures.as_ref().is_some_and(is_told);
    all.iter().filter(is_open).map(|one| one.sentence()).collect()
}

fn others(all: &[&GrowthFinding], but: &GrowthFinding) -> Vec<String> {
    all.iter().filter(|one| **one != but).map(|one| one.sentence()).collect()
}

/// Of the phases whose growth is known elsewhere, the tasks of which it is not.
fn left_out(all: &[&GrowthFinding], measured: &[MeasuredTask<'_>]) -> LeftOutTasks {
    let compared = all.iter().map(|one| MeasuredTask::new(&one.variant, &one.phase));
    let compared: Vec<MeasuredTask<'_>> = compared.collect();
    let is_grown = |one: &&MeasuredTask<'_>| compared.iter().any(|other| other.phase == one.phase);
    let grown: Vec<MeasuredTask<'_>> = measured.iter().filter(is_grown).copied().collect();
    LeftOutTasks::new(&grown, &compared)
}

/// `400,000 files`
fn extent(one: &GrowthFinding) -> String {
    format!("{} {}", grouped(operations(one)), one.counted.noun())
}

fn operations(one: &GrowthFinding) -> u64 {
    one.figures.as_ref().map_or(0, |figures| figures.operations)
}

/// ` up to 400,000 files`; of phases with different numbers the smallest.
fn up_to(all: &[&GrowthFinding]) -> String {
    let counted = each_once(all.iter().map(|one| one.counted));
    let each = each_once(all.iter().map(|one| operations(one)));
    match (counted.as_slice(), each.as_slice(), each.iter().min()) {
        ([counted], [only], _) => format!(" up to {} {}", grouped(*only), counted.noun()),
        ([counted], _, Some(least)) => {
            format!(" up to at least {} {}", grouped(*least), counted.noun())
        }
        _ => " up to the end".into(),
    }
}

/// `400,000 files`; where not all have as many, `the end`.
fn end(all: &[&GrowthFinding]) -> String {
    match each_once(all.iter().map(|one| extent(one))).as_slice() {
        [only] => only.clone(),
        _ => "the end".into(),
    }
}

/// `open and read`; of many their number.
fn phases(all: &[&GrowthFinding]) -> String {
    let names = each_once(all.iter().map(|one| one.phase.clone()));
    if names.len() <= PHASES_MAX { listed(&names) } else { format!("{} phases", names.len()) }
}

/// The verb behind [`phases`].
fn verb(all: &[&GrowthFinding], of_one: &'static str, of_many: &'static str) -> &'static str {
    let is_one = all.windows(2).all(|two| two[0].phase == two[1].phase);
    if is_one { of_one } else { of_many }
}

/// A task, with its level where not all are of one.
fn name(one: &GrowthFinding, all: &[&GrowthFinding]) -> String {
    let is_of_one_level = all.iter().all(|other| other.level == one.level);
    let at = if is_of_one_level { String::new() } else { one.at_level() };
    task(&one.variant, &one.phase) + &at
}

/// The only one of all that is slower.
fn about_one(one: &GrowthFinding, figures: &GrowthFigures, all: &[&GrowthFinding]) -> String {
    let (task, untold, others) = (name(one, all), open(all).len(), all.len() - 1);
    let basis = one.basis();
    let times = as_long(figures.ratio, None);
    let longer = format!("{times} ({}{basis})", say::span(figures.interval));
    let but = match (untold, others) {
        (0, _) => String::new(),
        (1, 1) => "; the other cannot be told".into(),
        _ if untold == others => format!("; the {others} others cannot be told"),
        _ => format!("; {untold} of {others} others cannot be told"),
    };
    let (noun, first) = (one.counted.noun(), as_at_first([figures].into_iter()));
    match (one.shape, &figures.threshold) {
        (GrowthShape::Threshold, Some(found)) => {
            let [at, low, high] = [found.at, found.interval.low, found.interval.high]
                .map(|value| units::figures(value.max(0.0), 2));
            let end = grouped(figures.operations);
            format!(
                "{task} takes longer from about {at} {noun} on ({low} to {high}{basis}), {longer} at {end}{but}"
            )
        }
        // By a law it takes longer with each of them: no number parts the fast ones from the slow.
        (GrowthShape::Law, _) => {
            let law = figures.by_law(noun, basis);
            format!("at {} {task} takes {longer} {first}, growing {law}{but}", extent(one))
        }
        _ => format!("at {} {task} takes {longer} {first}{but}", extent(one)),
    }
}

/// Several: from the least to the most of their ratios.
fn about_some(slower: &[(&GrowthFinding, &GrowthFigures)], all: &[&GrowthFinding]) -> String {
    let ratios = || slower.iter().map(|one| one.1.ratio);
    let (least, most) = (ratios().fold(f64::INFINITY, f64::min), ratios().fold(0.0, f64::max));
    let intervals = || slower.iter().map(|one| one.1.interval);
    let span = Interval {
        low: intervals().map(|one| one.low).fold(f64::INFINITY, f64::min),
        high: intervals().map(|one| one.high).fold(0.0, f64::max),
    };
    // Names stand in the order of their ratios.
    let mut by_ratio = slower.to_vec();
    by_ratio.sort_by(|a, b| a.1.ratio.total_cmp(&b.1.ratio));
    let findings: Vec<&GrowthFinding> = by_ratio.iter().map(|one| one.0).collect();
    let each = each_once(findings.iter().map(|one| one.variant.as_str()));
    let is_one_phase = findings.windows(2).all(|two| two[0].phase == two[1].phase);
    let of_variants = is_one_phase && each.len() == findings.len();
    let series = if of_variants { "variants" } else { "series" };
    // Those of other phases are in no number of these.
    let is_named = |one: &&&GrowthFinding| findings.iter().any(|other| other.phase == one.phase);
    let all = all.iter().filter(is_named).count();
    let of = match (slower.len() == all, each.as_slice()) {
        (true, _) => format!("all {all} {series}"),
        (false, [one, other]) if of_variants => format!("{one} and {other}"),
        (false, _) => format!("{} of {all} {series}", slower.len()),
    };
    let times = match most / least <= ALIKE {
        true => format!("about {}", say::times((least * most).sqrt())),
        false => format!("{} to {}", say::times(least), say::times(most)),
    };
    let (end, phases, span) = (end(&findings), phases(&findings), say::span(span));
    let take = verb(&findings, "takes", "take");
    let first = as_at_first(slower.iter().map(|one| one.1));
    format!("at {end} {phases} {take} {times} times as long {first} ({span}) in {of}")
}

/// What the ends are compared with.
fn as_at_first<'a>(all: impl Iterator<Item = &'a GrowthFigures>) -> String {
    format!("as {}", each_once(all.map(GrowthFigures::beginning)).join(" or "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::findings::curve::ChangeShape;
    use crate::analysis::findings::curve::Law;
    use crate::analysis::findings::growth::CountedThing;
    use crate::analysis::findings::phase_shape::GrowthThreshold;
    use crate::base::units::Unit;
    use crate::results::book::Level;

    fn grown(phase: &str, operations: u64, ratio: f64) -> GrowthFinding {
        let figures = GrowthFigures {
            law: Law::Constant,
            exponent: 0.0,
            exponent_interval: None,
            ratio,
            interval: [ratio * 0.99, ratio * 1.015].into(),
            smallest_detectable: 0.02,
            first_ns: 1_000.0,
            last_ns: 1_000.0 * ratio,
            threshold: None,
            operations,
            operations_of_end: operations / 10,
            start_up: None,
            blocks: Vec::new(),
        };
        GrowthFinding {
            variant: "ext4".into(),
            phase: phase.into(),
            level: None,
            shape: GrowthShape::NoLaw,
            reason: None,
            counted: CountedThing::Operations,
            windows: 100,
            n: 3,
            repeats: 3,
            figures: Some(figures),
        }
    }

    fn text(all: &[&GrowthFinding]) -> String {
        growth(all, &[]).unwrap().text
    }

    #[test]
    fn a_number_of_operations_is_stated_of_no_phase_that_did_fewer() {
        let (open, read) = (grown("open", 3_000, 1.0), grown("read", 2_000_000, 1.0));
        let not_slower = "open and read do not get slower by more than 2%";
        assert_eq!(text(&[&open, &read]), format!("{not_slower} up to at least 3,000 operations"));
        let same = grown("read", 3_000, 1.0);
        assert_eq!(text(&[&open, &same]), format!("{not_slower} up to 3,000 operations"));
        let files = GrowthFinding { counted: CountedThing::Files, ..same };
        assert_eq!(text(&[&open, &files]), format!("{not_slower} up to the end"));
        assert_eq!(
            text(&[&open]),
            "open does not get slower by more than 2% up to 3,000 operations"
        );
        assert_eq!(
            text(&[&grown("open", 3_000, 2.0), &grown("read", 2_000_000, 2.0)]),
            "at the end open and read take about 2.00 times as long as at first (1.98 to 2.03) in all 2 series"
        );
    }

    #[test]
    fn a_number_of_files_from_which_on_it_takes_longer_is_stated_of_thresholds_only() {
        let of = |shape, law, threshold| {
            let one = grown("create", 20_000, 3.0);
            let figures =
                one.figures.clone().map(|figures| GrowthFigures { law, threshold, ..figures });
            text(&[&GrowthFinding { shape, figures, ..one }])
        };
        let longer = "3.00 times as long (2.97 to 3.04)";
        assert_eq!(
            of(GrowthShape::Law, Law::Linear, None),
            format!(
                "at 20,000 operations create (ext4) takes {longer} as at first, growing linearly with the number of operations"
            )
        );
        let threshold = GrowthThreshold {
            at: 7_000.0,
            interval: [6_500.0, 7_200.0].into(),
            shape: ChangeShape::Step,
        };
        assert_eq!(
            of(GrowthShape::Threshold, Law::Linear, Some(threshold)),
            format!(
                "create (ext4) takes longer from about 7,000 operations on (6,500 to 7,200), {longer} at 20,000"
            )
        );
    }

    #[test]
    fn a_level_is_named_where_growths_are_of_several() {
        let at = |kib: f64, ratio| {
            let level = Level { axis: "chunk".into(), value: kib * 1_024.0, unit: Unit::Bytes };
            GrowthFinding { level: Some(level), ..grown("read", 3_000, ratio) }
        };
        let (small, large) = (at(4.0, 2.0), at(64.0, 1.0));
        let slower = "at 3,000 operations read (ext4)";
        assert!(text(&[&small, &large]).starts_with(&format!("{slower} at 4 KiB takes ")));
        assert!(text(&[&small]).starts_with(&format!("{slower} takes ")));
    }

    #[test]
    fn what_parts_of_one_repeat_say_is_said_of_that_run() {
        let alone = GrowthFinding { repeats: 1, n: 1, ..grown("open", 3_000, 1.0) };
        assert!(text(&[&alone]).starts_with("in this run open does not get slower "));
        let slower = |phase| GrowthFinding { repeats: 1, ..grown(phase, 3_000, 2.0) };
        let two = text(&[&slower("open"), &slower("read")]);
        assert!(two.starts_with("in this run at 3,000 operations open and read take "), "{two}");
    }

    #[test]
    fn series_of_other_phases_are_not_counted_among_those_that_get_slower() {
        let other = GrowthFinding { variant: "xfs".into(), ..grown("open", 3_000, 2.0) };
        let said = text(&[&grown("open", 3_000, 2.0), &other, &grown("read", 3_000, 1.0)]);
        assert!(said.ends_with(" in all 2 variants"), "{said}");
    }

    #[test]
    fn a_variant_whose_growth_is_not_known_is_excepted() {
        let measured = [("ext4", "open"), ("xfs", "open"), ("xfs", "stat")];
        let measured = measured.map(|(variant, phase)| MeasuredTask::new(variant, phase));
        let slower = growth(&[&grown("open", 3_000, 2.0)], &measured).unwrap();
        assert_eq!(slower.evidence, ["Left out: xfs."]);
        let found = growth(&[&grown("open", 3_000, 1.0)], &measured).unwrap();
        assert!(found.text.starts_with("apart from xfs, open does not get slower "), "{found:?}");
    }
}
