//! Defines every key and value of a job file as it is written. The schema, the structural check and the
//! editor's help all follow from here.
//!
//! Required keys are `Option` too: what the structural check found wrong is left out, so that the
//! rest can still be read and checked, and everything is reported at once.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

use super::filesystem::KINDS;
use super::mix::{PLACED, Spacing, WorkFiles, WorkOrder, step_operations, work_operations};
use super::phase::CacheAsked;
use super::selection::Order;
use super::sim::{DirectoryLaw, SimNoise};
use super::tree::{Handles, Placement};
use super::{Conclusion, EngineName, Scale};
use boatload_base::errno::Errno;
use boatload_op::{Durability, OPERATIONS, Operation, RequestKind};

/// A scenario for boatload: one question about a file system, and what is run to answer it.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WireJob {
    /// The scenario's name, under which results are stored.
    #[schemars(required)]
    pub(super) name: Option<String>,
    /// The question it asks, one sentence.
    pub(super) question: Option<String>,
    /// Quantities with names. `"$name"` stands for one wherever a quantity may stand, and
    /// `--set name=value` changes it.
    #[serde(default)]
    pub(super) parameters: BTreeMap<String, Scaled<OneOrMany>>,
    /// Number of repeats, variants interleaved: 1 to 1,000; until the answer is decided by default.
    pub(super) repeats: Option<Scaled<WireQuantity>>,
    /// The seed that sizes, contents and random orders follow from; 1 by default.
    pub(super) seed: Option<u64>,
    /// Workers of each phase: 1 to 1,024; 1 by default.
    pub(super) threads: Option<WireQuantity>,
    /// The I/O engine; sync by default.
    pub(super) engine: Option<EngineName>,
    /// What each phase asks of the caches; as-is by default.
    pub(super) cache: Option<CacheAsked>,
    /// When written data must be on the device; by default one syncfs at the end of each phase that
    /// changes something, and none after the others.
    pub(super) durability: Option<Durability>,
    /// Whether reads update access times; off by default.
    pub(super) atime: Option<Atime>,
    /// A slowdown that is planted: each request takes this percentage longer; none by default. It is
    /// there to try whether a slowdown of that size is found.
    pub(super) delay: Option<WireQuantity>,
    /// How long a phase may take, from 1 ms to 30 days: then it ends and is invalid. By default as long as it
    /// likes.
    pub(super) phase_limit: Option<WireQuantity>,
    /// The file system that is made for each variant; by default variants run on what is there.
    pub(super) filesystem: Option<WireFileSystem>,
    /// The tree of every variant that has none of its own.
    pub(super) tree: Option<WireTree>,
    /// What is compared. Without any, there is a single variant called `default`.
    #[serde(default)]
    pub(super) variant: Vec<WireVariant>,
    /// What grows from level to level.
    pub(super) axis: Option<WireAxis>,
    /// What is done and timed, in this order.
    #[schemars(required)]
    pub(super) phase: Option<Vec<WirePhase>>,
    /// Kinds of findings that answer the question, in the order they are stated; by default a
    /// ranking where variants are compared.
    pub(super) conclude: Option<Vec<Conclusion>>,
    /// The truth of the simulated file system, for `engine = "sim"`.
    pub(super) sim: Option<WireSim>,
}

impl WireJob {
    /// Its phases in their order.
    pub(super) fn phases(&self) -> &[WirePhase] {
        self.phase.as_deref().unwrap_or_default()
    }
}

