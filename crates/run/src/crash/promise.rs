//! Tracks what each file of a tree was promised: the state that the last durable change left it in, and the
//! change that had begun after it.

use boatload_base::named_enum;
use boatload_op::{Change, Durability, Effect, ItemId, Operation, Subject, Target};
use boatload_plan::{Phase, Tree};

/// A part of a file: a version of its content, from the beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ContentPiece {
    pub(super) version: u32,
    pub(super) bytes: u64,
    /// Whether it was written around the page cache, for which other content is drawn.
    pub(super) direct: bool,
}

/// A file that is there: how often it was renamed, and its parts one behind the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FileCopy {
    pub(super) generation: u32,
    pub(super) pieces: Vec<ContentPiece>,
}

impl FileCopy {
    pub(super) fn bytes(&self) -> u64 {
        self.pieces.iter().map(|piece| piece.bytes).sum()
    }

    /// Only the first `bytes` stay.
    fn cut(&mut self, bytes: u64) {
        let mut left = bytes;
        for piece in &mut self.pieces {
            piece.bytes = piece.bytes.min(left);
            left -= piece.bytes;
        }
    }
}

/// What an operation does to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FileChange {
    Create(FileCopy),
    /// All content goes, then there is new content.
    Replace(ContentPiece),
    /// New content in a new file, which takes the place of the old.
    Exchange {
        piece: ContentPiece,
        /// Whether the content is durable before that, so that all of it is there, or all of the old.
        is_whole: bool,
    },
    /// New content of the same size over the old.
    Overwrite(ContentPiece),
    Append(ContentPiece),
    /// The second half of the content goes.
    Halve,
    Rename,
    Delete,
}

impl FileChange {
    fn of(operation: &Operation, target: &Target) -> Option<Self> {
        let Target { place, version, size: bytes, direct, durability, .. } = *target;
        let piece = ContentPiece { version, bytes, direct };
        let (Subject::File, ItemId::File { generation, .. }) = (operation.subject, place) else {
            return None;
        };
        match (operation.effect, operation.change) {
            (Effect::RemovesEntry, _) => Some(Self::Delete),
            (Effect::AddsEntry, _) => {
                Some(Self::Create(FileCopy { generation, pieces: vec![piece] }))
            }
            (Effect::KeepsTree, Change::NewSize) if operation.makes_temporary => {
                let is_whole = !matches!(durability, Durability::None | Durability::Syncfs);
                Some(Self::Exchange { piece, is_whole })
            }
            (Effect::KeepsTree, Change::NewSize) => Some(Self::Replace(piece)),
            (Effect::KeepsTree, Change::SameSize) => Some(Self::Overwrite(piece)),
            (Effect::KeepsTree, Change::Grows) => Some(Self::Append(piece)),
            (Effect::KeepsTree, Change::Halves) => Some(Self::Halve),
            (Effect::KeepsTree, Change::Renames) => Some(Self::Rename),
            (Effect::KeepsTree, Change::Nothing | Change::Attributes | Change::Chunks) => None,
        }
    }

    /// The file after the change.
    pub(super) fn applied(&self, before: Option<&FileCopy>) -> Option<FileCopy> {
        let mut copy = before.cloned().unwrap_or_default();
        match self {
            Self::Delete => return None,
            Self::Create(copy) => return Some(copy.clone()),
            Self::Rename => copy.generation += 1,
            Self::Append(piece) => copy.pieces.push(*piece),
            Self::Halve => copy.cut(copy.bytes() / 2),
            Self::Replace(piece) | Self::Overwrite(piece) | Self::Exchange { piece, .. } => {
                copy.pieces = vec![*piece]
            }
        }
        Some(copy)
    }

    /// Whether the change is durable once its operation has returned, or, where the phase ends with a sync of
    /// all, once that has.
    fn is_promised(&self, durability: Durability, is_synced: bool) -> bool {
        let written = match self {
            Self::Create(copy) => Some(copy.bytes()),
            Self::Replace(piece) | Self::Overwrite(piece) | Self::Append(piece) => {
                Some(piece.bytes)
            }
            // Its content is synced, but it has its name only once the directory is.
            Self::Exchange { .. } => None,
            Self::Halve | Self::Rename | Self::Delete => None,
        };
        match durability {
            Durability::None => false,
            Durability::Syncfs => is_synced,
            Durability::FsyncDirectory => true,
            Durability::Fsync | Durability::Fdatasync => written.is_some() || *self == Self::Halve,
            // A file that nothing is written to is not synced.
            Durability::Dsync => written.is_some_and(|bytes| bytes > 0),
        }
    }
}

