//! What else happened on the machine while a phase ran: a look before it and one after, and what
//! lies between them. Nothing is looked at while the phase is timed.

mod pressure;
mod processes;
mod processors;
mod throttling;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::block_device::{BlockDevice, StackedCounters};
use super::cpu::CpuTime;
use pressure::Pressure;
use processes::{Processes, Transfers};
pub use processors::ProcessorTimes;
use throttling::{Throttles, Throttling};

/// What else happened during a phase and its sync. Each figure is none where nothing tells it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Disturbance {
    /// How long was watched, in seconds: a little longer than the phase and its sync.
    pub seconds: Option<f64>,
    /// Time in which some process waited for a processor, in seconds; boatload's own workers too.
    pub cpu_pressure_seconds: Option<f64>,
    /// Time in which some process waited for a disk, in seconds; boatload's own workers too.
    pub io_pressure_seconds: Option<f64>,
    /// Time in which some process waited for memory, in seconds; boatload's own workers too.
    pub memory_pressure_seconds: Option<f64>,
    /// Time of all processors together, idle or not, in seconds.
    pub cpu_seconds: Option<f64>,
    /// Of it, what the hypervisor gave to others, in seconds.
    pub steal_seconds: Option<f64>,
    /// Of it, what others than this process used, in seconds. Threads of the kernel are among them,
    /// also those that work for this process.
    pub others_cpu_seconds: Option<f64>,
    /// The part of that in user mode, in seconds: no thread of the kernel is in it.
    pub others_user_seconds: Option<f64>,
    /// Bytes that other processes read from any disk.
    pub others_read_bytes: Option<u64>,
    /// Bytes that other processes wrote to any disk, or left in memory for one.
    pub others_write_bytes: Option<u64>,
    /// Processes whose bytes this one may not see.
    pub others_unseen: Option<u64>,
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

/// Where to look, found once.
#[derive(Debug)]
pub struct DisturbanceWatch {
    processes: Processes,
    throttling: Throttling,
}

/// The state of the machine at one moment.
#[derive(Clone, Debug)]
pub struct DisturbanceCounters {
    pressure: Pressure,
    processors: Option<ProcessorTimes>,
    own: CpuTime,
    transfers: Option<Transfers>,
    counters: Option<StackedCounters>,
    throttles: Throttles,
    clock_source: Option<String>,
}

impl Default for DisturbanceWatch {
    fn default() -> Self {
        Self { processes: Processes::default(), throttling: Throttling::find() }
    }
}

impl DisturbanceWatch {
    /// Looks now. Takes some microseconds for each process of the machine.
    pub fn look(&mut self, device: Option<&BlockDevice>) -> DisturbanceCounters {
        DisturbanceCounters {
            transfers: self.processes.transfers(),
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
        let times = before.processors.zip(after.processors).map(|(b, a)| a.since(b));
        let own = after.own.since(before.own);
        let transfers = before.transfers.as_ref().zip(after.transfers.as_ref());
        let moved = transfers.map(|(before, after)| self.processes.between(before, after));
        let beneath = before.counters.zip(after.counters).map(|(b, a)| a.beyond(b));
        let throttles = after.throttles.since(before.throttles);
        let sources = before.clock_source.as_ref().zip(after.clock_source.as_ref());
        let but_own = |all: f64, own: f64| (all - own).max(0.0);
        Disturbance {
            seconds: None,
            cpu_pressure_seconds: pressure.cpu_seconds,
            io_pressure_seconds: pressure.io_seconds,
            memory_pressure_seconds: pressure.memory_seconds,
            cpu_seconds: times.map(|times| times.all_seconds),
            steal_seconds: times.map(|times| times.steal_seconds),
            others_cpu_seconds: times.map(|t| but_own(t.busy_seconds, own.all_seconds())),
            others_user_seconds: times.map(|t| but_own(t.user_seconds, own.user_seconds)),
            others_read_bytes: moved.map(|moved| moved.read_bytes),
            others_write_bytes: moved.map(|moved| moved.write_bytes),
            others_unseen: moved.map(|moved| moved.unseen),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::block_device::DeviceCounters;

    #[test]
    fn traffic_beneath_is_what_the_device_upon_it_did_not_cause() {
        let counters = |read_bytes, write_bytes| DeviceCounters {
            read_bytes,
            write_bytes,
            ..DeviceCounters::default()
        };
        let before = StackedCounters { own: counters(100, 1_000), beneath: counters(5_000, 7_000) };
        let after = StackedCounters { own: counters(300, 1_500), beneath: counters(5_250, 7_400) };
        assert_eq!(after.beyond(before), counters(50, 0), "less beneath is a cache, not others");
    }

    #[test]
    fn two_looks_at_this_machine_give_figures_that_can_be() {
        let mut watch = DisturbanceWatch::default();
        let (before, after) = (watch.look(None), watch.look(None));
        let found = watch.between(&before, &after);
        assert!(found.others_cpu_seconds.is_some_and(|s| s >= 0.0), "{found:?}");
        assert!(found.others_user_seconds <= found.cpu_seconds, "{found:?}");
        assert_eq!((found.beneath_read_bytes, found.clock_error), (None, None));
        assert_ne!(found.clock_changed, Some(true));
    }
}
