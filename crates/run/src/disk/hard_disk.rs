//! Simulates a hard disk: one arm, turning platters, a buffer that reads ahead, a write cache, and a queue
//! that the disk orders by the time to reach each request.

use std::collections::VecDeque;

use super::geometry::{Geometry, SECTOR_BYTES, SectorPosition};
use super::ranges::{DiskRange, DiskRanges};
use super::request::{Answers, BusyTimes, DiskRequest, DiskRequestKind, Mechanism, transfer_ns};
use boatload_plan::disk::HardDiskModel;

/// Parts of the write cache on each side of the arm that are looked at for the next one to write.
const NEIGHBOURS: usize = 8;

/// The longest stretch, in sectors, that is written from the cache in one go.
const DESTAGE_SECTORS: u64 = 2_048;

pub(super) struct HardDisk {
    model: HardDiskModel,
    geometry: Geometry,
    /// Not taken by the disk yet, whose queue is full or waits for a flush.
    outside: VecDeque<DiskCommand>,
    queue: Vec<DiskCommand>,
    /// Writes that wait for room in the cache.
    held: VecDeque<DiskCommand>,
    flush: Option<DiskFlush>,
    dirty: DiskRanges,
    service: Option<Service>,
    arm: Arm,
    /// What the read buffer holds, the newest last.
    segments: VecDeque<DiskRange>,
    /// When a request last came, or the arm was done with one.
    active_ns: u64,
    link_free_ns: u64,
    times: BusyTimes,
}

/// A request, and where it is on the platters.
#[derive(Clone, Copy, Debug)]
struct DiskCommand {
    request: DiskRequest,
    arrived_ns: u64,
    sectors: DiskRange,
    place: SectorPosition,
    angle_ns: u64,
}

/// A flush that the disk is at work on.
#[derive(Clone, Copy, Debug)]
struct DiskFlush {
    ticket: u64,
    begun_ns: u64,
}

/// Where the arm is.
#[derive(Clone, Copy, Debug)]
struct Arm {
    cylinder: u64,
    head: u64,
    /// The sector behind the last one that it passed, at `at_ns`.
    sector: u64,
    at_ns: u64,
    /// While it reads ahead, up to where.
    ahead_to: Option<u64>,
}

/// What the arm is at work on.
#[derive(Clone, Copy, Debug)]
struct Service {
    begun_ns: u64,
    ends_ns: u64,
    work: ArmWork,
    sectors: DiskRange,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ArmWork {
    Read { ticket: u64 },
    Write { ticket: u64 },
    Destage,
}

/// What the arm could do next.
#[derive(Clone, Copy, Debug)]
enum Choice {
    Queued(usize),
    Cached(u64),
}

/// How long it takes to reach a sector.
#[derive(Clone, Copy, Debug, Default)]
struct Positioning {
    seek_ns: u64,
    rotation_ns: u64,
}

impl HardDisk {
    pub(super) fn new(model: &HardDiskModel) -> Self {
        Self {
            model: model.clone(),
            geometry: Geometry::new(model),
            outside: VecDeque::new(),
            queue: Vec::with_capacity(model.queue),
            held: VecDeque::new(),
            flush: None,
            dirty: DiskRanges::default(),
            service: None,
            arm: Arm { cylinder: 0, head: 0, sector: 0, at_ns: 0, ahead_to: None },
            segments: VecDeque::new(),
            active_ns: 0,
            link_free_ns: 0,
            times: BusyTimes::default(),
        }
    }

    /// A request beyond the end of the disk is taken for one at its end.
    fn command(&self, arrived_ns: u64, request: DiskRequest) -> DiskCommand {
        let all = self.geometry.sectors();
        let ends = request.offset.saturating_add(request.bytes).div_ceil(SECTOR_BYTES);
        let start = request.offset / SECTOR_BYTES;
        let length = (ends - start).min(all);
        let start = start.min(all - length);
        let place = self.geometry.place(start.min(all - 1));
        let angle_ns = self.geometry.angle_ns(&place);
        let sectors = DiskRange { start, end: start + length };
        DiskCommand { request, arrived_ns, sectors, place, angle_ns }
    }

