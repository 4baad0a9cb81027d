//! Simulates a disk of flash chips: units that read and program pages side by side, a buffer for writes,
//! and a link that moves one thing after the other.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::ranges::{DiskRange, DiskRanges};
use super::request::{Answers, BusyTimes, DiskRequest, DiskRequestKind, Mechanism, transfer_ns};
use boatload_plan::disk::FlashModel;

pub(super) struct Flash {
    model: FlashModel,
    units: Vec<FlashUnit>,
    busy_units: usize,
    /// The unit after the last one that was given a page to program.
    next_unit: usize,
    reads: Vec<PageReads>,
    free_reads: Vec<usize>,
    events: BinaryHeap<Reverse<FlashEvent>>,
    events_made: u64,
    /// What came to the buffer since the last flush, and waits to be programmed.
    dirty: DiskRanges,
    /// Flushes that wait, each with its own part of the buffer; the oldest first.
    flushes: VecDeque<PendingFlush>,
    programming_bytes: u64,
    /// Programs that were begun and that ended. All take equally long: they end in the order they began.
    programs_begun: u64,
    programs_ended: u64,
    /// Writes that wait for room in the buffer.
    held: VecDeque<BufferedWrite>,
    link_free_ns: u64,
    times: BusyTimes,
}

#[derive(Debug, Default)]
struct FlashUnit {
    is_busy: bool,
    /// Whether the last thing it did was to read.
    has_read: bool,
    /// Reads that wait for it, by their number in `reads`.
    waiting: VecDeque<usize>,
}

/// A read under way.
#[derive(Clone, Copy, Debug)]
struct PageReads {
    request: DiskRequest,
    begun_ns: u64,
    pages_left: u64,
    /// When its data have gone over the link; none before its first page is read.
    sent_ns: Option<u64>,
}

#[derive(Clone, Copy, Debug)]
struct BufferedWrite {
    request: DiskRequest,
    begun_ns: u64,
}

/// A flush, which ends when all that was in the buffer at its arrival is programmed.
#[derive(Debug)]
struct PendingFlush {
    ticket: u64,
    arrived_ns: u64,
    /// Dirty data of the buffer that no unit is programming yet, without what an earlier flush waits for.
    dirty: DiskRanges,
    /// The number of the last program that it waits for.
    last_program: u64,
}

/// Events in the order of their time; events of the same time in the order they were made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct FlashEvent {
    at_ns: u64,
    order: u64,
    what: FlashStep,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum FlashStep {
    /// The command of a read has passed the link.
    ReadCommand { read: usize },
    /// A unit has read a page.
    PageRead { unit: usize, read: usize },
    /// A write and its data have come over the link.
    WriteData { ticket: u64, offset: u64, bytes: u64, begun_ns: u64 },
    /// A unit has programmed a page.
    Programmed { unit: usize, bytes: u64 },
}

impl Flash {
    pub(super) fn new(model: &FlashModel) -> Self {
        Self {
            model: model.clone(),
            units: (0..model.units).map(|_| FlashUnit::default()).collect(),
            busy_units: 0,
            next_unit: 0,
            reads: Vec::new(),
            free_reads: Vec::new(),
            events: BinaryHeap::new(),
            events_made: 0,
            dirty: DiskRanges::default(),
            flushes: VecDeque::new(),
            programming_bytes: 0,
            programs_begun: 0,
            programs_ended: 0,
            held: VecDeque::new(),
            link_free_ns: 0,
            times: BusyTimes::default(),
        }
    }

    fn at(&mut self, at_ns: u64, what: FlashStep) {
        self.events.push(Reverse(FlashEvent { at_ns, order: self.events_made, what }));
        self.events_made += 1;
    }

    /// Takes the link for a time, as soon as it is free: when that ends.
    fn over_link(&mut self, now_ns: u64, ns: u64) -> u64 {
        self.times.transfer_ns = self.times.transfer_ns.saturating_add(ns);
        self.link_free_ns = self.link_free_ns.max(now_ns).saturating_add(ns);
        self.link_free_ns
    }

    // --- reads ---

    fn add_read(&mut self, begun_ns: u64, request: DiskRequest) -> usize {
        let read = PageReads { request, begun_ns, pages_left: 0, sent_ns: None };
        if let Some(free) = self.free_reads.pop() {
            self.reads[free] = read;
            return free;
        }
        self.reads.push(read);
        self.reads.len() - 1
    }

