//! `truncate`: opens a file for writing, cuts it to half of its size (ftruncate(2)), closes it.
//! Not truncate(2), which takes no directory to which the name is relative, and leaves no open file to sync.

use super::request::{Request, RequestKind};
use super::{Access, Change, NextRequest, Operation, OperationProgress, Target, steps};

pub(super) const TRUNCATE: Operation = Operation {
    name: "truncate",
    about: "opens a file and cuts it to half of its size (ftruncate)",
    change: Change::Halves,
    step,
    ..Operation::DEFAULT
};

fn step(target: &Target, so_far: &OperationProgress) -> NextRequest {
    match so_far.last {
        None => steps::open_to_write(target, Access::Write),
        Some(_) if so_far.failed.is_some() => steps::close_or_end(so_far),
        Some(RequestKind::Open) => NextRequest::Submit(Request::Truncate { bytes: target.size }),
        Some(last) => steps::finish(target, so_far, last),
    }
}
