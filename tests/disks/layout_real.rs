//! The layout score on file systems made for the purpose, against filefrag(8).
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::common;

use std::fs::File;
use std::io::Write;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Command;

use boatload::base::errno::Errno;
use boatload::host::layout::{FileLayout, LayoutScore, ScoreLimits, layout_of, score_below};

use common::{LoopMount, output, skip};

/// Each with enough MiB for its mkfs.
const FILESYSTEMS: [(&str, u64); 3] = [("ext4", 64), ("xfs", 320), ("btrfs", 128)];

const BLOCK: u64 = 4096;

const EVER: ScoreLimits<'_> = ScoreLimits { files_most: u64::MAX, go_on: &|| true };

fn mounted() -> impl Iterator<Item = (&'static str, LoopMount)> {
    FILESYSTEMS.into_iter().filter_map(|(fs, mb)| Some((fs, LoopMount::new(fs, mb)?)))
}

/// Content that does not compress, different in each block.
fn content(blocks: u64) -> Vec<u8> {
    let mut word = 0x9e37_79b9_7f4a_7c15_u64;
    let draw = |_| {
        word ^= word << 13;
        word ^= word >> 7;
        word ^= word << 17;
        word.to_le_bytes()
    };
    (0..blocks * BLOCK / 8).flat_map(draw).collect()
}

fn whole(path: &Path, blocks: u64) {
    let mut file = File::create(path).unwrap();
    file.write_all(&content(blocks)).unwrap();
    file.sync_all().unwrap();
}

/// Two files that grow by turns, each block written out before the next is asked for.
fn by_turns(directory: &Path, blocks: u64) {
    let files = ["left", "right"].map(|name| File::create(directory.join(name)).unwrap());
    let content = content(1);
    for block in 0..blocks {
        for file in &files {
            file.write_all_at(&content, block * BLOCK).unwrap();
            file.sync_all().unwrap();
        }
    }
}

/// Every second block of a file, as many as given.
fn with_holes(path: &Path, blocks: u64) {
    let file = File::create(path).unwrap();
    let content = content(1);
    for block in 0..blocks {
        file.write_all_at(&content, 2 * block * BLOCK).unwrap();
    }
    file.sync_all().unwrap();
}

fn of_file(file: &impl AsFd) -> Result<FileLayout, Errno> {
    layout_of(file.as_fd(), rustix::fs::fstatvfs(file).unwrap().f_frsize)
}

fn file(path: &Path) -> FileLayout {
    of_file(&File::open(path).unwrap()).unwrap()
}

fn score(directory: &Path) -> LayoutScore {
    score_below(File::open(directory).unwrap().as_fd(), EVER).unwrap()
}

fn share(layout: FileLayout) -> f64 {
    layout.followed as f64 / layout.pairs as f64
}

/// Extents of a file as filefrag lists them, and how many of them begin elsewhere than where the
/// one before ended.
pub(crate) fn filefrag(path: &Path) -> Option<(u64, u64)> {
    let listed = output("filefrag", &["-v", path.to_str().unwrap()])?;
    let number = |text: &str| text.trim().trim_end_matches('.').parse::<u64>().unwrap();
    let (mut extents, mut jumps, mut end) = (0, 0, None);
    for line in listed.lines() {
        let fields: Vec<_> = line.split(':').collect();
        if fields.len() < 4 || fields[0].trim().parse::<u64>().is_err() {
            continue;
        }
        let (first, last) = fields[2].split_once("..").unwrap();
        extents += 1;
        jumps += u64::from(end.is_some_and(|end| end + 1 != number(first)));
        end = Some(number(last));
    }
    Some((extents, jumps))
}

/// Times that a layout is read anew because it changed meanwhile: xfs joins extents in the background.
const TRIES: u32 = 20;

fn agrees_with_filefrag(path: &Path, what: &str) {
    let found = || {
        let found = file(path);
        (found.extents, found.pairs - found.followed)
    };
    for _ in 0..TRIES {
        let before = found();
        let Some(listed) = filefrag(path) else {
            return skip("layout against filefrag", "no filefrag (e2fsprogs)");
        };
        if found() == before {
            return assert_eq!(before, listed, "{what}");
        }
    }
    panic!("{what}: the layout kept changing");
}

