//! Runs the `boatload` command on the ranks of an MPI job; what it does is in the library.

mod crew;
mod launcher;
mod messages;

use std::cell::RefCell;
use std::process::ExitCode;

use boatload::base::failure::Failure;

use crate::crew::MpiCrew;

fn main() -> ExitCode {
    // Commands that run on all ranks start MPI, and those that are not understood, which one rank says for all. The others
    // need no launcher, and `serve-disk` is a process of a rank.
    let started = RefCell::new(None);
    let exit = boatload::cli::main_with(|| {
        let crew = MpiCrew::start().map_err(Failure::failed)?;
        *started.borrow_mut() = Some(crew.clone());
        Ok(Box::new(crew))
    });
    match started.into_inner() {
        Some(crew) => crew.end(exit),
        None => exit,
    }
}
