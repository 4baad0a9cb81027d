//! Records what else happened on the machine while a phase ran, by a reading before it and one after.
//! Nothing is read while the phase is timed.

pub(super) mod processes;

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::block_device::{BlockDevice, DeviceCounters, StackedCounters};
use super::control_group::{DiskLimits, OwnGroup, is_limit_reached};
use super::cpu::CpuTime;
use super::sysfs::{number_after, number_in};
use boatload_base::files::{paths_in, read_text};
pub use processes::KernelTime;
use processes::{DeviceWords, ProcessCounters, Processes};

/// What else happened during a phase and its sync. Each figure is null where nothing tells it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Disturbance {
    /// How long was watched, in seconds: a little longer than the phase and its sync.
    pub seconds: Option<f64>,
    /// Time in which some process waited for a processor, in seconds; boatload's own workers too.
    pub cpu_pressure_seconds: Option<f64>,
    /// Time in which some process waited for memory, in seconds; boatload's own workers too.
    pub memory_pressure_seconds: Option<f64>,
    /// Time of all processors together, idle or not, in seconds.
    pub cpu_seconds: Option<f64>,
    /// Of it, what the hypervisor gave to others, in seconds.
    pub steal_seconds: Option<f64>,
    /// Of it, what others than this process and its children used, in seconds: in user mode, in the kernel and in
    /// interrupts. Threads of the kernel are among them.
    pub others_cpu_seconds: Option<f64>,
    /// The part of that in user mode, in seconds: no thread of the kernel is in it.
    pub others_user_seconds: Option<f64>,
    /// The part of it of threads of the kernel that work for the device, the devices beneath it, or for memory, in
    /// seconds; `None` when threads of the kernel are not seen.
    #[serde(default)]
    pub kernel_threads_seconds: Option<f64>,
    /// Bytes that other processes read from any disk.
    pub others_read_bytes: Option<u64>,
    /// Bytes that other processes wrote to any disk, or left in memory for one.
    pub others_write_bytes: Option<u64>,
    /// Bytes that the disk beneath a loop device or partition read beyond what that read.
    pub beneath_read_bytes: Option<u64>,
    /// Bytes that it wrote beyond what that wrote.
    pub beneath_write_bytes: Option<u64>,
    /// How often processors slowed down because they were too hot.
    pub core_throttles: Option<u64>,
    /// How often this process's control group was kept from the processors.
    pub group_throttles: Option<u64>,
    /// The highest frequency of any processor at the end over the highest it can have, 0 to 1.
    pub frequency_share: Option<f64>,
    /// Whether the kernel took another clock source.
    pub clock_changed: Option<bool>,
    /// How much faster the clock of the latencies went than the kernel's, relative.
    pub clock_error: Option<f64>,
}

impl Disturbance {
    /// What other processes and interrupts used of the processors, in seconds. Where threads of the kernel were not
    /// counted, others' time in user mode alone, which is less.
    pub fn others_load_seconds(&self) -> Option<f64> {
        match (self.others_cpu_seconds, self.kernel_threads_seconds) {
            (Some(others), Some(kernel)) => Some((others - kernel).max(0.0)),
            _ => self.others_user_seconds,
        }
    }
}

/// What happened to the requests and the processor time of a phase beside the workers' own doing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PhaseSupport {
    /// CPU time of threads of the kernel that work for the device; `None` when they are not seen.
    pub kernel: Option<KernelTime>,
    /// Time in which a limit of a control group kept this process from processors, the sum over all processors, in
    /// seconds; `None` when nothing counts it.
    pub cpu_throttled_seconds: Option<f64>,
    /// Whether the control group read from the device or one beneath, or wrote to it, as much as its limit allows.
    pub is_at_disk_limit: bool,
    /// Whether it is a loop device: only who uses its file system moves anything on it.
    pub is_loop: bool,
    /// Time in which the one device beneath was busy, in seconds; `None` when there is not one.
    pub beneath_busy_seconds: Option<f64>,
}

/// Where to look, found once.
#[derive(Debug)]
pub struct DisturbanceWatch {
    processes: Processes,
    throttling: Throttling,
    group: Option<OwnGroup>,
}