/// One thing compared with others. What it leaves out is as at the top of the file.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WireVariant {
    /// Its name, unique among the variants.
    #[schemars(required)]
    pub(super) name: Option<String>,
    /// What the name stands for, in a few words: reports say it below tables with the name.
    pub(super) about: Option<String>,
    /// The scales at which it is there; all by default.
    pub(super) scales: Option<Vec<Scale>>,
    /// The file system that is made for it, instead of the file's `filesystem`.
    pub(super) filesystem: Option<WireFileSystem>,
    /// Its tree, instead of the file's `[tree]`.
    pub(super) tree: Option<WireTree>,
    /// Workers of each phase: 1 to 1,024.
    pub(super) threads: Option<WireQuantity>,
    /// The I/O engine.
    pub(super) engine: Option<EngineName>,
    /// What each phase asks of the caches.
    pub(super) cache: Option<CacheAsked>,
    /// When written data must be on the device.
    pub(super) durability: Option<Durability>,
    /// Whether reads update access times.
    pub(super) atime: Option<Atime>,
    /// A slowdown that is planted: each request takes this percentage longer.
    pub(super) delay: Option<WireQuantity>,
    /// How the place is prepared for each level, instead of the axis's `prepare`.
    pub(super) prepare: Option<WirePrepare>,
    /// Its truth of the simulated file system, instead of the file's `[sim]`.
    pub(super) sim: Option<WireSim>,
}

impl WireVariant {
    /// Whether it is there at a scale.
    pub(super) fn is_at(&self, scale: Scale) -> bool {
        self.scales.as_ref().is_none_or(|scales| scales.contains(&scale))
    }
}

/// The law of a tree of files. Nothing exists at the start but its directories; phases create the
/// files.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WireTree {
    /// How many files the tree can hold, a count; `mkdir` can make as many directories beside.
    /// This or `chunks` must be there.
    pub(super) files: Option<WireQuantity>,
    /// How many files there are at most at any time of a mix, a count; a quarter more than `files` by default, and at
    /// least 64 more for each thread. Space is planned for this number.
    pub(super) files_max: Option<WireQuantity>,
    /// How many chunks the tree can hold, a count, instead of `files`: `write-chunk` makes its
    /// files of them, and `size` is the size of a chunk.
    pub(super) chunks: Option<WireQuantity>,
    /// Chunks of each file, a count; 1 by default.
    pub(super) chunks_per_file: Option<WireQuantity>,
    /// Whether a file of chunks stays open from one to the next; reopen by default.
    pub(super) handles: Option<Handles>,
    /// Directories that hold the files: a count, `{ fan_out, depth }`, `{ files_each }`, or a list of names for the
    /// steps of a mix; 1 by default.
    pub(super) directories: Option<Directories>,
    /// Which of the directories with names has the files that were not moved; the first by default.
    pub(super) files_in: Option<String>,
    /// In which order files go to the directories; fill by default.
    pub(super) placement: Option<Placement>,
    /// Size of each file (or chunk) in bytes, or the law it is drawn from; 0 by default.
    pub(super) size: Option<WireSize>,
    /// What the files hold; random by default.
    pub(super) content: Option<WireContent>,
    /// Whether workers share the tree, and ranks too; shared by default.
    pub(super) trees: Option<Trees>,
}

/// How many directories there are, or how they are nested.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum Directories {
    /// This many directories next to each other; 1 is the tree's own directory.
    Count(WireQuantity),
    /// Directories next to each other that a mix moves files between. The names are the job file's own.
    Named(Vec<String>),
    /// Nested directories; those on the lowest level hold the files.
    Nested(Nested),
    /// As many directories as the files need.
    AsNeeded(AsNeeded),
}

/// Directories that follow from the number of files.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AsNeeded {
    /// Files in each directory, a count, or the law it is drawn from.
    #[schemars(required)]
    pub(super) files_each: Option<WireFilesEach>,
}

/// How many files a directory gets before the next one is filled.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum WireFilesEach {
    /// So many.
    Fixed(WireQuantity),
    /// Drawn for each directory.
    Law(FilesLaw),
}

/// What the number of files in a directory is drawn from.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum FilesLaw {
    /// Every number from `min` to `max` equally likely.
    Uniform(CountLaw),
}

