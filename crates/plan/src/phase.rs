//! Describes one checked phase of a cell: which operation on which targets, and how.

use serde::Serialize;

use super::mix::{Mix, Step, Work, WorkShare, work_name};
use super::selection::{Order, Selection};
use super::tree::{Handles, Sizes, Tree};
use boatload_base::named_enum;
use boatload_op::{Change, Chunk, Durability, ItemId, Operation, Subject, Target};

/// The phase that boatload adds behind the phases of a job where it made the file system: what is still
/// written until it is unmounted.
pub const SETTLE: &str = "settle";

/// Most bytes of one read or write where nothing is said.
pub const BLOCK_DEFAULT: u32 = 1 << 20;

/// Direct I/O works in whole blocks of the device: 512 bytes on some, 4 KiB on others. Offsets,
/// lengths and buffers in whole 4 KiB suit both (open(2), `O_DIRECT`).
pub const DIRECT_BYTES: u32 = 4096;

named_enum! {
    /// What a phase asks of the caches.
    #[derive(Default)]
    pub enum CacheAsked {
        /// Nothing of the tree in memory.
        Cold = "cold",
        /// Everything the phase uses in memory.
        Warm = "warm",
        /// As the phase before left it.
        #[default]
        AsIs = "as-is",
    }
}

/// Versions of a file that have contents of their own.
const VERSIONS: u64 = 1 << 20;

/// When a phase ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub enum PhaseEnd {
    /// When each of its targets had its turn.
    #[default]
    Targets,
    /// After this many nanoseconds; but a cold phase with its last target, for a second round would
    /// not be cold.
    After(u64),
    /// After this many operations: what the first pass did in its time, or all turns of a mix.
    Operations(u64),
}

/// A change that an earlier phase of the cell made to some of the files.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PastChange {
    /// What it did.
    pub change: Change,
    /// To which files.
    pub selection: Selection,
    /// The law of the sizes that it wrote; `None` for the tree's sizes.
    pub sizes: Option<Sizes>,
}

/// A file as the phases until now have left it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileState {
    /// Bytes.
    pub size: u64,
    /// How often content was written.
    pub writes: u32,
    /// How often it was renamed.
    pub generation: u32,
}

/// A checked phase, ready to run.
#[derive(Clone, Debug, Serialize)]
pub struct Phase {
    /// Its name, unique in the cell but for its passes.
    pub name: String,
    /// What is done; [`MIX`](super::mix::MIX) where that is several works.
    pub operation: &'static Operation,
    /// To which targets, in which order; the files that are there before a mix.
    pub selection: Selection,
    /// The works of a mix; `None` of one operation.
    pub mix: Option<Mix>,
    /// Slices of the phase with latency figures of their own; 0 for none.
    pub windows: u32,
    /// When written data must be on the device.
    pub durability: Durability,
    /// What is asked of the caches.
    pub cache: CacheAsked,
    /// Workers.
    pub threads: u32,
    /// Which of the passes this is, from 1.
    pub pass: u32,
    /// Most bytes of one read or write.
    pub block: u32,
    /// Whether reads leave access times alone.
    pub keep_atime: bool,
    /// Whether reads and writes go around the page cache.
    pub direct: bool,
    /// When it ends.
    pub end: PhaseEnd,
    /// How long it may take, in nanoseconds: then it ends, and is invalid.
    pub limit_ns: Option<u64>,
    /// The law of the sizes that it writes; `None` for the tree's sizes.
    pub sizes: Option<Sizes>,
    /// What the phases before it did to the files.
    pub history: Vec<PastChange>,
    /// The first live directory entry and the layout's directories, for a walk over all of them.
    pub walk: DirectoryWalk,
    /// Entries the tree holds when the phase has done all its work.
    pub entries_after: u64,
    /// With many ranks, each works on what the rank `rank_offset` further wrote, modulo their number.
    pub rank_offset: u32,
    /// Set if it looks at the files that were prepared beside the tree: then the selection is made
    /// when they are known.
    pub on_ballast: Option<OnBallast>,
}

