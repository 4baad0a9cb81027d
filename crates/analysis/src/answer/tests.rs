//! Answers about made-up runs whose truth is known, and about odd ones.

use std::fmt::Write as _;

use super::{AnswerFinding, Reliability, Verdict, WORDS_MAX};
use crate::Analysis;
use crate::effect_finding::{ComparedRatio, EffectFinding};
use crate::effects::decide::Decision;
use crate::finding::Finding;
use crate::findings::say;
use crate::statement::Part;
use boatload_base::errno::Errno;
use boatload_base::random::{Stream, draw, unit};
use boatload_base::units::Unit;
use boatload_plan::{CacheAsked, Conclusion};
use boatload_results::book::{Book, CellKey, Level, Measurement};
use boatload_results::fixture::{self, at_limit, failing, growing};
use boatload_results::operation::MeasuredOperation;
use boatload_run::cache::{CacheState, Doubt};

mod advised;
mod crossings;
mod needed;
mod orders;
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
        operation: MeasuredOperation::find("create"),
        pass: 1,
        operations: 1_000,
        seconds: Some(seconds),
        sync_seconds: Some(0.0),
        ..Measurement::default()
    }
}

#[track_caller]
fn answer(book: &Book) -> AnswerFinding {
    let analysis = Analysis::of(book);
    let answer = analysis.answer().unwrap().clone();
    is_well_said(&answer);
    is_not_contradicted(&answer, &analysis);
    is_made_of_its_effects(&answer, &analysis);
    answer
}

/// Whether effects that an answer is made of have what it asks about.
fn has_effect(kind: Conclusion, effects: &[&EffectFinding]) -> bool {
    let is_longer = |one: &&EffectFinding| one.headline.decision == Decision::Longer;
    let differs = |one: &&EffectFinding| one.headline.decision.is_difference();
    match kind {
        Conclusion::Levels => {
            let (of_device, others): (Vec<_>, Vec<_>) =
                effects.iter().copied().filter(is_longer).partition(|one| one.device_itself);
            let of_phase = others.iter().any(|one| one.phase.is_some());
            of_phase || of_device.is_empty() && !others.is_empty()
        }
        Conclusion::Growth => effects.iter().any(is_longer),
        _ => effects.iter().any(differs),
    }
}

/// The effects that an answer says that it is made of.
fn effects_of<'a>(answer: &AnswerFinding, analysis: &'a Analysis<'_>) -> Vec<&'a EffectFinding> {
    let at = |place: &usize| match &analysis.findings()[*place] {
        Finding::Effect(effect) => &**effect,
        other => panic!("{place} of {answer:?} is {other:?}"),
    };
    answer.effects.iter().map(at).collect()
}

/// A verdict says that there is an effect just where an effect below it does.
#[track_caller]
fn is_not_contradicted(answer: &AnswerFinding, analysis: &Analysis<'_>) {
    let effects = effects_of(answer, analysis);
    let run = &analysis.book.run;
    let Some(kind) = run.conclude.first().copied().filter(|_| run.complete) else { return };
    if effects.is_empty() {
        return;
    }
    let says_so = matches!(answer.verdict, Verdict::Yes | Verdict::Likely);
    // What does not count forbids a no, never a yes.
    assert_eq!(says_so, has_effect(kind, &effects), "{answer:?} {effects:#?}");
}

/// Each interval in the answer belongs to an effect that it is made of.
#[track_caller]
fn is_made_of_its_effects(answer: &AnswerFinding, analysis: &Analysis<'_>) {
    let effects = effects_of(answer, analysis);
    if effects.is_empty() {
        return;
    }
    let intervals = |one: &&EffectFinding| -> Vec<String> {
        let both = [one.headline(), one.headline().reversed()];
        both.iter().filter_map(|one: &ComparedRatio| one.interval).map(say::span).collect()
    };
    let known: Vec<String> = effects.iter().flat_map(intervals).collect();
    for part in answer.statement.parts() {
        let Part::Interval(stated) = part else { continue };
        assert!(known.contains(stated), "{stated:?} of {answer:#?}");
    }
}

#[track_caller]
fn is_well_said(answer: &AnswerFinding) {
    let text = answer.sentence();
    assert!(answer.fitted().words() <= WORDS_MAX + 20, "{answer:?}");
    assert!(text.ends_with('.') && !text.ends_with(".."), "{answer:?}");
    assert!(!text.contains("  ") && !text.contains(" ,") && !text.contains(" ."), "{answer:?}");
    assert!(!answer.reason.is_empty(), "{answer:?}");
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
    book(Conclusion::Levels, "Do many small files slow down big sequential I/O?", all)
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
    book(Conclusion::Levels, question, all)
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
    book(Conclusion::Levels, "Up to how many files is a directory fast?", all)
}

/// A negative answer says that it is less than this.
const MARGIN: f64 = 0.10;