    fn start_read(&mut self, now_ns: u64, read: usize, done: &mut Answers) {
        let request = self.reads[read].request;
        let wanted = range_of(&request);
        if self.parts().any(|part| part.hold(wanted)) {
            self.send(now_ns, read);
            self.end_read(now_ns, read, done);
            return;
        }
        let pages = wanted.start / self.model.page..wanted.end.div_ceil(self.model.page);
        self.reads[read].pages_left = pages.end - pages.start;
        for page in pages {
            let unit = (page % self.units.len() as u64) as usize;
            self.units[unit].waiting.push_back(read);
            self.start_unit(now_ns, unit);
        }
    }

    /// Sends what was read over the link. It is booked when the first page is there: the others follow
    /// while it is sent.
    fn send(&mut self, now_ns: u64, read: usize) {
        let ns = transfer_ns(self.reads[read].request.bytes, self.model.link_rate);
        let sent_ns = self.over_link(now_ns, ns);
        self.reads[read].sent_ns = Some(sent_ns);
    }

    fn end_page(&mut self, now_ns: u64, read: usize, done: &mut Answers) {
        if self.reads[read].sent_ns.is_none() {
            self.send(now_ns, read);
        }
        self.reads[read].pages_left -= 1;
        if self.reads[read].pages_left == 0 {
            self.end_read(now_ns, read, done);
        }
    }

    fn end_read(&mut self, now_ns: u64, read: usize, done: &mut Answers) {
        let PageReads { request, begun_ns, sent_ns, .. } = self.reads[read];
        let last_page = transfer_ns(request.bytes.min(self.model.page), self.model.link_rate);
        let due_ns = sent_ns.unwrap_or(now_ns).max(now_ns + last_page);
        done.add(request.ticket, begun_ns, due_ns);
        self.free_reads.push(read);
    }

    // --- writes ---

    /// The parts of the buffer in the order they are programmed: one for each flush, then what came since.
    fn parts(&self) -> impl Iterator<Item = &DiskRanges> {
        self.flushes.iter().map(|flush| &flush.dirty).chain([&self.dirty])
    }

    /// Bytes that wait to be programmed.
    fn dirty_bytes(&self) -> u64 {
        self.parts().map(DiskRanges::total).sum()
    }

    /// Whether a write fits in the buffer; one larger than all of it is taken when it is empty.
    fn has_room(&self, bytes: u64) -> bool {
        let waiting = self.dirty_bytes() + self.programming_bytes;
        waiting == 0 || waiting.saturating_add(bytes) <= self.model.write_buffer
    }

    /// Called after anything in the buffer has changed: takes held writes that now have room, in their
    /// order, answers flushes that wait for nothing more, and gives idle units pages to program.
    fn settle_buffer(&mut self, now_ns: u64, done: &mut Answers) {
        while let Some(held) = self.held.front().copied() {
            if !self.has_room(held.request.bytes) {
                break;
            }
            self.held.pop_front();
            self.dirty.add(range_of(&held.request));
            done.add(held.request.ticket, held.begun_ns, now_ns + self.model.acknowledge_ns);
        }
        self.end_flushes(now_ns, done);
        self.program(now_ns);
    }

    fn end_flushes(&mut self, now_ns: u64, done: &mut Answers) {
        while let Some(flush) = self.flushes.front() {
            if !flush.dirty.is_empty() || flush.last_program > self.programs_ended {
                return;
            }
            done.add(flush.ticket, flush.arrived_ns, now_ns + self.model.command_ns);
            self.flushes.pop_front();
        }
    }

    /// Whether somebody waits for what is in the buffer to be programmed.
    fn is_waited_for(&self) -> bool {
        !self.held.is_empty() || self.flushes.iter().any(|flush| !flush.dirty.is_empty())
    }

    /// Whether the buffer holds a page's worth, or somebody waits for less.
    fn has_page(&self) -> bool {
        let bytes = self.dirty_bytes();
        bytes >= self.model.page || (bytes > 0 && self.is_waited_for())
    }

    /// Gives pages from the buffer to the units that have nothing to do, in turn.
    fn program(&mut self, now_ns: u64) {
        while self.busy_units < self.units.len() && self.has_page() {
            let unit = self.next_unit;
            self.next_unit = (unit + 1) % self.units.len();
            self.start_unit(now_ns, unit);
        }
    }

