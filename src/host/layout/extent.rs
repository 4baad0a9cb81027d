//! Counting how many blocks of a file follow the one before them, from its extents.

/// The last extent of its file.
pub(super) const LAST: u32 = 0x0001;
/// The place is not known, or not yet.
const UNKNOWN: u32 = 0x0002;
/// Written and not yet placed; sets `UNKNOWN`.
const DELALLOC: u32 = 0x0004;
/// What lies on the device is not what the file holds: compressed.
const ENCODED: u32 = 0x0008;
/// Not in whole blocks. Also set for data among metadata and for tails of several files in a block.
const NOT_ALIGNED: u32 = 0x0100;
/// Among metadata; sets `NOT_ALIGNED`.
const DATA_INLINE: u32 = 0x0200;
/// In a block with the tails of other files; sets `NOT_ALIGNED`.
const DATA_TAIL: u32 = 0x0400;

/// One run of a file's bytes on the device, in bytes, with the flags of linux/fiemap.h.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Extent {
    pub(super) logical: u64,
    pub(super) physical: u64,
    pub(super) length: u64,
    pub(super) flags: u32,
}

impl Extent {
    fn has(self, flags: u32) -> bool {
        self.flags & flags != 0
    }

    /// Whether `next` begins where this one ends. A hole between them in the file is no break: it
    /// has no block, and a reader finds the next one under its head all the same. How long
    /// compressed data is on the device is not told, only that it is no longer than in the file:
    /// what begins within that length follows.
    fn leads_to(self, next: Extent) -> bool {
        let end = self.physical.saturating_add(self.length);
        match self.has(ENCODED) {
            true => (self.physical..=end).contains(&next.physical),
            false => end == next.physical,
        }
    }
}

/// How one file lies on its device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileLayout {
    /// Pairs of neighbouring blocks that are neighbours on the device too.
    pub followed: u64,
    /// Pairs of neighbouring blocks of the file.
    pub pairs: u64,
    /// Runs of blocks on the device that the kernel named, inline ones left out.
    pub extents: u64,
    /// Some of it lies in no block of its own.
    pub inline: bool,
    /// Some of it has no place on the device yet.
    pub delayed: bool,
    /// Some of it is compressed; there only the steps from extent to extent count as pairs.
    pub encoded: bool,
}

/// Why a file is left out of a score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LeftOut {
    /// It has one block, one compressed extent, or nothing on the device: nothing follows anything.
    Short,
    /// It lies among metadata, or shares a block with others.
    Inline,
    /// It was written and has no place yet, or none that the file system tells.
    Delayed,
    /// It could not be opened or asked; a directory that could not be read or lies too deep.
    Unreadable,
}

impl LeftOut {
    /// In a few words: `delayed`.
    pub fn words(self) -> &'static str {
        match self {
            Self::Short => "of one block or none",
            Self::Inline => "inline",
            Self::Delayed => "delayed",
            Self::Unreadable => "unreadable",
        }
    }
}

impl FileLayout {
    /// Why it is left out of a score; none if it counts. A file that is not placed whole is left
    /// out whole: the end of its last block is still to come.
    pub fn left_out(&self) -> Option<LeftOut> {
        match self {
            Self { delayed: true, .. } => Some(LeftOut::Delayed),
            Self { pairs: 1.., .. } => None,
            Self { inline: true, .. } => Some(LeftOut::Inline),
            _ => Some(LeftOut::Short),
        }
    }
}

/// Takes in a file's extents one by one.
pub(super) struct Counter {
    block_bytes: u64,
    before: Option<Extent>,
    layout: FileLayout,
}

impl Counter {
    pub(super) fn new(block_bytes: u64) -> Self {
        Self { block_bytes: block_bytes.max(1), before: None, layout: FileLayout::default() }
    }

    pub(super) fn take(&mut self, extent: Extent) {
        if extent.has(UNKNOWN | DELALLOC) {
            self.layout.delayed = true;
        } else if extent.has(NOT_ALIGNED | DATA_INLINE | DATA_TAIL) {
            self.layout.inline = true;
        } else if extent.length > 0 {
            self.count(extent);
        }
    }

    fn count(&mut self, extent: Extent) {
        let layout = &mut self.layout;
        layout.extents += 1;
        if extent.has(ENCODED) {
            layout.encoded = true;
        } else {
            let inside = extent.length.div_ceil(self.block_bytes) - 1;
            layout.pairs = layout.pairs.saturating_add(inside);
            layout.followed = layout.followed.saturating_add(inside);
        }
        if let Some(before) = self.before.replace(extent) {
            layout.pairs = layout.pairs.saturating_add(1);
            layout.followed = layout.followed.saturating_add(before.leads_to(extent).into());
        }
    }