/// Which of the files beside the tree a phase looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct OnBallast {
    /// At most so many.
    pub most: u64,
    /// In which order.
    pub order: Order,
    /// Its number in the cell, which a random order follows from.
    pub salt: u64,
}

/// How the numbers of a walk over all directories are read: first the layout, then the entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DirectoryWalk {
    /// Directories of the layout.
    pub layout: u64,
    /// The lowest number of a directory that is an entry.
    pub first_entry: u64,
}

impl Phase {
    /// One operation on a selection with nothing before it, which asks nothing of caches or
    /// durability: what is done outside of any measurement.
    pub fn bare(operation: &'static Operation, selection: Selection, threads: u32) -> Self {
        Self {
            name: operation.name.into(),
            operation,
            selection,
            mix: None,
            windows: 0,
            durability: Durability::None,
            cache: CacheAsked::AsIs,
            threads,
            pass: 1,
            block: BLOCK_DEFAULT,
            keep_atime: false,
            direct: false,
            end: PhaseEnd::Targets,
            limit_ns: None,
            sizes: None,
            history: Vec::new(),
            walk: DirectoryWalk::default(),
            entries_after: 0,
            rank_offset: 0,
            on_ballast: None,
        }
    }

    /// What the file looks like before this phase.
    #[inline(never)]
    pub fn state_before(&self, tree: &Tree, number: u64) -> FileState {
        let mut state = FileState::default();
        for past in &self.history {
            if past.selection.contains(number) {
                state.apply(past, tree, number);
            }
        }
        state
    }

    /// How many operations it is known to do; `None` if its time decides.
    pub fn operations(&self) -> Option<u64> {
        match self.end {
            PhaseEnd::Targets => Some(self.selection.count),
            PhaseEnd::Operations(operations) => Some(operations),
            PhaseEnd::After(_) => None,
        }
    }

    /// How many of them a worker is known to do.
    pub fn turns(&self, worker: u32) -> Option<u64> {
        let share = self.selection.share(worker, self.threads).count;
        let in_turn = |all: u64| {
            let (worker, workers) = (u64::from(worker), u64::from(self.threads));
            (all + workers - 1 - worker) / workers
        };
        match self.end {
            PhaseEnd::Targets => Some(share),
            PhaseEnd::Operations(all) if self.mix.is_some() => Some(in_turn(all)),
            PhaseEnd::Operations(all) => {
                // Those without a target do none, so that the others do all.
                let has_share = |other: &u32| self.selection.share(*other, self.threads).count > 0;
                let workers = (0..self.threads).filter(has_share).count() as u64;
                let before = (0..worker).filter(has_share).count() as u64;
                Some(if share == 0 { 0 } else { (all + workers - 1 - before) / workers })
            }
            PhaseEnd::After(_) => None,
        }
    }

    /// The most operations of a worker, whatever its time allows.
    pub fn turns_max(&self, worker: u32) -> u64 {
        let share = self.selection.share(worker, self.threads).count;
        let goes_round = self.mix.is_some() || self.cache != CacheAsked::Cold && share > 0;
        self.turns(worker).unwrap_or(if goes_round { u64::MAX } else { share })
    }

    /// Maps the numbers of this phase's targets to their paths and contents.
    pub fn targets<'a>(&'a self, tree: &'a Tree) -> TargetMap<'a> {
        let change = self.operation.change;
        // Names are always needed, contents only to write, sizes also to cut.
        let needs_size = change.writes_content() || change == Change::Halves;
        let renamed = self.history.iter().any(|past| past.change == Change::Renames);
        let subject = self.operation.subject;
        let needs_state =
            subject == Subject::File && !self.history.is_empty() && (needs_size || renamed);
        let sizes = self.sizes.unwrap_or(tree.sizes);
        let all = self.target_of_all();
        TargetMap { phase: self, tree, subject, change, needs_state, sizes, all }
    }

    /// What all its targets share.
    fn target_of_all(&self) -> Target {
        Target {
            place: ItemId::file(0),
            size: 0,
            version: 0,
            block: self.block,
            durability: self.durability,
            keep_atime: self.keep_atime,
            direct: self.direct,
            opens: true,
            closes: true,
            new_directory: None,
            chunk: Chunk::default(),
        }
    }

