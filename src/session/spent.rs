//! What a run has taken so far, and what its repeats cost.

use std::collections::BTreeMap;

use crate::analysis::effort::{PassCost, RepetitionCosts};
use crate::plan::Plan;
use crate::plan::effort::Passes;
use crate::results::book::Measurement;
use crate::run::clock::{Clock, RealClock};

/// The time a run takes. Where everything is simulated, it is the time that is simulated: so the
/// seed decides what is done, on any machine.
pub(super) struct RunCosts {
    clock: RealClock,
    begun: u64,
    simulated: Option<f64>,
    /// Passes of the cells since costs were last begun: seconds, passes, and first passes among them.
    passes: BTreeMap<(String, String), (f64, u32, u32)>,
    /// Seconds of those cells.
    cells: f64,
}

impl RunCosts {
    pub(super) fn new(plan: &Plan, clock: &RealClock) -> Self {
        let simulated = plan.cells.iter().all(|cell| cell.engine.is_simulated());
        Self {
            clock: clock.clone(),
            begun: clock.now(),
            simulated: simulated.then_some(0.0),
            passes: BTreeMap::new(),
            cells: 0.0,
        }
    }

    /// Seconds since the run began.
    pub(super) fn seconds(&self) -> f64 {
        let real = || self.clock.nanoseconds(self.begun, self.clock.now()) as f64 / 1e9;
        self.simulated.unwrap_or_else(real)
    }

    /// RepetitionCosts are counted anew.
    pub(super) fn begin_costs(&mut self) {
        self.passes.clear();
        self.cells = 0.0;
    }

    /// A pass that began at this time is over.
    pub(super) fn pass(&mut self, m: &Measurement, begun: f64) {
        if let Some(simulated) = &mut self.simulated {
            *simulated += m.seconds + m.sync_seconds;
        }
        let seconds = self.seconds() - begun;
        let key = (m.cell.variant.clone(), m.phase.clone());
        let pass = self.passes.entry(key).or_default();
        *pass = (pass.0 + seconds, pass.1 + 1, pass.2 + u32::from(m.pass == 1));
    }

    /// A cell that began at this time is over.
    pub(super) fn cell(&mut self, begun: f64) {
        self.cells += self.seconds() - begun;
    }

    /// What a repeat costs, of the means of so many.
    pub(super) fn costs(&self, free: &Passes, repeats: u32) -> RepetitionCosts {
        let repeats = f64::from(repeats.max(1));
        let of_free = self.passes.iter().filter(|(key, _)| free.contains_key(*key));
        let mut costs =
            RepetitionCosts { repeat_seconds: self.cells / repeats, phases: Vec::new() };
        for (key, (seconds, passes, first)) in of_free {
            costs.repeat_seconds -= seconds / repeats;
            let each = seconds / f64::from((*passes).max(1)) * f64::from(*first) / repeats;
            costs.phases.push(PassCost { key: key.clone(), seconds: each });
        }
        costs.repeat_seconds = costs.repeat_seconds.max(0.0);
        costs
    }
}
