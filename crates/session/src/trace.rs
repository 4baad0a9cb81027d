//! Traces the file operations of another program, and makes a run of them.

use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::MemfdFlags;

use super::{VERSION, Watcher, new_id, now};
use boatload_base::failure::{Failure, Result, shown};
use boatload_base::units::{grouped, span};
use boatload_host::block_device::{BlockDevice, DeviceCounters};
use boatload_host::facts::{FilesystemFacts, HostFacts};
use boatload_host::mounts::Mount;
use boatload_host::process::{ProcessMark, descendants};
use boatload_host::stopped_program::{ProgramEnd, StoppedProgram};
use boatload_host::tracing::{
    DirectoryNames, MAP_ENTRIES_MAX, PathFilter, ProcessFilter, ScriptOrder, TraceBatch,
    TracedOperation, Tracer, TracerProgram, online_processors,
};
use boatload_plan::Conclusion;
use boatload_results::book::{Book, RunFacts, Stopping, TraceEnd, TraceFacts, TracedDisk};
use boatload_results::trace_tally::TraceTally;
use boatload_run::clock::{Clock, RealClock};
use boatload_run::interrupt::Interrupt;
use boatload_run::run_directory::open_parent;

/// The scenario's name of every traced run.
const SCENARIO: &str = "trace";

/// The pause between two checks for the end of the trace.
const PAUSE: Duration = Duration::from_millis(100);
/// After this many pauses counts are taken from the kernel, which takes time from the program; after each where its maps fill.
const PAUSES_MAX: u32 = 4;
/// Entries of a map, at one look, that count as filling.
const ENTRIES_MANY: usize = MAP_ENTRIES_MAX as usize / 16;
/// The pause between reports of progress, in seconds.
const SHOWN_EVERY: f64 = 0.5;
/// Windows become twice as wide when one look finds more entries than this.
const ENTRIES_WIDEN: usize = MAP_ENTRIES_MAX as usize / 4;
/// A window is not widened beyond so many operations.
const EVERY_MAX: u64 = 1 << 30;
/// Own calls that tell what tracing costs: less than a millisecond.
const OWN_CALLS: u32 = 200;
/// Tries; the shortest is taken, since every disturbance makes a try longer.
const OWN_TRIES: u32 = 50;
/// How often own calls take turns to be traced and not.
const OWN_TURNS: u32 = 4;

/// A longer word behind a program's name names no command of it.
const COMMAND_BYTES_MAX: usize = 10;

/// Looks that find no followed process before the trace ends.
const LAST_LOOKS: u32 = 3;

/// Whose operations are traced.
pub enum TraceTarget {
    /// All processes of this name.
    Named(Vec<u8>),
    /// This process and its children.
    Process(u32),
    /// This program and its children, with its command line.
    Program(StoppedProgram, String),
    /// All processes, below a directory.
    Everyone,
}

/// What to trace, and how long.
pub struct TraceOrder {
    /// Which program is traced.
    pub target: TraceTarget,
    /// Only files below this directory.
    pub path: Option<PathBuf>,
    /// The operations that are traced.
    pub operations: Vec<TracedOperation>,
    /// Operations of a window.
    pub every: u64,
    /// Until the target ends, or the user ends it, if none.
    pub duration: Option<Duration>,
    /// The command line, for the record.
    pub command: String,
}

impl TraceTarget {
    fn filter(&self) -> ProcessFilter {
        match self {
            Self::Named(name) => ProcessFilter::Named(name.clone()),
            Self::Process(_) | Self::Program(..) => ProcessFilter::Followed,
            Self::Everyone => ProcessFilter::All,
        }
    }

    /// In a sentence: `processes named touch`.
    pub fn words(&self) -> String {
        match self {
            Self::Named(name) => format!("processes named {}", lossy(name)),
            Self::Process(process) => format!("process {process} and its children"),
            Self::Program(_, line) => format!("`{line}` and its children"),
            Self::Everyone => "all processes".into(),
        }
    }

    /// The variant's name, short enough for a sentence.
    fn name(&self) -> String {
        match self {
            Self::Named(name) => lossy(name),
            Self::Process(process) => format!("process-{process}"),
            Self::Program(_, line) => short_name(line),
            Self::Everyone => "all".into(),
        }
    }

