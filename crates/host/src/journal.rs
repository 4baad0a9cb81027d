//! Reads how large the journal of a file system is from its superblock, which mkfs wrote.

use crate::block_device::BlockDevice;

/// Bytes of a device that hold the superblocks of all that is known here.
const SUPERBLOCKS_BYTES: usize = 4096;

/// Where ext2, ext3 and ext4 have their superblock.
const EXT_OFFSET: usize = 1024;
const EXT_MAGIC: [u8; 2] = [0x53, 0xef];
/// The bit of its compatible features for a journal.
const EXT_HAS_JOURNAL: u32 = 0x4;
/// The superblock keeps a copy of the journal's inode, whose size stands in two halves.
const EXT_COPIES_INODE: u8 = 1;

/// Size of the journal or log of the file system on a device, in bytes; `None` if it has none of a
/// fixed size, as btrfs, or it is not known.
pub fn journal_bytes(device: &BlockDevice) -> Option<u64> {
    let opened = device.open(false).ok()?;
    let mut first = [0; SUPERBLOCKS_BYTES];
    let read = rustix::io::pread(&opened, &mut first, 0).ok()?;
    journal_of(&first[..read])
}

/// The same by the first bytes of the device.
pub(super) fn journal_of(first: &[u8]) -> Option<u64> {
    ext_journal(first.get(EXT_OFFSET..)?).or_else(|| xfs_log(first))
}

fn ext_journal(superblock: &[u8]) -> Option<u64> {
    let word = |at: usize| Some(u32::from_le_bytes(*superblock.get(at..)?.first_chunk()?));
    let is_ext = superblock.get(0x38..)?.starts_with(&EXT_MAGIC);
    let has_journal = word(0x5c)? & EXT_HAS_JOURNAL != 0;
    if !is_ext || !has_journal || *superblock.get(0xfd)? != EXT_COPIES_INODE {
        return None;
    }
    let bytes = (u64::from(word(0x148)?) << 32) | u64::from(word(0x14c)?);
    (bytes > 0).then_some(bytes)
}

fn xfs_log(superblock: &[u8]) -> Option<u64> {
    let word = |at: usize| Some(u32::from_be_bytes(*superblock.get(at..)?.first_chunk()?));
    let (block_bytes, log_blocks) = (word(4)?, word(96)?);
    superblock.starts_with(b"XFSB").then(|| u64::from(block_bytes) * u64::from(log_blocks))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ext(has_journal: bool, size: u64) -> Vec<u8> {
        let mut first = vec![0; SUPERBLOCKS_BYTES];
        let mut put = |at: usize, bytes: &[u8]| {
            first[EXT_OFFSET + at..EXT_OFFSET + at + bytes.len()].copy_from_slice(bytes);
        };
        put(0x38, &EXT_MAGIC);
        put(0x5c, &(0x38 | if has_journal { EXT_HAS_JOURNAL } else { 0 }).to_le_bytes());
        put(0xfd, &[EXT_COPIES_INODE]);
        put(0x148, &((size >> 32) as u32).to_le_bytes());
        put(0x14c, &(size as u32).to_le_bytes());
        first
    }

    #[test]
    fn the_journal_of_ext4_is_as_large_as_its_inode_says() {
        assert_eq!(journal_of(&ext(true, 64 << 20)), Some(64 << 20));
        assert_eq!(journal_of(&ext(true, 5 << 32)), Some(5 << 32));
        assert_eq!(journal_of(&ext(false, 64 << 20)), None, "ext2");
        assert_eq!(journal_of(&ext(true, 0)), None, "on another device");
    }

    #[test]
    fn the_log_of_xfs_is_counted_in_blocks() {
        let mut first = vec![0; SUPERBLOCKS_BYTES];
        first[..4].copy_from_slice(b"XFSB");
        first[4..8].copy_from_slice(&4096_u32.to_be_bytes());
        first[96..100].copy_from_slice(&16_384_u32.to_be_bytes());
        assert_eq!(journal_of(&first), Some(64 << 20));
    }

    #[test]
    fn what_is_neither_has_none_however_short_it_is() {
        for length in [0, 3, 1_024, 1_100, SUPERBLOCKS_BYTES] {
            assert_eq!(journal_of(&vec![0; length]), None, "{length}");
            assert_eq!(journal_of(&ext(true, 1)[..length.min(1_300)]), None, "{length}");
        }
    }
}
