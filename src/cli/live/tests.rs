use std::sync::{Arc, Mutex};

use ratatui_core::backend::TestBackend;
use ratatui_core::terminal::Terminal;

use super::look::Look;
use super::matrix::Mark;
use super::pace::Sample;
use super::state::State;
use super::told::{Known, Stand, Told as Word};
use super::view::draw;
use crate::base::golden::assert_golden;
use crate::cli::progress::place;
use crate::host::block_device::BlockDevice;
use crate::host::block_device::DeviceCounters;
use crate::host::disturbance::ProcessorTimes;
use crate::host::facts::DeviceFacts;
use crate::measure::book::{CellKey, Measurement};
use crate::measure::fixture;
use crate::plan::{Plan, Settings, read_job};
use crate::run::ballast::Headway;
use crate::run::drive::DoneCount;
use crate::session::{PhaseContext, Watcher, cell_key};

/// Three variants at five levels in three repeats.
const GROWING: &str = r#"
name = "growing"
question = "Which of three layouts is best as the number of files grows?"
repeats = 3
durability = "syncfs"
axis = { name = "files", values = [1_000, 2_000, 5_000, 10_000, 20_000] }
tree = { files = "$files" }
phase = [ { operation = "create", threads = 4 }, { operation = "read", cache = "cold" } ]
[[variant]]
name = "single"
[[variant]]
name = "forty"
tree = { files = "$files", directories = 40 }
[[variant]]
name = "ein böser Name"
"#;

const SIMPLE: &str = r#"
name = "simple"
question = "How fast?"
repeats = 2
tree = { files = 1_000 }
phase = [ { operation = "create" } ]
"#;

/// One simulated cell, with a phase that a virtual clock ends.
const VIRTUAL: &str = r#"
name = "virtual"
question = "How fast?"
repeats = 2
engine = "sim"
tree = { files = 1_000 }
phase = [ { operation = "create" }, { operation = "stat", cache = "as-is", duration = "1h" } ]
"#;

const FULL: Look = Look { colour: true, unicode: true };

fn plan(text: &str) -> Plan {
    read_job(text, &Settings::default()).unwrap_or_else(|p| panic!("{}", p.report("the job")))
}

/// Tells a state what a run would.
struct Told {
    plan: Plan,
    state: State,
}

impl Told {
    fn new(text: &str) -> Self {
        let plan = plan(text);
        Self { state: State::new(&plan), plan }
    }

    fn standing<'a>(&'a self, at: usize, key: &'a CellKey) -> PhaseContext<'a> {
        let facts = DeviceFacts { name: "vda".into(), ..DeviceFacts::default() };
        let (index, phase) = (at / 2 % self.plan.cells.len(), at % 2);
        let phases = &self.plan.cells[index].phases;
        PhaseContext {
            cell: at / 2 + 1,
            cells: self.plan.cells.len() * self.plan.repeats as usize,
            repeats: self.plan.repeats,
            key,
            phase: &phases[phase.min(phases.len() - 1)],
            operations_before: 0,
            operations: 1,
            device: Some(BlockDevice::made_up((253, 0), facts)),
        }
    }

    /// The phase with this number, cells in the plan's order, two phases to a cell.
    fn begins(&mut self, at: usize) {
        let cells = self.plan.cells.len();
        let repeat = (at / 2 / cells) as u32 + 1;
        let key = cell_key(&self.plan, &self.plan.cells[at / 2 % cells], repeat);
        let mut state = std::mem::take(&mut self.state);
        state.phase_begins(&self.standing(at, &key));
        self.state = state;
    }

    fn ends(&mut self, at: usize, invalid: &[&str]) {
        let cells = self.plan.cells.len();
        let repeat = (at / 2 / cells) as u32 + 1;
        let key = cell_key(&self.plan, &self.plan.cells[at / 2 % cells], repeat);
        let mut state = std::mem::take(&mut self.state);
        let standing = self.standing(at, &key);
        let mut m =
            fixture::measurement(&standing.phase.name, repeat, 1_000, 20_000 + at as u64 * 700);
        m.cell = key.clone();
        m.invalid = invalid.iter().map(|why| why.to_string()).collect();
        state.phase_ends(&place(&standing), &m);
        self.state = state;
    }

    /// A quarter of a second later, with so many operations done.
    fn look(&mut self, done: Option<u64>) {
        let seconds = self.state.seconds + 0.25;
        let written = (seconds * 40e6) as u64;
        let device = DeviceCounters { write_bytes: written, ..DeviceCounters::default() };
        let processors = ProcessorTimes {
            all_seconds: seconds * 2.0,
            user_seconds: seconds * 0.24,
            busy_seconds: seconds * 1.1,
            steal_seconds: seconds * 0.02,
        };
        self.state.take(&Sample {
            seconds,
            done,
            device: Some(device),
            processors: Some(processors),
        });
    }
}

