//! `append`: more content at the end of a file.

use super::{Access, Change, NextRequest, Operation, OperationProgress, Target, steps};

/// Opens a file for appending, writes content of a newly drawn size, closes it.
pub(super) struct Append;

impl Operation for Append {
    fn name(&self) -> &'static str {
        "append"
    }

    fn about(&self) -> &'static str {
        "writes content of a newly drawn size at the end of a file"
    }

    fn change(&self) -> Change {
        Change::Grows
    }

    fn step(&self, target: &Target, so_far: &OperationProgress) -> NextRequest {
        steps::write_file(target, so_far, Access::Append)
    }
}
