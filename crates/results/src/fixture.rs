//! Makes books for tests: one with known figures, and random ones.

pub mod growing;
pub mod made;
pub mod ranked;
pub mod traced;

use std::collections::{BTreeMap, BTreeSet};

use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2Serializer};

use super::book::*;
use super::invalid::InvalidReason;
use super::operation::MeasuredOperation;
use super::ranks::{PhaseRanks, RankShare};
use boatload_base::errno::Errno;
use boatload_base::random::{Stream, below, draw};
use boatload_base::units::Unit;
use boatload_host::facts::{DeviceFacts, FilesystemFacts, HostFacts, Rights};
use boatload_host::settings::MachineSettings;

/// The latencies as the store keeps them, and their figures.
pub fn latencies(values_ns: impl IntoIterator<Item = u64>) -> (Vec<u8>, Latency) {
    let mut histogram = Histogram::<u64>::new(3).unwrap();
    let (mut min, mut max) = (u64::MAX, 0);
    for value in values_ns {
        histogram.record(value).unwrap();
        (min, max) = (value.min(min), value.max(max));
    }
    let mut bytes = Vec::new();
    V2Serializer::new().serialize(&histogram, &mut bytes).unwrap();
    let at = |q| histogram.value_at_quantile(q);
    let latency = Latency {
        mean: histogram.mean(),
        min: min.min(max),
        p50: at(0.5),
        p90: at(0.9),
        p99: at(0.99),
        p99_9: at(0.999),
        max,
    };
    (bytes, latency)
}

/// A phase of `operations` that take `base_ns` each, but for one in fifty, ten times slower.
pub fn measurement(phase: &str, repeat: u32, operations: u64, base_ns: u64) -> Measurement {
    let slow = |n| if n % 50 == 0 { base_ns * 10 } else { base_ns };
    let (histogram, latency) = latencies((0..operations).map(slow));
    let seconds = (0..operations).map(slow).sum::<u64>() as f64 / 1e9;
    Measurement {
        cell: CellKey { variant: "default".into(), level: None, repeat },
        phase: phase.into(),
        pass: 1,
        operation: phase.split('-').next().and_then(MeasuredOperation::find),
        engine: Some(EngineName::Sync),
        threads: Some(1),
        operations,
        operations_asked: Some(operations),
        bytes: Some(operations * 1024),
        seconds: Some(seconds),
        rate_error: Some(0.01),
        cpu_user_seconds: Some(seconds * 0.1),
        cpu_system_seconds: Some(seconds * 0.7),
        latency: Some(latency),
        cache: CacheReport {
            asked: CacheAsked::Cold,
            found: CacheState::ColdVerified,
            resident_fraction: Some(0.0),
            reason: None,
        },
        device_read_bytes: Some(4096),
        device_write_bytes: Some(operations * 2048),
        device_reads: Some(1),
        device_writes: Some(operations / 10),
        disturbance: Some(quiet(seconds)),
        entries_expected: Some(operations),
        entries_found: Some(operations),
        histogram,
        sync_seconds: Some(0.0),
        ..Measurement::default()
    }
}

/// The reason of an invalid measurement with this number of failed operations.
pub fn failing(error: Errno, operations: u64) -> InvalidReason {
    InvalidReason::Failed { error, operations, first: None, lack: None, direct: false }
}

/// The reason of a measurement that reached its limit.
pub fn at_limit() -> InvalidReason {
    InvalidReason::Limit { limit_ns: 100_000_000_000, operations: 500, asked: Some(1_000) }
}

pub fn host() -> HostFacts {
    HostFacts {
        kernel: "Linux 6.18.44".into(),
        cpu: "AMD EPYC 9R14".into(),
        cpus: 2,
        memory_bytes: 4 << 30,
        filesystem: FilesystemFacts {
            kind: "ext4".into(),
            source: "/dev/vda".into(),
            options: "rw,relatime".into(),
            block_bytes: Some(4096),
            total_bytes: Some(40 << 30),
            available_bytes: Some(12 << 30),
            available_inodes: Some(2_000_000),
            journal: Some(true),
        },
        device: Some(DeviceFacts {
            name: "vda".into(),
            rotational: Some(false),
            scheduler: Some("mq-deadline".into()),
            sector_bytes: Some(512),
            total_bytes: Some(40 << 30),
            discards: Some(true),
            requests_max: Some(256),
            read_ahead_bytes: Some(128 << 10),
            beneath: vec!["vda".into()],
            ..DeviceFacts::default()
        }),
        rights: Rights { root: true, drop_caches: true, cache_probe: "cachestat".into() },
        settings: Some(settings()),
    }
}

