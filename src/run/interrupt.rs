//! Ctrl-C: the first asks a run to stop and clean up, the second ends the process at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::base::failure::{Exit, Failure, Result};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU, SIGXFSZ};

/// Whether the user wants to stop.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Listens from now on to the signals that ask a process to end. A file that grows beyond its
    /// limit is no such reason: the write then fails with `EFBIG` and is counted.
    ///
    /// # Errors
    /// If the kernel refuses the handlers.
    pub fn listen() -> Result<Self> {
        let interrupt = Self::default();
        for signal in [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU] {
            let flag = &interrupt.0;
            // The order matters: the flag is still unset when the first signal looks at it.
            signal_hook::flag::register_conditional_shutdown(
                signal,
                Exit::Interrupted as i32,
                Arc::clone(flag),
            )
            .and_then(|_| signal_hook::flag::register(signal, Arc::clone(flag)))
            .map_err(|error| Failure::from_system("listen to signals", error))?;
        }
        signal_hook::flag::register(SIGXFSZ, Arc::default())
            .map_err(|error| Failure::from_system("listen to signals", error))?;
        Ok(interrupt)
    }

    /// Whether a signal came.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// The flag itself, for the hot loop.
    pub fn flag(&self) -> &AtomicBool {
        &self.0
    }

    /// As if a signal had come.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