    /// Takes requests in their order while there is room for them. A flush is no queued command of SATA: it
    /// waits until the disk has none left, and holds back what comes after it.
    fn admit(&mut self, now_ns: u64, done: &mut Answers) {
        while self.flush.is_none() {
            let Some(next) = self.outside.front().copied() else { return };
            let under_way = self.commands_under_way();
            let is_flush = next.request.kind == DiskRequestKind::Flush;
            if under_way >= self.model.queue || (is_flush && under_way > 0) {
                return;
            }
            self.outside.pop_front();
            if is_flush {
                self.flush = Some(DiskFlush { ticket: next.request.ticket, begun_ns: now_ns });
                self.end_flush(now_ns, done);
            } else {
                self.take(now_ns, next, done);
            }
        }
    }

    fn commands_under_way(&self) -> usize {
        let at_arm = self.service.is_some_and(|service| service.work != ArmWork::Destage);
        self.queue.len() + self.held.len() + usize::from(at_arm)
    }

    fn take(&mut self, now_ns: u64, command: DiskCommand, done: &mut Answers) {
        let DiskRequest { ticket, kind, bytes, .. } = command.request;
        let kind = if bytes == 0 { DiskRequestKind::Discard } else { kind };
        match kind {
            DiskRequestKind::Read if self.is_buffered(now_ns, command.sectors) => {
                self.transfer(now_ns, &command, done);
                self.read_on(now_ns, command.sectors);
            }
            DiskRequestKind::Write if self.fits_cache(command.sectors) => {
                self.forget(now_ns, command.sectors);
                if self.held.is_empty() && self.has_room(command.sectors) {
                    self.cache(now_ns, &command, done);
                } else {
                    self.held.push_back(command);
                }
            }
            DiskRequestKind::Read | DiskRequestKind::Write => {
                if kind == DiskRequestKind::Write {
                    self.forget(now_ns, command.sectors);
                }
                self.queue.push(command);
            }
            // Hard disks have nothing to do for a discard.
            DiskRequestKind::Flush | DiskRequestKind::Discard => {
                done.add(ticket, now_ns, now_ns + self.model.command_ns);
            }
        }
    }

    /// Answers over the link, which moves one request after the other.
    fn transfer(&mut self, now_ns: u64, command: &DiskCommand, done: &mut Answers) {
        let begun_ns = now_ns.max(self.link_free_ns);
        let moved_ns = transfer_ns(command.request.bytes, self.model.link_rate);
        self.link_free_ns = begun_ns.saturating_add(self.model.command_ns + moved_ns);
        done.add(command.request.ticket, begun_ns, self.link_free_ns);
    }

    // --- the write cache ---

    fn fits_cache(&self, sectors: DiskRange) -> bool {
        sectors.length() * SECTOR_BYTES <= self.model.write_cache
    }

    fn has_room(&self, sectors: DiskRange) -> bool {
        let waiting = self.dirty.total() + self.destaged().map_or(0, DiskRange::length);
        let bytes = (waiting + sectors.length()) * SECTOR_BYTES;
        let has_place = self.dirty.count() < self.model.write_places || self.dirty.touch(sectors);
        bytes <= self.model.write_cache && has_place
    }

    fn cache(&mut self, now_ns: u64, command: &DiskCommand, done: &mut Answers) {
        self.dirty.add(command.sectors);
        self.transfer(now_ns, command, done);
    }

    /// What is being written from the cache to the platters.
    fn destaged(&self) -> Option<DiskRange> {
        let service = self.service.filter(|service| service.work == ArmWork::Destage)?;
        Some(service.sectors)
    }

    /// When writes leave the cache if no request comes before; `None` where nothing is in it.
    fn idle_until_ns(&self) -> Option<u64> {
        let delayed_ns = self.active_ns.saturating_add(self.model.write_delay_ns);
        (!self.dirty.is_empty()).then_some(delayed_ns)
    }

