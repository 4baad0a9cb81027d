//! `find-remove`: what find(1) with `-delete` does to a directory.

use super::request::{Request, RequestKind};
use super::{Effect, NextRequest, Operation, OperationProgress, Subject, Target, steps};

/// Visits one directory that `mkdir` made, as `find` does, and removes it.
pub(super) struct FindRemove;

impl Operation for FindRemove {
    fn name(&self) -> &'static str {
        "find-remove"
    }

    fn about(&self) -> &'static str {
        "visits an empty directory as `find` does, and removes it"
    }

    fn effect(&self) -> Effect {
        Effect::RemovesEntry
    }

    fn subject(&self) -> Subject {
        Subject::Directory
    }

    fn step(&self, target: &Target, so_far: &OperationProgress) -> NextRequest {
        let remove = Request::RemoveDirectory { place: target.place };
        match so_far.last {
            Some(RequestKind::Close) if so_far.failed.is_none() => {
                // The removal is an operation of its own, which has only begun.
                steps::single(target, &OperationProgress::default(), remove)
            }
            Some(RequestKind::RemoveDirectory | RequestKind::SyncHolder) => {
                steps::single(target, so_far, remove)
            }
            _ => match steps::list_directory(target, so_far, true) {
                // Here the visit is not the end.
                NextRequest::Last(close) if so_far.failed.is_none() => NextRequest::Submit(close),
                other => other,
            },
        }
    }
}
