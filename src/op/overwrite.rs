//! `overwrite`: a file's content replaced in place.

use super::{Access, Change, NextRequest, Operation, OperationProgress, Target, steps};

/// Opens a file, writes new content of the same size over the old, closes it.
pub(super) struct Overwrite;

impl Operation for Overwrite {
    fn name(&self) -> &'static str {
        "overwrite"
    }

    fn about(&self) -> &'static str {
        "writes new content of the same size over a file's old content"
    }

    fn change(&self) -> Change {
        Change::SameSize
    }

    fn step(&self, target: &Target, so_far: &OperationProgress) -> NextRequest {
        steps::write_file(target, so_far, Access::Write)
    }
}
