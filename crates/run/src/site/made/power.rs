//! Mounts the file system of a cell again after the power of its modelled disk was cut.

use super::{MadeSite, mounted};
use crate::backing::Backing;
use crate::disk::ModelledDisk;
use crate::engine::sync::OpenTree;
use boatload_base::failure::{Failure, Result};
use boatload_host::making::CheckedState;

impl MadeSite {
    /// The modelled disk that the file systems lie on.
    ///
    /// # Errors
    /// If there is none.
    pub fn modelled_disk(&self) -> Result<&ModelledDisk> {
        let disk = self.place.as_ref().and_then(Backing::disk);
        disk.ok_or_else(|| Failure::failed("there is no modelled disk"))
    }

    /// The tree of the cell; none while it is not mounted.
    pub fn cell_tree(&self) -> Option<&OpenTree> {
        self.here.as_ref().and_then(|here| here.disk.cell_tree())
    }

    /// Unmounts the file system, whose disk has no power, gives the disk power again and mounts what is on it.
    /// Then its tree is open; or it gives the reason why it is not, with the file system at fault.
    ///
    /// # Errors
    /// If it cannot be unmounted, the machine has not forgotten what the disk held, or the modelled disk failed.
    pub fn mount_after_cut(&mut self) -> Result<Option<Failure>> {
        let (here, place) = mounted(&mut self.here, &mut self.place)?;
        let closed = here.disk.close_for_unmount();
        place.unmount()?;
        place.drop_pages()?;
        place.disk().map_or(Ok(()), ModelledDisk::restore_power)?;
        let opened = place.mount(&here.filesystem).and_then(|root| here.disk.reopen(closed, root));
        // Then it is not the file system that is at fault.
        match place.disk().and_then(ModelledDisk::failure) {
            Some(failure) if opened.is_err() => Err(failure),
            _ => Ok(opened.err()),
        }
    }

    /// Unmounts the file system and has it checked.
    ///
    /// # Errors
    /// If it cannot be unmounted or checked, or was interrupted.
    pub fn check_unmounted(&mut self) -> Result<CheckedState> {
        let (here, place) = mounted(&mut self.here, &mut self.place)?;
        here.disk.close_for_unmount();
        place.unmount()?;
        place.check(here.filesystem.kind, self.interrupt.flag())
    }
}