/// Every count equally likely.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CountLaw {
    /// Fewest files, a count.
    #[schemars(required)]
    pub(super) min: Option<WireQuantity>,
    /// Most files, a count.
    #[schemars(required)]
    pub(super) max: Option<WireQuantity>,
}

/// Directories in directories.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Nested {
    /// Directories in each directory, a count.
    pub(super) fan_out: WireQuantity,
    /// Levels below the tree's own directory: 1 to 16.
    pub(super) depth: WireQuantity,
}

/// Sizes of files.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum WireSize {
    /// The same for all, in bytes.
    Fixed(WireQuantity),
    /// Drawn for each file.
    Law(SizeLaw),
}

/// What sizes are drawn from.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum SizeLaw {
    /// Every size from `min` to `max` equally likely.
    Uniform(UniformLaw),
    /// Many small, few large: min + (max - min) * e^(k (x - 1)), x uniform in 0..1.
    Exponential(ExponentialLaw),
    /// The natural logarithm of the bytes is normally distributed; sizes beyond `min` and `max` are
    /// left out.
    Lognormal(LognormalLaw),
}

/// Every size equally likely.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct UniformLaw {
    /// Smallest size, in bytes.
    #[schemars(required)]
    pub(super) min: Option<WireQuantity>,
    /// Largest size, in bytes; whole steps from the smallest.
    #[schemars(required)]
    pub(super) max: Option<WireQuantity>,
    /// From one size to the next, in bytes; 1 by default.
    pub(super) step: Option<WireQuantity>,
}

/// Many small, few large.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ExponentialLaw {
    /// Smallest size, in bytes.
    #[schemars(required)]
    pub(super) min: Option<WireQuantity>,
    /// Largest size, in bytes.
    #[schemars(required)]
    pub(super) max: Option<WireQuantity>,
    /// How strongly small sizes are preferred, a number from 0 to 100.
    #[schemars(required)]
    pub(super) k: Option<WireQuantity>,
}

/// Sizes whose logarithm is normally distributed.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct LognormalLaw {
    /// Mean of the natural logarithm of the bytes, a number from 0 to 36: half of all files, before
    /// the range cuts any off, are larger than e^mu.
    #[schemars(required)]
    pub(super) mu: Option<WireQuantity>,
    /// Its standard deviation, a number from 0.01 to 10.
    #[schemars(required)]
    pub(super) sigma: Option<WireQuantity>,
    /// Smallest size, in bytes.
    #[schemars(required)]
    pub(super) min: Option<WireQuantity>,
    /// Largest size, in bytes.
    #[schemars(required)]
    pub(super) max: Option<WireQuantity>,
}

/// What files hold.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum WireContent {
    /// Different in every file and not to be compressed.
    Random,
    /// Nothing but zeros.
    Zeros,
    /// Different in every file; this share, in percent, can be compressed away.
    Compressible(WireQuantity),
}

/// Whether workers share a tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Trees {
    /// All workers take turns in one tree; each rank has a tree of its own.
    #[default]
    Shared,
    /// Each worker has a tree of its own; all phases then have the same number of threads.
    Own,
    /// All workers of all ranks (boatload-mpi) work in the same directories, each rank on files of its own; as shared for
    /// one process.
    SharedByRanks,
}

/// Whether reads update access times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Atime {
    /// As the mount options say.
    AsMounted,
    /// Never (`O_NOATIME`).
    #[default]
    Off,
}

/// The quantity that grows.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WireAxis {
    /// Its name; `"$name"` stands for the level.
    #[schemars(required)]
    pub(super) name: Option<String>,
    /// The levels in the order they are measured, all in one unit; or `"$name"` of a list.
    #[schemars(required)]
    pub(super) values: Option<OneOrMany>,
    /// What is done on the way up to each level.
    pub(super) prepare: Option<WirePrepare>,
    /// Quantities that go along with the level: one for all levels, or a list with one for each.
    /// `"$name"` stands for the one at the level.
    #[serde(default)]
    pub(super) with: BTreeMap<String, OneOrMany>,
}

