//! Estimates the memory that boatload itself needs for a run, and refuses the run before anything is written if less is free.

use super::room::fits_memory;
use boatload_base::failure::{Failure, Result, shown};
use boatload_base::units::{bytes, counted};
use boatload_host::memory::{MemoryBound, MemoryRoom};
use boatload_plan::tree::FilesEach;
use boatload_plan::{BallastGoal, CellPlan, Phase, Plan};
use boatload_results::book::Window;
use boatload_results::recorder::PhaseRecorder;
use boatload_run::engine::device::DeviceEngine;
use boatload_run::engine::sync::SyncEngine;

/// The program with its libraries, the store and what is drawn of a run.
const PROGRAM_BYTES: u64 = 32 << 20;

/// What a thread touches of its stack, and what of it the limits of a process count.
const STACK_TOUCHED_BYTES: u64 = 64 << 10;
const STACK_BYTES: u64 = 2 << 20;

/// A measurement with a histogram of usual size, as it is kept, once more for when the run is given up, and as it is
/// written.
const MEASUREMENT_BYTES: u64 = 16 << 10;

/// The memory that a run takes at most, without the file systems in memory that it makes or fills.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryNeed {
    /// All of it, in bytes.
    pub bytes: u64,
    /// The phase whose workers take most.
    workers: Workers,
    /// Phases whose measurements are kept.
    measurements: u64,
    /// Bytes that they take.
    measured_bytes: u64,
}

/// Workers of a phase and their memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Workers {
    phase: String,
    threads: u64,
    bytes_each: u64,
}

impl Workers {
    fn of(cell: &CellPlan, phase: &Phase) -> Self {
        let engine_bytes = if cell.engine.is_simulated() {
            0
        } else if cell.reads_device() {
            DeviceEngine::bytes(phase)
        } else {
            SyncEngine::bytes(phase, &cell.tree)
        };
        let recorder_bytes = PhaseRecorder::bytes(phase);
        Self {
            phase: phase.name.clone(),
            threads: phase.threads.into(),
            bytes_each: engine_bytes + recorder_bytes + STACK_TOUCHED_BYTES,
        }
    }

    fn bytes(&self) -> u64 {
        self.threads.saturating_mul(self.bytes_each)
    }
}

impl MemoryNeed {
    /// The need of a plan where the file system that a cell runs on has `total_bytes`.
    pub fn of(plan: &Plan, total_bytes: impl Fn(&CellPlan) -> u64) -> Self {
        let phases = plan.cells.iter().flat_map(|cell| cell.phases.iter().map(move |p| (cell, p)));
        let workers = phases.clone().map(|(cell, phase)| Workers::of(cell, phase));
        let workers = workers.max_by_key(Workers::bytes).unwrap_or_default();
        let entries = plan.cells.iter().map(|cell| entries_bytes(cell, total_bytes(cell))).max();
        let window_bytes = size_of::<Window>() as u64;
        let each = |phase: &Phase| {
            let measured = phase.measured_names().len() as u64;
            MEASUREMENT_BYTES * measured + 3 * u64::from(phase.windows) * window_bytes
        };
        let repeats = u64::from(plan.repeats_max());
        let measured = phases.fold(0u64, |sum, (_, phase)| sum.saturating_add(each(phase)));
        let measured_bytes = measured.saturating_mul(repeats);
        let number = plan.cells.iter().map(|cell| cell.phases.len() as u64).sum::<u64>();
        let bytes = PROGRAM_BYTES
            .saturating_add(workers.bytes())
            .saturating_add(entries.unwrap_or_default())
            .saturating_add(measured_bytes);
        Self { bytes, workers, measurements: number.saturating_mul(repeats), measured_bytes }
    }

    /// What takes most of it, if something does.
    fn cause(&self) -> Option<String> {
        let Workers { phase, threads, bytes_each } = &self.workers;
        let each = bytes(*bytes_each);
        let (threads, measured) =
            (counted(*threads, "thread"), counted(self.measurements, "measurement"));
        if self.workers.bytes() > self.bytes / 2 {
            Some(format!("{threads} of `{}` with {each} each", shown(phase)))
        } else if self.measured_bytes > self.bytes / 2 {
            Some(measured)
        } else {
            None
        }
    }

    /// The need in words: `33.6 MB of memory`, and what takes most of it.
    pub fn words(&self) -> String {
        let cause = self.cause().map_or(String::new(), |cause| format!(" ({cause})"));
        format!("{} of memory{cause}", bytes(self.bytes))
    }

    /// Checks that a part of this room is left; where it is not known, nothing is in the way.
    ///
    /// # Errors
    /// If there is too little.
    pub fn check(&self, room: Option<&MemoryRoom>) -> Result<()> {
        let Some(room) = room else { return Ok(()) };
        let stacks = match room.bound {
            MemoryBound::Limit(_) => self.workers.threads.saturating_mul(STACK_BYTES),
            MemoryBound::Machine | MemoryBound::Group(_) => 0,
        };
        if fits_memory(self.bytes.saturating_add(stacks), Some(room.bytes)) {
            return Ok(());
        }
        Err(Failure::failed(format!(
            "the run may take {}; {}, and a fifth of that must stay free. Nothing was written. Take fewer \
             threads, smaller blocks or fewer repeats",
            self.words(),
            room_words(room)
        )))
    }
}