named_enum! {
    /// What became of a file that was promised.
    #[derive(Default)]
    pub enum FileFate {
        /// It is as promised, or as a change left it that had begun after.
        #[default]
        Kept = "kept",
        /// It is not there.
        Missing = "missing",
        /// It is as before the change that was promised last.
        Old = "old",
        /// Its content is neither.
        Torn = "torn",
        /// It is there although its removal was promised.
        CameBack = "came-back",
    }
}

/// What was promised of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FilePromise {
    /// Whether anything was.
    pub is_promised: bool,
    /// What it was before that.
    pub(super) before: Option<FileCopy>,
    /// The file; `None` if it is not to be there.
    pub(super) promised: Option<FileCopy>,
    /// A change that had begun when the power went, and promised nothing.
    pub(super) begun: Option<FileChange>,
    /// When that change had ended, by the kernel's monotonic clock; `None` if it had not.
    pub ended_ns: Option<u64>,
}

impl FilePromise {
    fn keep(&mut self, change: &FileChange) {
        let next = change.applied(self.promised.as_ref());
        self.before = std::mem::replace(&mut self.promised, next);
        self.is_promised = true;
    }

    /// Whether a change was under way or not durable.
    pub fn has_begun(&self) -> bool {
        self.begun.is_some()
    }
}

/// When operations of a worker ended.
#[derive(Clone, Debug, Default)]
pub struct WorkEnds {
    /// Turns that succeeded, with the kernel's monotonic time.
    ends: Vec<TurnEnd>,
}

#[derive(Clone, Copy, Debug)]
struct TurnEnd {
    turn: u64,
    at_ns: u64,
}

impl WorkEnds {
    /// A turn, later than those before, has ended well.
    pub fn add(&mut self, turn: u64, at_ns: u64) {
        self.ends.push(TurnEnd { turn, at_ns });
    }

    fn ended_before(&self, cut_ns: u64) -> &[TurnEnd] {
        &self.ends[..self.ends.partition_point(|end| end.at_ns < cut_ns)]
    }
}

/// A phase that was under way when the power went.
#[derive(Clone, Copy)]
pub struct CutPhase<'a> {
    /// The phase.
    pub phase: &'a Phase,
    /// When its workers' operations ended.
    pub ends: &'a [WorkEnds],
    /// When the sync of all had returned; `None` if it had not, or there was none.
    pub synced_ns: Option<u64>,
    /// When the power went.
    pub cut_ns: u64,
}

/// Whether a phase changes files of the tree, so that a power cut in it says something.
pub fn can_be_cut(phase: &Phase) -> bool {
    let operation = phase.operation;
    let is_change = operation.effect != Effect::KeepsTree || operation.change.modifies_target();
    operation.subject == Subject::File && is_change && phase.on_ballast.is_none()
}

/// Whether operations of such a phase promise anything under this durability; where none does, all may.
pub fn promises_anything(phase: &Phase, durability: Durability) -> bool {
    let change = phase.operation.change;
    match durability {
        Durability::Fsync | Durability::Fdatasync => change.is_synced_with_file(),
        Durability::Dsync => change.writes_content(),
        Durability::None | Durability::FsyncDirectory | Durability::Syncfs => true,
    }
}

/// What was promised of all files of a tree.
pub struct TreePromises<'a> {
    tree: &'a Tree,
    files: Vec<FilePromise>,
}

impl<'a> TreePromises<'a> {
    /// Nothing yet.
    pub fn new(tree: &'a Tree) -> Self {
        Self { tree, files: Vec::new() }
    }

    /// All files that something was promised or done to, with their numbers.
    pub fn all(&self) -> impl Iterator<Item = (u64, &FilePromise)> {
        (0..).zip(&self.files).filter(|file| file.1.is_promised || file.1.begun.is_some())
    }

