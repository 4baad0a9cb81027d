//! How something changes at a place.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How something changes at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ChangeShape {
    /// All at once.
    Step,
    /// From there on, more with every bit.
    Hinge,
}
