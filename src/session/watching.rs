//! What else happens on the machine while a phase runs: looked at before it and after its sync.

use crate::host::disturbance::{DisturbanceCounters, DisturbanceWatch};
use crate::results::book::Disturbance;
use crate::run::clock::{BothClocks, ClockSource, RealClock};
use crate::run::site::Site;

/// Looks at the machine around phases.
#[derive(Default)]
pub(super) struct PhaseWatch {
    clock: RealClock,
    watch: DisturbanceWatch,
}

/// The look before a phase.
pub(super) struct WatchedPhase {
    clocks: BothClocks,
    look: DisturbanceCounters,
}

impl PhaseWatch {
    /// Looks before a phase; none where the place is simulated, and nothing disturbs it.
    pub(super) fn begin(&mut self, site: &dyn Site) -> Option<WatchedPhase> {
        let look = site.is_real().then(|| self.watch.look(site.device()))?;
        Some(WatchedPhase { clocks: self.clock.both(), look })
    }

    /// What happened since then.
    pub(super) fn end(&mut self, begun: &WatchedPhase, site: &dyn Site) -> Disturbance {
        let clocks = self.clock.both();
        let look = self.watch.look(site.device());
        let (seconds, clock_error) = self.clock.compared(begun.clocks, clocks);
        // Where latencies come from the kernel's own clock there is nothing to hold against it.
        let clock_error = clock_error.filter(|_| self.clock.source() == ClockSource::Tsc);
        let found = self.watch.between(&begun.look, &look);
        Disturbance { seconds: Some(seconds), clock_error, ..found }
    }
}
