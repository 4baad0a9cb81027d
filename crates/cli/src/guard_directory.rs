//! Runs `boatload guard-directory`, which rank 0 of several starts itself.

use std::ffi::OsString;
use std::os::fd::AsFd;
use std::path::PathBuf;

use clap::Args;

use super::out;
use boatload_base::failure::{Exit, Result, shown};
use boatload_run::guard::guard;

/// Remove the directory of the run that started this, if that ends before it has; of no use to users
#[derive(Args)]
pub(super) struct GuardDirectory {
    /// Directory the run was made in
    place: PathBuf,
    /// Name of its directory
    name: OsString,
}

impl GuardDirectory {
    pub(super) fn run(&self) -> Result<Exit> {
        let ready = || out::give(".");
        if guard(std::io::stdin().as_fd(), &self.place, &self.name, ready)?.is_some() {
            out::note(&format!(
                "rank 0 ended before it had removed {}, which is removed now; the store has the phases that were over",
                shown(self.place.join(&self.name))
            ));
        }
        Ok(Exit::Good)
    }
}
