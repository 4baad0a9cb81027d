//! `rewrite`: a file's content replaced by another of a new size.

use super::{Access, Change, NextRequest, Operation, OperationProgress, Target, steps};

/// Opens a file and drops what it held, writes new content of a newly drawn size, closes it.
pub(super) struct Rewrite;

impl Operation for Rewrite {
    fn name(&self) -> &'static str {
        "rewrite"
    }

    fn about(&self) -> &'static str {
        "empties a file and writes new content of a new size"
    }

    fn change(&self) -> Change {
        Change::NewSize
    }

    fn step(&self, target: &Target, so_far: &OperationProgress) -> NextRequest {
        steps::write_file(target, so_far, Access::Truncate)
    }
}