/// Leaves free only single blocks with used ones between: twice as many as given.
fn free_in_pieces(directory: &Path, blocks: u64) {
    use rustix::fs::FallocateFlags;
    let filler = File::create(directory.join("filler")).unwrap();
    let mut end = 0;
    for step in (0..=28).rev().map(|power| BLOCK << power) {
        while rustix::fs::fallocate(&filler, FallocateFlags::empty(), end, step).is_ok() {
            end += step;
        }
    }
    let punch = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    for block in 0..2 * blocks {
        rustix::fs::fallocate(&filler, punch, 2 * block * BLOCK, BLOCK).unwrap();
    }
    filler.sync_all().unwrap();
}

#[test]
fn a_file_that_fills_the_gaps_between_others_scores_low() {
    let mount = LoopMount::with("ext4", 64, &["-b", "4096"], "loop");
    let Some(mount) = mount else { return };
    free_in_pieces(mount.path(), 512);
    let path = mount.path().join("pieces");
    whole(&path, 512);
    let found = file(&path);
    assert!(share(found) < 0.2, "{found:?}");
    assert!(found.extents > 128, "more than one call brings: {found:?}");
    agrees_with_filefrag(&path, "ext4, in pieces");
}

#[test]
fn a_copy_that_shares_every_second_block_scores_low_and_its_original_does_not() {
    for (fs, megabytes) in [("xfs", 320), ("btrfs", 128)] {
        let Some(mount) = LoopMount::new(fs, megabytes) else { continue };
        let (original, path) = (mount.path().join("original"), mount.path().join("copy"));
        whole(&original, 512);
        let copy = File::create(&path).unwrap();
        if rustix::fs::ioctl_ficlone(&copy, File::open(&original).unwrap()).is_err() {
            skip(&format!("shared blocks on {fs}"), "it was made without them");
            continue;
        }
        assert_eq!(share(file(&path)), share(file(&original)), "{fs}: sharing is no break");
        let content = content(1);
        for block in (0..512).step_by(2) {
            copy.write_all_at(&content, block * BLOCK).unwrap();
        }
        copy.sync_all().unwrap();
        let found = file(&path);
        assert!(share(found) < 0.1, "{fs}: {found:?}");
        assert!(share(file(&original)) > 0.98, "{fs}");
        agrees_with_filefrag(&path, &format!("{fs}, copy"));
    }
}

#[test]
fn a_file_written_whole_lies_in_one_piece_and_files_that_grow_by_turns_lie_as_filefrag_says() {
    for (fs, mount) in mounted() {
        let path = mount.path().join("whole");
        whole(&path, 512);
        let in_one_piece = file(&path);
        assert!(share(in_one_piece) > 0.98, "{fs}: {in_one_piece:?}");
        agrees_with_filefrag(&path, &format!("{fs}, whole"));

        let turns = mount.path().join("turns");
        std::fs::create_dir(&turns).unwrap();
        by_turns(&turns, 300);
        for name in ["left", "right"] {
            agrees_with_filefrag(&turns.join(name), &format!("{fs}, by turns"));
        }
        // ext4 and xfs keep space beside a file that grows; btrfs takes the next free block.
        let found = score(&turns);
        assert_eq!(found.files, 2, "{fs}: {found:?}");
        assert!(fs != "btrfs" || found.score() < Some(0.1), "{fs}: {found:?}");
    }
}

#[test]
fn extents_beside_holes_are_all_counted_also_over_several_calls() {
    for (fs, mount) in mounted() {
        let path = mount.path().join("holes");
        with_holes(&path, 400);
        let found = file(&path);
        assert!(found.extents >= 400, "{fs}: {found:?}");
        agrees_with_filefrag(&path, &format!("{fs}, with holes"));
    }
}