    /// Whether the cache is so full that its writes no longer wait until nothing is read.
    fn must_destage(&self) -> bool {
        !self.held.is_empty()
            || self.dirty.total() * SECTOR_BYTES * 2 > self.model.write_cache
            || self.dirty.count() * 2 > self.model.write_places
    }

    fn end_flush(&mut self, now_ns: u64, done: &mut Answers) {
        let is_clean = self.dirty.is_empty() && self.destaged().is_none();
        if let Some(flush) = self.flush.filter(|_| is_clean) {
            let ends_ns = now_ns.max(self.link_free_ns) + self.model.command_ns;
            done.add(flush.ticket, flush.begun_ns, ends_ns);
            self.link_free_ns = ends_ns;
            self.flush = None;
        }
    }

    // --- the read buffer ---

    fn segment_sectors(&self) -> u64 {
        let segments = self.model.segments.max(1) as u64;
        self.model.read_buffer / SECTOR_BYTES / segments
    }

    fn is_buffered(&mut self, now_ns: u64, sectors: DiskRange) -> bool {
        self.roll(now_ns);
        let is_destaged = self.destaged().is_some_and(|destaged| destaged.holds(sectors));
        is_destaged
            || self.dirty.hold(sectors)
            || self.segments.iter().any(|segment| segment.holds(sectors))
    }

    /// A read from the newest segment has made room in it, which is filled with what follows.
    fn read_on(&mut self, now_ns: u64, sectors: DiskRange) {
        let Some(newest) = self.segments.back().copied().filter(|s| s.holds(sectors)) else {
            return;
        };
        let to = (sectors.end + self.segment_sectors()).min(self.geometry.sectors());
        if self.arm.ahead_to.is_some() {
            self.arm.ahead_to = self.arm.ahead_to.max(Some(to));
        } else if self.service.is_none() && self.arm.sector == newest.end && newest.end < to {
            let place = self.geometry.place(newest.end);
            let positioning = self.positioning(now_ns, &place, self.geometry.angle_ns(&place), 0);
            self.move_to(place);
            self.arm.at_ns = now_ns + positioning.seek_ns + positioning.rotation_ns;
            self.arm.ahead_to = Some(to);
        }
    }

    /// Drops what is written anew from the read buffer.
    fn forget(&mut self, now_ns: u64, sectors: DiskRange) {
        self.roll(now_ns);
        if self.segments.back().is_some_and(|newest| newest.overlaps(sectors)) {
            self.arm.ahead_to = None;
        }
        self.segments.retain(|segment| !segment.overlaps(sectors));
    }

    /// Keeps what was read, as one with what it follows, and continues to read.
    fn keep(&mut self, read: DiskRange) {
        if self.model.segments == 0 || self.segment_sectors() == 0 {
            return;
        }
        let follows =
            |segment: &DiskRange| segment.start <= read.start && read.start <= segment.end;
        let start = match self.segments.iter().position(follows) {
            Some(at) => self.segments.remove(at).map_or(read.start, |segment| segment.start),
            None => read.start,
        };
        if self.segments.len() == self.model.segments {
            self.segments.pop_front();
        }
        let start = start.max(read.end.saturating_sub(self.segment_sectors()));
        self.segments.push_back(DiskRange { start, end: read.end });
        self.arm.ahead_to = Some((read.end + self.segment_sectors()).min(self.geometry.sectors()));
    }

    /// Reads ahead up to a moment.
    fn roll(&mut self, now_ns: u64) {
        let (Some(to), true) = (self.arm.ahead_to, now_ns > self.arm.at_ns) else { return };
        let reach = self.geometry.reach(self.arm.sector, to, now_ns - self.arm.at_ns);
        if reach.sector > self.arm.sector {
            self.arm.sector = reach.sector;
            self.arm.at_ns += reach.ns;
            self.move_to(self.geometry.place(reach.sector - 1));
        }
        let longest = self.segment_sectors();
        if let Some(newest) = self.segments.back_mut() {
            newest.end = newest.end.max(reach.sector);
            newest.start = newest.start.max(newest.end.saturating_sub(longest));
        }
        if reach.sector >= to {
            self.arm.ahead_to = None;
        }
    }