    /// Takes the next page out of the buffer: what flushes wait for first. How many bytes it has.
    fn take_page(&mut self) -> u64 {
        self.programs_begun += 1;
        let mut bytes = 0;
        for flush in &mut self.flushes {
            let taken = flush.dirty.take_lowest(self.model.page - bytes);
            if taken > 0 {
                flush.last_program = self.programs_begun;
            }
            bytes += taken;
        }
        bytes += self.dirty.take_lowest(self.model.page - bytes);
        self.programming_bytes += bytes;
        bytes
    }

    // --- units ---

    /// Gives a unit its next page, unless it is at work: one to read before one to program. Both take turns
    /// while somebody waits for a program, so that neither starves.
    fn start_unit(&mut self, now_ns: u64, unit: usize) {
        if self.units[unit].is_busy {
            return;
        }
        let must_program = self.units[unit].has_read && self.is_waited_for() && self.has_page();
        let next = if must_program { None } else { self.units[unit].waiting.pop_front() };
        if let Some(read) = next {
            self.at(now_ns + self.model.read_ns, FlashStep::PageRead { unit, read });
        } else if self.has_page() {
            let bytes = self.take_page();
            self.at(now_ns + self.model.program_ns, FlashStep::Programmed { unit, bytes });
        } else {
            return;
        }
        self.units[unit].is_busy = true;
        self.units[unit].has_read = next.is_some();
        self.busy_units += 1;
    }

    fn end_unit(&mut self, now_ns: u64, unit: usize) {
        self.units[unit].is_busy = false;
        self.busy_units -= 1;
        self.start_unit(now_ns, unit);
    }
}

fn range_of(request: &DiskRequest) -> DiskRange {
    DiskRange { start: request.offset, end: request.offset.saturating_add(request.bytes) }
}

impl Mechanism for Flash {
    fn submit(&mut self, now_ns: u64, request: DiskRequest, done: &mut Answers) {
        let DiskRequest { ticket, kind, offset, bytes } = request;
        let command_ns = self.model.command_ns;
        match kind {
            DiskRequestKind::Read if bytes > 0 => {
                let came_ns = self.over_link(now_ns, command_ns);
                let read = self.add_read(came_ns - command_ns, request);
                self.at(came_ns, FlashStep::ReadCommand { read });
            }
            DiskRequestKind::Write if bytes > 0 => {
                let link_ns = command_ns + transfer_ns(bytes, self.model.link_rate);
                let came_ns = self.over_link(now_ns, link_ns);
                let begun_ns = came_ns - link_ns;
                self.at(came_ns, FlashStep::WriteData { ticket, offset, bytes, begun_ns });
            }
            DiskRequestKind::Flush => {
                let dirty = std::mem::take(&mut self.dirty);
                let (arrived_ns, last_program) = (now_ns, self.programs_begun);
                self.flushes.push_back(PendingFlush { ticket, arrived_ns, dirty, last_program });
                self.settle_buffer(now_ns, done);
            }
            DiskRequestKind::Discard => {
                let flushed = self.flushes.iter_mut().map(|flush| &mut flush.dirty);
                flushed.chain([&mut self.dirty]).for_each(|part| part.remove(range_of(&request)));
                self.settle_buffer(now_ns, done);
                let came_ns = self.over_link(now_ns, command_ns);
                done.add(ticket, came_ns - command_ns, came_ns + self.model.discard_ns);
            }
            DiskRequestKind::Read | DiskRequestKind::Write => {
                let came_ns = self.over_link(now_ns, command_ns);
                done.add(ticket, came_ns - command_ns, came_ns);
            }
        }
    }

    fn next_event(&self) -> Option<u64> {
        self.events.peek().map(|Reverse(next)| next.at_ns)
    }

    fn step(&mut self, done: &mut Answers) {
        let Some(Reverse(FlashEvent { at_ns, what, .. })) = self.events.pop() else { return };
        match what {
            FlashStep::ReadCommand { read } => self.start_read(at_ns, read, done),
            FlashStep::PageRead { unit, read } => {
                self.end_page(at_ns, read, done);
                self.end_unit(at_ns, unit);
            }
            FlashStep::WriteData { ticket, offset, bytes, begun_ns } => {
                let request = DiskRequest { ticket, kind: DiskRequestKind::Write, offset, bytes };
                self.held.push_back(BufferedWrite { request, begun_ns });
                self.settle_buffer(at_ns, done);
            }
            FlashStep::Programmed { unit, bytes } => {
                self.programming_bytes -= bytes;
                self.programs_ended += 1;
                self.settle_buffer(at_ns, done);
                self.end_unit(at_ns, unit);
            }
        }
    }

