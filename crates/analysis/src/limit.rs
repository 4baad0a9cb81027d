//! States what limited the speed of a phase, from what its workers did with their time.

use boatload_base::named_enum;
use boatload_results::book::Measurement;
use boatload_results::time_shares::busy_seconds;

/// A known share of the workers' time that is the largest of all, whatever is unknown of the rest.
const HALF: f64 = 0.5;

/// Of runs without shares of the workers' time: a worker on a processor for at most this share of the time was
/// mostly asleep, even if others kept it waiting for a processor for as long again.
const MOSTLY_ASLEEP: f64 = 0.25;

/// From this share on a limit of a control group holds workers up throughout. Time in the run queue then counts as
/// its own: with less of that the workers would only wait longer for what the limit allows.
const HELD_MIN: f64 = 0.1;

/// Context switches for each operation from which on workers that share one thing wait for each
/// other: at least every second operation was put to sleep.
const SWITCHES_MIN: f64 = 0.5;

/// Whoever holds a lock works meanwhile: so workers that wait for each other together are on the processors for at
/// least this share of the time. Those that wait for a network or another process need not be.
const HOLDERS_MIN: f64 = 0.5;

named_enum! {
    /// What limited a phase: what its workers spent the most time on.
    pub enum Limit {
        /// They, or threads of the kernel that they waited for, were on the processors.
        Processor = "processor",
        /// They were ready to run, and others had the processors.
        RunQueue = "run-queue",
        /// They slept while the device was busy.
        Device = "device",
        /// Several workers slept for each other.
        Lock = "lock",
        /// A limit of a control group kept them from the device or the processors.
        Throttled = "throttled",
        /// They slept for something else: a network, a timer, another process.
        Waiting = "waiting",
    }
}

impl Limit {
    /// What stands in sentences and in the column of a table.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Processor | Self::Device | Self::Waiting => self.as_str(),
            Self::RunQueue => "CPU run queue",
            Self::Lock => "lock contention",
            Self::Throttled => "cgroup limit",
        }
    }

    /// What limited these measurements of one phase, each on a machine with `cpus` processors; none
    /// if they are simulated or of several ranks, or too little was counted to decide.
    pub fn of_measurements(measurements: &[&Measurement], cpus: u32) -> Option<Self> {
        let is_real =
            |m: &&Measurement| m.engine.is_some() && !m.is_simulated() && m.ranks.is_none();
        let first = measurements.first().filter(|_| measurements.iter().all(is_real))?;
        let [on_cpu, mut run_queue, device, kernel, mut throttled, other] =
            mean_shares(measurements);
        let processor = on_cpu.map(|share| share + kernel.unwrap_or_default());
        if let (Some(queued), Some(held)) = (run_queue, throttled.filter(|held| *held >= HELD_MIN))
        {
            (run_queue, throttled) = (Some(0.0), Some(held + queued));
        }
        let parts = [
            (Self::Processor, processor),
            (Self::RunQueue, run_queue),
            (Self::Device, device),
            (Self::Throttled, throttled),
            (Self::Waiting, other),
        ];
        let known = parts.iter().filter_map(|(limit, share)| Some((*limit, (*share)?)));
        let largest = known.max_by(|one, other| one.1.total_cmp(&other.1));
        let is_all_known = parts.iter().all(|(_, share)| share.is_some());
        match largest.filter(|(_, share)| is_all_known || *share >= HALF) {
            Some((Self::Waiting, _)) if first.threads > Some(1) => {
                waiting_or_lock(measurements, on_cpu? * f64::from(first.threads?))
            }
            Some((limit, _)) => Some(limit),
            None => by_counters(measurements, cpus),
        }
    }
}

/// What several workers waited for, who together were on processors for `on_cpus` times the time.
fn waiting_or_lock(measurements: &[&Measurement], on_cpus: f64) -> Option<Limit> {
    let switches = measurements.iter().map(|m| m.context_switches).sum::<Option<u64>>()?;
    let operations = measurements.iter().map(|m| m.operations as f64).sum::<f64>();
    let is_lock = on_cpus >= HOLDERS_MIN && switches as f64 >= SWITCHES_MIN * operations;
    Some(if is_lock { Limit::Lock } else { Limit::Waiting })
}

