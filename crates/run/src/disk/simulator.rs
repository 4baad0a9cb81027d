//! Simulates a disk in virtual time: requests go in with the time of their arrival, answers come out with
//! the time they are due. It never reads a clock.

use std::collections::VecDeque;

use super::flash::Flash;
use super::hard_disk::HardDisk;
use super::network::Network;
use super::request::{Answers, BusyTimes, Mechanism};
pub use super::request::{DiskRequest, DiskRequestKind, FinishedRequest};
use boatload_host::disk_activity::DiskActivity;
use boatload_plan::disk::{DiskMechanism, DiskModel};

/// A disk. What happens in it depends on the requests and the times of their arrival alone: looking
/// at it late changes nothing.
pub struct DiskSimulator {
    mechanism: Box<dyn Mechanism>,
    /// The latest time that it was given.
    now_ns: u64,
    answers: Answers,
    /// Answers that are due, for the next `advance`.
    finished: VecDeque<FinishedRequest>,
    /// Requests that have arrived and are not due yet.
    at_disk: u64,
    /// Where the last read or write ended.
    last_end: u64,
    counts: DiskActivity,
}

impl DiskSimulator {
    /// A disk as it is when nothing was ever asked of it. What is drawn at random follows from `seed`.
    pub fn new(model: &DiskModel, seed: u64) -> Self {
        let mechanism: Box<dyn Mechanism> = match &model.mechanism {
            DiskMechanism::HardDisk(model) => Box::new(HardDisk::new(model)),
            DiskMechanism::Flash(model) => Box::new(Flash::new(model)),
            DiskMechanism::Network(model) => Box::new(Network::new(model, seed)),
            DiskMechanism::Memory => Box::new(Memory),
        };
        Self {
            mechanism,
            now_ns: 0,
            answers: Answers::default(),
            finished: VecDeque::new(),
            at_disk: 0,
            last_end: 0,
            counts: DiskActivity::default(),
        }
    }

    /// A request arrives at `now_ns`; time does not go back, whatever `now_ns` says.
    pub fn submit(&mut self, now_ns: u64, request: DiskRequest) {
        self.settle(now_ns);
        self.at_disk += 1;
        self.count(&request);
        self.mechanism.submit(self.now_ns, request, &mut self.answers);
    }

    /// When `advance` has something to do next; none while nothing is under way.
    pub fn next_event(&self) -> Option<u64> {
        let finished = self.finished.front().map(|finished| finished.due_ns);
        let others = self.answers.next_due().into_iter().chain(self.mechanism.next_event());
        finished.into_iter().chain(others).min()
    }

    /// Adds the requests that are answered by `now_ns` to `finished`, in the order they are due.
    pub fn advance(&mut self, now_ns: u64, finished: &mut Vec<FinishedRequest>) {
        self.settle(now_ns);
        finished.extend(self.finished.drain(..));
    }

    /// What the disk was asked for and did until now.
    pub fn activity(&self) -> DiskActivity {
        let BusyTimes { seek_ns, rotation_ns, transfer_ns } = self.mechanism.times();
        let seconds = |ns: u64| Some(ns as f64 / 1e9);
        DiskActivity {
            seek_seconds: seconds(seek_ns),
            rotation_seconds: seconds(rotation_ns),
            transfer_seconds: seconds(transfer_ns),
            ..self.counts.clone()
        }
    }

    /// Carries out all events up to a moment, each at its own time.
    fn settle(&mut self, now_ns: u64) {
        self.now_ns = self.now_ns.max(now_ns);
        while self.mechanism.next_event().is_some_and(|at_ns| at_ns <= self.now_ns) {
            self.mechanism.step(&mut self.answers);
        }
        while let Some(finished) = self.answers.take_due(self.now_ns) {
            self.at_disk -= 1;
            self.finished.push_back(finished);
        }
    }

    fn count(&mut self, request: &DiskRequest) {
        let counts = &mut self.counts;
        counts.queue_sum += self.at_disk;
        match request.kind {
            DiskRequestKind::Read => {
                counts.reads += 1;
                counts.read_bytes += request.bytes;
            }
            DiskRequestKind::Write => {
                counts.writes += 1;
                counts.write_bytes += request.bytes;
            }
            DiskRequestKind::Flush => counts.flushes += 1,
            DiskRequestKind::Discard => counts.discards += 1,
        }
        if matches!(request.kind, DiskRequestKind::Read | DiskRequestKind::Write) {
            counts.count_distance(request.offset.abs_diff(self.last_end));
            self.last_end = request.offset.saturating_add(request.bytes);
        }
    }
}

/// Memory: every answer is there at once.
struct Memory;

impl Mechanism for Memory {
    fn submit(&mut self, now_ns: u64, request: DiskRequest, done: &mut Answers) {
        done.add(request.ticket, now_ns, now_ns);
    }

