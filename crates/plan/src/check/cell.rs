//! Checks the settings of one variant at one level and builds its `CellPlan`; phases.rs checks the phases.

use super::Settings;
use super::filesystem::CrossedVariant;
use super::keys::{KeyReader, Scope};
use super::limits::{DELAY_MAX, SIM_COUNT_MAX, SIM_SPREAD_MAX, SIM_TIME_MAX_NS};
use crate::mix::{MIX, Mix};
use crate::phase::{CacheAsked, Phase, PhaseEnd};
use crate::report::{ProblemList, below, element};
use crate::sim::{SimFault, SimFaultOutcome, SimKnee, SimModel, SimNeighbour, SimSpread};
use crate::tree::{Sizes, Tree};
use crate::wire::{Trees, WireJob, WirePhase, WirePrepare, WireQuantity, WireSim, WireSimFault};
use crate::{CellPlan, EngineName, FileSystem};
use boatload_base::errno::Errno;
use boatload_base::units::{Quantity, Unit, counted, grouped};
use boatload_op::{Change, Operation, Subject, find_operation};

/// Checks one variant at one level.
pub(super) struct CellCheck<'a> {
    pub(super) job: &'a WireJob,
    pub(super) settings: &'a Settings,
    pub(super) variant: &'a CrossedVariant<'a>,
    pub(super) seed: u64,
    /// The highest level of the axis; 0 without one.
    pub(super) highest: f64,
    pub(super) level: Option<Quantity>,
    pub(super) scope: &'a Scope,
    pub(super) report: &'a mut ProblemList,
}

/// What a phase is but for the entries it works on.
pub(super) struct PhaseOutline<'a> {
    pub(super) wire: &'a WirePhase,
    pub(super) place: String,
    pub(super) operation: &'static Operation,
    /// Its works, if it is a mix.
    pub(super) mix: Option<Mix>,
    pub(super) threads: u32,
    pub(super) passes: u32,
    pub(super) windows: u32,
    pub(super) block: u32,
    pub(super) cache: CacheAsked,
    pub(super) rank_offset: u32,
    pub(super) end: PhaseEnd,
    /// The law of the sizes that it writes; `None` for the tree's sizes.
    pub(super) sizes: Option<Sizes>,
}

impl PhaseOutline<'_> {
    /// The laws of the sizes that its works write.
    fn work_sizes(&self) -> impl Iterator<Item = Sizes> + '_ {
        self.mix.iter().flat_map(|mix| &mix.works).filter_map(|work| work.sizes)
    }
}

impl<'a> CellCheck<'a> {
    /// The cell; `None` if anything is wrong with it.
    pub(super) fn cell(mut self) -> Option<CellPlan> {
        let sim = self.sim();
        let outlines: Vec<_> = (0..self.job.phases().len()).map(|at| self.outline(at)).collect();
        let threads = outlines.iter().flatten().map(|outline| outline.threads).next();
        let mixes = outlines.iter().flatten().filter(|outline| outline.mix.is_some());
        let mix_workers = mixes.map(|outline| outline.threads).max();
        let on_device = self.is_on_device();
        let tree = match on_device {
            true => Some(self.no_tree()),
            false => self.tree(threads, mix_workers),
        };
        self.check_own_trees(&outlines);
        let engine = self.settings.engine.or(self.variant.wire.engine).or(self.job.engine);
        let engine = engine.unwrap_or_default();
        self.check_made(engine, on_device);
        let delay = self.delay(engine, on_device);
        let cutting = outlines.iter().flatten().filter(|o| o.operation.change == Change::Halves);
        let cuts = cutting.map(|outline| outline.passes).sum();
        for outline in outlines.iter().flatten() {
            let own = outlines.iter().flatten().filter_map(|outline| outline.sizes);
            let works = outlines.iter().flatten().flat_map(PhaseOutline::work_sizes);
            let laws = tree.iter().map(|tree| tree.sizes).chain(own).chain(works);
            let laws: Vec<Sizes> = laws.map(|law| cut(law, cuts)).collect();
            self.check_direct(outline, &laws);
            self.check_duration(outline);
            self.check_durability(outline);
            self.check_sizes(outline, tree.as_ref());
        }
        let prepare = match self.wire_prepare() {
            Some((wire, place)) => Some(self.prepare(wire, &place)?),
            None => None,
        };
        // Without one of them nothing is known of the entries that the later ones meet.
        let outlines: Vec<_> = outlines.into_iter().collect::<Option<_>>()?;
        let tree = tree?;
        let before = self.report.count();
        (0..outlines.len()).for_each(|at| self.check_mix(&outlines, at, &tree));
        if self.report.count() > before {
            return None;
        }
        let phases = self.phases(&outlines, &tree)?;
        Some(CellPlan {
            variant: self.variant.name.clone()?,
            job_variant: self.variant.wire.name.clone()?,
            level: self.level,
            engine,
            sim,
            delay,
            filesystem: self.filesystem(&phases),
            tree,
            prepare,
            phases,
        })
    }