/// The state of the machine at one moment.
#[derive(Clone, Debug)]
pub struct DisturbanceCounters {
    pressure: Pressure,
    processors: Option<ProcessorTimes>,
    own: CpuTime,
    words: DeviceWords,
    processes: Option<ProcessCounters>,
    cpu_throttled_seconds: Option<f64>,
    disk_limits: DiskLimits,
    counters: Option<StackedCounters>,
    throttles: Throttles,
    clock_source: Option<String>,
}

impl Default for DisturbanceWatch {
    fn default() -> Self {
        let group = OwnGroup::find();
        let throttling = Throttling::of(group.as_ref());
        Self { processes: Processes::default(), throttling, group }
    }
}

impl DisturbanceWatch {
    /// Looks now. Takes some microseconds for each process of the machine.
    pub fn look(&mut self, device: Option<&BlockDevice>) -> DisturbanceCounters {
        let words = device.map(DeviceWords::of).unwrap_or_default();
        let group = self.group.as_ref();
        DisturbanceCounters {
            processes: self.processes.look(),
            cpu_throttled_seconds: group.and_then(OwnGroup::throttled_seconds),
            disk_limits: group.map(|group| group.disk_limits(&words.numbers)).unwrap_or_default(),
            words,
            throttles: self.throttling.now(),
            pressure: Pressure::now(),
            clock_source: super::settings::clock_source(),
            processors: ProcessorTimes::now(),
            own: CpuTime::of_process(),
            counters: device.and_then(BlockDevice::stacked_counters),
        }
    }

    /// What happened between an earlier look and a later one. Clocks are not looked at here.
    pub fn between(
        &self,
        before: &DisturbanceCounters,
        after: &DisturbanceCounters,
    ) -> Disturbance {
        let pressure = after.pressure.since(before.pressure);
        let times = before.processors.zip(after.processors).and_then(|(b, a)| a.since(b));
        // Where none was ever counted, most machines have none, and others do not tell.
        let tells_steal = after.processors.is_some_and(|since_boot| since_boot.steal_seconds > 0.0);
        let own = after.own.since(before.own);
        let processes = before.processes.as_ref().zip(after.processes.as_ref());
        let moved = processes.filter(|(_, after)| after.shows_others());
        let moved = moved.map(|(before, after)| self.processes.between(before, after));
        let children = processes.map_or(0.0, |(b, a)| a.children_seconds_since(b));
        let beneath = before.counters.zip(after.counters).and_then(|(b, a)| a.beyond(b));
        let throttles = after.throttles.since(before.throttles);
        let sources = before.clock_source.as_ref().zip(after.clock_source.as_ref());
        let but_own = |all: f64, own: f64| (all - own).max(0.0);
        Disturbance {
            seconds: None,
            cpu_pressure_seconds: pressure.cpu_seconds,
            memory_pressure_seconds: pressure.memory_seconds,
            cpu_seconds: times.map(|times| times.all_seconds),
            steal_seconds: times.filter(|_| tells_steal).map(|times| times.steal_seconds),
            others_cpu_seconds: times
                .map(|t| but_own(t.busy_seconds, own.all_seconds() + children)),
            others_user_seconds: times.map(|t| but_own(t.user_seconds, own.user_seconds)),
            kernel_threads_seconds: after.kernel_time_since(before).map(|kernel| kernel.seconds),
            others_read_bytes: moved.map(|moved| moved.read_bytes),
            others_write_bytes: moved.map(|moved| moved.write_bytes),
            beneath_read_bytes: beneath.map(|moved| moved.read_bytes),
            beneath_write_bytes: beneath.map(|moved| moved.write_bytes),
            core_throttles: throttles.core,
            group_throttles: throttles.group,
            frequency_share: throttles.frequency_share,
            clock_changed: sources.map(|(before, after)| before != after),
            clock_error: None,
        }
    }
}

impl DisturbanceCounters {
    fn kernel_time_since(&self, before: &Self) -> Option<KernelTime> {
        let (now, then) = (self.processes.as_ref()?, before.processes.as_ref()?);
        now.kernel_time_since(then, &self.words)
    }

