//! Checks the phases of one cell one after another, against the entries that earlier ones leave.

use std::ops::RangeInclusive;

use super::cell::{CellCheck, PhaseOutline};
use super::keys::{KeyReader, check_part_title, described};
use super::limits::{
    BLOCK, BYTES_MAX, CELL_PHASES_MAX, COUNT, DURATION_NS, PASSES, RANK_OFFSET, THREADS, WINDOWS,
};
use super::tree::sizes;
use crate::mix::MIX;
use crate::phase::{
    BLOCK_DEFAULT, CacheAsked, DIRECT_BYTES, DirectoryWalk, OnBallast, PastChange, Phase, PhaseEnd,
    SETTLE,
};
use crate::report::{below, element, one_of};
use crate::selection::{EntryRange, Order, Selection};
use crate::tree::{Sizes, Tree};
use crate::wire::{Atime, WireOn, WirePhase, WireQuantity};
use boatload_base::units::{Quantity, Unit, bytes, counted, grouped};
use boatload_op::{Change, Durability, Effect, OPERATIONS, Operation, Subject, find_operation};

impl<'a> CellCheck<'a> {
    /// What a phase says of itself, with the defaults of variant and job file, and the settings'
    /// word above all.
    pub(super) fn outline(&mut self, at: usize) -> Option<PhaseOutline<'a>> {
        let wire = &self.job.phases()[at];
        let place = element("phase", at);
        self.check_phase_name(at, &place);
        if !wire.work.is_empty() {
            return self.mix_outline(wire, place);
        }
        self.check_operation(wire, &place);
        let threads = self.threads(wire, &place);
        let cache = self.cache_of(wire);
        let mut keys = self.keys(&place);
        let passes = keys.whole_or(1, "passes", &wire.passes, Unit::Count, PASSES);
        let windows = keys.whole_or(0, "windows", &wire.windows, Unit::Count, WINDOWS);
        let block = keys.whole_or(BLOCK_DEFAULT, "block", &wire.block, Unit::Bytes, BLOCK);
        let rank_offset =
            keys.whole_or(0, "rank_offset", &wire.rank_offset, Unit::Count, RANK_OFFSET);
        let end = keys.phase_end(wire.duration.as_ref());
        let sizes = wire.size.as_ref().map(|size| sizes(Some(size), keys.table("size")));
        let operation = wire.operation.as_ref().and_then(|name| find_operation(name))?;
        let is_of_chains =
            operation.effect == Effect::AddsEntry && operation.change == Change::Renames;
        if is_of_chains {
            let found = format!("`{}` as a phase", operation.name);
            keys.problem("operation", found, "it as a step of a chain in a mix");
            return None;
        }
        let passes = passes.map(|passes| keys.check_passes(passes, operation));
        let (threads, passes, windows, block) = (threads?, passes?, windows?, block?);
        let (rank_offset, end) = (rank_offset?, end?);
        let sizes = match sizes {
            Some(sizes) => Some(sizes?),
            None => None,
        };
        Some(PhaseOutline {
            wire,
            place,
            operation,
            mix: None,
            threads,
            passes,
            windows,
            block,
            cache,
            rank_offset,
            end,
            sizes,
        })
    }

    pub(super) fn cache_of(&self, wire: &WirePhase) -> CacheAsked {
        let cache = self.settings.cache.or(wire.cache).or(self.variant.wire.cache);
        cache.or(self.job.cache).unwrap_or_default()
    }

    /// A phase does something, and has no key of a mix unless it is one.
    fn check_operation(&mut self, wire: &WirePhase, place: &str) {
        let mut keys = self.keys(place);
        if wire.operation.is_none()
            && !keys.is_broken("operation")
            && !keys.is_broken_inside("work")
        {
            let names: Vec<&str> = OPERATIONS.iter().map(|operation| operation.name).collect();
            keys.problem(
                "operation",
                "nothing",
                format!("{}, or `[[phase.work]]`", one_of(&names)),
            );
        }
        for (key, is_there) in [("rate", wire.rate.is_some()), ("pace", wire.pace.is_some())] {
            if is_there && !keys.is_broken_inside("work") {
                let expected = "it in a mix: a phase with `[[phase.work]]`";
                keys.problem(key, format!("`{key}` of one operation"), expected);
            }
        }
    }

    fn check_phase_name(&mut self, at: usize, place: &str) {
        let job = self.job;
        let Some(name) = phase_name(&job.phases()[at]) else { return };
        let own = job.phases()[at].name.is_some();
        let place = below(place, if own { "name" } else { "operation" });
        check_part_title(name, &place, self.report);
        if name == SETTLE {
            let expected = "another name: boatload adds a phase of this one behind the others";
            self.report.add(&place, format!("a phase called `{name}`"), expected);
        }
        if job.phases()[..at].iter().any(|other| phase_name(other) == Some(name)) {
            let found = format!("a second phase called `{name}`");
            let expected = "a name that no other phase has";
            if own {
                self.report.add(&place, found, expected);
            } else {
                let hint = format!("add `name = \"{name}-{}\"`", at + 1);
                self.report.add_with_hint(&place, found, expected, hint);
            }
        }
    }

    pub(super) fn threads(&mut self, phase: &WirePhase, place: &str) -> Option<u32> {
        let asked = self.settings.threads.map(|n| WireQuantity::Number(f64::from(n)));
        let places = [
            (&asked, "--threads".to_string()),
            (&phase.threads, below(place, "threads")),
            (&self.variant.wire.threads, self.variant_key("threads")),
            (&self.job.threads, "threads".to_string()),
        ];
        let (wire, place) = places.into_iter().find(|(wire, _)| wire.is_some()).unzip();
        let Some(wire) = wire else { return Some(1) };
        let keys = &mut KeyReader::new(place.unwrap_or_default(), self.scope, self.report);
        keys.whole_or(1, "", wire, Unit::Count, THREADS)
    }

    /// All phases with their passes, each on what the ones before it leave.
    pub(super) fn phases(
        &mut self,
        outlines: &[PhaseOutline<'_>],
        tree: &Tree,
    ) -> Option<Vec<Phase>> {
        let passes: usize = outlines.iter().map(|outline| outline.passes as usize).sum();
        if passes > CELL_PHASES_MAX {
            let found = format!("{} phases, passes counted", grouped(passes as u64));
            self.report.add("phase", found, format!("at most {CELL_PHASES_MAX}"));
            return None;
        }
        let mut entries = Entries::default();
        let (mut history, mut phases): (Vec<PastChange>, Vec<Phase>) = (Vec::new(), Vec::new());
        for outline in outlines {
            // All passes of a phase read the same.
            let salt = phases.len() as u64;
            for pass in 1..=outline.passes {
                let selection = self.selection(outline, &entries, tree, salt)?;
                let walk = DirectoryWalk {
                    layout: tree.layout_directories(),
                    first_entry: entries.directories.first,
                };
                entries.apply(outline.operation, &selection);
                let past = past(outline, &selection);
                let mut phase = self.phase(outline, selection, walk);
                phase.on_ballast = self.on_ballast(outline, salt);
                phase.pass = pass;
                phase.mix.iter_mut().for_each(|mix| mix.salt = salt);
                phase.history.clone_from(&history);
                phase.entries_after = entries.count();
                phases.push(phase);
                history.extend(past);
            }
        }
        Some(phases)
    }

    /// The entries a phase works on; none, and a problem, if they are not there.
    fn selection(
        &mut self,
        outline: &PhaseOutline<'_>,
        entries: &Entries,
        tree: &Tree,
        salt: u64,
    ) -> Option<Selection> {
        let (seed, operation) = (self.seed, outline.operation);
        let several = self.job.variant.len() > 1;
        let variant = self.variant.wire.name.as_deref().unwrap_or_default();
        let mut keys = KeyReader::new(&outline.place, self.scope, self.report);
        let count = match &outline.wire.count {
            // In a mix they are turns.
            _ if outline.mix.is_some() => None,
            Some(wire) => Some(keys.whole("count", wire, Unit::Count, COUNT)?),
            // Its value was no quantity: how many there are is not known from here on.
            None if keys.is_broken("count") => return None,
            None => None,
        };
        let order = outline.wire.order.unwrap_or_default();
        if operation.subject == Subject::Block {
            keys.check_blocks(outline, count)?;
            let range = EntryRange { count: count.unwrap_or_default(), ..EntryRange::default() };
            return Some(Selection::new(range, order, 1, seed, salt));
        }
        if outline.wire.on == Some(WireOn::Ballast) {
            // How many there are is known when the place is prepared.
            let none = EntryRange::default();
            return Some(Selection::new(none, Order::Sequential, 1, seed, salt));
        }
        keys.check_chunks(outline, tree)?;
        let again = entries.removed_before(operation, count, tree);
        let chosen = again
            .as_ref()
            .map_or_else(|| entries.choose(operation, count, tree), |again| Ok(again.range()));
        let range = match chosen {
            Ok(range) => range,
            Err(objection) => {
                let key = if count.is_some() { "count" } else { "operation" };
                let of = if several { format!(" in variant `{variant}`") } else { String::new() };
                let of_count = outline.wire.count.as_ref().zip(count);
                let is_count = |count: u64| objection.found == grouped(count);
                let named =
                    of_count.filter(|(wire, count)| wire.parameter().is_some() && is_count(*count));
                let found = named.map_or(objection.found, |(wire, count)| {
                    described(wire, Quantity { value: count as f64, unit: Unit::Count })
                });
                keys.problem(key, found, format!("{}{of}", objection.expected));
                return None;
            }
        };
        if range.count > 0 && u64::from(outline.windows) > range.count {
            let expected = format!("at most {}, the phase's operations", grouped(range.count));
            keys.problem("windows", grouped(u64::from(outline.windows)), expected);
            return None;
        }
        if let Some(again) = again {
            if outline.wire.order.is_some_and(|order| order != again.order) {
                keys.problem("order", order.as_str(), "the order of the removal");
                return None;
            }
            return Some(again);
        }
        // A walk goes through all trees from the top, whoever they belong to.
        let walks = operation.subject == Subject::AnyDirectory;
        let roots = if walks { 1 } else { tree.roots };
        Some(match tree.chunks {
            Some(chunks) if operation.subject == Subject::Chunk => {
                Selection::of_chunks(range.first, range.count, chunks.per_file, roots)
            }
            _ => Selection::new(range, order, roots, seed, salt),
        })
    }

    fn on_ballast(&mut self, outline: &PhaseOutline<'_>, salt: u64) -> Option<OnBallast> {
        outline.wire.on.filter(|on| *on == WireOn::Ballast)?;
        let has_ballast = self.wire_prepare().is_some();
        let (operation, mut keys) = (outline.operation, self.keys(&outline.place));
        if operation.subject != Subject::File || !operation.only_looks() {
            let found = format!("`{}` on the ballast", operation.name);
            keys.problem("on", found, "an operation that only looks at files");
        }
        if !has_ballast {
            keys.problem("on", "`ballast` without any", "`prepare` in `[axis]`");
        }
        if outline.windows > 0 {
            let expected = "none on the ballast, whose files are counted only when it is made";
            keys.problem("windows", grouped(u64::from(outline.windows)), expected);
        }
        let most = match &outline.wire.count {
            Some(wire) => keys.whole("count", wire, Unit::Count, COUNT)?,
            None => u64::MAX,
        };
        Some(OnBallast { most, order: outline.wire.order.unwrap_or_default(), salt })
    }

    /// Direct I/O goes around the cache, in whole blocks.
    pub(super) fn check_direct(&mut self, outline: &PhaseOutline<'_>, laws: &[Sizes]) {
        if outline.wire.direct != Some(true) {
            return;
        }
        let by_option = self.settings.cache.is_some();
        let (operation, mut keys) = (outline.operation, self.keys(&outline.place));
        if !outline.operations().iter().any(|operation| operation.moves_content()) {
            let found = format!("`direct` for `{}`", operation.name);
            keys.problem("direct", found, "an operation that reads or writes content");
            return;
        }
        if outline.cache == CacheAsked::Warm {
            let found = "direct I/O with a warm cache";
            let expected = "`cache = \"cold\"` or `\"as-is\"`: direct I/O goes around the cache";
            match by_option {
                true => keys.report.add("--cache", found, expected),
                false => keys.problem("cache", found, expected),
            }
        }
        if !outline.block.is_multiple_of(DIRECT_BYTES) {
            let expected = "whole blocks of 4 KiB, which direct I/O needs";
            keys.problem("block", bytes(u64::from(outline.block)), expected);
        }
        let is_whole = |size: u64| size.is_multiple_of(u64::from(DIRECT_BYTES));
        let unfit = |law: &&Sizes| !matches!(law, Sizes::Fixed(size) if is_whole(*size));
        let parts = match operation.subject {
            Subject::File => "files",
            Subject::Chunk => "chunks",
            _ => return,
        };
        let Some(law) = laws.iter().find(unfit) else { return };
        let found = match law {
            Sizes::Fixed(size) => format!("direct I/O of {parts} of {}", bytes(*size)),
            _ => "direct I/O of files whose sizes are drawn".to_string(),
        };
        keys.problem("direct", found, "a tree with one `size` in whole blocks of 4 KiB");
    }

    /// Sizes of its own are for an operation that gives files new ones.
    pub(super) fn check_sizes(&mut self, outline: &PhaseOutline<'_>, tree: Option<&Tree>) {
        let Some(sizes) = outline.sizes else { return };
        let (operation, mut keys) = (outline.operation, self.keys(&outline.place));
        if !matches!(operation.change, Change::NewSize | Change::Grows) {
            let expected = "it for an operation that gives files a size, such as `create`";
            keys.problem("size", format!("`size` for `{}`", operation.name), expected);
        } else if let Some(tree) = tree
            && tree.files.checked_mul(sizes.max()).is_none_or(|all| all > BYTES_MAX)
        {
            let found = format!("{} files of up to {}", grouped(tree.files), bytes(sizes.max()));
            keys.problem("size", found, format!("at most {} in all", bytes(BYTES_MAX)));
        }
    }

    /// What a phase asks for itself must act on what it does.
    pub(super) fn check_durability(&mut self, outline: &PhaseOutline<'_>) {
        let operation = outline.operation;
        let acts = |one: &Durability| outline.operations().iter().any(|o| acts_on(*one, o));
        let Some(asked) = outline.wire.durability.filter(|one| !acts(one)) else {
            return;
        };
        let found = format!("`{asked}` for `{}`", operation.name);
        let (found, expected) = match outline.only_looks() {
            true => (found, "none: nothing changes".to_string()),
            false => (
                format!("{found}, which writes no content"),
                format!("`{}` or `{}`", Durability::Syncfs, Durability::FsyncDirectory),
            ),
        };
        self.keys(&outline.place).problem("durability", found, expected);
    }

    /// A phase that ends with its time goes round and round its targets.
    pub(super) fn check_duration(&mut self, outline: &PhaseOutline<'_>) {
        if outline.end == PhaseEnd::Targets || outline.mix.is_some() {
            return;
        }
        let (operation, mut keys) = (outline.operation, self.keys(&outline.place));
        if !operation.only_looks() {
            let found = format!("`duration` for `{}`", operation.name);
            keys.problem("duration", found, "an operation that changes nothing, such as `read`");
        }
        if outline.windows > 0 {
            let expected = "none with `duration`: they divide a number of operations that is known";
            keys.problem("windows", "windows", expected);
        }
    }

    fn phase(
        &self,
        outline: &PhaseOutline<'_>,
        selection: Selection,
        walk: DirectoryWalk,
    ) -> Phase {
        let (phase, variant, job) = (outline.wire, self.variant.wire, self.job);
        let durability = phase.durability.or(variant.durability).or(job.durability);
        let acts = |one: &Durability| outline.operations().iter().any(|o| acts_on(*one, o));
        let default = || outline.durability_default();
        let durability = durability.filter(acts).unwrap_or_else(default);
        let atime = phase.atime.or(variant.atime).or(job.atime);
        Phase {
            name: phase_name(phase).unwrap_or_default().to_string(),
            windows: if selection.count == 0 { 0 } else { outline.windows },
            mix: outline.mix.clone(),
            durability,
            cache: outline.cache,
            block: outline.block,
            keep_atime: atime.unwrap_or_default() == Atime::Off,
            direct: outline.wire.direct == Some(true),
            rank_offset: outline.rank_offset,
            end: outline.end,
            sizes: outline.sizes,
            walk,
            ..Phase::bare(outline.operation, selection, outline.threads)
        }
    }
}

