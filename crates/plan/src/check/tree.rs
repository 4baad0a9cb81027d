//! Checks the tree of a variant and its ballast.

use std::ops::RangeInclusive;

use super::cell::CellCheck;
use super::keys::{KeyReader, check_part_title};
use super::limits::{
    BYTES_MAX, DELETE_EVERY_DEFAULT, FILES_EACH_DEFAULT, FILES_MAX, FILES_UNKNOWN,
    FILES_UNKNOWN_DRAWN, MU_MAX, SIGMA, THREADS, WITHIN_MIN,
};
use crate::mix::ROOM_EACH;
use crate::prepare::{
    Ballast, BallastGoal, Churn, FillMethod, HISTORIES_MAX, PIECE_BYTES, Prepare, ROUNDS_MAX,
    rounds_default,
};
use crate::tree::{
    Chunks, Content, DEPTH_MAX, DIRECTORIES_MAX, DirectoryLayout, FilesEach, LognormalSizes,
    Placement, RankPart, Sizes, Tree,
};
use crate::wire::{
    Directories, FilesLaw, LognormalLaw, SizeLaw, Trees, WireAge, WireContent, WireFilesEach,
    WireFill, WirePrepare, WireQuantity, WireSize, WireTree,
};
use boatload_base::units::{Quantity, Unit, bytes, grouped};

/// Reads a tree. `workers` are the threads of the phases, for trees of their own; `None` if they are
/// not known.
struct TreeReader<'a> {
    wire: &'a WireTree,
    workers: Option<u32>,
    /// The most threads of a mix; `None` without a mix.
    mix_workers: Option<u32>,
    seed: u64,
    keys: KeyReader<'a>,
}

/// The directories of a tree, and how many files each gets.
struct CheckedLayout {
    directories: DirectoryLayout,
    files_each: FilesEach,
}

/// How many files a tree can hold, and the chunks that they are made of, if they are.
struct FileCount {
    files: u64,
    /// The most of a mix; `None` without a mix.
    files_max: Option<u64>,
    chunks: Option<Chunks>,
}

