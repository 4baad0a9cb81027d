//! Handles Ctrl-C: the first asks a run to clean up, the second ends the process at once. Other signals
//! only ask: a closed terminal and timeout(1) send theirs twice.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use boatload_base::failure::{Exit, Failure, Result};
use signal_hook::consts::{
    SIGALRM, SIGHUP, SIGINT, SIGIO, SIGPROF, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGVTALRM,
    SIGXCPU, SIGXFSZ,
};
use signal_hook::flag;

/// Signals that end a process which does not listen to them, without the signals of its own mistakes; signals of
/// real time are of the same kind (signal(7)).
const SIGNALS: [i32; 13] = [
    SIGINT,
    SIGTERM,
    SIGHUP,
    SIGQUIT,
    SIGXCPU,
    SIGALRM,
    SIGUSR1,
    SIGUSR2,
    SIGVTALRM,
    SIGPROF,
    SIGIO,
    libc::SIGPWR,
    libc::SIGSTKFLT,
];

/// All of them that this process hears.
fn signals() -> impl Iterator<Item = i32> {
    let all = SIGNALS.into_iter().chain(libc::SIGRTMIN()..=libc::SIGRTMAX());
    let is_heard = !is_hangup_ignored();
    all.filter(move |signal| *signal != SIGHUP || is_heard)
}

/// Whether a closed terminal is to be ignored, as nohup(1) wants.
fn is_hangup_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (SIGHUP - 1) & 1 == 1)
}

/// Those that end it at once when they are not the first: somebody pressed keys.
const PRESSED: [i32; 2] = [SIGINT, SIGQUIT];

/// Whether the user wants to stop.
#[derive(Clone, Debug, Default)]
pub struct Interrupt {
    asked: Arc<AtomicBool>,
    /// Whether the next signal ends the process.
    armed: Arc<AtomicBool>,
}

impl Interrupt {
    /// Listens from now on to the signals that ask a process to end: a Ctrl-C after another signal ends it at once.
    /// A file that grows beyond its limit is no reason to end: the write then fails with `EFBIG` and is counted.
    pub fn listen() -> Result<Self> {
        let interrupt = Self::default();
        let failed = |error| Failure::from_system("listen to signals", error);
        for signal in PRESSED {
            // The order matters: the signal that arms, which comes after these, ends nothing.
            let armed = Arc::clone(&interrupt.armed);
            flag::register_conditional_shutdown(signal, Exit::Interrupted as i32, armed)
                .map_err(failed)?;
        }
        for signal in signals() {
            for set in [&interrupt.asked, &interrupt.armed] {
                flag::register(signal, Arc::clone(set)).map_err(failed)?;
            }
        }
        flag::register(SIGXFSZ, Arc::default()).map_err(failed)?;
        Ok(interrupt)
    }

    /// Whether a signal came.
    pub fn is_set(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }

    /// The flag itself, for the hot loop.
    pub fn flag(&self) -> &AtomicBool {
        &self.asked
    }

    /// As if no signal had come: the next one asks again, and a Ctrl-C after that one ends the process at once.
    pub fn forget(&self) {
        self.armed.store(false, Ordering::SeqCst);
        self.asked.store(false, Ordering::SeqCst);
    }

    /// As if a signal had come.
    pub fn set(&self) {
        self.asked.store(true, Ordering::Relaxed);
    }
}
