//! Answers about made-up runs whose truth is known, and about odd ones.

use std::fmt::Write as _;

use super::figures::{AnswerFigure, FigureMeasure};
use super::left_out::MeasuredTask;
use super::words::{WORDS_MAX, begun, number_of_words, share};
use super::{AnswerFinding, Reliability, Verdict, crossover, ranking};
use crate::analysis::Analysis;
use crate::analysis::finding::Finding;
use crate::analysis::findings::crossover::{CrossoverFinding, LevelWinner};
use crate::analysis::findings::ranking::{
    ComparedRatio, LeftOutVariant, RankingFinding, RankingStep,
};
use crate::analysis::findings::say;
use crate::analysis::findings::scaling::ScaledPhase;
use crate::analysis::statistics::Interval;
use crate::base::random::{Stream, draw, unit};
use crate::base::units::Unit;
use crate::plan::{CacheAsked, Conclusion};
use crate::results::book::{Book, CellKey, Level, Measurement, REACHED_LIMIT};
use crate::results::fixture::{self, growing};
use crate::run::cache::Doubt;

mod advised;
mod unlike;

const NOISES: [Noise; 5] =
    [Noise::Spread(2), Noise::Spread(10), Noise::Spread(40), Noise::TwoModes, Noise::Drift];
const EFFECTS: [f64; 5] = [0.0, 0.05, 0.10, 0.20, 0.50];
/// Where 5% are wrong, more in so many draws have a chance of 1 in 1,000.
const DRAWS: u64 = 60;
const WRONG_MAX: u64 = 9;

/// What a measurement is off by.
#[derive(Clone, Copy, Debug)]
enum Noise {
    /// By so many percent, one standard deviation.
    Spread(u32),
    /// By 2%, and half of them take 1.3 times as long.
    TwoModes,
    /// By 2%, and each repeat takes a tenth longer than the one before.
    Drift,
}

impl Noise {
    /// As a factor of the time.
    fn of(self, seed: u64, repeat: u32, number: u64) -> f64 {
        let number = u64::from(repeat) * 100_000 + number;
        let at = |n| unit(draw(seed, Stream::Noise, n)).max(1e-12);
        let normal = (-2.0 * at(3 * number).ln()).sqrt()
            * (std::f64::consts::TAU * at(3 * number + 1)).cos();
        let (percent, factor) = match self {
            Self::Spread(percent) => (percent, 1.0),
            Self::TwoModes => (2, if at(3 * number + 2) < 0.5 { 1.0 } else { 1.3 }),
            Self::Drift => (2, 1.0 + 0.1 * f64::from(repeat)),
        };
        factor * (f64::from(percent) / 100.0 * normal).exp()
    }
}

/// A run that went well of a job that wants such a conclusion.
fn book(conclude: Conclusion, question: &str, measurements: Vec<Measurement>) -> Book {
    let mut book = Book { run: fixture::run("k3j9x2ab"), host: fixture::host(), ..Book::default() };
    book.run.conclude = vec![conclude];
    book.run.question = question.into();
    book.run.complete = true;
    book.measurements = measurements;
    book.ordered_as_measured()
}

fn measured(
    variant: &str,
    phase: &str,
    level: Option<Level>,
    repeat: u32,
    seconds: f64,
) -> Measurement {
    Measurement {
        cell: CellKey { variant: variant.into(), level, repeat },
        phase: phase.into(),
        operation: "create".into(),
        pass: 1,
        operations: 1_000,
        seconds,
        ..Measurement::default()
    }
}

#[track_caller]
fn answer(book: &Book) -> AnswerFinding {
    let analysis = Analysis::of(book);
    let answer = analysis.answer().unwrap().clone();
    is_well_said(&answer);
    is_not_contradicted(&answer, &analysis);
    is_made_of_its_figures(&answer);
    answer
}

/// Whether a finding that the answer is made of has an effect; none of another one.
fn has_effect(kind: Conclusion, finding: &Finding) -> Option<bool> {
    match (kind, finding) {
        (Conclusion::Slope, Finding::Slope(one)) => {
            Some(one.effect && one.change < 0.0 && !one.device_itself)
        }
        (Conclusion::Scaling, Finding::Scaling(one)) => {
            let is_slower = |phase: &ScaledPhase| {
                phase.slower_from.is_some() || phase.is_near_margin(one.range.high)
            };
            Some(one.phases.iter().any(is_slower))
        }
        (Conclusion::Ranking, Finding::Ranking(one)) if one.phase.is_none() => {
            Some(one.steps.iter().any(|step| !step.behind_first.tie))
        }
        (Conclusion::Growth, Finding::Growth(one)) => {
            Some(one.figures.as_ref().is_some_and(|figures| figures.interval.low > 1.0))
        }
        (Conclusion::Crossover, Finding::Crossover(one)) => {
            Some(one.levels.iter().any(|level| level.winner.is_some()))
        }
        _ => None,
    }
}

