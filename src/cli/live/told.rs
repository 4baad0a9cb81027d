//! What a run tells its view: kept until the view looks, and handed on when it is left.

use std::sync::Arc;

use super::state::{BEGINNING, BETWEEN, CLEANING_UP, State};
use crate::base::failure::shown;
use crate::host::block_device::BlockDevice;
use crate::measure::book::{CellKey, Measurement};
use crate::plan::Phase;
use crate::run::ballast::Headway;
use crate::run::drive::DoneCount;
use crate::session::{PhaseContext, Watcher};

/// One thing that was told.
pub(super) enum Told {
    Says(String),
    Tells(String),
    Prepares(CellKey, Headway),
    Begins(Arc<Stand>),
    Ends(String, Box<Measurement>),
}

/// What a run has told.
#[derive(Default)]
pub(super) struct Known {
    /// What the view has not heard yet, with the time in seconds of the run. It is no more than what
    /// happens between two looks, and whoever tells does not wait for a picture.
    unheard: Vec<(f64, Told)>,
    now: Now,
    /// What stays where people can read it.
    pub(super) kept: Vec<String>,
    /// Whether the run is over.
    pub(super) over: bool,
    /// Whether the view was left.
    pub(super) left: bool,
}

/// What goes on just now.
#[derive(Clone, Default)]
pub(super) struct Now {
    /// What each worker has done, while something is being counted, and what there was before.
    pub(super) counts: Option<(Arc<[DoneCount]>, u64)>,
    /// The last phase that began.
    pub(super) stand: Option<Arc<Stand>>,
    /// How far the place is that is being prepared.
    prepared: Option<Arc<(CellKey, Headway)>>,
    doing: Option<String>,
}

/// A standing that can be kept.
pub(super) struct Stand {
    cell: usize,
    cells: usize,
    repeats: u32,
    key: CellKey,
    phase: Phase,
    operations_before: u64,
    operations: u64,
    pub(super) device: Option<BlockDevice>,
}

impl Known {
    /// Takes in what is told at a time in seconds of the run, with what is counted from then on.
    pub(super) fn take(&mut self, seconds: f64, told: Told, done: Option<Arc<[DoneCount]>>) {
        match &told {
            Told::Says(text) => {
                self.now.doing = Some(shown(text));
                self.now.prepared = None;
            }
            Told::Tells(text) => self.kept.push(text.clone()),
            Told::Prepares(_, Headway::Found(what)) => self.kept.push(what.clone()),
            Told::Prepares(key, headway) => self.now.prepares(key, headway),
            Told::Begins(stand) => {
                self.now.counts = done.map(|done| (done, 0));
                self.now.stand = Some(Arc::clone(stand));
                self.now.prepared = None;
            }
            Told::Ends(..) => {
                self.now.counts = None;
                self.now.doing = Some(BETWEEN.into());
            }
        }
        self.unheard.push((seconds, told));
    }

    /// What was told since it was asked last, and what goes on now.
    pub(super) fn news(&mut self) -> (Vec<(f64, Told)>, Now) {
        (std::mem::take(&mut self.unheard), self.now.clone())
    }

    /// Tells somebody else how it stands.
    pub(super) fn hand_over(&self, to: &dyn Watcher) {
        let Now { counts, stand, prepared, doing } = &self.now;
        match (prepared.as_deref(), stand, counts) {
            (Some((key, headway)), ..) => to.prepares(key, headway),
            (None, Some(stand), Some((done, _))) => {
                to.phase_begins(&stand.standing(), Arc::clone(done));
            }
            _ => to.says(doing.as_deref().unwrap_or(BEGINNING)),
        }
    }
}

impl Now {
    fn prepares(&mut self, key: &CellKey, headway: &Headway) {
        self.counts = match headway {
            Headway::Making { before, done, .. } => Some((Arc::clone(done), *before)),
            _ => None,
        };
        self.prepared = Some(Arc::new((key.clone(), headway.clone())));
        if matches!(headway, Headway::CleaningUp) {
            self.prepared = None;
            self.doing = Some(CLEANING_UP.into());
        }
    }
}

impl State {
    /// Takes in what was told at a time in seconds of the run.
    pub(super) fn hears(&mut self, seconds: f64, told: &Told) {
        self.seconds = seconds;
        match told {
            Told::Says(text) => self.says(text),
            Told::Tells(text) => self.tells(text),
            Told::Prepares(key, headway) => self.prepares(key, headway),
            Told::Begins(stand) => self.phase_begins(&stand.standing()),
            Told::Ends(title, measurement) => self.phase_ends(title, measurement),
        }
    }
}

impl Stand {
    pub(super) fn of(standing: &PhaseContext<'_>) -> Self {
        Self {
            cell: standing.cell,
            cells: standing.cells,
            repeats: standing.repeats,
            key: standing.key.clone(),
            phase: standing.phase.clone(),
            operations_before: standing.operations_before,
            operations: standing.operations,
            device: standing.device.clone(),
        }
    }

    fn standing(&self) -> PhaseContext<'_> {
        PhaseContext {
            cell: self.cell,
            cells: self.cells,
            repeats: self.repeats,
            key: &self.key,
            phase: &self.phase,
            operations_before: self.operations_before,
            operations: self.operations,
            device: self.device.clone(),
        }
    }
}
