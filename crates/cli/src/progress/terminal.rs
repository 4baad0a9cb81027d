//! Puts the live view on the terminal of standard error, and takes it off again.

use std::io::{self, IsTerminal};
use std::os::fd::OwnedFd;

use ratatui_core::backend::Backend;
use ratatui_core::buffer::{Buffer, Cell};
use ratatui_core::layout::Rect;
use ratatui_core::style::Color;
use ratatui_crossterm::CrosstermBackend;
use ratatui_crossterm::crossterm::cursor::{Hide, Show};
use ratatui_crossterm::crossterm::queue;
use ratatui_crossterm::crossterm::style::ResetColor;
use ratatui_crossterm::crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::termios::{QueueSelector, tcflush, tcgetwinsize};

/// How long a terminal has to take the last words, and how often: one that takes a piece now and then has a reader.
const LAST_WAIT: Timespec = Timespec { tv_sec: 0, tv_nsec: 250_000_000 };
const LAST_TRIES: u32 = 8;

/// A terminal with a view on it, until it is dropped. The terminal is never asked for anything: it might not answer.
pub(super) struct Screen {
    /// The terminal, opened anew: a write to it never waits, as a connection that stalls must not hold up what is
    /// measured, or the end of a run.
    writer: OwnedFd,
    /// What it has not taken yet.
    waiting: Vec<u8>,
}

impl Screen {
    /// Takes the terminal.
    ///
    /// # Errors
    /// Why that cannot be done, for people.
    pub(super) fn enter() -> Result<Self, String> {
        if !io::stderr().is_terminal() {
            return Err("standard error is not a terminal".into());
        }
        if std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb") {
            return Err("TERM does not name a terminal that can show it".into());
        }
        let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let open = |path| rustix::fs::open(path, flags, Mode::empty());
        // By its own name it may be another user's; the one that the process belongs to opens for all.
        let writer = open("/proc/self/fd/2").or_else(|_| open("/dev/tty"));
        let writer = writer.map_err(|error| error.to_string())?;
        let mut screen = Self { writer, waiting: Vec::new() };
        queue!(screen.waiting, EnterAlternateScreen, Hide).map_err(|error| error.to_string())?;
        screen.write().map(|()| screen).map_err(|error| error.to_string())
    }

    /// Draws on all of the terminal, as large as it is now; not while it has not taken the picture before.
    ///
    /// # Errors
    /// If the terminal is gone.
    pub(super) fn draw(&mut self, draw: impl FnOnce(&mut Buffer)) -> io::Result<()> {
        self.write()?;
        if !self.waiting.is_empty() {
            return Ok(());
        }
        let mut picture = Buffer::empty(size());
        draw(&mut picture);
        // A cell that no picture has: all are sent, over what was typed meanwhile.
        let mut other = Cell::new("?");
        other.set_bg(Color::Black);
        let changes = Buffer::filled(picture.area, other);
        CrosstermBackend::new(&mut self.waiting).draw(changes.diff(&picture).into_iter())?;
        self.write()
    }

    /// Sends as much as the terminal takes now, and leaves the rest.
    fn write(&mut self) -> io::Result<()> {
        while !self.waiting.is_empty() {
            match rustix::io::write(&self.writer, &self.waiting) {
                Ok(sent) => drop(self.waiting.drain(..sent)),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

impl Drop for Screen {
    /// Restores the terminal. Where nobody reads, that takes the place of what was not read yet.
    fn drop(&mut self) {
        // A vector takes everything.
        let _ = queue!(self.waiting, ResetColor, LeaveAlternateScreen, Show);
        for _ in 0..LAST_TRIES {
            // Where the terminal is gone there is nothing to be given back.
            if self.write().is_err() || self.waiting.is_empty() {
                return;
            }
            let mut one = [PollFd::new(&self.writer, PollFlags::OUT)];
            let _ = poll(&mut one, Some(&LAST_WAIT));
            if !one[0].revents().contains(PollFlags::OUT) {
                let _ = tcflush(&self.writer, QueueSelector::OFlush);
            }
        }
    }
}

/// All of the terminal, as large as it is now. What it says of its size need not be true, and a picture takes memory
/// and time.
fn size() -> Rect {
    let size = tcgetwinsize(io::stderr()).map(|size| (size.ws_col, size.ws_row));
    let (columns, rows) = size.ok().filter(|size| size.0 > 0 && size.1 > 0).unwrap_or((80, 24));
    Rect::new(0, 0, columns.min(500), rows.min(200))
}