/// A verdict says that there is an effect just where a finding below it does.
#[track_caller]
fn is_not_contradicted(answer: &AnswerFinding, analysis: &Analysis<'_>) {
    let Some(kind) = analysis.book.run.conclude.first().filter(|_| analysis.book.run.complete)
    else {
        return;
    };
    let known = analysis.findings().iter().filter_map(|one| has_effect(*kind, one));
    let Some(has_effect) = known.reduce(|one, other| one || other) else { return };
    let says_so = matches!(answer.verdict, Verdict::Yes | Verdict::Likely);
    assert_eq!(says_so, has_effect, "{answer:?} {:#?}", analysis.findings());
}

/// Each interval that stands in the sentence is that of a figure, or reaches from one of them to another.
#[track_caller]
fn is_made_of_its_figures(answer: &AnswerFinding) {
    if answer.figures.iter().any(AnswerFigure::is_rate) {
        return;
    }
    let ends = |figure: &AnswerFigure| {
        let Interval { low, high } = figure.interval?;
        Some(match figure.measure {
            FigureMeasure::Change => {
                [(-high).max(0.0), (-low).min(1.0), low.max(0.0), high].map(share).to_vec()
            }
            _ => [low, high, 1.0 / low, 1.0 / high].map(say::near).to_vec(),
        })
    };
    let known: Vec<String> = answer.figures.iter().filter_map(ends).flatten().collect();
    let brackets = answer.text.split('(').skip(1).filter_map(|rest| rest.split(')').next());
    for stated in brackets.filter_map(|bracket| bracket.split_once(" to ")) {
        let is_known = |end: &str| known.iter().any(|known| known == end);
        assert!(is_known(stated.0) && is_known(stated.1), "{stated:?} of {answer:#?}");
    }
}

#[track_caller]
fn is_well_said(answer: &AnswerFinding) {
    assert!(number_of_words(&answer.text) <= WORDS_MAX, "{answer:?}");
    assert!(answer.text.ends_with('.') && !answer.text.ends_with(".."), "{answer:?}");
    assert!(answer.evidence.len() <= 3, "{answer:?}");
    assert!(!answer.reason.is_empty() && number_of_words(&answer.reason) <= 15, "{answer:?}");
}

/// Two phases over three levels, ten repeats; at the highest they take longer by the effect.
fn clutter(effect: f64, noise: Noise, seed: u64) -> Book {
    let mut all = Vec::new();
    for repeat in 1..=10 {
        for (at, files) in [0.0, 1_000_000.0, 2_000_000.0].into_iter().enumerate() {
            for (nth, phase) in ["write", "read"].into_iter().enumerate() {
                let level = Level { axis: "files-present".into(), value: files, unit: Unit::Count };
                let number = at as u64 * 10 + nth as u64;
                let rate = 1.0 - effect * files / 2e6;
                let seconds = 10.0 / rate * noise.of(seed, repeat, number);
                all.push(measured("default", phase, Some(level), repeat, seconds));
            }
        }
    }
    book(Conclusion::Slope, "Do many small files slow down big sequential I/O?", all)
}

/// Three tasks over twelve levels, four repeats; from 80% on they take longer by the effect.
fn fullness(effect: f64, noise: Noise, seed: u64) -> Book {
    let mut all = Vec::new();
    for repeat in 1..=4 {
        for used in [30., 40., 50., 60., 65., 70., 75., 80., 85., 90., 94., 98.] {
            for nth in 0..3 {
                let level = Level { axis: "space-used".into(), value: used, unit: Unit::Percent };
                let number = used as u64 * 10 + nth;
                let slower = if used < 80.0 { 1.0 } else { 1.0 + effect };
                let seconds = slower * noise.of(seed, repeat, number);
                let task = format!("task-{nth}");
                all.push(measured("default", &task, Some(level), repeat, seconds));
            }
        }
    }
    let question = "Does a file system get slower as it fills up, and from where?";
    book(Conclusion::Knee, question, all)
}