impl TreeReader<'_> {
    /// The tree of one cell; `None` if anything is wrong with it.
    fn tree(mut self) -> Option<Tree> {
        let count = self.file_count();
        let roots = match self.wire.trees.unwrap_or_default() {
            Trees::Shared | Trees::SharedByRanks => Some(1),
            Trees::Own => self.workers,
        };
        // Each worker's own tree has directories for its part of the files.
        let in_root = |files: u64| files.div_ceil(u64::from(roots.unwrap_or(1).max(1)));
        let most = |count: &FileCount| count.files_max.unwrap_or(count.files);
        let layout = self.layout(count.as_ref().map(|count| in_root(most(count))));
        let sizes = match self.wire.chunks {
            Some(_) => self.chunk_size(),
            None => sizes(self.wire.size.as_ref(), self.keys.table("size")),
        };
        let content = content(self.wire.content.as_ref(), self.keys.table("content"));
        let part = self.is_shared_by_ranks().then_some(RankPart::ALONE);
        let (FileCount { files, files_max, chunks }, layout) = (count?, layout?);
        let (sizes, content) = (sizes?, content?);
        let (parts, noun) = chunks.map_or((files, "files"), |chunks| (chunks.count, "chunks"));
        if parts.checked_mul(sizes.max()).is_none_or(|all| all > BYTES_MAX) {
            let found = format!("{} {noun} of up to {}", grouped(parts), bytes(sizes.max()));
            self.keys.problem("size", found, format!("at most {} in all", bytes(BYTES_MAX)));
            return None;
        }
        let roots = roots?;
        let CheckedLayout { directories: layout, files_each } = layout;
        if layout.directories().saturating_mul(u64::from(roots)) > DIRECTORIES_MAX {
            let each = grouped(layout.directories());
            let found = match roots {
                1 => format!("{each} directories, with those above them"),
                _ => format!("{each} directories for each of {roots} workers"),
            };
            let expected = format!("at most {} in all", grouped(DIRECTORIES_MAX));
            self.keys.problem("directories", found, expected);
            return None;
        }
        let (placement, seed) = (self.wire.placement.unwrap_or_default(), self.seed);
        Some(Tree {
            files,
            files_max,
            layout,
            placement,
            files_each,
            roots,
            part,
            sizes,
            chunks,
            content,
            seed,
        })
    }

    fn is_shared_by_ranks(&self) -> bool {
        self.wire.trees == Some(Trees::SharedByRanks)
    }

    fn file_count(&mut self) -> Option<FileCount> {
        let (wire, keys) = (self.wire, &mut self.keys);
        let before = keys.report.count();
        let files = keys.whole("files", &wire.files, Unit::Count, 0..=FILES_MAX);
        let count = keys.whole("chunks", &wire.chunks, Unit::Count, 0..=FILES_MAX);
        let per_file =
            keys.whole("chunks_per_file", &wire.chunks_per_file, Unit::Count, 1..=FILES_MAX);
        match (&wire.files, &wire.chunks) {
            (Some(_), Some(_)) => {
                let expected = "`files` or `chunks`, not both";
                keys.problem("chunks", "`chunks` beside `files`", expected);
            }
            (None, None) => {
                if !keys.is_broken("files") && !keys.is_broken("chunks") {
                    let hint = "add `files = 1_000`";
                    keys.problem_with_hint("", "no `files`", "it, or `chunks`", hint);
                }
                return None;
            }
            _ => {}
        }
        let of_chunks = [
            ("chunks_per_file", wire.chunks_per_file.is_some()),
            ("handles", wire.handles.is_some()),
        ];
        for (key, is_there) in of_chunks {
            if is_there && wire.chunks.is_none() && !keys.is_broken("chunks") {
                let found = format!("`{key}` in a tree of files");
                keys.problem(key, found, "it beside `chunks` only");
            }
        }
        if keys.report.count() > before {
            return None;
        }
        let Some(count) = count else {
            let files = files?;
            let files_max = self.files_max(files);
            return Some(FileCount { files, files_max, chunks: None });
        };
        let handles = wire.handles.unwrap_or_default();
        let chunks = Chunks { count, per_file: per_file.unwrap_or(1), handles };
        Some(FileCount { files: chunks.files(), files_max: None, chunks: Some(chunks) })
    }

    /// The most files of a mix, where there is one: what the job says, else a quarter more than at its start.
    fn files_max(&mut self, files: u64) -> Option<u64> {
        let (wire, keys) = (&self.wire.files_max, &mut self.keys);
        let Some(workers) = self.mix_workers else {
            if wire.is_some() {
                let expected = "it beside a mix only: a phase with `[[phase.work]]`";
                keys.problem("files_max", "`files_max` without a mix", expected);
            }
            return None;
        };
        if wire.is_some() {
            return keys.whole("files_max", wire, Unit::Count, files..=FILES_MAX);
        }
        let room = (files / 4).max(ROOM_EACH * u64::from(workers));
        Some(files.saturating_add(room).min(FILES_MAX))
    }

    /// The size of all chunks alike: where each begins in its file follows from it.
    fn chunk_size(&mut self) -> Option<Sizes> {
        let keys = &mut self.keys;
        let expected = "the size of every chunk";
        match &self.wire.size {
            Some(WireSize::Fixed(size)) => {
                return keys.whole("size", size, Unit::Bytes, 1..=BYTES_MAX).map(Sizes::Fixed);
            }
            Some(WireSize::Law(_)) => keys.problem("size", "a size that is drawn", expected),
            None if keys.is_broken_inside("size") => {}
            None => keys.problem_with_hint("size", "no size", expected, "add `size = \"64KiB\"`"),
        }
        None
    }

    fn layout(&mut self, files: Option<u64>) -> Option<CheckedLayout> {
        const SOME: RangeInclusive<u64> = 1..=DIRECTORIES_MAX;
        let is_shared = self.is_shared_by_ranks();
        let keys = &mut self.keys;
        let directories = match &self.wire.directories {
            None => DirectoryLayout::flat(1),
            Some(Directories::Count(count)) => {
                DirectoryLayout::flat(keys.whole("directories", count, Unit::Count, SOME)?)
            }
            Some(Directories::Named(names)) => return self.named_layout(names),
            Some(Directories::AsNeeded(law)) => {
                let mut keys = keys.table("directories.files_each");
                if is_shared && matches!(law.files_each, Some(WireFilesEach::Law(_))) {
                    let found = "a number that each rank draws, in directories that all share";
                    keys.problem("", found, "a count");
                    return None;
                }
                let is_drawn = matches!(law.files_each, Some(WireFilesEach::Law(_)));
                if is_drawn && self.wire.placement == Some(Placement::Stripe) {
                    let found =
                        "numbers of their own in directories that get one file each in turn";
                    keys.problem("", found, "a count, or `placement = \"fill\"`");
                    return None;
                }
                let files_each = files_each(law.files_each.as_ref()?, files?, self.seed, keys)?;
                return Some(CheckedLayout {
                    directories: needed(&files_each, files?)?,
                    files_each,
                });
            }
            Some(Directories::Nested(nested)) => {
                let mut keys = keys.table("directories");
                let depth = 1..=u64::from(DEPTH_MAX);
                let fan_out = keys.whole("fan_out", &nested.fan_out, Unit::Count, SOME);
                let depth = keys.whole("depth", &nested.depth, Unit::Count, depth);
                DirectoryLayout { fan_out: fan_out?, depth: u32::try_from(depth?).ok()? }
            }
        };
        if self.wire.files_in.is_some() {
            let expected = "`directories` with names";
            self.keys.problem("files_in", "`files_in` without names", expected);
            return None;
        }
        Some(CheckedLayout { directories, files_each: FilesEach::Even })
    }

    fn named_layout(&mut self, names: &[String]) -> Option<CheckedLayout> {
        let before = self.keys.report.count();
        if names.is_empty() || names.len() > DIRECTORIES_NAMED_MAX {
            let expected = format!("from 1 to {DIRECTORIES_NAMED_MAX} names");
            self.keys.problem("directories", grouped(names.len() as u64), expected);
        }
        for name in names {
            // Steps of chains are called by them.
            check_part_title(name, &self.keys.path("directories"), self.keys.report);
        }
        if let Some(twice) = (1..names.len()).find(|at| names[..*at].contains(&names[*at])) {
            let found = format!("a second `{}`", names[twice]);
            self.keys.problem("directories", found, "names that no other directory has");
        }
        for (key, is_there) in
            [("placement", self.wire.placement.is_some()), ("trees", self.wire.trees.is_some())]
        {
            if is_there {
                let found = format!("`{key}` beside directories with names");
                self.keys.problem(key, found, "none: all files lie in one of them");
            }
        }
        let home = match &self.wire.files_in {
            None => Some(0),
            Some(name) => self.keys.directory("files_in", name, names),
        };
        let directories = DirectoryLayout::flat(names.len() as u64);
        let files_each = FilesEach::AllIn(home?);
        (self.keys.report.count() == before).then_some(CheckedLayout { directories, files_each })
    }
}

