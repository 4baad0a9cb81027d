//! Checks which files exist after a power cut, and whether they are whole.

use std::fs::File;
use std::os::unix::fs::FileExt;

use super::promise::{ContentPiece, FileChange, FileCopy, FileFate, FilePromise};
use crate::content::ContentPool;
use crate::engine::sync::{OpenTree, open_for_looking};
use boatload_base::errno::{Errno, ErrnoResult};
use boatload_op::ItemId;
use boatload_plan::Tree;

/// Content is compared in parts of this size.
const PART_BYTES: u32 = 64 << 10;

/// The smallest unit that a disk writes as a whole.
const SECTOR_BYTES: usize = 512;

/// Compares the files of a tree with what was promised of them.
pub struct CrashAudit<'a> {
    open: &'a OpenTree,
    expected: ContentMaker<'a>,
    found: Vec<u8>,
    promised: Vec<u8>,
    begun: Vec<u8>,
}

/// A file that was found, under its name.
struct FoundFile {
    generation: u32,
    file: File,
    bytes: u64,
}

impl<'a> CrashAudit<'a> {
    /// An audit of the tree that is open.
    pub fn new(open: &'a OpenTree) -> Self {
        let part = || vec![0; PART_BYTES as usize];
        let expected = ContentMaker::new(&open.tree);
        Self { open, expected, found: part(), promised: part(), begun: part() }
    }

    /// What became of a file that was promised. One that cannot be opened or read is torn.
    pub fn fate(&mut self, number: u64, promise: &FilePromise) -> FileFate {
        self.try_fate(number, promise).unwrap_or(FileFate::Torn)
    }

    fn try_fate(&mut self, number: u64, promise: &FilePromise) -> ErrnoResult<FileFate> {
        let mut names = self.find(number, promise)?;
        let Some(promised) = &promise.promised else {
            let may_be_there =
                names.is_empty() || matches!(promise.begun, Some(FileChange::Create(_)));
            return Ok(if may_be_there { FileFate::Kept } else { FileFate::CameBack });
        };
        if matches!(promise.begun, Some(FileChange::Exchange { .. })) {
            // The new file may have been left under its own name.
            names.retain(|found| found.generation <= promised.generation);
        }
        let found = match (names.pop(), names.is_empty()) {
            (None, _) if promise.begun == Some(FileChange::Delete) => return Ok(FileFate::Kept),
            (None, _) => return Ok(FileFate::Missing),
            (Some(found), true) => found,
            // The same file under its old name and its new one.
            (Some(_), false) => return Ok(FileFate::Torn),
        };
        let was_renamed = promise.begun == Some(FileChange::Rename);
        if found.generation != promised.generation + u32::from(was_renamed)
            && found.generation != promised.generation
        {
            return Ok(FileFate::Old);
        }
        let is_allowed = match &promise.begun {
            // Of what had all its content dropped, anything may be left.
            Some(FileChange::Replace(_) | FileChange::Exchange { is_whole: false, .. }) => true,
            Some(change @ FileChange::Exchange { is_whole: true, .. }) => {
                let new = change.applied(Some(promised)).unwrap_or_default();
                self.is(number, &found, promised)? || self.is(number, &found, &new)?
            }
            Some(FileChange::Overwrite(piece)) => {
                let over = FileCopy { generation: 0, pieces: vec![*piece] };
                self.holds(number, &found, promised, Some(&over))?
                    && found.bytes == promised.bytes()
            }
            Some(FileChange::Append(piece)) => {
                found.bytes <= promised.bytes() + piece.bytes
                    && self.holds(number, &found, promised, None)?
            }
            Some(change @ FileChange::Halve) => {
                let half = change.applied(Some(promised)).unwrap_or_default();
                // The rest of the block at the cut may be zeros before the size changes: ext4 zeroes it first.
                [half.bytes(), promised.bytes()].contains(&found.bytes)
                    && self.holds(number, &found, &half, None)?
            }
            Some(FileChange::Create(_) | FileChange::Rename | FileChange::Delete) | None => {
                self.is(number, &found, promised)?
            }
        };
        if is_allowed {
            return Ok(FileFate::Kept);
        }
        let is_old = match &promise.before {
            Some(before) => self.is(number, &found, before)?,
            None => false,
        };
        Ok(if is_old { FileFate::Old } else { FileFate::Torn })
    }