    /// What counts the calls of the same without root, where something does.
    fn by_strace(&self) -> Option<String> {
        match self {
            Self::Program(_, line) => Some(format!("strace -f -c -- {line}")),
            Self::Process(process) => Some(format!("strace -f -c -p {process}")),
            Self::Named(_) | Self::Everyone => None,
        }
    }
}

/// A program's name without its directory, with the word behind it where that names what it does: `git clone`.
fn short_name(line: &str) -> String {
    let mut words = line.split(' ');
    let program = words.next().unwrap_or_default();
    let program = program.rsplit('/').next().unwrap_or_default();
    let is_command = |word: &&str| {
        word.len() <= COMMAND_BYTES_MAX && word.bytes().all(|byte| byte.is_ascii_lowercase())
    };
    match words.next().filter(is_command) {
        Some(command) => format!("{program} {command}"),
        None => program.into(),
    }
}

fn lossy(name: &[u8]) -> String {
    shown(std::os::unix::ffi::OsStrExt::from_bytes(name) as &std::ffi::OsStr)
}

impl TraceOrder {
    fn script_order(&self) -> Result<ScriptOrder> {
        Ok(ScriptOrder {
            processes: self.target.filter(),
            path: self.path.as_deref().map(PathFilter::new).transpose()?,
            operations: self.operations.clone(),
            every: self.every,
            own_process: std::process::id(),
            cpus: online_processors(),
        })
    }

    /// The script that bpftrace would run.
    ///
    /// # Errors
    /// If the directory cannot be found.
    pub fn script(&self) -> Result<String> {
        self.script_order().map(|order| order.script())
    }

    /// The facts of the machine; of the file system only where one is named.
    fn survey(&self) -> Result<TraceSurvey> {
        let directory = open_parent(self.path.as_deref().unwrap_or(Path::new(".")))?;
        let mut host = HostFacts::gather(directory.as_fd())?;
        if self.path.is_none() {
            (host.filesystem, host.device) = (FilesystemFacts::default(), None);
        }
        let mount = Mount::of(directory.as_fd()).ok();
        Ok(TraceSurvey { host, device: mount.and_then(|mount| BlockDevice::under(&mount)) })
    }
}

/// The machine, and the device below the directory.
struct TraceSurvey {
    host: HostFacts,
    device: Option<BlockDevice>,
}

impl TraceSurvey {
    fn counters(&self) -> Option<DeviceCounters> {
        self.device.as_ref()?.counters()
    }

    /// What the disk did since these counters.
    fn disk(&self, before: Option<DeviceCounters>) -> Option<TracedDisk> {
        let moved = self.counters()?.since(before?)?;
        let name = self.device.as_ref()?.facts.name.clone();
        Some(TracedDisk { name, busy_seconds: moved.busy_ms as f64 / 1e3 })
    }
}

/// Traces until the target ends, the time is over, or the user ends it; gives what was seen until then.
///
/// # Errors
/// If it cannot trace, or nothing was seen.
pub fn trace(mut order: TraceOrder, watcher: &dyn Watcher, interrupt: &Interrupt) -> Result<Book> {
    watcher.status("starting bpftrace");
    let program = TracerProgram::find().map_err(|lack| with_strace(lack, &order.target))?;
    let (survey, started) = (order.survey()?, now());
    let mark = match &order.target {
        TraceTarget::Process(process) => {
            Some(ProcessMark::of_process(*process).ok_or_else(|| {
                Failure::failed(format!("cannot trace: there is no process {process}"))
            })?)
        }
        _ => None,
    };
    let mut session = TraceSession::start(&program, &order, mark)?;
    session.measure_costs()?;
    session.begin()?;
    let before = survey.counters();
    session.follow(&order.target);
    watcher.notice(&format!("tracing {}; {}", order.words(), order.until()));
    if let TraceTarget::Program(program, _) = &mut order.target {
        program.release()?;
    }
    let ended = session.watch(&order, watcher, interrupt)?;
    let disk = survey.disk(before);
    let names = session.tracer.directory_names()?.with_mounts();
    let mut result = session.over();
    let traced = TraceFacts { disk, ..result.facts(&order, ended, &names, program.version) };
    let measurements = result.tally.measurements(&order.target.name());
    if measurements.is_empty() {
        return Err(nothing_seen(&traced));
    }
    let run = RunFacts {
        id: new_id()?,
        scenario: SCENARIO.into(),
        question: order.question(),
        started,
        finished: Some(now()),
        command: order.command.clone(),
        boatload: VERSION.into(),
        complete: true,
        overhead_ns: Some(result.costs.traced_ns()),
        conclude: vec![Conclusion::Growth],
        repeats: 1,
        stopping: Stopping::Fixed { fixed: 1 },
        traced: Some(traced),
        ..RunFacts::default()
    };
    let book = Book { run, host: survey.host, measurements, ..Book::default() };
    Ok(book.ordered_as_measured())
}

