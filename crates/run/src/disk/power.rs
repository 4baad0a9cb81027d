//! Cuts the power of a modelled disk. Its write cache is volatile: a write that no flush has followed is
//! kept, dropped, or torn at the borders of blocks when the power goes. The loop driver has no FUA of its
//! own: the kernel makes it a write and a flush.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use crate::clock::monotonic_ns;
use boatload_base::random::{Stream, below, draw, mix, unit};

/// What the write cache holds at most; then the oldest writes go to the disk, as in any cache.
const CACHE_BYTES_MAX: u64 = 64 << 20;

/// One of this many unflushed writes is torn; the others are kept or dropped as a whole.
const TORN_ONE_OF: u64 = 4;

/// Aligned blocks of this size are taken to be written wholly or not at all: the physical blocks of disks since
/// about 2011, whatever their logical blocks.
pub(super) const ATOMIC_BYTES: u32 = 4096;

/// When the power is to go, and what decides which writes are left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CutOrder {
    /// After this many more writes and flushes; at once if 0.
    pub(super) after: u64,
    /// Which unflushed writes are kept follows from it.
    pub(super) seed: u64,
}

/// A power cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PowerCut {
    /// When it was, by the kernel's monotonic clock: every request that was answered before is done.
    pub at_ns: u64,
    /// Writes that no flush had followed.
    pub unflushed: u64,
    /// Blocks of these writes that are on the disk all the same.
    pub blocks_kept: u64,
    /// Blocks of these writes that are not.
    pub blocks_dropped: u64,
}

/// How a disk treats its write cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CacheLaw {
    /// A write is torn at the borders of blocks of this size.
    pub(super) block_bytes: u32,
    /// Whether a flush makes the writes before it durable.
    pub(super) honours_flush: bool,
}

/// The power of a disk that is served from an image; at first its cache is not followed.
#[derive(Default)]
pub(super) struct DiskPower {
    /// Whether the cache is followed or the power is off: looked at for each request.
    is_followed: AtomicBool,
    state: Mutex<PowerState>,
}

#[derive(Default)]
enum PowerState {
    /// All that is written stays.
    #[default]
    Plain,
    /// The cache is followed, so that the power can be cut.
    Followed {
        cache: WriteCache,
        order: Option<CutOrder>,
    },
    Off(PowerCut),
}

impl DiskPower {
    fn state(&self) -> MutexGuard<'_, PowerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Follows the cache from now on; what was written before is durable.
    pub(super) fn follow(&self, law: CacheLaw) {
        *self.state() = PowerState::Followed { cache: WriteCache::new(law), order: None };
        self.is_followed.store(true, Ordering::SeqCst);
    }

    /// Gives the power again; the cache is no longer followed.
    pub(super) fn restore(&self) {
        *self.state() = PowerState::Plain;
        self.is_followed.store(false, Ordering::SeqCst);
    }

    /// Cuts the power when the order says.
    ///
    /// # Errors
    /// If the image cannot be read or written.
    pub(super) fn cut(&self, order: CutOrder, image: &File) -> io::Result<()> {
        let mut state = self.state();
        if let PowerState::Followed { order: ordered, .. } = &mut *state {
            *ordered = Some(order);
            if order.after == 0 {
                return go_dark(&mut state, order.seed, image);
            }
        }
        Ok(())
    }

    /// The cut, once it has happened.
    pub(super) fn last_cut(&self) -> Option<PowerCut> {
        match &*self.state() {
            PowerState::Off(cut) => Some(*cut),
            PowerState::Plain | PowerState::Followed { .. } => None,
        }
    }

    /// Whether the cache is followed or the power is off.
    pub(super) fn is_followed(&self) -> bool {
        self.is_followed.load(Ordering::SeqCst)
    }

    /// Reads from the image, as far as there is power.
    ///
    /// # Errors
    /// What the image says, and `EIO` without power.
    pub(super) fn read(&self, image: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        if self.is_followed() && matches!(*self.state(), PowerState::Off(_)) {
            return Err(no_power());
        }
        image.read_exact_at(buffer, offset)
    }

