//! Computes the path, size and content of file *i* of a tree from (seed, *i*), so a tree of 100 million
//! files needs the memory of one with a thousand.

use std::ops::RangeInclusive;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};

use boatload_base::names::{Name, NameBuffer, NameKind};
use boatload_base::normal::{normal_chance, normal_quantile};
use boatload_base::random::{Stream, below, draw, unit};
use boatload_op::ItemId;

/// The deepest nesting whose paths fit a name buffer.
pub const DEPTH_MAX: u32 = 16;

/// Most directories a layout may have.
pub const DIRECTORIES_MAX: u64 = 10_000_000;

/// In which order entries go to the directories that hold them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Placement {
    /// One directory is filled, then the next.
    #[default]
    Fill,
    /// One entry to each directory in turn.
    Stripe,
}

/// How large files are, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub enum Sizes {
    /// All the same.
    Fixed(u64),
    /// Every size that is `min` and some steps, up to `max`, equally likely.
    Uniform {
        /// Smallest size.
        min: u64,
        /// Largest size; whole steps from the smallest.
        max: u64,
        /// From one size to the next, at least 1.
        step: u64,
    },
    /// min + (max - min) * e^(k (x - 1)), x uniform in 0..1: many small, few large.
    Exponential {
        /// Smallest size.
        min: u64,
        /// Largest size.
        max: u64,
        /// How strongly small sizes are preferred.
        k: f64,
    },
    /// Their logarithm is normally distributed.
    Lognormal(LognormalSizes),
}

/// Sizes whose natural logarithm is normally distributed, cut to a range.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LognormalSizes {
    mu: f64,
    sigma: f64,
    min: u64,
    max: u64,
    /// The share of the law that lies below the range.
    below: f64,
    /// The share that lies in it.
    pub within: f64,
    mean: f64,
}

/// Quantiles that the mean of sizes is computed from: to a millionth, far less than a draw.
const QUANTILES: u32 = 4_096;

impl LognormalSizes {
    /// Mean and standard deviation of the logarithm of bytes, and the smallest and the largest size.
    pub fn new(mu: f64, sigma: f64, min: u64, max: u64) -> Self {
        let chance = |size: u64| normal_chance(((size as f64).ln() - mu) / sigma);
        let below = chance(min);
        let all = Self { mu, sigma, min, max, below, within: chance(max) - below, mean: 0.0 };
        let place = |n: u32| (f64::from(n) + 0.5) / f64::from(QUANTILES);
        let sum: f64 = (0..QUANTILES).map(|n| all.quantile(place(n)) as f64).sum();
        Self { mean: sum / f64::from(QUANTILES), ..all }
    }

    /// The size that this share of the sizes in the range does not exceed.
    fn quantile(self, share: f64) -> u64 {
        let chance = self.below + share * self.within;
        let size = (self.mu + self.sigma * normal_quantile(chance)).exp();
        (size as u64).clamp(self.min, self.max)
    }
}

impl Sizes {
    /// The size that random bits draw.
    #[inline]
    pub fn from_bits(self, bits: u64) -> u64 {
        match self {
            Sizes::Fixed(size) => size,
            Sizes::Uniform { min, max, step } => {
                min + step * below(bits, (max - min) / step.max(1) + 1)
            }
            Sizes::Exponential { min, max, k } => {
                min + ((max - min) as f64 * (k * (unit(bits) - 1.0)).exp()) as u64
            }
            Sizes::Lognormal(law) => law.quantile(unit(bits)),
        }
    }

    /// The mean over all draws.
    pub fn mean(self) -> f64 {
        match self {
            Sizes::Fixed(size) => size as f64,
            Sizes::Uniform { min, max, .. } => (min as f64 + max as f64) / 2.0,
            // e^0 is 1 for every draw.
            Sizes::Exponential { max, k: 0.0, .. } => max as f64,
            Sizes::Exponential { min, max, k } => {
                min as f64 + (max - min) as f64 * (1.0 - (-k).exp()) / k
            }
            Sizes::Lognormal(law) => law.mean,
        }
    }

