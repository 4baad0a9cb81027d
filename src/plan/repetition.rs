//! Defines the precision and the time that a run is given instead of a number of repeats, and the
//! constants of the pilot that chooses repeats and passes from them.

use std::collections::BTreeMap;

use super::phase::{CacheAsked, Phase};
use super::{CellPlan, Conclusion, Plan};

/// The precision and the time that are requested instead of a number of repeats.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effort {
    /// Most that half of the 95% interval of a rate is to be, as a share of the rate.
    pub precision: f64,
    /// Most that the run is to take, in seconds.
    pub time_limit_seconds: f64,
}

impl Default for Effort {
    fn default() -> Self {
        Self { precision: 0.03, time_limit_seconds: 1_800.0 }
    }
}

impl Effort {
    /// The precisions that can be asked for, in percent.
    pub const PERCENT: std::ops::RangeInclusive<f64> = 0.1..=50.0;

    /// The times that can be given, in seconds.
    pub const SECONDS: std::ops::RangeInclusive<f64> = 1.0..=30.0 * 86_400.0;
}

/// Repeats of a pilot: with fewer, how far they lie apart is hardly known.
pub const PILOT_REPEATS: u32 = 3;

/// Passes of a pilot, so that the variance of passes and that of repeats can be separated.
pub const PILOT_PASSES: u32 = 2;

/// Most passes that are chosen for a phase.
pub const PASSES_MAX: u32 = 50;

/// Keeps the random orders of passes that were added apart from those of a job's phases, which are
/// numbered.
const SALT_OF_ADDED: u64 = 1 << 16;

/// Passes of phases, by (variant, phase): only of those that can have more than one.
pub type Passes = BTreeMap<(String, String), u32>;

impl Phase {
    /// Whether a pass more finds what the first one found, and leaves what it left: the phase
    /// changes nothing, and its caches are treated anew. As-is is what the phase before left, which
    /// only the first pass finds.
    pub fn can_be_done_again(&self) -> bool {
        self.operation.only_looks() && self.cache != CacheAsked::AsIs
    }

    /// The same as another pass; if it is to be drawn anew, in a random order of its own.
    fn again(&self, pass: u32, anew: bool) -> Self {
        let mut again = Self { pass, ..self.clone() };
        if !anew {
            return again;
        }
        let added = SALT_OF_ADDED * u64::from(pass);
        again.selection = self.selection.with_salt(added);
        if let Some(ballast) = &mut again.on_ballast {
            ballast.salt |= added;
        }
        again
    }
}

impl CellPlan {
    /// Names of the phases whose passes are free to choose: those that can be done again, and for
    /// which the job does not say how often.
    fn free_phases(&self) -> impl Iterator<Item = &str> {
        let again = |phase: &&Phase| self.phases.iter().any(|p| p.name == phase.name && p.pass > 1);
        let free = move |phase: &&Phase| phase.can_be_done_again() && !again(phase);
        self.phases.iter().filter(free).map(|phase| phase.name.as_str())
    }
}

impl Plan {
    /// The plan with a pilot's repeats and passes; the job's own count where they are more.
    #[must_use]
    pub(super) fn into_pilot(mut self) -> Self {
        if self.effort.is_some() {
            self.repeats = self.repeats.max(PILOT_REPEATS);
            let of_cell = |cell: &CellPlan| -> Vec<_> {
                let free = cell.free_phases().map(|name| (cell.variant.clone(), name.to_string()));
                free.map(|key| (key, PILOT_PASSES)).collect()
            };
            self.free = self.cells.iter().flat_map(of_cell).collect();
            self = self.with_passes(&self.free);
        }
        self
    }

    /// The plan with so many passes, at least one, of phases that can have more; others stay.
    #[must_use]
    pub fn with_passes(&self, passes: &Passes) -> Self {
        let mut plan = self.clone();
        // Whether something beneath caches shows when the same is read once more.
        let anew = !plan.conclude.contains(&Conclusion::Source);
        for cell in &mut plan.cells {
            let mut phases = Vec::with_capacity(cell.phases.len());
            for phase in std::mem::take(&mut cell.phases) {
                let key = (cell.variant.clone(), phase.name.clone());
                match passes.get(&key) {
                    None => phases.push(phase),
                    Some(wanted) if phase.pass == 1 => {
                        let more =
                            (2..=*wanted).map(|pass| phase.again(pass, anew)).collect::<Vec<_>>();
                        phases.push(phase);
                        phases.extend(more);
                    }
                    Some(_) => {}
                }
            }
            cell.phases = phases;
        }
        plan
    }
}
