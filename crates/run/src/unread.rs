//! Finds extents of ballast files that no phase reads: a state of an image is kept without their contents. The
//! files stay, with their names, sizes and blocks; whoever reads one finds zeros.

use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{Advice, Mode, OFlags};

use super::ballast::BallastState;
use super::content::{STAMP_BYTES, stamp_at};
use boatload_base::live_set::LiveSet;
use boatload_base::names::NameBuffer;
use boatload_host::layout::file_extents;
use boatload_host::space::Space;
use boatload_op::ItemId;
use boatload_plan::phase::OnBallast;
use boatload_plan::prepare::tree_of;
use boatload_plan::space::UNREAD_BYTES_MIN;
use boatload_plan::tree::Tree;

/// Most extents that are noted, in at most 24 MiB of memory.
const EXTENTS_MAX: usize = 1 << 18;

/// The beginning of up to this many extents is compared with the image before any is left out.
const COMPARED: usize = 64;

/// An extent of an image that no phase reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnreadExtent {
    /// Where it begins in the image.
    pub first: u64,
    /// Its length, in bytes.
    pub length: u64,
    /// What its first bytes are, if it lies there.
    pub stamp: [u8; STAMP_BYTES as usize],
}

impl UnreadExtent {
    /// Its bytes in the image.
    pub fn range(&self) -> Range<u64> {
        self.first..self.first.saturating_add(self.length)
    }
}

/// Extents of the files of a ballast below `root` that none of these phases reads, in the order of the device.
/// Files that cannot be opened, or whose place the file system does not report, have none.
pub fn unread_extents(
    state: &BallastState,
    root: BorrowedFd<'_>,
    read: &[OnBallast],
    stop: &AtomicBool,
) -> Vec<UnreadExtent> {
    let tree = tree_of(state.ballast(), state.live().length());
    let samples: Vec<LiveSet> = read.iter().map(|on| state.sample(on.most, on.salt)).collect();
    let is_unread = |number: &u64| {
        state.live().contains(*number)
            && tree.size(*number, 0) >= UNREAD_BYTES_MIN
            && !samples.iter().any(|sample| sample.contains(*number))
    };
    let block_bytes = Space::of(root).map_or(1, |space| space.block_bytes.max(1));
    let mut unread = Vec::new();
    for number in (0..state.live().length()).filter(is_unread) {
        if stop.load(Ordering::Relaxed) || unread.len() >= EXTENTS_MAX {
            break;
        }
        let Ok(file) = open(&tree, root, number) else { continue };
        let placed = file_extents(file.as_fd(), |extent| {
            let Some(stamp) = stamp_at(&tree, number, extent.offset) else { return };
            // Linux before 5.8 may report what xfs keeps behind the end of a file as written.
            let rest = (tree.size(number, 0) - extent.offset).next_multiple_of(block_bytes);
            if unread.len() < EXTENTS_MAX {
                let (first, length) = (extent.physical, extent.length.min(rest));
                unread.push(UnreadExtent { first, length, stamp });
            }
        });
        if placed.is_err() {
            break;
        }
    }
    unread.sort_unstable_by_key(|extent| extent.first);
    unread
}

fn open(tree: &Tree, root: BorrowedFd<'_>, number: u64) -> rustix::io::Result<OwnedFd> {
    let mut path = NameBuffer::default();
    tree.push_layout(tree.layout_of_holder(tree.holder_of(number)), &mut path);
    tree.push_name(ItemId::file(number), &mut path);
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NOATIME | OFlags::CLOEXEC;
    rustix::fs::openat(root, path.as_c_str(), flags, Mode::empty())
}

/// Whether an image holds these extents where FIEMAP reports them: each of up to [`COMPARED`] of them begins with
/// what its file does.
pub fn are_in_place(image: BorrowedFd<'_>, unread: &[UnreadExtent]) -> bool {
    // Without the advice, which may be refused, more is read than is compared.
    let _ = rustix::fs::fadvise(image, 0, None, Advice::Random);
    let distance = unread.len().div_ceil(COMPARED).max(1);
    let are_there = unread.iter().step_by(distance).all(|extent| {
        let mut found = [0; STAMP_BYTES as usize];
        let read = rustix::io::pread(image, &mut found, extent.first);
        read == Ok(found.len()) && found == extent.stamp
    });
    let _ = rustix::fs::fadvise(image, 0, None, Advice::Normal);
    are_there
}