/// The shares of all measurements together, each weighted by its time; what is unknown of one is unknown.
fn mean_shares(measurements: &[&Measurement]) -> [Option<f64>; 6] {
    let all = measurements.iter().map(|m| m.durable_seconds()).sum::<f64>();
    std::array::from_fn(|at| {
        let weighted =
            |m: &&Measurement| Some(m.time_shares.as_ref()?.all()[at]? * m.durable_seconds());
        let sum = measurements.iter().map(weighted).sum::<Option<f64>>();
        sum.map(|sum| sum / all).filter(|share| share.is_finite())
    })
}

/// The limit where the shares leave it open, from processor time and the device's counters: only what is sure whatever
/// else the machine did.
fn by_counters(measurements: &[&Measurement], cpus: u32) -> Option<Limit> {
    let sum = |of: fn(&Measurement) -> Option<f64>| measurements.iter().map(|m| of(m)).sum();
    let seconds: f64 = measurements.iter().map(|m| m.durable_seconds()).sum();
    let workers = f64::from(measurements.first()?.threads.unwrap_or(1).clamp(1, cpus.max(1)));
    let own: Option<f64> =
        sum(|m| Some(m.cpu_user_seconds? + m.cpu_system_seconds.unwrap_or_default()));
    let on_cpu = own.filter(|_| seconds > 0.0).map(|own| own / (seconds * workers))?;
    let busy: Option<f64> = sum(busy_seconds);
    if on_cpu >= HALF {
        return Some(Limit::Processor);
    }
    let is_shared = measurements.iter().any(|m| m.time_shares.is_some());
    let is_device = on_cpu <= MOSTLY_ASLEEP && busy? >= HALF * seconds && !is_shared;
    is_device.then_some(Limit::Device)
}

#[cfg(test)]
mod tests {
    use super::*;
    use boatload_results::book::{DiskActivity, EngineName, TimeShares};

    /// Ten seconds with a sync of two on one worker, whose shares are `[on_cpu, run_queue, device,
    /// kernel_threads, throttled, other]`.
    fn with_shares(shares: [Option<f64>; 6]) -> Measurement {
        let [on_cpu, run_queue, device, kernel_threads, throttled, other] = shares;
        let shares = TimeShares { on_cpu, run_queue, device, kernel_threads, throttled, other };
        Measurement { time_shares: Some(shares), ..counted(0.0, 0.0) }
    }

    /// One without shares, with the seconds that its worker was on a processor and its device busy.
    fn counted(on_cpu: f64, busy: f64) -> Measurement {
        Measurement {
            cpu_user_seconds: Some(on_cpu),
            engine: Some(EngineName::Sync),
            threads: Some(1),
            operations: 1_000,
            seconds: Some(8.0),
            sync_seconds: Some(2.0),
            device_busy_seconds: Some(busy),
            ..Measurement::default()
        }
    }

    fn limit(m: &Measurement) -> Option<Limit> {
        Limit::of_measurements(&[m], 2)
    }

    #[test]
    fn what_workers_spent_the_most_time_on_is_the_limit() {
        let of = |shares: [f64; 6]| limit(&with_shares(shares.map(Some)));
        assert_eq!(of([0.5, 0.1, 0.3, 0.0, 0.0, 0.1]), Some(Limit::Processor));
        assert_eq!(of([0.2, 0.1, 0.3, 0.4, 0.0, 0.0]), Some(Limit::Processor), "with the kernel's");
        assert_eq!(of([0.2, 0.6, 0.1, 0.0, 0.0, 0.1]), Some(Limit::RunQueue));
        assert_eq!(of([0.3, 0.0, 0.4, 0.0, 0.0, 0.3]), Some(Limit::Device));
        assert_eq!(of([0.1, 0.0, 0.1, 0.0, 0.8, 0.0]), Some(Limit::Throttled));
        assert_eq!(of([0.1, 0.5, 0.1, 0.0, 0.3, 0.0]), Some(Limit::Throttled), "whoever is first");
        assert_eq!(of([0.1, 0.7, 0.1, 0.0, 0.05, 0.05]), Some(Limit::RunQueue), "hardly held up");
        assert_eq!(of([0.1, 0.0, 0.1, 0.1, 0.0, 0.7]), Some(Limit::Waiting));
    }