fn settings() -> MachineSettings {
    MachineSettings {
        smt: Some(true),
        mitigations: Some("all but spec_store_bypass".into()),
        virtual_machine: Some(true),
        clock_source: Some("tsc".into()),
        swappiness: Some(60),
        dirty_ratio: Some(20),
        group_cpus_max: Some(1.5),
        ..MachineSettings::default()
    }
}

/// The background load of a quiet machine during a phase of `seconds`.
pub fn quiet(seconds: f64) -> Disturbance {
    Disturbance {
        seconds: Some(seconds),
        cpu_pressure_seconds: Some(seconds * 0.01),
        memory_pressure_seconds: Some(0.0),
        cpu_seconds: Some(seconds * 2.0),
        steal_seconds: Some(seconds * 0.002),
        others_cpu_seconds: Some(seconds * 0.04),
        others_user_seconds: Some(seconds * 0.01),
        others_read_bytes: Some(0),
        others_write_bytes: Some(8_192),
        core_throttles: Some(0),
        clock_changed: Some(false),
        clock_error: Some(1e-6),
        ..Disturbance::default()
    }
}

pub fn run(id: &str) -> RunFacts {
    RunFacts {
        id: id.into(),
        scenario: "smallfiles".into(),
        question: "Which file system is best for hundreds of thousands of small files?".into(),
        scale: Scale::Quick,
        seed: Some(u64::MAX),
        started: "2026-10-05T08:00:00Z".into(),
        finished: Some("2026-10-05T08:00:41Z".into()),
        command: "boatload run".into(),
        boatload: "0.1.0".into(),
        complete: true,
        parameters: [("files", "30000"), ("selected", "3000")]
            .map(|(name, value)| (name.into(), value.into()))
            .into(),
        job: "name = \"smallfiles\"\n".into(),
        overhead_ns: Some(21.4),
        clock: Some(ClockSource::Tsc),
        conclude: Vec::new(),
        repeats: 2,
        stopping: Stopping::Fixed { fixed: 2 },
        level_order: None,
        resumed: Vec::new(),
        reference: None,
        traced: None,
        hosts: Vec::new(),
        unanswered: Vec::new(),
    }
}

/// Two repeats of five phases, with one failure, windows and a warning.
pub fn book() -> Book {
    let mut measurements = Vec::new();
    for repeat in [1, 2] {
        let slower = u64::from(repeat) * 100;
        for (phase, operations, ns) in [
            ("create", 30_000, 18_000),
            ("rewrite", 3_000, 21_000),
            ("read", 3_000, 52_000),
            ("read-random", 3_000, 66_000),
            ("delete", 30_000, 14_000),
        ] {
            measurements.push(measurement(phase, repeat, operations, ns + slower));
        }
    }
    measurements[0].sync_seconds = Some(0.25);
    measurements[5].sync_seconds = Some(0.35);
    measurements[0].worker_spread = Some(0.03);
    measurements[0].slices_ns = vec![18_100.5, 18_000.0, 19_200.0];
    measurements[0].windows = windows(&[18_000, 19_500, 22_250]);
    let failed = &mut measurements[6];
    failed.operations -= 120;
    failed.errors = BTreeMap::from([(Errno::ENOSPC, 120)]);
    failed.invalid = vec![failing(Errno::ENOSPC, 120)];
    let (run, host, conditions) = (run("k3j9x2ab"), host(), conditions());
    Book { run, host, measurements, conditions, ..Book::default() }.ordered_as_measured()
}

/// What the place was like before each of two repeats.
fn conditions() -> Vec<Condition> {
    let mut all = Vec::new();
    for repeat in [1, 2] {
        let cell = CellKey { variant: "default".into(), level: None, repeat };
        for (name, value, unit) in [
            (ConditionName::SpaceUsed, 34.5, Unit::Percent),
            (ConditionName::FilesPresent, 30_000.0, Unit::Count),
        ] {
            all.push(Condition { cell: cell.clone(), name, value, unit });
        }
    }
    all
}

pub fn windows(means_ns: &[u64]) -> Vec<Window> {
    let window = |(at, mean): (usize, &u64)| Window {
        first: at as u64 * 10_000,
        operations: 10_000,
        mean_ns: *mean as f64,
        p50_ns: mean - 500,
        p99_ns: mean * 10,
        max_ns: mean * 100,
    };
    means_ns.iter().enumerate().map(window).collect()
}