    fn file(&mut self, number: u64) -> &mut FilePromise {
        let at = number as usize;
        if self.files.len() <= at {
            self.files.resize(at + 1, FilePromise::default());
        }
        &mut self.files[at]
    }

    /// A phase was done, and then all was synced.
    pub fn done_and_synced(&mut self, phase: &Phase) {
        let targets = phase.targets(self.tree);
        for number in phase.selection.numbers() {
            if let Some(change) = FileChange::of(phase.operation, &targets.target(number)) {
                self.file(number).keep(&change);
            }
        }
    }

    /// The power went in a phase.
    pub fn cut(&mut self, cut: &CutPhase<'_>) {
        let CutPhase { phase, ends, synced_ns, cut_ns } = *cut;
        let targets = phase.targets(self.tree);
        let is_synced = synced_ns.is_some_and(|at| at < cut_ns);
        for (worker, ends) in (0..).zip(ends) {
            let share = phase.selection.share(worker, phase.threads);
            let ended = ends.ended_before(cut_ns);
            // Those that failed before, and the one that was under way.
            let begun = ended.last().map_or(0, |last| last.turn + 1).saturating_add(1);
            let mut ended = ended.iter().peekable();
            for turn in 0..begun.min(share.count) {
                let number = share.number(turn);
                let end = ended.next_if(|end| end.turn == turn).map(|end| end.at_ns);
                let Some(change) = FileChange::of(phase.operation, &targets.target(number)) else {
                    continue;
                };
                let file = self.file(number);
                if end.is_some() && change.is_promised(phase.durability, is_synced) {
                    file.keep(&change);
                } else {
                    (file.begun, file.ended_ns) = (Some(change), end);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use boatload_plan::{Plan, Settings, read_job};

    const JOB: &str = "name = 'x'\n[tree]\nfiles = 40\nsize = 5_000\n\
        [[phase]]\noperation = 'create'\n[[phase]]\noperation = 'overwrite'\n\
        [[phase]]\noperation = 'append'\n[[phase]]\noperation = 'rename'\n\
        [[phase]]\noperation = 'delete'\n";

    #[test]
    fn half_of_the_pieces_is_promised_by_a_sync_of_the_file() {
        let plan = plan_of(
            "name = 'x'\n[tree]\nfiles = 40\nsize = 5_001\n[[phase]]\noperation = 'create'\n\
             [[phase]]\noperation = 'append'\nsize = 1_001\n[[phase]]\noperation = 'truncate'\n\
             [[phase]]\noperation = 'append'\nname = 'again'\n",
        );
        let fsync = promises(&plan, 2, Durability::Fsync, &[10])[0].clone();
        let pieces: Vec<_> = fsync.promised.iter().flat_map(|copy| &copy.pieces).collect();
        assert_eq!(pieces.iter().map(|p| p.bytes).collect::<Vec<_>>(), [3_001, 0]);
        assert!(promises(&plan, 2, Durability::Dsync, &[10])[0].begun.is_some());
        assert!(!promises_anything(&plan.cells[0].phases[2], Durability::Dsync));
        let again = promises(&plan, 3, Durability::Fsync, &[10])[0].clone();
        assert_eq!(again.promised.unwrap().bytes(), 3_001 + 5_001);
    }

    fn plan_of(job: &str) -> Plan {
        read_job(job, &Settings::default()).unwrap_or_else(|p| panic!("{}", p.report("x")))
    }

    fn plan() -> Plan {
        plan_of(JOB)
    }

    /// What is promised when power goes at 100 in the phase with this number, whose only worker has ended an
    /// operation at each of these times.
    fn promises(plan: &Plan, at: usize, durability: Durability, ends: &[u64]) -> Vec<FilePromise> {
        let cell = &plan.cells[0];
        let mut promises = TreePromises::new(&cell.tree);
        cell.phases[..at].iter().for_each(|phase| promises.done_and_synced(phase));
        let phase = &Phase { durability, ..cell.phases[at].clone() };
        let mut work = WorkEnds::default();
        (0..).zip(ends).for_each(|(turn, at_ns)| work.add(turn, *at_ns));
        let synced_ns = ends.get(39).copied();
        promises.cut(&CutPhase { phase, ends: &[work], synced_ns, cut_ns: 100 });
        promises.files
    }

    #[test]
    fn what_returned_before_the_cut_is_promised_and_the_next_has_begun() {
        let plan = plan();
        let files = promises(&plan, 0, Durability::Fsync, &[10, 20, 99, 100, 130]);
        let states: Vec<_> = files.iter().map(|f| (f.is_promised, f.begun.is_some())).collect();
        assert_eq!(states, [(true, false), (true, false), (true, false), (false, true)]);
        assert_eq!((files[2].promised.as_ref().unwrap().bytes(), files[3].ended_ns), (5_000, None));
        let none = promises(&plan, 0, Durability::None, &[10, 20]);
        assert!(none.iter().all(|file| !file.is_promised && file.begun.is_some()));
        assert_eq!((none[1].ended_ns, none[2].ended_ns), (Some(20), None));
    }

    #[test]
    fn a_sync_of_all_promises_everything_once_it_has_returned() {
        let plan = plan();
        for (last, promised) in [(99, 40), (100, 0)] {
            let ends: Vec<u64> = (0..40).map(|at| if at == 39 { last } else { at }).collect();
            let files = promises(&plan, 0, Durability::Syncfs, &ends);
            assert_eq!(files.iter().filter(|file| file.is_promised).count(), promised);
        }
    }

    #[test]
    fn names_are_promised_by_a_sync_of_the_directory_alone() {
        let plan = plan();
        for (phase, rename) in [(3, true), (4, false)] {
            let of = |durability| promises(&plan, phase, durability, &[10])[0].clone();
            let file = of(Durability::FsyncDirectory);
            assert_eq!((file.promised.is_some(), file.begun), (rename, None));
            for durability in [Durability::Fsync, Durability::Fdatasync, Durability::Dsync] {
                let file = of(durability);
                assert!(file.is_promised && file.begun.is_some(), "{durability:?}");
                assert!(!promises_anything(&plan.cells[0].phases[phase], durability));
            }
        }
    }

    #[test]
    fn a_replacement_is_promised_by_a_sync_of_its_name_and_till_then_one_of_both_contents() {
        let plan = plan_of(
            "name = 'x'\n[tree]\nfiles = 40\nsize = 5_000\n[[phase]]\noperation = 'create'\n\
             [[phase]]\noperation = 'replace'\n",
        );
        let of = |durability| promises(&plan, 1, durability, &[10])[0].clone();
        let file = of(Durability::FsyncDirectory);
        assert_eq!(file.promised.map(|copy| copy.pieces[0].version), Some(1));
        assert_eq!(file.begun, None);
        for (durability, whole) in [(Durability::Fsync, true), (Durability::None, false)] {
            let file = of(durability);
            assert_eq!(file.promised.map(|copy| copy.pieces[0].version), Some(0));
            let is_whole = |change: &FileChange| matches!(change, FileChange::Exchange { is_whole, .. } if *is_whole == whole);
            assert!(file.begun.as_ref().is_some_and(is_whole), "{durability:?}");
        }
    }

    #[test]
    fn a_file_without_content_is_not_synced_by_o_dsync() {
        let piece = |bytes| ContentPiece { version: 0, bytes, direct: false };
        for (bytes, is_promised) in [(0, false), (1, true)] {
            let change = FileChange::Replace(piece(bytes));
            assert_eq!(change.is_promised(Durability::Dsync, false), is_promised);
            assert!(change.is_promised(Durability::Fsync, false));
        }
    }

    #[test]
    fn phases_that_only_look_are_not_cut() {
        let job = "name = 'x'\n[tree]\nfiles = 4\n[[phase]]\noperation = 'create'\n\
                   [[phase]]\noperation = 'read'\n[[phase]]\noperation = 'mkdir'\n";
        let plan =
            read_job(job, &Settings::default()).unwrap_or_else(|p| panic!("{}", p.report("x")));
        let cut: Vec<bool> = plan.cells[0].phases.iter().map(can_be_cut).collect();
        assert_eq!(cut, [true, false, false]);
    }
}
