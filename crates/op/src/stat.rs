//! `stat`: asks for a file's attributes by name.

use super::request::Request;
use super::{NextRequest, Operation, OperationProgress, Target};

pub(super) const STAT: Operation = Operation {
    name: "stat",
    about: "asks for a file's attributes by name",
    step,
    ..Operation::DEFAULT
};

fn step(target: &Target, so_far: &OperationProgress) -> NextRequest {
    match so_far.last {
        None => NextRequest::Last(Request::Stat(target.place)),
        Some(_) => NextRequest::Done,
    }
}