    // --- the arm ---

    fn move_to(&mut self, place: SectorPosition) {
        (self.arm.cylinder, self.arm.head) = (place.cylinder, place.head);
    }

    /// How long the arm takes to a sector, settling included.
    fn positioning(
        &self,
        now_ns: u64,
        place: &SectorPosition,
        angle_ns: u64,
        settle_ns: u64,
    ) -> Positioning {
        let seek_ns = match place.cylinder.abs_diff(self.arm.cylinder) {
            0 if place.head == self.arm.head => 0,
            0 => self.model.head_switch_ns + settle_ns,
            distance => self.geometry.seek_ns(distance) + settle_ns,
        };
        Positioning { seek_ns, rotation_ns: self.geometry.wait_ns(now_ns + seek_ns, angle_ns) }
    }

    /// How long it takes to where writes from the cache begin.
    fn positioning_to_write(&self, now_ns: u64, sector: u64) -> Positioning {
        let place = self.geometry.place(sector);
        let angle_ns = self.geometry.angle_ns(&place);
        self.positioning(now_ns, &place, angle_ns, self.model.write_settle_ns)
    }

    /// Whether the arm is just reading what a command asks for, or the part of it that is missing.
    fn is_being_read(&self, command: &DiskCommand) -> bool {
        let is_next =
            command.sectors.start <= self.arm.sector && self.arm.sector < command.sectors.end;
        let is_kept = || self.segments.back().is_some_and(|s| s.start <= command.sectors.start);
        self.arm.ahead_to.is_some()
            && command.request.kind == DiskRequestKind::Read
            && is_next
            && is_kept()
    }

    fn positioning_of(&self, now_ns: u64, command: &DiskCommand) -> Positioning {
        if self.is_being_read(command) {
            return Positioning::default();
        }
        let is_write = command.request.kind == DiskRequestKind::Write;
        let settle_ns = if is_write { self.model.write_settle_ns } else { 0 };
        self.positioning(now_ns, &command.place, command.angle_ns, settle_ns)
    }

    /// What the arm reaches soonest, less what the waiting of each is worth, so that nothing starves: aged
    /// shortest positioning time first (Worthington, Ganger and Patt, "Scheduling algorithms for modern
    /// disk drives", SIGMETRICS 1994).
    fn choose(&self, now_ns: u64) -> Option<Choice> {
        // In nanoseconds for each microsecond of waiting.
        let ageing = self.model.ageing_ns / 1_000;
        let waited_us = |arrived_ns: u64| now_ns.saturating_sub(arrived_ns) / 1_000;
        let bonus = |arrived_ns: u64| waited_us(arrived_ns).saturating_mul(ageing) / 1_000;
        let cost = |positioning: Positioning, arrived_ns: u64| {
            let ns = positioning.seek_ns + positioning.rotation_ns;
            ns.cast_signed() - bonus(arrived_ns).cast_signed()
        };
        let queued = self.queue.iter().enumerate().map(|(at, command)| {
            let positioning = self.positioning_of(now_ns, command);
            (cost(positioning, command.arrived_ns), Choice::Queued(at))
        });
        let best = queued.min_by_key(|(cost, _)| *cost);
        let is_idle = best.is_none() && self.idle_until_ns().is_some_and(|until| until <= now_ns);
        if !is_idle && self.flush.is_none() && !self.must_destage() {
            return best.map(|(_, choice)| choice);
        }
        let waits_since = self.held.front().map_or(now_ns, |held| held.arrived_ns);
        let cached = self.dirty.around(self.arm.sector, NEIGHBOURS).map(|start| {
            (cost(self.positioning_to_write(now_ns, start), waits_since), Choice::Cached(start))
        });
        best.into_iter().chain(cached).min_by_key(|(cost, _)| *cost).map(|(_, choice)| choice)
    }