    fn times(&self) -> BusyTimes {
        self.times
    }
}

#[cfg(test)]
mod tests {
    use super::super::simulator::DiskSimulator;
    use super::*;
    use boatload_plan::disk::{DiskMechanism, DiskModel};

    const PAGE: u64 = 4_096;

    /// Two units with pages of 4 KiB, which take 10 us on the link; room for four pages.
    fn model() -> FlashModel {
        FlashModel {
            link_rate: 409_600_000,
            command_ns: 1_000,
            acknowledge_ns: 5_000,
            units: 2,
            page: PAGE,
            read_ns: 50_000,
            program_ns: 200_000,
            write_buffer: 4 * PAGE,
            discard_ns: 30_000,
        }
    }

    fn disk(model: FlashModel) -> DiskSimulator {
        let mechanism = DiskMechanism::Flash(model);
        DiskSimulator::new(&DiskModel::of(mechanism), 1)
    }

    struct Asked {
        at_us: u64,
        kind: DiskRequestKind,
        page: u64,
        pages: u64,
    }

    const fn asked(at_us: u64, kind: DiskRequestKind, page: u64) -> Asked {
        Asked { at_us, kind, page, pages: 1 }
    }

    /// Numbers of the requests in the order they are answered, and when, in microseconds.
    fn answers(list: &[Asked]) -> Vec<(u64, u64)> {
        answers_of(model(), list)
    }

    fn answers_of(model: FlashModel, list: &[Asked]) -> Vec<(u64, u64)> {
        let (mut disk, mut all) = (disk(model), Vec::new());
        for (ticket, one) in list.iter().enumerate() {
            let (offset, bytes) = (one.page * PAGE, one.pages * PAGE);
            let request = DiskRequest { ticket: ticket as u64, kind: one.kind, offset, bytes };
            disk.submit(one.at_us * 1_000, request);
        }
        disk.advance(u64::MAX / 8, &mut all);
        assert_eq!(disk.next_event(), None, "nothing is left");
        all.iter().map(|answer| (answer.ticket, answer.due_ns / 1_000)).collect()
    }

    use DiskRequestKind::{Discard, Flush, Read, Write};

    #[test]
    fn units_read_side_by_side_and_the_link_moves_one_after_the_other() {
        assert_eq!(answers(&[asked(0, Read, 0)]), [(0, 61)]);
        assert_eq!(answers(&[asked(0, Read, 0), asked(0, Read, 1)]), [(0, 61), (1, 71)]);
        let same_unit = answers(&[asked(0, Read, 0), asked(0, Read, 2)]);
        assert_eq!(same_unit, [(0, 61), (1, 111)]);
        let long = Asked { pages: 4, ..asked(0, Read, 0) };
        // Two pages from each unit: the last is there at 101 us.
        assert_eq!(answers(&[long]), [(0, 111)]);
    }

    #[test]
    fn a_write_is_answered_from_the_buffer_and_a_flush_waits_for_the_page() {
        let list = [asked(0, Write, 0), asked(20, Flush, 0), asked(300, Flush, 0)];
        assert_eq!(answers(&list), [(0, 16), (1, 212), (2, 301)]);
        let part = DiskRequest { ticket: 1, kind: Write, offset: 0, bytes: 512 };
        let (mut disk, mut all) = (disk(model()), Vec::new());
        disk.submit(0, part);
        disk.advance(1_000_000_000, &mut all);
        disk.submit(1_000_000_000, DiskRequest { kind: Flush, ..part });
        disk.advance(2_000_000_000, &mut all);
        assert_eq!(all[1].due_ns, 1_000_201_000, "less than a page is programmed for the flush");
    }

    #[test]
    fn a_full_buffer_makes_writes_wait_for_a_program() {
        let list: Vec<Asked> = (0..5).map(|page| asked(0, Write, page)).collect();
        assert_eq!(answers(&list), [(0, 16), (1, 27), (2, 38), (3, 49), (4, 216)]);
        let huge = Asked { pages: 64, ..asked(0, Write, 0) };
        assert_eq!(answers(&[huge]).len(), 1, "more than the buffer is taken when it is empty");
    }

