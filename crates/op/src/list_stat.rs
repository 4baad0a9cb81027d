//! `list-stat`: reads all entries of a directory and asks for the attributes of each by name, as `ls -l` does.

use super::request::{Request, RequestKind};
use super::{NextRequest, Operation, OperationProgress, Subject, Target, steps};

pub(super) const LIST_STAT: Operation = Operation {
    name: "list-stat",
    about: "reads all entries of a directory that holds files, and each one's attributes (ls -l)",
    subject: Subject::Holder,
    step,
    ..Operation::DEFAULT
};

fn step(target: &Target, so_far: &OperationProgress) -> NextRequest {
    match so_far.last {
        Some(RequestKind::ReadDirectory | RequestKind::StatEntry)
            if so_far.failed.is_none() && so_far.last_bytes > 0 =>
        {
            NextRequest::Submit(Request::StatEntry)
        }
        Some(RequestKind::StatEntry) if so_far.failed.is_none() => {
            NextRequest::Submit(Request::ReadDirectory)
        }
        _ => steps::list_directory(target, so_far, false),
    }
}
