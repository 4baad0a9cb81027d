//! Ways through an operation that several of them share.

use super::request::{Access, Progress, Request, RequestKind, Step};
use super::{Durability, Target};

/// A single request and nothing else, unless the entry's directory is to be made durable.
pub(super) fn single(target: &Target, so_far: &Progress, request: Request) -> Step {
    match so_far.last {
        None if target.durability == Durability::FsyncDirectory => Step::Submit(request),
        None => Step::Last(request),
        Some(last) => sync_holder(target, so_far, last),
    }
}

/// The first step of an operation that reads a file.
pub(super) fn open_to_read(target: &Target) -> Step {
    let Target { place, keep_atime, direct, .. } = *target;
    Step::Submit(Request::Open { place, access: Access::Read, dsync: false, keep_atime, direct })
}

/// Open, write all of the content, make it durable, close.
pub(super) fn write_file(target: &Target, so_far: &Progress, access: Access) -> Step {
    let Some(last) = so_far.last else {
        let dsync = target.durability == Durability::Dsync;
        return Step::Submit(Request::Open {
            place: target.place,
            access,
            dsync,
            keep_atime: false,
            direct: target.direct,
        });
    };
    if so_far.failed.is_some() {
        return close_or_end(so_far);
    }
    match last {
        RequestKind::Open | RequestKind::Write if so_far.bytes < target.size => {
            let bytes = (target.size - so_far.bytes).min(u64::from(target.block)) as u32;
            Step::Submit(Request::Write {
                number: target.place.number(),
                version: target.version,
                offset: so_far.bytes,
                bytes,
            })
        }
        other => finish(target, so_far, other),
    }
}

/// All is written: make it durable, close.
#[inline]
pub(super) fn finish(target: &Target, so_far: &Progress, last: RequestKind) -> Step {
    match last {
        RequestKind::Open | RequestKind::Write | RequestKind::WriteAt => match target.durability {
            Durability::Fsync | Durability::FsyncDirectory => {
                Step::Submit(Request::Sync { data_only: false })
            }
            Durability::Fdatasync => Step::Submit(Request::Sync { data_only: true }),
            Durability::None | Durability::Dsync | Durability::Syncfs => Step::Last(Request::Close),
        },
        RequestKind::Sync if target.durability == Durability::Fdatasync => {
            Step::Last(Request::Close)
        }
        RequestKind::Sync => Step::Submit(Request::Close),
        RequestKind::Close | RequestKind::SyncHolder => sync_holder(target, so_far, last),
        // None of these ends the writing of a file.
        RequestKind::Read
        | RequestKind::ReadBlock
        | RequestKind::Stat
        | RequestKind::StatOpen
        | RequestKind::ReadDirectory
        | RequestKind::Rename
        | RequestKind::Unlink
        | RequestKind::MakeDirectory
        | RequestKind::RemoveDirectory => close_or_end(so_far),
    }
}

/// Open a directory, ask for its entries until there are none left, close.
pub(super) fn list_directory(target: &Target, so_far: &Progress, stat: bool) -> Step {
    let Target { place, keep_atime, .. } = *target;
    let (access, dsync, direct) = (Access::List, false, false);
    let open = Request::Open { place, access, dsync, keep_atime, direct };
    if so_far.failed.is_some() {
        return close_or_end(so_far);
    }
    match so_far.last {
        None => Step::Submit(open),
        Some(RequestKind::Open) if stat => Step::Submit(Request::StatOpen),
        Some(RequestKind::Open | RequestKind::StatOpen) => Step::Submit(Request::ReadDirectory),
        Some(RequestKind::ReadDirectory) if so_far.last_bytes > 0 => {
            Step::Submit(Request::ReadDirectory)
        }
        Some(RequestKind::ReadDirectory) => Step::Last(Request::Close),
        Some(_) => Step::Done,
    }
}

/// After an error: close what is open, then end.
pub(super) fn close_or_end(so_far: &Progress) -> Step {
    if so_far.open { Step::Last(Request::Close) } else { Step::Done }
}

/// The last step of an operation that changes a directory.
fn sync_holder(target: &Target, so_far: &Progress, last: RequestKind) -> Step {
    let wanted = target.durability == Durability::FsyncDirectory
        && so_far.failed.is_none()
        && last != RequestKind::SyncHolder;
    if wanted { Step::Last(Request::SyncHolder { place: target.place }) } else { Step::Done }
}
