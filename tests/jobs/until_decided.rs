//! Runs that repeat until their answer is decided, mostly on a simulated file system: they look at it after fixed numbers
//! of repeats, and end in time.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test panics when it cannot continue"
)]

use std::sync::Mutex;

use boatload::analysis::Analysis;
use boatload::base::failure::Exit;
use boatload::plan::Settings;
use boatload::plan::repetition::{LOOKS, REPEATS_MAX, REPEATS_MIN};
use boatload::results::book::{Book, Measurement, Stopping};
use boatload::run::drive::DoneCount;
use boatload::run::interrupt::Interrupt;
use boatload::session::{PhaseContext, Watcher};

use crate::library::{Nobody, Place, job, plan_with};

/// Three equal variants whose repeats differ so much that no answer is decided; a repeat takes about 0.06 s.
fn open(keys: &str) -> String {
    let variants = "variant = [{ name = 'a' }, { name = 'b' }, { name = 'c' }]";
    let phases = ["operation = 'create'", "operation = 'delete'"];
    let sim = "metadata = '10us', transfer = '100us', spread = { repeats = '30%' }";
    job(
        &format!("engine = 'sim'\nconclude = ['ranking']\n{keys}\n{variants}"),
        "files = 80, size = 1000",
        &phases,
        sim,
    )
}

fn limited(seconds: f64) -> Settings {
    Settings { time_limit_seconds: Some(seconds), ..Settings::default() }
}

/// What a run said, in lines, and the repeats that it counted on.
#[derive(Default)]
struct Listener {
    notices: Mutex<Vec<String>>,
    repeats: Mutex<Vec<[u32; 2]>>,
}

impl Watcher for Listener {
    fn notice(&self, text: &str) {
        self.notices.lock().unwrap().push(text.into());
    }

    fn phase_begins(&self, context: &PhaseContext<'_>, _: std::sync::Arc<[DoneCount]>) {
        self.repeats.lock().unwrap().push([context.key.repeat, context.repeats]);
    }
}

fn ran(text: &str, settings: &Settings) -> (Book, Listener) {
    let listener = Listener::default();
    let plan = plan_with(text, settings);
    let book = Place::default().run(&plan, &listener, &Interrupt::default());
    assert!(book.run.complete);
    (book, listener)
}

fn looks_of(book: &Book) -> (Vec<u32>, Vec<f64>, bool) {
    let Stopping::Looks { looks, alpha, decided, .. } = book.run.stopping.clone() else {
        panic!("{:?}", book.run.stopping)
    };
    (looks, alpha, decided)
}

fn seconds_of(book: &Book) -> f64 {
    book.measurements.iter().map(|m| m.durable_seconds()).sum()
}

#[test]
fn an_open_answer_is_looked_at_seven_times_and_never_repeated_more_than_twelve_times() {
    let (book, listener) = ran(&open(""), &limited(3_600.0));
    assert_eq!(book.run.repeats, REPEATS_MAX);
    assert_eq!(book.measurements.len(), 12 * 3 * 2);
    let planned = (LOOKS.map(|look| look.repeats).to_vec(), LOOKS.map(|look| look.alpha).to_vec());
    assert_eq!(looks_of(&book), (planned.0, planned.1, false));
    let notices = listener.notices.into_inner().unwrap();
    assert_eq!(notices.len(), LOOKS.len(), "{notices:?}");
    assert!(notices[0].starts_with("after 3 repeats in "), "{notices:?}");
    assert!(notices.iter().all(|text| text.ends_with("the answer is open")), "{notices:?}");
    let counted = listener.repeats.into_inner().unwrap();
    let next_look =
        |repeat: u32| LOOKS.iter().map(|look| look.repeats).find(|look| *look >= repeat);
    assert!(counted.iter().all(|[repeat, all]| Some(*all) == next_look(*repeat)), "{counted:?}");
}

