//! Where the workers of a phase wait for each other: a barrier that can be called off, since a
//! thread may fail to start and the others must not wait for it for ever.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// What the gate tells those who wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum GateState {
    #[default]
    Waiting,
    Open,
    CalledOff,
}

/// A start line for a fixed number of workers.
#[derive(Debug)]
pub struct Gate {
    missing: Mutex<(usize, GateState)>,
    changed: Condvar,
}

impl Gate {
    /// A gate that opens when `workers` have come to it.
    pub fn new(workers: usize) -> Self {
        Self { missing: Mutex::new((workers, GateState::Waiting)), changed: Condvar::new() }
    }

    /// Waits for the others. False if the start was called off.
    pub fn pass(&self) -> bool {
        let mut gate = self.lock();
        gate.0 = gate.0.saturating_sub(1);
        if gate.0 == 0 && gate.1 == GateState::Waiting {
            gate.1 = GateState::Open;
            self.changed.notify_all();
        }
        let waiting = |gate: &mut (usize, GateState)| gate.1 == GateState::Waiting;
        let gate = self.changed.wait_while(gate, waiting).unwrap_or_else(PoisonError::into_inner);
        gate.1 == GateState::Open
    }

    /// Sends everybody home, unless they have started.
    pub fn call_off(&self) {
        let mut gate = self.lock();
        if gate.1 == GateState::Waiting {
            gate.1 = GateState::CalledOff;
            self.changed.notify_all();
        }
    }

    fn lock(&self) -> MutexGuard<'_, (usize, GateState)> {
        // Nothing in here can leave the pair half changed.
        self.missing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_pass_when_the_last_has_come() {
        let gate = Gate::new(3);
        std::thread::scope(|scope| {
            let all: Vec<_> = (0..3).map(|_| scope.spawn(|| gate.pass())).collect();
            assert!(all.into_iter().all(|one| one.join().unwrap()));
        });
    }

    #[test]
    fn nobody_waits_for_one_who_never_comes() {
        let gate = Gate::new(3);
        std::thread::scope(|scope| {
            let both: Vec<_> = (0..2).map(|_| scope.spawn(|| gate.pass())).collect();
            gate.call_off();
            assert!(both.into_iter().all(|one| !one.join().unwrap()));
        });
    }
}