/// Three variants with three phases, five repeats; the last takes longer by the effect.
fn filesystems(effect: f64, noise: Noise, seed: u64) -> Book {
    let mut all = Vec::new();
    for repeat in 1..=5 {
        for (at, variant) in ["ext4", "xfs", "btrfs"].into_iter().enumerate() {
            for nth in 0..3 {
                let number = at as u64 * 10 + nth;
                let slower = if at == 2 { 1.0 + effect } else { 1.0 };
                let seconds = slower * noise.of(seed, repeat, number);
                all.push(measured(variant, &format!("phase-{nth}"), None, repeat, seconds));
            }
        }
    }
    book(Conclusion::Ranking, "Which file system is best for small files?", all)
}

/// Two phases over five levels of files, five repeats; at the two highest they take longer.
fn directory(effect: f64, noise: Noise, seed: u64) -> Book {
    let mut all = Vec::new();
    for repeat in 1..=5 {
        for (at, files) in [1e3, 1e4, 3e4, 1e5, 1e6].into_iter().enumerate() {
            for (nth, phase) in ["stat-cold", "list-cold"].into_iter().enumerate() {
                let level = Level { axis: "file-count".into(), value: files, unit: Unit::Count };
                let number = at as u64 * 10 + nth as u64;
                let slower = if at < 3 { 1.0 } else { 1.0 + effect };
                let seconds = slower * noise.of(seed, repeat, number);
                all.push(measured("default", phase, Some(level), repeat, seconds));
            }
        }
    }
    book(Conclusion::Scaling, "Up to how many files is a directory fast?", all)
}

/// The one share that a negative answer states, as its last percentage.
fn stated_bound(text: &str) -> f64 {
    let before = text.rsplit_once('%').map_or("", |parts| parts.0);
    let digits = before.rsplit(' ').next().unwrap_or_default();
    digits.parse::<f64>().unwrap_or(f64::NAN) / 100.0
}

/// Whether an answer states an effect that is not there, or excludes the one that is.
fn is_wrong(answer: &AnswerFinding, effect: f64) -> bool {
    match answer.verdict {
        Verdict::Yes | Verdict::Likely => {
            effect == 0.0 || answer.text.contains("btrfs is the fastest")
        }
        Verdict::No | Verdict::LikelyNo => stated_bound(&answer.text) < effect,
        Verdict::CannotTell => false,
    }
}

/// For each effect and noise: how many answers are wrong, how many cannot tell, of all.
fn tallies(of: fn(f64, Noise, u64) -> Book, draws: u64) -> Vec<(f64, Noise, [u64; 2])> {
    let mut all = Vec::new();
    for effect in EFFECTS {
        for noise in NOISES {
            let answers: Vec<_> =
                (1..=draws).map(|seed| answer(&of(effect, noise, seed))).collect();
            let wrong = answers.iter().filter(|one| is_wrong(one, effect)).count() as u64;
            let open = |one: &&AnswerFinding| one.verdict == Verdict::CannotTell;
            let cannot_tell = answers.iter().filter(open).count() as u64;
            all.push((effect, noise, [wrong, cannot_tell]));
        }
    }
    all
}

#[track_caller]
#[expect(clippy::print_stdout, reason = "METHODOLOGY.md has this table")]
fn holds(what: &str, of: fn(f64, Noise, u64) -> Book, draws: u64) {
    let tallies = tallies(of, draws);
    let mut table = format!("{what}: wrong and cannot tell of {draws}\n");
    for (effect, noise, [wrong, cannot_tell]) in &tallies {
        let _ = writeln!(table, "| {effect:.2} | {noise:?} | {wrong} | {cannot_tell} |");
    }
    println!("{table}");
    let most = WRONG_MAX * draws / DRAWS;
    assert!(tallies.iter().all(|(.., [wrong, _])| *wrong <= most), "{table}");
    let told = |at: usize| draws - tallies[at].2[1];
    // Nothing and half as much again, with hardly any noise, are told nearly always.
    for at in [0, tallies.len() - NOISES.len()] {
        assert!(told(at) * 10 >= draws * 9, "{table}");
    }
}

#[test]
fn of_twenty_answers_about_a_slope_at_most_one_is_wrong() {
    holds("slope", clutter, DRAWS);
}

#[test]
fn of_twenty_answers_about_a_ranking_at_most_one_is_wrong() {
    holds("ranking", filesystems, DRAWS);
}

#[test]
fn of_twenty_answers_about_a_scaling_at_most_one_is_wrong() {
    holds("scaling", directory, DRAWS);
}

#[test]
fn of_twenty_answers_about_a_knee_at_most_one_is_wrong() {
    holds("knee", fullness, DRAWS / 6);
}