impl PhaseOutline<'_> {
    /// Its operation, or the operations of its works.
    fn operations(&self) -> Vec<&'static Operation> {
        match &self.mix {
            Some(mix) => mix.operations().collect(),
            None => vec![self.operation],
        }
    }

    fn only_looks(&self) -> bool {
        self.operations().iter().all(|operation| operation.only_looks())
    }

    /// What a job that says nothing asks for: that a phase which changes something ends when its changes
    /// are on the device.
    fn durability_default(&self) -> Durability {
        if self.only_looks() { Durability::None } else { Durability::Syncfs }
    }
}

/// Whether that acts on what an operation does: a call on a file makes its content durable, one on a directory its entries.
fn acts_on(durability: Durability, operation: &Operation) -> bool {
    match durability {
        Durability::Fsync | Durability::Fdatasync => operation.change.is_synced_with_file(),
        Durability::Dsync => operation.change.writes_content(),
        Durability::FsyncDirectory => !operation.only_looks(),
        Durability::None | Durability::Syncfs => true,
    }
}

/// What a phase leaves for later ones to know of files.
fn past(outline: &PhaseOutline<'_>, selection: &Selection) -> Option<PastChange> {
    let (change, sizes) = (outline.operation.change, outline.sizes);
    let selection = match outline.operation.subject {
        Subject::File if change.modifies_target() => selection.clone(),
        Subject::Chunk => selection.of_entries(),
        _ => return None,
    };
    Some(PastChange { change, selection, sizes })
}

