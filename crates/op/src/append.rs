//! `append`: opens a file for appending, writes content of a newly drawn size, closes it.

use super::{Access, Change, Operation, steps};

pub(super) const APPEND: Operation = Operation {
    name: "append",
    about: "writes content of a newly drawn size at the end of a file",
    change: Change::Grows,
    step: |target, so_far| steps::write_file(target, so_far, Access::Append),
    ..Operation::DEFAULT
};
