//! Simulates a file system whose truth is known, to test findings. Time is a law of the plan's `[sim]`
//! table, added to a virtual clock; with no time at all, what is left to measure is boatload itself,
//! names and contents included.

use std::collections::TryReserveError;
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};

use super::Engine;
use crate::clock::VirtualClock;
use crate::content::ContentPool;
use boatload_base::bits::Bits;
use boatload_base::errno::Errno;
use boatload_base::live_set::LiveSet;
use boatload_base::names::NameBuffer;
use boatload_base::random::{Stream, draw, unit};
use boatload_op::request::RequestOutcome;
use boatload_op::{Access, ItemId, OWN_ENTRIES_BYTES, Request};
use boatload_plan::sim::{DirectoryLaw, HANG_NS, SimFaultOutcome, SimModel, SimNoise};
use boatload_plan::{Phase, Tree};

/// What a file's entry takes in a listing, as the kernel packs it.
const ENTRY_BYTES: u64 = 32;

/// Requests from one draw of drifting noise to the next.
const REQUESTS_BETWEEN_DRAWS: u64 = 100;

/// The simulated disk under one cell: which entries exist, which are cached, how full it is.
/// Some bits an entry, whatever the number of files.
pub(crate) struct SimDisk {
    model: SimModel,
    tree: Tree,
    files: Bits,
    directories: Bits,
    /// Files that have a second name, or a new file that is to take their place.
    doubled: Bits,
    cached: Bits,
    /// Blocks of the device that are cached.
    cached_blocks: Bits,
    /// Entries of each holder, kept only where time passes.
    fill: Vec<AtomicU32>,
    /// Bytes of each file, kept only beside a mix whose files differ: they do not follow from their numbers.
    sizes: Vec<AtomicU64>,
    /// How much longer everything takes in this repeat.
    repeat_factor: f64,
    shared: Arc<SimShared>,
    cache_dropped: AtomicBool,
}

/// The state that stays from cell to cell of a run.
#[derive(Debug, Default)]
pub(crate) struct SimShared {
    /// Operations of the whole run, for the model's drift and its planned fault.
    pub operations: AtomicU64,
    /// Whether the planned fault has been met.
    pub(crate) was_faulty: AtomicBool,
    /// Bytes in use, also by files outside the cell.
    pub used_bytes: AtomicU64,
    /// Files beside the cell's tree.
    pub(crate) files_beside: AtomicU64,
}

/// What a simulated disk keeps beside which files there are.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SimKept {
    /// Directories that are entries.
    pub(crate) directories: bool,
    /// Second names of files.
    pub(crate) second_names: bool,
    /// Blocks of the device that are read.
    pub(crate) blocks: u64,
    /// Files whose sizes are kept.
    pub(crate) sized: u64,
}

impl SimDisk {
    /// An empty disk for the tree's entries.
    ///
    /// # Errors
    /// If there is no memory for a bit for each entry.
    pub(crate) fn new(
        model: SimModel,
        tree: Tree,
        kept: SimKept,
        shared: Arc<SimShared>,
    ) -> Result<Self, TryReserveError> {
        let per_holder = if model.takes_no_time() { 0 } else { tree.holders() };
        let entries = tree.capacity();
        let SimKept { directories, second_names, blocks, sized } = kept;
        let mut sizes = Vec::new();
        sizes.try_reserve_exact(usize::try_from(sized).unwrap_or(usize::MAX))?;
        sizes.extend((0..sized).map(|_| AtomicU64::new(0)));
        Ok(Self {
            model,
            files: Bits::new(entries)?,
            directories: Bits::new(if directories { tree.files } else { 0 })?,
            doubled: Bits::new(if second_names { entries } else { 0 })?,
            cached: Bits::new(if model.cold_ns > 0 { entries } else { 0 })?,
            cached_blocks: Bits::new(if model.cold_ns > 0 { blocks } else { 0 })?,
            fill: (0..per_holder).map(|_| AtomicU32::new(0)).collect(),
            sizes,
            repeat_factor: 1.0,
            shared,
            cache_dropped: AtomicBool::new(false),
            tree,
        })
    }