#[test]
fn layouts_that_get_slower_are_told_from_those_that_do_not() {
    let mut growing = growing::directory();
    growing.run.complete = true;
    let found = answer(&growing);
    assert_eq!(found.verdict, Verdict::Yes, "{found:?}");
    assert!(found.text.contains("in striped and single"), "{found:?}");
    growing.measurements.retain(|m| m.cell.variant == "multiple");
    let found = answer(&growing);
    assert_eq!(found.verdict, Verdict::No, "{found:?}");
    assert!(found.text.contains("create does not get slower by more than"), "{found:?}");
}

#[test]
fn an_interval_of_growth_that_says_nothing_is_not_stated() {
    let mut growing = growing::directory();
    growing.run.complete = true;
    growing.measurements.retain(|m| m.cell.variant == "multiple");
    for m in &mut growing.measurements {
        let times = if m.cell.repeat % 2 == 0 { 1_000.0 } else { 0.001 };
        let half = m.windows.len() / 2;
        m.windows[half..].iter_mut().for_each(|window| window.mean_ns *= times);
    }
    let found = answer(&growing);
    assert_eq!(found.verdict, Verdict::CannotTell, "{found:?}");
    assert!(
        found.text.contains("times differ too much to see whether create gets slower"),
        "{found:?}"
    );
}

#[test]
fn a_layout_that_wins_at_small_chunks_is_named_with_its_size() {
    let mut chunks = growing::chunks();
    chunks.run.conclude = vec![Conclusion::Crossover];
    chunks.run.complete = true;
    let found = answer(&chunks);
    assert_eq!(found.verdict, Verdict::Yes, "{found:?}");
    assert!(found.text.contains("file-per-chunk is faster than shared"), "{found:?}");
}

#[test]
fn a_run_that_compares_nothing_is_answered_with_a_profile() {
    let mut book = fixture::book();
    book.measurements.retain(Measurement::valid);
    book.run.complete = true;
    book.run.scenario = "a-job-of-my-own".into();
    let found = answer(&book);
    assert!(found.text.starts_with("Create ") && found.text.contains("a second"), "{found:?}");
    book.run.scenario = "smallfiles".into();
    let found = answer(&book);
    assert_eq!(found.verdict, Verdict::CannotTell, "{found:?}");
    assert!(
        found.text.starts_with("One file system measured (ext4), so no ranking: "),
        "{found:?}"
    );
    let told = |found: &AnswerFinding| {
        found.evidence.iter().any(|line| line.contains(" on modelled disks: "))
    };
    assert!(told(&found), "{found:?}");
    assert!(found.next.unwrap().contains("--filesystem ext4,xfs,btrfs"));
    book.measurements.iter_mut().for_each(|m| m.cache.asked = CacheAsked::AsIs);
    assert!(!told(&answer(&book)), "caches decide more than disks do");
}

#[test]
fn a_profile_names_the_phases_that_always_failed() {
    let mut all = Vec::new();
    for repeat in 1..=5 {
        let mut create = measured("ext4", "create", None, repeat, 1.0);
        create.invalid = vec!["ENOSPC x 120".into()];
        all.extend([create, measured("ext4", "delete", None, repeat, 2.0)]);
    }
    let mut book = book(Conclusion::Ranking, "How fast?", all);
    book.run.conclude = Vec::new();
    let found = answer(&book);
    assert!(found.text.ends_with("; no valid measurement of create."), "{found:?}");
}

#[test]
fn what_was_cut_short_or_failed_cannot_be_told() {
    let mut book = clutter(0.5, Noise::Spread(2), 1);
    book.run.complete = false;
    book.run.finished = Some("2026-10-05T08:00:41Z".into());
    let found = answer(&book);
    assert_eq!((found.verdict, found.reliability), (Verdict::CannotTell, Reliability::Low));
    assert_eq!(found.text, "Cannot tell: the run was stopped before its end.");
    assert!(found.evidence[0].starts_with("So far: with 2,000,000 more files "), "{found:?}");
    book.run.complete = true;
    book.measurements.iter_mut().for_each(|m| m.invalid = vec!["ENOSPC x 120".into()]);
    let found = answer(&book);
    assert_eq!(found.text, "Cannot tell: no measurement is valid: ENOSPC x 120.");
}

