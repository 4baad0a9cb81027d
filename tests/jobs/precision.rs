//! Runs that are asked for a precision, on a simulated file system whose passes and repeats differ by
//! what is known: repetition goes where the variance is, and what was not reached is told.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test says so when it cannot go on"
)]

use crate::library;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use boatload::analysis::Analysis;
use boatload::analysis::finding::Finding;
use boatload::analysis::repetition::variance_components;
use boatload::plan::{Effort, Settings};
use boatload::results::book::{Book, Measurement};
use boatload::run::drive::DoneCount;
use boatload::run::interrupt::Interrupt;
use boatload::session::{PhaseContext, Watcher};

use library::{Nobody, Place, code_of, findings_of, job, plan_with};

/// Files that are made, looked at cold, and removed.
fn made_and_read(keys: &str, sim: &str) -> String {
    let phases = [
        "operation = 'create'",
        "operation = 'read', cache = 'cold', order = 'random', count = 20",
        "operation = 'delete'",
    ];
    let sim = format!("metadata = '10us', transfer = '20us', cold = '1ms', {sim}");
    job(&format!("engine = 'sim'\n{keys}"), "files = 40, size = 1000", &phases, &sim)
}

fn asked(percent: f64, seconds: f64) -> Settings {
    let effort = Effort { precision: percent / 100.0, time_limit_seconds: seconds };
    Settings { effort: Some(effort), ..Settings::default() }
}

/// What a run told, in lines, and where its phases stood.
#[derive(Default)]
struct Listener {
    told: Mutex<Vec<String>>,
    places: Mutex<Vec<(usize, u32)>>,
}

impl Watcher for Listener {
    fn notice(&self, text: &str) {
        self.told.lock().unwrap().push(text.into());
    }
    fn phase_begins(&self, standing: &PhaseContext<'_>, _: Arc<[DoneCount]>) {
        let PhaseContext { cell, repeats, key, .. } = *standing;
        assert!(key.repeat <= repeats, "repeat {} of {repeats}", key.repeat);
        self.places.lock().unwrap().push((cell, key.repeat));
    }
}

/// What was told, and what came of it.
fn ran(text: &str, settings: &Settings) -> (Book, Vec<String>) {
    let listener = Listener::default();
    let plan = plan_with(text, settings);
    let book = Place::default().run(&plan, &listener, &Interrupt::default());
    assert!(book.run.complete);
    let places = listener.places.into_inner().unwrap();
    assert!(places.is_sorted_by_key(|(cell, ..)| *cell), "cells are counted up: {places:?}");
    (book, listener.told.into_inner().unwrap())
}

/// Passes of a phase in each repeat.
fn passes(book: &Book, phase: &str) -> Vec<u32> {
    let mut most: BTreeMap<u32, u32> = BTreeMap::new();
    for m in book.measurements.iter().filter(|m| m.phase == phase) {
        *most.entry(m.cell.repeat).or_default() += 1;
    }
    most.into_values().collect()
}

/// The largest half width of any rate, as a share.
fn half_width(book: &Book) -> f64 {
    let analysis = Analysis::of(book);
    let summary = analysis.summary();
    summary.rows().map(|row| row.rate.unwrap().relative().unwrap()).fold(0.0, f64::max)
}

fn warned(book: &Book) -> Option<String> {
    let imprecise = |f: &&Finding| code_of(f).as_deref() == Some("precision-not-reached");
    findings_of(book).iter().find(imprecise).map(Finding::sentence)
}

#[test]
fn a_run_that_is_steady_ends_with_its_pilot() {
    let (book, told) = ran(&made_and_read("", "spread = { repeats = '0.1%' }"), &asked(3.0, 60.0));
    assert_eq!(passes(&book, "create"), [1; 3]);
    assert_eq!(passes(&book, "read"), [2; 3], "two, so that passes and repeats are told apart");
    assert_eq!(passes(&book, "delete"), [1; 3]);
    assert_eq!((told.len(), book.run.repeats), (1, 3));
    assert!(told[0].starts_with("pilot: 3 repeats in ") && told[0].ends_with("3% is reached"));
    assert_eq!(warned(&book), None);
}

