//! `list`: opens a directory that holds the tree's entries, reads all its entries, closes it.

use super::{Operation, Subject, steps};

/// What `.` and `..` take in each listing, in bytes, as the kernel packs them for getdents64(2).
pub const OWN_ENTRIES_BYTES: u64 = 48;

pub(super) const LIST: Operation = Operation {
    name: "list",
    about: "reads all entries of one directory that holds files (readdir)",
    subject: Subject::Holder,
    step: |target, so_far| steps::list_directory(target, so_far, false),
    ..Operation::DEFAULT
};
