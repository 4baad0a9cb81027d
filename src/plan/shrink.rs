//! Shrinks a plan to every kind of phase once, on few and small files, to learn in a second what each
//! costs here.

use super::phase::{CacheAsked, DirectoryWalk, PastChange, Phase, PhaseEnd};
use super::selection::{EntryRange, Order, Selection};
use super::tree::{Chunks, DirectoryLayout, Sizes, Tree};
use super::{BallastGoal, CellPlan, FillMethod, Plan, Prepare};
use crate::op::{Effect, Subject};

/// Most targets of a phase, but for a few more where a tree has many parts.
const TARGETS_MAX: u64 = 400;

/// Targets that any part of a tree keeps, if it had them.
const TARGETS_MIN: u64 = 40;

/// Most bytes of a file, and of all files of a cell.
const BYTES_MAX: u64 = 32 << 20;

/// Most levels of a variant whose trees differ.
const LEVELS_MAX: usize = 3;

/// Most phases that drop the caches.
const DROPS_MAX: usize = 4;

/// Deletions of a shrunken ageing.
const AGED_STEPS: u64 = 2;

impl Plan {
    /// Each distinct kind of phase once, on few targets: the first, middle and last of a variant's
    /// levels whose trees differ, places prepared with some files instead of to a level, and few
    /// phases left that drop the caches.
    #[must_use]
    pub fn shrunken(&self) -> Self {
        let mut cells = Vec::new();
        for variant in self.variants() {
            let of_variant = self.cells.iter().filter(|cell| cell.variant == variant);
            let mut distinct: Vec<&CellPlan> = Vec::new();
            for cell in of_variant {
                match distinct.last_mut().filter(|last| last.tree == cell.tree) {
                    Some(last) => *last = cell,
                    None => distinct.push(cell),
                }
            }
            let wanted = distinct.len().min(LEVELS_MAX);
            let at = |n: usize| n * (distinct.len() - 1) / (wanted - 1).max(1);
            cells.extend((0..wanted).map(|n| shrunken(distinct[at(n)])));
        }
        spare_drops(&mut cells);
        Self { repeats: 1, axis: None, conclude: Vec::new(), cells, ..self.clone() }
    }
}

/// Where the numbers of entries move when the ranges between them get shorter. The order of their
/// ends stays, and no range that had entries is left without, so what an earlier phase made is
/// there for a later one.
struct ShrinkLimits(Vec<(u64, u64)>);

impl ShrinkLimits {
    fn new(mut marks: Vec<u64>, most: u64) -> Self {
        marks.push(0);
        marks.sort_unstable();
        marks.dedup();
        let all = marks.last().copied().unwrap_or(0).max(1);
        let share = (most as f64 / all as f64).min(1.0);
        let least = TARGETS_MIN.min(most);
        let (mut from, mut to) = (0, 0u64);
        let step = |mark: u64| {
            let length = mark - from;
            to += length.min(((length as f64 * share).ceil() as u64).max(least));
            from = mark;
            (mark, to)
        };
        Self(marks.into_iter().map(step).collect())
    }

    /// Where one of the marks moves.
    fn at(&self, mark: u64) -> u64 {
        self.0.iter().rev().find(|(from, _)| *from <= mark).map_or(0, |(_, to)| *to)
    }

    fn end(&self) -> u64 {
        self.0.last().map_or(0, |(_, to)| *to)
    }
}

/// How one cell is made small.
struct Shrinking {
    files: ShrinkLimits,
    directories: ShrinkLimits,
    tree: Tree,
}

fn shrunken(cell: &CellPlan) -> CellPlan {
    let shrinking = Shrinking::of(cell);
    let prepare = cell.prepare.as_ref().map(shrunken_prepare);
    let mut phases: Vec<Phase> = Vec::new();
    let mut entries = 0u64;
    for phase in cell.phases.iter().filter(|phase| phase.pass == 1) {
        let mut phase = shrinking.phase(phase);
        match phase.operation.effect {
            Effect::AddsEntry => entries += phase.selection.entries(),
            Effect::RemovesEntry => entries = entries.saturating_sub(phase.selection.entries()),
            Effect::KeepsTree => {}
        }
        phase.entries_after = entries;
        phases.push(phase);
    }
    CellPlan { tree: shrinking.tree, prepare, phases, ..cell.clone() }
}