/// One timed bulk of work: one operation over a list of files, or several works at once.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WirePhase {
    /// Its name, unique among the phases; the operation's by default.
    pub(super) name: Option<String>,
    /// What the name stands for, in a few words: reports say it below tables with the name.
    pub(super) about: Option<String>,
    /// What is done; this or `work` must be there.
    #[serde(default)]
    #[schemars(schema_with = "operation_names")]
    pub(super) operation: Option<String>,
    /// Works that are done at once, on files that come and go, instead of one operation. The phase ends after
    /// `duration`, or after `count` turns of all workers together.
    #[serde(default)]
    pub(super) work: Vec<WireWork>,
    /// Turns of a mix in each second, all workers together, a number: each begins when it is due, or as soon as its
    /// worker is free; by default, or with 0, each begins when the one before has ended.
    pub(super) rate: Option<WireQuantity>,
    /// How turns follow each other at a rate; constant by default.
    pub(super) pace: Option<Spacing>,
    /// To how many files or directories, a count; by default to all there are, and for an
    /// operation that adds some, to all the tree has still room for.
    pub(super) count: Option<WireQuantity>,
    /// In which order; sequential by default.
    pub(super) order: Option<Order>,
    /// Which files it works on; the files of the tree by default.
    pub(super) on: Option<WireOn>,
    /// Size of each file that it writes, in bytes, or the law it is drawn from, for operations that
    /// give files a new size; the size in the tree by default.
    pub(super) size: Option<WireSize>,
    /// Slices of the phase that get latency figures of their own: at most 10,000 and no more
    /// than operations; 0 by default.
    pub(super) windows: Option<WireQuantity>,
    /// When written data must be on the device.
    pub(super) durability: Option<Durability>,
    /// What the phase asks of the caches.
    pub(super) cache: Option<CacheAsked>,
    /// Workers: 1 to 1,024.
    pub(super) threads: Option<WireQuantity>,
    /// Number of passes, caches treated anew before each: 1 to 200; 1 by default.
    pub(super) passes: Option<WireQuantity>,
    /// Most bytes of one read or write: 1 B to 16 MiB; 1 MiB by default.
    pub(super) block: Option<WireQuantity>,
    /// Whether reads update access times.
    pub(super) atime: Option<Atime>,
    /// Whether content goes around the page cache (`O_DIRECT`), for operations that read or write
    /// it; needs fixed sizes and blocks in whole 4 KiB; false by default.
    pub(super) direct: Option<bool>,
    /// With many ranks: each works on the files of the rank this many further, modulo their number; 0 by default,
    /// its own. Caches of its node then do not help it.
    pub(super) rank_offset: Option<WireQuantity>,
    /// The phase ends after this time, a number of seconds or `"500ms"`: 1 ms to 1 hour. It goes
    /// round and round its targets until then; a cold phase ends at the last of them. Later passes
    /// do as many operations as the first. For operations that change nothing.
    pub(super) duration: Option<WireQuantity>,
}

/// One work of a mix.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WireWork {
    /// Its name, unique in the phase; the operation's by default, or `chain`.
    pub(super) name: Option<String>,
    /// What is done. This or `chain` must be there.
    #[serde(default)]
    #[schemars(schema_with = "work_operation_names")]
    pub(super) operation: Option<String>,
    /// Operations on one file, one after the other, each timed, and the whole: names, or `{ create = "tmp" }` with one of
    /// the directories of the tree. Durability is what its steps say, such as `fsync`.
    pub(super) chain: Option<Vec<WireStep>>,
    /// Whose files it takes; own by default.
    pub(super) of: Option<WorkFiles>,
    /// It takes files of this directory alone.
    pub(super) directory: Option<String>,
    /// Its part of all turns, a whole number: all works of a phase have a weight, or all have threads.
    pub(super) weight: Option<WireQuantity>,
    /// Workers that do nothing else, instead of a weight: 1 to 1,024.
    pub(super) threads: Option<WireQuantity>,
    /// Which file it takes; random by default. Oldest is for delete.
    pub(super) order: Option<WorkOrder>,
    /// Size of each file that it writes, in bytes, or the law it is drawn from, for operations that give files a new
    /// size; the size in the tree by default.
    pub(super) size: Option<WireSize>,
}

