use crate::base::errno::Errno;
use crate::results::book::InvalidReason;
use ratatui_core::backend::TestBackend;
use ratatui_core::buffer::Buffer;
use ratatui_core::terminal::Terminal;

use super::state::{CellMark, CounterSample, RunState};
use super::view::{draw, progress_line};
use crate::base::fixture::golden::assert_golden;
use crate::cli::terminal_style::TerminalStyle as Style;
use crate::host::block_device::{BlockDevice, DeviceCounters};
use crate::host::disturbance::ProcessorTimes;
use crate::host::facts::DeviceFacts;
use crate::plan::{Plan, Settings, read_job};
use crate::results::book::{Book, CellKey, Stopping};
use crate::results::fixture;
use crate::run::ballast::Headway;
use crate::session::{PhaseContext, cell_key};

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

pub(super) const FULL: Style = Style { columns: 80, ascii: false, colours: true };

fn plan(text: &str) -> Plan {
    read_job(text, &Settings::default()).unwrap_or_else(|p| panic!("{}", p.report("the job")))
}

/// A run of a plan that never ran, and what is known of it.
struct WatchedRun {
    plan: Plan,
    state: RunState,
}

impl WatchedRun {
    fn new(text: &str) -> Self {
        let plan = plan(text);
        Self { state: RunState::new(&plan), plan }
    }

    fn context<'a>(&'a self, at: usize, key: &'a CellKey) -> PhaseContext<'a> {
        let facts = DeviceFacts { name: "vda".into(), ..DeviceFacts::default() };
        let (index, phase) = (at / 2 % self.plan.cells.len(), at % 2);
        let phases = &self.plan.cells[index].phases;
        PhaseContext {
            cell: 1,
            repeats: self.plan.repeats_min(),
            key,
            phase: &phases[phase.min(phases.len() - 1)],
            device: Some(BlockDevice::made_up((253, 0), facts)),
            disk: None,
        }
    }

    /// The phase with this number, cells in the plan's order, two phases to a cell.
    fn begins(&mut self, at: usize) {
        let cells = self.plan.cells.len();
        let repeat = (at / 2 / cells) as u32 + 1;
        let key = cell_key(&self.plan, &self.plan.cells[at / 2 % cells], repeat);
        let mut state = std::mem::take(&mut self.state);
        state.phase_begins(&self.context(at, &key));
        self.state = state;
    }

    fn ends(&mut self, at: usize, invalid: &[InvalidReason]) {
        let cells = self.plan.cells.len();
        let repeat = (at / 2 / cells) as u32 + 1;
        let key = cell_key(&self.plan, &self.plan.cells[at / 2 % cells], repeat);
        let mut state = std::mem::take(&mut self.state);
        let context = self.context(at, &key);
        let mut m =
            fixture::measurement(&context.phase.name, repeat, 1_000, 20_000 + at as u64 * 700);
        m.cell = key.clone();
        m.invalid = invalid.to_vec();
        state.phase_ends(&m);
        self.state = state;
    }

    /// A quarter of a second later, with this number of operations done.
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
        self.state.take(&CounterSample {
            seconds,
            done,
            device: Some(device),
            processors: Some(processors),
        });
    }
}

/// Some way into a run: phases are over, one of them invalid, and one is under way.
fn under_way() -> WatchedRun {
    let mut run = WatchedRun::new(GROWING);
    run.state.add_notice("after 3 repeats in 12 s: the answer is open", false);
    for at in 0..23 {
        run.begins(at);
        run.look(Some(500));
        run.look(Some(1_000));
        let invalid = (at == 7).then(|| fixture::failing(Errno::EACCES, 3));
        run.ends(at, invalid.as_slice());
    }
    run.begins(23);
    let done = [70, 200, 400, 510, 570, 600, 690, 860, 1_090, 1_370, 1_430];
    done.iter().for_each(|done| run.look(Some(*done)));
    run
}

/// What a terminal of a size shows, without blanks at the ends of lines.
fn shown(state: &RunState, style: Style, columns: u16, rows: u16) -> String {
    shown_by(columns, rows, |buffer| draw(state, style, buffer))
}