    #[test]
    fn a_block_that_was_just_written_is_read_from_the_buffer() {
        let mut list: Vec<Asked> = (0..3).map(|page| asked(0, Write, page)).collect();
        list.push(asked(40, Read, 2));
        assert_eq!(answers(&list)[3], (3, 51));
    }

    #[test]
    fn a_read_waits_for_the_program_of_its_unit_and_goes_before_the_next() {
        let list =
            [asked(0, Write, 0), asked(0, Write, 4), asked(0, Write, 8), asked(50, Read, 20)];
        // The unit programs from 11 to 211 us, then reads.
        assert_eq!(answers(&list)[3], (3, 271));
    }

    #[test]
    fn discards_and_requests_of_no_bytes_are_answered() {
        let nothing = Asked { pages: 0, ..asked(0, Read, 9) };
        assert_eq!(answers(&[asked(0, Discard, 0), nothing]), [(1, 2), (0, 31)]);
        let far = asked(0, Read, u64::MAX / PAGE);
        assert_eq!(answers(&[far]).len(), 1);
        let mut list: Vec<Asked> = (0..4).map(|page| asked(0, Write, page)).collect();
        list.push(asked(50, Discard, 2));
        list.push(asked(60, Flush, 0));
        // Without the third page the flush waits for the second program of unit 0 no more.
        assert_eq!(answers(&list).last(), Some(&(5, 412)));
    }

    /// When the request with this number is answered, in microseconds.
    fn answered(answers: &[(u64, u64)], number: u64) -> u64 {
        answers.iter().find(|(ticket, _)| *ticket == number).expect("it is answered").1
    }

    #[test]
    fn a_flush_waits_for_what_came_before_it_whatever_comes_later_and_where() {
        let roomy = FlashModel { write_buffer: 8 * PAGE, ..model() };
        let mut list: Vec<Asked> =
            [50, 60, 10, 11].into_iter().map(|page| asked(0, Write, page)).collect();
        list.extend([asked(50, Flush, 0), asked(60, Write, 0), asked(60, Write, 1)]);
        // Each unit programs two of the first four pages, one after the other, from 22 us on.
        assert_eq!(answered(&answers_of(roomy.clone(), &list), 4), 423);
        list.push(Asked { pages: 2, ..asked(100, Discard, 0) });
        assert_eq!(answered(&answers_of(roomy.clone(), &list), 4), 423, "later pages do not count");
        list.push(Asked { pages: 2, ..asked(110, Discard, 10) });
        assert_eq!(answered(&answers_of(roomy, &list), 4), 223, "nothing more to program");
    }

    #[test]
    fn a_write_that_waits_for_room_is_taken_when_a_discard_makes_it() {
        let one = FlashModel { units: 1, write_buffer: PAGE, ..model() };
        // The unit reads from 1 to 51 us.
        let list =
            [asked(0, Read, 9), asked(2, Write, 0), asked(2, Write, 5), asked(40, Discard, 0)];
        assert_eq!(answered(&answers_of(one, &list), 2), 45);
    }

    #[test]
    fn neither_a_flush_nor_a_read_starves_while_the_other_kind_goes_on() {
        let one = FlashModel { units: 1, ..model() };
        let mut list: Vec<Asked> = (0..100).map(|page| asked(0, Read, page)).collect();
        list.extend([asked(5, Write, 500), asked(150, Flush, 0)]);
        let answers = answers_of(one.clone(), &list);
        assert!(answered(&answers, 101) < 600, "{answers:?}");
        let mut list: Vec<Asked> = (0..100).map(|page| asked(0, Write, page)).collect();
        list.push(asked(1_500, Read, 500));
        let answers = answers_of(one, &list);
        assert!(answered(&answers, 100) < 2_000, "{answers:?}");
    }

    #[test]
    fn the_service_of_a_request_begins_when_it_gets_the_link() {
        let (mut disk, mut all) = (disk(model()), Vec::new());
        for ticket in 0..2 {
            let (kind, offset) = (Write, ticket * PAGE);
            disk.submit(0, DiskRequest { ticket, kind, offset, bytes: PAGE });
        }
        disk.advance(1_000_000, &mut all);
        assert!(all.iter().all(|one| one.service_ns == 16_000), "{all:?}");
    }
}