impl Shrinking {
    fn of(cell: &CellPlan) -> Self {
        let (mut files, mut directories) = (Vec::new(), Vec::new());
        for phase in cell.phases.iter().filter(|phase| phase.on_ballast.is_none()) {
            let (selection, walk) = (&phase.selection, phase.walk);
            let (first, entries) = (selection.first, selection.count);
            let ends = [first, first + entries, first + selection.population];
            match phase.operation.subject {
                Subject::File => files.extend(ends),
                Subject::Directory => directories.extend(ends),
                Subject::Chunk => {
                    let first = selection.first_entry();
                    files.extend([first, first + selection.entries()]);
                }
                Subject::AnyDirectory => {
                    let live = selection.population.saturating_sub(walk.layout);
                    directories.extend([walk.first_entry, walk.first_entry + live]);
                }
                Subject::Holder | Subject::Block => {}
            }
        }
        let mut tree = Tree { sizes: cut(cell.tree.sizes), ..cell.tree.clone() };
        let own = cell.phases.iter().filter_map(|phase| phase.sizes.map(cut));
        let mut bytes = own.map(Sizes::mean).fold(tree.sizes.mean().max(1.0), f64::max);
        let mut targets = TARGETS_MAX;
        if let Some(chunks) = &mut tree.chunks {
            let fit = (BYTES_MAX as f64 / bytes) as u64;
            chunks.per_file = chunks.per_file.min(fit.clamp(1, TARGETS_MAX));
            bytes *= chunks.per_file as f64;
            // Twice as many of them, so that many workers have a file each.
            targets = (2 * TARGETS_MAX / chunks.per_file).min(TARGETS_MAX);
        }
        let most = ((BYTES_MAX as f64 / bytes) as u64).clamp(1, targets);
        let (files, directories) =
            (ShrinkLimits::new(files, most), ShrinkLimits::new(directories, TARGETS_MAX));
        tree.files = files.end().max(directories.end());
        tree.layout = layout(&tree);
        if let Some(Chunks { count, per_file, .. }) = &mut tree.chunks {
            *count = (*count).min(tree.files * *per_file);
        }
        Self { files, directories, tree }
    }

    fn phase(&self, phase: &Phase) -> Phase {
        let walk = DirectoryWalk {
            layout: if phase.walk.layout > 0 { self.tree.layout_directories() } else { 0 },
            first_entry: self.directories.at(phase.walk.first_entry),
        };
        let of_past = |past: &PastChange| PastChange {
            selection: self.range(&past.selection, &self.files),
            change: past.change,
            sizes: past.sizes.map(cut),
        };
        Phase {
            selection: self.selection(phase),
            windows: 0,
            end: PhaseEnd::Targets,
            sizes: phase.sizes.map(cut),
            history: phase.history.iter().map(of_past).collect(),
            walk,
            ..phase.clone()
        }
    }

    fn selection(&self, phase: &Phase) -> Selection {
        let selection = &phase.selection;
        let among = |population: u64| match selection.count == selection.population {
            true => selection.over(population, population),
            false => selection.over(population, selection.count.min(TARGETS_MAX).min(population)),
        };
        match phase.operation.subject {
            _ if phase.on_ballast.is_some() => selection.clone(),
            Subject::File => self.range(selection, &self.files),
            Subject::Directory => self.range(selection, &self.directories),
            Subject::Chunk => {
                let chunks = self.tree.chunks;
                let (all, per_file) = chunks.map_or((0, 1), |c| (c.count, c.per_file));
                let first = selection.first_entry();
                let last = self.files.at(first + selection.entries()) * per_file;
                let first = self.files.at(first) * per_file;
                let count = last.min(all).saturating_sub(first);
                selection.moved(EntryRange::whole(first, count), per_file)
            }
            Subject::AnyDirectory => {
                let first = phase.walk.first_entry;
                let live = selection.population.saturating_sub(phase.walk.layout);
                let live = self.directories.at(first + live) - self.directories.at(first);
                among(self.tree.layout_directories() + live)
            }
            Subject::Holder => among(self.tree.holders()),
            Subject::Block => {
                let fit = BYTES_MAX / u64::from(phase.block.max(1));
                selection.over(selection.population, selection.count.min(fit.max(1)))
            }
        }
    }