pub(super) fn shown_by(columns: u16, rows: u16, draw: impl FnOnce(&mut Buffer)) -> String {
    let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
    terminal.draw(|frame| draw(frame.buffer_mut())).unwrap();
    let buffer = terminal.backend().buffer();
    let row = |y: u16| (0..columns).map(|x| buffer[(x, y)].symbol()).collect::<String>();
    (0..rows).map(|y| row(y).trim_end().to_string() + "\n").collect()
}

#[test]
fn a_run_under_way_is_shown_in_terminals_of_all_sizes() {
    let run = under_way();
    for (columns, rows) in [(80, 24), (40, 10), (160, 50)] {
        let text = shown(&run.state, FULL, columns, rows);
        assert_golden(&format!("live-{columns}x{rows}.txt"), &text);
    }
}

#[test]
fn nothing_but_ascii_is_shown_where_there_is_nothing_else() {
    let plain = Style { columns: 80, ascii: true, colours: false };
    let text = shown(&under_way().state, plain, 80, 24);
    assert!(text.is_ascii());
    assert_golden("live-ascii.txt", &text);
}

#[test]
fn each_size_is_drawn() {
    let run = under_way();
    for (columns, rows) in
        [(1, 1), (39, 10), (40, 9), (40, 60), (60, 15), (59, 16), (60, 16), (300, 100), (300, 10)]
    {
        let text = shown(&run.state, FULL, columns, rows);
        let is_small = columns < 40 || rows < 10;
        assert_eq!(text.contains("q leaves"), !is_small, "{columns}x{rows}:\n{text}");
    }
    let small = shown(&run.state, FULL, 30, 8);
    assert!(small.starts_with("The view takes 40x10"), "{small}");
}

#[test]
fn words_from_outside_bring_no_control_characters() {
    let mut run = under_way();
    run.state.add_notice("found \u{1b}[31mred\nwords", false);
    run.state.device = Some("vda\u{1b}".into());
    run.state.name = "making \u{7}x".into();
    let text = shown(&run.state, FULL, 160, 50);
    assert!(text.contains("found \\u{1b}[31mred\\nwords"), "{text}");
    assert!(text.contains("vda reads"), "{text}");
    assert!(!text.replace('\n', "").contains(char::is_control), "{text}");
}

#[test]
fn before_the_first_phase_it_says_what_is_done() {
    let mut run = WatchedRun::new(SIMPLE);
    run.state.status = "measuring the measurement overhead".into();
    run.look(None);
    let text = shown(&run.state, FULL, 80, 24);
    assert!(text.contains("measuring the measurement overhead"), "{text}");
    assert!(text.contains("0 of 2 cells done"), "{text}");
    assert!(!text.contains("left"), "nothing is known yet: {text}");
}

#[test]
fn the_cell_that_was_invalid_stays_marked() {
    let run = under_way();
    assert_eq!(run.state.count(CellMark::Invalid), 1);
    assert_eq!(run.state.count(CellMark::Running), 1);
    assert_eq!(run.state.count(CellMark::Done), 10);
    assert!(run.state.cells_done().starts_with("11 of 45 cells"));
    assert!(shown(&run.state, FULL, 80, 24).contains("EACCES x 3"));
}

#[test]
fn what_is_left_follows_from_what_was_done() {
    let mut run = WatchedRun::new(SIMPLE);
    run.begins(0);
    assert_eq!(run.state.left(), None);
    (0..4).for_each(|_| run.look(Some(0)));
    run.look(Some(500));
    let near = |found: Option<f64>, expected: f64| {
        assert!(found.is_some_and(|f| (f - expected).abs() < 1e-6), "{found:?}, not {expected}");
    };
    // Half of the first of two equal phases took 1.25 s.
    near(run.state.left(), 3.75);
    run.look(Some(1_000));
    run.ends(0, &[]);
    run.begins(2);
    near(run.state.left(), 1.5);
    run.look(Some(1_000));
    near(run.state.left(), 0.0);
}

