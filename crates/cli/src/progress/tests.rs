use boatload_base::errno::Errno;
use boatload_results::book::InvalidReason;
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;

use super::state::RunState;
use super::view::{draw, progress_line};
use boatload_plan::{Plan, Settings, read_job};
use boatload_results::book::{Book, CellKey, Stopping};
use boatload_results::fixture;
use boatload_run::ballast::Headway;
use boatload_session::{PhaseContext, cell_key};

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
        let (index, phase) = (at / 2 % self.plan.cells.len(), at % 2);
        let phases = &self.plan.cells[index].phases;
        PhaseContext {
            cell: 1,
            repeats: self.plan.repeats_min(),
            key,
            phase: &phases[phase.min(phases.len() - 1)],
            device: None,
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
        self.state.seconds += 0.25;
        self.state.take(done);
    }
}

/// Some way into a run: phases are over, one of them invalid, and one is under way.
fn under_way() -> WatchedRun {
    let mut run = WatchedRun::new(GROWING);
    run.state.add_notice("after 3 repeats in 12 s: the answer is open");
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
fn shown(state: &RunState, ascii: bool, columns: u16, rows: u16) -> String {
    let mut buffer = Buffer::empty(Rect::new(0, 0, columns, rows));
    draw(state, ascii, &mut buffer);
    let row = |y: u16| (0..columns).map(|x| buffer[(x, y)].symbol()).collect::<String>();
    (0..rows).map(|y| row(y).trim_end().to_string() + "\n").collect()
}

#[test]
fn a_run_under_way_is_shown_in_terminals_of_all_sizes() {
    let run = under_way();
    let text = shown(&run.state, false, 80, 24);
    for part in [
        "boatload growing",
        "11 of 45 cells done, 1 invalid",
        "repeat 1 of 3, ein böser Name, files=2,000, read",
        "finished phases",
        "Ctrl-C ends the run",
    ] {
        assert!(text.contains(part), "{part}:\n{text}");
    }
    for (columns, rows) in [(1, 1), (10, 3), (40, 10), (300, 100), (300, 5), (20, 60)] {
        let text = shown(&run.state, false, columns, rows);
        assert_eq!(text.lines().count(), usize::from(rows), "{columns}x{rows}:\n{text}");
    }
}

#[test]
fn nothing_but_ascii_is_shown_where_there_is_nothing_else() {
    let text = shown(&under_way().state, true, 80, 24);
    assert!(text.is_ascii() && text.contains("ein b?ser Name"), "{text}");
}

#[test]
fn words_from_outside_bring_no_control_characters() {
    let mut run = under_way();
    run.state.add_notice("found \u{1b}[31mred\nwords");
    run.state.name = "making \u{7}x".into();
    let text = shown(&run.state, false, 160, 50);
    assert!(text.contains("found \\u{1b}[31mred\\nwords"), "{text}");
    assert!(!text.replace('\n', "").contains(char::is_control), "{text}");
}

#[test]
fn before_the_first_phase_it_says_what_is_done() {
    let mut run = WatchedRun::new(SIMPLE);
    run.state.status = "measuring the measurement overhead".into();
    run.look(None);
    let text = shown(&run.state, false, 80, 24);
    assert!(text.contains("measuring the measurement overhead"), "{text}");
    assert!(text.contains("0 of 2 cells done"), "{text}");
    assert!(!text.contains("left"), "nothing is known yet: {text}");
}

#[test]
fn the_cell_that_was_invalid_stays_marked() {
    let run = under_way();
    assert_eq!(run.state.cells_done(), "11 of 45 cells done, 1 invalid");
    assert!(shown(&run.state, false, 80, 24).contains("EACCES x 3"));
}

#[test]
fn what_is_left_follows_from_what_was_done() {
    let mut run = WatchedRun::new(SIMPLE);
    run.begins(0);
    assert_eq!(run.state.left(), None, "no operation is done");
    (0..4).for_each(|_| run.look(Some(0)));
    run.look(Some(500));
    let near = |found: Option<f64>, expected: f64| {
        assert!(found.is_some_and(|f| (f - expected).abs() < 1e-6), "{found:?}, not {expected}");
    };
    // Half of the first of two equal phases took 1.25 s.
    near(run.state.left(), 3.75);
    run.look(Some(1_000));
    run.ends(0, &[]);
    near(run.state.left(), 1.5);
    run.begins(2);
    run.look(Some(1_000));
    near(run.state.left(), 1.25);
}

#[test]
fn the_rate_is_that_of_the_last_second() {
    let mut run = WatchedRun::new(SIMPLE);
    run.begins(0);
    assert_eq!(run.state.rate(), None);
    (0..8).for_each(|at| run.look(Some(at * 10)));
    assert_eq!(run.state.rate(), Some(40.0));
    (0..5).for_each(|_| run.look(Some(70)));
    assert_eq!(run.state.rate(), Some(0.0));
    run.look(None);
    assert_eq!(run.state.rate(), None, "nothing is counted");
}

#[test]
fn the_end_of_a_cell_is_said_with_what_it_took() {
    let mut run = WatchedRun::new(SIMPLE);
    run.state.seconds = 5.0;
    run.begins(0);
    let m = fixture::measurement("create", 1, 1_000, 20_000);
    let said = run.state.phase_ends(&m).unwrap();
    assert!(said.starts_with("repeat 1 of 2: 1 phase in "), "{said}");
    assert!(said.contains(", prepared in 5"), "{said}");
    assert_eq!(run.state.cell_ends(), None);
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
    let text = shown(&run.state, false, 80, 24);
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
    };
    state.phase_begins(&context);
    assert_eq!(state.cells_done(), "0 of 7 cells done");
}

#[test]
fn making_files_is_shown_with_its_rate() {
    let mut run = WatchedRun::new(GROWING);
    run.state.prepares("bringing the place to files=2,000", &Headway::Share(0.25));
    let text = shown(&run.state, false, 80, 24);
    assert!(text.contains("bringing the place to files=2,000"), "{text}");
    assert!(text.contains(" 25%"), "{text}");
    let making = Headway::Making { files: 4_000, before: 1_000, done: [].into() };
    run.state.prepares("bringing the place to files=2,000", &making);
    run.look(Some(0));
    run.look(Some(500));
    let text = shown(&run.state, false, 80, 24);
    assert!(text.contains("1,500 of 4,000 files"), "{text}");
    assert!(text.contains("2,000 a second"), "{text}");
}

#[test]
fn one_line_fits_its_terminal_and_what_matters_least_is_left_out() {
    let run = under_way();
    let line = |columns| progress_line(&run.state, columns);
    let whole = "30%  repeat 1 of 3  ein böser Name  files=2,000  read  740/s  33 s left";
    assert_eq!(line(80), whole);
    assert_eq!(line(71), whole.replace("  740/s", ""));
    assert_eq!(line(55), "30%  ein böser Name  files=2,000  read  33 s left");
    assert_eq!(line(40), "30%  files=2,000  read  33 s left");
    assert_eq!(line(24), "30%  read  33 s left");
    assert_eq!(line(20), "30%  33 s left");
    assert_eq!((line(10).as_str(), line(4).as_str()), ("30%", "30%"));
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
