//! `overwrite`: a file's content replaced in place.

use super::{Access, Change, Operation, steps};

/// Opens a file, writes new content of the same size over the old, closes it.
pub(super) const OVERWRITE: Operation = Operation {
    name: "overwrite",
    about: "writes new content of the same size over a file's old content",
    change: Change::SameSize,
    step: |target, so_far| steps::write_file(target, so_far, Access::Write),
    ..Operation::DEFAULT
};