#[test]
fn repeats_are_made_where_repeats_differ_until_all_is_as_sure_as_was_asked() {
    let seed_2 = Settings { seed: Some(2), ..asked(3.0, 600.0) };
    let (book, told) = ran(&made_and_read("", "spread = { repeats = '6%' }"), &seed_2);
    let read = passes(&book, "read");
    assert!(read.len() > 8, "{told:#?}");
    assert!(read[3..].iter().all(|passes| *passes == 1), "{read:?}");
    assert!(half_width(&book) <= 0.03);
    assert_eq!(book.run.repeats as usize, read.len());
    assert_eq!((warned(&book), book.run.precision), (None, Some(0.03)));
    assert!(told[0].contains("3% takes ") && told[0].contains(" more"), "{told:?}");
}

#[test]
fn passes_are_made_where_passes_differ() {
    // A repeat takes five seconds beside its passes: an empty phase with a sync.
    let axis = "axis = { name = 'present', values = [100], prepare = { fill = { sizes = 100 } } }";
    let phases = [
        "operation = 'create', count = 0, durability = 'syncfs'",
        "operation = 'stat', on = 'ballast', cache = 'cold'",
    ];
    let text = |spread: &str| {
        let sim = format!("metadata = '10us', cold = '1ms', sync = '5s', spread = {{ {spread} }}");
        job(&format!("engine = 'sim'\n{axis}"), "files = 1", &phases, &sim)
    };
    let (book, told) = ran(&text("passes = '8%'"), &asked(3.0, 6_000.0));
    let stat = passes(&book, "stat");
    assert!(stat.len() < 12 && stat.iter().any(|passes| *passes > 5), "{stat:?}, {told:#?}");
    assert!(told[0].contains(" passes of stat: "), "{told:?}");
    let found = &variance_components(book.measurements.iter())[0];
    let (passes_vary, repeats_vary) = (found.passes.unwrap(), found.repeats.unwrap());
    assert!(passes_vary.sqrt() > 0.06 && passes_vary > 4.0 * repeats_vary, "{found:?}");
    assert_eq!(warned(&book), None);
}

#[test]
fn a_time_limit_that_is_too_short_says_what_was_reached_and_what_it_would_take() {
    let text = made_and_read("", "spread = { repeats = '6%' }");
    let (book, told) = ran(&text, &asked(0.5, 1.0));
    let seconds: f64 = book.measurements.iter().map(|m| m.seconds + m.sync_seconds).sum();
    assert!(seconds <= 1.0 && seconds > 0.9, "{seconds} s of one second");
    let said = warned(&book).unwrap();
    for part in ["0.5%", "create (±", "read (±", "delete (±", "It would take about "] {
        assert!(said.contains(part), "no {part} in {said}");
    }
    assert!(told.last().unwrap().contains("the time does not allow: no more are made"), "{told:?}");
}

#[test]
fn a_pilot_is_finished_however_little_time_there_is() {
    let text = made_and_read("", "sync = '20s', spread = { repeats = '6%' }")
        .replace("'create'", "'create', durability = 'syncfs'");
    let (book, told) = ran(&text, &asked(1.0, 2.0));
    assert_eq!(passes(&book, "create").len(), 3);
    assert!(told[0].contains("longer than the 2 s that were given"), "{told:?}");
    assert!(warned(&book).is_some());
}

