//! Runs the `boatload` command on the ranks of an MPI job; what it does is in the library.

mod communicator;
mod finalize;
mod launcher;
mod messages;

use std::cell::RefCell;
use std::process::ExitCode;

use boatload::base::failure::Failure;

use crate::communicator::MpiJob;

fn main() -> ExitCode {
    // Commands that run on all ranks start MPI. The others need no launcher, and `serve-disk` is a process of a rank.
    let started = RefCell::new(None);
    let exit = boatload::cli::main_with(launcher::is_first(), || {
        let job = MpiJob::start().map_err(Failure::failed)?;
        let communicator = job.communicator();
        *started.borrow_mut() = Some(job);
        Ok(Box::new(communicator))
    });
    match started.into_inner() {
        Some(job) => job.end(exit),
        None => exit,
    }
}