    /// The same in the cell of the run with this number, which has a speed of its own.
    #[must_use]
    pub(crate) fn in_cell(self, number: u64) -> Self {
        let repeats = self.model.spread.repeats_percent;
        Self { repeat_factor: self.off_by(repeats, draw(!number, Stream::Noise, 0)), ..self }
    }

    fn pass_factor(&self, phase_number: u64) -> f64 {
        self.off_by(self.model.spread.passes_percent, draw(phase_number, Stream::Noise, 1))
    }

    fn run_factor(&self) -> f64 {
        self.off_by(self.model.spread.runs_percent, draw(0, Stream::Noise, 2))
    }

    /// How many times as long everything takes in the phase with this number because of a neighbour; none
    /// without one.
    pub(crate) fn neighbour_factor(&self, phase_number: u64) -> Option<f64> {
        let neighbour = self.model.neighbour?;
        let drawn = unit(draw(self.tree.seed, Stream::Noise, draw(phase_number, Stream::Noise, 3)));
        (drawn * 100.0 < neighbour.share_percent).then_some(neighbour.factor)
    }

    /// A factor around 1 with this standard deviation in percent: uniform, so that it has an end.
    fn off_by(&self, percent: f64, salt: u64) -> f64 {
        let even = 2.0 * unit(draw(self.tree.seed, Stream::Noise, salt)) - 1.0;
        1.0 + percent / 100.0 * 3f64.sqrt() * even
    }

    /// Puts files there that were made before.
    pub(crate) fn stock(&self, live: &LiveSet) {
        self.files.set_words(live.words());
    }

    /// Entries that exist.
    pub(crate) fn entries(&self) -> u64 {
        self.files.count() + self.directories.count() + self.doubled.count()
    }

    /// Forgets what is cached.
    pub(crate) fn drop_caches(&self) {
        self.cached.clear();
        self.cached_blocks.clear();
        self.cache_dropped.store(true, Relaxed);
    }

    /// Takes these files into the cache.
    pub(crate) fn warm(&self, numbers: impl Iterator<Item = u64>) {
        self.cached.set_all(numbers);
    }

    /// Takes these blocks of the device into the cache.
    pub(crate) fn warm_blocks(&self, numbers: impl Iterator<Item = u64>) {
        self.cached_blocks.set_all(numbers);
    }

    /// Share of these files that are cached; `None` if nothing is simulated to be.
    pub(crate) fn cached_fraction(&self, numbers: impl Iterator<Item = u64>) -> Option<f64> {
        if self.model.cold_ns == 0 {
            return None;
        }
        let (mut cached, mut all) = (0u64, 0u64);
        for number in numbers {
            cached += u64::from(self.cached.get(number));
            all += 1;
        }
        (all > 0).then(|| cached as f64 / all as f64)
    }

    /// What the sync at the end of a phase takes, in seconds.
    pub(crate) fn sync_seconds(&self) -> f64 {
        self.model.sync_ns as f64 / 1e9
    }

    /// Every million files beside the tree takes the same part of the rate away, down to a tenth.
    fn clutter(&self) -> f64 {
        let millions = self.shared.files_beside.load(Relaxed) as f64 / 1e6;
        1.0 / (1.0 - self.model.clutter_percent / 100.0 * millions).max(0.1)
    }

    fn fullness_percent(&self) -> f64 {
        let used = self.shared.used_bytes.load(Relaxed) as f64;
        self.model.capacity.map_or(0.0, |all| used / all as f64 * 100.0)
    }
}

/// One worker's view of the simulated disk.
pub(crate) struct SimEngine {
    disk: Arc<SimDisk>,
    phase: Phase,
    clock: VirtualClock,
    free: bool,
    /// Whether nothing is simulated but which entries exist.
    plain: bool,
    name: NameBuffer,
    content: ContentPool,
    open: Option<ItemId>,
    /// Whether writes make the open file longer.
    grows: bool,
    /// Bytes of the file that is to take the place of another; `None` if there is none.
    replacing_bytes: Option<u64>,
    /// Whether the operation has opened its file, and so has been counted.
    counted: bool,
    /// Bytes read of what is open.
    taken: u64,
    /// Entries that were looked at, of those read.
    stated: u64,
    /// Which operation of the run it is at, from 1; 0 if the model does not ask.
    operation: u64,
    sequence: u64,
    noise_seed: u64,
    /// How much longer everything takes for the files beside the tree, in this pass, repeat and run, and
    /// beside a neighbour.
    slower: f64,
}