    /// What happened to the work of this process since an earlier look, so many seconds ago.
    pub fn support_since(&self, before: &Self, seconds: f64) -> PhaseSupport {
        let throttled = self.cpu_throttled_seconds.zip(before.cpu_throttled_seconds);
        let beneath = self.counters.zip(before.counters);
        let beneath = beneath.and_then(|(now, then)| now.beneath.since(then.beneath));
        PhaseSupport {
            kernel: self.kernel_time_since(before),
            cpu_throttled_seconds: throttled.map(|(now, then)| (now - then).max(0.0)),
            is_loop: self.words.names.first().is_some_and(|name| name.starts_with("loop")),
            is_at_disk_limit: is_limit_reached(&before.disk_limits, &self.disk_limits, seconds),
            beneath_busy_seconds: beneath.map(DeviceCounters::busy_seconds),
        }
    }
}

/// Time in which some process waited, in seconds since the machine started.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Pressure {
    cpu_seconds: Option<f64>,
    memory_seconds: Option<f64>,
}

impl Pressure {
    fn now() -> Self {
        let of = |what: &str| some_seconds(&read_text(format!("/proc/pressure/{what}")).ok()?);
        Self { cpu_seconds: of("cpu"), memory_seconds: of("memory") }
    }

    fn since(self, earlier: Self) -> Self {
        let passed = |now: Option<f64>, then: Option<f64>| {
            Some(now? - then?).filter(|seconds| *seconds >= 0.0)
        };
        Self {
            cpu_seconds: passed(self.cpu_seconds, earlier.cpu_seconds),
            memory_seconds: passed(self.memory_seconds, earlier.memory_seconds),
        }
    }
}

/// The total of the line `some`, which is in microseconds.
pub(super) fn some_seconds(text: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix("some "))?;
    let total = line.split_whitespace().find_map(|field| field.strip_prefix("total="))?;
    Some(total.parse::<u64>().ok()? as f64 / 1e6)
}

/// CPU time by state, summed over all CPUs, from /proc/stat (proc_stat(5)): seconds since boot, or
/// between two readings. The kernel counts it in ticks, mostly of 10 ms.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ProcessorTimes {
    /// In all states: busy, idle, I/O wait and steal.
    pub all_seconds: f64,
    /// In user mode, guests included.
    pub user_seconds: f64,
    /// In user mode (as in `user_seconds`), in the kernel and in interrupts; not steal.
    pub busy_seconds: f64,
    /// What the hypervisor gave to others.
    pub steal_seconds: f64,
}

impl ProcessorTimes {
    /// The times since boot; null if /proc/stat cannot be read.
    pub fn now() -> Option<Self> {
        let ticks = rustix::param::clock_ticks_per_second().max(1);
        Self::parse(&read_text("/proc/stat").ok()?, ticks as f64)
    }

    /// The first line: user, nice, system, idle, iowait, irq, softirq, steal. Time of guests is in
    /// user and nice already.
    pub(super) fn parse(text: &str, ticks_per_second: f64) -> Option<Self> {
        let line = text.lines().next()?.strip_prefix("cpu ")?;
        let fields: Vec<u64> =
            line.split_whitespace().map(|field| field.parse().ok()).collect::<Option<_>>()?;
        let [user, nice, system, idle, iowait, irq, softirq, steal, ..] = fields.as_slice() else {
            return None;
        };
        // Whatever the text says, the sum of a few does not overflow.
        let seconds = |states: &[&u64]| {
            let ticks: u128 = states.iter().map(|ticks| u128::from(**ticks)).sum();
            ticks as f64 / ticks_per_second
        };
        Some(Self {
            all_seconds: seconds(&[user, nice, system, irq, softirq, idle, iowait, steal]),
            user_seconds: seconds(&[user, nice]),
            busy_seconds: seconds(&[user, nice, system, irq, softirq]),
            steal_seconds: seconds(&[steal]),
        })
    }

    /// What passed since an earlier reading. `null` if all together stood still, for less than a tick or because
    /// nothing is counted, or if some went back: iowait may, and steal after a migration (proc_stat(5)).
    pub fn since(self, earlier: Self) -> Option<Self> {
        let passed = |now: f64, then: f64| Some(now - then).filter(|seconds| *seconds >= 0.0);
        Some(Self {
            all_seconds: passed(self.all_seconds, earlier.all_seconds).filter(|all| *all > 0.0)?,
            user_seconds: passed(self.user_seconds, earlier.user_seconds)?,
            busy_seconds: passed(self.busy_seconds, earlier.busy_seconds)?,
            steal_seconds: passed(self.steal_seconds, earlier.steal_seconds)?,
        })
    }
}

const PROCESSORS: &str = "/sys/devices/system/cpu";