    fn range(&self, selection: &Selection, ruler: &ShrinkLimits) -> Selection {
        let (first, all) = (selection.first, selection.population);
        let to = ruler.at(first);
        let population = ruler.at(first + all) - to;
        let count = match selection.order {
            _ if selection.count == all => population,
            Order::Sequential => ruler.at(first + selection.count) - to,
            Order::Random => {
                let share = selection.count as f64 / all.max(1) as f64;
                let shrunk = (population as f64 * share).ceil() as u64;
                shrunk.max(selection.count.min(TARGETS_MIN)).min(population)
            }
        };
        selection.moved(EntryRange { first: to, population, count }, 1)
    }
}

/// Sizes without a draw that is too large; a drawn one is replaced by its mean. In whole 4 KiB, which
/// direct I/O needs.
fn cut(sizes: Sizes) -> Sizes {
    if sizes.max() <= BYTES_MAX {
        return sizes;
    }
    let mean = (sizes.mean() as u64).min(BYTES_MAX);
    Sizes::Fixed(if mean > 4096 { mean & !4095 } else { mean })
}

/// As many directories as before, within reason.
fn layout(tree: &Tree) -> DirectoryLayout {
    let in_root = tree.files.div_ceil(u64::from(tree.roots.max(1)));
    if let Some(directories) = tree.files_each.directories(in_root) {
        return DirectoryLayout { fan_out: directories.max(1), depth: 1 };
    }
    let most = (TARGETS_MAX / u64::from(tree.roots.max(1))).max(1);
    let mut layout = tree.layout;
    while layout.depth > 1 && layout.directories() > most {
        layout.depth -= 1;
    }
    layout.fan_out = layout.fan_out.min(most);
    layout
}

fn shrunken_prepare(prepare: &Prepare) -> Prepare {
    let mut ballast = prepare.ballast.clone();
    ballast.tree.sizes = cut(ballast.tree.sizes);
    // Files that lie there for good must not be taken for these.
    ballast.tree.seed = !ballast.tree.seed;
    let fit = (BYTES_MAX as f64 / ballast.tree.sizes.mean().max(1.0)) as u64;
    let mut files = fit.clamp(1, TARGETS_MAX);
    if let FillMethod::Age { delete_every, .. } = ballast.method {
        files = files.min(delete_every.saturating_mul(AGED_STEPS));
    }
    if let BallastGoal::Files(asked) = prepare.goal {
        files = files.min(asked);
    }
    // The directories of the whole ballast would count as room that is needed.
    let directories = ballast.tree.files_each.directories(files).unwrap_or(1);
    ballast.tree.layout = DirectoryLayout { fan_out: directories.max(1), depth: 1 };
    Prepare { ballast, goal: BallastGoal::Files(files), histories: 1 }
}

