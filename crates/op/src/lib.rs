//! Defines the operations, each as a step machine that turns one target into requests of a closed set.
//! Nothing here touches a disk: an engine does the requests.

mod append;
mod chmod;
mod create;
mod delete;
mod find;
mod find_remove;
mod fsync;
mod fsync_directory;
mod link;
mod list;
mod list_stat;
mod mkdir;
mod open;
mod operation;
mod overwrite;
mod read;
mod read_device;
mod rename;
mod replace;
pub mod request;
mod rewrite;
mod rmdir;
mod stat;
mod steps;
mod truncate;
mod write_chunk;

pub use list::OWN_ENTRIES_BYTES;
pub use operation::{Change, Chunk, Durability, Effect, Operation, Subject, Target};
pub use request::{Access, ItemId, NextRequest, OperationProgress, Request, RequestKind};

/// Every operation a job file can name.
pub static OPERATIONS: [Operation; 23] = [
    append::APPEND,
    chmod::CHMOD,
    create::CREATE,
    delete::DELETE,
    find::FIND,
    find_remove::FIND_REMOVE,
    fsync::FSYNC,
    fsync_directory::FSYNC_DIRECTORY,
    link::LINK,
    list::LIST,
    list_stat::LIST_STAT,
    mkdir::MKDIR,
    open::OPEN,
    overwrite::OVERWRITE,
    read::READ,
    read_device::READ_DEVICE,
    rename::RENAME,
    replace::REPLACE,
    rewrite::REWRITE,
    rmdir::RMDIR,
    stat::STAT,
    truncate::TRUNCATE,
    write_chunk::WRITE_CHUNK,
];

/// The operation a job file names.
pub fn find_operation(name: &str) -> Option<&'static Operation> {
    OPERATIONS.iter().find(|operation| operation.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_sorted_and_every_operation_says_what_it_does() {
        let names: Vec<_> = OPERATIONS.iter().map(|o| o.name).collect();
        assert!(names.windows(2).all(|pair| pair[0] < pair[1]), "{names:?}");
        assert!(OPERATIONS.iter().all(|o| !o.about.is_empty()));
    }

    /// Each operation, told that all goes well and then that any one request fails, ends, closes
    /// what it opened, and asks for nothing after its end.
    #[test]
    fn every_operation_ends_and_closes_what_it_opened() {
        for operation in &OPERATIONS {
            for durability in [Durability::None, Durability::FsyncDirectory] {
                for fail_at in 0..12 {
                    let opens = opens_minus_closes(operation, durability, fail_at);
                    assert_eq!(opens, 0, "{} with request {fail_at} failing", operation.name);
                }
            }
        }
    }

    fn opens_minus_closes(operation: &Operation, durability: Durability, fail_at: u32) -> i32 {
        let target = Target {
            place: ItemId::file(3),
            size: 2500,
            version: 0,
            block: 1024,
            durability,
            keep_atime: false,
            chunk: Chunk { number: 3, position: 7, creates: true },
            direct: false,
            opens: true,
            closes: true,
            new_directory: None,
        };
        let (mut progress, mut balance) = (OperationProgress::before(&target), 0);
        for at in 0..100 {
            let (request, is_last) = match (operation.step)(&target, &progress) {
                NextRequest::Submit(request) => (request, false),
                NextRequest::Last(request) => (request, true),
                NextRequest::Done => return balance,
            };
            let fails = at == fail_at && request.kind() != RequestKind::Close;
            match request.kind() {
                RequestKind::Open if !fails => balance += 1,
                RequestKind::Close => balance -= 1,
                _ => {}
            }
            progress.complete(&request, outcome_of(&request, fails, &progress));
            let after = (operation.step)(&target, &progress);
            assert!(!is_last || after == NextRequest::Done, "{} after its last", operation.name);
        }
        panic!("{} never ends", operation.name);
    }

    fn outcome_of(
        request: &Request,
        fails: bool,
        so_far: &OperationProgress,
    ) -> request::RequestOutcome {
        match request {
            _ if fails => Err(boatload_base::errno::Errno::EIO),
            Request::Write { bytes, .. } | Request::WriteAt { bytes, .. } => Ok(u64::from(*bytes)),
            Request::Read { bytes, .. } => Ok(u64::from(*bytes).min(2500 - so_far.bytes)),
            Request::ReadDirectory if so_far.bytes < 64 => Ok(32),
            Request::StatEntry if so_far.last == Some(RequestKind::ReadDirectory) => Ok(1),
            _ => Ok(0),
        }
    }
}
