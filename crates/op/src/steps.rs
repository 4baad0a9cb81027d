//! Provides the sequences of requests that several operations share.

use super::request::{Access, NextRequest, OperationProgress, Request, RequestKind};
use super::{Durability, Target};

/// A single request and nothing else, unless the entry's directory is to be made durable.
#[inline]
pub(super) fn single(target: &Target, so_far: &OperationProgress, request: Request) -> NextRequest {
    match so_far.last {
        None if target.durability == Durability::FsyncDirectory => NextRequest::Submit(request),
        None => NextRequest::Last(request),
        Some(last) => sync_holder(target, so_far, last),
    }
}

/// The first step of an operation that reads a file.
#[inline]
pub(super) fn open_to_read(target: &Target) -> NextRequest {
    let Target { place, keep_atime, direct, .. } = *target;
    let (access, dsync) = (Access::Read, false);
    NextRequest::Submit(Request::Open { place, access, dsync, keep_atime, direct })
}

/// The first step of an operation that changes a file's content or size.
#[inline]
pub(super) fn open_to_write(target: &Target, access: Access) -> NextRequest {
    let Target { place, durability, direct, .. } = *target;
    let dsync = durability == Durability::Dsync;
    NextRequest::Submit(Request::Open { place, access, dsync, keep_atime: false, direct })
}

/// Open, write all of the content, make it durable, close.
#[inline]
pub(super) fn write_file(
    target: &Target,
    so_far: &OperationProgress,
    access: Access,
) -> NextRequest {
    let Some(last) = so_far.last else { return open_to_write(target, access) };
    if so_far.failed.is_some() {
        return close_or_end(so_far);
    }
    match last {
        RequestKind::Open | RequestKind::Write if so_far.bytes < target.size => {
            let bytes = (target.size - so_far.bytes).min(u64::from(target.block)) as u32;
            NextRequest::Submit(Request::Write {
                number: target.place.number(),
                version: target.version,
                offset: so_far.bytes,
                bytes,
            })
        }
        other => finish(target, so_far, other),
    }
}

/// All is written or cut: make it durable, close.
#[inline]
pub(super) fn finish(
    target: &Target,
    so_far: &OperationProgress,
    last: RequestKind,
) -> NextRequest {
    match last {
        RequestKind::Open | RequestKind::Write | RequestKind::WriteAt | RequestKind::Truncate => {
            let sync = sync_of(target.durability).map(NextRequest::Submit);
            sync.unwrap_or_else(|| close(target, so_far, last))
        }
        RequestKind::Sync => close(target, so_far, last),
        RequestKind::Close | RequestKind::SyncHolder => sync_holder(target, so_far, last),
        // None of these ends the writing of a file.
        RequestKind::Read
        | RequestKind::ReadBlock
        | RequestKind::Stat
        | RequestKind::StatOpen
        | RequestKind::ReadDirectory
        | RequestKind::StatEntry
        | RequestKind::SetMode
        | RequestKind::Rename
        | RequestKind::Link
        | RequestKind::Unlink
        | RequestKind::MakeDirectory
        | RequestKind::RemoveDirectory => close_or_end(so_far),
    }
}

/// Close, unless the file is to stay open.
#[inline]
pub(super) fn close(target: &Target, so_far: &OperationProgress, last: RequestKind) -> NextRequest {
    match target.closes {
        true if target.durability == Durability::FsyncDirectory => {
            NextRequest::Submit(Request::Close)
        }
        true => NextRequest::Last(Request::Close),
        false => sync_holder(target, so_far, last),
    }
}

/// The request that makes what was written to a file durable; `None` if nothing is asked of it alone.
#[inline]
pub(super) fn sync_of(durability: Durability) -> Option<Request> {
    match durability {
        Durability::Fsync | Durability::FsyncDirectory => Some(Request::Sync { data_only: false }),
        Durability::Fdatasync => Some(Request::Sync { data_only: true }),
        Durability::None | Durability::Dsync | Durability::Syncfs => None,
    }
}

/// Open a directory, ask for its entries until there are none left, close.
#[inline]
pub(super) fn list_directory(
    target: &Target,
    so_far: &OperationProgress,
    stat: bool,
) -> NextRequest {
    let Target { place, keep_atime, .. } = *target;
    let (access, dsync, direct) = (Access::List, false, false);
    let open = Request::Open { place, access, dsync, keep_atime, direct };
    if so_far.failed.is_some() {
        return close_or_end(so_far);
    }
    match so_far.last {
        None => NextRequest::Submit(open),
        Some(RequestKind::Open) if stat => NextRequest::Submit(Request::StatOpen),
        Some(RequestKind::Open | RequestKind::StatOpen) => {
            NextRequest::Submit(Request::ReadDirectory)
        }
        Some(RequestKind::ReadDirectory) if so_far.last_bytes > 0 => {
            NextRequest::Submit(Request::ReadDirectory)
        }
        Some(RequestKind::ReadDirectory) => NextRequest::Last(Request::Close),
        Some(_) => NextRequest::Done,
    }
}

/// After an error: close what is open, then end.
#[inline]
pub(super) fn close_or_end(so_far: &OperationProgress) -> NextRequest {
    if so_far.open { NextRequest::Last(Request::Close) } else { NextRequest::Done }
}

/// The last step of an operation that changes a directory.
#[inline]
pub(super) fn sync_holder(
    target: &Target,
    so_far: &OperationProgress,
    last: RequestKind,
) -> NextRequest {
    let wanted = target.durability == Durability::FsyncDirectory
        && so_far.failed.is_none()
        && last != RequestKind::SyncHolder;
    if wanted { NextRequest::Last(Request::SyncHolder(target.place)) } else { NextRequest::Done }
}