/// One step of a chain.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum WireStep {
    /// An operation on the file where it is.
    Here(#[schemars(schema_with = "step_operation_names")] String),
    /// An operation, and the directory where the file is made, moved to, named again or removed, or that is listed.
    In(#[schemars(schema_with = "placed_operations")] BTreeMap<String, String>),
}

/// Which files a phase works on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum WireOn {
    /// Files of the cell's tree.
    #[default]
    Tree,
    /// Those that `prepare` made: only to look at them.
    Ballast,
}

/// One value for all scales, or one for each.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "Scaled{T}")]
pub(super) enum Scaled<T> {
    /// The same at every scale.
    Always(T),
    /// One for each scale.
    Each(PerScale<T>),
}

impl<T> Scaled<T> {
    /// The value at a scale, and its key, if it has one.
    pub(super) fn at(&self, scale: Scale) -> (&T, Option<&'static str>) {
        match (self, scale) {
            (Scaled::Always(value), _) => (value, None),
            (Scaled::Each(each), Scale::Quick) => (&each.quick, Some("quick")),
            (Scaled::Each(each), Scale::Standard) => (&each.standard, Some("standard")),
            (Scaled::Each(each), Scale::Original) => (&each.original, Some("original")),
        }
    }
}

/// One value for each scale.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "PerScale{T}")]
pub(super) struct PerScale<T> {
    /// With `--scale quick`: seconds to two minutes on a common disk.
    pub(super) quick: T,
    /// With `--scale standard`: minutes, enough for tails.
    pub(super) standard: T,
    /// With `--scale original`: the numbers of the document that first asked the question.
    pub(super) original: T,
}

/// One quantity or a list of them.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum OneOrMany {
    /// One.
    One(WireQuantity),
    /// Several.
    Many(Vec<WireQuantity>),
}

/// A number, perhaps with a unit, or the name of one.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum WireQuantity {
    /// A plain number.
    Number(f64),
    /// A number with its unit, or `"$name"`.
    Text(String),
}

impl WireQuantity {
    /// The parameter or axis that it names, if it is `"$name"`.
    pub(super) fn parameter(&self) -> Option<&str> {
        match self {
            WireQuantity::Text(text) => text.strip_prefix('$'),
            WireQuantity::Number(_) => None,
        }
    }
}

impl JsonSchema for WireQuantity {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Quantity".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A number, with its unit as text where it has one (\"16MiB\", \"4kB\", \
                            \"80%\", \"20us\"), or \"$name\" of a parameter or of the axis.",
            "type": ["number", "string"],
            "examples": ["16MiB", "80%", "$files"],
        })
    }
}

fn operation_names(_: &mut SchemaGenerator) -> Schema {
    names_of(OPERATIONS.iter())
}

fn work_operation_names(_: &mut SchemaGenerator) -> Schema {
    names_of(work_operations())
}

fn step_operation_names(_: &mut SchemaGenerator) -> Schema {
    names_of(step_operations())
}

fn placed_operations(_: &mut SchemaGenerator) -> Schema {
    let about = "A directory of the tree.";
    let property =
        |name: &str| (name.to_owned(), json_schema!({ "type": "string", "description": about }));
    let properties: BTreeMap<_, _> = PLACED.iter().map(|name| property(name)).collect();
    json_schema!({
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
        "minProperties": 1,
        "maxProperties": 1,
    })
}

