//! Runs `boatload serve-disk`, which boatload starts itself to serve a modelled disk.

use std::os::fd::AsFd;

use clap::Args;

use boatload_base::failure::{Exit, Failure, Result};
use boatload_run::disk::serve;

/// Serve a modelled disk to the boatload that started this; of no use to users
#[derive(Args)]
pub(super) struct ServeDisk {}

impl ServeDisk {
    pub(super) fn run(&self) -> Result<Exit> {
        let control = std::io::stdin().as_fd().try_clone_to_owned();
        serve(control.map_err(|error| Failure::from_system("read the input", error))?)?;
        Ok(Exit::Good)
    }
}