/// A source of odd values.
pub struct Odd {
    seed: u64,
    drawn: u64,
}

impl Odd {
    pub fn new(seed: u64) -> Self {
        Self { seed, drawn: 0 }
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.drawn += 1;
        below(draw(self.seed, Stream::Noise, self.drawn), bound)
    }

    fn of<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize].clone()
    }

    fn number(&mut self) -> f64 {
        let plain = self.below(10_000) as f64 / 100.0;
        self.of(&[plain, plain, 0.0, 7.0, 11.0, -3.5, 1e300, 1e-300, 9.9995e8])
    }

    fn maybe_number(&mut self) -> Option<f64> {
        let number = self.number();
        Some(number).filter(|number| ![7.0, 11.0].contains(number))
    }

    /// As large as the store can hold.
    fn whole(&mut self) -> u64 {
        let plain = self.below(1_000_000);
        self.of(&[plain, plain, 0, 1, i64::MAX as u64])
    }

    fn text(&mut self) -> String {
        let long = "an-uncommonly-long-name-for-a-phase-that-a-generator-makes";
        self.of(&[
            "",
            "create",
            "read",
            "a b\n\u{1b}[31mred\u{7}",
            long,
            "目录目录目录目录目录目录",
            "ü",
        ])
        .into()
    }

    fn measurement(&mut self) -> Measurement {
        let operations = self.below(30);
        let ns = self.below(10_000_000) + 1;
        let mut m = measurement("x", 1 + self.below(3) as u32, operations, ns);
        m.phase = self.text();
        m.pass = 1 + self.below(2) as u32;
        m.bytes = Some(self.whole());
        m.cell.variant = self.text();
        m.cell.level = self.level();
        m.seconds = self.maybe_number();
        m.sync_seconds = self.maybe_number();
        m.operations = self.whole();
        m.rate_error = self.maybe_number();
        let latency = m.latency.unwrap();
        m.latency = Some(Latency { max: self.whole(), p50: self.whole(), ..latency });
        m.cache.found = self.of(&CacheState::ALL);
        m.cache.reason = self.of(&[None, Some(Doubt::NoRights)]);
        m.histogram = self.of(&[m.histogram.clone(), vec![], vec![1, 2, 3]]);
        if self.below(3) == 0 {
            let why = Box::new(failing(Errno::ENOSPC, 120));
            m.invalid = vec![self.reason(), InvalidReason::Rank { rank: 7, why }];
            m.errors.insert(self.of(&[Errno::EIO, Errno(4095)]), self.whole());
        }
        m.device_write_bytes = self.maybe_whole();
        m.device_writes = self.maybe_whole();
        m.worker_spread = self.of(&[None, Some(0.1), Some(1.0)]);
        m.slices_ns = self.of(&[vec![], vec![1.5, 1e300], vec![5.0; 40]]);
        m.disturbance = self.disturbance();
        m.time_shares = self.time_shares();
        m.space_bytes = self.maybe_taken();
        m.inodes = self.maybe_taken();
        m.idle = self.of(&[None, Some(true), Some(false)]);
        m.disk = self.disk_activity();
        m.windows = windows(&[self.below(1 << 40) + 500, 1_000])[..self.below(3) as usize].to_vec();
        // Drawn apart, so that books stay what they were.
        m.ranks = Self::new(self.seed ^ self.drawn).ranks();
        m
    }

    fn reason(&mut self) -> InvalidReason {
        InvalidReason::Hung {
            seconds: self.below(10_000) as f64,
            place: self.text(),
            operations: self.whole(),
            asked: self.maybe_whole(),
            call: self.text(),
        }
    }

    fn ranks(&mut self) -> Option<PhaseRanks> {
        let share = |odd: &mut Self, rank| RankShare {
            rank,
            started_seconds: odd.below(8) as f64,
            ended_seconds: odd.of(&[0.0, 5.5, 1e300]),
            operations: odd.below(1 << 40),
            failed: odd.below(2),
        };
        let ranks = (0..self.below(4) as u32).map(|rank| share(self, rank)).collect();
        let all = PhaseRanks::of(ranks, 1e-6);
        self.of(&[None, None, Some(all)])
    }

    fn disk_facts(&mut self) -> Option<DiskFacts> {
        let disk = DiskFacts { name: self.text(), model: self.text() };
        self.of(&[None, Some(disk)])
    }

    fn disk_activity(&mut self) -> Option<DiskActivity> {
        let counted = DiskActivity {
            reads: self.whole(),
            writes: self.whole(),
            sequential: self.whole(),
            distance_bytes: self.whole(),
            queue_sum: self.whole(),
            ..DiskActivity::default()
        };
        let modelled = DiskActivity {
            seek_seconds: Some(self.below(1_000) as f64 / 8.0),
            late: self.maybe_whole(),
            ..counted.clone()
        };
        self.of(&[None, Some(counted), Some(modelled)])
    }

    fn disturbance(&mut self) -> Option<Disturbance> {
        let mut found = quiet(1.0);
        found.others_write_bytes = self.maybe_whole();
        found.beneath_read_bytes = self.maybe_whole();
        found.steal_seconds = self.of(&[None, Some(0.0), Some(1e300)]);
        found.clock_changed = self.of(&[None, Some(true), Some(false)]);
        found.frequency_share = self.of(&[None, Some(0.3), Some(1.0)]);
        self.of(&[None, Some(found)])
    }

    fn time_shares(&mut self) -> Option<TimeShares> {
        let mut share = || self.of(&[None, Some(0.0), Some(0.4), Some(1.0)]);
        let (on_cpu, run_queue, device) = (share(), share(), share());
        let (kernel_threads, throttled, other) = (share(), share(), share());
        let shares = TimeShares { on_cpu, run_queue, device, kernel_threads, throttled, other };
        self.of(&[None, Some(shares)])
    }

    fn maybe_whole(&mut self) -> Option<u64> {
        let whole = self.whole();
        self.of(&[None, Some(whole)])
    }

    fn maybe_taken(&mut self) -> Option<i64> {
        let few = self.below(9_000) as i64 - 3_000;
        self.of(&[None, Some(few), Some(i64::MIN), Some(i64::MAX), Some(0)])
    }

    fn filesystem(&mut self, variant: String) -> MadeFileSystem {
        let (mkfs, version) = (self.text(), self.text());
        MadeFileSystem {
            variant,
            kind: self.text(),
            mkfs: self.of(&[None, Some(mkfs)]),
            mkfs_version: self.of(&[None, Some(version)]),
            mount_asked: self.text(),
            options: self.text().repeat(2),
            place: self.of(&MadeOn::ALL),
            disk: self.disk_facts(),
            device: self.of(&[None, host().device]),
            device_bytes: self.whole(),
            block_bytes: Some(self.whole()),
            total_bytes: Some(self.whole()),
            available_bytes: Some(self.whole()),
            inodes: self.maybe_whole(),
            trimmed: self.of(&[true, false]),
        }
    }

    fn condition(&mut self, cells: &[CellKey]) -> Condition {
        Condition {
            cell: self.of(cells),
            name: self.of(&ConditionName::ALL),
            value: self.number(),
            unit: self.of(&Unit::ALL),
        }
    }

    fn level(&mut self) -> Option<Level> {
        let unit = self.of(&Unit::ALL);
        let level = Level { axis: self.text(), value: self.number(), unit };
        self.of(&[None, Some(level)])
    }

    /// A book of anything.
    pub fn book(&mut self) -> Book {
        let mut book = Book { run: run("oddoddod"), host: host(), ..Default::default() };
        book.run.scenario = self.text();
        book.run.question = self.text().repeat(3);
        book.run.overhead_ns = self.maybe_number();
        book.run.finished = self.of(&[None, Some("2026-10-05T08:00:41Z".into())]);
        book.run.complete = self.below(2) == 0;
        book.host.cpu = self.text();
        book.host.filesystem.source = self.text();
        book.host.device = self.of(&[None, book.host.device.clone()]);
        book.host.rights.root = self.below(2) == 0;
        book.measurements = (0..self.below(8)).map(|_| self.measurement()).collect();
        let mut cells: Vec<_> = book.measurements.iter().map(|m| m.cell.clone()).collect();
        // A cell that was cut short may have conditions and no measurement.
        cells.push(CellKey { variant: "no-measurement".into(), level: self.level(), repeat: 1 });
        book.conditions = (0..self.below(6)).map(|_| self.condition(&cells)).collect();
        if self.below(2) == 0 {
            let names: BTreeSet<_> = cells.iter().map(|cell| cell.variant.clone()).collect();
            book.filesystems = names.into_iter().map(|name| self.filesystem(name)).collect();
        }
        let kind = self.of(&[Conclusion::Ranking, Conclusion::Source, Conclusion::Growth]);
        book.run.conclude = vec![kind];
        book.ordered_as_measured()
    }
}
