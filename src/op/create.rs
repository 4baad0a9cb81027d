//! `create`: a new file with its content.

use super::{Access, Change, Effect, NextRequest, Operation, OperationProgress, Target, steps};

/// Opens a file that must not exist, writes its content, closes it.
pub(super) struct Create;

impl Operation for Create {
    fn name(&self) -> &'static str {
        "create"
    }

    fn about(&self) -> &'static str {
        "makes a new file and writes its content"
    }

    fn effect(&self) -> Effect {
        Effect::AddsEntry
    }

    fn change(&self) -> Change {
        Change::NewSize
    }

    fn step(&self, target: &Target, so_far: &OperationProgress) -> NextRequest {
        steps::write_file(target, so_far, Access::CreateNew)
    }
}