    /// The largest possible size.
    pub fn max(self) -> u64 {
        match self {
            Sizes::Fixed(size) => size,
            Sizes::Uniform { max, .. }
            | Sizes::Exponential { max, .. }
            | Sizes::Lognormal(LognormalSizes { max, .. }) => max,
        }
    }
}

/// What files hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize)]
pub enum Content {
    /// Different in every file and not to be compressed.
    #[default]
    Random,
    /// Nothing but zeros.
    Zeros,
    /// Different in every file; this share, in percent, can be compressed away.
    Compressible(u8),
}

/// Directories of one worker's tree: `fan_out` to the power of `depth` hold entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct DirectoryLayout {
    /// Directories in each directory above the last level.
    pub fan_out: u64,
    /// Levels of directories below the root; at 0 the root holds the entries itself.
    pub depth: u32,
}

impl DirectoryLayout {
    /// `directories` next to each other; a single one is the root itself.
    pub fn flat(directories: u64) -> Self {
        Self { fan_out: directories, depth: u32::from(directories > 1) }
    }

    /// Directories on a level, the root being level 0.
    #[inline]
    fn on_level(self, level: u32) -> u64 {
        self.fan_out.saturating_pow(level)
    }

    /// Directories that hold entries.
    #[inline]
    pub fn holders(self) -> u64 {
        self.on_level(self.depth)
    }

    /// All directories, the root included.
    pub fn directories(self) -> u64 {
        (0..=self.depth).fold(0, |sum, level| sum.saturating_add(self.on_level(level)))
    }
}

/// How many files a directory gets before the next one is filled.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize)]
pub enum FilesEach {
    /// As many as fill all directories evenly.
    #[default]
    Even,
    /// All in this one, by its number: the others are for files that are moved.
    AllIn(u8),
    /// So many, whatever the number of files: the directories follow from it.
    Fixed(u64),
    /// Drawn for each directory: the first number beyond each directory's files.
    Drawn(#[serde(serialize_with = "shared")] Arc<[u64]>),
}

fn shared<S: Serializer>(ends: &Arc<[u64]>, to: S) -> Result<S::Ok, S::Error> {
    ends.as_ref().serialize(to)
}

impl FilesEach {
    /// Drawn uniformly from a range for directories enough to hold `files`.
    pub fn drawn(range: RangeInclusive<u64>, files: u64, seed: u64) -> Self {
        let (min, max) = range.into_inner();
        let mut ends = Vec::new();
        let mut end = 0u64;
        while end < files {
            let bits = draw(seed, Stream::Directory, ends.len() as u64);
            end = end.saturating_add(min + below(bits, max - min + 1));
            ends.push(end);
        }
        Self::Drawn(ends.into())
    }

    /// Directories that the first `files` files fill, the last one perhaps in part; `None` if that
    /// does not follow from the number of files alone.
    pub fn directories(&self, files: u64) -> Option<u64> {
        match self {
            FilesEach::Even | FilesEach::AllIn(_) => None,
            FilesEach::Fixed(each) => Some(files.div_ceil((*each).max(1))),
            FilesEach::Drawn(_) if files == 0 => Some(0),
            FilesEach::Drawn(ends) => Some(ends.partition_point(|end| *end < files) as u64 + 1),
        }
    }
}

/// Whether a file stays open from chunk to chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Handles {
    /// Opened and closed for each chunk.
    #[default]
    Reopen,
    /// Opened for its first chunk and closed after its last.
    KeepOpen,
}

/// How the files of a tree are made of chunks, the first file of the first ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Chunks {
    /// Most chunks the tree can hold.
    pub count: u64,
    /// Chunks of each file but the last, which may have fewer: at least 1.
    pub per_file: u64,
    /// Whether files stay open between them.
    pub handles: Handles,
}