    pub(super) fn keys(&mut self, place: &str) -> KeyReader<'_> {
        KeyReader::new(place, self.scope, self.report)
    }

    /// The path of a key of the variant.
    pub(super) fn variant_key(&self, key: &str) -> String {
        below(&self.variant.place, key)
    }

    /// What is prepared for the levels, and its place: the variant's own, or the axis's.
    pub(super) fn wire_prepare(&self) -> Option<(&'a WirePrepare, String)> {
        match &self.variant.wire.prepare {
            Some(own) => Some((own, self.variant_key("prepare"))),
            None => {
                let prepare = self.job.axis.as_ref()?.prepare.as_ref()?;
                Some((prepare, "axis.prepare".to_string()))
            }
        }
    }

    /// The planted slowdown as a share.
    fn delay(&mut self, engine: EngineName, on_device: bool) -> f64 {
        let (wire, place) = match (&self.variant.wire.delay, &self.job.delay) {
            (Some(own), _) => (own, self.variant_key("delay")),
            (None, Some(all)) => (all, "delay".to_string()),
            (None, None) => return 0.0,
        };
        let mut keys = self.keys(&place);
        let percent = keys.number("", wire, Unit::Percent, 0.0..=DELAY_MAX).unwrap_or(0.0);
        if percent > 0.0 && (engine.is_simulated() || on_device) {
            let expected = "no delay where the file system is simulated or the device is read";
            keys.problem("", "a delay", expected);
        }
        percent / 100.0
    }

    /// Where no phase works on files there is no tree, and none may be written down.
    fn no_tree(&mut self) -> Tree {
        let own = self.variant_key("tree");
        for (place, wire) in [("tree", &self.job.tree), (&own, &self.variant.wire.tree)] {
            if wire.is_some() {
                let expected = "none: phases on the device work on no files";
                self.report.add(place, "a tree", expected);
            }
        }
        Tree::without_files(self.seed)
    }

    /// With trees of their own, workers are the same in all phases.
    fn check_own_trees(&mut self, outlines: &[Option<PhaseOutline<'_>>]) {
        let tree = self.variant.wire.tree.as_ref().or(self.job.tree.as_ref());
        if tree.and_then(|tree| tree.trees) != Some(Trees::Own) {
            return;
        }
        let mut known = outlines.iter().flatten();
        let Some(first) = known.next() else { return };
        for other in known.filter(|other| other.threads != first.threads) {
            let first = u64::from(first.threads);
            let expected =
                format!("{} as in the first phase, each with its own tree", grouped(first));
            let found = counted(u64::from(other.threads), "thread");
            self.keys(&other.place).problem("threads", found, expected);
        }
    }

    /// Whether all phases, as far as their operations are known, read the device. Some that do and
    /// some that do not are a problem: a run that only reads the device writes nothing at all, and
    /// that must hold for all of it.
    fn is_on_device(&mut self) -> bool {
        let operation = |phase: &WirePhase| match phase.work.is_empty() {
            true => find_operation(phase.operation.as_ref()?),
            false => Some(&MIX),
        };
        let known: Vec<_> =
            (0..).zip(self.job.phases()).filter_map(|(at, p)| Some((at, operation(p)?))).collect();
        let on_device = |operation: &Operation| operation.subject == Subject::Block;
        let Some((at, first)) = known.iter().find(|(_, operation)| on_device(operation)) else {
            return false;
        };
        let alone = known.iter().all(|(_, operation)| on_device(operation));
        if !alone {
            let found = format!("`{}` beside operations on files", first.name);
            let expected = "a job file of its own, which then writes nothing";
            self.keys(&element("phase", *at)).problem("operation", found, expected);
        }
        alone
    }

    /// The simulated file system and a device that is only read leave nothing to be made.
    fn check_made(&mut self, engine: EngineName, on_device: bool) {
        let Some((_, place)) = &self.variant.made else { return };
        let (expected, hint) = if engine.is_simulated() {
            let hint = "leave it out, or take `engine = \"sync\"`";
            ("none: the `sim` engine has a file system of its own", hint)
        } else if on_device {
            ("none: phases on the device only read what is there", "leave it out")
        } else {
            return;
        };
        self.report.add_with_hint(place, "a file system to be made", expected, hint);
    }

    /// The file system that is made for a cell with these phases: where none of them is to update
    /// access times, it is mounted so.
    fn filesystem(&self, phases: &[Phase]) -> Option<FileSystem> {
        let (mut made, _) = self.variant.made.clone()?;
        if phases.iter().all(|phase| phase.keep_atime) {
            made.without_atime();
        }
        Some(made)
    }

    fn sim(&mut self) -> SimModel {
        match (&self.variant.wire.sim, &self.job.sim) {
            (Some(own), _) => {
                let place = self.variant_key("sim");
                self.keys(&place).sim(own)
            }
            (None, Some(all)) => self.keys("sim").sim(all),
            (None, None) => SimModel::default(),
        }
    }
}

