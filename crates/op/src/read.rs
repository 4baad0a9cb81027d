//! `read`: opens a file, reads until it ends, closes it. A read that returns less than was asked is
//! the end of a regular file, so a file smaller than a block costs one read.

use super::request::{Request, RequestKind};
use super::{NextRequest, Operation, OperationProgress, Target, steps};

pub(super) const READ: Operation = Operation {
    name: "read",
    about: "reads a file from its beginning to its end",
    reads_content: true,
    step,
    ..Operation::DEFAULT
};

fn step(target: &Target, so_far: &OperationProgress) -> NextRequest {
    if so_far.failed.is_some() {
        return steps::close_or_end(so_far);
    }
    let whole_block = so_far.last_bytes == u64::from(target.block);
    match so_far.last {
        None => steps::open_to_read(target),
        Some(RequestKind::Open) => NextRequest::Submit(Request::Read { bytes: target.block }),
        Some(RequestKind::Read) if whole_block => {
            NextRequest::Submit(Request::Read { bytes: target.block })
        }
        Some(RequestKind::Read) => NextRequest::Last(Request::Close),
        Some(_) => NextRequest::Done,
    }
}
