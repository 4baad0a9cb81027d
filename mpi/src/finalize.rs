//! The end of a job: no rank ends MPI before every other has reached the end, for MPI would wait for one that is gone without
//! a limit. Rank 0 may still be removing or printing; while it lives, it says so from time to time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use boatload::run::communicator::{Communicator, MessageError};

/// What rank 0 says as long as it lives.
const ALIVE: &[u8] = b"alive";

/// What it says when every rank has reached the end.
const DONE: &[u8] = b"done";

/// How long one such word may take to be sent.
const SENT_WITHIN: Duration = Duration::from_secs(10);

/// Says from time to time that rank 0 lives, from a thread of its own, until it is dropped.
pub(crate) struct Heartbeat {
    is_over: Arc<AtomicBool>,
    /// `None` if the system gives no thread, and nowhere but at rank 0.
    thread: Option<JoinHandle<()>>,
}

impl Heartbeat {
    /// Starts it at rank 0, and nothing elsewhere.
    pub(crate) fn start(communicator: impl Communicator + Send + 'static, every: Duration) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        if communicator.rank() > 0 || communicator.size() == 1 {
            return Self { is_over, thread: None };
        }
        let ends = Arc::clone(&is_over);
        let beat = move || {
            while !ends.load(Ordering::Relaxed) {
                std::thread::park_timeout(every);
                (1..communicator.size()).take_while(|_| !ends.load(Ordering::Relaxed)).for_each(
                    |rank| {
                        // One that is gone hears nothing.
                        let _ = communicator.send(rank, ALIVE, SENT_WITHIN);
                    },
                );
            }
        };
        Self { is_over, thread: Builder::new().name("alive".into()).spawn(beat).ok() }
    }
}

impl Drop for Heartbeat {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}

/// Waits until all ranks have come here: rank 0 up to `others` for each other one, and these for rank 0 as long as it
/// gives a sign of life every `first`.
///
/// # Errors
/// If a rank does not come.
pub(crate) fn finalize(
    communicator: &dyn Communicator,
    first: Duration,
    others: Duration,
) -> Result<(), MessageError> {
    if communicator.rank() > 0 {
        communicator.send(0, DONE, SENT_WITHIN)?;
        while communicator.receive(0, first)? != DONE {}
        return Ok(());
    }
    for rank in 1..communicator.size() {
        communicator.receive(rank, others)?;
    }
    (1..communicator.size()).try_for_each(|rank| communicator.send(rank, DONE, SENT_WITHIN))
}