    /// The law of the sizes that it writes; if it reads, the one by which they were last written.
    pub fn sizes(&self, tree: &Tree) -> Sizes {
        let written = |past: &&PastChange| past.change == Change::NewSize;
        let own = match self.operation.reads_content {
            true => self.history.iter().rfind(written).and_then(|past| past.sizes),
            false => self.sizes,
        };
        own.unwrap_or(tree.sizes)
    }

    /// Most bytes that one write of it can have, 0 if it writes no content: a file that was appended
    /// to may be larger than any size that is drawn.
    pub fn write_bytes_max(&self, tree: &Tree) -> u32 {
        if !self.operations_done().iter().any(|operation| operation.change.writes_content()) {
            return 0;
        }
        let largest_of = |sizes: Option<Sizes>| sizes.unwrap_or(tree.sizes).max();
        let of_works = self.mix.iter().flat_map(|mix| &mix.works);
        let of_works = of_works.map(|work| largest_of(work.sizes)).max().unwrap_or(0);
        let of = |change: Change| {
            let past = self.history.iter().filter(move |past| past.change == change);
            past.map(|past| largest_of(past.sizes))
        };
        let new = of(Change::NewSize).fold(largest_of(self.sizes), u64::max);
        let new = new.max(of_works).max(tree.file_bytes_max());
        let largest = of(Change::Grows).fold(new, u64::saturating_add);
        u32::try_from(largest).unwrap_or(u32::MAX).min(self.block)
    }

    /// Bytes of content that so many successful operations of the phase move; `None` if it is not
    /// about content (a listing moves bytes too, but their number is unknown), or if its time decides
    /// which files it reaches.
    pub fn expected_bytes(&self, tree: &Tree, operations: u64) -> Option<u64> {
        let reads = self.operation.reads_content;
        if !self.operation.moves_content() {
            return None;
        }
        if self.operation.subject == Subject::Block {
            return Some(operations * u64::from(self.block));
        }
        if self.end != PhaseEnd::Targets {
            return None;
        }
        let targets = self.targets(tree);
        let bytes_of = |number| match reads {
            true => self.state_before(tree, number).size,
            false => targets.target(number).size,
        };
        Some(self.selection.numbers().map(bytes_of).sum())
    }
}

impl Phase {
    /// The operations that it does: its own, or one for each work.
    pub fn operations_done(&self) -> Vec<&'static Operation> {
        match &self.mix {
            Some(mix) => mix.operations().collect(),
            None => vec![self.operation],
        }
    }

    /// Whether it reads what files hold.
    pub fn reads_content(&self) -> bool {
        self.operations_done().iter().any(|operation| operation.reads_content)
    }

    /// Turns that a work of it has; `None` where only time ends it, and nothing says how many there are.
    pub(super) fn work_turns(&self, work: &Work) -> Option<u64> {
        let mix = self.mix.as_ref()?;
        let of_all = match work.share {
            WorkShare::Weight(weight) => f64::from(weight) / mix.weights().max(1) as f64,
            WorkShare::Threads(threads) => f64::from(threads) / f64::from(self.threads.max(1)),
        };
        let turns = match (self.end, mix.pace) {
            (PhaseEnd::After(ns), Some(pace)) => pace.turns_per_second * ns as f64 / 1e9,
            _ => self.operations()? as f64,
        };
        Some((turns * of_all) as u64)
    }

    /// What is measured of a mix beside the whole: each work, and behind it the steps of its chain.
    pub fn parts(&self) -> Vec<MixPart> {
        let mut parts = Vec::new();
        for work in self.mix.iter().flat_map(|mix| &mix.works) {
            let name = self.work_name(work);
            let steps = work.steps.iter().filter(|_| work.is_chain());
            let threads = match work.share {
                WorkShare::Threads(threads) => threads,
                WorkShare::Weight(_) => self.threads,
            };
            let of_step = |step: &Step| MixPart {
                name: work_name(&name, &step.name),
                of: name.clone(),
                operation: step.operation,
                is_step: true,
                threads,
            };
            let steps: Vec<_> = steps.map(of_step).collect();
            let (of, operation) = (self.name.clone(), work.operation());
            parts.push(MixPart { name, of, operation, is_step: false, threads });
            parts.extend(steps);
        }
        parts
    }

    /// The names of its measurements: its own, then the names of its parts.
    pub fn measured_names(&self) -> Vec<String> {
        let parts = self.parts().into_iter().map(|part| part.name);
        std::iter::once(self.name.clone()).chain(parts).collect()
    }

    /// The name of the measurements of one work.
    pub fn work_name(&self, work: &Work) -> String {
        work_name(&self.name, &work.name)
    }

    /// The time that ends it, in seconds; `None` where its operations do.
    pub fn duration_seconds(&self) -> Option<f64> {
        match self.end {
            PhaseEnd::After(ns) => Some(ns as f64 / 1e9),
            PhaseEnd::Targets | PhaseEnd::Operations(_) => None,
        }
    }
}

