//! `find-remove`: visits one directory that `mkdir` made, as `find` does, and removes it.

use super::request::{Request, RequestKind};
use super::{Effect, NextRequest, Operation, OperationProgress, Subject, Target, steps};

pub(super) const FIND_REMOVE: Operation = Operation {
    name: "find-remove",
    about: "visits an empty directory as `find` does, and removes it",
    effect: Effect::RemovesEntry,
    subject: Subject::Directory,
    step,
    ..Operation::DEFAULT
};

fn step(target: &Target, so_far: &OperationProgress) -> NextRequest {
    let remove = Request::RemoveDirectory(target.place);
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
