//! `overwrite`: opens a file, writes new content of the same size over the old, closes it.

use super::{Access, Change, Operation, steps};

pub(super) const OVERWRITE: Operation = Operation {
    name: "overwrite",
    about: "writes new content of the same size over a file's old content",
    change: Change::SameSize,
    step: |target, so_far| steps::write_file(target, so_far, Access::Write),
    ..Operation::DEFAULT
};