impl KeyReader<'_> {
    /// When a phase with this `duration` ends; `None` if it cannot be read. A plain number is seconds.
    pub(super) fn phase_end(&mut self, wire: Option<&WireQuantity>) -> Option<PhaseEnd> {
        let Some(wire) = wire else {
            // Its value was no quantity.
            return (!self.is_broken("duration")).then_some(PhaseEnd::Targets);
        };
        let expected = "seconds, or a time with its unit, from 1 ms to 1 hour";
        self.time_ns("duration", wire, DURATION_NS, expected).map(PhaseEnd::After)
    }

    /// A time in nanoseconds; none, and a problem, if it is not within the limits. A plain number is seconds.
    pub(super) fn time_ns(
        &mut self,
        key: &str,
        wire: &WireQuantity,
        limits: RangeInclusive<f64>,
        expected: &str,
    ) -> Option<u64> {
        let quantity = self.quantity(key, wire)?;
        let ns = match quantity.unit {
            Unit::Nanoseconds => quantity.value,
            Unit::Count => quantity.value * 1e9,
            Unit::Bytes | Unit::Percent => f64::NAN,
        };
        if !limits.contains(&ns) {
            self.problem(key, described(wire, quantity), expected);
            return None;
        }
        Some(ns as u64)
    }

    /// The passes, or one where more make no sense: what a phase adds or removes, it does once.
    fn check_passes(&mut self, passes: u32, operation: &Operation) -> u32 {
        let does = match operation.effect {
            Effect::KeepsTree => return passes,
            Effect::AddsEntry => "adds entries",
            Effect::RemovesEntry => "removes entries",
        };
        if passes > 1 {
            let expected = format!("1, because `{}` {does}", operation.name);
            self.problem("passes", grouped(u64::from(passes)), expected);
        }
        1
    }

    /// Blocks of a device: how many there are is known only when the phase runs.
    fn check_blocks(&mut self, outline: &PhaseOutline<'_>, count: Option<u64>) -> Option<()> {
        if count == Some(0) {
            self.problem("count", grouped(0), "at least 1 block");
        } else if outline.cache == CacheAsked::Warm && count.is_none() {
            let (found, hint) = ("a warm cache without a count", "add `count = 2`");
            let expected = "`count`, the blocks that are to be in memory";
            self.problem_with_hint("count", found, expected, hint);
        } else {
            return Some(());
        }
        None
    }

    /// Files of chunks are made by writing chunks in their order, and others by writing them whole;
    /// none, and a problem, for a phase that does otherwise.
    fn check_chunks(&mut self, outline: &PhaseOutline<'_>, tree: &Tree) -> Option<()> {
        let operation = outline.operation;
        let on_chunks = operation.subject == Subject::Chunk;
        let makes_files =
            operation.change == Change::NewSize && operation.effect == Effect::AddsEntry;
        let name = format!("`{}`", operation.name);
        if on_chunks && tree.chunks.is_none() {
            let hint = "give the tree `chunks` instead of `files`";
            let found = format!("{name} in a tree of files");
            self.problem_with_hint("operation", found, "a tree of chunks", hint);
        } else if makes_files && tree.chunks.is_some() {
            let expected = "`write-chunk`, which makes the files there";
            self.problem("operation", format!("{name} in a tree of chunks"), expected);
        } else if on_chunks && outline.wire.order == Some(Order::Random) {
            let expected = format!("sequential: {name} writes the chunks of a file in their order");
            self.problem("order", "random", expected);
        } else {
            return Some(());
        }
        None
    }
}

