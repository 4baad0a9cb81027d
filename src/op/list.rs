//! `list`: opens a directory that holds the tree's entries, reads all its entries, closes it.

use super::{Operation, Subject, steps};

pub(super) const LIST: Operation = Operation {
    name: "list",
    about: "reads all entries of one directory that holds files (readdir)",
    subject: Subject::Holder,
    step: |target, so_far| steps::list_directory(target, so_far, false),
    ..Operation::DEFAULT
};
