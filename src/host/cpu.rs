//! CPU time of a thread and of this process.
#![expect(unsafe_code, reason = "system calls that no safe wrapper has")]

use std::mem::MaybeUninit;

/// CPU time that the calling thread has used, in seconds.
///
/// The sum is exact to the microsecond. Kernels that account by ticks (`CONFIG_TICK_CPU_ACCOUNTING`)
/// divide it between user and system by what each tick hit, a division good to a few ticks only.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ThreadCpu {
    /// In user mode, in seconds.
    pub user_seconds: f64,
    /// In the kernel, in seconds.
    pub system_seconds: f64,
}

impl ThreadCpu {
    /// What the calling thread has used since it began (getrusage(2), `RUSAGE_THREAD`).
    pub fn now() -> Self {
        let (user_seconds, system_seconds) = used(libc::RUSAGE_THREAD);
        Self { user_seconds, system_seconds }
    }

    /// What was used between an earlier reading of the same thread and this one, in seconds.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self {
            user_seconds: (self.user_seconds - earlier.user_seconds).max(0.0),
            system_seconds: (self.system_seconds - earlier.system_seconds).max(0.0),
        }
    }
}

/// CPU time that all threads of this process have used, in seconds, and its children that have ended.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ProcessCpu {
    /// In user mode, in seconds.
    pub user_seconds: f64,
    /// In the kernel, in seconds.
    pub system_seconds: f64,
}

impl ProcessCpu {
    /// What was used until now (getrusage(2), `RUSAGE_SELF` and `RUSAGE_CHILDREN`).
    pub fn now() -> Self {
        let (own, children) = (used(libc::RUSAGE_SELF), used(libc::RUSAGE_CHILDREN));
        Self { user_seconds: own.0 + children.0, system_seconds: own.1 + children.1 }
    }

    /// What was used between an earlier reading and this one, in seconds.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self {
            user_seconds: (self.user_seconds - earlier.user_seconds).max(0.0),
            system_seconds: (self.system_seconds - earlier.system_seconds).max(0.0),
        }
    }

    /// In user mode and in the kernel, in seconds.
    pub fn all_seconds(&self) -> f64 {
        self.user_seconds + self.system_seconds
    }
}

/// Seconds in user mode and in the kernel of whom the constant of getrusage(2) names.
fn used(who: libc::c_int) -> (f64, f64) {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the pointer is valid for writing one rusage, and getrusage writes no more. It
    // cannot fail with these constants and a valid pointer; the zeros would stand if it did,
    // and all zeros are a valid rusage.
    let usage = unsafe {
        libc::getrusage(who, usage.as_mut_ptr());
        usage.assume_init()
    };
    (seconds(usage.ru_utime), seconds(usage.ru_stime))
}

fn seconds(time: libc::timeval) -> f64 {
    time.tv_sec as f64 + time.tv_usec as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_busy_thread_uses_time_and_one_that_sleeps_does_not() {
        let before = ThreadCpu::now();
        std::thread::sleep(std::time::Duration::from_millis(80));
        let slept = ThreadCpu::now().since(before);
        assert!(slept.user_seconds + slept.system_seconds < 0.04, "{slept:?}");

        let mut number = 1u64;
        let busy = loop {
            for _ in 0..1_000_000 {
                number = std::hint::black_box(number.wrapping_mul(6_364_136_223_846_793_005) + 1);
            }
            let used = ThreadCpu::now().since(before);
            if used.user_seconds + used.system_seconds > 0.1 {
                break used;
            }
        };
        assert!(busy.user_seconds > busy.system_seconds, "{busy:?}");
    }

    #[test]
    fn other_threads_are_not_counted() {
        let before = ThreadCpu::now();
        let other = std::thread::spawn(|| while ThreadCpu::now().user_seconds < 0.1 {});
        other.join().unwrap();
        let mine = ThreadCpu::now().since(before);
        assert!(mine.user_seconds + mine.system_seconds < 0.05, "{mine:?}");
    }
}
