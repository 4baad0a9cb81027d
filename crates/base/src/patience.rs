//! Gives up waiting for work on files whose calls may never return.

use std::sync::mpsc;
use std::thread::Builder;
use std::time::Duration;

use rustix::time::Timespec;

/// Waits this long for work that may never end.
const PATIENCE: Duration = Duration::from_secs(5);

/// Does work on a thread of its own, and gives its result; `None` if it takes too long. The thread then keeps running, and nobody
/// hears of it.
pub fn soon<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let (sender, receiver) = mpsc::channel();
    let started = Builder::new().name("patience".into()).spawn(move || sender.send(work()));
    started.ok().and_then(|_| receiver.recv_timeout(PATIENCE).ok())
}

/// Lets some time pass. Where the kernel refuses that, none passes: `std::thread::sleep` panics there.
pub fn pause(time: Duration) {
    let (tv_sec, tv_nsec) = (time.as_secs().cast_signed(), i64::from(time.subsec_nanos()));
    let _ = rustix::thread::nanosleep(&Timespec { tv_sec, tv_nsec });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ends_is_given_and_what_panics_is_not_waited_for() {
        assert_eq!(soon(|| 7), Some(7));
        assert_eq!(soon(|| std::panic::resume_unwind(Box::new(7))), None::<u32>);
    }
}