    fn times(&self) -> BusyTimes {
        BusyTimes::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use boatload_plan::disk::find_disk;

    fn request(ticket: u64, kind: DiskRequestKind, offset: u64, bytes: u64) -> DiskRequest {
        DiskRequest { ticket, kind, offset, bytes }
    }

    #[test]
    fn memory_answers_at_once_and_time_does_not_go_back() {
        let (mut disk, mut all) = (DiskSimulator::new(&find_disk("ram").unwrap(), 1), Vec::new());
        disk.submit(500, request(1, DiskRequestKind::Write, 0, 4_096));
        assert_eq!(disk.next_event(), Some(500));
        disk.submit(400, request(2, DiskRequestKind::Flush, 0, 0));
        disk.advance(0, &mut all);
        let due: Vec<_> = all.iter().map(|one| (one.ticket, one.due_ns)).collect();
        assert_eq!(due, [(1, 500), (2, 500)]);
        assert_eq!(disk.next_event(), None);
    }

    #[test]
    fn what_was_asked_is_counted() {
        let mut disk = DiskSimulator::new(&find_disk("sata-ssd").unwrap(), 1);
        disk.submit(0, request(1, DiskRequestKind::Read, 0, 4_096));
        disk.submit(0, request(2, DiskRequestKind::Write, 4_096, 8_192));
        disk.submit(0, request(3, DiskRequestKind::Read, 0, 4_096));
        disk.submit(0, request(4, DiskRequestKind::Flush, 0, 0));
        disk.advance(1_000_000_000, &mut Vec::new());
        disk.submit(2_000_000_000, request(5, DiskRequestKind::Discard, 0, 4_096));
        let activity = disk.activity();
        assert_eq!((activity.reads, activity.writes), (2, 1));
        assert_eq!((activity.flushes, activity.discards, activity.requests()), (1, 1, 5));
        assert_eq!((activity.read_bytes, activity.write_bytes), (8_192, 8_192));
        assert_eq!((activity.sequential, activity.distance_bytes), (2, 12_288));
        assert_eq!(activity.queue_sum, 1 + 2 + 3 + 4 + 1);
    }

    /// Models that are accepted, at the ends of what their keys may be.
    fn extreme_models() -> Vec<DiskModel> {
        let head = "name = \"x\"\nabout = \"y\"\n";
        let network = "[network]\nround_trip = \"1us\"\nround_trip_p99 = \"10s\"\n\
                       bandwidth = \"1kB/s\"\noperations_per_second = 1\n";
        let flash = "[flash]\nlink = \"1kB/s\"\ncommand = \"10s\"\nacknowledge = \"10s\"\n\
                     units = 1\npage = 512\nread = \"10s\"\nprogram = \"10s\"\n\
                     write_buffer = 512\ndiscard = \"10s\"\n";
        let hard_disk = |figures: &str, time: &str, buffer: &str| {
            format!(
                "[hard_disk]\n{figures}\nlink = \"1kB/s\"\nqueue = 1_024\nread_buffer = {buffer}\n\
                 segments = 1\nwrite_cache = {buffer}\nwrite_places = 1\nwrite_delay = {time}\ntrack_to_track = {time}\n\
                 average_seek = {time}\nfull_seek = {time}\nhead_switch = {time}\n\
                 write_settle = {time}\ncommand = {time}\nageing = {time}\n"
            )
        };
        let thin = "capacity = \"1000TB\"\nheads = 1\nrpm = 600\nsectors_per_track = [1]";
        let wide = "capacity = \"1MB\"\nheads = 64\nrpm = 60_000\nsectors_per_track = [1_000_000]";
        let hard_disks = [
            hard_disk(thin, "\"10s\"", "\"1GB\""),
            hard_disk(thin, "0", "0"),
            hard_disk(wide, "\"10s\"", "0"),
            hard_disk(wide, "0", "\"1000TB\""),
        ];
        let all = [network, flash].map(String::from).into_iter().chain(hard_disks);
        let read = |text: String| boatload_plan::disk::read_disk_model(&format!("{head}{text}"));
        all.map(|text| read(text).map_err(|problems| problems.report("x")).unwrap()).collect()
    }

    #[test]
    fn the_times_of_the_slowest_models_that_are_accepted_do_not_overflow() {
        use DiskRequestKind::{Discard, Flush, Read, Write};
        for model in extreme_models() {
            let (mut disk, mut all) = (DiskSimulator::new(&model, 1), Vec::new());
            for i in 0..300_u64 {
                let kind = [Read, Write, Read, Write, Flush, Discard][i as usize % 6];
                let place = i.wrapping_mul(0x9e37_79b9_7f4a_7c15) % 1_000_000_000_000_000;
                disk.submit(i * 1_000, request(i, kind, place, 1 << 20));
            }
            while let Some(next_ns) = disk.next_event() {
                disk.advance(next_ns, &mut all);
            }
            assert_eq!(all.len(), 300, "{:?}", model.mechanism);
            assert!(all.iter().all(|one| one.due_ns < u64::MAX / 8), "{:?}", model.mechanism);
        }
    }
}
