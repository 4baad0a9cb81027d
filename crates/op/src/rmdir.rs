//! `rmdir`: removes an empty directory that `mkdir` made.

use super::request::Request;
use super::{Effect, Operation, Subject, steps};

pub(super) const RMDIR: Operation = Operation {
    name: "rmdir",
    about: "removes an empty directory that mkdir made",
    effect: Effect::RemovesEntry,
    subject: Subject::Directory,
    step: |target, so_far| steps::single(target, so_far, Request::RemoveDirectory(target.place)),
    ..Operation::DEFAULT
};
