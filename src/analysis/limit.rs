//! What limited the speed of a phase: the processor, the device, both, a lock, or waiting.

use super::thresholds::OTHERS_CPU_SHARE;
use crate::base::named_enum::named_enum;
use crate::results::book::{Disturbance, Measurement};

/// Share of the time, with the sync, that a processor or a device must be busy to be the limit.
const BUSY_MIN: f64 = 0.5;

/// How many times as long as the other the processor or the device may be busy if both are the limit.
const ABOUT_AS_LONG: f64 = 1.1;

/// Context switches for each operation from which on workers that share one thing wait for each
/// other: at least every second operation was put to sleep.
const SWITCHES_MIN: f64 = 0.5;

named_enum! {
    /// What limited a phase.
    pub enum Limit {
        /// The workers and the kernel's threads kept their processors busy.
        Processor = "processor",
        /// The device had requests, or processes waited for one.
        Device = "device",
        /// Both were busy: about as long as each other, or the processor by threads of the kernel, which may run side by side.
        Both = "processor and device",
        /// Several workers waited for each other.
        Lock = "lock",
        /// Something else was waited for: a network, a timer, a throttle.
        Wait = "wait",
    }
}

impl Limit {
    /// What stands in sentences.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Processor | Self::Device | Self::Both => self.as_str(),
            Self::Lock => "lock contention",
            Self::Wait => "waiting",
        }
    }

    /// What limited these measurements of one phase, each on a machine with `cpus` processors; none
    /// if they are simulated, or too little was counted to tell.
    pub fn of_measurements(measurements: &[&Measurement], cpus: u32) -> Option<Self> {
        let real = measurements.iter().all(|m| m.engine.is_some() && !m.is_simulated());
        // The processor time of all ranks stands beside the seconds and processors of one.
        let first = measurements.first().filter(|first| real && first.ranks.is_none())?;
        let sum =
            |value: fn(&Measurement) -> f64| measurements.iter().map(|m| value(m)).sum::<f64>();
        let seconds = sum(Measurement::durable_seconds);
        let counted = sum(worker_seconds);
        let busy = measurements.iter().map(|m| busy_seconds(m)).sum::<Option<f64>>();
        if seconds <= 0.0 || (counted <= 0.0 && busy.is_none()) {
            return None;
        }
        let workers = f64::from(first.threads.unwrap_or(1).clamp(1, cpus.max(1)));
        let of_workers = counted / (seconds * workers);
        let processor = of_workers + sum(kernel_seconds) / (seconds * workers);
        let waited = sum(io_pressure_seconds) / seconds;
        let device = busy.map_or(waited, |busy| busy / seconds);
        let switches = measurements.iter().map(|m| m.context_switches).sum::<Option<u64>>();
        let operations = sum(|m| m.operations as f64);
        let (less, more) = (processor.min(device), processor.max(device));
        let by_kernel = of_workers < device && device < processor;
        Some(if less >= BUSY_MIN && (more <= ABOUT_AS_LONG * less || by_kernel) {
            Self::Both
        } else if processor >= BUSY_MIN && processor >= device {
            Self::Processor
        } else if device >= BUSY_MIN || waited >= BUSY_MIN {
            Self::Device
        } else if busy.is_none() || counted <= 0.0 {
            return None;
        } else if first.threads > Some(1) && switches? as f64 >= SWITCHES_MIN * operations {
            Self::Lock
        } else {
            Self::Wait
        })
    }
}

/// Time in which the device was busy; of a modelled disk with a head that of its mechanism, and nothing that it
/// took to serve it.
fn busy_seconds(m: &Measurement) -> Option<f64> {
    head_seconds(m).or(m.device_busy_seconds)
}

/// Time of the mechanism of a modelled disk with a head; none of another one, whose parts work side by side.
fn head_seconds(m: &Measurement) -> Option<f64> {
    let disk = m.disk.as_ref()?;
    let turning = disk.seek_seconds? + disk.rotation_seconds?;
    (turning > 0.0).then(|| turning + disk.transfer_seconds.unwrap_or_default())
}

/// Processor time of its workers.
fn worker_seconds(m: &Measurement) -> f64 {
    m.cpu_user_seconds.unwrap_or_default() + m.cpu_system_seconds.unwrap_or_default()
}

/// Processor time in the kernel that is not the workers': of its threads, which write out what
/// they changed. Beside a modelled disk it is mostly that of serving it, and hides no time of it. Where other
/// processes are at work it is not known which part is theirs.
fn kernel_seconds(m: &Measurement) -> f64 {
    if m.disk.as_ref().is_some_and(|disk| disk.late.is_some()) {
        return 0.0;
    }
    let others = |seen: Disturbance| {
        let (all, user) = (seen.others_cpu_seconds?, seen.others_user_seconds?);
        let is_alone = seen.cpu_seconds.is_none_or(|cpu| user <= OTHERS_CPU_SHARE * cpu);
        is_alone.then_some((all - user).max(0.0))
    };
    m.disturbance.and_then(others).unwrap_or_default()
}