#[test]
fn nothing_is_left_only_where_that_is_known() {
    let mut run = WatchedRun::new(&SIMPLE.replace("repeats = 2", "repeats = 1"));
    run.begins(0);
    run.look(Some(0));
    assert_eq!(run.state.left(), None, "one phase, and no operation is done");
}

#[test]
fn a_virtual_hour_is_no_real_one() {
    let mut run = WatchedRun::new(VIRTUAL);
    run.begins(0);
    run.look(Some(1_000));
    run.ends(0, &[]);
    run.begins(1);
    (1..=8).for_each(|at| run.look(Some(at * 5_000_000)));
    assert_eq!(run.state.left(), None, "it was never seen how long such an hour takes");
    let text = shown(&run.state, FULL, 80, 24);
    assert!(text.contains("40,000,000 operations done"), "{text}");
    run.ends(1, &[]);
    run.begins(2);
    run.look(Some(1_000));
    run.ends(2, &[]);
    run.begins(3);
    (0..2).for_each(|_| run.look(Some(7)));
    let left = run.state.left();
    assert!(left.is_some_and(|left| (left - 1.5).abs() < 1e-6), "2 s before, 0.5 s now: {left:?}");
}

#[test]
fn a_simulated_phase_has_a_rate_in_real_time_and_no_latency() {
    let mut run = WatchedRun::new(VIRTUAL);
    run.begins(1);
    (1..=8).for_each(|at| run.look(Some(at * 5_000_000)));
    let text = shown(&run.state, FULL, 80, 24);
    assert!(text.contains("rate 20,000,000 operations/s, in real time "), "{text}");
    assert!(text.lines().any(|line| line.ends_with(" mean latency -")), "{text}");
}

#[test]
fn a_cell_counts_as_soon_as_its_last_phase_is_over() {
    let mut run = WatchedRun::new(GROWING);
    for at in 0..2 {
        assert_eq!(run.state.cells_done(), "0 of 45 cells done");
        run.begins(at);
        run.ends(at, &[]);
    }
    assert_eq!(run.state.cells_done(), "1 of 45 cells done");
    run.begins(2);
    assert_eq!(run.state.cells_done(), "1 of 45 cells done");
}

#[test]
fn a_run_with_a_time_limit_takes_no_longer_than_that() {
    let settings = Settings { time_limit_seconds: Some(1_800.0), ..Settings::default() };
    let plan = read_job(SIMPLE, &settings).unwrap_or_else(|p| panic!("{}", p.report("the job")));
    let mut facts = Book::default().run;
    (facts.repeats, facts.stopping) = (plan.repeats_min(), Stopping::of(&plan));
    let mut run = WatchedRun { state: RunState::new(&plan), plan };
    run.state.begins(&facts);
    assert_eq!(run.state.cells_done(), "0 of 3 cells done", "those before the first look");
    run.begins(0);
    run.state.seconds = 1_799.0;
    run.look(Some(1));
    assert_eq!(run.state.left(), Some(0.75));
    let text = shown(&run.state, FULL, 80, 24);
    assert!(text.contains("at most 30 min"), "{text}");
}

#[test]
fn repeats_until_the_next_look_are_cells_too() {
    let settings = Settings { time_limit_seconds: Some(1_800.0), ..Settings::default() };
    let plan = read_job(SIMPLE, &settings).unwrap_or_else(|p| panic!("{}", p.report("the job")));
    let mut state = RunState::new(&plan);
    let key = cell_key(&plan, &plan.cells[0], 4);
    let context = PhaseContext {
        cell: 4,
        repeats: 7,
        key: &key,
        phase: &plan.cells[0].phases[0],
        device: None,
        disk: None,
    };
    state.phase_begins(&context);
    assert_eq!(state.cells_done(), "0 of 7 cells done");
    assert_eq!(state.cells[0].marks[3], CellMark::Running);
    assert!(shown(&state, FULL, 80, 24).contains("no device"));
}