#[test]
fn the_seed_decides_how_often_everything_is_done() {
    let variants = "variant = [{ name = 'a' }, { name = 'b' }, { name = 'c' }]";
    let text =
        made_and_read(variants, "noise = 'uniform', spread = { passes = '4%', repeats = '3%' }");
    let of = |seed| {
        let settings = Settings { seed: Some(seed), ..asked(4.0, 60.0) };
        let (book, told) = ran(&text, &settings);
        let all = book.measurements.into_iter();
        let all: Vec<_> = all.map(|m| (m.cell, m.phase, m.pass, m.seconds.to_bits())).collect();
        (all, told)
    };
    let (first, again, other) = (of(1), of(1), of(2));
    assert!(first == again, "{:?} and {:?}", first.1, again.1);
    assert!(first != other);
}

#[test]
fn the_order_of_a_repeat_does_not_depend_on_how_many_follow() {
    let variants = "variant = [{ name = 'a' }, { name = 'b' }, { name = 'c' }]";
    let text = made_and_read(variants, "spread = { repeats = '4%' }");
    let order = |book: &Book, repeats: u32| -> Vec<(u32, String)> {
        let first = |m: &&Measurement| m.phase == "create" && m.cell.repeat <= repeats;
        let first = book.measurements.iter().filter(first);
        first.map(|m| (m.cell.repeat, m.cell.variant.clone())).collect()
    };
    let (short, _) = ran(&text, &asked(5.0, 60.0));
    let (long, _) = ran(&text, &asked(2.0, 600.0));
    let plain = plan_with(&text, &Settings { repeats: Some(4), ..Settings::default() });
    let plain = Place::default().run(&plain, &Nobody, &Interrupt::default());
    assert!(long.run.repeats > short.run.repeats && short.run.repeats >= 4);
    assert_eq!(order(&short, 4), order(&long, 4));
    assert_eq!(order(&short, 4), order(&plain, 4));
}

const PREPARED: &str =
    "axis = { name = 'present', values = [0, 100], prepare = { fill = { sizes = 100 } } }";

#[test]
fn levels_of_places_that_are_restored_are_repeated_together_until_all_are_sure() {
    let text = made_and_read(PREPARED, "spread = { repeats = '4%' }");
    let (book, told) = ran(&text, &asked(3.0, 600.0));
    let level = |m: &Measurement| m.cell.level.as_ref().unwrap().value;
    let levels: Vec<f64> = book.measurements.iter().map(level).collect();
    assert!(!levels.is_sorted(), "{levels:?}");
    assert!(book.measurements.is_sorted_by_key(|m| m.cell.repeat));
    assert_eq!(told.iter().filter(|text| text.starts_with("pilot: ")).count(), 1);
    assert!(half_width(&book) <= 0.03);
}

#[test]
fn levels_that_cannot_be_restored_are_each_measured_until_they_are_sure() {
    let phases = ["operation = 'create'", "operation = 'delete'"];
    let text = job(PREPARED, "files = 40, size = 1000", &phases, "");
    let (book, told) = ran(&text, &asked(50.0, 60.0));
    let level = |m: &Measurement| m.cell.level.as_ref().unwrap().value;
    let levels: Vec<f64> = book.measurements.iter().map(level).collect();
    assert!(levels.is_sorted(), "what is prepared is never taken back: {levels:?}");
    assert_eq!(told.iter().filter(|text| text.starts_with("pilot: ")).count(), 2);
}

#[test]
fn a_job_that_says_how_often_a_phase_is_done_is_done_so_often() {
    let text = made_and_read("", "spread = { passes = '5%' }")
        .replace("count = 20", "count = 20, passes = 3");
    let (book, _) = ran(&text, &asked(4.0, 60.0));
    assert!(passes(&book, "read").iter().all(|passes| *passes == 3));
}

#[test]
fn phases_that_change_files_or_take_the_caches_as_they_are_have_one_pass() {
    let phases = [
        "operation = 'create'",
        "operation = 'read', name = 'as-left'",
        "operation = 'overwrite', cache = 'cold'",
        "operation = 'stat', cache = 'warm'",
    ];
    let text = job("engine = 'sim'", "files = 40", &phases, "metadata = '10us'");
    let (book, _) = ran(&text, &asked(4.0, 60.0));
    let all = ["create", "as-left", "overwrite", "stat"].map(|phase| passes(&book, phase)[0]);
    assert_eq!(all, [1, 1, 1, 2]);
}