/// How much there is, and what bounds it.
pub fn room_words(room: &MemoryRoom) -> String {
    let free = bytes(room.bytes);
    match &room.bound {
        MemoryBound::Machine => format!("{free} are free"),
        MemoryBound::Group(name) => {
            format!("{free} are free in its control group {}", shown(name))
        }
        MemoryBound::Limit(word) => format!("{free} are free below its limit (`{word}`)"),
    }
}

/// Bytes of the bits and numbers that are kept for the entries of a cell.
fn entries_bytes(cell: &CellPlan, total_bytes: u64) -> u64 {
    let entries = cell.tree.capacity();
    let simulated = if cell.engine.is_simulated() { entries / 2 } else { 0 };
    let simulated_sizes = if cell.engine.is_simulated() { 8 * entries } else { 0 };
    // A mix knows of each file whether it exists, whether it is in hand, and in which of the directories with names it
    // is; a simulated one, how large it is.
    let sets = match cell.tree.files_each {
        FilesEach::AllIn(_) => 1 + cell.tree.holders(),
        FilesEach::Even | FilesEach::Fixed(_) | FilesEach::Drawn(_) => 2,
    };
    let mixed = if cell.has_mix() { sets * entries.div_ceil(8) + simulated_sizes } else { 0 };
    let simulated = simulated.saturating_add(mixed);
    let Some(prepare) = &cell.prepare else { return simulated };
    let files = match prepare.goal {
        BallastGoal::Files(files) => files,
        BallastGoal::Used(percent) => {
            let mean = prepare.ballast.tree.sizes.mean().max(1.0);
            (total_bytes as f64 * percent / 100.0 / mean) as u64
        }
    };
    // A random sample of them is drawn from a list of all.
    let listed = cell.phases.iter().any(|phase| phase.on_ballast.is_some());
    let beside = files.saturating_mul(if listed { 9 } else { 1 });
    simulated.saturating_add(beside)
}

#[cfg(test)]
mod tests {
    use super::*;
    use boatload_plan::{Settings, read_job};

    fn need(keys: &str, phase: &str) -> MemoryNeed {
        let job = format!(
            "name = 'x'\n{keys}\n[tree]\nfiles = 4096\nsize = '16MiB'\n[[phase]]\n{phase}\n"
        );
        let plan = read_job(&job, &Settings::default());
        MemoryNeed::of(&plan.unwrap_or_else(|p| panic!("{}", p.report("x"))), |_| 1 << 40)
    }

    fn room(bytes: u64, bound: MemoryBound) -> MemoryRoom {
        MemoryRoom { bytes, bound }
    }

    #[test]
    fn each_thread_that_writes_has_a_block_of_its_own() {
        let need = need("threads = 1024", "operation = 'create'\nblock = '16MiB'");
        let gib = need.bytes >> 30;
        assert!((16..=18).contains(&gib), "{need:?}");
        let words = need.words();
        assert!(words.contains("1,024 threads of `create` with 16.7 MiB each"), "{words}");
    }

    #[test]
    fn a_phase_that_moves_no_content_needs_no_block() {
        let need = need(
            "threads = 1024",
            "operation = 'create'\nblock = '16MiB'\n[[phase]]\noperation = 'stat'",
        );
        let alone = self::need(
            "threads = 1024",
            "operation = 'create'\nblock = '4KiB'\n[[phase]]\noperation = 'stat'\nblock = '16MiB'",
        );
        assert!(alone.bytes < need.bytes / 10, "{alone:?}");
    }

    #[test]
    fn a_simulated_run_has_no_blocks_and_one_thread_takes_little() {
        let simulated =
            need("threads = 64\nengine = 'sim'", "operation = 'create'\nblock = '16MiB'");
        assert!(simulated.bytes < 128 << 20, "{simulated:?}");
        assert!(need("", "operation = 'create'").bytes < 64 << 20);
    }

    #[test]
    fn what_does_not_fit_is_refused_with_what_bounds_it() {
        let need = need("threads = 1024", "operation = 'create'\nblock = '16MiB'");
        for (bound, words) in [
            (MemoryBound::Machine, "10.0 GiB are free,"),
            (MemoryBound::Group("/a/b".into()), "10.0 GiB are free in its control group /a/b,"),
            (MemoryBound::Limit("ulimit -v"), "10.0 GiB are free below its limit (`ulimit -v`),"),
        ] {
            let told = need.check(Some(&room(10 << 30, bound))).unwrap_err().sentence;
            assert!(told.contains(words) && told.contains("Nothing was written"), "{told}");
        }
        assert_eq!(need.check(Some(&room(64 << 30, MemoryBound::Machine))), Ok(()));
        assert_eq!(need.check(None), Ok(()));
    }

    #[test]
    fn a_limit_of_the_address_space_counts_whole_stacks() {
        let need = need("threads = 1024\nengine = 'sim'", "operation = 'create'");
        let bytes = need.bytes * 3 / 2;
        assert_eq!(need.check(Some(&room(bytes, MemoryBound::Machine))), Ok(()));
        assert!(need.check(Some(&room(bytes, MemoryBound::Limit("ulimit -v")))).is_err());
    }

    #[test]
    fn the_results_of_a_million_phases_are_counted() {
        let need = need(
            "repeats = 1000\nengine = 'sim'",
            "operation = 'create'\n[[phase]]\noperation = 'stat'\npasses = 199",
        );
        assert!(need.bytes > 3 << 30, "{need:?}");
        assert!(need.words().contains("(200,000 measurements)"), "{}", need.words());
    }
}