/// A phase's name: its operation's if it has none of its own.
pub(super) fn phase_name(phase: &WirePhase) -> Option<&str> {
    let mix = || (!phase.work.is_empty()).then_some(MIX.name);
    phase.name.as_deref().or(phase.operation.as_deref()).or_else(mix)
}

/// Entries of one kind that exist: their numbers are a range, except after a random part of them
/// was removed.
#[derive(Clone, Debug, Default)]
struct LiveEntries {
    /// The lowest number.
    first: u64,
    /// The number the next new one gets.
    next: u64,
    /// Those removed out of the middle.
    removed: Option<Selection>,
    /// Whether a phase that adds them has been.
    added: bool,
    /// Whether any were added.
    any: bool,
}

impl LiveEntries {
    /// How many exist.
    fn count(&self) -> u64 {
        self.next - self.first - self.removed.as_ref().map_or(0, |removed| removed.count)
    }
}

/// Why entries cannot be chosen.
struct Objection {
    found: String,
    expected: String,
}

/// Entries of both kinds.
#[derive(Clone, Debug, Default)]
struct Entries {
    files: LiveEntries,
    directories: LiveEntries,
}

impl Entries {
    /// How many entries the tree holds.
    fn count(&self) -> u64 {
        self.files.count() + self.directories.count()
    }

