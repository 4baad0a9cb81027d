//! Divides the time of the workers of a phase: what they computed, and what they waited for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::book::Measurement;
use boatload_host::cpu::CpuTime;
use boatload_host::disturbance::PhaseSupport;
use boatload_run::workers::PhaseRun;

/// What the mean worker did with the time of a phase and its sync, each a share, 0 to 1. Where all are known they
/// add up to 1; each is `None` when it is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TimeShares {
    /// On a processor, in user mode or in the kernel.
    pub on_cpu: Option<f64>,
    /// Ready to run while others had the processors.
    pub run_queue: Option<f64>,
    /// Asleep while the device was busy.
    pub device: Option<f64>,
    /// Asleep while threads of the kernel computed for the device.
    pub kernel_threads: Option<f64>,
    /// Kept from the processors or from the device by a limit of a control group.
    pub throttled: Option<f64>,
    /// Asleep for anything else: a lock, a network, a timer, another process.
    pub other: Option<f64>,
}

/// The time of workers and of the thread that syncs, where it was counted both before and after their work.
#[derive(Clone, Copy, Debug, Default)]
pub struct WorkersTime {
    /// Of all workers.
    pub work: CpuTime,
    /// How long each of them worked, the sum, in seconds.
    pub workers_seconds: f64,
    /// Of the thread that syncs.
    pub sync: CpuTime,
    /// Processors that they may use.
    pub cpus: u32,
}

impl WorkersTime {
    /// Of workers, and of the thread that synced after them.
    pub fn of(run: &PhaseRun, sync: CpuTime) -> Self {
        let cpus = std::thread::available_parallelism().map_or(1, |cpus| cpus.get() as u32);
        Self { work: run.cpu, workers_seconds: run.workers_seconds, sync, cpus }
    }

    /// Of the time of a phase and its sync, for the mean worker, in seconds.
    fn of_mean(&self, m: &Measurement, time: fn(&CpuTime) -> Option<f64>) -> Option<f64> {
        let scale = m.seconds? / self.workers_seconds;
        let work = if scale.is_finite() { time(&self.work)? * scale } else { 0.0 };
        Some(work + time(&self.sync)?)
    }
}

/// A device whose bytes others moved to this share was busy for them, and whether it was so for the workers too is
/// not known.
const OTHERS_BYTES_MAX: f64 = 0.5;

impl TimeShares {
    /// Of a measurement whose device counters are known, and `has_disk` says whether its file system has a disk of
    /// this machine.
    pub fn of(m: &Measurement, time: &WorkersTime, support: &PhaseSupport, has_disk: bool) -> Self {
        let all = m.durable_seconds();
        if all <= 0.0 || !all.is_finite() {
            return Self::default();
        }
        let mean =
            |of: fn(&CpuTime) -> Option<f64>| time.of_mean(m, of).map(|seconds| seconds / all);
        let on_cpu = mean(|cpu| Some(cpu.all_seconds())).map(|share| share.min(1.0));
        let unknown = Self { on_cpu, ..Self::default() };
        let Some((on_cpu, queued)) = on_cpu.zip(mean(|cpu| cpu.run_queue_seconds)) else {
            return unknown;
        };
        let queued = queued.min(1.0 - on_cpu);
        // While all of several workers are kept from their processors, each of these counts.
        let workers = f64::from(m.threads.unwrap_or(1).min(time.cpus).max(1));
        let throttled = support.cpu_throttled_seconds.unwrap_or_default() / (workers * all);
        let throttled = throttled.min(queued);
        let asleep = 1.0 - on_cpu - queued;
        let waited = || mean(|cpu| cpu.disk_wait_seconds);
        let busy = device_share(m, support, has_disk).or_else(waited);
        let device = busy.map(|busy| busy.min(asleep));
        let kernel = support.kernel.map(|kernel| match is_modelled(m) {
            true => kernel.seconds - kernel.loop_seconds,
            false => kernel.seconds,
        });
        let kernel =
            kernel.zip(device).map(|(seconds, device)| (seconds / all).min(asleep - device));
        let rest = device.zip(kernel).map(|(device, kernel)| asleep - device - kernel);
        let at_limit = support.is_at_disk_limit;
        Self {
            on_cpu: Some(on_cpu),
            run_queue: Some(queued - throttled),
            device,
            kernel_threads: kernel,
            throttled: rest.map(|rest| if at_limit { throttled + rest } else { throttled }),
            other: rest.map(|rest| if at_limit { 0.0 } else { rest }),
        }
    }