/// What cannot be traced, with what counts the same calls meanwhile.
fn with_strace(lack: Failure, target: &TraceTarget) -> Failure {
    let Some(command) = target.by_strace() else { return lack };
    let sentence = format!(
        "{}. Meanwhile `{command}` counts each system call with its time in the kernel; the program runs several times \
         as long",
        lack.sentence
    );
    Failure { sentence, ..lack }
}

fn nothing_seen(traced: &TraceFacts) -> Failure {
    let below = traced.path.as_ref().map(|path| format!(" below {path}")).unwrap_or_default();
    let end =
        traced.program_end.as_ref().map(|end| format!(". The program {end}")).unwrap_or_default();
    Failure::failed(format!(
        "{} did none of the traced file operations{below} in {}, so nothing is kept{end}",
        traced.target,
        span(traced.seconds)
    ))
}

impl TraceOrder {
    /// What is traced, in a sentence: `all files below /srv`.
    pub fn words(&self) -> String {
        match &self.target {
            TraceTarget::Everyone if self.path.is_some() => format!("all files{}", self.below()),
            target => format!("{}{}", target.words(), self.below()),
        }
    }

    fn below(&self) -> String {
        self.path.as_ref().map_or_else(String::new, |path| format!(" below {}", shown(path)))
    }

    fn question(&self) -> String {
        format!("Where does the time of {} go?", self.words())
    }

    /// When it ends, in words.
    fn until(&self) -> String {
        let end = match &self.target {
            TraceTarget::Process(_) | TraceTarget::Program(..) => {
                "it ends with the last of its processes, or with Ctrl-C"
            }
            _ => "Ctrl-C ends it",
        };
        match self.duration {
            Some(time) => format!("{end}, or after {} s", time.as_secs_f64()),
            None => end.into(),
        }
    }
}

fn end_words(end: ProgramEnd) -> String {
    match end {
        ProgramEnd::Status(status) => format!("ended with status {status}"),
        ProgramEnd::Signal(signal) => format!("was ended by signal {signal}"),
    }
}

/// What tracing costs, by calls of boatload's own, in nanoseconds each.
#[derive(Clone, Copy, Debug, Default)]
struct TraceCosts {
    /// Nothing is attached.
    untraced_ns: f64,
    /// Others are traced.
    beside_ns: f64,
    /// It is traced itself.
    with_ns: f64,
}

impl TraceCosts {
    fn traced_ns(self) -> f64 {
        (self.with_ns - self.untraced_ns).max(0.0)
    }

    fn bystander_ns(self) -> f64 {
        (self.beside_ns - self.untraced_ns).max(0.0)
    }
}

struct TraceSession {
    clock: RealClock,
    begun: u64,
    tracer: Tracer,
    tally: TraceTally,
    /// What boatload's own calls read.
    own_file: OwnedFd,
    costs: TraceCosts,
    every: u64,
    /// When the last batch was taken, in seconds since the start.
    taken: f64,
    /// The totals of the last batch.
    last: TraceBatch,
    /// How long the target was watched, in seconds.
    watched: f64,
    mark: Option<ProcessMark>,
    program_end: Option<ProgramEnd>,
    /// Followed processes that still run after the one that was named.
    survivors: usize,
}

impl TraceSession {
    fn start(
        program: &TracerProgram,
        order: &TraceOrder,
        mark: Option<ProcessMark>,
    ) -> Result<Self> {
        let clock = RealClock::new();
        let own_file = rustix::fs::memfd_create("boatload-own", MemfdFlags::CLOEXEC)
            .map_err(|error| Failure::from_system("make a file in memory", error))?;
        let untraced_ns = best_of_tries(&clock, &own_file);
        let tracer = Tracer::start(program, &order.script_order()?)?;
        Ok(Self {
            begun: clock.now(),
            clock,
            tracer,
            tally: TraceTally::default(),
            own_file,
            costs: TraceCosts { untraced_ns, ..TraceCosts::default() },
            every: order.every,
            taken: 0.0,
            last: TraceBatch::default(),
            watched: 0.0,
            mark,
            program_end: None,
            survivors: 0,
        })
    }