impl SimEngine {
    /// An engine that works on `phase` and moves `clock`; `phase_number` counts the phases of the run, so
    /// that each has noise of its own.
    pub(crate) fn new(
        disk: Arc<SimDisk>,
        phase: &Phase,
        clock: VirtualClock,
        worker: u32,
        phase_number: u64,
    ) -> Self {
        let free = disk.model.takes_no_time();
        let written_bytes_max = if free { phase.write_bytes_max(&disk.tree) } else { 0 };
        Self {
            free,
            plain: free && !disk.model.counts_operations(),
            content: ContentPool::new(&disk.tree, written_bytes_max).for_direct(phase.direct),
            phase: phase.clone(),
            clock,
            name: NameBuffer::default(),
            open: None,
            grows: false,
            replacing_bytes: None,
            counted: false,
            taken: 0,
            stated: 0,
            operation: 0,
            sequence: u64::from(worker) << 48,
            noise_seed: draw(disk.tree.seed, Stream::Noise, phase_number),
            slower: disk.clutter()
                * disk.run_factor()
                * disk.repeat_factor
                * disk.pass_factor(phase_number)
                * disk.neighbour_factor(phase_number).unwrap_or(1.0),
            disk,
        }
    }

    /// Lets the request's time pass, and says what becomes of it if it meets the planned fault.
    fn before_serving(&mut self, request: &Request) -> Option<RequestOutcome> {
        let begins = self.begins(request);
        if begins && self.disk.model.counts_operations() {
            self.operation = self.disk.shared.operations.fetch_add(1, Relaxed) + 1;
        }
        if !self.free {
            self.pass_time(request);
        }
        match self.fault(request, begins) {
            Some(SimFaultOutcome::Fails(errno)) => {
                if *request == Request::Close {
                    self.open = None;
                }
                Some(Err(errno))
            }
            Some(SimFaultOutcome::IsShort) => Some(self.serve_half(request)),
            Some(SimFaultOutcome::Hangs) => {
                self.clock.advance(HANG_NS);
                None
            }
            None => None,
        }
    }

    /// What becomes of the request by the planned fault, which meets one request.
    #[inline]
    fn fault(&self, request: &Request, begins: bool) -> Option<SimFaultOutcome> {
        let fault = self.disk.model.fault?;
        let is_met = self.operation == fault.operation
            && fault.request.map_or(begins, |kind| kind == request.kind())
            && !self.disk.shared.was_faulty.swap(true, Relaxed);
        is_met.then_some(fault.outcome)
    }

    /// Moves half of the bytes that the request would move.
    fn serve_half(&mut self, request: &Request) -> RequestOutcome {
        let mut half = *request;
        match &mut half {
            Request::Read { bytes } => {
                *bytes = (self.remaining_bytes(u64::from(*bytes)) / 2) as u32
            }
            Request::Write { bytes, .. }
            | Request::WriteAt { bytes, .. }
            | Request::ReadBlock { bytes, .. } => *bytes /= 2,
            _ => {}
        }
        self.serve(&half)
    }

