//! The keys of a file system that is made for a variant.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

use crate::plan::filesystem::KINDS;

/// A file system that boatload makes, runs on, and takes down again, instead of the one that is
/// there.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::plan) struct WireFileSystem {
    /// What kind it is of.
    #[serde(rename = "type")]
    #[schemars(required)]
    pub(in crate::plan) kind: Option<KindName>,
    /// Words for its mkfs, before the device: `["-O", "^dir_index"]`; none by default.
    pub(in crate::plan) mkfs: Option<Vec<String>>,
    /// Mount options, separated by commas: `"noatime"`; the kernel's defaults without it.
    pub(in crate::plan) mount: Option<String>,
}

/// The name of a kind of file systems.
#[derive(Clone, Debug, Deserialize)]
#[serde(transparent)]
pub(in crate::plan) struct KindName(pub(in crate::plan) String);

impl JsonSchema for KindName {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "FileSystemType".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let words: Vec<_> = KINDS.iter().map(|kind| kind.name).collect();
        json_schema!({
            "description": "A file system's name in the kernel.", "type": "string", "enum": words,
        })
    }
}