#[test]
fn a_file_among_metadata_is_left_out() {
    let inline_data = LoopMount::with("ext4", 64, &["-O", "inline_data"], "loop");
    for (fs, mount) in [("ext4", inline_data), ("btrfs", LoopMount::new("btrfs", 128))] {
        let Some(mount) = mount else { continue };
        std::fs::write(mount.path().join("small"), "a few bytes").unwrap();
        rustix::fs::syncfs(File::open(mount.path()).unwrap()).unwrap();
        let score = score(mount.path());
        assert_eq!((score.files, score.score()), (0, None), "{fs}");
        assert_eq!(score.left_out, 1, "{fs}");
    }
}

#[test]
fn compressed_files_are_counted_by_their_extents() {
    let mount = LoopMount::with("btrfs", 128, &[], "loop,compress-force=zstd");
    let Some(mount) = mount else { return };
    let path = mount.path().join("compressed");
    let mut text = File::create(&path).unwrap();
    text.write_all(b"a line that is much like the next\n".repeat(100_000).as_slice()).unwrap();
    text.sync_all().unwrap();
    let found = file(&path);
    assert!(found.encoded && found.extents > 20, "{found:?}");
    assert_eq!(found.pairs, found.extents - 1);
    assert!(share(found) > 0.9, "{found:?}");
    assert_eq!((score(mount.path()).files, score(mount.path()).encoded), (1, 1));
}

#[test]
fn what_was_written_and_not_yet_placed_is_delayed() {
    for (fs, mount) in mounted() {
        let path = mount.path().join("new");
        // The kernel may write it out unasked at any moment, but not ten times in a row.
        let delayed = (0..10).any(|_| {
            let mut new = File::create(&path).unwrap();
            new.write_all(&content(64)).unwrap();
            let found = of_file(&new).unwrap();
            new.sync_all().unwrap();
            assert!(file(&path).counts(), "{fs}");
            found.delayed
        });
        assert!(delayed, "{fs}");
    }
}

#[test]
fn the_walk_takes_regular_files_only_and_stays_on_its_mount_and_within_its_bound() {
    let Some(mount) = LoopMount::new("ext4", 64) else { return };
    let Some(other) = LoopMount::new("ext4", 64) else { return };
    whole(&other.path().join("elsewhere"), 4);
    let at = |name: &str| mount.path().join(name);
    for name in ["a", "a/b", "mounted"] {
        std::fs::create_dir(at(name)).unwrap();
    }
    for name in ["one", "a/two", "a/b/three"] {
        whole(&at(name), 4);
    }
    std::os::unix::fs::symlink(other.path(), at("link")).unwrap();
    std::os::unix::fs::symlink(other.path().join("elsewhere"), at("a/link")).unwrap();
    for fifo in ["fifo", "a/fifo"] {
        assert!(Command::new("mkfifo").arg(at(fifo)).status().unwrap().success());
    }
    let bind = Command::new("mount").arg("--bind").arg(other.path()).arg(at("mounted")).status();
    assert!(bind.unwrap().success());
    let directory = File::open(mount.path()).unwrap();
    let found = score_below(directory.as_fd(), EVER);
    let bounded = score_below(directory.as_fd(), ScoreLimits { files_most: 2, ..EVER });
    let exact = score_below(directory.as_fd(), ScoreLimits { files_most: 3, ..EVER });
    let stopped = score_below(directory.as_fd(), ScoreLimits { go_on: &|| false, ..EVER });
    let unmounted = Command::new("umount").arg(at("mounted")).status();
    assert!(unmounted.unwrap().success());
    assert_eq!(found.clone().map(|s| (s.files, s.seen(), s.cut)), Ok((3, 3, false)));
    assert_eq!(exact, found);
    assert_eq!(bounded.map(|s| (s.seen(), s.cut)), Ok((2, true)));
    assert_eq!(stopped.map(|s| (s.seen(), s.cut)), Ok((0, true)));
}

#[test]
fn a_file_system_without_places_says_so() {
    let memory = rustix::fs::memfd_create(c"test", rustix::fs::MemfdFlags::CLOEXEC).unwrap();
    assert_eq!(of_file(&memory), Err(Errno::EOPNOTSUPP));
}