#[test]
fn what_is_proven_of_one_repeat_or_a_busy_machine_is_only_likely() {
    let mut book = clutter(0.5, Noise::Spread(2), 1);
    let found = answer(&book);
    assert_eq!((found.verdict, found.reliability), (Verdict::Yes, Reliability::High));
    assert!(found.text.starts_with("Yes: with 2,000,000 more files write is "), "{found:?}");
    assert_eq!(found.next, None);
    book.measurements.iter_mut().step_by(3).for_each(|m| m.idle = Some(false));
    let found = answer(&book);
    assert_eq!((found.verdict, found.reliability), (Verdict::Likely, Reliability::Low));
    assert_eq!(found.reason, "20 of 60 measurements disturbed; in its favour: 10 repeats");
    assert!(found.text.starts_with("Likely yes: "), "{found:?}");
    assert!(found.next.unwrap().ends_with(" --repeats 20"));
}

#[test]
fn an_answer_that_lacks_slow_repeats_has_a_low_reliability() {
    let mut book = clutter(0.5, Noise::Spread(2), 1);
    book.measurements[7].invalid.push(format!("{REACHED_LIMIT} of 10 s after 8 operations"));
    let found = answer(&book);
    assert_eq!(found.reliability, Reliability::Low);
    assert_eq!(found.reason, "1 of 60 measurements reached the limit; in its favour: 9 repeats");
    book.measurements[7].invalid = vec!["EIO x 1".into()];
    let found = answer(&book);
    assert_eq!(found.reliability, Reliability::Medium);
    assert_eq!(found.reason, "1 of 60 measurements invalid; in its favour: 9 repeats");
}

#[test]
fn many_ranks_are_not_advised_what_only_one_process_can_do() {
    let mut book = filesystems(0.5, Noise::Spread(2), 1);
    for m in &mut book.measurements {
        (m.cache.asked, m.cache.reason) = (CacheAsked::Cold, Some(Doubt::ReadByOthers));
    }
    let next = |book: &Book| answer(book).next.unwrap();
    assert!(next(&book).ends_with(" --precision 3%"), "{}", next(&book));
    book.run.hosts = vec!["node0".into(), "node1".into()];
    let advised = next(&book);
    assert!(advised.starts_with("mpirun -n 2 boatload-mpi run "), "{advised}");
    assert!(advised.contains(" --repeats "), "{advised}");
}

#[test]
fn what_is_excluded_in_one_repeat_or_on_a_busy_machine_is_only_likely_excluded() {
    let disturbed = |mut book: Book| {
        book.measurements.iter_mut().step_by(3).for_each(|m| m.idle = Some(false));
        book
    };
    let quiet = clutter(0.0, Noise::Spread(2), 2);
    let found = answer(&quiet);
    assert_eq!((found.verdict, found.reliability), (Verdict::No, Reliability::High));
    assert!(found.text.starts_with("No: with up to 2,000,000 more files nothing is "), "{found:?}");
    let mut book = disturbed(quiet);
    let found = answer(&book);
    assert_eq!((found.verdict, found.reliability), (Verdict::LikelyNo, Reliability::Low));
    assert!(found.text.starts_with("Likely no: with up to 2,000,000 more files "), "{found:?}");
    book.run.question = "Which files slow down big sequential I/O?".into();
    let found = answer(&book);
    assert!(found.text.starts_with("Likely: with up to 2,000,000 more files "), "{found:?}");
    let found = answer(&disturbed(fullness(0.0, Noise::Spread(2), 2)));
    assert_eq!(found.verdict, Verdict::LikelyNo, "{found:?}");
    assert!(found.text.starts_with("Likely no general slowdown between 30% and "), "{found:?}");
}

#[test]
fn a_slowdown_at_a_level_in_the_middle_is_not_excluded_by_a_line_through_it() {
    let mut book = clutter(0.0, Noise::Spread(2), 2);
    for m in &mut book.measurements {
        let at = m.cell.level.as_ref().map_or(0.0, |level| level.value);
        m.seconds /= if m.phase == "write" && at == 1e6 { 0.75 } else { 1.0 };
    }
    let found = answer(&book);
    assert_eq!(found.verdict, Verdict::CannotTell, "{found:?}");
    let slower = found.text.split_once("write may be ").unwrap().1.split_once('%').unwrap().0;
    assert!((25..=35).contains(&slower.parse::<u32>().unwrap()), "{found:?}");
    assert_eq!(found.next, None, "no repeats decide it");
}

#[test]
fn an_order_is_no_yes_to_a_question_that_may_expect_the_other_one() {
    let mut book = filesystems(0.5, Noise::Spread(2), 2);
    book.run.question = "Does ext4 take longer than btrfs?".into();
    let found = answer(&book);
    assert_eq!(found.verdict, Verdict::Yes);
    assert!(
        found.text.starts_with("Over the whole job xfs and ext4 are the fastest: "),
        "{found:?}"
    );
}