    pub(super) fn finish(self) -> FileLayout {
        self.layout
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCK: u64 = 4096;

    /// Unwritten, shared, merged, encrypted: allocated like any other.
    const HARMLESS: [u32; 4] = [0x0800, 0x2000, 0x1000, 0x0080];

    /// Extents given as (first block in the file, first block on the device, blocks, flags).
    fn layout(extents: &[(u64, u64, u64, u32)]) -> FileLayout {
        let mut counter = Counter::new(BLOCK);
        for (logical, physical, blocks, flags) in extents {
            counter.take(Extent {
                logical: logical * BLOCK,
                physical: physical * BLOCK,
                length: blocks * BLOCK,
                flags: *flags,
            });
        }
        counter.finish()
    }

    fn pairs(extents: &[(u64, u64, u64, u32)]) -> (u64, u64) {
        let layout = layout(extents);
        assert_eq!(layout.left_out(), None, "{extents:?}");
        (layout.followed, layout.pairs)
    }

    #[test]
    fn the_first_block_has_none_before_it_and_all_others_count() {
        assert_eq!(pairs(&[(0, 100, 8, LAST)]), (7, 7));
        assert_eq!(pairs(&[(0, 100, 4, 0), (4, 200, 4, LAST)]), (6, 7));
        assert_eq!(pairs(&[(0, 9, 1, 0), (1, 5, 1, 0), (2, 7, 1, LAST)]), (0, 2));
    }

    #[test]
    fn two_extents_that_touch_on_the_device_are_as_good_as_one() {
        assert_eq!(pairs(&[(0, 100, 4, 0), (4, 104, 4, LAST)]), (7, 7));
        assert_eq!(pairs(&[(0, 104, 4, 0), (4, 100, 4, LAST)]), (6, 7), "backwards is a jump");
    }

    #[test]
    fn a_file_of_one_block_or_none_says_nothing() {
        for short in [&[(0, 100, 1, LAST)][..], &[]] {
            assert_eq!(layout(short).left_out(), Some(LeftOut::Short));
        }
    }

    #[test]
    fn a_hole_is_no_break_unless_blocks_lie_between() {
        assert_eq!(pairs(&[(0, 100, 4, 0), (50, 104, 4, LAST)]), (7, 7));
        assert_eq!(pairs(&[(0, 100, 4, 0), (50, 150, 4, LAST)]), (6, 7));
    }

    #[test]
    fn space_that_is_unwritten_shared_merged_or_encrypted_counts_as_any_other() {
        for flags in HARMLESS {
            assert_eq!(pairs(&[(0, 10, 3, flags), (3, 20, 2, flags | LAST)]), (3, 4), "{flags:#x}");
        }
    }

    #[test]
    fn a_file_that_is_not_placed_whole_is_delayed() {
        for flags in [DELALLOC | UNKNOWN, UNKNOWN] {
            let half = layout(&[(0, 100, 8, 0), (8, 0, 8, flags | LAST)]);
            assert_eq!(half.left_out(), Some(LeftOut::Delayed), "{flags:#x}");
        }
    }

    #[test]
    fn data_without_a_block_of_its_own_is_inline_and_blocks_beside_it_count() {
        for flags in [NOT_ALIGNED, DATA_INLINE | NOT_ALIGNED, DATA_TAIL | NOT_ALIGNED] {
            let inline = layout(&[(0, 0, 1, flags | LAST)]);
            assert_eq!((inline.left_out(), inline.extents), (Some(LeftOut::Inline), 0));
            let tail = layout(&[(0, 100, 4, 0), (4, 7, 1, flags | LAST)]);
            assert_eq!((tail.left_out(), tail.followed, tail.pairs), (None, 3, 3));
        }
    }

    #[test]
    fn of_compressed_data_only_the_steps_between_extents_count() {
        let at = |physical: [u64; 3]| {
            let [a, b, c] = physical;
            layout(&[(0, a, 32, ENCODED), (32, b, 32, ENCODED), (64, c, 32, ENCODED | LAST)])
        };
        let packed = at([100, 103, 135]);
        assert_eq!((packed.followed, packed.pairs, packed.encoded), (2, 2, true));
        assert_eq!(at([100, 103, 136]).followed, 1, "further than its length in the file");
        assert_eq!(at([100, 103, 50]).followed, 1, "backwards");
        let one = layout(&[(0, 100, 32, ENCODED | LAST)]);
        assert_eq!(one.left_out(), Some(LeftOut::Short));
        let mixed = layout(&[(0, 100, 32, ENCODED), (32, 110, 8, LAST)]);
        assert_eq!((mixed.followed, mixed.pairs), (8, 8));
    }

    #[test]
    fn extents_beyond_all_measure_do_not_overflow() {
        let mut counter = Counter::new(0);
        for flags in [0, ENCODED, 0, 0] {
            counter.take(Extent { logical: 0, physical: u64::MAX, length: u64::MAX, flags });
        }
        assert_eq!(counter.finish().pairs, u64::MAX);
    }
}
