//! `rewrite`: opens a file and drops what it held, writes new content of a newly drawn size, closes
//! it.

use super::{Access, Change, Operation, steps};

pub(super) const REWRITE: Operation = Operation {
    name: "rewrite",
    about: "empties a file and writes new content of a new size",
    change: Change::NewSize,
    step: |target, so_far| steps::write_file(target, so_far, Access::Truncate),
    ..Operation::DEFAULT
};
