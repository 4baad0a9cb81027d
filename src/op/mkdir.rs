//! `mkdir`: a new directory.

use super::request::Request;
use super::{Effect, NextRequest, Operation, OperationProgress, Subject, Target, steps};

/// Makes an empty directory as an entry of the tree.
pub(super) struct Mkdir;

impl Operation for Mkdir {
    fn name(&self) -> &'static str {
        "mkdir"
    }

    fn about(&self) -> &'static str {
        "makes an empty directory"
    }

    fn effect(&self) -> Effect {
        Effect::AddsEntry
    }

    fn subject(&self) -> Subject {
        Subject::Directory
    }

    fn step(&self, target: &Target, so_far: &OperationProgress) -> NextRequest {
        steps::single(target, so_far, Request::MakeDirectory { place: target.place })
    }
}
