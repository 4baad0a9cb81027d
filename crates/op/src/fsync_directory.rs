//! `fsync-directory`: makes the entries of a directory durable that holds files.

use super::request::Request;
use super::{NextRequest, Operation, OperationProgress, Subject, Target};

pub(super) const FSYNC_DIRECTORY: Operation = Operation {
    name: "fsync-directory",
    about: "makes the entries of a directory durable that holds files (fsync)",
    subject: Subject::Holder,
    step,
    ..Operation::DEFAULT
};

fn step(target: &Target, so_far: &OperationProgress) -> NextRequest {
    match so_far.last {
        None => NextRequest::Last(Request::SyncHolder(target.place)),
        Some(_) => NextRequest::Done,
    }
}
