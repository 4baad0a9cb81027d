//! Reads what a thread did with its time, and the CPU time of this process.
#![expect(unsafe_code, reason = "system calls that no safe wrapper has")]

use std::mem::MaybeUninit;
use std::sync::OnceLock;

use super::process::stat_field;
use boatload_base::failed_calls::note;
use boatload_base::files::read_text;

/// CPU time, time spent waiting, and context switches.
///
/// The sum is exact to the microsecond. Kernels that account by ticks (`CONFIG_TICK_CPU_ACCOUNTING`)
/// divide it between user and system by what each tick hit, a division good to a few ticks only.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CpuTime {
    /// In user mode, in seconds.
    pub user_seconds: f64,
    /// In the kernel, in seconds.
    pub system_seconds: f64,
    /// Context switches, voluntary and involuntary.
    pub context_switches: u64,
    /// Ready to run while others had the processors, in seconds; `None` when the kernel does not count it, and of
    /// a process.
    pub run_queue_seconds: Option<f64>,
    /// Asleep for a disk, in seconds; none unless `kernel.task_delayacct` is on, and of a process.
    pub disk_wait_seconds: Option<f64>,
}

impl CpuTime {
    /// What the calling thread has used since it began (getrusage(2), `RUSAGE_THREAD`), and how long it waited.
    pub fn of_thread() -> Self {
        let text = read_text("/proc/thread-self/schedstat").ok();
        let run_queue_seconds = text.and_then(|text| run_queue_seconds(&text));
        let disk_wait_seconds = disk_wait_seconds();
        // The kernel brings the count of a running thread up to date when the process is asked for its own, and else
        // once a tick (`thread_group_cputime` in kernel/sched/cputime.c).
        let _ = Self::used_by(libc::RUSAGE_SELF);
        Self { run_queue_seconds, disk_wait_seconds, ..Self::used_by(libc::RUSAGE_THREAD) }
    }

    /// What all threads of this process have used, and its children that have ended
    /// (`RUSAGE_SELF` and `RUSAGE_CHILDREN`).
    pub fn of_process() -> Self {
        Self::used_by(libc::RUSAGE_SELF).plus(Self::used_by(libc::RUSAGE_CHILDREN))
    }

    /// What was used between an earlier reading of the same and this one.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        self.with(earlier, |now, before| (now - before).max(0.0), u64::saturating_sub)
    }

    /// What two threads used together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        self.with(other, |one, other| one + other, u64::saturating_add)
    }

    fn with(self, other: Self, time: fn(f64, f64) -> f64, count: fn(u64, u64) -> u64) -> Self {
        let known = |one: Option<f64>, other: Option<f64>| Some(time(one?, other?));
        Self {
            user_seconds: time(self.user_seconds, other.user_seconds),
            system_seconds: time(self.system_seconds, other.system_seconds),
            context_switches: count(self.context_switches, other.context_switches),
            run_queue_seconds: known(self.run_queue_seconds, other.run_queue_seconds),
            disk_wait_seconds: known(self.disk_wait_seconds, other.disk_wait_seconds),
        }
    }

    /// In user mode and in the kernel, in seconds.
    pub fn all_seconds(&self) -> f64 {
        self.user_seconds + self.system_seconds
    }

    fn used_by(who: libc::c_int) -> Self {
        let mut usage = MaybeUninit::<libc::rusage>::zeroed();
        // SAFETY: the pointer is valid for writing one rusage, and getrusage writes no more.
        if unsafe { libc::getrusage(who, usage.as_mut_ptr()) } < 0 {
            let error = crate::errno(&std::io::Error::last_os_error());
            note("getrusage", || "this process, so its processor time".into(), error);
        }
        // SAFETY: all zeros are a valid rusage, which stand where the call failed.
        let usage = unsafe { usage.assume_init() };
        Self {
            user_seconds: seconds(usage.ru_utime),
            system_seconds: seconds(usage.ru_stime),
            context_switches: usage.ru_nvcsw.saturating_add(usage.ru_nivcsw).cast_unsigned(),
            ..Self::default()
        }
    }
}

/// The second number of `/proc/PID/schedstat` (Documentation/scheduler/sched-stats.rst), in nanoseconds.
fn run_queue_seconds(text: &str) -> Option<f64> {
    Some(text.split_ascii_whitespace().nth(1)?.parse::<u64>().ok()? as f64 / 1e9)
}

/// What the calling thread has waited for disks (proc_pid_stat(5), `delayacct_blkio_ticks`), in seconds; `None` when
/// that is not counted.
fn disk_wait_seconds() -> Option<f64> {
    static IS_COUNTED: OnceLock<bool> = OnceLock::new();
    let is_on = || read_text("/proc/sys/kernel/task_delayacct").is_ok_and(|on| on.trim() == "1");
    if !*IS_COUNTED.get_or_init(is_on) {
        return None;
    }
    let ticks: u64 = stat_field(&read_text("/proc/thread-self/stat").ok()?, 39)?;
    Some(ticks as f64 / rustix::param::clock_ticks_per_second().max(1) as f64)
}

fn seconds(time: libc::timeval) -> f64 {
    time.tv_sec as f64 + time.tv_usec as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_busy_thread_uses_time_and_one_that_sleeps_does_not() {
        let before = CpuTime::of_thread();
        std::thread::sleep(std::time::Duration::from_millis(80));
        let slept = CpuTime::of_thread().since(before);
        assert!(slept.all_seconds() < 0.04, "{slept:?}");
        assert!(slept.context_switches >= 1, "{slept:?}");

        let mut number = 1u64;
        let busy = loop {
            for _ in 0..1_000_000 {
                number = std::hint::black_box(number.wrapping_mul(6_364_136_223_846_793_005) + 1);
            }
            let used = CpuTime::of_thread().since(before);
            if used.all_seconds() > 0.1 {
                break used;
            }
        };
        assert!(busy.user_seconds > busy.system_seconds, "{busy:?}");
    }

    #[test]
    fn other_threads_are_not_counted() {
        let before = CpuTime::of_thread();
        let other = std::thread::spawn(|| while CpuTime::of_thread().user_seconds < 0.1 {});
        other.join().unwrap();
        let mine = CpuTime::of_thread().since(before);
        assert!(mine.all_seconds() < 0.05, "{mine:?}");
    }

    #[test]
    fn time_in_the_run_queue_is_the_second_number_and_unknown_is_none() {
        assert_eq!(run_queue_seconds("111586 2500000000 2\n"), Some(2.5));
        for nothing in ["", "5\n", "5 x 2\n"] {
            assert_eq!(run_queue_seconds(nothing), None, "{nothing}");
        }
        let known = CpuTime { run_queue_seconds: Some(1.0), ..CpuTime::default() };
        assert_eq!(known.plus(CpuTime::default()).run_queue_seconds, None);
        assert_eq!(known.plus(known).since(known), known);
    }
}
