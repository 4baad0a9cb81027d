//! `rmdir`: an empty directory removed.

use super::request::Request;
use super::{Effect, NextRequest, Operation, OperationProgress, Subject, Target, steps};

/// Removes an empty directory that `mkdir` made.
pub(super) struct Rmdir;

impl Operation for Rmdir {
    fn name(&self) -> &'static str {
        "rmdir"
    }

    fn about(&self) -> &'static str {
        "removes an empty directory that mkdir made"
    }

    fn effect(&self) -> Effect {
        Effect::RemovesEntry
    }

    fn subject(&self) -> Subject {
        Subject::Directory
    }

    fn step(&self, target: &Target, so_far: &OperationProgress) -> NextRequest {
        steps::single(target, so_far, Request::RemoveDirectory { place: target.place })
    }
}
