//! Collects system calls that failed and whose answer boatload did without, so that the result of a run names them:
//! a figure that rests on such a call is unknown.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::sync::{Mutex, PoisonError};

use super::errno::Errno;

/// Most that are kept: a filter refuses the same call at thousands of places.
const KEPT_MAX: usize = 20;

static CALLS: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// Keeps that a call on a place failed, unless it is usual: what is not there, or takes root, is no fault.
pub fn note(call: &str, place: impl FnOnce() -> String, error: impl Into<Errno>) {
    let error = error.into();
    if !is_fault(error) {
        return;
    }
    keep(stated(call, place(), error));
}

/// Keeps a text that names a call.
pub fn keep(text: String) {
    let mut calls = CALLS.lock().unwrap_or_else(PoisonError::into_inner);
    if calls.len() < KEPT_MAX {
        calls.insert(text);
    }
}

/// What was kept since this was asked last, a text for each call.
pub fn taken() -> Vec<String> {
    let mut calls = CALLS.lock().unwrap_or_else(PoisonError::into_inner);
    std::mem::take(&mut *calls).into_iter().collect()
}

fn is_fault(error: Errno) -> bool {
    use Errno as E;
    [E::EPERM, E::ENOSYS, E::EIO, E::ENOMEM, E::EMFILE, E::ENFILE].contains(&error)
}

fn stated(call: &str, place: impl Display, error: Errno) -> String {
    format!("{call} of {place} ({error}: {})", error.about())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_failed_is_named_with_its_place_and_its_error() {
        assert!(is_fault(Errno::EPERM) && !is_fault(Errno::ENOENT) && !is_fault(Errno::EACCES));
        let text = stated("read", "/proc/vmstat", Errno::EIO);
        assert!(text.starts_with("read of /proc/vmstat (EIO: Input/output error: "), "{text}");
    }
}
