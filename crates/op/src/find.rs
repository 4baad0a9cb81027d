//! `find`: visits one directory of a recursive walk: opens it, asks for its attributes, reads all
//! its entries, closes it. A phase of it visits every directory, parents first, which are the calls
//! find(1) makes when it is given no test.

use super::{Operation, Subject, steps};

pub(super) const FIND: Operation = Operation {
    name: "find",
    about: "visits one directory of a recursive walk over the whole tree",
    subject: Subject::AnyDirectory,
    step: |target, so_far| steps::list_directory(target, so_far, true),
    ..Operation::DEFAULT
};