    #[inline]
    fn serve(&mut self, request: &Request) -> RequestOutcome {
        match *request {
            Request::Open { place, access, .. } => self.open(place, access),
            Request::Write { number, version, offset, bytes } => {
                self.make_content(number, version, offset, bytes);
                self.write(u64::from(bytes))
            }
            Request::WriteAt { number, version, offset, bytes, .. } => {
                self.open.ok_or(Errno::EBADF)?;
                self.make_content(number, version, offset, bytes);
                self.write(u64::from(bytes))
            }
            Request::Truncate { bytes } => self.truncate(bytes),
            Request::Read { bytes } => {
                let part = self.remaining_bytes(u64::from(bytes));
                self.taken += part;
                Ok(part)
            }
            Request::ReadBlock { bytes, .. } => Ok(u64::from(bytes)),
            Request::Close => {
                (self.taken, self.stated) = (0, 0);
                self.open.take().map(|_| 0).ok_or(Errno::EBADF)
            }
            Request::ReadDirectory => {
                let left = self.listing_bytes().saturating_sub(self.taken);
                let bytes = left.min(super::DIRENT_BYTES as u64);
                self.taken += bytes;
                Ok(bytes)
            }
            Request::StatEntry => {
                let more = u64::from(self.has_entry());
                self.stated += more;
                Ok(more)
            }
            Request::Sync { .. } | Request::StatOpen | Request::SyncHolder(_) => Ok(0),
            Request::Stat(place) | Request::SetMode(place) => self.found(place),
            Request::Rename { from, to } => {
                self.write_name(to);
                let outcome = self.found(from);
                if let Some(bytes) = self.replacing_bytes.take() {
                    self.replace(from, bytes);
                } else if outcome.is_ok() {
                    self.count_in_holder(from, false);
                    self.count_in_holder(to, true);
                }
                outcome
            }
            Request::Link { from, to } => self.found(from).and_then(|_| self.add_name(to)),
            Request::Unlink(place) => self.unlink(place),
            Request::MakeDirectory(place) => self.set(place, true),
            Request::RemoveDirectory(place) => self.set(place, false),
        }
    }

    /// Whether an operation begins with this request: it names what is worked on, or it is the
    /// first on a file that an earlier operation left open.
    #[inline]
    fn begins(&mut self, request: &Request) -> bool {
        match request {
            Request::WriteAt { offset: 0, .. } => !std::mem::take(&mut self.counted),
            Request::Open { .. } => {
                self.counted = true;
                true
            }
            Request::Rename { .. } if self.replacing_bytes.is_some() => false,
            other => other.names_target(),
        }
    }

    /// Makes a name as a real engine does, where that is what is measured.
    #[inline]
    fn write_name(&mut self, place: ItemId) {
        if self.free {
            self.name.clear();
            self.disk.tree.push_name(place, &mut self.name);
            black_box(self.name.as_c_str());
        }
    }

    /// Makes a part of a content as a real engine does, where that is what is measured.
    #[inline]
    fn make_content(&mut self, number: u64, version: u32, offset: u64, bytes: u32) {
        if self.free {
            let key = self.disk.tree.content_key(number, version);
            black_box(self.content.part(key, offset, bytes));
        }
    }

    fn bits(&self, place: ItemId) -> Option<&Bits> {
        match place {
            ItemId::File { .. } => Some(&self.disk.files),
            ItemId::Directory(_) => Some(&self.disk.directories),
            ItemId::Layout(_) | ItemId::Block(_) => None,
        }
    }

    #[inline]
    fn found(&mut self, place: ItemId) -> RequestOutcome {
        self.write_name(place);
        let exists = self.bits(place).is_none_or(|bits| bits.get(place.number()));
        if exists { Ok(0) } else { Err(Errno::ENOENT) }
    }

    /// Adds an entry, or removes it.
    #[inline]
    fn set(&mut self, place: ItemId, exists: bool) -> RequestOutcome {
        self.write_name(place);
        match self.bits(place).and_then(|bits| bits.swap(place.number(), exists)) {
            Some(existed) if existed != exists => {
                self.count_in_holder(place, exists);
                Ok(0)
            }
            Some(true) => Err(Errno::EEXIST),
            None => Err(if exists { Errno::ENOSPC } else { Errno::ENOENT }),
            Some(false) => Err(Errno::ENOENT),
        }
    }

    fn unlink(&mut self, place: ItemId) -> RequestOutcome {
        if self.disk.doubled.get(place.number()) {
            // The other name stays.
            self.write_name(place);
            self.disk.doubled.swap(place.number(), false);
            self.count_in_holder(place, false);
            return Ok(0);
        }
        let outcome = self.set(place, false);
        if outcome.is_ok() {
            self.release(place.number(), 0);
        }
        outcome
    }

