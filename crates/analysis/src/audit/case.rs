//! Defines what a check of another benchmark's result looks at, and what it may say.

use schemars::JsonSchema;
use serde::Serialize;

use boatload_base::named_enum;
use boatload_results::tools::{ToolMeasurement, ToolResult};

named_enum! {
    /// How surely a figure is not the speed of the device, the surest first.
    pub enum AuditGrade {
        /// The figures exclude that the device did it.
        Certain = "certain",
        /// Devices of its kind do not do that, or a cache held what was measured.
        Likely = "likely",
        /// Nothing in the result shows that the device did it.
        Possible = "possible",
        /// It may be the device's, but nothing tells how uncertain it is.
        Imprecise = "imprecise",
    }
}

/// What is known of the place that was measured, beside its result.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct AuditBounds {
    /// Bytes in a second that the device can do at most, as the user says.
    pub device_bytes_per_second: Option<f64>,
    /// Memory of the machine.
    pub memory_bytes: Option<u64>,
    /// Where to measure again, as a shell needs it.
    pub directory: Option<String>,
}

/// A check: what it looks for in a measurement.
pub struct AuditCheck {
    /// Its name, in findings.
    pub name: &'static str,
    /// What it finds.
    pub about: &'static str,
    /// The reason and its grade, if it speaks against the measurement.
    pub(super) find: fn(&AuditCase<'_>) -> Option<(AuditGrade, String)>,
}

/// One measurement with all that a check may look at.
pub(super) struct AuditCase<'a> {
    pub(super) result: &'a ToolResult,
    pub(super) one: &'a ToolMeasurement,
    pub(super) figure: usize,
    pub(super) bounds: &'a AuditBounds,
    /// How often it was measured, over all results.
    pub(super) runs: u64,
}