/// The files that tell how often processors were throttled, found once.
#[derive(Debug, Default)]
struct Throttling {
    /// `core_throttle_count` of each processor that has one.
    cores: Vec<PathBuf>,
    /// `cpu.stat` of this process's control group.
    group: Option<PathBuf>,
    /// The frequency of each processor now, and the highest it can have.
    frequencies: Vec<(PathBuf, u64)>,
}

/// Counts since the machine started; null where nothing tells them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Throttles {
    core: Option<u64>,
    group: Option<u64>,
    /// The highest frequency now over the highest there can be.
    frequency_share: Option<f64>,
}

impl Throttling {
    fn of(group: Option<&OwnGroup>) -> Self {
        let group = group.and_then(OwnGroup::processor_statistics);
        Self { group, ..Self::below(Path::new(PROCESSORS)) }
    }

    fn below(processors: &Path) -> Self {
        let mut found = Self::default();
        for directory in paths_in(processors) {
            let count = directory.join("thermal_throttle/core_throttle_count");
            found.cores.extend(number_in(&count).map(|_| count));
            let now = directory.join("cpufreq/scaling_cur_freq");
            let highest = number_in(&directory.join("cpufreq/cpuinfo_max_freq"));
            found.frequencies.extend(highest.filter(|most| *most > 0).map(|most| (now, most)));
        }
        found
    }

    fn now(&self) -> Throttles {
        let group = self.group.as_ref().and_then(|path| read_text(path).ok());
        // One that went offline takes its count with it.
        let cores = self.cores.iter().map(|path| number_in(path));
        let shares = self
            .frequencies
            .iter()
            .filter_map(|(now, highest)| Some(number_in(now)? as f64 / *highest as f64));
        Throttles {
            core: cores.reduce(|all, one| all?.checked_add(one?)).flatten(),
            group: group.and_then(|text| throttled(&text)),
            frequency_share: shares.reduce(f64::max).filter(|share| *share > 0.0),
        }
    }
}

impl Throttles {
    fn since(self, earlier: Self) -> Self {
        let more = |now: Option<u64>, then: Option<u64>| now?.checked_sub(then?);
        Self {
            core: more(self.core, earlier.core),
            group: more(self.group, earlier.group),
            frequency_share: self.frequency_share,
        }
    }
}

/// Both versions of control groups have this line in `cpu.stat`.
fn throttled(text: &str) -> Option<u64> {
    number_after(text, "nr_throttled ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traffic_beneath_is_what_the_device_upon_it_did_not_cause() {
        let counters = |read_bytes, write_bytes| DeviceCounters {
            read_bytes,
            write_bytes,
            ..DeviceCounters::default()
        };
        let before = StackedCounters { own: counters(100, 1_000), beneath: counters(5_000, 7_000) };
        let after = StackedCounters { own: counters(300, 1_500), beneath: counters(5_250, 7_400) };
        let beyond = after.beyond(before).unwrap();
        assert_eq!(beyond, counters(50, 0), "less beneath is a cache, not others");
        assert_eq!(before.beyond(after), None, "counters that went back");
    }

    #[test]
    fn two_looks_at_this_machine_give_figures_that_can_be() {
        let mut watch = DisturbanceWatch::default();
        let before = watch.look(None);
        // Ticks may be 10 ms apart.
        let mut found = Disturbance::default();
        while found.cpu_seconds.is_none() {
            let after = watch.look(None);
            found = watch.between(&before, &after);
        }
        assert!(found.others_cpu_seconds.is_some_and(|s| s >= 0.0), "{found:?}");
        assert!(found.others_user_seconds <= found.cpu_seconds, "{found:?}");
        assert_eq!((found.beneath_read_bytes, found.clock_error), (None, None));
        assert_ne!(found.clock_changed, Some(true));
    }
}

#[cfg(test)]
mod pressure_tests {
    use super::*;

    #[test]
    fn the_total_of_some_is_read_and_not_that_of_full() {
        let text = "some avg10=3.96 avg60=17.14 avg300=25.02 total=7475116430\n\
                    full avg10=0.00 avg60=0.00 avg300=0.00 total=12\n";
        assert_eq!(some_seconds(text), Some(7475.11643));
        assert_eq!(some_seconds("full avg10=0.00 total=12\n"), None);
        for nothing in ["", "some total=x\n", "some avg10=0.00\n", "some"] {
            assert_eq!(some_seconds(nothing), None, "{nothing}");
        }
    }

