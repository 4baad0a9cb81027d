//! `read-device`: a block of the device under the directory.

use super::request::Request;
use super::{NextRequest, Operation, OperationProgress, Subject, Target};

/// Reads one block at its place on the block device, which the engine has open.
pub(super) struct ReadDevice;

impl Operation for ReadDevice {
    fn name(&self) -> &'static str {
        "read-device"
    }

    fn about(&self) -> &'static str {
        "reads a block at its place on the block device under the directory"
    }

    fn subject(&self) -> Subject {
        Subject::Block
    }

    fn reads_content(&self) -> bool {
        true
    }

    fn step(&self, target: &Target, so_far: &OperationProgress) -> NextRequest {
        match so_far.last {
            None => {
                let (place, bytes) = (target.place, target.block);
                NextRequest::Last(Request::ReadBlock { place, bytes })
            }
            Some(_) => NextRequest::Done,
        }
    }
}