impl Chunks {
    /// Files that hold all of them.
    pub fn files(self) -> u64 {
        self.count.div_ceil(self.per_file)
    }

    /// Chunks of file `number`.
    pub fn of_file(self, number: u64) -> u64 {
        self.count.saturating_sub(number.saturating_mul(self.per_file)).min(self.per_file)
    }
}

/// One rank's part of a tree that all ranks share: all have entries of the same numbers, and no two the same names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct RankPart {
    /// Which rank.
    pub rank: u32,
    /// How many share the tree, at least 1.
    pub ranks: u32,
}

impl RankPart {
    /// The part of a process that is alone.
    pub const ALONE: Self = Self { rank: 0, ranks: 1 };

    /// The number that the name of this rank's entry `number` has.
    #[inline]
    fn number_in_name(self, number: u64) -> u64 {
        number * u64::from(self.ranks) + u64::from(self.rank)
    }

    /// Whether a name with this number is of this rank.
    pub fn has(self, number_in_name: u64) -> bool {
        number_in_name % u64::from(self.ranks) == u64::from(self.rank)
    }
}

/// The law of one cell's tree.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tree {
    /// Entries of each kind that phases of one operation can make.
    pub files: u64,
    /// Most files that a mix has at any time; `None` without a mix.
    pub files_max: Option<u64>,
    /// Directories of each worker's tree.
    pub layout: DirectoryLayout,
    /// How entries go to them.
    pub placement: Placement,
    /// How many files each of them gets, if they are filled one by one.
    pub files_each: FilesEach,
    /// Trees side by side: one that all workers share, or one for each worker.
    pub roots: u32,
    /// This process's part of it, if all ranks share it.
    pub part: Option<RankPart>,
    /// Sizes of files; in a tree of chunks, of a chunk.
    pub sizes: Sizes,
    /// The chunks that its files are made of; `None` if each is written as a whole.
    pub chunks: Option<Chunks>,
    /// What files hold.
    pub content: Content,
    /// The seed all of it follows from.
    pub seed: u64,
}

impl Tree {
    /// Most entries of each kind that it ever holds.
    #[inline]
    pub fn capacity(&self) -> u64 {
        self.files_max.unwrap_or(self.files)
    }

    /// The largest that a file can be when it is new, in bytes.
    pub fn file_bytes_max(&self) -> u64 {
        let parts = self.chunks.map_or(1, |chunks| chunks.of_file(0));
        self.sizes.max().saturating_mul(parts)
    }

    /// The size of a file with all of its chunks, in bytes.
    pub fn chunked_size(&self, number: u64) -> u64 {
        self.chunks.map_or(0, |chunks| chunks.of_file(number)) * self.sizes.max()
    }

    /// No files at all, for a cell that works on none.
    pub fn without_files(seed: u64) -> Self {
        let (sizes, content) = (Sizes::Fixed(0), Content::default());
        let (layout, placement) = (DirectoryLayout::flat(1), Placement::default());
        let (files_each, part, chunks) = (FilesEach::Even, None, None);
        Self {
            files: 0,
            files_max: None,
            layout,
            placement,
            files_each,
            roots: 1,
            part,
            sizes,
            chunks,
            content,
            seed,
        }
    }

    /// Whether this process makes it, and other ranks work in it too.
    pub fn is_made_for_others(&self) -> bool {
        self.part.is_some_and(|part| part.rank == 0 && part.ranks > 1)
    }

    /// How many entries this process should count in it, where each rank should have `each` of them: rank 0 counts those
    /// of all who share it, and the others none.
    pub fn entries_to_count(&self, each: u64) -> Option<u64> {
        match self.part {
            None => Some(each),
            Some(RankPart { rank: 0, ranks }) => Some(each * u64::from(ranks)),
            Some(_) => None,
        }
    }