    /// Writes to the image, as far as there is power.
    ///
    /// # Errors
    /// What the image says, and `EIO` without power.
    pub(super) fn write(&self, image: &File, data: &[u8], offset: u64) -> io::Result<()> {
        if !self.is_followed() {
            return image.write_all_at(data, offset);
        }
        let mut state = self.state();
        match &mut *state {
            PowerState::Plain => image.write_all_at(data, offset),
            PowerState::Off(_) => Err(no_power()),
            PowerState::Followed { cache, order } => {
                cache.write(image, data, offset)?;
                let due = count_down(order);
                due.map_or(Ok(()), |seed| go_dark(&mut state, seed, image).and(Err(no_power())))
            }
        }
    }

    /// Makes what was written durable, as far as the disk is honest.
    ///
    /// # Errors
    /// `EIO` without power.
    pub(super) fn flush(&self, image: &File) -> io::Result<()> {
        if !self.is_followed() {
            return Ok(());
        }
        let mut state = self.state();
        match &mut *state {
            PowerState::Plain => Ok(()),
            PowerState::Off(_) => Err(no_power()),
            PowerState::Followed { cache, order } => match count_down(order) {
                Some(seed) => go_dark(&mut state, seed, image).and(Err(no_power())),
                None => {
                    cache.flush();
                    Ok(())
                }
            },
        }
    }

    /// Empties a range by `punch`. It is emptied for good at once, which a disk may do: what was there may be
    /// lost as soon as it is discarded.
    ///
    /// # Errors
    /// What `punch` says, and `EIO` without power.
    pub(super) fn discard(
        &self,
        offset: u64,
        bytes: u64,
        punch: impl FnOnce() -> io::Result<()>,
    ) -> io::Result<()> {
        if !self.is_followed() {
            return punch();
        }
        match &mut *self.state() {
            PowerState::Plain => punch(),
            PowerState::Off(_) => Err(no_power()),
            PowerState::Followed { cache, .. } => {
                punch()?;
                cache.forget(offset, bytes);
                Ok(())
            }
        }
    }
}

fn no_power() -> io::Error {
    rustix::io::Errno::IO.into()
}

/// Counts a request; the seed of the cut if this was the last one.
fn count_down(order: &mut Option<CutOrder>) -> Option<u64> {
    let order = order.as_mut()?;
    order.after = order.after.saturating_sub(1);
    (order.after == 0).then_some(order.seed)
}

fn go_dark(state: &mut PowerState, seed: u64, image: &File) -> io::Result<()> {
    // Read before anything is refused: what ended before this moment ended with power.
    let at_ns = monotonic_ns();
    let before =
        std::mem::replace(state, PowerState::Off(PowerCut { at_ns, ..PowerCut::default() }));
    if let PowerState::Followed { mut cache, .. } = before {
        *state = PowerState::Off(PowerCut { at_ns, ..cache.lose(image, seed)? });
    }
    Ok(())
}

/// Writes that no flush has followed, in their order. The image has them all.
struct WriteCache {
    law: CacheLaw,
    writes: VecDeque<CachedWrite>,
    bytes: u64,
}

struct CachedWrite {
    offset: u64,
    /// What the image held before.
    before: Vec<u8>,
    after: Vec<u8>,
}

impl WriteCache {
    fn new(law: CacheLaw) -> Self {
        Self { law, writes: VecDeque::new(), bytes: 0 }
    }

    fn write(&mut self, image: &File, data: &[u8], offset: u64) -> io::Result<()> {
        let mut before = vec![0; data.len()];
        image.read_exact_at(&mut before, offset)?;
        image.write_all_at(data, offset)?;
        self.bytes += data.len() as u64;
        self.writes.push_back(CachedWrite { offset, before, after: data.to_vec() });
        while self.bytes > CACHE_BYTES_MAX {
            let Some(oldest) = self.writes.pop_front() else { break };
            self.bytes -= oldest.after.len() as u64;
        }
        Ok(())
    }

    fn flush(&mut self) {
        if self.law.honours_flush {
            self.writes.clear();
            self.bytes = 0;
        }
    }

    /// A range is empty, now and after a cut.
    fn forget(&mut self, offset: u64, bytes: u64) {
        let end = offset.saturating_add(bytes);
        for write in &mut self.writes {
            let last = write.offset + write.after.len() as u64;
            let (from, to) = (offset.max(write.offset), end.min(last));
            if from < to {
                let range = (from - write.offset) as usize..(to - write.offset) as usize;
                write.before[range.clone()].fill(0);
                write.after[range].fill(0);
            }
        }
    }