    fn of_subject(&self, subject: Subject) -> &LiveEntries {
        match subject {
            Subject::File | Subject::Chunk => &self.files,
            _ => &self.directories,
        }
    }

    /// The part that was removed, if an operation makes all of it again: a random one, or where the tree has no room
    /// for others, the first ones.
    fn removed_before(
        &self,
        operation: &Operation,
        count: Option<u64>,
        tree: &Tree,
    ) -> Option<Selection> {
        let live = self.of_subject(operation.subject);
        let first = || {
            let range = EntryRange { first: 0, population: live.next, count: live.first };
            Selection::new(range, Order::Sequential, tree.roots, 0, 0)
        };
        let lacks_first = live.first > 0 && live.next == tree.files;
        let removed = live.removed.clone().or_else(|| lacks_first.then(first))?;
        let adds = operation.effect == Effect::AddsEntry && operation.subject != Subject::Chunk;
        (adds && count.is_none_or(|count| count == removed.count)).then_some(removed)
    }

    /// What an operation chooses when a job wants `count` entries, or for every entry.
    fn choose(
        &self,
        operation: &Operation,
        count: Option<u64>,
        tree: &Tree,
    ) -> Result<EntryRange, Objection> {
        let subject = operation.subject;
        let noun = match subject {
            Subject::File => "file",
            Subject::Chunk => "chunk",
            _ => "directory",
        };
        let live = self.of_subject(subject);
        if subject != Subject::Holder && live.removed.is_some() {
            let found = format!("`{}` after a random part was removed", operation.name);
            let expected = match subject {
                Subject::File => {
                    "a `create` of all that were removed, before any other phase on files"
                }
                Subject::Chunk => "no phase on files after it",
                _ => "a `mkdir` of all that were removed, before any other phase on directories",
            };
            return Err(Objection { found, expected: expected.into() });
        }
        let adds = operation.effect == Effect::AddsEntry;
        let (first, population) = match subject {
            Subject::Holder => (0, tree.holders()),
            Subject::AnyDirectory => (0, tree.layout_directories() + live.count()),
            Subject::Chunk => {
                let (count, per_file) = tree.chunks.map_or((0, 1), |c| (c.count, c.per_file));
                let done = live.next.saturating_mul(per_file).min(count);
                (done, count - done)
            }
            _ if adds => (live.next, tree.files.saturating_sub(live.next)),
            _ => (live.first, live.count()),
        };
        // An axis may begin at no files at all; then phases that made none are followed by
        // phases on none.
        let asked_for_none = if adds { tree.files == 0 } else { live.added && !live.any };
        if population == 0 && count != Some(0) && !asked_for_none {
            let found = count.map_or(format!("`{}`", operation.name), grouped);
            let expected = self.none_left(operation, tree, noun);
            return Err(Objection { found, expected });
        }
        let chosen = count.unwrap_or(population);
        if chosen > population {
            let there = match adds {
                true => format!("the tree has room for {} more", counted(population, noun)),
                false => format!("there are {}", counted(population, noun)),
            };
            let expected = format!("at most {}: {there}", grouped(population));
            return Err(Objection { found: grouped(chosen), expected });
        }
        whole_files(subject, chosen, population, tree)?;
        // What is added is all that is chosen from, or numbers would be left out.
        let population = if adds { chosen } else { population };
        Ok(EntryRange { first, population, count: chosen })
    }