fn io_pressure_seconds(m: &Measurement) -> f64 {
    m.disturbance.and_then(|d| d.io_pressure_seconds).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::book::{DiskActivity, EngineName};

    /// Ten seconds with a sync of two on one worker, hardly busy.
    fn idle() -> Measurement {
        Measurement {
            cpu_user_seconds: Some(0.1),
            engine: Some(EngineName::Sync),
            threads: Some(1),
            operations: 1_000,
            seconds: Some(8.0),
            sync_seconds: Some(2.0),
            device_busy_seconds: Some(0.0),
            ..Measurement::default()
        }
    }

    fn limit(m: &Measurement) -> Option<Limit> {
        Limit::of_measurements(&[m], 2)
    }

    #[test]
    fn a_phase_whose_worker_computes_is_limited_by_the_processor() {
        let computing =
            Measurement { cpu_user_seconds: Some(1.0), cpu_system_seconds: Some(6.0), ..idle() };
        assert_eq!(limit(&computing), Some(Limit::Processor));
        // Of two workers one computes.
        let two = Measurement { threads: Some(2), context_switches: Some(0), ..computing };
        assert_eq!(limit(&two), Some(Limit::Wait));
    }

    #[test]
    fn a_phase_whose_device_is_busier_than_its_worker_is_limited_by_the_device() {
        let on_device =
            Measurement { cpu_system_seconds: Some(6.0), device_busy_seconds: Some(9.0), ..idle() };
        assert_eq!(limit(&on_device), Some(Limit::Device));
    }

    #[test]
    fn a_phase_is_limited_by_the_processor_and_the_device_if_both_are_busy_about_as_long() {
        let of = |processor: f64, device: f64| {
            let busy = Some(device);
            limit(&Measurement {
                cpu_user_seconds: Some(processor),
                device_busy_seconds: busy,
                ..idle()
            })
        };
        assert_eq!(of(5.3, 5.2), Some(Limit::Both));
        assert_eq!(of(5.2, 5.6), Some(Limit::Both));
        assert_eq!(of(5.3, 4.9), Some(Limit::Processor), "the device rested most of the time");
        assert_eq!(of(7.0, 6.0), Some(Limit::Processor));
        assert_eq!(of(6.0, 7.0), Some(Limit::Device));
    }

    #[test]
    fn a_modelled_disk_is_busy_as_long_as_its_model_took_and_not_as_long_as_it_is_served() {
        let of = |seek| DiskActivity {
            seek_seconds: Some(seek),
            rotation_seconds: Some(seek),
            ..DiskActivity::default()
        };
        let served = Measurement { device_busy_seconds: Some(9.0), ..idle() };
        let seeking = Measurement { disk: Some(of(3.0)), ..served.clone() };
        assert_eq!(limit(&seeking), Some(Limit::Device));
        assert_eq!(
            limit(&Measurement { disk: Some(of(0.1)), ..served.clone() }),
            Some(Limit::Wait)
        );
        let counted = DiskActivity { reads: 9, ..DiskActivity::default() };
        let real = Measurement { disk: Some(counted), ..served };
        assert_eq!(limit(&real), Some(Limit::Device), "of a real disk only the kernel knows");
    }

    #[test]
    fn the_kernels_time_for_other_processes_is_not_the_limit_of_a_phase() {
        let beside = |user: f64, busy: f64| {
            let seen = Disturbance {
                cpu_seconds: Some(20.0),
                others_cpu_seconds: Some(user + 8.0),
                others_user_seconds: Some(user),
                ..Disturbance::default()
            };
            let busy = Measurement { device_busy_seconds: Some(busy), ..idle() };
            limit(&Measurement { disturbance: Some(seen), ..busy })
        };
        assert_eq!(beside(0.1, 4.0), Some(Limit::Processor), "threads of the kernel alone");
        assert_eq!(beside(0.1, 6.0), Some(Limit::Both), "several of them may have run at a time");
        assert_eq!(beside(6.0, 6.0), Some(Limit::Device));
    }

    #[test]
    fn workers_that_sleep_without_a_busy_device_wait_for_a_lock_and_one_worker_waits() {
        let sleepy = Measurement { context_switches: Some(900), ..idle() };
        assert_eq!(limit(&Measurement { threads: Some(4), ..sleepy.clone() }), Some(Limit::Lock));
        assert_eq!(limit(&sleepy), Some(Limit::Wait));
    }

    #[test]
    fn without_processor_time_only_the_device_is_known_to_be_the_limit() {
        let settle = Measurement { cpu_user_seconds: Some(0.0), ..idle() };
        assert_eq!(limit(&settle), None);
        let on_device = Measurement { device_busy_seconds: Some(9.0), ..settle };
        assert_eq!(limit(&on_device), Some(Limit::Device));
    }

    #[test]
    fn a_simulated_phase_has_no_limit_and_one_whose_device_is_unknown_at_most_the_processor() {
        let unknown =
            Measurement { device_busy_seconds: None, cpu_user_seconds: Some(1.0), ..idle() };
        assert_eq!(limit(&unknown), None);
        let computing = Measurement { cpu_user_seconds: Some(9.0), ..unknown.clone() };
        assert_eq!(limit(&computing), Some(Limit::Processor));
        assert_eq!(Limit::of_measurements(&[&idle(), &unknown], 2), None, "unknown in one of two");
        let disturbance =
            Some(Disturbance { io_pressure_seconds: Some(9.5), ..Disturbance::default() });
        assert_eq!(limit(&Measurement { disturbance, ..unknown }), Some(Limit::Device));
        assert_eq!(limit(&Measurement { disturbance, ..computing }), Some(Limit::Both));
        assert_eq!(limit(&Measurement { engine: Some(EngineName::Sim), ..idle() }), None);
    }

    #[test]
    fn workers_whose_switches_were_not_counted_may_wait_for_a_lock_or_for_something_else() {
        assert_eq!(limit(&Measurement { threads: Some(4), ..idle() }), None);
        assert_eq!(limit(&idle()), Some(Limit::Wait));
    }
}