    /// All of them, in the order of their declaration.
    pub fn all(&self) -> [Option<f64>; 6] {
        let Self { on_cpu, run_queue, device, kernel_threads, throttled, other } = *self;
        [on_cpu, run_queue, device, kernel_threads, throttled, other]
    }
}

/// The share of the time in which the device was busy, for the workers as far as that is known.
fn device_share(m: &Measurement, support: &PhaseSupport, has_disk: bool) -> Option<f64> {
    if !has_disk {
        return Some(0.0);
    }
    let all = m.durable_seconds();
    let busy = busy_seconds(m)?;
    // A loop device is busy too while its thread computes, and while a limit delays the requests beneath it.
    let computed =
        support.kernel.filter(|_| !is_modelled(m)).map_or(0.0, |kernel| kernel.loop_seconds);
    let beneath = support.beneath_busy_seconds.filter(|_| support.is_at_disk_limit);
    let busy = (busy - computed).max(0.0).min(beneath.unwrap_or(f64::INFINITY));
    let seen = m.disturbance.unwrap_or_default();
    let others =
        seen.others_read_bytes.zip(seen.others_write_bytes).map(|(r, w)| r.saturating_add(w));
    let own = m.device_read_bytes.unwrap_or(0).saturating_add(m.device_write_bytes.unwrap_or(0));
    let is_shared = others.is_some_and(|others| others as f64 > OTHERS_BYTES_MAX * own as f64);
    // A device that hardly worked kept nobody waiting, whoever it worked for.
    (!is_shared || support.is_loop || busy < IDLE_MAX * all).then_some(busy / all)
}

/// A device that was busy for a smaller share of the time limits nothing.
const IDLE_MAX: f64 = 0.1;

fn is_modelled(m: &Measurement) -> bool {
    m.disk.as_ref().is_some_and(|disk| disk.late.is_some())
}

/// The kernel counts the time in which a device is busy by ticks of up to 10 ms: of a phase that is shorter than ten of
/// them it says little.
const TICKS_SECONDS_MIN: f64 = 0.1;

/// Time in which the device was busy, in seconds: of a modelled disk with a head, the busy time of its mechanism. A tick with a
/// request in it is counted whole. What the requests took together is counted exactly, and the device was not busy for
/// longer.
pub fn busy_seconds(m: &Measurement) -> Option<f64> {
    let ticks = m.device_busy_seconds.filter(|_| m.durable_seconds() >= TICKS_SECONDS_MIN);
    let requests = m.device_queue_seconds.map(|all| all.min(m.durable_seconds()));
    head_seconds(m).or_else(|| match (ticks, requests) {
        (Some(ticks), Some(requests)) => Some(ticks.min(requests)),
        _ => ticks.or(requests).or(m.device_busy_seconds),
    })
}