/// A work of a mix, or a step of its chain, which has a measurement.
pub struct MixPart {
    /// Its name among phases.
    pub name: String,
    /// The name of what it is a part of: the mix, or the work.
    pub of: String,
    /// What is done.
    pub operation: &'static Operation,
    /// Whether it is a step of a chain.
    pub is_step: bool,
    /// Workers.
    pub threads: u32,
}

/// Maps numbers to the paths and contents of a phase's targets. What all targets share is computed
/// once.
#[derive(Clone, Copy)]
pub struct TargetMap<'a> {
    phase: &'a Phase,
    tree: &'a Tree,
    subject: Subject,
    change: Change,
    needs_state: bool,
    sizes: Sizes,
    all: Target,
}

impl TargetMap<'_> {
    /// The target with this number. Allocates nothing; costs a few arithmetic steps for each
    /// earlier phase that changed files.
    // Always, in the hot loop: a call copies the target.
    #[inline(always)]
    pub fn target(&self, number: u64) -> Target {
        let tree = self.tree;
        let state = match self.needs_state {
            true => self.phase.state_before(tree, number),
            false => FileState::default(),
        };
        let size = match self.change {
            Change::NewSize | Change::Grows => tree.size_by(self.sizes, number, state.writes),
            Change::SameSize => state.size,
            Change::Halves => state.size / 2,
            Change::Chunks => tree.sizes.max(),
            Change::Nothing | Change::Attributes | Change::Renames => 0,
        };
        let place = self.place(number, state.generation);
        let mut target = Target { place, size, version: state.writes, ..self.all };
        if self.change == Change::Chunks {
            (target.chunk, target.opens, target.closes) = self.chunk(number);
        }
        target
    }

    /// A chunk, and whether its file is opened and closed for it. The phase writes all chunks of a file or none, so
    /// that the first one always creates it.
    #[inline(never)]
    fn chunk(&self, number: u64) -> (Chunk, bool, bool) {
        let Some(chunks) = self.tree.chunks else { return (Chunk::default(), true, true) };
        let within = number % chunks.per_file;
        let (first, last) = (within == 0, number + 1 == chunks.count);
        let last = last || within + 1 == chunks.per_file;
        let reopens = chunks.handles == Handles::Reopen;
        let chunk = Chunk { number, position: within * self.tree.sizes.max(), creates: first };
        (chunk, first || reopens, last || reopens)
    }

    #[inline]
    fn place(&self, number: u64, generation: u32) -> ItemId {
        match self.subject {
            Subject::File => ItemId::File { number, generation, directory: None },
            _ => self.other_place(number),
        }
    }

    /// The place where the numbers are not of files.
    #[inline(never)]
    fn other_place(&self, number: u64) -> ItemId {
        let walk = self.phase.walk;
        match self.subject {
            Subject::File => ItemId::file(number),
            Subject::Chunk => {
                let per_file = self.tree.chunks.map_or(1, |chunks| chunks.per_file);
                ItemId::file(number / per_file)
            }
            Subject::Directory => ItemId::Directory(number),
            Subject::Block => ItemId::Block(number),
            Subject::Holder => {
                let holder = self.tree.holder_in_turn(number);
                ItemId::Layout(self.tree.layout_of_holder(holder))
            }
            Subject::AnyDirectory if number < walk.layout => ItemId::Layout(number),
            Subject::AnyDirectory => ItemId::Directory(number - walk.layout + walk.first_entry),
        }
    }
}

