//! `rename`: gives a file a new name in its directory.

use super::request::Request;
use super::{Change, Operation, steps};

pub(super) const RENAME: Operation = Operation {
    name: "rename",
    about: "gives a file a new name in the same directory",
    change: Change::Renames,
    step: |target, so_far| {
        let (from, to) = (target.place, target.new_place());
        steps::single(target, so_far, Request::Rename { from, to })
    },
    ..Operation::DEFAULT
};
