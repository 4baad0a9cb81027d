//! `create`: opens a file that must not exist, writes its content, closes it.

use super::{Access, Change, Effect, Operation, steps};

pub(super) const CREATE: Operation = Operation {
    name: "create",
    about: "makes a new file and writes its content",
    effect: Effect::AddsEntry,
    change: Change::NewSize,
    step: |target, so_far| steps::write_file(target, so_far, Access::CreateNew),
    ..Operation::DEFAULT
};