    /// The power goes: takes back all writes, then does those again that are kept, in their order.
    fn lose(&mut self, image: &File, seed: u64) -> io::Result<PowerCut> {
        for write in self.writes.iter().rev() {
            image.write_all_at(&write.before, write.offset)?;
        }
        let unflushed = self.writes.len() as u64;
        let mut cut = PowerCut { unflushed, ..PowerCut::default() };
        let luck = CutLuck::new(seed);
        for (write, number) in self.writes.iter().zip(0..) {
            let block_bytes = u64::from(self.law.block_bytes);
            let (first, end) = (write.offset, write.offset + write.after.len() as u64);
            let mut from = first;
            while from < end {
                let to = end.min((from / block_bytes + 1) * block_bytes);
                if luck.keeps(number, from / block_bytes) {
                    let range = (from - first) as usize..(to - first) as usize;
                    image.write_all_at(&write.after[range], from)?;
                    cut.blocks_kept += 1;
                } else {
                    cut.blocks_dropped += 1;
                }
                from = to;
            }
        }
        self.writes.clear();
        Ok(cut)
    }
}

/// What a power cut leaves to chance.
struct CutLuck {
    seed: u64,
    /// The share of writes that are kept, which differs from cut to cut.
    share: f64,
}

impl CutLuck {
    fn new(seed: u64) -> Self {
        Self { seed, share: unit(draw(seed, Stream::PowerCut, u64::MAX)) }
    }

