//! `mkdir`: makes an empty directory as an entry of the tree.

use super::request::Request;
use super::{Effect, Operation, Subject, steps};

pub(super) const MKDIR: Operation = Operation {
    name: "mkdir",
    about: "makes an empty directory",
    effect: Effect::AddsEntry,
    subject: Subject::Directory,
    step: |target, so_far| steps::single(target, so_far, Request::MakeDirectory(target.place)),
    ..Operation::DEFAULT
};