    fn none_left(&self, operation: &Operation, tree: &Tree, noun: &str) -> String {
        let live = self.of_subject(operation.subject);
        if operation.effect == Effect::AddsEntry {
            let all = tree.chunks.filter(|_| noun == "chunk").map_or(tree.files, |c| c.count);
            let room = counted(all, noun);
            let again = match operation.subject == Subject::File && live.first > 0 {
                true => format!(", or `count = {}`: the deleted ones again", live.first),
                false => String::new(),
            };
            return format!("room in the tree: all of its {room} were made before{again}");
        }
        let made = match live.added {
            true => "earlier phases have removed all there were",
            false => "no earlier phase makes any",
        };
        let several = if noun == "file" { "files" } else { "directories" };
        format!("{several} to work on: there are 0, {made}")
    }

    /// What there is after an operation on a selection.
    fn apply(&mut self, operation: &Operation, selection: &Selection) {
        let live = match operation.subject {
            Subject::File | Subject::Chunk => &mut self.files,
            Subject::Directory => &mut self.directories,
            Subject::Holder | Subject::AnyDirectory | Subject::Block => return,
        };
        let all = selection.count == selection.population;
        match operation.effect {
            Effect::AddsEntry if live.removed.is_some() => live.removed = None,
            Effect::AddsEntry if selection.first < live.first => live.first = selection.first,
            Effect::AddsEntry => {
                live.next += selection.entries();
                live.added = true;
                live.any |= selection.entries() > 0;
            }
            Effect::RemovesEntry if all || selection.order == Order::Sequential => {
                live.first += selection.count;
            }
            Effect::RemovesEntry => {
                live.removed = Some(selection.clone()).filter(|removed| removed.count > 0);
            }
            Effect::KeepsTree => {}
        }
        // With none left the tree has room for all of them again.
        if live.count() == 0 {
            *live = LiveEntries { added: live.added, any: live.any, ..LiveEntries::default() };
        }
    }
}

/// Chunks are written to new files, each by one phase.
fn whole_files(
    subject: Subject,
    chosen: u64,
    population: u64,
    tree: &Tree,
) -> Result<(), Objection> {
    let per_file = tree.chunks.map_or(1, |chunks| chunks.per_file);
    if subject != Subject::Chunk || chosen == population || chosen.is_multiple_of(per_file) {
        return Ok(());
    }
    let expected = format!(
        "a multiple of {}, the chunks of a file, or all {}",
        grouped(per_file),
        grouped(population)
    );
    Err(Objection { found: grouped(chosen), expected })
}