#[test]
fn no_repeat_begins_that_would_end_after_the_time_limit() {
    let whole = seconds_of(&ran(&open(""), &limited(3_600.0)).0);
    let limit = 0.6 * whole;
    // Seconds of the command line begin at one, seconds of a plan do not.
    let (book, listener) = ran(&open(""), &limited(limit));
    assert!(seconds_of(&book) <= limit, "{} of {limit}", seconds_of(&book));
    assert!((REPEATS_MIN + 1..REPEATS_MAX).contains(&book.run.repeats), "{}", book.run.repeats);
    assert_eq!(book.measurements.len() as u32, book.run.repeats * 6, "repeats are whole");
    let (looks, _, decided) = looks_of(&book);
    assert!(looks.iter().all(|look| *look <= book.run.repeats) && !decided, "{looks:?}");
    let Stopping::Looks { time_limit_seconds, .. } = book.run.stopping else { panic!() };
    assert!((time_limit_seconds - limit).abs() < 1e-12);
    let last = listener.notices.into_inner().unwrap().pop().unwrap();
    assert!(last.ends_with(": the next one would end after the time limit"), "{last}");
}

#[test]
fn three_repeats_are_made_however_short_the_time_limit_is() {
    let (book, _) = ran(&open(""), &limited(1e-3));
    assert_eq!((book.run.repeats, looks_of(&book).0), (3, vec![3]));
}

#[test]
fn the_repeats_of_the_job_count_without_a_time_limit_alone() {
    let text = open("").replace("repeats = 1\n", "repeats = 2\n");
    let (book, listener) = ran(&text, &Settings::default());
    assert_eq!((book.run.repeats, &book.run.stopping), (2, &Stopping::Fixed { fixed: 2 }));
    assert_eq!(listener.notices.into_inner().unwrap(), Vec::<String>::new());
    let (book, _) = ran(&text, &limited(1e-3));
    assert_eq!(book.run.repeats, 3);
}

#[test]
fn the_order_of_a_repeat_does_not_depend_on_how_many_follow() {
    let order = |settings: &Settings| -> Vec<(u32, String)> {
        let (book, _) = ran(&open(""), settings);
        let first = |m: &&Measurement| m.phase == "create" && m.cell.repeat <= 3;
        let first = book.measurements.iter().filter(first);
        first.map(|m| (m.cell.repeat, m.cell.variant.clone())).collect()
    };
    let fixed = order(&Settings { repeats: Some(4), ..Settings::default() });
    assert_eq!(order(&limited(1e-3)), fixed);
    assert_eq!(order(&limited(3_600.0)), fixed);
}

#[test]
fn without_a_number_a_run_looks_at_its_answer_for_half_an_hour() {
    let text = open("").replace("repeats = 1\n", "");
    let (unnamed, _) = ran(&text, &Settings::default());
    let (named, _) = ran(&text, &limited(1_800.0));
    assert_eq!(unnamed.run.stopping, named.run.stopping);
    assert_eq!(unnamed.measurements.len(), named.measurements.len());
}

/// Two variants with little noise, one takes twice as long, and the question about them.
fn clear(conclude: &str, keys: &str) -> String {
    job(
        &format!(
            "engine = 'sim'\n{keys}\nvariant = [{{ name = 'a' }}, \
             {{ name = 'b', sim = {{ metadata = '20us', spread = {{ passes = '3%' }} }} }}]\nconclude = {conclude}"
        ),
        "files = 80, size = 1000",
        &["operation = 'create'", "operation = 'delete'"],
        "metadata = '10us', spread = { passes = '3%' }",
    )
}

#[test]
fn the_first_conclusion_that_has_effects_is_what_must_be_decided() {
    let one_level = "axis = { name = 'n', values = [1] }";
    let (book, _) = ran(&clear("['levels', 'ranking']", one_level), &limited(3_600.0));
    let (looks, _, decided) = looks_of(&book);
    assert!(decided && book.run.repeats < REPEATS_MAX, "{looks:?}");
}