    #[test]
    fn a_share_of_half_the_time_is_the_limit_whatever_is_unknown_and_a_smaller_one_is_not() {
        let [some, most] = [Some(0.4), Some(0.6)];
        assert_eq!(
            limit(&with_shares([most, None, None, None, None, None])),
            Some(Limit::Processor)
        );
        assert_eq!(limit(&with_shares([some, Some(0.1), None, None, None, None])), None);
        let without_kernel = [Some(0.1), Some(0.1), Some(0.2), None, None, None];
        assert_eq!(limit(&with_shares(without_kernel)), None, "threads of the kernel are not seen");
    }

    #[test]
    fn repeats_count_by_their_time_and_what_is_unknown_of_one_is_unknown() {
        let long = with_shares([Some(0.8), Some(0.0), Some(0.2), Some(0.0), Some(0.0), Some(0.0)]);
        let device = [Some(0.2), Some(0.0), Some(0.8), Some(0.0), Some(0.0), Some(0.0)];
        let short = Measurement { seconds: Some(1.0), ..with_shares(device) };
        assert_eq!(Limit::of_measurements(&[&short, &long], 2), Some(Limit::Processor));
        let unknown = Measurement { time_shares: None, ..long.clone() };
        assert_eq!(Limit::of_measurements(&[&short, &unknown], 2), None);
    }

    #[test]
    fn workers_that_sleep_wait_for_a_lock_if_one_of_them_runs_meanwhile_and_else_for_something_else()
     {
        let asleep = |on_cpu: f64, switches| Measurement {
            threads: Some(4),
            context_switches: switches,
            ..with_shares([on_cpu, 0.0, 0.0, 0.0, 0.0, 1.0 - on_cpu].map(Some))
        };
        assert_eq!(limit(&asleep(0.2, Some(900))), Some(Limit::Lock));
        assert_eq!(limit(&asleep(0.2, Some(90))), Some(Limit::Waiting), "few were put to sleep");
        assert_eq!(limit(&asleep(0.02, Some(900))), Some(Limit::Waiting), "nobody holds a lock");
        assert_eq!(limit(&asleep(0.2, None)), None, "switches were not counted");
        let alone = Measurement { threads: Some(1), ..asleep(0.2, Some(900)) };
        assert_eq!(limit(&alone), Some(Limit::Waiting));
    }

    #[test]
    fn without_shares_only_what_is_sure_is_the_limit() {
        assert_eq!(limit(&counted(5.0, 9.0)), Some(Limit::Processor));
        assert_eq!(limit(&counted(2.0, 6.0)), Some(Limit::Device));
        for (on_cpu, busy) in [(4.0, 6.0), (1.0, 4.0), (0.0, 0.0)] {
            assert_eq!(limit(&counted(on_cpu, busy)), None, "{on_cpu} s and {busy} s of 10");
        }
        let two = Measurement { threads: Some(2), ..counted(8.0, 0.0) };
        assert_eq!(limit(&two), None, "two processors for 10 s");
        let settle = Measurement { cpu_user_seconds: None, ..counted(0.0, 9.0) };
        assert_eq!(limit(&settle), None, "it may have computed meanwhile");
        let beside = Measurement { time_shares: Some(TimeShares::default()), ..counted(0.0, 9.0) };
        assert_eq!(limit(&beside), None, "for whom the device was busy is not known");
    }

    #[test]
    fn a_device_is_busy_as_long_as_its_requests_took_and_a_modelled_disk_as_long_as_its_head() {
        let ticks = Measurement { device_queue_seconds: Some(0.3), ..counted(0.1, 9.0) };
        assert_eq!(limit(&ticks), None, "a tick with a request in it is counted whole");
        let head = |seek| DiskActivity {
            seek_seconds: Some(seek),
            rotation_seconds: Some(seek),
            ..DiskActivity::default()
        };
        let on = |disk| limit(&Measurement { disk: Some(disk), ..counted(0.1, 9.0) });
        assert_eq!((on(head(3.0)), on(head(0.1))), (Some(Limit::Device), None));
        let reads = DiskActivity { reads: 9, ..DiskActivity::default() };
        assert_eq!(on(reads), Some(Limit::Device), "of a real disk only the kernel knows");
    }

    #[test]
    fn a_simulated_phase_has_no_limit() {
        let shares = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0].map(Some);
        let sim = Measurement { engine: Some(EngineName::Sim), ..with_shares(shares) };
        assert_eq!(limit(&sim), None);
    }
}