/// Some way into a run: phases are over, one of them invalid, and one is under way.
fn under_way() -> Told {
    let mut told = Told::new(GROWING);
    told.state.tells(
        "pilot: 3 repeats in 12 s; 5 more reach 3%, which takes 48 s of the 28 min that are left",
    );
    for at in 0..23 {
        told.begins(at);
        told.look(Some(500));
        told.look(Some(1_000));
        told.ends(at, if at == 7 { &["EACCES x 3"] } else { &[] });
    }
    told.begins(23);
    let done = [70, 200, 400, 510, 570, 600, 690, 860, 1_090, 1_370, 1_430];
    done.iter().for_each(|done| told.look(Some(*done)));
    told
}

/// What a terminal of a size shows, without blanks at the ends of lines.
fn shown(state: &State, look: Look, columns: u16, rows: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
    terminal.draw(|frame| draw(state, look, frame.buffer_mut())).unwrap();
    let buffer = terminal.backend().buffer();
    let row = |y: u16| (0..columns).map(|x| buffer[(x, y)].symbol()).collect::<String>();
    (0..rows).map(|y| row(y).trim_end().to_string() + "\n").collect()
}

#[test]
fn a_run_under_way_is_shown_in_terminals_of_all_sizes() {
    let told = under_way();
    for (columns, rows) in [(80, 24), (40, 10), (160, 50)] {
        let text = shown(&told.state, FULL, columns, rows);
        assert_golden(&format!("live-{columns}x{rows}.txt"), &text);
    }
}

#[test]
fn nothing_but_ascii_is_shown_where_there_is_nothing_else() {
    let text = shown(&under_way().state, Look { colour: false, unicode: false }, 80, 24);
    assert!(text.is_ascii());
    assert_golden("live-ascii.txt", &text);
}

#[test]
fn no_size_is_too_odd_to_be_drawn() {
    let told = under_way();
    for (columns, rows) in
        [(1, 1), (39, 10), (40, 9), (40, 60), (60, 15), (59, 16), (60, 16), (300, 100), (300, 10)]
    {
        let text = shown(&told.state, FULL, columns, rows);
        let is_small = columns < 40 || rows < 10;
        assert_eq!(text.contains("q leaves"), !is_small, "{columns}x{rows}:\n{text}");
    }
    let small = shown(&told.state, FULL, 30, 8);
    assert!(small.starts_with("The view takes 40x10"), "{small}");
}

#[test]
fn words_from_outside_bring_no_control_characters() {
    let mut told = under_way();
    told.state.tells("found \u{1b}[31mred\nwords");
    told.state.device = Some("vda\u{1b}".into());
    told.state.says("making \u{7}x");
    let text = shown(&told.state, FULL, 160, 50);
    assert!(text.contains("found \\u{1b}[31mred\\nwords"), "{text}");
    assert!(text.contains("vda reads"), "{text}");
    assert!(!text.replace('\n', "").contains(char::is_control), "{text}");
}

#[test]
fn before_the_first_phase_it_says_what_is_done() {
    let mut told = Told::new(SIMPLE);
    told.state.says("measuring what boatload itself costs");
    told.look(None);
    let text = shown(&told.state, FULL, 80, 24);
    assert!(text.contains("measuring what boatload itself costs"), "{text}");
    assert!(text.contains("0 of 2 cells done"), "{text}");
    assert!(!text.contains("left"), "nothing is known yet: {text}");
}

#[test]
fn the_cell_that_was_invalid_stays_marked() {
    let told = under_way();
    assert_eq!(told.state.matrix.count(Mark::Invalid), 1);
    assert_eq!(told.state.matrix.count(Mark::Running), 1);
    assert_eq!(told.state.matrix.count(Mark::Done), 10);
    assert_eq!(told.state.matrix.cells(), 45);
    assert!(shown(&told.state, FULL, 80, 24).contains("EACCES x 3"));
}

#[test]
fn what_is_left_follows_from_what_was_done() {
    let mut told = Told::new(SIMPLE);
    told.begins(0);
    assert_eq!(told.state.left(), None);
    (0..4).for_each(|_| told.look(Some(0)));
    told.look(Some(500));
    let near = |found: Option<f64>, expected: f64| {
        assert!(found.is_some_and(|f| (f - expected).abs() < 1e-6), "{found:?}, not {expected}");
    };
    // Half of the first of two equal phases took 1.25 s.
    near(told.state.left(), 3.75);
    told.look(Some(1_000));
    told.ends(0, &[]);
    told.begins(2);
    near(told.state.left(), 1.5);
    told.look(Some(1_000));
    near(told.state.left(), 0.0);
}