    fn truncate(&self, bytes: u64) -> RequestOutcome {
        let place = self.open.ok_or(Errno::EBADF)?;
        self.release(place.number(), bytes);
        Ok(0)
    }

    fn open(&mut self, place: ItemId, access: Access) -> RequestOutcome {
        self.replacing_bytes = None;
        let outcome = match access {
            Access::CreateNew if self.is_replaced(place) => self.begin_replacing(place),
            Access::CreateNew => self.set(place, true),
            _ => self.found(place),
        };
        if outcome.is_ok() {
            self.open = Some(place);
            self.grows = access != Access::Write;
            if access == Access::Truncate {
                self.release(place.number(), 0);
            }
        }
        outcome
    }

    /// Whether this is the next name of a file that exists.
    fn is_replaced(&self, place: ItemId) -> bool {
        let ItemId::File { number, generation, .. } = place else { return false };
        generation > 0 && self.disk.files.get(number)
    }

    fn begin_replacing(&mut self, place: ItemId) -> RequestOutcome {
        let outcome = self.add_name(place);
        self.replacing_bytes = outcome.is_ok().then_some(0);
        outcome
    }

    /// Adds a second name of a file that exists.
    fn add_name(&mut self, place: ItemId) -> RequestOutcome {
        self.write_name(place);
        if self.disk.doubled.swap(place.number(), true) == Some(true) {
            return Err(Errno::EEXIST);
        }
        self.count_in_holder(place, true);
        Ok(0)
    }

    /// A new file of so many bytes takes the place of the old one.
    fn replace(&self, place: ItemId, bytes: u64) {
        self.release(place.number(), 0);
        if let Some(size) = self.disk.sizes.get(place.number() as usize) {
            size.store(bytes, Relaxed);
        }
        self.disk.doubled.swap(place.number(), false);
        self.count_in_holder(place, false);
    }

    /// A file's bytes become free again but for the first `kept_bytes`.
    fn release(&self, number: u64, kept_bytes: u64) {
        if self.disk.model.capacity.is_some() {
            let freed = self.size_of(number).saturating_sub(kept_bytes);
            let less = |used: u64| Some(used.saturating_sub(freed));
            let _ = self.disk.shared.used_bytes.fetch_update(Relaxed, Relaxed, less);
        }
        if let Some(size) = self.disk.sizes.get(number as usize) {
            size.fetch_min(kept_bytes, Relaxed);
        }
    }

    /// A file's bytes: as they are known, or by the tree's law.
    fn size_of(&self, number: u64) -> u64 {
        match self.disk.sizes.get(number as usize) {
            Some(size) => size.load(Relaxed),
            None if self.disk.tree.files_max.is_some() => self.disk.tree.sizes.max(),
            None => self.phase.state_before(&self.disk.tree, number).size,
        }
    }

    fn write(&mut self, bytes: u64) -> RequestOutcome {
        let outcome = self.take_space(bytes);
        if let (Ok(bytes), Some(replacing)) = (outcome, &mut self.replacing_bytes) {
            *replacing += bytes;
        } else if let (Ok(_), true, Some(place)) = (outcome, self.grows, self.open)
            && let Some(size) = self.disk.sizes.get(place.number() as usize)
        {
            size.fetch_add(bytes, Relaxed);
        }
        outcome
    }

    fn take_space(&self, bytes: u64) -> RequestOutcome {
        let Some(capacity) = self.disk.model.capacity else { return Ok(bytes) };
        let more = |used: u64| used.checked_add(bytes).filter(|sum| *sum <= capacity);
        match self.disk.shared.used_bytes.fetch_update(Relaxed, Relaxed, more) {
            Ok(_) => Ok(bytes),
            Err(_) => Err(Errno::ENOSPC),
        }
    }

    /// What a directory's entries take in a listing, its own two among them.
    fn listing_bytes(&self) -> u64 {
        let holder = match self.open {
            Some(ItemId::Layout(number)) => self.disk.tree.holder_of_layout(number),
            _ => None,
        };
        let fill = holder.and_then(|holder| self.disk.fill.get(holder as usize));
        OWN_ENTRIES_BYTES + fill.map_or(0, |fill| u64::from(fill.load(Relaxed))) * ENTRY_BYTES
    }

