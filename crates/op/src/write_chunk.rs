//! `write-chunk`: writes one chunk at its place in its file; the first chunk of a file makes it.
//! Whether the file is opened and closed for the chunk, or is open from an earlier one, the target
//! says.

use super::request::{Access, Request, RequestKind};
use super::{
    Change, Durability, Effect, NextRequest, Operation, OperationProgress, Subject, Target, steps,
};

pub(super) const WRITE_CHUNK: Operation = Operation {
    name: "write-chunk",
    about: "writes one chunk at its place in its file, which the first chunk makes",
    effect: Effect::AddsEntry,
    subject: Subject::Chunk,
    change: Change::Chunks,
    step,
    ..Operation::DEFAULT
};

fn step(target: &Target, so_far: &OperationProgress) -> NextRequest {
    let Some(last) = so_far.last else {
        return if target.opens { open(target) } else { write(target, so_far) };
    };
    if so_far.failed.is_some() {
        // What an earlier chunk opened is closed here, if this is the last one.
        let close = target.closes && so_far.open;
        return if close { NextRequest::Last(Request::Close) } else { NextRequest::Done };
    }
    match last {
        RequestKind::Open | RequestKind::WriteAt if so_far.bytes < target.size => {
            write(target, so_far)
        }
        other => steps::finish(target, so_far, other),
    }
}

fn open(target: &Target) -> NextRequest {
    let access = if target.chunk.creates { Access::CreateNew } else { Access::Write };
    let dsync = target.durability == Durability::Dsync;
    let (place, direct) = (target.place, target.direct);
    NextRequest::Submit(Request::Open { place, access, dsync, keep_atime: false, direct })
}

fn write(target: &Target, so_far: &OperationProgress) -> NextRequest {
    let (chunk, offset) = (target.chunk, so_far.bytes);
    let bytes = (target.size - offset).min(u64::from(target.block)) as u32;
    NextRequest::Submit(Request::WriteAt {
        number: chunk.number,
        version: target.version,
        offset,
        bytes,
        position: chunk.position + offset,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Chunk, ItemId};
    use boatload_base::errno::Errno;

    const CHUNKS: u64 = 3;
    const SIZE: u64 = 2500;

    fn target(index: u64, keeps_open: bool, durability: Durability) -> Target {
        let (first, last) = (index == 0, index + 1 == CHUNKS);
        let chunk = Chunk { number: 40 + index, position: index * SIZE, creates: first };
        Target {
            place: ItemId::file(3),
            size: SIZE,
            version: 0,
            block: 1024,
            durability,
            keep_atime: false,
            direct: false,
            opens: first || !keeps_open,
            closes: last || !keeps_open,
            new_directory: None,
            chunk,
        }
    }

    /// All requests of a file's chunks, the one at `fail_at` failing, on a file that answers EBADF
    /// while it is not open; and how many of the chunks failed.
    fn written(keeps_open: bool, durability: Durability, fail_at: usize) -> (Vec<Request>, usize) {
        let (mut all, mut open, mut failed) = (Vec::new(), false, 0);
        for index in 0..CHUNKS {
            let target = target(index, keeps_open, durability);
            let mut progress = OperationProgress::before(&target);
            while let NextRequest::Submit(request) | NextRequest::Last(request) =
                (WRITE_CHUNK.step)(&target, &progress)
            {
                assert!(all.len() < 100, "it never ends: {all:?}");
                let fails = all.len() == fail_at;
                let outcome = match request {
                    Request::Close => std::mem::take(&mut open).then_some(0).ok_or(Errno::EBADF),
                    _ if fails => Err(Errno::EIO),
                    Request::Open { .. } => {
                        assert!(!open, "opened twice: {all:?}");
                        open = true;
                        Ok(0)
                    }
                    _ if !open && !matches!(request, Request::SyncHolder(_)) => Err(Errno::EBADF),
                    Request::WriteAt { bytes, .. } => Ok(u64::from(bytes)),
                    _ => Ok(0),
                };
                all.push(request);
                progress.complete(&request, outcome);
            }
            failed += usize::from(progress.failed.is_some());
        }
        assert!(!open, "left open after request {fail_at} failed: {all:?}");
        (all, failed)
    }

    #[test]
    fn whichever_request_fails_a_file_is_closed_after_its_last_chunk() {
        for keeps_open in [false, true] {
            for durability in [Durability::None, Durability::Fdatasync, Durability::FsyncDirectory]
            {
                for fail_at in 0..25 {
                    written(keeps_open, durability, fail_at);
                }
            }
        }
    }

    #[test]
    fn a_chunk_larger_than_a_block_is_written_at_its_place_in_several_writes() {
        let (all, failed) = written(true, Durability::None, usize::MAX);
        let writes: Vec<_> = all
            .iter()
            .filter_map(|request| match *request {
                Request::WriteAt { number, offset, bytes, position, .. } => {
                    Some((number, offset, bytes, position))
                }
                _ => None,
            })
            .collect();
        let expected = [(0, 1024), (1024, 1024), (2048, 452)];
        let expected: Vec<_> = (0..3)
            .flat_map(|c| expected.map(|(at, bytes)| (40 + c, at, bytes, c * SIZE + at)))
            .collect();
        assert_eq!((writes, failed), (expected, 0));
    }

    #[test]
    fn a_file_kept_open_is_opened_and_closed_once_and_else_for_each_chunk() {
        let count = |keeps_open, kind| {
            let (all, _) = written(keeps_open, Durability::FsyncDirectory, usize::MAX);
            all.iter().filter(|request| request.kind() == kind).count()
        };
        for kind in [RequestKind::Open, RequestKind::Close] {
            assert_eq!((count(true, kind), count(false, kind)), (1, 3), "{kind:?}");
        }
        for kind in [RequestKind::Sync, RequestKind::SyncHolder] {
            assert_eq!((count(true, kind), count(false, kind)), (3, 3), "{kind:?}");
        }
    }

    #[test]
    fn a_file_that_cannot_be_opened_fails_all_of_its_chunks() {
        assert_eq!(written(true, Durability::None, 0).1, 3);
        assert_eq!(written(false, Durability::None, 0).1, 1, "the others open it themselves");
    }
}
