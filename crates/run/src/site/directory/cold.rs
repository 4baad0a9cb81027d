//! Checks what is cached around a drop of the caches, and again just before the timed work.

use std::os::fd::{AsFd, OwnedFd};

use super::{CANARY_BYTES, CANARY_TRIES, DirectorySite, HeldFiles, read_canary, write_out};
use crate::cache::{CacheDrop, CacheDropper, CacheState, CacheVerdict, Doubt, has_files_before};
use crate::engine::sync::{directories_open_max, is_cached, open_for_looking};
use crate::run_directory::CANARY;
use boatload_base::errno::{Errno, ErrnoResult};
use boatload_base::failed_calls::note;
use boatload_base::failure::Result;
use boatload_host::page_cache::name_is_cached;
use boatload_op::{Effect, Subject};
use boatload_plan::{CacheAsked, Phase};

/// Most files looked at before a phase, and the least share of a phase's files they may be: their
/// inodes stay a little warmer than the others.
const SAMPLE_MAX: u64 = 64;
const SAMPLE_OF: u64 = 16;

/// Most names looked for in memory. Looking warms nothing, so it may be many of them.
const NAMES_MAX: u64 = 1024;

impl DirectorySite {
    /// Drops all caches and looks at pages through descriptors that were opened before, so that
    /// the look itself reads nothing. They stay open until the last look.
    ///
    /// # Errors
    /// If what phases before wrote cannot be written out, or other ranks do not answer.
    pub(super) fn make_cold(
        &mut self,
        phase: &Phase,
        dropper: &dyn CacheDropper,
    ) -> Result<CacheVerdict> {
        self.held = None;
        let held = self.hold(phase);
        let canary_was_resident = self.canary_is_resident();
        if let Some(open) = self.open_tree_of(phase) {
            write_out(&open.root)?;
        }
        if !dropper.drop_caches(CacheDrop::All, true)? {
            return Ok(CacheVerdict::unverified(None, Doubt::DropFailed));
        }
        let resident = held.as_ref().and_then(|held| self.probe.resident_fraction(&held.files));
        self.held = held;
        Ok(match canary_was_resident {
            true => CacheVerdict::after_drop(resident),
            false => CacheVerdict::unverified(resident, Doubt::NoProbe),
        })
    }

    /// The last look before the timed work: what was cold may have been read since by somebody
    /// else. Pages are looked at through what is still open, names that are not open are looked for
    /// in memory. Then names and inodes of what was open are dropped.
    pub(super) fn rechecked(
        &mut self,
        found: CacheVerdict,
        phase: &Phase,
        dropper: &dyn CacheDropper,
    ) -> Result<CacheVerdict> {
        let held = self.held.take();
        let seen = match found.found {
            CacheState::ColdVerified => self.seen(phase, held.as_ref()),
            _ => found,
        };
        let was_held = held.is_some();
        drop(held);
        if phase.cache == CacheAsked::Cold {
            // A process alone continues without: a few inodes stay warm that were proved to have no data in memory.
            dropper.drop_caches(CacheDrop::Names, was_held)?;
        }
        Ok(seen)
    }

    fn seen(&self, phase: &Phase, held: Option<&HeldFiles>) -> CacheVerdict {
        let files = held.map_or(&[][..], |held| held.files.as_slice());
        let canary = self.canary.as_ref().map(|canary| (canary.as_fd(), CANARY_BYTES));
        let sample = files.iter().map(|(file, bytes)| (file.as_fd(), *bytes)).chain(canary);
        let resident = self.probe.resident_fraction(&sample.collect::<Vec<_>>());
        let open = held.map_or(&[][..], |held| held.numbers.as_slice());
        CacheVerdict::after_drop(resident).with_names(self.cached_names(phase, open))
    }

    /// The share of names in memory, of some that the phase works on and that are not open. None
    /// where it cannot be told, or for a phase that works on none.
    fn cached_names(&self, phase: &Phase, but: &[u64]) -> Option<f64> {
        let subject = phase.operation.subject;
        let named = matches!(subject, Subject::File | Subject::Directory);
        if !named || phase.operation.effect == Effect::AddsEntry {
            return None;
        }
        // The canary is open, so its name must be found: else the answer means nothing.
        let run_directory = self.run_directory.as_ref()?.directory();
        let is_found = name_is_cached(run_directory, CANARY);
        let is_found = is_found.inspect_err(|error| note("openat2", || CANARY.into(), *error));
        if is_found != Ok(true) {
            return None;
        }
        let open = self.open_tree_of(phase)?;
        let targets = phase.targets(&open.tree);
        let numbers = phase.selection.sample(NAMES_MAX);
        let others = numbers.into_iter().filter(|number| !but.contains(number));
        let answers = others.map(|number| {
            let place = targets.target(number).place;
            let is_cached = is_cached(open, place);
            is_cached.inspect_err(|error| note("openat2", || place.to_string(), *error))
        });
        let answers: Vec<bool> = answers.collect::<ErrnoResult<_>>().ok()?;
        let cached = answers.iter().filter(|cached| **cached).count();
        (!answers.is_empty()).then(|| cached as f64 / answers.len() as f64)
    }

    /// Reads the canary, which must then be in memory: otherwise its absence proves nothing.
    fn canary_is_resident(&self) -> bool {
        let Some(canary) = &self.canary else { return false };
        (0..CANARY_TRIES).any(|_| {
            let read = read_canary(canary);
            let resident = self.probe.resident_fraction(&[(canary, CANARY_BYTES)]);
            read.is_ok() && resident == Some(1.0)
        })
    }

    /// A sample of the phase's files and the canary, open.
    fn hold(&self, phase: &Phase) -> Option<HeldFiles> {
        let numbers = self.sampled(phase);
        let mut files = self.sample(phase)?;
        let canary = self.canary.as_ref().and_then(|canary| canary.try_clone().ok());
        files.extend(canary.map(|canary| (canary, CANARY_BYTES)));
        Some(HeldFiles { files, numbers })
    }

    /// The numbers of some of the files that the phase works on; `None` if it makes them.
    fn sampled(&self, phase: &Phase) -> Vec<u64> {
        if !has_files_before(phase) {
            return Vec::new();
        }
        let few = SAMPLE_MAX.min(directories_open_max() / 4);
        phase.selection.sample(few.min(phase.selection.count.div_ceil(SAMPLE_OF)))
    }

    /// Those files, open for looking, with their sizes. `None` if one of them cannot be opened: part
    /// of a sample proves nothing.
    fn sample(&self, phase: &Phase) -> Option<Vec<(OwnedFd, u64)>> {
        let open = self.open_tree_of(phase)?;
        let targets = phase.targets(&open.tree);
        let look = |number| {
            let place = targets.target(number).place;
            let unseen = |call| move |error: &Errno| note(call, || place.to_string(), *error);
            let file = open_for_looking(open, place).inspect_err(unseen("openat")).ok()?;
            let stat = rustix::fs::fstat(&file).map_err(Errno::from);
            let size = stat.inspect_err(unseen("fstat")).ok()?.st_size;
            Some((file, u64::try_from(size).ok()?))
        };
        self.sampled(phase).into_iter().map(look).collect()
    }

    /// The share of their pages that is in memory.
    pub(super) fn resident_of(&self, phase: &Phase) -> Option<f64> {
        self.probe.resident_fraction(&self.sample(phase)?)
    }
}