    #[test]
    fn what_is_missing_at_either_end_is_unknown() {
        let now = Pressure { cpu_seconds: Some(2.5), memory_seconds: Some(1.0) };
        let then = Pressure { cpu_seconds: Some(2.0), ..Pressure::default() };
        let passed = Pressure { cpu_seconds: Some(0.5), ..Pressure::default() };
        assert_eq!(now.since(then), passed);
        assert_eq!(then.since(now), Pressure::default(), "a total that went back");
    }
}

#[cfg(test)]
mod processors_tests {
    use super::*;

    #[test]
    fn guests_are_counted_once_and_waiting_is_not_busy() {
        let text = "cpu  100 10 50 800 40 5 5 20 30 1\ncpu0 1 1 1 1 1 1 1 1 1 1\n";
        let times = ProcessorTimes::parse(text, 100.0).unwrap();
        assert_eq!((times.user_seconds, times.busy_seconds), (1.1, 1.7));
        assert_eq!((times.all_seconds, times.steal_seconds), (10.3, 0.2));
    }

    #[test]
    fn a_text_that_is_something_else_tells_nothing() {
        for text in ["", "cpu0 1 2 3 4 5 6 7 8", "cpu  1 2 3", "cpu  1 2 3 4 x 6 7 8"] {
            assert_eq!(ProcessorTimes::parse(text, 100.0), None, "{text}");
        }
    }

    #[test]
    fn times_of_which_one_goes_back_or_all_stand_still_tell_nothing() {
        let at = |text: &str| ProcessorTimes::parse(text, 100.0).unwrap();
        let then = at("cpu  1 2 3 4 5 6 7 8");
        assert!(at("cpu  1 2 3 9 5 6 7 8 0 0 77").since(then).is_some(), "a longer line");
        for unknown in ["cpu  1 2 3 4 5 6 7 8", "cpu  9 2 3 4 5 6 7 0", "cpu  0 0 0 0 0 0 0 0"] {
            assert_eq!(at(unknown).since(then), None, "{unknown}");
        }
    }
}

#[cfg(test)]
mod throttling_tests {
    use super::*;
    use crate::fixture::put;

    #[test]
    fn counts_of_all_processors_are_added_and_the_fastest_one_speaks() {
        let sys = tempfile::tempdir().unwrap();
        for (cpu, count, now) in [("cpu0", "3\n", "800000\n"), ("cpu1", "4\n", "2400000\n")] {
            put(sys.path(), &format!("{cpu}/thermal_throttle/core_throttle_count"), count);
            put(sys.path(), &format!("{cpu}/cpufreq/scaling_cur_freq"), now);
            put(sys.path(), &format!("{cpu}/cpufreq/cpuinfo_max_freq"), "3200000\n");
        }
        put(sys.path(), "cpufreq/boost", "1\n");
        let throttling = Throttling::below(sys.path());
        let before = throttling.now();
        assert_eq!((before.core, before.frequency_share), (Some(7), Some(0.75)));
        put(sys.path(), "cpu1/thermal_throttle/core_throttle_count", "6\n");
        assert_eq!(throttling.now().since(before).core, Some(2));
        put(sys.path(), "cpu1/thermal_throttle/core_throttle_count", "1\n");
        assert_eq!(throttling.now().since(before).core, None, "a count that went back");
        std::fs::remove_file(sys.path().join("cpu0/thermal_throttle/core_throttle_count")).unwrap();
        assert_eq!(throttling.now().core, None, "one that went offline");
        for cpu in ["cpu0", "cpu1"] {
            put(sys.path(), &format!("{cpu}/cpufreq/scaling_cur_freq"), "0\n");
        }
        assert_eq!(throttling.now().frequency_share, None, "no processor stands");
    }

    #[test]
    fn a_machine_that_tells_nothing_gives_nothing() {
        let empty = tempfile::tempdir().unwrap();
        assert_eq!(Throttling::below(empty.path()).now(), Throttles::default());
        assert_eq!(throttled("nr_periods 5\nnr_throttled 2\nthrottled_usec 9\n"), Some(2));
        for nothing in ["", "usage_usec 5\n", "nr_throttled \n", "nr_throttled x\n"] {
            assert_eq!(throttled(nothing), None, "{nothing}");
        }
    }
}