/// Time of the mechanism of a modelled disk with a head, in seconds; none of another one, whose parts work side by
/// side.
fn head_seconds(m: &Measurement) -> Option<f64> {
    let disk = m.disk.as_ref()?;
    let turning = disk.seek_seconds? + disk.rotation_seconds?;
    (turning > 0.0).then(|| turning + disk.transfer_seconds.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use boatload_host::disk_activity::DiskActivity;
    use boatload_host::disturbance::{Disturbance, KernelTime};

    /// Two workers for 8 s and a sync of 2 s, with the device busy for so long.
    fn measured(busy: Option<f64>) -> Measurement {
        Measurement {
            threads: Some(2),
            seconds: Some(8.0),
            sync_seconds: Some(2.0),
            device_busy_seconds: busy,
            ..Measurement::default()
        }
    }

    /// Several workers, one of them ended after half of the time; together 3 s on a processor and 3 s in the run queue, and
    /// the thread that synced 1 s in each.
    fn time() -> WorkersTime {
        let used = |seconds: f64| CpuTime {
            system_seconds: seconds,
            run_queue_seconds: Some(seconds),
            ..CpuTime::default()
        };
        WorkersTime { work: used(3.0), workers_seconds: 12.0, sync: used(1.0), cpus: 2 }
    }

    fn support() -> PhaseSupport {
        PhaseSupport { kernel: Some(KernelTime::default()), ..PhaseSupport::default() }
    }

    fn shares(m: &Measurement, support: &PhaseSupport) -> [Option<f64>; 6] {
        let found = TimeShares::of(m, &time(), support, true).all();
        let rounded = |share: f64| (share * 1e6).round() / 1e6;
        found.map(|share| share.map(rounded))
    }

    #[test]
    fn shares_are_those_of_the_mean_worker_and_of_the_sync_and_add_up_to_one() {
        let found = shares(&measured(Some(2.0)), &support());
        assert_eq!(found, [0.3, 0.3, 0.2, 0.0, 0.0, 0.2].map(Some));
        let found = shares(&measured(Some(9.0)), &support());
        assert_eq!(found, [0.3, 0.3, 0.4, 0.0, 0.0, 0.0].map(Some), "it slept for no longer");
    }

    #[test]
    fn threads_of_the_kernel_count_where_a_worker_sleeps_and_the_device_is_idle() {
        let kernel = |seconds, loop_seconds| PhaseSupport {
            kernel: Some(KernelTime { seconds, loop_seconds }),
            ..PhaseSupport::default()
        };
        let found = shares(&measured(Some(2.0)), &kernel(9.0, 0.0));
        assert_eq!(found, [0.3, 0.3, 0.2, 0.2, 0.0, 0.0].map(Some));
        let found = shares(&measured(Some(2.0)), &kernel(1.5, 1.5));
        assert_eq!(found, [0.3, 0.3, 0.05, 0.15, 0.0, 0.2].map(Some), "its thread kept it busy");
        let late = Some(DiskActivity { late: Some(0), ..DiskActivity::default() });
        let modelled = Measurement { disk: late, ..measured(Some(2.0)) };
        let found = shares(&modelled, &kernel(1.5, 1.5));
        assert_eq!(found, [0.3, 0.3, 0.2, 0.0, 0.0, 0.2].map(Some), "it served the model");
    }

    #[test]
    fn what_a_limit_of_a_control_group_takes_is_no_time_of_the_device_or_of_others() {
        let at_limit = PhaseSupport { is_at_disk_limit: true, ..support() };
        let found = shares(&measured(Some(1.0)), &at_limit);
        assert_eq!(found, [0.3, 0.3, 0.1, 0.0, 0.3, 0.0].map(Some));
        let beneath = PhaseSupport { beneath_busy_seconds: Some(0.5), ..at_limit };
        assert_eq!(shares(&measured(Some(9.0)), &beneath)[2], Some(0.05), "it is held up beneath");
        let no_cpu = PhaseSupport { cpu_throttled_seconds: Some(4.0), ..support() };
        let found = shares(&measured(Some(1.0)), &no_cpu);
        assert_eq!(found, [0.3, 0.1, 0.1, 0.0, 0.2, 0.3].map(Some));
    }

    #[test]
    fn what_is_not_known_is_none_and_never_zero() {
        let unseen = PhaseSupport::default();
        let found = shares(&measured(Some(2.0)), &unseen);
        assert_eq!(found, [Some(0.3), Some(0.3), Some(0.2), None, None, None]);
        let found = shares(&measured(None), &support());
        assert_eq!(found, [Some(0.3), Some(0.3), None, None, None, None], "no device is known");
        let diskless = TimeShares::of(&measured(None), &time(), &support(), false);
        assert_eq!((diskless.device, diskless.other.map(|o| o > 0.39)), (Some(0.0), Some(true)));
        let seen = Disturbance {
            others_read_bytes: Some(600),
            others_write_bytes: Some(0),
            ..Disturbance::default()
        };
        let shared = |busy| Measurement {
            disturbance: Some(seen),
            device_read_bytes: Some(1_000),
            ..measured(Some(busy))
        };
        assert_eq!(shares(&shared(2.0), &support())[2], None, "it was busy for others too");
        assert_eq!(shares(&shared(0.5), &support())[2], Some(0.05), "it was idle");
        let old_kernel = WorkersTime { work: CpuTime::default(), ..time() };
        let found = TimeShares::of(&measured(Some(2.0)), &old_kernel, &support(), true);
        assert_eq!((found.run_queue, found.other), (None, None));
        assert_eq!(TimeShares::of(&Measurement::default(), &time(), &support(), true).on_cpu, None);
    }

    #[test]
    fn where_the_kernel_counts_sleep_for_disks_a_device_without_counters_is_known_too() {
        let waited = |cpu: CpuTime| CpuTime { disk_wait_seconds: Some(1.5), ..cpu };
        let time = WorkersTime { work: waited(time().work), sync: waited(time().sync), ..time() };
        let found = TimeShares::of(&measured(None), &time, &support(), true);
        assert!(found.device.is_some_and(|share| (share - 0.25).abs() < 1e-9), "{found:?}");
    }
}