/// Maps files to the targets of one step of a work.
#[derive(Clone, Copy)]
pub struct StepTargets<'a> {
    tree: &'a Tree,
    step: &'a Step,
    /// How many contents a worker may write in one turn.
    contents: u64,
    /// Its own content in the first turn.
    first_version: u64,
    sizes: Sizes,
    all: Target,
}

impl<'a> StepTargets<'a> {
    /// The targets of all steps of a work of the phase.
    pub fn of_work(phase: &'a Phase, mix: &Mix, tree: &'a Tree, work: &'a Work) -> Vec<Self> {
        let contents = mix.works.iter().map(|work| work.steps.len() as u64).max().unwrap_or(1);
        // Inside of a chain its steps say what is durable.
        let durability = if work.is_chain() { Durability::None } else { phase.durability };
        let sizes = work.sizes.unwrap_or(tree.sizes);
        let steps = (0..).zip(&work.steps);
        let of = |(at, step): (u64, &'a Step)| Self {
            tree,
            step,
            contents,
            // The phases before wrote the first versions.
            first_version: at + phase.history.len() as u64,
            sizes,
            all: Target {
                durability,
                opens: step.opens,
                closes: step.closes,
                new_directory: step.new_directory,
                ..phase.target_of_all()
            },
        };
        steps.map(of).collect()
    }

    /// What is done to a file.
    #[inline]
    pub fn operation(&self) -> &'static Operation {
        self.step.operation
    }

    /// The file that the turn found at `file`, in this turn of its worker: no content is written twice.
    #[inline]
    pub fn target(&self, file: ItemId, turn: u64) -> Target {
        let Self { tree, step, .. } = *self;
        let version = ((turn * self.contents + self.first_version) % VERSIONS) as u32;
        let size = match step.operation.change.writes_content() {
            true => tree.size_by(self.sizes, file.number(), version),
            false => 0,
        };
        let place = step.spot.place(file);
        let place = match step.operation.subject {
            Subject::Holder => ItemId::Layout(tree.layout_of_holder(tree.holder_of_place(place))),
            _ => place,
        };
        Target { place, size, version, ..self.all }
    }
}

impl FileState {
    fn apply(&mut self, past: &PastChange, tree: &Tree, number: u64) {
        let drawn = || tree.size_by(past.sizes.unwrap_or(tree.sizes), number, self.writes);
        match past.change {
            Change::Nothing | Change::Attributes => {}
            Change::Renames => self.generation += 1,
            Change::SameSize => self.writes += 1,
            Change::Halves => self.size /= 2,
            Change::NewSize => {
                self.size = drawn();
                self.writes += 1;
            }
            Change::Chunks => {
                self.size = tree.chunked_size(number);
                self.writes += 1;
            }
            Change::Grows => {
                self.size += drawn();
                self.writes += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Settings, read_job};

    #[test]
    fn operations_are_shared_by_the_workers_that_have_a_target() {
        for (files, threads) in [(2, 4), (1, 3), (5, 2), (4, 4)] {
            let job = format!(
                "name = 't'\nthreads = {threads}\n[tree]\nfiles = {files}\n\
                 [[phase]]\noperation = 'create'\n[[phase]]\noperation = 'read'\n"
            );
            let plan = read_job(&job, &Settings::default())
                .unwrap_or_else(|p| panic!("{}", p.report("t")));
            let read = Phase { end: PhaseEnd::Operations(19), ..plan.cells[0].phases[1].clone() };
            let turns: Vec<u64> = (0..threads).filter_map(|worker| read.turns(worker)).collect();
            assert_eq!(
                turns.iter().sum::<u64>(),
                19,
                "{files} files, {threads} threads: {turns:?}"
            );
        }
    }
}