    /// Measures what tracing costs, beside a tracer and traced, in turns.
    fn measure_costs(&mut self) -> Result<()> {
        (self.costs.beside_ns, self.costs.with_ns) = (f64::INFINITY, f64::INFINITY);
        for _ in 0..OWN_TURNS {
            self.costs.beside_ns =
                self.costs.beside_ns.min(best_of_tries(&self.clock, &self.own_file));
            self.tracer.count_own(true);
            self.costs.with_ns = self.costs.with_ns.min(best_of_tries(&self.clock, &self.own_file));
            self.tracer.count_own(false);
            // The kernel's maps are emptied.
            self.take(Tracer::collect)?;
        }
        Ok(())
    }

    /// Forgets what was counted meanwhile.
    fn begin(&mut self) -> Result<()> {
        self.tracer.begin()?;
        self.tally = TraceTally::default();
        Ok(())
    }

    /// Follows the target's processes, where it has some of its own.
    fn follow(&self, target: &TraceTarget) {
        match target {
            TraceTarget::Named(_) | TraceTarget::Everyone => {}
            TraceTarget::Process(process) => {
                self.tracer.follow(*process);
                self.follow_descendants(*process);
            }
            TraceTarget::Program(program, _) => self.tracer.follow(program.process()),
        }
    }

    /// Follows the processes that descend from this one now. What begins meanwhile below one that is not followed yet
    /// is found by looking again.
    fn follow_descendants(&self, process: u32) {
        let mut followed = Vec::new();
        loop {
            let mut new = descendants(process);
            new.retain(|one| !followed.contains(one));
            if new.is_empty() {
                return;
            }
            new.iter().for_each(|one| self.tracer.follow(*one));
            followed.extend(new);
        }
    }

    /// Takes counts until it is over; says why it is.
    fn watch(
        &mut self,
        order: &TraceOrder,
        watcher: &dyn Watcher,
        interrupt: &Interrupt,
    ) -> Result<TraceEnd> {
        let (from, mut shown_at, mut pauses) = (self.seconds(), f64::NEG_INFINITY, 0);
        let ended = loop {
            let had_survivors = self.survivors > 0;
            if let Some(ended) = self.end(order, interrupt, self.seconds() - from)? {
                break ended;
            }
            if self.survivors > 0 && !had_survivors {
                watcher.notice(&format!(
                    "it has ended; what it started still runs and is traced until it ends, or until Ctrl-C \
                     (processes: {})",
                    grouped(self.survivors as u64)
                ));
            }
            boatload_base::patience::pause(PAUSE);
            pauses += 1;
            if pauses < PAUSES_MAX && self.last.entries() < ENTRIES_MANY {
                continue;
            }
            pauses = 0;
            self.take(Tracer::collect)?;
            if self.taken - shown_at >= SHOWN_EVERY {
                shown_at = self.taken;
                watcher.status(&self.progress(self.taken - from));
            }
        };
        self.watched = self.seconds() - from;
        self.take(Tracer::finish)?;
        Ok(ended)
    }

    fn end(
        &mut self,
        order: &TraceOrder,
        interrupt: &Interrupt,
        seconds: f64,
    ) -> Result<Option<TraceEnd>> {
        let has_ended = match &order.target {
            TraceTarget::Program(program, _) => {
                self.program_end = self.program_end.or_else(|| program.ended());
                self.program_end.is_some()
            }
            _ => self.mark.as_ref().is_some_and(|mark| !mark.is_running_elsewhere()),
        };
        if has_ended {
            self.survivors = self.survivors()?;
            if self.survivors == 0 {
                return Ok(Some(TraceEnd::ProgramEnded));
            }
        }
        if interrupt.is_set() {
            return Ok(Some(TraceEnd::Interrupted));
        }
        let is_over = order.duration.is_some_and(|time| seconds >= time.as_secs_f64());
        Ok(is_over.then_some(TraceEnd::Duration))
    }

    /// The number of followed processes that still run. Each may start another and end while they are listed, which a single look would
    /// miss.
    fn survivors(&mut self) -> Result<usize> {
        for _ in 0..LAST_LOOKS {
            let followed = self.tracer.running()?.into_iter();
            let running = followed.filter(|one| ProcessMark::of_process(*one).is_some()).count();
            if running > 0 {
                return Ok(running);
            }
        }
        Ok(0)
    }