    /// Whether a change that promised nothing is there in full all the same.
    pub fn has_change(&mut self, number: u64, promise: &FilePromise) -> bool {
        let Some(change) = &promise.begun else { return false };
        let Ok(mut names) = self.find(number, promise) else { return false };
        let after = change.applied(promise.promised.as_ref());
        match (after, names.pop()) {
            (None, found) => found.is_none(),
            (Some(_), None) => false,
            (Some(after), Some(found)) => {
                found.generation == after.generation
                    && self.is(number, &found, &after).unwrap_or(false)
            }
        }
    }

    /// Whether a file is this one, from its beginning to its end.
    fn is(&mut self, number: u64, found: &FoundFile, copy: &FileCopy) -> ErrnoResult<bool> {
        Ok(found.bytes == copy.bytes() && self.holds(number, found, copy, None)?)
    }

    /// The file under each name that it may have.
    fn find(&self, number: u64, promise: &FilePromise) -> ErrnoResult<Vec<FoundFile>> {
        let created = match &promise.begun {
            Some(FileChange::Create(copy)) => Some(copy),
            _ => None,
        };
        let copies = promise.promised.iter().chain(&promise.before).chain(created);
        let last = copies.map(|copy| copy.generation).max().unwrap_or(0);
        let mut found = Vec::new();
        for generation in last.saturating_sub(1)..=last + 1 {
            let place = ItemId::File { number, generation, directory: None };
            match open_for_looking(self.open, place) {
                Ok(open) => {
                    let file = File::from(open);
                    let bytes = file.metadata().map_err(errno)?.len();
                    found.push(FoundFile { generation, file, bytes });
                }
                Err(Errno::ENOENT) => {}
                Err(other) => return Err(other),
            }
        }
        Ok(found)
    }

