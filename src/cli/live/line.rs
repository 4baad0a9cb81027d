//! The way to the terminal, on which nothing waits for one that nobody reads: a connection that
//! stalled must not hold up what is measured, or the end of a run.

use std::io;
use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::termios::{QueueSelector, tcflush, tcgetpgrp};

/// How long a terminal has to take the last words.
const LAST_WAIT: Timespec = Timespec { tv_sec: 0, tv_nsec: 250_000_000 };

/// How often the last words are tried: what takes a piece now and then is read by somebody.
const LAST_TRIES: u32 = 8;

/// What standard error leads to, opened anew so that others who have it may go on waiting.
pub(super) struct Line(OwnedFd);

impl Line {
    /// Opens the terminal of standard error.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub(super) fn open() -> io::Result<Self> {
        let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let open = |path| rustix::fs::open(path, flags, Mode::empty());
        let by_name = || match tcgetpgrp(io::stderr()) {
            // It is the one that the process belongs to, which anyone may open.
            Ok(_) => open("/dev/tty"),
            Err(error) => Err(error),
        };
        Ok(Self(open("/proc/self/fd/2").or_else(|_| by_name())?))
    }

    /// Sends as much as the terminal takes now, and leaves the rest.
    ///
    /// # Errors
    /// If the terminal is gone.
    pub(super) fn send(&self, bytes: &mut Vec<u8>) -> io::Result<()> {
        while !bytes.is_empty() {
            match rustix::io::write(&self.0, bytes) {
                Ok(sent) => drop(bytes.drain(..sent)),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Whether it takes anything, waiting a moment for that.
    pub(super) fn takes(&self) -> bool {
        let mut one = [PollFd::new(&self.0, PollFlags::OUT)];
        let _ = poll(&mut one, Some(&LAST_WAIT));
        one[0].revents().contains(PollFlags::OUT)
    }

    /// Sends the last words. Where nobody reads, they take the place of what was not read yet: it
    /// would be seen only to be taken off the screen.
    pub(super) fn send_last(&self, words: &[u8]) {
        let mut words = words.to_vec();
        for _ in 0..LAST_TRIES {
            // Where the terminal is gone there is nothing to be given back.
            if self.send(&mut words).is_err() || words.is_empty() {
                return;
            }
            if !self.takes() {
                let _ = tcflush(&self.0, QueueSelector::OFlush);
            }
        }
    }
}