fn names_of(operations: impl Iterator<Item = &'static Operation>) -> Schema {
    let word =
        |o: &Operation| json_schema!({ "type": "string", "const": o.name, "description": o.about });
    json_schema!({ "oneOf": operations.map(word).collect::<Vec<_>>() })
}

fn fault_outcomes(_: &mut SchemaGenerator) -> Schema {
    let all: Vec<_> = Errno::names().chain(["short", "hang"]).collect();
    json_schema!({ "type": "string", "enum": all })
}

fn filesystem_names(_: &mut SchemaGenerator) -> Schema {
    let names: Vec<_> = KINDS.iter().map(|kind| kind.name).collect();
    json_schema!({ "type": "string", "enum": names })
}

/// A file system that boatload makes, runs on, and takes down again, instead of the one that is
/// there.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WireFileSystem {
    /// What kind it is of.
    #[serde(rename = "type")]
    #[schemars(required, schema_with = "filesystem_names")]
    pub(super) kind: Option<String>,
    /// Words for its mkfs, before the device: `["-O", "^dir_index"]`; none by default.
    pub(super) mkfs: Option<Vec<String>>,
    /// Mount options, separated by commas: `"noatime"`; the kernel's defaults without it.
    pub(super) mount: Option<String>,
    /// The modelled disk to make it on: a name that `boatload disks` lists, or the path of a file, from the
    /// directory of the job file; none by default. All file systems of a job lie on modelled disks, or none.
    pub(super) disk: Option<String>,
}

/// What is done on the way to each level: files are made beside the tree of the cells, and stay
/// from level to level.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum WirePrepare {
    /// Files are made until there are as many as the level says, a count, or until so much of the
    /// space is used, in percent.
    Fill(WireFill),
    /// The same with deletions, until so much of the space is used, in percent.
    Age(WireAge),
}

/// Files that fill a place.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WireFill {
    /// Size of each file in bytes, or the law it is drawn from.
    #[schemars(required)]
    pub(super) sizes: Option<WireSize>,
    /// Files in each directory, a count, or the law it is drawn from; 1,000 by default.
    pub(super) files_each: Option<WireFilesEach>,
    /// What the files hold; random by default.
    pub(super) content: Option<WireContent>,
    /// Workers: 1 to 1,024; 1 by default.
    pub(super) threads: Option<WireQuantity>,
    /// Number of histories: the files are made anew for each, with another seed, and repeats take them in turn: 1
    /// to 1,000; 1 by default.
    pub(super) histories: Option<WireQuantity>,
}

/// Files that come and go.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WireAge {
    /// Size of each file in bytes, or the law it is drawn from.
    #[schemars(required)]
    pub(super) sizes: Option<WireSize>,
    /// Files in each directory, a count; 1,000 by default.
    pub(super) files_each: Option<WireFilesEach>,
    /// What the files hold; random by default.
    pub(super) content: Option<WireContent>,
    /// Workers: 1 to 1,024; 1 by default.
    pub(super) threads: Option<WireQuantity>,
    /// Number of histories: the files are made anew for each, with another seed, and repeats take them in turn: 1
    /// to 1,000; 1 by default.
    pub(super) histories: Option<WireQuantity>,
    /// After this many new files one at random is deleted, a count; 10 by default.
    pub(super) delete_every: Option<WireQuantity>,
    /// Files grow in turns by this many bytes, each piece written out before the next: 4 KiB
    /// to 16 MiB; by default each is written as a whole.
    pub(super) pieces: Option<WireQuantity>,
    /// At each level so many times files at random that hold a tenth of the used space are deleted,
    /// and others made in their place: up to 1,000; 0 by default.
    pub(super) rounds: Option<WireQuantity>,
    /// Rounds end when the layout score is not above this number from 0 to 1; by default all are
    /// done.
    pub(super) layout_score: Option<f64>,
    /// Age up to the highest level first, then delete random files to come down to each level; the
    /// levels are then measured from the highest down; false by default.
    #[serde(default)]
    pub(super) emptied: bool,
}

