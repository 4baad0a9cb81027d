//! The phases of one cell, checked one after another against the entries the earlier ones leave.

use std::ops::RangeInclusive;

use super::Settings;
use super::live::Entries;
use super::scope::{Scope, check_title};
use super::{device, sim, transfer, tree};
use crate::base::units::{Quantity, Unit, counted, grouped};
use crate::op::{Change, Effect, Operation, Subject, find_operation};
use crate::plan::phase::{BLOCK_DEFAULT, CacheAsked, DirectoryWalk, End, OnBallast, Past, Phase};
use crate::plan::report::{ProblemList, below, element};
use crate::plan::selection::{Order, Selection};
use crate::plan::sim::SimModel;
use crate::plan::tree::{Handles, Tree};
use crate::plan::wire::{self, Atime, Trees, WireJob, WireOn, WirePhase, WireQuantity};
use crate::plan::{CellPlan, EngineName, FileSystem};

pub(super) const THREADS: RangeInclusive<u64> = 1..=1_024;
const PASSES: RangeInclusive<u64> = 1..=200;
/// Of a planted slowdown, in percent.
const DELAY: RangeInclusive<f64> = 0.0..=1_000.0;
const BLOCK: RangeInclusive<u64> = 1..=16 << 20;
const WINDOWS: RangeInclusive<u64> = 0..=10_000;

/// Phases of one cell, passes counted: each remembers those before it.
const PHASES_MAX: usize = 200;

/// One variant of a job file, with all that its cells have in common.
pub(super) struct CheckedVariant<'a> {
    pub(super) job: &'a WireJob,
    pub(super) settings: &'a Settings,
    pub(super) wire: &'a wire::WireVariant,
    pub(super) place: String,
    pub(super) seed: u64,
    /// The highest level of the axis; 0 without one.
    pub(super) highest: f64,
    /// Its name in the plan; none if anything is wrong with it.
    pub(super) name: Option<String>,
    /// The file system that is made for it, and where that is asked for.
    pub(super) made: Option<(FileSystem, String)>,
}

/// What a phase is but for the entries it works on.
pub(super) struct Outline<'a> {
    pub(super) wire: &'a WirePhase,
    pub(super) place: String,
    pub(super) operation: &'static dyn Operation,
    pub(super) threads: u32,
    pub(super) passes: u32,
    pub(super) windows: u32,
    pub(super) block: u32,
    pub(super) cache: CacheAsked,
    pub(super) end: End,
}

impl<'a> CheckedVariant<'a> {
    /// The variant at one level; none if anything is wrong with it.
    pub(super) fn cell(
        &self,
        level: Option<Quantity>,
        scope: &Scope,
        report: &mut ProblemList,
    ) -> Option<CellPlan> {
        let sim = self.sim(scope, report);
        let outlines: Vec<_> =
            (0..self.job.phases().len()).map(|at| self.outline(at, scope, report)).collect();
        let threads = outlines.iter().flatten().map(|outline| outline.threads).next();
        let on_device = device::only(self.job, report);
        let tree = match on_device {
            true => Some(self.no_tree(report)),
            false => self.tree(threads, scope, report),
        };
        self.check_own_trees(&outlines, report);
        let engine = self.settings.engine.or(self.wire.engine).or(self.job.engine);
        let engine = engine.unwrap_or_default();
        self.check_made(engine, on_device, report);
        let delay = self.delay((engine, on_device), scope, report);
        if engine.is_simulated() && sim.queue > 1 {
            self.check_queue(tree.as_ref(), report);
        }
        for outline in outlines.iter().flatten() {
            let place = if self.settings.cache.is_some() { "--cache" } else { &outline.place };
            transfer::check(outline, tree.as_ref(), place, report);
        }
        // Without one of them nothing is known of the entries that the later ones meet.
        let outlines: Option<Vec<_>> = outlines.into_iter().collect();
        let prepare = self.prepare((level, self.highest), scope, report);
        let (outlines, tree, prepare) = (outlines?, tree?, prepare?);
        let phases = self.phases(&outlines, &tree, scope, report)?;
        let variant = self.name.clone()?;
        let filesystem = self.filesystem(&phases);
        let job_variant = self.wire.name.clone()?;
        Some(CellPlan {
            variant,
            job_variant,
            level,
            engine,
            sim,
            delay,
            filesystem,
            tree,
            prepare,
            phases,
        })
    }