#[test]
fn making_files_is_shown_with_its_rate() {
    let mut run = WatchedRun::new(GROWING);
    run.state.prepares("bringing the place to files=2,000", &Headway::Share(0.25));
    let text = shown(&run.state, FULL, 80, 24);
    assert!(text.contains("bringing the place to files=2,000"), "{text}");
    assert!(text.contains(" 25%"), "{text}");
    let making = Headway::Making { files: 4_000, before: 1_000, done: [].into() };
    run.state.prepares("bringing the place to files=2,000", &making);
    run.look(Some(0));
    run.look(Some(500));
    let text = shown(&run.state, FULL, 80, 24);
    assert!(text.contains("1,500 of 4,000 files"), "{text}");
    assert!(text.contains("rate 2,000 files/s"), "{text}");
}

#[test]
fn many_cells_share_marks_and_many_variants_are_cut_around_the_one_that_runs() {
    let variants: String = (0..30).map(|n| format!("[[variant]]\nname = \"v{n:02}\"\n")).collect();
    let levels = (1..=40).map(|n| (n * 10).to_string()).collect::<Vec<_>>().join(", ");
    let text = GROWING.split("[[variant]]").next().unwrap_or_default();
    let text = text.replace("1_000, 2_000, 5_000, 10_000, 20_000", &levels) + &variants;
    let mut run = WatchedRun::new(&text);
    for at in (0..1_300).step_by(2) {
        run.begins(at);
    }
    let shown = shown(&run.state, FULL, 80, 24);
    assert!(shown.contains("a mark is 2 cells"), "{shown}");
    assert_golden("live-many.txt", &shown);
}

#[test]
fn one_line_fits_its_terminal_and_what_matters_least_is_left_out() {
    let run = under_way();
    let line = |columns| progress_line(&run.state, columns);
    let whole = "9%  repeat 1 of 3  ein böser Name  files=2,000  read  740/s  2 m 11 s left";
    assert_eq!(line(80), whole);
    assert_eq!(line(74), whole.replace("  740/s", ""));
    assert_eq!(line(60), "9%  ein böser Name  files=2,000  read  2 m 11 s left");
    assert_eq!(line(40), "9%  files=2,000  read  2 m 11 s left");
    assert_eq!(line(24), "9%  read  2 m 11 s left");
    assert_eq!(line(20), "9%  2 m 11 s left");
    assert_eq!((line(10).as_str(), line(3).as_str()), ("9%", "9%"));
}

#[test]
fn between_phases_the_line_says_what_is_done() {
    let mut run = WatchedRun::new(SIMPLE);
    assert_eq!(progress_line(&run.state, 80), "beginning");
    run.state.prepares("making files", &Headway::Share(0.25));
    assert_eq!(
        progress_line(&run.state, 80),
        "making files (25%)",
        "of the whole nothing is known"
    );
    let mut files = RunState::default();
    files.prepares("making files", &Headway::Share(0.25));
    assert_eq!(progress_line(&files, 80), "25%  making files", "they are the whole");
}

#[test]
fn the_time_left_knows_cells_by_variant_and_level_and_what_comes_before_their_phases() {
    let text = GROWING.replace("repeats = 3", "repeats = 2");
    let mut run = WatchedRun::new(&text);
    let cells = run.plan.cells.len();
    // Each cell is prepared for 2 s; its phases take a second and its own number of seconds.
    let mut total = 0.0;
    for at in 0..cells * 2 {
        let own = [1.0, 1.0 + (at / 2) as f64][at % 2];
        if at % 2 == 0 {
            run.state.prepares("preparing", &Headway::Share(0.5));
            run.state.seconds += 2.0;
            total += 2.0;
        }
        run.begins(at);
        run.state.seconds += own;
        total += own;
        run.ends(at, &[]);
    }
    let left = run.state.left();
    assert!(left.is_some_and(|left| (left - total).abs() < 1e-6), "{left:?}, not {total}");
    let share = run.state.share_done();
    assert!(share.is_some_and(|share| (share - 0.5).abs() < 1e-6), "{share:?}");
    // A second of the next preparation is over.
    run.state.seconds += 1.0;
    let left = run.state.left();
    assert!(left.is_some_and(|left| (left - total + 1.0).abs() < 1e-6), "{left:?}");
}