    /// The size of a file's content in its `version`, in bytes.
    #[inline]
    pub fn size(&self, number: u64, version: u32) -> u64 {
        self.size_by(self.sizes, number, version)
    }

    /// The same by a law of its own.
    #[inline]
    pub fn size_by(&self, sizes: Sizes, number: u64, version: u32) -> u64 {
        match sizes {
            Sizes::Fixed(size) => size,
            sizes => sizes.from_bits(draw(self.seed, Stream::Size, content_index(number, version))),
        }
    }

    /// The random bits of the content of one file in one version, different from every other.
    #[inline]
    pub fn content_key(&self, number: u64, version: u32) -> u64 {
        draw(self.seed, Stream::Content, content_index(number, version))
    }

    /// Directories that hold entries, over all roots.
    pub fn holders(&self) -> u64 {
        self.layout.holders() * u64::from(self.roots)
    }

    /// All directories of the layout: the tree's own, then level by level in each root, parents
    /// before children.
    pub fn layout_directories(&self) -> u64 {
        let each = self.layout.directories();
        if self.roots == 1 { each } else { 1 + each * u64::from(self.roots) }
    }

    /// The holder of entry `number`, below [`Tree::holders`].
    #[inline]
    pub fn holder_of(&self, number: u64) -> u64 {
        let holders = self.layout.holders();
        if holders == 1 && self.roots == 1 {
            return 0;
        }
        let roots = u64::from(self.roots);
        let (root, local) = (number % roots, number / roots);
        let within = match self.placement {
            Placement::Stripe => local % holders,
            Placement::Fill => {
                let at = match &self.files_each {
                    FilesEach::Even => {
                        local / self.capacity().div_ceil(roots).div_ceil(holders).max(1)
                    }
                    FilesEach::AllIn(directory) => u64::from(*directory),
                    FilesEach::Fixed(each) => local / (*each).max(1),
                    FilesEach::Drawn(ends) => ends.partition_point(|end| *end <= local) as u64,
                };
                at.min(holders - 1)
            }
        };
        root * holders + within
    }

    /// The holder that an entry is in, or that a directory of the layout is, below [`Tree::holders`].
    #[inline(always)]
    pub fn holder_of_place(&self, place: ItemId) -> u64 {
        match place {
            ItemId::File { directory: Some(directory), .. } => u64::from(directory),
            ItemId::Layout(number) => self.holder_of_layout(number).unwrap_or(0),
            ItemId::File { number, .. } | ItemId::Directory(number) | ItemId::Block(number) => {
                self.holder_of(number)
            }
        }
    }

    /// The holder that comes at `turn`, below [`Tree::holders`], when each worker's tree gives one
    /// in turn, as it does with files: so that a worker with a tree of its own lists that one.
    #[inline]
    pub fn holder_in_turn(&self, turn: u64) -> u64 {
        let roots = u64::from(self.roots);
        turn % roots * self.layout.holders() + turn / roots
    }

    /// The directory where files are that were not moved, among those that hold files; the first where it follows
    /// from their numbers.
    pub fn home(&self) -> u8 {
        match self.files_each {
            FilesEach::AllIn(directory) => directory,
            FilesEach::Even | FilesEach::Fixed(_) | FilesEach::Drawn(_) => 0,
        }
    }

    /// The layout number of a holder.
    #[inline]
    pub fn layout_of_holder(&self, holder: u64) -> u64 {
        let holders = self.layout.holders();
        let (root, within) = (holder / holders, holder % holders);
        let each = self.layout.directories();
        let above = u64::from(self.roots > 1) + root * each;
        above + each - holders + within
    }

    /// The holder that a directory of the layout is; `None` for one above them.
    pub fn holder_of_layout(&self, number: u64) -> Option<u64> {
        let (holders, each) = (self.layout.holders(), self.layout.directories());
        let number = number.checked_sub(u64::from(self.roots > 1))?;
        let within = (number % each).checked_sub(each - holders)?;
        Some(number / each * holders + within)
    }

