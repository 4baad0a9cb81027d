//! `delete`: unlinks a file.

use super::request::Request;
use super::{Effect, Operation, steps};

pub(super) const DELETE: Operation = Operation {
    name: "delete",
    about: "removes a file",
    effect: Effect::RemovesEntry,
    step: |target, so_far| steps::single(target, so_far, Request::Unlink(target.place)),
    ..Operation::DEFAULT
};
