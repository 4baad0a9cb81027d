//! `list`: the entries of one directory.

use super::{NextRequest, Operation, OperationProgress, Subject, Target, steps};

/// Opens a directory that holds the tree's entries, reads all its entries, closes it.
pub(super) struct List;

impl Operation for List {
    fn name(&self) -> &'static str {
        "list"
    }

    fn about(&self) -> &'static str {
        "reads all entries of one directory that holds files (readdir)"
    }

    fn subject(&self) -> Subject {
        Subject::Holder
    }

    fn step(&self, target: &Target, so_far: &OperationProgress) -> NextRequest {
        steps::list_directory(target, so_far, false)
    }
}