    fn keeps(&self, write: u64, block: u64) -> bool {
        let of_write = draw(self.seed, Stream::PowerCut, write);
        let is_torn = below(mix(of_write), TORN_ONE_OF) == 0;
        let drawn = if is_torn { mix(of_write ^ mix(block)) } else { of_write };
        unit(drawn) < self.share
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCK: usize = 512;
    const HONEST: CacheLaw = CacheLaw { block_bytes: BLOCK as u32, honours_flush: true };
    const SEEDS: std::ops::Range<u64> = 0..50;

    /// What is asked of a disk.
    enum Asked {
        /// So many blocks from this one on, full of a byte.
        Write(u64, usize, u8),
        Flush,
        Discard(u64, u64),
    }
    use Asked::{Discard, Flush, Write};

    /// The blocks of a small disk, each by its bytes, after it was asked and then lost its power.
    fn after_cut(law: CacheLaw, asked: &[Asked], order: CutOrder) -> Vec<Vec<u8>> {
        let image = tempfile::tempfile().unwrap();
        image.set_len(16 * BLOCK as u64).unwrap();
        let power = DiskPower::default();
        power.write(&image, &[9; 16 * BLOCK], 0).unwrap();
        power.follow(law);
        if order.after > 0 {
            power.cut(order, &image).unwrap();
        }
        for one in asked {
            let at = |block: u64| block * BLOCK as u64;
            let _ = match one {
                Write(block, blocks, byte) => {
                    power.write(&image, &vec![*byte; blocks * BLOCK], at(*block))
                }
                Flush => power.flush(&image),
                Discard(block, blocks) => {
                    let empty = vec![0; at(*blocks) as usize];
                    let punch = || {
                        image.write_all_at(&empty, at(*block)).unwrap();
                        Ok(())
                    };
                    power.discard(at(*block), at(*blocks), punch)
                }
            };
        }
        power.cut(CutOrder { after: 0, ..order }, &image).unwrap();
        assert!(power.last_cut().is_some());
        assert!(power.read(&image, &mut [0], 0).is_err(), "there is no power");
        let mut all = vec![0; 16 * BLOCK];
        image.read_exact_at(&mut all, 0).unwrap();
        all.chunks(BLOCK).map(<[u8]>::to_vec).collect()
    }

    fn at_end(seed: u64) -> CutOrder {
        CutOrder { after: 0, seed }
    }

    fn is_full_of(block: &[u8], byte: u8) -> bool {
        block.iter().all(|one| *one == byte)
    }

    #[test]
    fn what_a_flush_followed_is_kept_and_so_is_what_was_there_before() {
        for seed in SEEDS {
            let asked = [Write(0, 4, 1), Write(8, 1, 2), Flush, Write(3, 1, 3)];
            let blocks = after_cut(HONEST, &asked, at_end(seed));
            assert!(blocks[..3].iter().all(|block| is_full_of(block, 1)), "seed {seed}");
            assert!(is_full_of(&blocks[8], 2) && is_full_of(&blocks[15], 9), "seed {seed}");
            assert!(is_full_of(&blocks[3], 1) || is_full_of(&blocks[3], 3), "seed {seed}");
        }
    }

    #[test]
    fn a_write_that_no_flush_followed_is_kept_dropped_or_torn_at_the_borders_of_blocks() {
        let (mut kept, mut dropped, mut torn) = (0, 0, 0);
        for seed in 0..200 {
            let blocks = after_cut(HONEST, &[Write(2, 6, 1)], at_end(seed));
            let of = |byte| blocks[2..8].iter().filter(|block| is_full_of(block, byte)).count();
            assert_eq!(of(1) + of(9), 6, "a block is whole, with seed {seed}");
            match of(1) {
                6 => kept += 1,
                0 => dropped += 1,
                _ => torn += 1,
            }
        }
        assert!(kept > 50 && dropped > 50 && torn > 10, "{kept} {dropped} {torn}");
    }

    #[test]
    fn a_later_write_may_be_kept_without_the_one_before_it() {
        let reordered = SEEDS.filter(|seed| {
            let blocks = after_cut(HONEST, &[Write(0, 1, 1), Write(1, 1, 2)], at_end(*seed));
            is_full_of(&blocks[0], 9) && is_full_of(&blocks[1], 2)
        });
        assert!(reordered.count() > 5);
    }

    #[test]
    fn of_two_writes_to_one_block_either_is_there_or_what_was_there_before() {
        let mut seen = std::collections::BTreeSet::new();
        for seed in SEEDS {
            let blocks = after_cut(HONEST, &[Write(0, 1, 1), Write(0, 1, 2)], at_end(seed));
            assert!(blocks[0].iter().all(|byte| *byte == blocks[0][0]), "seed {seed}");
            seen.insert(blocks[0][0]);
        }
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), [1, 2, 9]);
    }

    #[test]
    fn the_power_goes_with_the_request_that_was_ordered_and_later_ones_fail() {
        for seed in SEEDS {
            let asked = [Write(0, 1, 1), Flush, Write(1, 1, 2), Flush, Write(2, 1, 3), Flush];
            let blocks = after_cut(HONEST, &asked, CutOrder { after: 4, seed });
            assert!(is_full_of(&blocks[0], 1) && is_full_of(&blocks[2], 9), "seed {seed}");
        }
        let lost = SEEDS.filter(|seed| {
            let asked = [Write(0, 1, 1), Flush];
            is_full_of(&after_cut(HONEST, &asked, CutOrder { after: 2, seed: *seed })[0], 9)
        });
        assert!(lost.count() > 10, "a flush that was not answered promises nothing");
    }

    #[test]
    fn the_same_seed_gives_the_same_cut() {
        let asked = || [Write(0, 8, 1), Write(4, 8, 2), Write(9, 2, 3)];
        for seed in SEEDS {
            let cut = || after_cut(HONEST, &asked(), at_end(seed));
            assert_eq!(cut(), cut(), "seed {seed}");
        }
    }

    #[test]
    fn a_disk_that_ignores_flushes_loses_what_it_said_was_safe() {
        let liar = CacheLaw { honours_flush: false, ..HONEST };
        let lost = SEEDS.filter(|seed| {
            is_full_of(&after_cut(liar, &[Write(0, 1, 1), Flush], at_end(*seed))[0], 9)
        });
        assert!(lost.count() > 10);
    }

    #[test]
    fn what_was_discarded_is_empty_whatever_becomes_of_the_writes_before() {
        for seed in SEEDS {
            let blocks = after_cut(HONEST, &[Write(0, 4, 1), Discard(1, 2)], at_end(seed));
            assert!(blocks[1..3].iter().all(|block| is_full_of(block, 0)), "seed {seed}");
        }
    }

    #[test]
    fn a_full_cache_writes_out_what_is_oldest() {
        let image = tempfile::tempfile().unwrap();
        let half = vec![1; CACHE_BYTES_MAX as usize / 2];
        image.set_len(half.len() as u64 * 3).unwrap();
        let power = DiskPower::default();
        power.follow(HONEST);
        (0..3).for_each(|at| power.write(&image, &half, at * half.len() as u64).unwrap());
        power.cut(at_end(1), &image).unwrap();
        assert_eq!(power.last_cut().unwrap().unflushed, 2);
        power.restore();
        assert_eq!(power.last_cut(), None);
        assert!(power.read(&image, &mut [0], 0).is_ok());
    }
}