/// Most directories with names.
const DIRECTORIES_NAMED_MAX: usize = 16;

impl KeyReader<'_> {
    /// The number of a directory with a name.
    pub(super) fn directory(&mut self, key: &str, name: &str, names: &[String]) -> Option<u8> {
        let at = names.iter().position(|other| other == name);
        if at.is_none() {
            let all: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            let expected = match all.is_empty() {
                true => "a tree with names, such as `directories = [\"tmp\", \"new\"]`".into(),
                false => format!("one of {}", all.join(", ")),
            };
            self.problem(key, format!("`{name}`"), expected);
        }
        u8::try_from(at?).ok()
    }
}

/// As many directories as so many files need. A single one is a directory of its own too, so that
/// names stay as files are added.
fn needed(files_each: &FilesEach, files: u64) -> Option<DirectoryLayout> {
    Some(DirectoryLayout { fan_out: files_each.directories(files)?.max(1), depth: 1 })
}

/// How many files each directory gets, with directories for `files` of them.
fn files_each(
    wire: &WireFilesEach,
    files: u64,
    seed: u64,
    mut keys: KeyReader<'_>,
) -> Option<FilesEach> {
    let law = match wire {
        WireFilesEach::Fixed(each) => {
            return keys.whole("", each, Unit::Count, 1..=FILES_MAX).map(FilesEach::Fixed);
        }
        WireFilesEach::Law(FilesLaw::Uniform(law)) => law,
    };
    let mut keys = keys.table("uniform");
    let min = keys.whole("min", &law.min, Unit::Count, 0..=FILES_MAX);
    let max = keys.whole("max", &law.max, Unit::Count, 0..=FILES_MAX);
    let (min, max) = (min?, max?);
    if max < min.max(1) {
        keys.problem("max", grouped(max), format!("at least {}", grouped(min.max(1))));
        return None;
    }
    if files / (min + max).div_ceil(2) > DIRECTORIES_MAX {
        let found = format!("{} files in directories this small", grouped(files));
        keys.problem("", found, format!("at most {} directories", grouped(DIRECTORIES_MAX)));
        return None;
    }
    Some(FilesEach::drawn(min..=max, files, seed))
}