#[test]
fn nothing_is_left_only_where_that_is_known() {
    let mut told = Told::new(&SIMPLE.replace("repeats = 2", "repeats = 1"));
    told.begins(0);
    told.look(Some(0));
    assert_eq!(told.state.left(), None, "one phase, of which nothing is done");
}

#[test]
fn a_virtual_hour_is_no_real_one() {
    let mut told = Told::new(VIRTUAL);
    told.begins(0);
    told.look(Some(1_000));
    told.ends(0, &[]);
    told.begins(1);
    (1..=8).for_each(|at| told.look(Some(at * 5_000_000)));
    assert_eq!(told.state.left(), None, "it was never seen how long such an hour takes");
    let text = shown(&told.state, FULL, 80, 24);
    assert!(text.contains("40,000,000 operations so far"), "{text}");
    told.ends(1, &[]);
    told.begins(2);
    told.look(Some(1_000));
    told.ends(2, &[]);
    told.begins(3);
    (0..2).for_each(|_| told.look(Some(7)));
    let left = told.state.left();
    assert!(left.is_some_and(|left| (left - 1.5).abs() < 1e-6), "2 s before, 0.5 s now: {left:?}");
}

#[test]
fn a_simulated_phase_has_a_rate_in_real_time_and_no_latency() {
    let mut told = Told::new(VIRTUAL);
    told.begins(1);
    (1..=8).for_each(|at| told.look(Some(at * 5_000_000)));
    let text = shown(&told.state, FULL, 80, 24);
    assert!(text.contains("rate 20,000,000/s, in real time "), "{text}");
    assert!(text.lines().any(|line| line.ends_with(" mean latency -")), "{text}");
    let wide = shown(&told.state, FULL, 160, 50);
    assert!(wide.contains("rate 20,000,000 operations/s, in real time "), "{wide}");
}

#[test]
fn a_cell_counts_as_soon_as_its_last_phase_is_over() {
    let mut told = Told::new(GROWING);
    for at in 0..2 {
        assert_eq!(told.state.cells(), "0 of 45 cells done");
        told.begins(at);
        told.ends(at, &[]);
    }
    assert_eq!(told.state.cells(), "1 of 45 cells done");
    told.begins(2);
    assert_eq!(told.state.cells(), "1 of 45 cells done");
}

#[test]
fn cells_of_a_series_that_is_over_do_not_wait() {
    let settings = Settings { effort: Some(Default::default()), ..Settings::default() };
    // A place that is prepared is not brought back: each level is repeated by itself.
    let axis =
        "axis = { name = \"files\", values = [10, 20], prepare = { fill = { sizes = 8 } } }\n";
    let text = SIMPLE.replace("tree", &format!("{axis}tree"));
    for invalid in [&[][..], &["EACCES x 3"]] {
        let plan = read_job(&text, &settings).unwrap_or_else(|p| panic!("{}", p.report("the job")));
        let mut told = Told { state: State::new(&plan), plan };
        assert_eq!(told.state.cells(), "0 of 6 cells done");
        told.begins(0);
        told.ends(0, invalid);
        told.begins(2);
        assert_eq!(told.state.matrix.count(Mark::Waiting), 2, "of the second series alone");
        assert_eq!(told.state.matrix.cells(), 4);
    }
}

/// Keeps what it is told.
#[derive(Default)]
struct Heard(Mutex<Vec<String>>);

impl Heard {
    fn hears(&self, text: String) {
        self.0.lock().unwrap().push(text);
    }
}

impl Watcher for Heard {
    fn says(&self, text: &str) {
        self.hears(format!("says {text}"));
    }

    fn prepares(&self, _: &CellKey, headway: &Headway) {
        self.hears(format!("prepares {headway:?}"));
    }

    fn phase_begins(&self, standing: &PhaseContext<'_>, _: Arc<[DoneCount]>) {
        self.hears(format!("begins {}", place(standing)));
    }

