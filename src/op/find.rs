//! `find`: a recursive walk.

use super::{NextRequest, Operation, OperationProgress, Subject, Target, steps};

/// Visits one directory of a recursive walk: opens it, asks for its attributes, reads all its
/// entries, closes it. A phase of it visits every directory, parents first, which are the calls
/// find(1) makes when it is given no test.
pub(super) struct Find;

impl Operation for Find {
    fn name(&self) -> &'static str {
        "find"
    }

    fn about(&self) -> &'static str {
        "visits one directory of a recursive walk over the whole tree"
    }

    fn subject(&self) -> Subject {
        Subject::AnyDirectory
    }

    fn step(&self, target: &Target, so_far: &OperationProgress) -> NextRequest {
        steps::list_directory(target, so_far, true)
    }
}