/// The law of sizes; all are 0 where none is written.
pub(super) fn sizes(wire: Option<&WireSize>, mut keys: KeyReader<'_>) -> Option<Sizes> {
    match wire {
        None => Some(Sizes::Fixed(0)),
        Some(WireSize::Fixed(size)) => {
            keys.whole("", size, Unit::Bytes, 0..=BYTES_MAX).map(Sizes::Fixed)
        }
        Some(WireSize::Law(SizeLaw::Uniform(law))) => {
            let mut keys = keys.table("uniform");
            let (min, max) = min_max(&law.min, &law.max, &mut keys)?;
            let step = match &law.step {
                Some(step) => keys.whole("step", step, Unit::Bytes, 1..=BYTES_MAX)?,
                None => 1,
            };
            if !(max - min).is_multiple_of(step) {
                let expected = format!("whole steps of {} from {}", bytes(step), bytes(min));
                keys.problem("max", bytes(max), expected);
                return None;
            }
            Some(Sizes::Uniform { min, max, step })
        }
        Some(WireSize::Law(SizeLaw::Exponential(law))) => {
            let mut keys = keys.table("exponential");
            let range = min_max(&law.min, &law.max, &mut keys);
            let k = keys.number("k", &law.k, Unit::Count, 0.0..=100.0);
            let ((min, max), k) = (range?, k?);
            Some(Sizes::Exponential { min, max, k })
        }
        Some(WireSize::Law(SizeLaw::Lognormal(law))) => lognormal(law, keys.table("lognormal")),
    }
}

fn lognormal(law: &LognormalLaw, mut keys: KeyReader<'_>) -> Option<Sizes> {
    let range = min_max(&law.min, &law.max, &mut keys);
    let mu = keys.number("mu", &law.mu, Unit::Count, 0.0..=MU_MAX);
    let sigma = keys.number("sigma", &law.sigma, Unit::Count, SIGMA);
    let ((min, max), mu, sigma) = (range?, mu?, sigma?);
    let law = LognormalSizes::new(mu, sigma, min, max);
    if law.within < WITHIN_MIN {
        let found = format!("sizes from {} to {}", bytes(min), bytes(max));
        keys.problem("max", found, "a range that 1% of the law lies in");
        return None;
    }
    Some(Sizes::Lognormal(law))
}

fn min_max(
    min: &Option<WireQuantity>,
    max: &Option<WireQuantity>,
    keys: &mut KeyReader<'_>,
) -> Option<(u64, u64)> {
    let min = keys.whole("min", min, Unit::Bytes, 0..=BYTES_MAX);
    let max = keys.whole("max", max, Unit::Bytes, 0..=BYTES_MAX);
    let (min, max) = (min?, max?);
    if min > max {
        let expected = format!("at least {}, the smallest size", bytes(min));
        keys.problem("max", bytes(max), expected);
        return None;
    }
    Some((min, max))
}

fn content(wire: Option<&WireContent>, mut keys: KeyReader<'_>) -> Option<Content> {
    match wire {
        None | Some(WireContent::Random) => Some(Content::Random),
        Some(WireContent::Zeros) => Some(Content::Zeros),
        Some(WireContent::Compressible(share)) => {
            let share = keys.whole("compressible", share, Unit::Percent, 0..=100)?;
            u8::try_from(share).ok().map(Content::Compressible)
        }
    }
}

impl CellCheck<'_> {
    /// The tree of the cell: the variant's own, or the job file's; `None` if anything is wrong
    /// with it.
    pub(super) fn tree(&mut self, workers: Option<u32>, mix_workers: Option<u32>) -> Option<Tree> {
        let (own, seed) = (self.variant_key("tree"), self.seed);
        let (wire, place) = match (&self.variant.wire.tree, &self.job.tree) {
            (Some(wire), _) => (wire, own.as_str()),
            (None, _) if self.report.is_broken(&own) => return None,
            (None, Some(wire)) => (wire, "tree"),
            (None, None) => {
                if !self.report.is_broken("tree") {
                    let hint = "add `[tree]` with `files = 1_000`";
                    let place = if self.job.variant.is_empty() { "tree" } else { &own };
                    let expected = "one here or for all variants";
                    self.report.add_with_hint(place, "no tree", expected, hint);
                }
                return None;
            }
        };
        TreeReader { wire, workers, mix_workers, seed, keys: self.keys(place) }.tree()
    }

    /// How the place is prepared for the level, as `wire` at `place` says; `None` if anything is
    /// wrong with it.
    pub(super) fn prepare(&mut self, wire: &WirePrepare, place: &str) -> Option<Prepare> {
        let Some(level) = self.level else {
            if self.job.axis.is_none() && !self.report.is_broken("axis") {
                let hint = "add `[axis]` with the levels to prepare for";
                let found = "`prepare` without an axis";
                self.report.add_with_hint(place, found, "an `[axis]`", hint);
            }
            return None;
        };
        let (seed, highest) = (self.seed, self.highest);
        let mut keys = self.keys(place);
        match wire {
            WirePrepare::Fill(fill) => {
                ballast(fill, FillMethod::Fill, level, seed, keys.table("fill"))
            }
            WirePrepare::Age(age) => {
                let mut keys = keys.table("age");
                let WireAge { delete_every, emptied, .. } = age;
                let delete_every = match delete_every {
                    Some(wire) => keys.whole("delete_every", wire, Unit::Count, 1..=1 << 32)?,
                    None => DELETE_EVERY_DEFAULT,
                };
                let empty_from = emptied.then_some(highest);
                let method = FillMethod::Age { delete_every, empty_from, churn: keys.churn(age)? };
                let fill = WireFill {
                    sizes: age.sizes.clone(),
                    files_each: age.files_each.clone(),
                    content: age.content.clone(),
                    threads: age.threads.clone(),
                    histories: age.histories.clone(),
                };
                ballast(&fill, method, level, seed, keys)
            }
        }
    }
}

