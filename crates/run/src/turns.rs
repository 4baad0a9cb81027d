//! Says what a worker does next: the targets of a list one after the other, or the works of a mix.

use boatload_op::{Operation, OperationProgress, Target};
use boatload_plan::phase::TargetMap;
use boatload_plan::selection::Share;
use boatload_plan::{Phase, Tree};

/// One operation on one target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// Which work of a mix it is of; `None` of what a mix does beside its works, which nobody asked for.
    pub work: Option<usize>,
    /// What it works on.
    pub target: Target,
    /// When it is to begin, in nanoseconds since the phase began; `None` as soon as its worker is free.
    pub due_ns: Option<u64>,
}

/// Where a worker takes its turns from.
pub trait TurnSource {
    /// Whether it has works that are recorded apart.
    const HAS_WORKS: bool;

    /// The next turn; `None` if there is none left.
    fn next(&mut self) -> Option<Turn>;

    /// What is done in a turn; of a chain, its first step.
    fn operation(&self, turn: &Turn) -> &'static Operation;

    /// Whether a turn has several steps, which are recorded apart.
    fn is_chain(&self, _: &Turn) -> bool {
        false
    }

    /// Takes in how a step of a chain ended; the next step, if there is one.
    fn step_ended(
        &mut self,
        _: &Turn,
        _: &OperationProgress,
    ) -> Option<(&'static Operation, Target)> {
        None
    }

    /// Takes in how the turn ended; whether it counts, for a file that was gone is no error.
    fn ended(&mut self, turn: &Turn, progress: &OperationProgress) -> bool;
}

/// The targets of one operation, one after the other, and again where time allows.
pub struct ListedTurns<'a> {
    operation: &'static Operation,
    targets: TargetMap<'a>,
    share: Share<'a>,
    /// Which of the targets is next.
    position: u64,
    turns_left: u64,
}

impl<'a> ListedTurns<'a> {
    /// The turns of one worker in a phase.
    pub fn new(phase: &'a Phase, tree: &'a Tree, worker: u32) -> Self {
        Self {
            operation: phase.operation,
            targets: phase.targets(tree),
            share: phase.selection.share(worker, phase.threads),
            position: 0,
            turns_left: phase.turns_max(worker),
        }
    }
}

impl TurnSource for ListedTurns<'_> {
    const HAS_WORKS: bool = false;

    // Always, in the hot loop: a call that is not inlined copies the target twice.
    #[inline(always)]
    fn next(&mut self) -> Option<Turn> {
        self.turns_left = self.turns_left.checked_sub(1)?;
        if self.position == self.share.count {
            self.position = 0;
        }
        let target = self.targets.target(self.share.number(self.position));
        self.position += 1;
        Some(Turn { work: Some(0), target, due_ns: None })
    }

    #[inline(always)]
    fn operation(&self, _: &Turn) -> &'static Operation {
        self.operation
    }

    #[inline(always)]
    fn ended(&mut self, _: &Turn, _: &OperationProgress) -> bool {
        true
    }
}
