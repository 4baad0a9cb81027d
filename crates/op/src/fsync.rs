//! `fsync`: makes a file durable that earlier phases wrote. It is opened for reading, which suffices for
//! fsync(2), unless the operation before left it open.

use super::request::{Request, RequestKind};
use super::{NextRequest, Operation, OperationProgress, Target, steps};

pub(super) const FSYNC: Operation = Operation {
    name: "fsync",
    about: "makes a file durable that was written before (fsync)",
    step,
    ..Operation::DEFAULT
};

fn step(target: &Target, so_far: &OperationProgress) -> NextRequest {
    match so_far.last {
        None if target.opens => steps::open_to_read(target),
        None => NextRequest::Submit(Request::Sync { data_only: false }),
        Some(_) if so_far.failed.is_some() => steps::close_or_end(so_far),
        Some(RequestKind::Open) => NextRequest::Submit(Request::Sync { data_only: false }),
        Some(RequestKind::Sync) if target.closes => NextRequest::Last(Request::Close),
        Some(_) => NextRequest::Done,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Chunk, Durability, ItemId};
    use boatload_base::errno::Errno;

    /// The requests for a file that is to be opened and closed or not, if fsync(2) gives `synced`.
    fn requests(opens: bool, closes: bool, synced: Result<u64, Errno>) -> String {
        let target = Target {
            place: ItemId::file(3),
            size: 0,
            version: 0,
            block: 1024,
            durability: Durability::None,
            keep_atime: false,
            direct: false,
            opens,
            closes,
            new_directory: None,
            chunk: Chunk::default(),
        };
        let (mut progress, mut all) = (OperationProgress::before(&target), Vec::new());
        while let NextRequest::Submit(request) | NextRequest::Last(request) =
            step(&target, &progress)
        {
            let outcome = if request.kind() == RequestKind::Sync { synced } else { Ok(0) };
            progress.complete(&request, outcome);
            all.push(request.kind().as_str());
        }
        all.join(" ")
    }

    #[test]
    fn a_file_that_is_open_is_synced_at_once_and_left_open_unless_that_fails() {
        let all = [(true, true), (false, true), (true, false), (false, false)];
        let all = all.map(|(opens, closes)| requests(opens, closes, Ok(0)));
        assert_eq!(all, ["open sync close", "sync close", "open sync", "sync"]);
        assert_eq!(requests(false, false, Err(Errno::EIO)), "sync close");
    }
}
