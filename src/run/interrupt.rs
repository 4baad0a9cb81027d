//! Handles Ctrl-C: the first asks a run to clean up, the second ends the process at once. Other signals
//! only ask: a closed terminal and timeout(1) send theirs twice.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::base::failure::{Exit, Failure, Result};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU, SIGXFSZ};

/// Signals that ask a process to end.
const SIGNALS: [i32; 5] = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU];

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
    /// Listens from now on to the signals that ask a process to end.
    pub fn listen() -> Result<Self> {
        let interrupt = Self::listen_unarmed()?;
        interrupt.arm()?;
        Ok(interrupt)
    }

    /// The same, but until it is armed no Ctrl-C ends the process at once: for whoever has something
    /// to give back first. A file that grows beyond its limit is no reason to end: the write then
    /// fails with `EFBIG` and is counted.
    pub fn listen_unarmed() -> Result<Self> {
        let interrupt = Self::default();
        let failed = |error| Failure::from_system("listen to signals", error);
        for signal in PRESSED {
            // The order matters: the signal that arms, which comes after these, ends nothing.
            signal_hook::flag::register_conditional_shutdown(
                signal,
                Exit::Interrupted as i32,
                Arc::clone(&interrupt.armed),
            )
            .map_err(failed)?;
        }
        for signal in SIGNALS {
            signal_hook::flag::register(signal, Arc::clone(&interrupt.asked)).map_err(failed)?;
        }
        signal_hook::flag::register(SIGXFSZ, Arc::default()).map_err(failed)?;
        Ok(interrupt)
    }

    /// From now on a Ctrl-C after another signal ends the process at once.
    pub fn arm(&self) -> Result<()> {
        for signal in SIGNALS {
            signal_hook::flag::register(signal, Arc::clone(&self.armed))
                .map_err(|error| Failure::from_system("listen to signals", error))?;
        }
        // A signal between the two has set it as well.
        if self.is_set() {
            self.armed.store(true, Ordering::SeqCst);
        }
        Ok(())
    }

    /// Whether a signal came.
    pub fn is_set(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }

    /// The flag itself, for the hot loop.
    pub fn flag(&self) -> &AtomicBool {
        &self.asked
    }

    /// As if a signal had come.
    pub fn set(&self) {
        self.asked.store(true, Ordering::Relaxed);
    }
}
