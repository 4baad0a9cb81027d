//! Reads the CPU time and the context switches of a thread and of this process.
#![expect(unsafe_code, reason = "system calls that no safe wrapper has")]

use std::mem::MaybeUninit;

use crate::base::failed_calls::note;

/// CPU time, in seconds, and context switches.
///
/// The sum is exact to the microsecond. Kernels that account by ticks (`CONFIG_TICK_CPU_ACCOUNTING`)
/// divide it between user and system by what each tick hit, a division good to a few ticks only.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct CpuTime {
    /// In user mode, in seconds.
    pub(crate) user_seconds: f64,
    /// In the kernel, in seconds.
    pub(crate) system_seconds: f64,
    /// Context switches, voluntary and involuntary.
    pub(crate) context_switches: u64,
}

impl CpuTime {
    /// What the calling thread has used since it began (getrusage(2), `RUSAGE_THREAD`).
    pub(crate) fn of_thread() -> Self {
        Self::used_by(libc::RUSAGE_THREAD)
    }

    /// What all threads of this process have used, and its children that have ended
    /// (`RUSAGE_SELF` and `RUSAGE_CHILDREN`).
    pub(crate) fn of_process() -> Self {
        let (own, children) =
            (Self::used_by(libc::RUSAGE_SELF), Self::used_by(libc::RUSAGE_CHILDREN));
        Self {
            user_seconds: own.user_seconds + children.user_seconds,
            system_seconds: own.system_seconds + children.system_seconds,
            context_switches: own.context_switches + children.context_switches,
        }
    }

    /// What was used between an earlier reading of the same and this one.
    #[must_use]
    pub(crate) fn since(self, earlier: Self) -> Self {
        Self {
            user_seconds: (self.user_seconds - earlier.user_seconds).max(0.0),
            system_seconds: (self.system_seconds - earlier.system_seconds).max(0.0),
            context_switches: self.context_switches.saturating_sub(earlier.context_switches),
        }
    }

    /// In user mode and in the kernel, in seconds.
    pub(crate) fn all_seconds(&self) -> f64 {
        self.user_seconds + self.system_seconds
    }

    fn used_by(who: libc::c_int) -> Self {
        let mut usage = MaybeUninit::<libc::rusage>::zeroed();
        // SAFETY: the pointer is valid for writing one rusage, and getrusage writes no more.
        if unsafe { libc::getrusage(who, usage.as_mut_ptr()) } < 0 {
            let error = crate::host::errno(&std::io::Error::last_os_error());
            note("getrusage", || "this process, so its processor time".into(), error);
        }
        // SAFETY: all zeros are a valid rusage, which stand where the call failed.
        let usage = unsafe { usage.assume_init() };
        Self {
            user_seconds: seconds(usage.ru_utime),
            system_seconds: seconds(usage.ru_stime),
            context_switches: usage.ru_nvcsw.saturating_add(usage.ru_nivcsw).cast_unsigned(),
        }
    }
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
}
