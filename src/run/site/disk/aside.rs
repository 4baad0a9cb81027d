//! A place with nothing open, so that its file system can be unmounted and mounted again.

use std::ffi::OsString;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use super::{DiskSite, open_bases, open_canary};
use crate::base::errno::Errno;
use crate::base::failure::{Failure, Result};
use crate::plan::Tree;
use crate::run::engine::sync::OpenTree;
use crate::run::ground::{Ground, open_directory};
use crate::run::site::disk_ballast::{DiskBallast, ShelvedBallast};

/// A [`DiskSite`] without anything open: names and laws.
pub(in crate::run::site) struct Aside {
    ground: Option<String>,
    cell: Option<(OsString, Tree, u64)>,
    ballast: Option<ShelvedBallast>,
}

impl DiskSite {
    /// Closes all that it has open, so that its file system can be unmounted.
    pub(in crate::run::site) fn put_aside(&mut self) -> Aside {
        self.ballast_open = None;
        self.canary = None;
        self.held = None;
        Aside {
            ground: self.ground.take().map(|ground| ground.name().to_string()),
            cell: self.cell.take().map(|(name, open)| {
                let workers = open.bases.len() as u64;
                (name, open.tree.clone(), workers)
            }),
            ballast: self.ballast.take().map(DiskBallast::put_aside),
        }
    }

    /// Opens again below `parent` what was put aside.
    ///
    /// # Errors
    /// If anything of it cannot be opened.
    pub(in crate::run::site) fn take_up(&mut self, aside: Aside, parent: OwnedFd) -> Result<()> {
        let failed = |error: Errno| {
            Failure::failed(format!("cannot go on after mounting again: {}", error.about()))
        };
        let Some(name) = aside.ground else { return Ok(()) };
        let ground = Ground::reopen(parent, &name).map_err(|error| failed(error.into()))?;
        self.canary = open_canary(&ground).ok();
        if let Some((name, tree, workers)) = aside.cell {
            let root = open_directory(ground.directory(), &name).map_err(|e| failed(e.into()))?;
            let bases = open_bases(&tree, root.as_fd(), workers, true).map_err(failed)?;
            self.cell = Some((name, Arc::new(OpenTree { tree, root, bases })));
        }
        if let Some(shelved) = aside.ballast {
            let ballast = shelved.take_up(ground.directory()).map_err(failed)?;
            let threads = ballast.stock().ballast().threads;
            self.ballast_open = Some(Arc::new(ballast.open(threads).map_err(failed)?));
            self.ballast = Some(ballast);
        }
        self.ground = Some(ground);
        Ok(())
    }

    /// Leaves all that it made where it is: the file system goes as a whole.
    pub(in crate::run::site) fn abandon(mut self) {
        self.put_aside();
    }
}