/// Leaves a few kinds of phases cold, those first that meet what was there before.
fn spare_drops(cells: &mut [CellPlan]) {
    let kind = |phase: &Phase| (phase.operation.name, phase.selection.order);
    let mut kept = Vec::new();
    for adds in [false, true] {
        for cell in cells.iter() {
            for phase in cell.phases.iter().filter(|phase| phase.cache == CacheAsked::Cold) {
                let is_adding = phase.operation.effect == Effect::AddsEntry;
                let is_first = adds && !kept.is_empty();
                if is_adding == adds
                    && !is_first
                    && kept.len() < DROPS_MAX
                    && !kept.contains(&kind(phase))
                {
                    kept.push(kind(phase));
                }
            }
        }
    }
    for phase in cells.iter_mut().flat_map(|cell| &mut cell.phases) {
        if phase.cache == CacheAsked::Cold {
            match kept.iter().position(|of| *of == kind(phase)) {
                Some(at) => drop(kept.remove(at)),
                None => phase.cache = CacheAsked::AsIs,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{SCENARIOS, Scale, Settings, read_job};

    fn plans() -> impl Iterator<Item = Plan> {
        SCENARIOS.iter().flat_map(|scenario| {
            Scale::ALL.map(|scale| {
                let settings = Settings { scale, memory_bytes: 1 << 34, ..Settings::default() };
                read_job(scenario.text, &settings).unwrap_or_else(|p| panic!("{}", p.report("x")))
            })
        })
    }

    fn plan(text: &str) -> Plan {
        read_job(text, &Settings::default()).unwrap_or_else(|p| panic!("{}", p.report("x")))
    }

    #[test]
    fn every_kind_of_phase_of_every_variant_stays() {
        for plan in plans() {
            let small = plan.shrunken();
            for variant in plan.variants() {
                let names = |plan: &Plan| {
                    let cells = plan.cells.iter().filter(|cell| cell.variant == variant);
                    let mut names: Vec<String> =
                        cells.flat_map(|c| &c.phases).map(|p| p.name.clone()).collect();
                    names.sort();
                    names.dedup();
                    names
                };
                assert_eq!(names(&plan), names(&small), "{}", plan.name);
            }
        }
    }

    #[test]
    fn no_phase_has_many_targets_and_no_cell_many_bytes() {
        for plan in plans() {
            let small = plan.shrunken();
            let most = LEVELS_MAX * plan.variants().len();
            assert!(small.cells.len() <= most, "{}: {} cells", plan.name, small.cells.len());
            for cell in small.cells.iter().filter(|cell| cell.makes_files()) {
                let alone = CellPlan { prepare: None, ..cell.clone() };
                let need = crate::plan::space::Need::of(&alone, 4096);
                assert!(need.bytes < 3 * BYTES_MAX, "{}: {} bytes", plan.name, need.bytes);
                for phase in cell.phases.iter().filter(|phase| phase.on_ballast.is_none()) {
                    let count = phase.selection.count;
                    assert!(
                        (1..=2 * TARGETS_MAX).contains(&count),
                        "{} {}: {count}",
                        plan.name,
                        phase.name
                    );
                }
            }
        }
    }

    #[test]
    fn caches_are_dropped_a_few_times_and_only_if_the_plan_asks() {
        for plan in plans() {
            let colds = |plan: &Plan| {
                let phases = plan.cells.iter().flat_map(|cell| &cell.phases);
                phases.filter(|phase| phase.cache == CacheAsked::Cold).count()
            };
            let (all, few) = (colds(&plan), colds(&plan.shrunken()));
            assert_eq!(few > 0, all > 0, "{}", plan.name);
            assert!(few <= DROPS_MAX, "{}: {few}", plan.name);
        }
    }

    #[test]
    fn what_a_phase_works_on_is_what_the_ones_before_it_have_left() {
        let small = plan(
            "name = \"x\"\n[tree]\nfiles = 100_000\n[[phase]]\noperation = \"create\"\n\
             count = 60_000\n[[phase]]\noperation = \"delete\"\ncount = 10\n[[phase]]\n\
             operation = \"create\"\nname = \"more\"\n[[phase]]\noperation = \"read\"\n\
             order = \"random\"\ncount = 5_000\n",
        )
        .shrunken();
        let of = |at: usize| small.cells[0].phases[at].selection.clone();
        assert_eq!(of(1).first, 0);
        assert_eq!(of(1).count, 10, "a few stay as they are");
        assert_eq!(of(2).first, of(0).count, "numbers continue where the first create ended");
        assert_eq!(of(3).first, of(1).count);
        assert_eq!(of(3).first + of(3).population, of(2).first + of(2).count);
        assert!(of(3).count >= TARGETS_MIN);
        let left = of(0).count + of(2).count - 10;
        assert_eq!(small.cells[0].phases[3].entries_after, left);
    }

    #[test]
    fn trees_of_no_files_and_of_many_directories_shrink_too() {
        let none = plan(
            "name = \"x\"\n[tree]\nfiles = 0\n[[phase]]\noperation = \"create\"\n[[phase]]\n\
             operation = \"read\"\n",
        )
        .shrunken();
        assert!(none.cells[0].phases.iter().all(|phase| phase.selection.count == 0));
        let many = plan(
            "name = \"x\"\nthreads = 16\n[tree]\nfiles = 1_000_000\ntrees = \"own\"\n\
             directories = { fan_out = 10, depth = 4 }\n[[phase]]\noperation = \"create\"\n\
             [[phase]]\noperation = \"list\"\n[[phase]]\noperation = \"find\"\n",
        )
        .shrunken();
        let tree = &many.cells[0].tree;
        assert!(tree.layout_directories() <= 600, "{}", tree.layout_directories());
        assert_eq!(many.cells[0].phases[1].selection.count, tree.holders());
        assert_eq!(many.cells[0].phases[2].selection.count, tree.layout_directories());
    }
}
