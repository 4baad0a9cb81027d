//! Describes the ballast, which is brought to a level before the cells of the level are measured and
//! stays from level to level.

use std::ops::RangeInclusive;

use serde::Serialize;

use super::tree::{DirectoryLayout, Tree};

/// The preparation of the site for one level: its ballast.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Prepare {
    /// The law of the files.
    pub ballast: Ballast,
    /// What the level is.
    pub goal: BallastGoal,
    /// How many times the ballast is made anew with another seed; repeats take them in turn.
    pub histories: u32,
}

/// The law of the files that are there beside a cell's tree.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ballast {
    /// Names, sizes and contents; `files` is more than will ever be made.
    pub tree: Tree,
    /// How they are brought there.
    pub method: FillMethod,
    /// Workers.
    pub threads: u32,
}

/// The method by which the ballast is made.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub enum FillMethod {
    /// One after the other.
    Fill,
    /// After every `delete_every` files one at random is deleted.
    Age {
        /// Files from one deletion to the next.
        delete_every: u64,
        /// Before the first level, aged up to this percentage of the space; then random files are
        /// deleted to come down to each level.
        empty_from: Option<f64>,
        /// How files and free space are broken up beyond that.
        churn: Churn,
    },
}

/// How ageing breaks up files and free space: files that grow side by side, and rounds in which a
/// tenth of the space is freed and filled again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Churn {
    /// Files grow in turns by this many bytes, each piece written out before the next; `None`:
    /// one after the other, each as a whole.
    pub piece_bytes: Option<u32>,
    /// Rounds at each level.
    pub rounds: u32,
    /// Rounds end at this layout score or below it; none: all are done.
    pub layout_score: Option<f64>,
}

/// Bytes by which files may grow side by side.
pub const PIECE_BYTES: RangeInclusive<u64> = 4 << 10..=16 << 20;

/// Most histories of a ballast. So many give each repeat one of its own: more repeats cannot be requested.
pub const HISTORIES_MAX: u32 = 1_000;

/// Most rounds at a level.
pub const ROUNDS_MAX: u32 = 1_000;

/// Rounds that a layout score is tried for if none are asked for.
const ROUNDS_FOR_SCORE: u32 = 20;

/// Rounds of ageing where none are asked for.
pub fn rounds_default(layout_score: Option<f64>) -> u32 {
    if layout_score.is_some() { ROUNDS_FOR_SCORE } else { 0 }
}

/// Share of the used space that a round frees and fills again, in percent of it.
pub const ROUND_PERCENT: f64 = 10.0;

/// The goal that a level sets for the ballast.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub enum BallastGoal {
    /// So many files.
    Files(u64),
    /// So much of the space used, in percent, as df counts: used / (used + available).
    Used(f64),
}

/// How far from a level of used space, in percentage points, the space may be when cells begin.
pub const USED_TOLERANCE: f64 = 1.0;

/// The law of a ballast for its first `files` files.
pub fn tree_of(ballast: &Ballast, files: u64) -> Tree {
    let directories = ballast.tree.files_each.directories(files).unwrap_or(1).max(1);
    let layout = DirectoryLayout { fan_out: directories, depth: 1 };
    Tree { files, layout, ..ballast.tree.clone() }
}