    /// Gives the arm its next work, if it has none.
    fn dispatch(&mut self, now_ns: u64) {
        if self.service.is_some() {
            return;
        }
        self.roll(now_ns);
        match self.choose(now_ns) {
            None => {}
            Some(Choice::Queued(at)) => {
                let command = self.queue.remove(at);
                let ticket = command.request.ticket;
                let work = match command.request.kind {
                    DiskRequestKind::Write => ArmWork::Write { ticket },
                    _ => ArmWork::Read { ticket },
                };
                if self.is_being_read(&command) {
                    let rest = DiskRange { start: self.arm.sector, ..command.sectors };
                    self.serve(now_ns, self.arm.at_ns, rest, work);
                } else {
                    let positioning = self.positioning_of(now_ns, &command);
                    self.begin(now_ns, positioning, command.sectors, work);
                }
            }
            Some(Choice::Cached(start)) => {
                let Some(sectors) = self.dirty.take(start, DESTAGE_SECTORS) else { return };
                let positioning = self.positioning_to_write(now_ns, start);
                self.begin(now_ns, positioning, sectors, ArmWork::Destage);
            }
        }
    }

    fn begin(&mut self, now_ns: u64, positioning: Positioning, sectors: DiskRange, work: ArmWork) {
        self.times.seek_ns += positioning.seek_ns;
        self.times.rotation_ns += positioning.rotation_ns;
        let begins_ns = now_ns + positioning.seek_ns + positioning.rotation_ns;
        self.serve(now_ns, begins_ns, sectors, work);
    }

    fn serve(&mut self, now_ns: u64, begins_ns: u64, sectors: DiskRange, work: ArmWork) {
        let transfer_ns = self.geometry.transfer_ns(sectors.start, sectors.end);
        self.times.transfer_ns += transfer_ns;
        let ends_ns = (begins_ns + transfer_ns).max(now_ns);
        self.move_to(self.geometry.place(sectors.end - 1));
        self.arm.sector = sectors.end;
        self.arm.at_ns = ends_ns;
        self.arm.ahead_to = None;
        self.service = Some(Service { begun_ns: now_ns, ends_ns, work, sectors });
    }

    fn end_service(&mut self, service: &Service, done: &mut Answers) {
        let now_ns = service.ends_ns;
        match service.work {
            ArmWork::Read { ticket } | ArmWork::Write { ticket } => {
                self.active_ns = now_ns;
                if matches!(service.work, ArmWork::Read { .. }) {
                    self.keep(service.sectors);
                }
                done.add(ticket, service.begun_ns, now_ns + self.model.command_ns);
            }
            ArmWork::Destage => {
                while let Some(held) = self.held.front().copied() {
                    if !self.has_room(held.sectors) {
                        break;
                    }
                    self.held.pop_front();
                    self.cache(now_ns, &held, done);
                }
                self.end_flush(now_ns, done);
            }
        }
    }
}

impl Mechanism for HardDisk {
    fn submit(&mut self, now_ns: u64, request: DiskRequest, done: &mut Answers) {
        let command = self.command(now_ns, request);
        self.active_ns = now_ns;
        self.outside.push_back(command);
        self.admit(now_ns, done);
        self.dispatch(now_ns);
    }

    fn next_event(&self) -> Option<u64> {
        self.service.map(|service| service.ends_ns).or_else(|| self.idle_until_ns())
    }

    fn step(&mut self, done: &mut Answers) {
        let Some(service) = self.service.take() else {
            let idle_until_ns = self.idle_until_ns();
            return idle_until_ns.map_or((), |now_ns| self.dispatch(now_ns));
        };
        self.end_service(&service, done);
        self.admit(service.ends_ns, done);
        self.dispatch(service.ends_ns);
    }

