//! `replace`: writes new content to a new file and renames that over the old one, so that whoever opens the name meets
//! all of the old content or all of the new. The new file has the name that a `rename` would give; if something fails,
//! it is left behind and counted.

use super::request::{Access, Request, RequestKind};
use super::{Change, NextRequest, Operation, OperationProgress, Target, steps};

pub(super) const REPLACE: Operation = Operation {
    name: "replace",
    about: "writes new content of a new size to a new file, and renames it over the old one",
    change: Change::NewSize,
    makes_temporary: true,
    step,
    ..Operation::DEFAULT
};

fn step(target: &Target, so_far: &OperationProgress) -> NextRequest {
    let (temporary, place) = (target.place.renamed(), target.place);
    let rename = Request::Rename { from: temporary, to: place };
    match so_far.last {
        Some(RequestKind::Close) if so_far.failed.is_none() => {
            // What follows on the writing is an operation of its own, which has only begun.
            steps::single(target, &OperationProgress::default(), rename)
        }
        Some(RequestKind::Rename | RequestKind::SyncHolder) => {
            steps::single(target, so_far, rename)
        }
        _ => {
            let written = Target { place: temporary, opens: true, closes: true, ..*target };
            match steps::write_file(&written, so_far, Access::CreateNew) {
                // A close is the end only after a failure.
                NextRequest::Last(close) if so_far.failed.is_none() => NextRequest::Submit(close),
                other => other,
            }
        }
    }
}