    fn phase_ends(&self, _: &PhaseContext<'_>, _: &Measurement) {}
}

#[test]
fn whoever_takes_over_from_the_view_hears_what_goes_on() {
    let told = Told::new(GROWING);
    let key = cell_key(&told.plan, &told.plan.cells[0], 1);
    let stand = Arc::new(Stand::of(&told.standing(0, &key)));
    let prepares = |headway| Word::Prepares(key.clone(), headway);
    let counts = || Some([].into());
    let ended = Word::Ends("1/45 create".into(), Box::default());
    let mut known = Known::default();
    let mut over = |word: Option<Word>, done: Option<Arc<[DoneCount]>>| {
        word.into_iter().for_each(|word| known.take(0.0, word, done.clone()));
        let heard = Heard::default();
        known.hand_over(&heard);
        heard.0.into_inner().unwrap().concat()
    };
    assert_eq!(over(None, None), "says beginning");
    assert_eq!(over(Some(prepares(Headway::Share(0.5))), None), "prepares Share(0.5)");
    let found = prepares(Headway::Found("900 files".into()));
    assert_eq!(over(Some(found), None), "prepares Share(0.5)");
    assert_eq!(
        over(Some(Word::Begins(stand)), counts()),
        "begins 1/45 single files=1,000 repeat 1 create"
    );
    assert_eq!(over(Some(ended), None), "says getting ready for what comes next");
    let making = prepares(Headway::Making { files: 9, before: 1, done: [].into() });
    assert_eq!(over(Some(making), None), "prepares Making { files: 9, before: 1, done: [] }");
    assert_eq!(over(Some(prepares(Headway::CleaningUp)), None), "says cleaning up");
    assert_eq!(over(Some(prepares(Headway::Share(1.0))), None), "prepares Share(1.0)");
    assert_eq!(over(Some(Word::Says("making ext4".into())), None), "says making ext4");
}

#[test]
fn a_run_with_a_time_limit_takes_no_longer_than_that() {
    let settings = Settings { effort: Some(Default::default()), ..Settings::default() };
    let plan = read_job(SIMPLE, &settings).unwrap_or_else(|p| panic!("{}", p.report("the job")));
    let mut told = Told { state: State::new(&plan), plan };
    assert_eq!(told.state.matrix.cells(), 3, "repeats of the pilot");
    told.begins(0);
    told.state.seconds = 1_799.0;
    told.look(Some(1));
    assert_eq!(told.state.left(), Some(0.75));
    let text = shown(&told.state, FULL, 80, 24);
    assert!(text.contains("at most 30 min"), "{text}");
}

#[test]
fn repeats_that_a_pilot_asks_for_are_cells_too() {
    let settings = Settings { effort: Some(Default::default()), ..Settings::default() };
    let plan = read_job(SIMPLE, &settings).unwrap_or_else(|p| panic!("{}", p.report("the job")));
    let mut state = State::new(&plan);
    let key = cell_key(&plan, &plan.cells[0], 4);
    let standing = PhaseContext {
        cell: 4,
        cells: 7,
        repeats: 7,
        key: &key,
        phase: &plan.cells[0].phases[0],
        operations_before: 0,
        operations: 1,
        device: None,
    };
    state.phase_begins(&standing);
    assert_eq!(state.cells(), "0 of 7 cells done");
    assert_eq!(state.matrix.running(), Some((0, 3)));
    assert!(shown(&state, FULL, 80, 24).contains("no device"));
}

#[test]
fn making_files_is_shown_with_its_rate() {
    let mut told = Told::new(GROWING);
    let key = cell_key(&told.plan, &told.plan.cells[1], 1);
    told.state.prepares(&key, &Headway::Share(0.25));
    let text = shown(&told.state, FULL, 80, 24);
    assert!(text.contains("bringing the place to files=2,000"), "{text}");
    assert!(text.contains(" 25%"), "{text}");
    let making = Headway::Making { files: 4_000, before: 1_000, done: [].into() };
    told.state.prepares(&key, &making);
    told.look(Some(1_000));
    told.look(Some(1_500));
    let text = shown(&told.state, FULL, 80, 24);
    assert!(text.contains("1,500 of 4,000 files"), "{text}");
    assert!(text.contains("rate 2,000 files/s"), "{text}");
}

#[test]
fn many_cells_share_marks_and_many_variants_are_cut_around_the_one_that_runs() {
    let variants: String = (0..30).map(|n| format!("[[variant]]\nname = \"v{n:02}\"\n")).collect();
    let levels = (1..=40).map(|n| (n * 10).to_string()).collect::<Vec<_>>().join(", ");
    let text = GROWING.split("[[variant]]").next().unwrap_or_default();
    let text = text.replace("1_000, 2_000, 5_000, 10_000, 20_000", &levels) + &variants;
    let mut told = Told::new(&text);
    for at in (0..1_300).step_by(2) {
        told.begins(at);
    }
    let shown = shown(&told.state, FULL, 80, 24);
    assert!(shown.contains("a mark is 2 cells"), "{shown}");
    assert_golden("live-many.txt", &shown);
}
