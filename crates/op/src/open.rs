//! `open`: opens a file for reading and closes it: the kernel looks up the name and fetches the inode, but not the
//! content.

use super::request::{Request, RequestKind};
use super::{NextRequest, Operation, OperationProgress, Target, steps};

pub(super) const OPEN: Operation = Operation {
    name: "open",
    about: "opens a file for reading and closes it, reading nothing",
    step,
    ..Operation::DEFAULT
};

fn step(target: &Target, so_far: &OperationProgress) -> NextRequest {
    match so_far.last {
        None => steps::open_to_read(target),
        Some(RequestKind::Open) if so_far.open => NextRequest::Last(Request::Close),
        Some(_) => NextRequest::Done,
    }
}