    fn times(&self) -> BusyTimes {
        self.times
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::simulator::{DiskSimulator, FinishedRequest};
    use super::*;
    use boatload_base::random::{Stream, below, draw};
    use boatload_plan::disk::{DiskMechanism, DiskModel};

    /// A turn of 10 ms, two heads, two zones of ten cylinders with 100 and 50 sectors a track.
    pub(in super::super) fn model() -> HardDiskModel {
        HardDiskModel {
            capacity: 3_000 * SECTOR_BYTES,
            heads: 2,
            sectors_per_track: vec![100, 50],
            turn_ns: 10_000_000,
            track_to_track_ns: 1_000_000,
            average_seek_ns: 8_000_000,
            full_seek_ns: 15_000_000,
            head_switch_ns: 500_000,
            write_settle_ns: 500_000,
            command_ns: 100_000,
            // 80 us for 4 KiB.
            link_rate: 51_200_000,
            queue: 4,
            ageing_ns: 6_000_000,
            read_buffer: 128 * SECTOR_BYTES,
            segments: 2,
            write_cache: 64 * SECTOR_BYTES,
            write_places: 4,
            write_delay_ns: 0,
        }
    }

    struct Asked {
        at_us: u64,
        kind: DiskRequestKind,
        sector: u64,
        sectors: u64,
    }

    const fn read(at_us: u64, sector: u64) -> Asked {
        Asked { at_us, kind: DiskRequestKind::Read, sector, sectors: 8 }
    }

    const fn write(at_us: u64, sector: u64) -> Asked {
        Asked { at_us, kind: DiskRequestKind::Write, sector, sectors: 8 }
    }

    const fn flush(at_us: u64) -> Asked {
        Asked { at_us, kind: DiskRequestKind::Flush, sector: 0, sectors: 0 }
    }

    fn disk(model: HardDiskModel) -> DiskSimulator {
        let mechanism = DiskMechanism::HardDisk(model);
        DiskSimulator::new(&DiskModel::of(mechanism), 1)
    }

    fn submit(disk: &mut DiskSimulator, ticket: u64, asked: &Asked) {
        let (offset, bytes) = (asked.sector * SECTOR_BYTES, asked.sectors * SECTOR_BYTES);
        disk.submit(asked.at_us * 1_000, DiskRequest { ticket, kind: asked.kind, offset, bytes });
    }

    /// All answers; the disk is stepped whenever something happens, or only at the end.
    fn finished(model: HardDiskModel, asked: &[Asked], punctual: bool) -> Vec<FinishedRequest> {
        let (mut disk, mut all) = (disk(model), Vec::new());
        for (ticket, one) in asked.iter().enumerate() {
            while let Some(next) =
                disk.next_event().filter(|at| punctual && *at <= one.at_us * 1_000)
            {
                disk.advance(next, &mut all);
            }
            submit(&mut disk, ticket as u64, one);
        }
        while let Some(next) = disk.next_event().filter(|_| punctual) {
            disk.advance(next, &mut all);
        }
        disk.advance(u64::MAX / 8, &mut all);
        assert_eq!(disk.next_event(), None, "nothing is left");
        all
    }

    /// Numbers of the requests in the order they are answered, and when, in microseconds.
    fn answers(model: HardDiskModel, asked: &[Asked]) -> Vec<(u64, u64)> {
        let all = finished(model, asked, true);
        all.iter().map(|answer| (answer.ticket, answer.due_ns / 1_000)).collect()
    }

    #[test]
    fn a_read_waits_for_its_angle_and_a_seek_for_its_distance() {
        // Sector 50 passes at 5 ms, eight sectors take 0.8 ms, the command 0.1 ms.
        assert_eq!(answers(model(), &[read(0, 50)]), [(0, 5_900)]);
        // 9.9 ms to cylinder 10; its first sector passes at 5 ms of each turn; a sector takes 0.2 ms.
        assert_eq!(answers(model(), &[read(0, 2_000)]), [(0, 15_000 + 1_600 + 100)]);
    }

    #[test]
    fn what_is_read_ahead_is_waited_for_or_comes_over_the_link() {
        // The first read ends at 5.8 ms; at 6 ms the head is at sector 60, and passes 66 at 6.6 ms.
        let asked = [read(0, 50), read(6_000, 58), read(30_000, 100)];
        assert_eq!(answers(model(), &asked), [(0, 5_900), (1, 6_700), (2, 30_180)]);
        let none = HardDiskModel { segments: 0, ..model() };
        // Without a buffer the sector has passed: it comes again at 15.8 ms.
        assert_eq!(answers(none, &[read(0, 50), read(6_000, 58)])[1], (1, 16_700));
    }

    #[test]
    fn a_write_without_cache_settles_first() {
        let model = HardDiskModel { write_cache: 0, ..model() };
        // Head switch and settling take 1 ms, when sector 100 just passes.
        assert_eq!(answers(model.clone(), &[write(0, 100)]), [(0, 1_900)]);
        // Going on costs no turn: not on the track, not on the next one.
        let on = [write(0, 84), write(0, 92), write(0, 100)];
        let on = answers(model, &on);
        assert_eq!(on, [(0, 9_300), (1, 10_100), (2, 11_900)]);
    }

    #[test]
    fn a_cached_write_is_answered_at_the_speed_of_the_link_and_a_flush_waits_for_the_platter() {
        let asked = [write(0, 100), flush(1_000), read(1_100, 50)];
        // The write is on the platter at 1.8 ms; only then the read is taken, and waits for its angle.
        assert_eq!(answers(model(), &asked), [(0, 180), (1, 1_900), (2, 5_900)]);
        assert_eq!(answers(model(), &[flush(7)]), [(0, 107)], "nothing to write");
    }

    #[test]
    fn a_cached_write_waits_until_nothing_was_asked_for_a_while() {
        let model = HardDiskModel { write_delay_ns: 7_000_000, segments: 0, ..model() };
        // The write would make the head leave the track of the reads.
        let asked = [write(0, 100), read(1_000, 50), read(12_000, 20)];
        assert_eq!(answers(model.clone(), &asked), [(0, 180), (1, 5_900), (2, 12_900)]);
        let late = [write(0, 100), read(8_000, 50)];
        assert_eq!(answers(model, &late)[1], (1, 15_900), "while it is written a read waits");
    }

    #[test]
    fn a_flush_waits_for_the_commands_before_it() {
        let asked = [read(0, 50), flush(10), write(20, 100)];
        let answers = answers(model(), &asked);
        assert_eq!(answers, [(0, 5_900), (1, 5_900), (2, 6_080)]);
    }

    #[test]
    fn a_full_cache_makes_writes_wait_for_room() {
        let all = Asked { sectors: 64, ..write(0, 0) };
        // 64 sectors fill the cache; they are on the platter at 6.4 ms.
        assert_eq!(answers(model(), &[all, write(0, 500)]), [(0, 740), (1, 6_580)]);
        let more = Asked { sectors: 65, ..write(0, 0) };
        assert_eq!(answers(model(), &[more]), [(0, 6_600)], "more than the cache goes past it");
    }

    #[test]
    fn a_block_that_was_just_written_is_read_from_the_cache() {
        let asked = [write(0, 100), read(200, 100)];
        assert_eq!(answers(model(), &asked), [(0, 180), (1, 380)]);
        let asked = [write(0, 100), write(0, 2_000), read(400, 2_000)];
        assert_eq!(answers(model(), &asked)[2], (2, 580), "not yet being written to the platter");
    }

    #[test]
    fn the_read_buffer_keeps_no_more_of_a_stream_than_a_segment_holds() {
        // The stream never lets the arm wait. The last read is taken when it has reached sector 96.
        let mut asked: Vec<Asked> = (0..15).map(|i| read(0, 8 * i)).collect();
        asked.push(read(0, 0));
        let answers = answers(model(), &asked);
        assert_eq!(answers.last().map(|(ticket, _)| *ticket), Some(15), "{answers:?}");
    }

    #[test]
    fn a_write_makes_what_was_read_ahead_there_old() {
        let model = HardDiskModel { write_cache: 0, ..model() };
        let asked = [read(0, 50), write(8_000, 60), read(30_000, 60)];
        let answers = answers(model, &asked);
        assert!(answers[2].1 > 30_180, "{answers:?}");
    }

    #[test]
    fn the_nearest_in_time_is_served_first() {
        let asked = [read(0, 50), read(1_000, 2_000), read(1_100, 70)];
        let order: Vec<u64> = answers(model(), &asked).iter().map(|(ticket, _)| *ticket).collect();
        assert_eq!(order, [0, 2, 1]);
    }

    #[test]
    fn a_far_request_does_not_starve_among_near_ones() {
        let mut disk = disk(HardDiskModel { segments: 0, ..model() });
        let near = |i| read(0, below(draw(1, Stream::Order, i), 192));
        let (mut finished, mut asked, mut now_ns) = (Vec::new(), 3, 0);
        (1..=asked).for_each(|ticket| submit(&mut disk, ticket, &near(ticket)));
        submit(&mut disk, 0, &read(0, 2_900));
        while finished.iter().all(|one: &FinishedRequest| one.ticket != 0) {
            now_ns = disk.next_event().expect("requests are under way");
            disk.advance(now_ns, &mut finished);
            for _ in 0..finished.len() as u64 + 3 - asked {
                asked += 1;
                submit(&mut disk, asked, &Asked { at_us: now_ns / 1_000, ..near(asked) });
            }
            assert!(now_ns < 10_000_000_000, "it waited 10 s");
        }
        assert!(now_ns > 50_000_000, "near ones were served before it: {now_ns}");
    }

    #[test]
    fn a_flush_is_at_work_from_when_the_commands_before_it_have_ended() {
        let all = finished(model(), &[read(0, 50), flush(10)], true);
        let service: Vec<_> = all.iter().map(|one| (one.ticket, one.service_ns)).collect();
        assert_eq!(service, [(0, 5_900_000), (1, 100_000)]);
    }

    #[test]
    fn looking_late_gives_the_same_times() {
        let kinds = [
            DiskRequestKind::Read,
            DiskRequestKind::Write,
            DiskRequestKind::Read,
            DiskRequestKind::Write,
            DiskRequestKind::Flush,
        ];
        let asked: Vec<Asked> = (0..2_000)
            .map(|i| Asked {
                at_us: i * 4_000,
                kind: kinds[below(draw(3, Stream::Order, i), 5) as usize],
                sector: below(draw(4, Stream::Order, i), 2_900),
                sectors: 1 + below(draw(5, Stream::Order, i), 40),
            })
            .collect();
        for write_delay_ns in [0, 3_000_000, 50_000_000] {
            let model = HardDiskModel { write_delay_ns, ..model() };
            let punctual = finished(model.clone(), &asked, true);
            assert_eq!(punctual.len(), asked.len());
            assert_eq!(finished(model, &asked, false), punctual);
        }
    }

    #[test]
    fn requests_beyond_the_end_and_of_no_bytes_are_answered() {
        let far = Asked { sector: 1 << 40, ..read(0, 0) };
        let long = Asked { sectors: 1 << 20, ..read(0, 0) };
        let nothing = Asked { sectors: 0, ..write(0, 1 << 40) };
        let discard = Asked { kind: DiskRequestKind::Discard, ..write(0, 0) };
        assert_eq!(answers(model(), &[nothing, discard]), [(0, 100), (1, 100)]);
        let answers = answers(model(), &[far, long]);
        assert_eq!(answers.len(), 2, "{answers:?}");
        let mut disk = disk(model());
        disk.submit(
            0,
            DiskRequest {
                ticket: 1,
                kind: DiskRequestKind::Write,
                offset: u64::MAX,
                bytes: 1 << 40,
            },
        );
        disk.advance(u64::MAX / 8, &mut Vec::new());
        assert_eq!(disk.next_event(), None);
    }

    #[test]
    fn the_time_of_the_arm_is_told_apart() {
        let mut disk = disk(model());
        submit(&mut disk, 1, &read(0, 50));
        disk.advance(5_900_000, &mut Vec::new());
        let activity = disk.activity();
        assert_eq!(activity.seek_seconds, Some(0.0));
        assert_eq!(
            (activity.rotation_seconds, activity.transfer_seconds),
            (Some(0.005), Some(0.000_8))
        );
    }
}
