//! Samples of trees on file systems made for the purpose, against filefrag(8).
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::common;
use crate::layout_real::filefrag;
use crate::mounts;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::Command;

use boatload::analysis::layout::LayoutSurvey;
use boatload::host::layout::{LayoutSample, SampleLimits, sample_below};

use crate::command::{Bench, Ran};
use common::{LoopMount, skip};

/// Each with enough MiB for its mkfs.
const FILESYSTEMS: [(&str, u64); 3] = [("ext4", 64), ("xfs", 320), ("btrfs", 128)];

const BLOCK: u64 = 4096;

const EVER: SampleLimits<'_> =
    SampleLimits { files_most: 1_000_000, seed: 1, go_on_listing: &|| true, go_on: &|| true };

fn sample(directory: &Path, limits: SampleLimits<'_>) -> LayoutSample {
    sample_below(File::open(directory).unwrap().as_fd(), limits).unwrap()
}

/// Files that grow by turns, each block written out before the next, and files that are written whole.
fn make_tree(root: &Path) {
    let content: Vec<u8> = (0..BLOCK * 40).map(|n| ((n * 2_654_435_761) >> 7) as u8).collect();
    let turns = root.join("turns");
    std::fs::create_dir(&turns).unwrap();
    let files: Vec<File> =
        (0..4).map(|n| File::create(turns.join(format!("turn {n}"))).unwrap()).collect();
    for block in 0..20 {
        for file in &files {
            // With a hole after each block, what a file system keeps beside a file that grows does not join them.
            file.write_all_at(&content[..BLOCK as usize], block * 2 * BLOCK).unwrap();
            file.sync_all().unwrap();
        }
    }
    let whole = root.join("whole");
    std::fs::create_dir(&whole).unwrap();
    for n in 0..30 {
        let path = whole.join(format!("whole {n}"));
        std::fs::write(&path, &content).unwrap();
        File::open(&path).unwrap().sync_all().unwrap();
    }
}

/// Pieces of a file: extents that filefrag lists, those that touch on the device joined.
fn pieces(path: &Path) -> Option<u64> {
    filefrag(path).map(|(extents, jumps)| jumps + u64::from(extents > 0))
}

#[test]
fn pieces_of_a_tree_are_those_that_filefrag_lists() {
    for (fs, megabytes) in FILESYSTEMS {
        let Some(mount) = LoopMount::new(fs, megabytes) else { continue };
        make_tree(mount.path());
        let paths =
            ["turns", "whole"].map(|name| std::fs::read_dir(mount.path().join(name)).unwrap());
        let paths: Vec<_> =
            paths.into_iter().flatten().map(|entry| entry.unwrap().path()).collect();
        let listed: Option<Vec<u64>> = paths.iter().map(|path| pieces(path)).collect();
        let Some(listed) = listed else { return skip("samples against filefrag", "no filefrag") };
        let found = sample(mount.path(), EVER);
        let survey = LayoutSurvey::of(&found);
        let seen: Vec<_> = found.sampled.iter().filter_map(|file| file.layout).collect();
        assert_eq!(seen.len(), paths.len(), "{fs}: {found:?}");
        let mean = listed.iter().sum::<u64>() as f64 / listed.len() as f64;
        assert_eq!(survey.pieces_mean, Some(mean), "{fs}: {listed:?}");
        assert_eq!(survey.pieces_max, listed.iter().copied().max().unwrap(), "{fs}");
        let whole = listed.iter().filter(|pieces| **pieces == 1).count() as f64;
        let one_piece = survey.one_piece.unwrap();
        assert_eq!(one_piece.value, whole / listed.len() as f64, "{fs}: {listed:?}");
        assert_eq!(one_piece.interval, None, "all were seen");
        assert!(listed.iter().any(|pieces| *pieces > 1), "{fs}: nothing is in pieces: {listed:?}");
        assert!(whole >= 20.0, "{fs}: {listed:?}");
    }
}

#[test]
fn sizes_and_space_are_those_of_stat() {
    let Some(mount) = LoopMount::new("ext4", 64) else { return };
    make_tree(mount.path());
    std::fs::remove_dir(mount.path().join("lost+found")).unwrap();
    let found = sample(mount.path(), EVER);
    let mut sizes: Vec<_> =
        found.sampled.iter().map(|file| (file.size_bytes, file.allocated_bytes)).collect();
    let listed = ["turns", "whole"].map(|name| std::fs::read_dir(mount.path().join(name)).unwrap());
    let told = listed.into_iter().flatten().map(|entry| entry.unwrap().metadata().unwrap());
    let mut told: Vec<_> = told.map(|stat| (stat.size(), stat.blocks() * 512)).collect();
    sizes.sort_unstable();
    told.sort_unstable();
    assert_eq!(sizes, told);
    let mut entries = found.directory_entries;
    entries.sort_unstable();
    assert_eq!(entries, [2, 4, 30], "the root, and two below it");
}

/// A tree of a thousand small files, in a directory of the test.
fn thousand() -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    for directory in 0..10 {
        let place = root.path().join(format!("{directory}/below"));
        std::fs::create_dir_all(&place).unwrap();
        (0..100).for_each(|n| std::fs::write(place.join(n.to_string()), vec![1; n]).unwrap());
    }
    root
}