    /// Whether an entry was read that was not looked at.
    fn has_entry(&self) -> bool {
        self.stated < self.taken.saturating_sub(OWN_ENTRIES_BYTES) / ENTRY_BYTES
    }

    /// What a read of at most `bytes` brings: the next part of the file, then nothing.
    fn remaining_bytes(&self, bytes: u64) -> u64 {
        let Some(ItemId::File { number, .. }) = self.open else { return 0 };
        bytes.min(self.size_of(number).saturating_sub(self.taken))
    }

    /// Time to move content, by how much there is.
    fn transfer_ns(&self, request: &Request) -> u64 {
        let model = self.disk.model;
        if model.transfer_per_kib_ns == 0 {
            return model.transfer_ns;
        }
        let bytes = match *request {
            Request::Write { bytes, .. } | Request::WriteAt { bytes, .. } => u64::from(bytes),
            Request::Read { bytes } => self.remaining_bytes(u64::from(bytes)),
            _ => 0,
        };
        model.transfer_ns + (bytes as f64 / 1024.0 * model.transfer_per_kib_ns as f64) as u64
    }

    fn count_in_holder(&self, place: ItemId, more: bool) {
        if let Some(fill) = self.disk.fill.get(self.disk.tree.holder_of_place(place) as usize) {
            if more {
                fill.fetch_add(1, Relaxed)
            } else {
                fill.fetch_sub(1, Relaxed)
            };
        }
    }

    /// Moves the clock by what the law says this request takes.
    fn pass_time(&mut self, request: &Request) {
        let model = self.disk.model;
        let ns = match *request {
            Request::Close => return,
            Request::StatEntry if !self.has_entry() => return,
            Request::Write { .. }
            | Request::WriteAt { .. }
            | Request::Read { .. }
            | Request::ReadDirectory => self.transfer_ns(request),
            Request::ReadBlock { place, .. } => model.transfer_ns + self.missed_ns(place),
            Request::Sync { .. } | Request::SyncHolder(_) => model.sync_ns,
            Request::Truncate { .. } | Request::StatOpen | Request::StatEntry => model.metadata_ns,
            Request::Open { place, .. }
            | Request::Stat(place)
            | Request::SetMode(place)
            | Request::Unlink(place)
            | Request::MakeDirectory(place)
            | Request::RemoveDirectory(place) => self.name_ns(place),
            Request::Rename { from, .. } | Request::Link { from, .. } => self.name_ns(from),
        };
        self.sequence += 1;
        let requests = self.sequence & 0xffff_ffff_ffff;
        let stalls = model.stall_every > 0 && requests.is_multiple_of(model.stall_every);
        let stall = if stalls { model.stall_ns } else { 0 };
        self.clock.advance((ns as f64 * self.factor()) as u64 + stall);
    }

    /// What a block costs more that is not cached; direct I/O does not look whether it is.
    fn missed_ns(&self, place: ItemId) -> u64 {
        let was_cached = self.disk.cached_blocks.swap(place.number(), true);
        let missed = self.phase.direct || was_cached == Some(false);
        if missed { self.disk.model.cold_ns } else { 0 }
    }

    /// Time to find a name: the directory's law, and the first touch after caches were dropped.
    fn name_ns(&self, place: ItemId) -> u64 {
        let model = self.disk.model;
        let holder = self.disk.tree.holder_of_place(place) as usize;
        let entries = self.disk.fill.get(holder).map_or(0, |fill| fill.load(Relaxed));
        let entries = f64::from(entries);
        let law = match model.directory {
            DirectoryLaw::Constant => 0.0,
            DirectoryLaw::Logarithmic => (entries + 1.0).log2(),
            DirectoryLaw::Linear => entries / 1000.0,
        };
        let first_touch = match place {
            ItemId::File { number, .. } => self.disk.cached.swap(number, true) == Some(false),
            _ => false,
        };
        let missed = first_touch && self.disk.files.get(place.number());
        let cold = if missed { model.cold_ns } else { 0 };
        model.metadata_ns + (law * model.directory_cost_ns as f64) as u64 + cold
    }