#[test]
fn an_odd_run_is_answered_without_a_panic_and_without_nan() {
    use Conclusion::{Crossover, Growth, Knee, Ranking, Scaling, Slope, Source};
    for seed in 0..400 {
        let mut book = fixture::Odd::new(seed).book();
        let kinds = [Growth, Slope, Knee, Scaling, Crossover, Ranking, Source];
        book.run.conclude =
            kinds.get(seed as usize % 8).map(|kind| vec![*kind]).unwrap_or_default();
        let analysis = Analysis::of(&book);
        let Some(found) = analysis.answer() else {
            assert!(book.measurements.is_empty(), "{book:?}");
            continue;
        };
        is_well_said(found);
        assert!(!["NaN", "inf"].iter().any(|word| found.text.contains(word)), "{found:?}");
    }
}

/// The order of a whole job.
fn whole_job(order: Vec<String>, steps: Vec<RankingStep>) -> RankingFinding {
    RankingFinding {
        phase: None,
        order,
        steps,
        axis: None,
        unit: None,
        levels: Vec::new(),
        fastest: Vec::new(),
        left_out: Vec::new(),
        caches: Vec::new(),
        unwritten: false,
    }
}

#[test]
fn one_that_may_be_as_fast_as_the_first_is_not_said_to_be_slower() {
    let behind = |slower: &str, ratio: f64, low: f64, high: f64| {
        let interval = Some([low, high].into());
        let compared = ComparedRatio { ratio, interval, tie: low <= 1.0 };
        RankingStep {
            faster: "ext4".into(),
            slower: slower.into(),
            compared,
            behind_first: compared,
        }
    };
    let order = ["ext4", "xfs", "btrfs"].map(String::from).to_vec();
    let steps = vec![behind("xfs", 1.16, 1.06, 1.28), behind("btrfs", 1.50, 0.37, 6.0)];
    let whole = whole_job(order, steps);
    let found = ranking::ranking(&[&whole]).unwrap();
    assert_eq!(
        found.text,
        "over the whole job ext4 came first: xfs takes 1.16 times as long (1.06 to 1.28); btrfs 1.50 (0.37 to 6.00) \
         varies too much to be placed"
    );
    let at_levels = |levels: &[f64]| RankingFinding {
        phase: Some("write".into()),
        axis: Some("chunk-size".into()),
        unit: Some(Unit::Bytes),
        levels: levels.to_vec(),
        ..whole.clone()
    };
    let found = ranking::ranking(&[&at_levels(&[1024.0, 8192.0]), &at_levels(&[65536.0])]).unwrap();
    assert_eq!(
        found.text,
        "in write from 1 KiB to 8 KiB of chunk-size ext4 came first on average; at 64 KiB of chunk-size ext4 came first"
    );
    let found = ranking::ranking(&[&at_levels(&[1024.0, 8192.0])]).unwrap();
    assert!(
        found.text.starts_with(
            "in write on average from 1 KiB to 8 KiB of chunk-size, ext4 came first: xfs takes 1.16"
        ),
        "ratios of several levels are means: {found:?}"
    );
}

/// A ranking of two variants in a phase at a level, by how many times as long the second takes; 1 for a tie.
fn pair(order: [&str; 2], phase: &str, level: f64, ratio: f64) -> RankingFinding {
    let interval = Some([ratio * 0.9, ratio * 1.1].into());
    let compared = ComparedRatio { ratio, interval, tie: ratio == 1.0 };
    let [faster, slower] = order.map(String::from);
    RankingFinding {
        phase: Some(phase.into()),
        order: order.map(String::from).to_vec(),
        steps: vec![RankingStep { faster, slower, compared, behind_first: compared }],
        axis: Some("space-used".into()),
        unit: Some(Unit::Percent),
        levels: vec![level],
        fastest: Vec::new(),
        left_out: Vec::new(),
        caches: Vec::new(),
        unwritten: false,
    }
}

