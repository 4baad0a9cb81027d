//! `rename`: another name in the same directory.

use super::request::Request;
use super::{Change, NextRequest, Operation, OperationProgress, Target, steps};

/// Gives a file a new name in its directory.
pub(super) struct Rename;

impl Operation for Rename {
    fn name(&self) -> &'static str {
        "rename"
    }

    fn about(&self) -> &'static str {
        "gives a file a new name in the same directory"
    }

    fn change(&self) -> Change {
        Change::Renames
    }

    fn step(&self, target: &Target, so_far: &OperationProgress) -> NextRequest {
        steps::single(target, so_far, Request::Rename { from: target.place })
    }
}
