//! `read-device`: reads one block at its place on the block device, which the engine has open.

use super::request::Request;
use super::{NextRequest, Operation, OperationProgress, Subject, Target};

pub(super) const READ_DEVICE: Operation = Operation {
    name: "read-device",
    about: "reads a block at its place on the block device under the directory",
    subject: Subject::Block,
    reads_content: true,
    step,
    ..Operation::DEFAULT
};

fn step(target: &Target, so_far: &OperationProgress) -> NextRequest {
    match so_far.last {
        None => {
            let (place, bytes) = (target.place, target.block);
            NextRequest::Last(Request::ReadBlock { place, bytes })
        }
        Some(_) => NextRequest::Done,
    }
}