#[test]
fn a_sample_is_as_large_as_asked_follows_from_its_seed_and_takes_each_file_as_often_as_others() {
    let root = thousand();
    let drawn = |seed| {
        let found = sample(root.path(), SampleLimits { files_most: 50, seed, ..EVER });
        assert_eq!((found.files, found.sampled.len()), (1_000, 50));
        assert!(!found.is_listing_cut && !found.is_look_cut);
        found.sampled.iter().map(|file| file.size_bytes).collect::<Vec<_>>()
    };
    assert_eq!(drawn(7), drawn(7));
    assert_ne!(drawn(7), drawn(8));
    let mut counts = BTreeMap::<u64, u32>::new();
    (0..100).flat_map(drawn).for_each(|size| *counts.entry(size / 10).or_default() += 1);
    // 500 of 5,000 are expected in each tenth of the sizes; five standard deviations are 106.
    assert!(counts.len() == 10 && counts.values().all(|n| (394..=606).contains(n)), "{counts:?}");
}

#[test]
fn where_time_is_over_it_ends_and_says_what_it_did_not_see() {
    let root = thousand();
    let cut = |limits| {
        let found = sample(root.path(), limits);
        (found.is_listing_cut, found.is_look_cut, found.sampled.len())
    };
    assert_eq!(cut(SampleLimits { go_on_listing: &|| false, ..EVER }), (true, false, 0));
    let left = std::cell::Cell::new(9);
    let nine = || {
        left.set(left.get() - 1);
        left.get() >= 0
    };
    assert_eq!(cut(SampleLimits { go_on: &nine, ..EVER }), (false, true, 9));
}

#[test]
fn links_pipes_and_other_mounts_are_no_part_of_a_tree_and_access_times_stay() {
    let root = tempfile::tempdir().unwrap();
    let at = |name: &str| root.path().join(name);
    for name in ["place", "mounted", "elsewhere"] {
        std::fs::create_dir(at(name)).unwrap();
    }
    std::fs::write(at("place/file"), "content").unwrap();
    std::os::unix::fs::symlink("/etc", at("place/directory link")).unwrap();
    std::os::unix::fs::symlink("file", at("place/file link")).unwrap();
    assert!(Command::new("mkfifo").arg(at("place/pipe")).status().unwrap().success());
    let old = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
    let times = std::fs::FileTimes::new().set_accessed(old);
    for name in ["place", "place/file"] {
        File::open(at(name)).unwrap().set_times(times).unwrap();
    }
    let mounted = mounts::Mounted::tmpfs(&at("mounted"), "size=1m");
    match &mounted {
        Ok(_) => std::fs::write(at("mounted/other"), "elsewhere").unwrap(),
        Err(why) => skip("a mount below a tree that is sampled", why),
    }
    let found = sample(root.path(), EVER);
    assert_eq!((found.files, found.sampled.len()), (1, 1), "{found:?}");
    assert_eq!(found.mounts, u64::from(mounted.is_ok()), "{found:?}");
    for name in ["place", "place/file"] {
        assert_eq!(std::fs::metadata(at(name)).unwrap().accessed().unwrap(), old, "{name}");
    }
}

#[test]
fn names_of_all_kinds_one_file_and_none_are_sampled() {
    let root = tempfile::tempdir().unwrap();
    let empty = sample(root.path(), EVER);
    assert_eq!((empty.files, empty.directory_entries.as_slice()), (0, &[0][..]));
    let names: [&[u8]; 5] = [b"a b", b"new\nline", b"\xff\xfe", b"-v", b"\x1b[31m"];
    for name in names {
        let place = root.path().join(OsStr::from_bytes(name));
        std::fs::create_dir(&place).unwrap();
        std::fs::write(place.join(OsStr::from_bytes(name)), name).unwrap();
    }
    let mut deep = root.path().join("deep");
    for _ in 0..100 {
        deep = deep.join("d".repeat(30));
    }
    std::fs::create_dir_all(&deep).unwrap();
    std::fs::write(deep.join("file"), "deep").unwrap();
    let found = sample(root.path(), EVER);
    assert_eq!((found.files, found.sampled.len(), found.unreadable_directories), (6, 6, 0));
}

#[test]
fn without_root_what_cannot_be_read_is_counted_and_the_rest_is_seen() {
    let bench = Bench::default();
    let mut command = match bench.as_nobody() {
        Ok((_, command)) => command,
        Err(why) => return skip("a tree with a part that cannot be read", why),
    };
    let root = tempfile::tempdir().unwrap();
    let at = |name: &str| root.path().join(name);
    let closed = |name: &str, mode| {
        std::fs::set_permissions(at(name), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    for name in ["open", "closed"] {
        std::fs::create_dir(at(name)).unwrap();
        std::fs::write(at(name).join("file"), vec![7; 9_000]).unwrap();
        File::open(at(name).join("file")).unwrap().sync_all().unwrap();
    }
    std::fs::write(at("open/secret"), vec![7; 9_000]).unwrap();
    closed("", 0o755);
    closed("closed", 0o700);
    closed("open/secret", 0o600);
    let ran = Ran::of(command.arg("inspect").arg(root.path()).arg("--layout"));
    let text = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("1 file that cannot be opened or asked"), "{text}");
    assert!(text.contains("1 directory that cannot be listed"), "{text}");
    assert!(text.contains("looked at all 2 files in 2 directories"), "{text}");
}