/// The simulated file system. All times are 0 by default, which measures boatload itself.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WireSim {
    /// Time of each request on names or attributes: `"20us"`.
    pub(super) metadata: Option<WireQuantity>,
    /// Time of each read, write, and buffer of directory entries.
    pub(super) transfer: Option<WireQuantity>,
    /// Added to it for each KiB that a write or a read moves.
    pub(super) transfer_per_kib: Option<WireQuantity>,
    /// Added to the first request that names a file, or reads a block of the device, after the
    /// caches were dropped; with direct I/O to each block.
    pub(super) cold: Option<WireQuantity>,
    /// Time of each fsync, and of the sync at the end of a phase.
    pub(super) sync: Option<WireQuantity>,
    /// How directories grow slower; constant by default.
    pub(super) directory: Option<DirectoryLaw>,
    /// Time that `directory` adds: for each doubling (logarithmic) or each 1,000 entries (linear).
    pub(super) directory_cost: Option<WireQuantity>,
    /// Random deviation of each request's time; none by default.
    pub(super) noise: Option<SimNoise>,
    /// By how much passes, repeats and runs differ as a whole; not at all by default.
    pub(super) spread: Option<WireSpread>,
    /// Background load that comes and goes; none by default.
    pub(super) neighbour: Option<WireNeighbour>,
    /// Percent that everything is slower after a million operations of the run; 0 by default.
    pub(super) drift: Option<WireQuantity>,
    /// A request now and then that takes long.
    pub(super) stall: Option<WireStall>,
    /// Bytes the file system holds before ENOSPC; no limit by default.
    pub(super) capacity: Option<WireQuantity>,
    /// Percent of every rate that each million files made by `prepare` takes away; 0 by default.
    pub(super) clutter: Option<WireQuantity>,
    /// From a fullness on, everything takes longer; needs `capacity`.
    pub(super) knee: Option<WireKnee>,
    /// The fault of one request.
    pub(super) fault: Option<WireSimFault>,
}

/// By how much passes, repeats and runs differ as a whole.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WireSpread {
    /// Standard deviation of passes, up to 30%; 0 by default.
    pub(super) passes: Option<WireQuantity>,
    /// Standard deviation of repeats, up to 30%; 0 by default.
    pub(super) repeats: Option<WireQuantity>,
    /// Standard deviation of runs with other seeds, up to 30%; 0 by default.
    pub(super) runs: Option<WireQuantity>,
}

/// Background load that comes and goes.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WireNeighbour {
    /// Of how many phases, in percent.
    #[schemars(required)]
    pub(super) share: Option<WireQuantity>,
    /// How many times as long everything takes then, a number from 1 to 1,000.
    #[schemars(required)]
    pub(super) factor: Option<WireQuantity>,
}

/// A request now and then that takes long.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WireStall {
    /// Requests of a worker from one stall to the next, a count.
    #[schemars(required)]
    pub(super) every: Option<WireQuantity>,
    /// How long it takes: `"50ms"`.
    #[schemars(required)]
    pub(super) time: Option<WireQuantity>,
}

/// A fullness from which everything takes longer.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WireKnee {
    /// Used bytes over capacity, in percent.
    #[schemars(required)]
    pub(super) at: Option<WireQuantity>,
    /// How many times longer, a number from 1 to 1,000.
    #[schemars(required)]
    pub(super) factor: Option<WireQuantity>,
}

/// The fault of one request.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WireSimFault {
    /// Which operation it meets, counted from 1 over all workers.
    #[schemars(required)]
    pub(super) operation: Option<WireQuantity>,
    /// Which request of it: the first of this kind; by default its first.
    pub(super) request: Option<RequestKind>,
    /// The error it fails with, by its name in errno(3); `short`: it moves half of its bytes;
    /// `hang`: it takes a day.
    #[schemars(required, schema_with = "fault_outcomes")]
    pub(super) outcome: Option<String>,
}
