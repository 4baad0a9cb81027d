//! `stat`: a file's attributes.

use super::request::Request;
use super::{NextRequest, Operation, OperationProgress, Target};

/// Asks for a file's attributes by name.
pub(super) struct Stat;

impl Operation for Stat {
    fn name(&self) -> &'static str {
        "stat"
    }

    fn about(&self) -> &'static str {
        "asks for a file's attributes by name"
    }

    fn step(&self, target: &Target, so_far: &OperationProgress) -> NextRequest {
        match so_far.last {
            None => NextRequest::Last(Request::Stat { place: target.place }),
            Some(_) => NextRequest::Done,
        }
    }
}