    /// Whether the file begins with all of `copy`, or with `over` in some of its sectors.
    fn holds(
        &mut self,
        number: u64,
        found: &FoundFile,
        copy: &FileCopy,
        over: Option<&FileCopy>,
    ) -> ErrnoResult<bool> {
        let bytes = copy.bytes();
        if found.bytes < bytes {
            return Ok(false);
        }
        for offset in (0..bytes).step_by(PART_BYTES as usize) {
            let length = (bytes - offset).min(u64::from(PART_BYTES)) as usize;
            let part = &mut self.found[..length];
            found.file.read_exact_at(part, offset).map_err(errno)?;
            self.expected.fill(number, copy, offset, &mut self.promised[..length]);
            if *part == self.promised[..length] {
                continue;
            }
            let Some(over) = over else { return Ok(false) };
            self.expected.fill(number, over, offset, &mut self.begun[..length]);
            let either = |at: usize| {
                let range = at..(at + SECTOR_BYTES).min(length);
                let sector = &part[range.clone()];
                *sector == self.promised[range.clone()] || *sector == self.begun[range]
            };
            if !(0..length).step_by(SECTOR_BYTES).all(either) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

#[expect(clippy::needless_pass_by_value, reason = "an error is consumed where it is made")]
fn errno(error: std::io::Error) -> Errno {
    Errno(error.raw_os_error().unwrap_or(libc::EIO))
}

/// Makes contents again that were written.
struct ContentMaker<'a> {
    tree: &'a Tree,
    pool: ContentPool,
    direct_pool: ContentPool,
}

impl<'a> ContentMaker<'a> {
    fn new(tree: &'a Tree) -> Self {
        let pool = || ContentPool::new(tree, PART_BYTES);
        Self { tree, pool: pool(), direct_pool: pool().for_direct(true) }
    }

    /// What a file holds from `offset` on.
    fn fill(&mut self, number: u64, copy: &FileCopy, offset: u64, out: &mut [u8]) {
        let end = offset + out.len() as u64;
        let mut first = 0;
        for ContentPiece { version, bytes, direct } in copy.pieces.iter().copied() {
            let (from, to) = (offset.max(first), end.min(first + bytes));
            if from < to {
                let key = self.tree.content_key(number, version);
                let pool = if direct { &mut self.direct_pool } else { &mut self.pool };
                let part = pool.part(key, from - first, (to - from) as u32);
                out[(from - offset) as usize..(to - offset) as usize].copy_from_slice(part);
            }
            first += bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::OwnedFd;
    use std::path::PathBuf;

    use boatload_plan::tree::{Content, DirectoryLayout, FilesEach, Placement, Sizes};

    const BYTES: u64 = 10_000;

    /// A tree with one file, number 0, which can be written by hand.
    struct OneFile {
        directory: tempfile::TempDir,
        open: OpenTree,
    }

    fn piece(version: u32) -> ContentPiece {
        ContentPiece { version, bytes: BYTES, direct: false }
    }

    fn copy(generation: u32, versions: &[u32]) -> FileCopy {
        FileCopy { generation, pieces: versions.iter().map(|version| piece(*version)).collect() }
    }

    fn promised(promised: Option<FileCopy>, begun: Option<FileChange>) -> FilePromise {
        let before = Some(copy(0, &[0]));
        FilePromise { is_promised: true, before, promised, begun, ended_ns: None }
    }

    impl OneFile {
        fn new() -> Self {
            let directory = tempfile::tempdir().unwrap();
            let tree = Tree {
                files: 1,
                files_max: None,
                layout: DirectoryLayout::flat(1),
                placement: Placement::Fill,
                files_each: FilesEach::Even,
                roots: 1,
                part: None,
                sizes: Sizes::Fixed(BYTES),
                chunks: None,
                content: Content::Random,
                seed: 1,
            };
            let root = OwnedFd::from(File::open(directory.path()).unwrap());
            Self { directory, open: OpenTree::open(tree, root, 1, true).unwrap() }
        }

        fn path(&self, generation: u32) -> PathBuf {
            let mut name = boatload_base::names::NameBuffer::default();
            let place = ItemId::File { number: 0, generation, directory: None };
            self.open.tree.push_name(place, &mut name);
            self.directory.path().join(std::str::from_utf8(name.as_bytes()).unwrap())
        }

        fn content(&self, versions: &[u32]) -> Vec<u8> {
            let copy = copy(0, versions);
            let mut bytes = vec![0; copy.bytes() as usize];
            ContentMaker::new(&self.open.tree).fill(0, &copy, 0, &mut bytes);
            bytes
        }

        fn fate(&self, content: &[u8], promise: &FilePromise) -> FileFate {
            std::fs::write(self.path(0), content).unwrap();
            CrashAudit::new(&self.open).fate(0, promise)
        }
    }

    #[test]
    fn a_file_is_kept_old_torn_or_missing() {
        let file = OneFile::new();
        let promise = promised(Some(copy(0, &[1])), None);
        assert_eq!(CrashAudit::new(&file.open).fate(0, &promise), FileFate::Missing);
        let (new, old) = (file.content(&[1]), file.content(&[0]));
        let half = [&new[..5_000], &old[5_000..]].concat();
        let longer = [&new[..], b"x"].concat();
        let empty: &[u8] = &[];
        for (content, fate) in [
            (&new[..], FileFate::Kept),
            (&old, FileFate::Old),
            (&half, FileFate::Torn),
            (&new[..9_999], FileFate::Torn),
            (&longer, FileFate::Torn),
            (empty, FileFate::Torn),
        ] {
            assert_eq!(file.fate(content, &promise), fate, "{} bytes", content.len());
        }
    }

    #[test]
    fn an_overwrite_that_had_begun_may_be_there_sector_by_sector_but_nothing_else_may() {
        let file = OneFile::new();
        let promise = promised(Some(copy(0, &[1])), Some(FileChange::Overwrite(piece(2))));
        let (promised, begun) = (file.content(&[1]), file.content(&[2]));
        let mixed = |at: usize| [&begun[..at], &promised[at..]].concat();
        assert_eq!(file.fate(&promised, &promise), FileFate::Kept);
        assert_eq!(file.fate(&begun, &promise), FileFate::Kept);
        assert_eq!(file.fate(&mixed(1_024), &promise), FileFate::Kept);
        assert_eq!(file.fate(&mixed(1_000), &promise), FileFate::Torn);
        assert_eq!(file.fate(&vec![0; BYTES as usize], &promise), FileFate::Torn);
        assert_eq!(file.fate(&begun[..9_000], &promise), FileFate::Torn);
    }

    #[test]
    fn a_replacement_that_had_begun_leaves_all_of_the_old_content_or_of_the_new_and_perhaps_its_new_file()
     {
        let file = OneFile::new();
        let change = |is_whole| FileChange::Exchange { piece: piece(2), is_whole };
        let promise = promised(Some(copy(0, &[1])), Some(change(true)));
        let (old, new) = (file.content(&[1]), file.content(&[2]));
        let half = [&new[..5_000], &old[5_000..]].concat();
        std::fs::write(file.path(1), &new[..5_000]).unwrap();
        let found = [&old, &new, &half, &vec![]].map(|content| file.fate(content, &promise));
        assert_eq!(found, [FileFate::Kept, FileFate::Kept, FileFate::Torn, FileFate::Torn]);
        let unsynced = promised(Some(copy(0, &[1])), Some(change(false)));
        assert_eq!(file.fate(&[], &unsynced), FileFate::Kept);
        let done = promised(Some(copy(0, &[2])), None);
        assert_eq!(file.fate(&new, &done), FileFate::Torn, "its new file is there too");
        std::fs::remove_file(file.path(0)).unwrap();
        std::fs::remove_file(file.path(1)).unwrap();
        assert_eq!(CrashAudit::new(&file.open).fate(0, &promise), FileFate::Missing);
    }

    #[test]
    fn of_an_append_that_had_begun_any_part_may_be_there_behind_what_was_promised() {
        let file = OneFile::new();
        let promise = promised(Some(copy(0, &[1])), Some(FileChange::Append(piece(2))));
        let whole = file.content(&[1, 2]);
        for end in [10_000, 12_345, 20_000] {
            assert_eq!(file.fate(&whole[..end], &promise), FileFate::Kept, "{end}");
        }
        assert_eq!(file.fate(&whole[..9_999], &promise), FileFate::Torn);
        assert_eq!(file.fate(&vec![0; 12_000], &promise), FileFate::Torn);
        assert!(file.fate(&whole, &promise) == FileFate::Kept);
        assert!(CrashAudit::new(&file.open).has_change(0, &promise));
    }

    #[test]
    fn of_a_truncation_that_had_begun_the_whole_file_or_its_half_may_be_there() {
        let file = OneFile::new();
        let promise = promised(Some(copy(0, &[1])), Some(FileChange::Halve));
        let whole = file.content(&[1]);
        for (end, fate) in [
            (10_000, FileFate::Kept),
            (5_000, FileFate::Kept),
            (7_500, FileFate::Torn),
            (0, FileFate::Torn),
        ] {
            assert_eq!(file.fate(&whole[..end], &promise), fate, "{end}");
        }
        assert_eq!(file.fate(&file.content(&[2])[..5_000], &promise), FileFate::Torn);
        let zeros = |from: usize| [&whole[..from], &vec![0; 10_000 - from]].concat();
        assert_eq!(file.fate(&zeros(5_000), &promise), FileFate::Kept);
        assert_eq!(file.fate(&zeros(4_999), &promise), FileFate::Torn);
    }

    #[test]
    fn what_was_removed_must_not_come_back_unless_its_removal_was_not_promised() {
        let file = OneFile::new();
        let content = file.content(&[0]);
        let gone = promised(None, None);
        assert_eq!(CrashAudit::new(&file.open).fate(0, &gone), FileFate::Kept);
        assert_eq!(file.fate(&content, &gone), FileFate::CameBack);
        let begun = promised(Some(copy(0, &[0])), Some(FileChange::Delete));
        assert_eq!(file.fate(&content, &begun), FileFate::Kept);
        std::fs::remove_file(file.path(0)).unwrap();
        assert_eq!(CrashAudit::new(&file.open).fate(0, &begun), FileFate::Kept);
    }

    #[test]
    fn a_renamed_file_has_its_new_name_or_either_while_that_is_not_promised() {
        let file = OneFile::new();
        let content = file.content(&[0]);
        let (renamed, begun) = (
            promised(Some(copy(1, &[0])), None),
            promised(Some(copy(0, &[0])), Some(FileChange::Rename)),
        );
        assert_eq!(file.fate(&content, &renamed), FileFate::Old);
        assert_eq!(file.fate(&content, &begun), FileFate::Kept);
        std::fs::rename(file.path(0), file.path(1)).unwrap();
        for promise in [&renamed, &begun] {
            assert_eq!(CrashAudit::new(&file.open).fate(0, promise), FileFate::Kept);
        }
        assert_eq!(file.fate(&content, &begun), FileFate::Torn, "it has both names");
    }
}
