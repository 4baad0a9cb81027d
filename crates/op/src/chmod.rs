//! `chmod`: sets a file's mode by name, to one that files are not made with.

use super::request::Request;
use super::{Change, Operation, steps};

pub(super) const CHMOD: Operation = Operation {
    name: "chmod",
    about: "sets a file's mode by name",
    change: Change::Attributes,
    step: |target, so_far| steps::single(target, so_far, Request::SetMode(target.place)),
    ..Operation::DEFAULT
};