    fn take(&mut self, take: fn(&mut Tracer) -> Result<TraceBatch>) -> Result<()> {
        let batch = take(&mut self.tracer)?;
        self.taken = self.seconds();
        self.tally.add(&batch, self.every);
        if batch.latencies.len() > ENTRIES_WIDEN && self.every < EVERY_MAX {
            self.every *= 2;
            self.tracer.widen_windows(self.every);
        }
        self.last = batch;
        Ok(())
    }

    fn seconds(&self) -> f64 {
        self.clock.nanoseconds(self.begun, self.clock.now()) as f64 / 1e9
    }

    /// `12 s: create 30,000, close 30,006`
    fn progress(&self, seconds: f64) -> String {
        let counts = self.tally.counted().filter(|(_, count)| *count > 0);
        let texts: Vec<String> =
            counts.map(|(one, count)| format!("{one} {}", grouped(count))).collect();
        let seen = if texts.is_empty() { "nothing yet".into() } else { texts.join(", ") };
        format!("{seconds:.0} s: {seen}")
    }

    /// What was counted, with what tracing cost, when nothing is attached any more.
    fn over(self) -> TraceResult {
        let Self { clock, tracer, tally, own_file, mut costs, program_end, last, watched, .. } =
            self;
        drop(tracer);
        costs.untraced_ns = costs.untraced_ns.min(best_of_tries(&clock, &own_file));
        TraceResult { tally, costs, program_end, last, watched }
    }
}

/// All that came of it.
struct TraceResult {
    tally: TraceTally,
    costs: TraceCosts,
    program_end: Option<ProgramEnd>,
    last: TraceBatch,
    watched: f64,
}

impl TraceResult {
    /// What is known of the whole; not of the disk. What was counted by directory is then gone.
    fn facts(
        &mut self,
        order: &TraceOrder,
        ended: TraceEnd,
        names: &DirectoryNames,
        tracer: String,
    ) -> TraceFacts {
        let TraceBatch { followed_ns, ended_ns, in_calls_ns, io_uring_calls, .. } = self.last;
        let is_whole = ended == TraceEnd::ProgramEnded && ended_ns > followed_ns;
        let seconds = match is_whole {
            true => (ended_ns - followed_ns) as f64 / 1e9,
            false => self.watched,
        };
        let in_calls_ns = in_calls_ns.min(self.tally.total_ns());
        let all = order.operations.len() == TracedOperation::ALL.len();
        TraceFacts {
            target: order.target.words(),
            path: order.path.as_ref().map(shown),
            tracer,
            operations: if all { Vec::new() } else { order.operations.clone() },
            directory: std::env::current_dir().map(shown).unwrap_or_default(),
            is_whole: is_whole && matches!(order.target, TraceTarget::Program(..)),
            seconds,
            in_calls_seconds: (in_calls_ns as f64 / 1e9).min(seconds),
            directories: self.tally.take_directories(&mut |one| names.find(one)),
            disk: None,
            every: order.every,
            bystander_ns: self.costs.bystander_ns(),
            lost: self.tally.lost(),
            io_uring_calls,
            ended,
            program_end: self.program_end.map(end_words),
        }
    }
}

fn best_of_tries(clock: &RealClock, file: &OwnedFd) -> f64 {
    (0..OWN_TRIES).map(|_| own_call_ns(clock, file)).fold(f64::INFINITY, f64::min)
}

/// What a cheap call takes, in nanoseconds: reading nothing from a file in memory.
fn own_call_ns(clock: &RealClock, file: &OwnedFd) -> f64 {
    let mut byte = [0];
    let read = || {
        for _ in 0..OWN_CALLS {
            let _ = rustix::io::pread(file, &mut byte, 0);
        }
    };
    clock.time(read).1 * 1e9 / f64::from(OWN_CALLS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_named_with_its_command() {
        let names = ["git clone x y", "/usr/bin/tar xf linux.tar", "make -j8", "rm -r d", "sh ./b"];
        let expected = ["git clone", "tar xf", "make", "rm", "sh"];
        assert_eq!(names.map(short_name), expected);
    }

    #[test]
    fn a_trace_of_a_directory_is_announced_by_its_path() {
        let order = TraceOrder {
            target: TraceTarget::Everyone,
            path: Some("/srv/mail".into()),
            operations: Vec::new(),
            every: 1000,
            duration: None,
            command: String::new(),
        };
        assert_eq!(order.words(), "all files below /srv/mail");
    }
}