    /// The planted slowdown as a share.
    fn delay(
        &self,
        (engine, on_device): (EngineName, bool),
        scope: &Scope,
        report: &mut ProblemList,
    ) -> f64 {
        let (wire, place) = match (&self.wire.delay, &self.job.delay) {
            (Some(own), _) => (own, below(&self.place, "delay")),
            (None, Some(all)) => (all, "delay".to_string()),
            (None, None) => return 0.0,
        };
        let percent = scope.number(wire, &place, (Unit::Percent, DELAY), report).unwrap_or(0.0);
        if percent > 0.0 && (engine.is_simulated() || on_device) {
            let expected = "none where the file system is simulated or the device is read";
            report.add(&place, "a delay", expected, None);
        }
        percent / 100.0
    }

    fn sim(&self, scope: &Scope, report: &mut ProblemList) -> SimModel {
        match (&self.wire.sim, &self.job.sim) {
            (Some(own), _) => sim::read(own, &below(&self.place, "sim"), scope, report),
            (None, Some(all)) => sim::read(all, "sim", scope, report),
            (None, None) => SimModel::default(),
        }
    }

    /// A file that stays open is one worker's, who writes its chunks one after another.
    fn check_queue(&self, tree: Option<&Tree>, report: &mut ProblemList) {
        let Some(chunks) = tree.and_then(|tree| tree.chunks) else { return };
        if chunks.handles == Handles::KeepOpen && chunks.per_file > 1 {
            let place =
                self.wire.tree.as_ref().map_or("tree".into(), |_| below(&self.place, "tree"));
            let found = "`keep-open` with several requests under way";
            let expected = "`reopen`, or `queue = 0` in the `sim` table";
            report.add(&below(&place, "handles"), found, expected, None);
        }
    }

    fn tree(&self, workers: Option<u32>, scope: &Scope, report: &mut ProblemList) -> Option<Tree> {
        let own = below(&self.place, "tree");
        if let Some(wire) = &self.wire.tree {
            return tree::read(wire, (&own, scope), (workers, self.seed), report);
        }
        if report.is_broken(&own) {
            return None;
        }
        if let Some(wire) = &self.job.tree {
            return tree::read(wire, ("tree", scope), (workers, self.seed), report);
        }
        if !report.is_broken("tree") {
            let hint = "add `[tree]` with `files = 1_000`".to_string();
            let place = if self.job.variant.is_empty() { "tree" } else { &own };
            report.add(place, "no tree", "one here or for all variants", Some(hint));
        }
        None
    }

    /// Where no phase works on files there is no tree, and none may be written down.
    fn no_tree(&self, report: &mut ProblemList) -> Tree {
        let own = below(&self.place, "tree");
        for (place, wire) in [("tree", &self.job.tree), (own.as_str(), &self.wire.tree)] {
            if wire.is_some() {
                let expected = "none: phases on the device work on no files";
                report.add(place, "a tree", expected, None);
            }
        }
        Tree::none(self.seed)
    }