#[test]
fn without_a_precision_nothing_is_told_or_different() {
    let text = made_and_read("", "spread = { repeats = '6%' }");
    let settings = Settings { repeats: Some(2), ..Settings::default() };
    let (book, told) = ran(&text, &settings);
    assert_eq!((told.len(), book.run.repeats, book.run.precision), (0, 2, None));
    assert_eq!(passes(&book, "read"), [1, 1]);
    assert_eq!(warned(&book), None);
}

#[test]
fn passes_read_the_same_where_the_job_says_how_many_or_asks_where_bytes_come_from() {
    let several = made_and_read("", "").replace("count = 20", "count = 20, passes = 2");
    let source = made_and_read("conclude = ['source']", "");
    for (text, settings) in [(several, Settings::default()), (source, asked(3.0, 60.0))] {
        let plan = plan_with(&text, &settings);
        let of = |at: usize| plan.cells[0].phases[at].selection.numbers().collect::<Vec<_>>();
        assert_eq!((plan.cells[0].phases[2].pass, of(1)), (2, of(2)), "{text}");
    }
}

#[test]
fn what_passes_of_the_same_order_read_is_not_the_same_files_in_the_same_order() {
    let plan = plan_with(&made_and_read("", ""), &asked(3.0, 60.0));
    let of = |at: usize| plan.cells[0].phases[at].selection.numbers().collect::<Vec<_>>();
    assert_eq!(plan.cells[0].phases.len(), 4);
    assert!(of(1) != of(2), "a random order of its own");
    let again = plan.with_passes(&plan.free);
    assert_eq!(again.cells[0].phases.len(), 4, "choosing the same again changes nothing");
    assert!(again.cells[0].phases[2].selection == plan.cells[0].phases[2].selection);
}

/// Two variants of which one takes so many times as long for everything, with noise in every request: a phase of five
/// operations varies by half, one of 2,000 hardly.
fn ranked(times: f64, sim: &str) -> String {
    let variant = |name: &str, us: f64| {
        format!(
            "{{ name = '{name}', sim = {{ metadata = '{us}us', cold = '{}us', {sim} }} }}",
            us * 10.0
        )
    };
    let variants = format!("variant = [{}, {}]", variant("a", 20.0), variant("b", 20.0 * times));
    let phases =
        ["operation = 'create'", "operation = 'stat', cache = 'cold', order = 'random', count = 5"];
    job(
        &format!("engine = 'sim'\nconclude = ['ranking']\n{variants}"),
        "files = 2_000",
        &phases,
        "metadata = '20us'",
    )
}

/// The half width of each figure of the answer, as a share.
fn figures_within(book: &Book) -> Vec<f64> {
    let analysis = Analysis::of(book);
    let figures = &analysis.answer().unwrap().figures;
    let reach = |figure: &boatload::analysis::answer::figures::AnswerFigure| {
        let interval = figure.interval.unwrap();
        interval.width() / 2.0 / figure.value
    };
    figures.iter().map(reach).collect()
}

