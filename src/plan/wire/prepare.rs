//! The keys of what is prepared for a level.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{WireContent, WireFilesEach, WireQuantity, WireSize};

/// What is done on the way to each level: files are made beside the tree of the cells, and stay
/// from level to level.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(in crate::plan) enum WirePrepare {
    /// Files are made until there are as many as the level says, a count, or until so much of the
    /// space is used, in percent.
    Fill(WireFill),
    /// The same with deletions, until so much of the space is used, in percent.
    Age(WireAge),
}

/// Files that fill a place.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::plan) struct WireFill {
    /// Size of each file in bytes, or the law it is drawn from.
    #[schemars(required)]
    pub(in crate::plan) sizes: Option<WireSize>,
    /// Files in each directory, a count, or the law it is drawn from; 1,000 by default.
    pub(in crate::plan) files_each: Option<WireFilesEach>,
    /// What the files hold; random by default.
    pub(in crate::plan) content: Option<WireContent>,
    /// Workers: 1 to 1,024; 1 by default.
    pub(in crate::plan) threads: Option<WireQuantity>,
}

/// Files that come and go.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::plan) struct WireAge {
    /// Size of each file in bytes, or the law it is drawn from.
    #[schemars(required)]
    pub(in crate::plan) sizes: Option<WireSize>,
    /// Files in each directory, a count; 1,000 by default.
    pub(in crate::plan) files_each: Option<WireFilesEach>,
    /// What the files hold; random by default.
    pub(in crate::plan) content: Option<WireContent>,
    /// Workers: 1 to 1,024; 1 by default.
    pub(in crate::plan) threads: Option<WireQuantity>,
    /// After each so many files one at random is deleted, a count; 10 by default.
    pub(in crate::plan) delete_every: Option<WireQuantity>,
    /// Age up to the highest level first, then delete random files to come down to each level; the
    /// levels are then measured from the highest down; false by default.
    #[serde(default)]
    pub(in crate::plan) emptied: bool,
}