#[test]
fn a_variant_is_the_fastest_in_a_phase_only_where_it_is_at_every_level() {
    let [first, last] = [["ext4", "xfs"], ["xfs", "ext4"]];
    let mut all = vec![
        pair(first, "read", 30.0, 1.5),
        pair(last, "read", 90.0, 1.5),
        pair(first, "create", 30.0, 1.5),
        pair(first, "create", 90.0, 1.0),
    ];
    let text =
        |all: &[RankingFinding]| ranking::ranking(&all.iter().collect::<Vec<_>>()).unwrap().text;
    assert_eq!(
        text(&all),
        "in none of 2 phases is one variant proven the fastest at every level compared; in read at 30% full, ext4 is"
    );
    all.extend([pair(last, "delete", 30.0, 1.5), pair(last, "delete", 90.0, 1.3)]);
    assert_eq!(text(&all), "fastest at every level compared: xfs in delete");
    let no_room = LeftOutVariant { variant: "btrfs".into(), reason: "no valid measurement".into() };
    all[5].left_out.push(no_room);
    assert_eq!(text(&all), "fastest at every level compared: xfs in delete (without btrfs)");
    let whole = RankingFinding { phase: None, ..pair(first, "", 30.0, 1.5) };
    all.truncate(4);
    all.insert(0, whole);
    let found = ranking::ranking(&all.iter().collect::<Vec<_>>()).unwrap();
    assert_eq!(
        found.evidence,
        ["In no single phase is one variant proven the fastest at every level compared."]
    );
}

#[test]
fn a_variant_that_failed_is_named_beside_the_fastest() {
    let mut book = filesystems(0.5, Noise::Spread(2), 1);
    let failed = |m: &&mut Measurement| m.cell.variant == "xfs" && m.phase == "phase-0";
    book.measurements.iter_mut().filter(failed).for_each(fail);
    let found = answer(&book);
    assert_eq!(found.verdict, Verdict::Yes, "{found:?}");
    assert!(
        found.text.starts_with("Over the whole job (without xfs) ext4 is the fastest: btrfs "),
        "{found:?}"
    );
    assert_eq!(found.evidence[0], "Left out: xfs (phase-0 is invalid).");
}

fn fail(m: &mut Measurement) {
    m.invalid = vec!["ENOSPC x 3".into()];
}

fn is_at(m: &Measurement, value: f64) -> bool {
    m.cell.level.as_ref().is_some_and(|level| level.value == value)
}

#[test]
fn what_was_not_compared_is_excepted_where_nothing_takes_longer() {
    let quiet = || directory(0.0, Noise::Spread(2), 1);
    let nothing = "up to 1,000,000 files nothing takes more than 10% longer than with 1,000.";
    assert_eq!(answer(&quiet()).text, begun(nothing));
    let mut book = quiet();
    let stats = book.measurements.iter().filter(|m| m.phase == "stat-cold");
    let creates: Vec<Measurement> = stats
        .map(|m| Measurement {
            phase: "create".into(),
            seconds: if is_at(m, 1e6) { 10.0 * m.seconds } else { m.seconds },
            windows: fixture::windows(&[1_000; 9]),
            ..m.clone()
        })
        .collect();
    book.measurements.extend(creates);
    let found = answer(&book);
    assert_eq!((found.verdict, found.text), (Verdict::No, format!("Apart from create, {nothing}")));
    let mut book = quiet();
    let failed = |m: &&mut Measurement| m.phase == "list-cold" && is_at(m, 3e4);
    book.measurements.iter_mut().filter(failed).for_each(fail);
    assert_eq!(answer(&book).text, format!("Apart from list-cold, {nothing}"));
}

#[test]
fn of_variants_with_different_levels_the_lowest_of_their_highest_is_stated() {
    let mut book = directory(0.0, Noise::Spread(2), 1);
    let of = |variant: &str, m: &Measurement| {
        let cell = CellKey { variant: variant.into(), ..m.cell.clone() };
        Measurement { cell, ..m.clone() }
    };
    let all = book.measurements.iter();
    let mut all: Vec<_> =
        all.flat_map(|m| ["ext4", "xfs", "btrfs"].map(|name| of(name, m))).collect();
    all.retain(|m| m.cell.variant != "xfs" || !is_at(m, 1e6));
    all.iter_mut().filter(|m| m.cell.variant == "btrfs").for_each(fail);
    book.measurements = all;
    let found = answer(&book.ordered_as_measured());
    assert_eq!(
        found.text,
        "Apart from btrfs, up to 100,000 files nothing takes more than 10% longer than with 1,000."
    );
    assert!(found.evidence[1].starts_with("ext4: up to 1,000,000 files "), "{found:?}");
}