#[test]
fn a_ranking_is_repeated_until_its_ratio_is_precise_however_noisy_a_short_phase_is() {
    for (times, seed) in [(1.25, 1), (1.0, 2), (3.0, 3)] {
        let text = ranked(times, "noise = 'skewed', spread = { repeats = '3%' }");
        let settings = Settings { seed: Some(seed), ..asked(5.0, 6_000.0) };
        let (book, told) = ran(&text, &settings);
        let reach = figures_within(&book);
        assert_eq!(reach.len(), 1, "one ratio decides");
        assert!(reach[0] <= 0.0501, "{reach:?}");
        let analysis = Analysis::of(&book);
        let figure = &analysis.answer().unwrap().figures[0];
        let off = figure.value.max(1.0 / figure.value) / times;
        assert!((0.9..1.1).contains(&off), "{figure:?}");
        let measurements = book.measurements.len();
        assert!((3..=24).contains(&book.run.repeats), "{} repeats: {told:?}", book.run.repeats);
        assert!(half_width(&book) > 0.10, "no rate of stat is as precise");
        assert_eq!((warned(&book), analysis.precision_reached()), (None, Some(0.05)));
        // The same for rates, as a profile has them, takes many times as long.
        let rates = text.replace("conclude = ['ranking']", "conclude = []");
        let (book, _) = ran(&rates, &settings);
        let of_rates = book.measurements.len();
        assert!(
            half_width(&book) <= 0.05 && of_rates > 4 * measurements,
            "{of_rates}, {measurements}"
        );
    }
}

#[test]
fn passes_go_to_the_phases_that_decide_the_answer() {
    // A repeat takes 20 seconds of sync, which do not vary, and a cold pass five, which do.
    let variants = "conclude = ['ranking']\nvariant = [{ name = 'a' }, { name = 'b' }]";
    let phases = [
        "operation = 'create', durability = 'syncfs'",
        "operation = 'stat', cache = 'cold', order = 'random', count = 50",
    ];
    let sim = "metadata = '1us', cold = '100ms', sync = '20s', noise = 'skewed'";
    let text = job(&format!("engine = 'sim'\n{variants}"), "files = 2_000", &phases, sim);
    let (book, told) = ran(&text, &asked(2.0, 60_000.0));
    let of_both = passes(&book, "stat");
    assert!(of_both[3..].iter().all(|passes| *passes > 4), "{of_both:?} {told:#?}");
    assert!(book.run.repeats < 25, "{told:#?}");
    assert!(figures_within(&book)[0] <= 0.0201, "{told:#?}");
}

#[test]
fn a_slope_over_levels_is_repeated_until_its_change_is_precise() {
    let axis = "conclude = ['slope']\n\
                axis = { name = 'present', values = [0, 200, 400], prepare = { fill = { sizes = 100 } } }";
    let phases = ["operation = 'create'", "operation = 'delete', count = 3"];
    let sim = "metadata = '10us', spread = { repeats = '5%' }, noise = 'uniform'";
    let text = job(&format!("engine = 'sim'\n{axis}"), "files = 500, size = 100", &phases, sim);
    let (book, told) = ran(&text, &asked(10.0, 6_000.0));
    let analysis = Analysis::of(&book);
    let answer = analysis.answer().unwrap();
    assert_eq!(answer.figures.len(), 2, "{answer:?}");
    for figure in &answer.figures {
        let interval = figure.interval.unwrap();
        assert!(interval.width() / 2.0 <= 0.10, "{figure:?} {told:?}");
        assert!(interval.contains(0.0), "nothing gets slower: {figure:?}");
    }
    assert_eq!(warned(&book), None);
}

#[test]
fn a_knee_that_is_not_there_is_excluded_as_far_as_was_asked() {
    let axis = "conclude = ['knee']\naxis = { name = 'used', values = [10, 20, 30, 40, 50, 60], \
                prepare = { fill = { sizes = 100 } } }";
    let sim = "metadata = '10us', spread = { repeats = '5%' }";
    let text = job(
        &format!("engine = 'sim'\n{axis}"),
        "files = 100",
        &["operation = 'create'", "operation = 'delete'"],
        sim,
    );
    let (book, told) = ran(&text, &asked(6.0, 6_000.0));
    let analysis = Analysis::of(&book);
    let [figure] = analysis.answer().unwrap().figures.as_slice() else { panic!("{told:?}") };
    assert!(figures_within(&book)[0] <= 0.0601, "{figure:?}");
    assert!(figure.name.starts_with("time of all 2 tasks on average from "), "{figure:?}");
}