#[test]
fn where_nothing_is_compared_each_rate_must_be_known_to_within_ten_percent() {
    let rates = |spread: &str| {
        let sim = format!("metadata = '10us', spread = {{ repeats = '{spread}' }}");
        ran(&job("engine = 'sim'", "files = 80", &["operation = 'create'"], &sim), &limited(60.0)).0
    };
    assert_eq!(rates("1%").run.repeats, 3);
    let open = rates("30%");
    assert_eq!((open.run.repeats, looks_of(&open).2), (12, false));
    assert_eq!(Analysis::of(&open).open_parts().unwrap(), "1 of 1 part");
}

#[test]
fn without_a_whole_job_the_pairs_of_each_phase_must_be_decided() {
    let open_of = |phases: &[&str]| {
        let text = job(
            "engine = 'sim'\nvariant = [{ name = 'a' }, { name = 'b' }, { name = 'c' }]",
            "files = 80, size = 1000",
            phases,
            "metadata = '10us', spread = { repeats = '30%' }",
        );
        let (book, _) = ran(&text, &limited(3_600.0));
        Analysis::of(&book).open_parts().unwrap()
    };
    let create = "operation = 'create'";
    assert!(open_of(&[create, "operation = 'stat'"]).contains("of 3 parts"), "the whole job");
    let timed = open_of(&[create, "operation = 'stat', duration = '10ms'"]);
    assert!(timed.contains("of 6 parts"), "{timed}");
}

#[test]
fn what_is_concluded_after_looks_has_the_alpha_of_the_last_one() {
    let levels = |settings: &Settings| -> (Book, Vec<f64>) {
        let (book, _) = ran(&clear("['ranking']", ""), settings);
        let analysis = Analysis::of(&book);
        let stated = analysis.effects().flat_map(|one| [one.stated.level, one.headline.level]);
        let levels = stated.map(Option::unwrap).collect();
        (book, levels)
    };
    let (book, after_looks) = levels(&limited(3_600.0));
    let alpha = *looks_of(&book).1.last().unwrap();
    assert!(after_looks.iter().all(|level| *level >= 1.0 - alpha), "{after_looks:?}");
    let fixed = Settings { repeats: Some(book.run.repeats), ..Settings::default() };
    let (_, after_fixed) = levels(&fixed);
    assert!(after_fixed.iter().any(|level| (*level - 0.95).abs() < 1e-9), "{after_fixed:?}");
}

const PREPARED: &str =
    "axis = { name = 'present', values = [0, 100], prepare = { fill = { sizes = 100 } } }";

#[test]
fn levels_of_places_that_are_restored_take_turns() {
    let (book, _) = ran(&open(PREPARED), &limited(1e-3));
    assert!(book.measurements.is_sorted_by_key(|m| m.cell.repeat));
    let level = |m: &Measurement| m.cell.level.as_ref().unwrap().value;
    assert!(!book.measurements.iter().map(level).is_sorted());
}

#[test]
fn a_place_that_cannot_be_restored_is_refused_with_a_time_limit() {
    let text = job(PREPARED, "files = 4, size = 1000", &["operation = 'create'"], "");
    let (place, interrupt) = (Place::default(), Interrupt::default());
    let refused =
        place.try_run(&plan_with(&text, &limited(60.0)), &place.work(), &Nobody, &interrupt);
    let refused = refused.unwrap_err();
    assert_eq!(refused.exit, Exit::Usage);
    assert!(refused.sentence.contains("Name --repeats instead"), "{}", refused.sentence);
}

#[test]
fn a_place_that_cannot_be_restored_is_measured_five_times() {
    let text = job(PREPARED, "files = 4, size = 1000", &["operation = 'create'"], "");
    let (book, _) = ran(&text.replace("repeats = 1\n", ""), &Settings::default());
    assert_eq!((book.run.repeats, book.run.stopping), (5, Stopping::Fixed { fixed: 5 }));
}
