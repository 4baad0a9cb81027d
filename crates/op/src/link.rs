//! `link`: gives a file a second name, the next one or the same in another directory (link(2)).

use super::request::Request;
use super::{Change, Effect, Operation, Target, steps};

pub(super) const LINK: Operation = Operation {
    name: "link",
    about: "gives a file a second name; in a chain of a mix alone",
    effect: Effect::AddsEntry,
    change: Change::Renames,
    step: |target, so_far| {
        let (from, to) = (target.place, target.new_place());
        // What changes is the directory of the new name.
        steps::single(&Target { place: to, ..*target }, so_far, Request::Link { from, to })
    },
    ..Operation::DEFAULT
};