    /// Adds the path of a directory of the layout; the tree's own directory adds nothing.
    pub fn push_layout(&self, number: u64, path: &mut NameBuffer) {
        let mut at = number;
        if self.roots > 1 {
            if number == 0 {
                return;
            }
            let each = self.layout.directories();
            let (root, rest) = ((number - 1) / each, (number - 1) % each);
            path.push(Name { kind: NameKind::Worker, number: root, generation: 0 });
            at = rest;
        }
        let mut level = 0;
        while at >= self.layout.on_level(level) {
            at -= self.layout.on_level(level);
            level += 1;
        }
        for above in (0..level).rev() {
            let digit = at / self.layout.on_level(above) % self.layout.fan_out;
            path.push(Name { kind: NameKind::Holder, number: digit, generation: 0 });
        }
    }

    /// Adds an entry's own name, without the directory that holds it. A directory of the layout
    /// has no single name and adds its path.
    #[inline]
    pub fn push_name(&self, place: ItemId, path: &mut NameBuffer) {
        let in_name = |number| self.part.map_or(number, |part| part.number_in_name(number));
        match place {
            ItemId::File { number, generation, .. } => {
                path.push(Name { kind: NameKind::File, number: in_name(number), generation });
            }
            ItemId::Directory(number) => {
                path.push(Name {
                    kind: NameKind::Directory,
                    number: in_name(number),
                    generation: 0,
                });
            }
            ItemId::Layout(number) => self.push_layout(number, path),
            // A block of a device has no name.
            ItemId::Block(_) => {}
        }
    }
}