    /// How much longer than the law the request takes: drift, knee, noise.
    fn factor(&self) -> f64 {
        let model = self.disk.model;
        let drift = 1.0 + model.drift_percent / 100.0 * self.operation as f64 / 1e6;
        let knee = match model.knee {
            Some(knee) if self.disk.fullness_percent() >= knee.at => knee.factor,
            _ => 1.0,
        };
        let noise = noise_factor(model.noise, self.noise_seed, self.sequence);
        drift * knee * noise * self.slower
    }
}

impl Engine for SimEngine {
    #[inline]
    fn carry_out(&mut self, request: &Request) -> RequestOutcome {
        let outcome = if self.plain { None } else { self.before_serving(request) };
        outcome.unwrap_or_else(|| self.serve(request))
    }
}

/// How much longer than the law a request takes: the same for the same seed and number.
fn noise_factor(noise: SimNoise, seed: u64, request: u64) -> f64 {
    let chance = || unit(draw(seed, Stream::Noise, request));
    match noise {
        SimNoise::None => 1.0,
        SimNoise::Uniform => 0.5 + chance(),
        SimNoise::Bimodal if chance() < 0.1 => 5.0,
        SimNoise::Bimodal => 1.0,
        SimNoise::Skewed => -(1.0 - chance()).ln(),
        SimNoise::Drifting => 0.5 + wandering(seed, request),
    }
}

/// A number in 0..1 that lies on a line between two that are drawn.
fn wandering(seed: u64, request: u64) -> f64 {
    // Far from the draws of single requests.
    let drawn = |at: u64| unit(draw(!seed, Stream::Noise, at));
    let at = request / REQUESTS_BETWEEN_DRAWS;
    let share = (request % REQUESTS_BETWEEN_DRAWS) as f64 / REQUESTS_BETWEEN_DRAWS as f64;
    drawn(at) * (1.0 - share) + drawn(at + 1) * share
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::sync::{OpenTree, SyncEngine};
    use boatload_op::find_operation;
    use boatload_plan::selection::{EntryRange, Order, Selection};

    /// The outcomes of requests to a file with two names.
    fn outcomes(engine: &mut impl Engine) -> Vec<RequestOutcome> {
        let (one, two) = (ItemId::file(0), ItemId::file(0).renamed());
        let access = Access::CreateNew;
        let (dsync, keep_atime, direct) = (false, false, false);
        let requests = [
            Request::Open { place: one, access, dsync, keep_atime, direct },
            Request::Close,
            Request::Link { from: one, to: two },
            Request::Link { from: one, to: two },
            Request::SetMode(two),
            Request::Unlink(one),
            Request::Stat(two),
            Request::Unlink(two),
            Request::Stat(two),
        ];
        requests.map(|request| engine.carry_out(&request)).into()
    }

    #[test]
    fn a_file_with_two_names_is_there_until_both_are_gone() {
        let selection = Selection::new(EntryRange::whole(0, 1), Order::Sequential, 1, 1, 0);
        let phase = Phase::bare(find_operation("link").unwrap(), selection, 1);
        let tree = Tree { files: 1, ..Tree::without_files(1) };
        let mut truth = vec![Ok(0); 9];
        (truth[3], truth[8]) = (Err(Errno::EEXIST), Err(Errno::ENOENT));
        let directory = tempfile::tempdir().unwrap();
        let root = std::fs::File::open(directory.path()).unwrap().into();
        let open = OpenTree::open(tree.clone(), root, 1, true).unwrap();
        assert_eq!(outcomes(&mut SyncEngine::new(Arc::new(open), 0, &phase)), truth);
        let kept = SimKept { second_names: true, ..SimKept::default() };
        let disk = SimDisk::new(SimModel::default(), tree, kept, Arc::default()).unwrap();
        let clock = VirtualClock::default();
        assert_eq!(outcomes(&mut SimEngine::new(Arc::new(disk), &phase, clock, 0, 0)), truth);
    }
}