impl KeyReader<'_> {
    /// How ageing breaks up files and free space; `None` if a key of it is wrong.
    fn churn(&mut self, age: &WireAge) -> Option<Churn> {
        let piece_bytes = match &age.pieces {
            Some(wire) => Some(self.whole("pieces", wire, Unit::Bytes, PIECE_BYTES)? as u32),
            None => None,
        };
        let most = u64::from(ROUNDS_MAX);
        let default = rounds_default(age.layout_score);
        let rounds = self.whole_or(default, "rounds", &age.rounds, Unit::Count, 0..=most)?;
        if let Some(score) = age.layout_score.filter(|score| !(0.0..=1.0).contains(score)) {
            self.problem("layout_score", score.to_string(), "a number from 0 to 1");
            return None;
        }
        Some(Churn { piece_bytes, rounds, layout_score: age.layout_score })
    }
}

/// The files that are brought to a level.
fn ballast(
    wire: &WireFill,
    method: FillMethod,
    level: Quantity,
    seed: u64,
    mut keys: KeyReader<'_>,
) -> Option<Prepare> {
    let goal = goal(method, level, &mut keys)?;
    let sizes = sizes(Some(wire.sizes.as_ref()?), keys.table("sizes"));
    let content = content(wire.content.as_ref(), keys.table("content"));
    let threads = keys.whole_or(1, "threads", &wire.threads, Unit::Count, THREADS);
    let most = u64::from(HISTORIES_MAX);
    let histories = keys.whole_or(1, "histories", &wire.histories, Unit::Count, 1..=most);
    let files = match (goal, &wire.files_each) {
        (BallastGoal::Files(files), _) => files,
        (BallastGoal::Used(_), Some(WireFilesEach::Law(_))) => FILES_UNKNOWN_DRAWN,
        (BallastGoal::Used(_), _) => FILES_UNKNOWN,
    };
    let files_each = match &wire.files_each {
        Some(wire) => files_each(wire, files, seed, keys.table("files_each")),
        None => Some(FilesEach::Fixed(FILES_EACH_DEFAULT)),
    };
    let (sizes, content, threads, files_each) = (sizes?, content?, threads?, files_each?);
    let histories = histories?;
    let layout = needed(&files_each, files)?;
    let placement = Placement::Fill;
    let tree =
        Tree { files, layout, placement, files_each, sizes, content, ..Tree::without_files(seed) };
    Some(Prepare { ballast: Ballast { tree, method, threads }, goal, histories })
}

/// What the level means for the files beside.
fn goal(method: FillMethod, level: Quantity, keys: &mut KeyReader<'_>) -> Option<BallastGoal> {
    match (level.unit, method) {
        (Unit::Percent, _) if (0.0..=100.0).contains(&level.value) => {
            Some(BallastGoal::Used(level.value))
        }
        (Unit::Count, FillMethod::Fill) if level.whole().is_some_and(|n| n <= FILES_MAX) => {
            level.whole().map(BallastGoal::Files)
        }
        _ => {
            let percents = "levels that are percents of the space";
            let expected = match method {
                FillMethod::Fill => {
                    format!("{percents}, or counts of files up to {}", grouped(FILES_MAX))
                }
                FillMethod::Age { .. } => percents.into(),
            };
            keys.problem("", format!("the level {level}"), expected);
            None
        }
    }
}