/// Whether an answer states an effect that is not there, or excludes the one that is.
fn is_wrong(answer: &AnswerFinding, effect: f64) -> bool {
    match answer.verdict {
        Verdict::Yes | Verdict::Likely => {
            effect == 0.0 || answer.sentence().contains("btrfs is the fastest: ")
        }
        Verdict::No | Verdict::LikelyNo => effect > MARGIN,
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
    assert!(tallies.iter().all(|(.., [wrong, _])| *wrong <= WRONG_MAX), "{table}");
    let told = |at: usize| draws - tallies[at].2[1];
    // Nothing and half as much again, with hardly any noise, are told nearly always.
    for at in [0, tallies.len() - NOISES.len()] {
        assert!(told(at) * 10 >= draws * 9, "{table}");
    }
}

#[test]
fn of_twenty_answers_about_orders_at_most_one_is_wrong() {
    holds("an order of variants", filesystems, DRAWS);
}

#[test]
fn of_twenty_answers_about_few_levels_at_most_one_is_wrong() {
    holds("three levels", clutter, DRAWS);
}

#[test]
fn of_twenty_answers_about_five_levels_at_most_one_is_wrong() {
    holds("five levels", directory, DRAWS);
}

#[test]
fn of_twenty_answers_about_many_levels_at_most_one_is_wrong() {
    holds("twelve levels", fullness, DRAWS);
}

#[test]
fn layouts_that_get_slower_are_told_from_those_that_do_not() {
    let mut growing = growing::directory();
    growing.run.complete = true;
    let found = answer(&growing);
    assert_eq!(found.verdict, Verdict::Yes, "{found:?}");
    let named: Vec<&Part> = found.statement.parts().collect();
    for layout in ["striped", "single"] {
        assert!(named.contains(&&Part::Variant(layout.into())), "{found:?}");
    }
    growing.measurements.retain(|m| m.cell.variant == "multiple");
    let found = answer(&growing);
    assert_eq!(found.verdict, Verdict::No, "{found:?}");
    let text =
        ": at the end of create nothing takes more than 10% longer than near its beginning. ";
    assert!(
        found.sentence().starts_with("Fast up to ") && found.sentence().contains(text),
        "{found:?}"
    );
}

#[test]
fn a_layout_that_wins_at_small_chunks_is_named_with_its_size() {
    let mut chunks = growing::chunks();
    chunks.run.conclude = vec![Conclusion::Crossing];
    chunks.run.complete = true;
    let found = answer(&chunks);
    assert_eq!(found.verdict, Verdict::Yes, "{found:?}");
    assert!(found.sentence().contains("file-per-chunk is faster than shared"), "{found:?}");
}

#[test]
fn a_run_that_compares_nothing_is_answered_with_a_profile() {
    let mut book = fixture::book();
    book.measurements.retain(Measurement::valid);
    book.run.complete = true;
    book.run.scenario = "a-job-of-my-own".into();
    let found = answer(&book);
    assert!(found.sentence().starts_with("create at "), "{found:?}");
    assert_eq!(Analysis::of(&book).question(), book.run.question);
    book.run.scenario = "smallfiles".into();
    let found = answer(&book);
    assert_eq!(found.verdict, Verdict::CannotTell, "{found:?}");
    assert!(found.next.unwrap().contains("--filesystem ext4,xfs,btrfs   # which "));
    let question = "How fast is this directory for small files?";
    assert_eq!(Analysis::of(&book).question(), question);
}

/// A run of `smallfiles` in a directory, whose cold reads have these rates.
fn small_files(sequential: f64, random: f64) -> Book {
    let mut all = Vec::new();
    for repeat in 1..=5 {
        let rates =
            [("create", 20_000.0), ("read-sequential", sequential), ("read-random", random)];
        for (nth, (phase, rate)) in rates.into_iter().enumerate() {
            let noise = Noise::Spread(1).of(3, repeat, nth as u64);
            let mut m = measured("default", phase, None, repeat, 1_000.0 / rate * noise);
            if phase != "create" {
                m.operation = MeasuredOperation::find("read");
            }
            (m.cache.asked, m.cache.found) = (CacheAsked::Cold, CacheState::ColdVerified);
            all.push(m);
        }
    }
    let mut book = book(Conclusion::Ranking, "Which file system is best?", all);
    book.run.conclude = Vec::new();
    book.run.scenario = "smallfiles".into();
    book
}

#[test]
fn a_directory_is_told_what_kind_of_disk_its_cold_reads_are_like() {
    let begins = |book: &Book, text: &str| {
        let found = answer(book);
        assert!(found.sentence().starts_with(text), "{found:?}");
    };
    begins(&small_files(2_000.0, 168.0), "Like a hard disk of 7,200 rpm: cold reads at 16");
    begins(&small_files(4_000_000.0, 3_000_000.0), "Faster than every modelled disk");
    begins(&small_files(20.0, 3.0), "Slower than every modelled disk");
    begins(&small_files(600.0, 320.0), "Faster than a hard disk of 5,400 rpm, slower than ");
    let mut warm = small_files(2_000.0, 168.0);
    warm.measurements.iter_mut().for_each(|m| m.cache.found = CacheState::Warm);
    begins(&warm, "create at ");
}

#[test]
fn a_profile_says_how_well_its_rates_are_known() {
    let mut book = small_files(2_000.0, 168.0);
    for m in book.measurements.iter_mut().filter(|m| m.phase == "create") {
        let times = if m.cell.repeat % 2 == 0 { 1.8 } else { 0.7 };
        m.seconds = m.seconds.map(|all| all * times);
    }
    let found = answer(&book);
    assert!(found.statement.to_string().contains("create is known only within "), "{found:?}");
    book.measurements.retain(|m| m.cell.repeat == 1);
    let found = answer(&book);
    assert!(found.sentence().contains("create at about "), "measured once: {found:?}");
}

#[test]
fn what_was_cut_short_or_failed_is_no_answer() {
    let mut book = clutter(0.5, Noise::Spread(2), 1);
    book.run.complete = false;
    book.run.finished = Some("2026-10-05T08:00:41Z".into());
    let found = answer(&book);
    assert_eq!((found.verdict, found.reliability), (Verdict::CannotTell, Reliability::Low));
    let text = "The run was stopped before its end. Until then: likely: read takes 2.";
    assert!(found.sentence().starts_with(text), "{found:?}");
    book.run.complete = true;
    book.measurements.iter_mut().for_each(|m| m.invalid = vec![failing(Errno::ENOSPC, 120)]);
    let found = answer(&book);
    let text = "All 2 phases are missing: ENOSPC (no space left on device) in ";
    assert!(found.sentence().starts_with(text), "{found:?}");
}

#[test]
fn what_is_proven_of_one_repeat_or_a_busy_machine_is_only_likely() {
    let mut book = clutter(0.5, Noise::Spread(2), 1);
    let found = answer(&book);
    assert_eq!((found.verdict, found.reliability), (Verdict::Yes, Reliability::High));
    assert!(found.sentence().starts_with("read takes 2."), "{found:?}");
    assert!(found.sentence().contains(" The other takes longer too: write "), "{found:?}");
    assert_eq!(found.next, None);
    book.measurements.iter_mut().step_by(3).for_each(|m| m.idle = Some(false));
    let found = answer(&book);
    assert_eq!((found.verdict, found.reliability), (Verdict::Likely, Reliability::Low));
    assert_eq!(found.reason, "20 of 60 measurements disturbed by other load");
    assert!(found.sentence().starts_with("Likely: read takes 2."), "{found:?}");
    assert!(found.next.unwrap().contains(" --repeats 20   # best while nothing else runs"));
}

#[test]
fn an_answer_that_lacks_slow_repeats_has_a_low_reliability() {
    let mut book = clutter(0.5, Noise::Spread(2), 1);
    book.measurements[7].invalid.push(at_limit());
    let found = answer(&book);
    assert_eq!(found.reliability, Reliability::Low);
    assert!(found.sentence().contains(": reached its limit in "), "{found:?}");
}

#[test]
fn a_quota_that_runs_out_stands_in_the_first_sentence() {
    let mut book = filesystems(0.5, Noise::Spread(2), 1);
    let is_after = |m: &&mut Measurement| m.cell.repeat >= 3 && m.phase == "phase-0";
    let failed = |m: &mut Measurement| m.invalid = vec![failing(Errno::EDQUOT, 3)];
    book.measurements.iter_mut().filter(is_after).for_each(failed);
    let found = answer(&book);
    let lead = "phase-0 lacks repeats: EDQUOT (disk quota exceeded) in phase-0 (";
    assert!(found.sentence().starts_with(lead), "{found:?}");
    assert!(found.sentence().contains(") from the 3rd repeat on. "), "{found:?}");
    book.measurements.iter_mut().filter(|m| m.phase != "phase-2").for_each(failed);
    let found = answer(&book);
    let lead = "2 of 3 phases are missing: EDQUOT (disk quota exceeded) in phase-";
    assert!(found.sentence().starts_with(lead), "{found:?}");
}

#[test]
fn a_step_over_the_repeats_is_told_with_its_repeat_and_its_size() {
    let mut book = filesystems(0.5, Noise::Spread(1), 1);
    let more: Vec<Measurement> = book
        .measurements
        .clone()
        .into_iter()
        .map(|m| Measurement {
            cell: CellKey { repeat: m.cell.repeat + 5, ..m.cell.clone() },
            seconds: m.seconds.map(|seconds| 3.0 * seconds),
            ..m
        })
        .collect();
    book.measurements.extend(more);
    let text = answer(&book).sentence();
    assert!(text.contains(" From repeat 6 on all phases take 3.0"), "{text}");
    assert!(text.contains(" times as long as before: the machine or the disk changed"), "{text}");
}

#[test]
fn a_slowdown_at_a_level_in_the_middle_is_told_by_the_levels_and_not_in_the_answer() {
    let mut book = clutter(0.0, Noise::Spread(2), 2);
    for m in &mut book.measurements {
        let at = m.cell.level.as_ref().map_or(0.0, |level| level.value);
        m.seconds =
            m.seconds.map(|all| all / (if m.phase == "write" && at == 1e6 { 0.75 } else { 1.0 }));
    }
    assert_eq!(answer(&book).verdict, Verdict::No);
    let analysis = Analysis::of(&book);
    let written = analysis.effects().find(|one| one.phase.as_deref() == Some("write")).unwrap();
    assert!((written.steps[0].ratio - 1.33).abs() < 0.05, "{written:?}");
}

#[test]
fn an_odd_run_is_answered_without_a_panic_and_without_nan() {
    for seed in 0..400 {
        let mut book = fixture::Odd::new(seed).book();
        let kinds = Conclusion::ALL;
        let kind = kinds.get(seed as usize % (kinds.len() + 1));
        book.run.conclude = kind.map(|kind| vec![*kind]).unwrap_or_default();
        let analysis = Analysis::of(&book);
        let _ = analysis.answer_table();
        let Some(found) = analysis.answer() else {
            assert!(book.measurements.is_empty(), "{book:?}");
            continue;
        };
        let text = found.sentence();
        assert!(text.ends_with(['.', '!', '?']) && !found.reason.is_empty(), "{found:?}");
        assert!(!["NaN", "inf "].iter().any(|word| text.contains(word)), "{found:?}");
    }
}

#[test]
fn a_variant_that_failed_is_named_beside_the_fastest() {
    let mut book = filesystems(0.5, Noise::Spread(2), 1);
    let failed = |m: &&mut Measurement| m.cell.variant == "xfs" && m.phase == "phase-0";
    book.measurements.iter_mut().filter(failed).for_each(fail);
    let found = answer(&book);
    assert_eq!(found.verdict, Verdict::Yes, "{found:?}");
    let text = found.sentence();
    let lead = "phase-0 is missing in part: ENOSPC (no space left on device) in phase-0 (xfs). ";
    assert!(text.starts_with(lead), "{found:?}");
    assert!(text.contains("ext4 is the fastest. The whole job (without xfs) takes "), "{text}");
}

fn fail(m: &mut Measurement) {
    m.invalid = vec![failing(Errno::ENOSPC, 3)];
}

fn is_at(m: &Measurement, value: f64) -> bool {
    m.cell.level.as_ref().is_some_and(|level| level.value == value)
}

#[test]
fn what_is_missing_is_never_said_to_take_no_longer() {
    let found = answer(&directory(0.0, Noise::Spread(2), 1));
    assert_eq!(found.verdict, Verdict::No);
    let nothing = "Fast up to 1,000,000 files: nothing takes more than 10% longer at 1,000,000 files than at 1,000: ";
    assert!(found.sentence().starts_with(nothing), "{found:?}");
    let found = answer(&directory(0.5, Noise::Spread(2), 1));
    let slower = "Fast up to 30,000 files, slower from 100,000 on: ";
    assert!(found.sentence().starts_with(slower), "{found:?}");
    for is_lost in [|_: &Measurement| true, |m: &Measurement| is_at(m, 1e6)] {
        let mut book = directory(0.0, Noise::Spread(2), 1);
        let lost = |m: &&mut Measurement| m.phase == "list-cold" && is_lost(m);
        book.measurements.iter_mut().filter(lost).for_each(fail);
        let found = answer(&book);
        assert_eq!((found.verdict, &found.next), (Verdict::CannotTell, &None), "{found:?}");
        assert!(found.sentence().starts_with("list-cold is missing"), "{found:?}");
        for part in [" Of the others: ", "nothing takes more than 10% longer "] {
            assert!(found.sentence().contains(part), "{found:?}");
        }
    }
}

#[test]
fn a_phase_without_a_valid_measurement_is_named_beside_one_that_takes_longer() {
    let mut book = fullness(0.5, Noise::Spread(2), 2);
    book.measurements.iter_mut().filter(|m| m.phase == "task-1").for_each(fail);
    let found = answer(&book);
    assert_eq!(found.verdict, Verdict::Yes);
    assert!(found.sentence().starts_with("task-1 is missing: ENOSPC "), "{found:?}");
    assert!(found.sentence().contains(" in task-1 at 30% full. task-0 takes 1.5"), "{found:?}");
}
