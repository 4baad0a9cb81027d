//! Defines engines, which carry out requests. An engine never reads the clock, retries or prints.

pub(crate) mod delayed;
pub mod device;
pub(crate) mod sim;
pub mod sync;

use boatload_op::Request;
use boatload_op::request::RequestOutcome;

/// Bytes of directory entries that are asked for at a time: what glibc's readdir asks of
/// getdents64(2).
const DIRENT_BYTES: usize = 32 << 10;

/// Something that carries requests out.
pub trait Engine {
    /// Carries a request out and returns when it has ended.
    fn carry_out(&mut self, request: &Request) -> RequestOutcome;
}

#[cfg(test)]
mod tests {
    use super::sim::{SimDisk, SimEngine};
    use super::sync::{OpenTree, SyncEngine};
    use super::*;
    use crate::clock::VirtualClock;
    use boatload_base::errno::Errno;
    use boatload_op::{Access, ItemId, find_operation};
    use boatload_plan::selection::{EntryRange, Order, Selection};
    use boatload_plan::sim::SimModel;
    use boatload_plan::{Phase, Tree};
    use std::sync::Arc;

    /// What the requests of a file with two names come to.
    fn outcomes(engine: &mut impl Engine) -> Vec<RequestOutcome> {
        let (one, two) = (ItemId::file(0), ItemId::file(0).renamed());
        let access = Access::CreateNew;
        let (dsync, keep_atime, direct) = (false, false, false);
        let requests = [
            Request::Open { place: one, access, dsync, keep_atime, direct },
            Request::Close,
            Request::Link { from: one, to: two },
            Request::Link { from: one, to: two },
            Request::SetMode(two),
            Request::Unlink(one),
            Request::Stat(two),
            Request::Unlink(two),
            Request::Stat(two),
        ];
        requests.map(|request| engine.carry_out(&request)).into()
    }

    #[test]
    fn a_file_with_two_names_is_there_until_both_are_gone() {
        let selection = Selection::new(EntryRange::whole(0, 1), Order::Sequential, 1, 1, 0);
        let phase = Phase::bare(find_operation("link").unwrap(), selection, 1);
        let tree = Tree { files: 1, ..Tree::without_files(1) };
        let mut truth = vec![Ok(0); 9];
        (truth[3], truth[8]) = (Err(Errno::EEXIST), Err(Errno::ENOENT));
        let directory = tempfile::tempdir().unwrap();
        let root = std::fs::File::open(directory.path()).unwrap().into();
        let open = OpenTree::open(tree.clone(), root, 1, true).unwrap();
        assert_eq!(outcomes(&mut SyncEngine::new(Arc::new(open), 0, &phase)), truth);
        let disk = SimDisk::new(SimModel::default(), tree, false, 0, Arc::default()).unwrap();
        let clock = VirtualClock::default();
        assert_eq!(outcomes(&mut SimEngine::new(Arc::new(disk), &phase, clock, 0, 0)), truth);
    }
}