    /// What a phase says of itself, with the defaults of variant and job file, and the settings'
    /// word above all.
    fn outline(&self, at: usize, scope: &Scope, report: &mut ProblemList) -> Option<Outline<'a>> {
        let wire = &self.job.phases()[at];
        let place = element("phase", at);
        self.check_phase_name(at, &place, report);
        let threads = self.threads(wire, &place, scope, report);
        let mut whole = |key, wire: &Option<WireQuantity>, unit, range, default: u32| match wire {
            None => Some(default),
            Some(wire) => {
                let whole = scope.whole(wire, &below(&place, key), (unit, range), report);
                whole.and_then(|n| u32::try_from(n).ok())
            }
        };
        let passes = whole("passes", &wire.passes, Unit::Count, PASSES, 1);
        let windows = whole("windows", &wire.windows, Unit::Count, WINDOWS, 0);
        let block = whole("block", &wire.block, Unit::Bytes, BLOCK, BLOCK_DEFAULT);
        let end = transfer::end(wire.duration.as_ref(), &place, scope, report);
        let operation = wire.operation.as_ref().and_then(|name| find_operation(&name.0))?;
        let cache = self.settings.cache.or(wire.cache).or(self.wire.cache).or(self.job.cache);
        let cache = cache.unwrap_or_default();
        let passes = passes.map(|n| check_passes(n, operation, &place, report));
        let (threads, passes, windows, block) = (threads?, passes?, windows?, block?);
        let end = end?;
        Some(Outline { wire, place, operation, threads, passes, windows, block, cache, end })
    }

    fn check_phase_name(&self, at: usize, place: &str, report: &mut ProblemList) {
        let Some(name) = phase_name(&self.job.phases()[at]) else { return };
        let own = self.job.phases()[at].name.is_some();
        let place = below(place, if own { "name" } else { "operation" });
        check_title(name, &place, report);
        if self.job.phases()[..at].iter().any(|other| phase_name(other) == Some(name)) {
            let hint = format!("add `name = \"{name}-{}\"`", at + 1);
            let found = format!("a second phase called `{name}`");
            let expected = "a name that no other phase has";
            report.add(&place, found, expected, (!own).then_some(hint));
        }
    }

    fn threads(
        &self,
        phase: &WirePhase,
        place: &str,
        scope: &Scope,
        report: &mut ProblemList,
    ) -> Option<u32> {
        let asked = self.settings.threads.map(|n| WireQuantity::Number(f64::from(n)));
        let places = [
            (asked.as_ref(), "--threads".to_string()),
            (phase.threads.as_ref(), below(place, "threads")),
            (self.wire.threads.as_ref(), below(&self.place, "threads")),
            (self.job.threads.as_ref(), "threads".to_string()),
        ];
        for (wire, place) in places {
            if let Some(wire) = wire {
                let threads = scope.whole(wire, &place, (Unit::Count, THREADS), report)?;
                return u32::try_from(threads).ok();
            }
        }
        Some(1)
    }

    /// With trees of their own, workers are the same in all phases.
    fn check_own_trees(&self, outlines: &[Option<Outline<'_>>], report: &mut ProblemList) {
        let tree = self.wire.tree.as_ref().or(self.job.tree.as_ref());
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
            report.add(&below(&other.place, "threads"), found, expected, None);
        }
    }

    /// All phases with their passes, each on what the ones before it leave.
    fn phases(
        &self,
        outlines: &[Outline<'a>],
        tree: &Tree,
        scope: &Scope,
        report: &mut ProblemList,
    ) -> Option<Vec<Phase>> {
        let passes: usize = outlines.iter().map(|outline| outline.passes as usize).sum();
        if passes > PHASES_MAX {
            let found = format!("{} phases, passes counted", grouped(passes as u64));
            report.add("phase", found, format!("at most {PHASES_MAX}"), None);
            return None;
        }
        let mut entries = Entries::default();
        let (mut history, mut phases): (Vec<Past>, Vec<Phase>) = (Vec::new(), Vec::new());
        for outline in outlines {
            // All passes of a phase read the same.
            let salt = phases.len() as u64;
            for pass in 1..=outline.passes {
                let selection = self.selection(outline, (&entries, tree, salt), scope, report)?;
                let walk = DirectoryWalk {
                    layout: tree.layout_directories(),
                    first_entry: entries.directories.first,
                };
                entries.apply(outline.operation, &selection);
                let past = past(outline.operation, &selection);
                let mut phase = self.phase(outline, selection, walk);
                phase.on_ballast = self.on_ballast(outline, salt, scope, report);
                phase.pass = pass;
                phase.history.clone_from(&history);
                phase.entries_after = entries.count();
                phases.push(phase);
                history.extend(past);
            }
        }
        Some(phases)
    }

    /// The entries a phase works on; none, and a problem, if they are not there.
    fn selection(
        &self,
        outline: &Outline<'_>,
        (entries, tree, salt): (&Entries, &Tree, u64),
        scope: &Scope,
        report: &mut ProblemList,
    ) -> Option<Selection> {
        let count_place = below(&outline.place, "count");
        let count = match &outline.wire.count {
            Some(wire) => {
                Some(scope.whole(wire, &count_place, (Unit::Count, 0..=1 << 53), report)?)
            }
            // What stands there was no quantity: how many there are is not known from here on.
            None if report.is_broken(&count_place) => return None,
            None => None,
        };
        if outline.operation.subject() == Subject::Block {
            return device::selection(outline, count, (self.seed, salt), report);
        }
        if outline.wire.on == Some(WireOn::Ballast) {
            // How many there are is known when the place is prepared.
            return Some(Selection::new((0, 0, 0), Order::Sequential, 1, self.seed, salt));
        }
        check_chunks(outline, tree, report)?;
        let choice = match entries.choose(outline.operation, count, tree) {
            Ok(choice) => choice,
            Err((found, expected)) => {
                let place = match count {
                    Some(_) => count_place,
                    None => below(&outline.place, "operation"),
                };
                let of = match self.job.variant.len() {
                    0 | 1 => String::new(),
                    _ => format!(" in variant `{}`", self.wire.name.as_deref().unwrap_or_default()),
                };
                report.add(&place, found, format!("{expected}{of}"), None);
                return None;
            }
        };
        if choice.2 > 0 && u64::from(outline.windows) > choice.2 {
            let found = grouped(u64::from(outline.windows));
            let expected = format!("at most {}, the phase's operations", grouped(choice.2));
            report.add(&below(&outline.place, "windows"), found, expected, None);
            return None;
        }
        // A walk goes through all trees from the top, whoever they belong to.
        let walks = outline.operation.subject() == Subject::AnyDirectory;
        let roots = if walks { 1 } else { tree.roots };
        let order = outline.wire.order.unwrap_or_default();
        Some(match tree.chunks {
            Some(chunks) if outline.operation.subject() == Subject::Chunk => {
                Selection::of_chunks((choice.0, choice.2), chunks.per_file, roots)
            }
            _ => Selection::new(choice, order, roots, self.seed, salt),
        })
    }

    fn on_ballast(
        &self,
        outline: &Outline<'_>,
        salt: u64,
        scope: &Scope,
        report: &mut ProblemList,
    ) -> Option<OnBallast> {
        outline.wire.on.filter(|on| *on == WireOn::Ballast)?;
        let place = below(&outline.place, "on");
        let operation = outline.operation;
        if operation.subject() != Subject::File || !operation.only_looks() {
            let found = format!("`{}` on the ballast", operation.name());
            report.add(&place, found, "an operation that only looks at files", None);
        }
        let of_axis = self.job.axis.as_ref().and_then(|axis| axis.prepare.as_ref());
        if self.wire.prepare.is_none() && of_axis.is_none() {
            report.add(&place, "`ballast` without any", "`prepare` in `[axis]`", None);
        }
        if outline.windows > 0 {
            let place = below(&outline.place, "windows");
            let expected = "none on the ballast, whose files are counted only when it is made";
            report.add(&place, grouped(u64::from(outline.windows)), expected, None);
        }
        let most = match &outline.wire.count {
            Some(wire) => {
                let any = (Unit::Count, 0..=1 << 53);
                scope.whole(wire, &below(&outline.place, "count"), any, report)?
            }
            None => u64::MAX,
        };
        Some(OnBallast { most, order: outline.wire.order.unwrap_or_default(), salt })
    }

    fn phase(&self, outline: &Outline<'_>, selection: Selection, walk: DirectoryWalk) -> Phase {
        let (phase, variant, job) = (outline.wire, self.wire, self.job);
        let durability = phase.durability.or(variant.durability).or(job.durability);
        let atime = phase.atime.or(variant.atime).or(job.atime);
        Phase {
            name: phase_name(phase).unwrap_or_default().to_string(),
            windows: if selection.count == 0 { 0 } else { outline.windows },
            durability: durability.unwrap_or_default(),
            cache: outline.cache,
            block: outline.block,
            keep_atime: atime == Some(Atime::Off),
            direct: outline.wire.direct == Some(true),
            end: outline.end,
            walk,
            ..Phase::bare(outline.operation, selection, outline.threads)
        }
    }
}