#[test]
fn a_task_without_a_slope_is_excepted_where_nothing_is_slower() {
    let failed = |mut book: Book, is_failed: fn(&Measurement) -> bool| {
        let failed = |m: &&mut Measurement| m.phase == "write" && is_failed(m);
        book.measurements.iter_mut().filter(failed).for_each(fail);
        answer(&book)
    };
    let flat = || clutter(0.0, Noise::Spread(2), 2);
    let without: [fn(&Measurement) -> bool; 3] =
        [|_| true, |m| is_at(m, 2e6) && m.cell.repeat > 1, |m| is_at(m, 2e6)];
    for is_failed in without {
        let found = failed(flat(), is_failed);
        let excepted = "o: apart from write, with up to 2,000,000 more files nothing is more than ";
        assert!(found.text.contains(excepted), "{found:?}");
    }
    let found = failed(flat(), |m| is_at(m, 2e6));
    let uncounted = "Not counted: write at 2,000,000 files (no valid measurement).";
    assert_eq!(found.evidence[0], uncounted, "{found:?}");
    assert!(found.evidence[1].starts_with("Write changes by "), "{found:?}");
    assert!(found.evidence[1].ends_with(" between 0 and 1,000,000 files."), "{found:?}");
    let found = failed(clutter(0.5, Noise::Spread(2), 1), |_| true);
    assert!(found.text.contains("es: with 2,000,000 more files read is "), "{found:?}");
    assert_eq!(found.evidence, ["Left out (no valid measurement): write."]);
}

#[test]
fn a_task_without_a_valid_measurement_is_excepted_where_nothing_gets_slower_from_a_level_on() {
    let mut book = fullness(0.0, Noise::Spread(2), 2);
    book.measurements.iter_mut().filter(|m| m.phase == "task-1").for_each(fail);
    let found = answer(&book);
    let excepted = ": 2 of 3 tasks on average take at most ";
    assert!(found.text.contains(excepted), "{found:?}");
    assert_eq!(found.evidence.last().unwrap(), "Left out (no valid measurement): task-1.");
}

#[test]
fn a_variant_without_a_pair_is_named_where_no_pair_differs() {
    let mut found = even_pair();
    found.levels.iter_mut().for_each(|level| level.interval = Some([0.99, 1.01].into()));
    let measured = ["a", "b", "c"].map(|variant| MeasuredTask::new(variant, "write"));
    let draft = crossover::crossover(&[&found], &measured).unwrap();
    assert!(draft.text.starts_with("no difference between b and a is larger than "), "{draft:?}");
    assert_eq!(draft.evidence, ["Left out: c."]);
}

const EVEN_LEVELS: [f64; 4] = [1024.0, 8192.0, 32768.0, 131072.0];

/// Two variants that are equally fast at four levels.
fn even_pair() -> CrossoverFinding {
    let level =
        |value| LevelWinner { value, ratio: 1.0, interval: Some([0.9, 1.1].into()), winner: None };
    CrossoverFinding {
        phase: "write".into(),
        axis: "chunk-size".into(),
        unit: Unit::Bytes,
        variants: ["b", "a"].map(String::from),
        at: None,
        interval: None,
        meetings: Vec::new(),
        levels: EVEN_LEVELS.map(level).to_vec(),
        uncompared: Vec::new(),
    }
}

#[test]
fn levels_in_the_middle_that_one_variant_wins_are_told_with_both_ends() {
    let mut found = even_pair();
    for level in &mut found.levels[1..3] {
        let (interval, winner) = (Some([1.8, 2.2].into()), Some("b".into()));
        *level = LevelWinner { ratio: 2.0, interval, winner, ..level.clone() };
    }
    let text = crossover::crossover(&[&found], &[]).unwrap().text;
    assert!(text.starts_with("from 8 KiB to 32 KiB b is faster than a: "), "{text}");
}

#[test]
fn a_phase_is_the_slowest_only_where_intervals_tell() {
    let rates = |second: f64| {
        let phases = [("create", 1.0), ("rewrite", 4.0), ("read", second)];
        let cells = (1..=5).flat_map(|repeat| phases.map(|phase| (repeat, phase)));
        let measured = cells.map(|(repeat, (phase, seconds))| {
            measured("default", phase, None, repeat, seconds * (1.0 + f64::from(repeat) / 100.0))
        });
        let mut book = book(Conclusion::Ranking, "How fast?", measured.collect());
        book.run.conclude = Vec::new();
        book
    };
    assert!(
        answer(&rates(3.0)).text.contains("rewrite is the slowest"),
        "{:?}",
        answer(&rates(3.0))
    );
    assert!(
        answer(&rates(3.99)).text.contains("rewrite came last, "),
        "{:?}",
        answer(&rates(3.99))
    );
}