/// One index for (file, version): versions are far apart, so that no two pairs share a draw.
#[inline]
fn content_index(number: u64, version: u32) -> u64 {
    number ^ (u64::from(version) << 44)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(layout: DirectoryLayout, placement: Placement, roots: u32, files: u64) -> Tree {
        Tree {
            files,
            files_max: None,
            layout,
            placement,
            files_each: FilesEach::Even,
            roots,
            part: None,
            sizes: Sizes::Uniform { min: 512, max: 1536, step: 1 },
            chunks: None,
            content: Content::Random,
            seed: 1,
        }
    }

    fn layout_path(tree: &Tree, number: u64) -> String {
        let mut path = NameBuffer::default();
        tree.push_layout(number, &mut path);
        String::from_utf8_lossy(path.as_bytes()).replace("000000000", "")
    }

    #[test]
    fn one_directory_is_the_root_itself() {
        let tree = tree(DirectoryLayout::flat(1), Placement::Fill, 1, 10);
        assert_eq!((tree.holders(), tree.layout_directories()), (1, 1));
        assert_eq!(layout_path(&tree, 0), "");
    }

    #[test]
    fn filling_and_striping_differ_in_which_directory_comes_next() {
        let fill = tree(DirectoryLayout::flat(4), Placement::Fill, 1, 8);
        let stripe = tree(DirectoryLayout::flat(4), Placement::Stripe, 1, 8);
        let holders = |tree: &Tree| (0..8).map(|n| tree.holder_of(n)).collect::<Vec<_>>();
        assert_eq!(holders(&fill), [0, 0, 1, 1, 2, 2, 3, 3]);
        assert_eq!(holders(&stripe), [0, 1, 2, 3, 0, 1, 2, 3]);
    }

    #[test]
    fn directories_with_a_drawn_number_of_files_do_not_depend_on_how_many_files_there_are() {
        let of = |files| {
            let files_each = FilesEach::drawn(0..=100, files, 7);
            let holders = files_each.directories(files).unwrap();
            let layout = DirectoryLayout { fan_out: holders, depth: 1 };
            Tree { files_each, ..tree(layout, Placement::Fill, 1, files) }
        };
        let (small, large) = (of(1_000), of(100_000));
        assert!((0..1_000).all(|number| small.holder_of(number) == large.holder_of(number)));
        let mut each = vec![0u64; large.holders() as usize];
        (0..100_000).for_each(|number| each[large.holder_of(number) as usize] += 1);
        assert!(each.iter().all(|files| *files <= 100) && each.contains(&0), "{each:?}");
        assert!(each[large.holders() as usize - 1] > 0, "a last directory without files");
        let mean = 100_000.0 / each.len() as f64;
        assert!((mean - 50.0).abs() < 3.0, "{mean}");
    }

    #[test]
    fn a_fixed_number_of_files_each_gives_directories_as_they_are_needed() {
        let each = FilesEach::Fixed(10);
        let directories: Vec<_> =
            [0, 1, 10, 11].into_iter().map(|files| each.directories(files)).collect();
        assert_eq!(directories, [Some(0), Some(1), Some(1), Some(2)]);
        assert_eq!(FilesEach::Even.directories(10), None);
        assert_eq!(FilesEach::drawn(0..=9, 0, 1).directories(0), Some(0));
    }

    #[test]
    fn names_in_a_shared_tree_tell_whose_they_are_and_no_two_ranks_have_the_same() {
        let alone = tree(DirectoryLayout::flat(1), Placement::Fill, 1, 100);
        let name = |tree: &Tree, place| {
            let mut path = NameBuffer::default();
            tree.push_name(place, &mut path);
            Name::parse(path.as_bytes()).unwrap()
        };
        let mut names = Vec::new();
        for rank in 0..3 {
            let part = RankPart { rank, ranks: 3 };
            let tree = Tree { part: Some(part), ..alone.clone() };
            for number in 0..100 {
                for place in [ItemId::file(number).renamed(), ItemId::Directory(number)] {
                    let name = name(&tree, place);
                    assert!(part.has(name.number), "rank {rank}: {name:?}");
                    assert!(!names.contains(&name), "rank {rank}: {name:?}");
                    names.push(name);
                }
            }
        }
        let single = Tree { part: Some(RankPart::ALONE), ..alone.clone() };
        let place = ItemId::file(42);
        assert_eq!(name(&single, place), name(&alone, place));
    }

    #[test]
    fn rank_0_counts_for_all_who_share_a_tree() {
        let of = |part| Tree { part, ..Tree::without_files(1) }.entries_to_count(7);
        let rank = |rank| Some(RankPart { rank, ranks: 3 });
        assert_eq!([of(None), of(rank(0)), of(rank(1))], [Some(7), Some(21), None]);
    }

    #[test]
    fn nested_directories_come_parents_first_and_end_with_the_holders() {
        let tree = tree(DirectoryLayout { fan_out: 2, depth: 2 }, Placement::Fill, 1, 8);
        let paths: Vec<_> = (0..tree.layout_directories()).map(|n| layout_path(&tree, n)).collect();
        assert_eq!(paths, ["", "h0", "h1", "h0/h0", "h0/h1", "h1/h0", "h1/h1"]);
        assert_eq!(tree.layout_of_holder(3), 6);
    }

    #[test]
    fn each_worker_has_a_tree_of_its_own_when_asked() {
        let tree = tree(DirectoryLayout::flat(2), Placement::Fill, 2, 8);
        let paths: Vec<_> = (0..tree.layout_directories()).map(|n| layout_path(&tree, n)).collect();
        assert_eq!(paths, ["", "w0", "w0/h0", "w0/h1", "w1", "w1/h0", "w1/h1"]);
        let holders: Vec<_> = (0..8).map(|n| tree.holder_of(n)).collect();
        assert_eq!(holders, [0, 2, 0, 2, 1, 3, 1, 3]);
        assert_eq!(layout_path(&tree, tree.layout_of_holder(2)), "w1/h0");
        let turns: Vec<_> = (0..4).map(|turn| tree.holder_in_turn(turn)).collect();
        assert_eq!(turns, [0, 2, 1, 3], "worker 1 would list directories of worker 0's tree");
        let back = |holder| tree.holder_of_layout(tree.layout_of_holder(holder));
        assert!((0..4).all(|holder| back(holder) == Some(holder)));
        assert!([0, 1, 4].iter().all(|above| tree.holder_of_layout(*above).is_none()));
    }

    #[test]
    fn sizes_stay_in_their_range_and_have_their_mean() {
        let laws = [
            Sizes::Fixed(1024),
            Sizes::Uniform { min: 512, max: 1536, step: 1 },
            Sizes::Uniform { min: 0, max: 6552, step: 8 },
            Sizes::Exponential { min: 4096, max: 16 << 20, k: 10.0 },
            Sizes::Lognormal(LognormalSizes::new(9.48, 2.46, 0, 1 << 20)),
            Sizes::Lognormal(LognormalSizes::new(8.0, 0.5, 1000, 5000)),
        ];
        for sizes in laws {
            let tree = Tree { sizes, ..tree(DirectoryLayout::flat(1), Placement::Fill, 1, 1) };
            let drawn: Vec<u64> = (0..200_000).map(|n| tree.size(n, 0)).collect();
            let mean = drawn.iter().sum::<u64>() as f64 / drawn.len() as f64;
            assert!((mean / sizes.mean() - 1.0).abs() < 0.02, "{sizes:?}: {mean}");
            assert!(drawn.iter().all(|size| *size <= sizes.max()));
        }
    }

    /// Made with Python's `statistics.NormalDist` as F = norm.cdf((log(max) - mu) / sigma) and
    /// exp(mu + sigma * norm.ppf(q * F)), which is `scipy.stats.lognorm(sigma, scale=exp(mu))` below
    /// max; the mean is exp(mu + sigma^2 / 2) * norm.cdf(z - sigma) / norm.cdf(z).
    #[test]
    fn lognormal_sizes_have_the_quantiles_of_scipy() {
        let law = LognormalSizes::new(9.48, 2.46, 0, 1 << 20);
        let expected = [
            (0.01, 41.4),
            (0.1, 530.7),
            (0.25, 2_316.1),
            (0.5, 11_668.5),
            (0.75, 55_718.2),
            (0.9, 200_539.1),
            (0.99, 805_336.4),
        ];
        let tree = Tree { sizes: Sizes::Lognormal(law), ..Tree::without_files(1) };
        let mut drawn: Vec<u64> = (0..100_000).map(|number| tree.size(number, 0)).collect();
        drawn.sort_unstable();
        for (share, size) in expected {
            let found = law.quantile(share) as f64;
            assert!(found <= size && found > size - 1.1, "{share}: {found}, {size}");
            // Five standard deviations of the binomial.
            let below = drawn.partition_point(|drawn| (*drawn as f64) < size) as f64;
            let deviation = (100_000.0 * share * (1.0 - share)).sqrt();
            assert!((below - 1e5 * share).abs() < 5.0 * deviation, "{share}: {below} are smaller");
        }
        assert!((law.within - 0.962_600).abs() < 1e-6, "{}", law.within);
        assert!((law.mean / 69_755.72 - 1.0).abs() < 1e-4, "{}", law.mean);
        assert_eq!((law.quantile(0.0), law.quantile(1.0)), (0, 1 << 20));
    }

    #[test]
    fn another_version_of_a_file_has_another_size_and_content() {
        let tree = tree(DirectoryLayout::flat(1), Placement::Fill, 1, 1000);
        assert_ne!(tree.content_key(5, 0), tree.content_key(5, 1));
        let same = (0..1000).filter(|n| tree.size(*n, 0) == tree.size(*n, 1)).count();
        assert!(same < 10, "{same} of 1,000 files kept their size; 1 is expected by chance");
    }
}