/// What a phase leaves for later ones to know of files.
fn past(operation: &dyn Operation, selection: &Selection) -> Option<Past> {
    let change = operation.change();
    let selection = match operation.subject() {
        Subject::File if change.modifies_target() => selection.clone(),
        Subject::Chunk => selection.of_entries(),
        _ => return None,
    };
    Some(Past { change, selection })
}

/// Files of chunks are made by writing chunks in their order, and others by writing them whole;
/// none, and a problem, for a phase that does otherwise.
fn check_chunks(outline: &Outline<'_>, tree: &Tree, report: &mut ProblemList) -> Option<()> {
    let on_chunks = outline.operation.subject() == Subject::Chunk;
    let makes_files = outline.operation.change() == Change::NewSize
        && outline.operation.effect() == Effect::AddsEntry;
    let name = format!("`{}`", outline.operation.name());
    let place = below(&outline.place, "operation");
    if on_chunks && tree.chunks.is_none() {
        let hint = "give the tree `chunks` instead of `files`".to_string();
        report.add(&place, format!("{name} in a tree of files"), "a tree of chunks", Some(hint));
    } else if makes_files && tree.chunks.is_some() {
        let expected = "`write-chunk`, which makes the files there";
        report.add(&place, format!("{name} in a tree of chunks"), expected, None);
    } else if on_chunks && outline.wire.order == Some(Order::Random) {
        let expected = format!("sequential: {name} writes the chunks of a file in their order");
        report.add(&below(&outline.place, "order"), "random", expected, None);
    } else {
        return Some(());
    }
    None
}

/// The passes, or one where more make no sense: what a phase adds or removes, it does once.
fn check_passes(
    passes: u32,
    operation: &dyn Operation,
    place: &str,
    report: &mut ProblemList,
) -> u32 {
    let does = match operation.effect() {
        Effect::KeepsTree => return passes,
        Effect::AddsEntry => "adds entries",
        Effect::RemovesEntry => "removes entries",
    };
    if passes > 1 {
        let expected = format!("1, because `{}` {does}", operation.name());
        report.add(&below(place, "passes"), grouped(u64::from(passes)), expected, None);
    }
    1
}

/// A phase's name: its operation's if it has none of its own.
fn phase_name(phase: &WirePhase) -> Option<&str> {
    let operation = phase.operation.as_ref().map(|operation| operation.0.as_str());
    phase.name.as_deref().or(operation)
}
