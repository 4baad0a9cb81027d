use super::line::progress_line;
use super::state::RunState;
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

    fn ends(&mut self, at: usize) {
        let cells = self.plan.cells.len();
        let repeat = (at / 2 / cells) as u32 + 1;
        let key = cell_key(&self.plan, &self.plan.cells[at / 2 % cells], repeat);
        let mut state = std::mem::take(&mut self.state);
        let context = self.context(at, &key);
        let mut m =
            fixture::measurement(&context.phase.name, repeat, 1_000, 20_000 + at as u64 * 700);
        m.cell = key.clone();
        state.phase_ends(&m);
        self.state = state;
    }

    /// A quarter of a second later, with this number of operations done.
    fn look(&mut self, done: Option<u64>) {
        self.state.seconds += 0.25;
        self.state.take(done);
    }
}

/// Some way into a run: phases are over, and one is under way.
fn under_way() -> WatchedRun {
    let mut run = WatchedRun::new(GROWING);
    for at in 0..23 {
        run.begins(at);
        run.look(Some(500));
        run.look(Some(1_000));
        run.ends(at);
    }
    run.begins(23);
    let done = [70, 200, 400, 510, 570, 600, 690, 860, 1_090, 1_370, 1_430];
    done.iter().for_each(|done| run.look(Some(*done)));
    run
}

#[track_caller]
fn is_left(state: &RunState, seconds: f64) {
    let left = state.left();
    assert!(left.is_some_and(|left| (left - seconds).abs() < 1e-6), "{left:?}, not {seconds}");
}

#[test]
fn what_is_left_follows_from_what_was_done() {
    let mut run = WatchedRun::new(SIMPLE);
    run.begins(0);
    assert_eq!(run.state.left(), None, "no operation is done");
    (0..4).for_each(|_| run.look(Some(0)));
    run.look(Some(500));
    // Half of the first of two equal phases took 1.25 s.
    is_left(&run.state, 3.75);
    run.look(Some(1_000));
    run.ends(0);
    is_left(&run.state, 1.5);
    run.begins(2);
    run.look(Some(1_000));
    is_left(&run.state, 1.25);
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
    // A phase takes 0.25 s, and 45 cells have two phases each.
    for (at, left) in [(0, 22.25), (1, 22.0)] {
        run.begins(at);
        run.look(Some(1_000));
        run.ends(at);
        is_left(&run.state, left);
    }
    run.begins(2);
    is_left(&run.state, 22.0);
}

#[test]
fn a_run_with_a_time_limit_takes_no_longer_than_that() {
    let settings = Settings { time_limit_seconds: Some(1_800.0), ..Settings::default() };
    let plan = read_job(SIMPLE, &settings).unwrap_or_else(|p| panic!("{}", p.report("the job")));
    let mut facts = Book::default().run;
    (facts.repeats, facts.stopping) = (plan.repeats_min(), Stopping::of(&plan));
    let mut run = WatchedRun { state: RunState::new(&plan), plan };
    run.state.begins(&facts);
    run.begins(0);
    run.state.seconds = 1_799.0;
    run.look(Some(1));
    assert_eq!(run.state.left(), Some(0.75));
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
    state.seconds = 1.0;
    state.take(Some(500));
    // Half of the cell's one phase took 1 s, and six more repeats follow.
    is_left(&state, 13.0);
}

#[test]
fn making_files_is_shown_with_its_rate() {
    let mut run = WatchedRun::new(GROWING);
    run.state.prepares("bringing the place to files=2,000", &Headway::Share(0.25));
    assert_eq!(progress_line(&run.state, 80), "bringing the place to files=2,000 (25%)");
    let making = Headway::Making { files: 4_000, before: 1_000, done: [].into() };
    run.state.prepares("bringing the place to files=2,000", &making);
    run.look(Some(0));
    run.look(Some(500));
    let line = progress_line(&run.state, 80);
    assert_eq!(line, "bringing the place to files=2,000 (37%)  2,000/s");
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