impl KeyReader<'_> {
    /// The simulated file system; what is wrong is left at its default.
    fn sim(&mut self, wire: &WireSim) -> SimModel {
        let model = SimModel {
            metadata_ns: self.sim_time("metadata", &wire.metadata),
            transfer_ns: self.sim_time("transfer", &wire.transfer),
            transfer_per_kib_ns: self.sim_time("transfer_per_kib", &wire.transfer_per_kib),
            cold_ns: self.sim_time("cold", &wire.cold),
            sync_ns: self.sim_time("sync", &wire.sync),
            directory: wire.directory.unwrap_or_default(),
            directory_cost_ns: self.sim_time("directory_cost", &wire.directory_cost),
            noise: wire.noise.unwrap_or_default(),
            drift_percent: self.sim_percent("drift", &wire.drift, 10_000.0),
            capacity: self.whole("capacity", &wire.capacity, Unit::Bytes, 1..=SIM_COUNT_MAX),
            clutter_percent: self.sim_percent("clutter", &wire.clutter, 100.0),
            ..SimModel::default()
        };
        self.sim_events(wire, model)
    }

    /// The model with its spread, its stalls, its knee and its error.
    fn sim_events(&mut self, wire: &WireSim, mut model: SimModel) -> SimModel {
        if let Some(spread) = &wire.spread {
            let passes_percent = self.sim_percent("spread.passes", &spread.passes, SIM_SPREAD_MAX);
            let repeats_percent =
                self.sim_percent("spread.repeats", &spread.repeats, SIM_SPREAD_MAX);
            let runs_percent = self.sim_percent("spread.runs", &spread.runs, SIM_SPREAD_MAX);
            model.spread = SimSpread { passes_percent, repeats_percent, runs_percent };
        }
        if let Some(neighbour) = &wire.neighbour {
            let share =
                self.number("neighbour.share", &neighbour.share, Unit::Percent, 0.0..=100.0);
            let factor = self.number("neighbour.factor", &neighbour.factor, Unit::Count, 1.0..=1e3);
            let both = share.zip(factor);
            model.neighbour =
                both.map(|(share_percent, factor)| SimNeighbour { share_percent, factor });
        }
        if let Some(stall) = &wire.stall {
            let every = self.whole("stall.every", &stall.every, Unit::Count, 1..=SIM_COUNT_MAX);
            model.stall_every = every.unwrap_or_default();
            model.stall_ns = self.sim_time("stall.time", &stall.time);
        }
        if let Some(knee) = &wire.knee {
            let at = self.number("knee.at", &knee.at, Unit::Percent, 0.0..=100.0);
            let factor = self.number("knee.factor", &knee.factor, Unit::Count, 1.0..=1e3);
            model.knee = at.zip(factor).map(|(at, factor)| SimKnee { at, factor });
            if wire.capacity.is_none() && !self.is_broken("capacity") {
                let hint = "add `capacity = \"1GiB\"` to `[sim]`";
                let expected = "a capacity, which the knee is a share of";
                self.problem_with_hint("knee", "a knee without a capacity", expected, hint);
            }
        }
        if let Some(fault) = &wire.fault {
            model.fault = self.sim_fault(fault);
        }
        model
    }

    fn sim_fault(&mut self, wire: &WireSimFault) -> Option<SimFault> {
        let operation =
            self.whole("fault.operation", &wire.operation, Unit::Count, 1..=SIM_COUNT_MAX);
        let outcome = match wire.outcome.as_deref()? {
            "short" => SimFaultOutcome::IsShort,
            "hang" => SimFaultOutcome::Hangs,
            name => SimFaultOutcome::Fails(Errno::from_name(name)?),
        };
        Some(SimFault { operation: operation?, request: wire.request, outcome })
    }

    fn sim_time(&mut self, key: &str, wire: &Option<WireQuantity>) -> u64 {
        self.whole(key, wire, Unit::Nanoseconds, 0..=SIM_TIME_MAX_NS).unwrap_or_default()
    }

    fn sim_percent(&mut self, key: &str, wire: &Option<WireQuantity>, most: f64) -> f64 {
        self.number(key, wire, Unit::Percent, 0.0..=most).unwrap_or_default()
    }
}

/// Sizes after `cuts` phases have halved the files.
fn cut(sizes: Sizes, cuts: u32) -> Sizes {
    match sizes {
        Sizes::Fixed(bytes) => Sizes::Fixed(bytes.checked_shr(cuts).unwrap_or(0)),
        drawn => drawn,
    }
}
