//! `delete`: a file removed.

use super::request::Request;
use super::{Effect, NextRequest, Operation, OperationProgress, Target, steps};

/// Unlinks a file.
pub(super) struct Delete;

impl Operation for Delete {
    fn name(&self) -> &'static str {
        "delete"
    }

    fn about(&self) -> &'static str {
        "removes a file"
    }

    fn effect(&self) -> Effect {
        Effect::RemovesEntry
    }

    fn step(&self, target: &Target, so_far: &OperationProgress) -> NextRequest {
        steps::single(target, so_far, Request::Unlink { place: target.place })
    }
}
