//! Takes the terminal for the live view, draws on it, reads keys, and restores it.

use std::fs::File;
use std::io::{self, IsTerminal};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ratatui_core::backend::Backend;
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_crossterm::CrosstermBackend;
use ratatui_crossterm::crossterm::cursor::{Hide, Show};
use ratatui_crossterm::crossterm::queue;
use ratatui_crossterm::crossterm::style::ResetColor;
use ratatui_crossterm::crossterm::terminal::{
    Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen,
};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::termios::{
    InputModes, LocalModes, OptionalActions, QueueSelector, SpecialCodeIndex, Termios, tcflush,
    tcgetattr, tcgetpgrp, tcgetwinsize, tcsetattr,
};
use signal_hook::SigId;
use signal_hook::consts::SIGCONT;

use crate::run::interrupt::Interrupt;

/// What Ctrl-C is where the terminal sends no signal for it.
const CTRL_C: u8 = 3;

/// Switches a key off (`_POSIX_VDISABLE` of Linux).
const NO_KEY: u8 = 0;

/// A terminal with a view on it.
pub(super) struct Screen {
    hold: Arc<TerminalHold>,
    /// What it shows.
    shown: Buffer,
    signal: SigId,
    /// Whether the process was stopped meanwhile, and who ran it then had the terminal.
    continued: Arc<AtomicBool>,
}

/// What the terminal was like, and whether it is still to be made so again.
pub(super) struct TerminalHold {
    /// What the terminal has not taken yet; `None` when the view is not on it.
    waiting: Mutex<Option<Vec<u8>>>,
    /// The terminal of standard error, opened anew: a write to it never waits, as a connection that
    /// stalled must not hold up what is measured, or the end of a run.
    writer: OwnedFd,
    /// Where keys come from.
    tty: OwnedFd,
    before: Termios,
    interrupt: Interrupt,
}

impl TerminalHold {
    fn waiting(&self) -> MutexGuard<'_, Option<Vec<u8>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the view is on the terminal.
    pub(super) fn holds(&self) -> bool {
        self.waiting().is_some()
    }

    /// Restores the terminal, once. Only then may a signal end the process at once.
    pub(super) fn end(&self) {
        let mut waiting = self.waiting();
        if waiting.take().is_some() {
            let mut words = Vec::new();
            // A vector takes everything.
            let _ = queue!(words, ResetColor, LeaveAlternateScreen, Show);
            self.send_last(words);
            let _ = tcsetattr(&self.tty, OptionalActions::Now, &self.before);
            self.arm();
        }
    }

    /// The wish to stop the run.
    pub(super) fn interrupt(&self) -> &Interrupt {
        &self.interrupt
    }

    fn arm(&self) {
        // The kernel has taken handlers of these signals before.
        let _ = self.interrupt.arm();
    }

    /// Takes the terminal again after the process was stopped. One that belongs to somebody else by
    /// now is left alone.
    fn resume(&self) -> io::Result<()> {
        let mut waiting = self.waiting();
        if waiting.is_some() && is_foreground(&self.tty) {
            return self.take(&mut waiting);
        }
        if waiting.take().is_some() {
            self.arm();
        }
        Err(io::ErrorKind::NotConnected.into())
    }

    /// Keys come one by one and are not echoed. Ctrl-C stays a signal, for the whole of the run as it
    /// is without a view; Ctrl-Z would stop what is being measured and leave the view behind.
    fn take(&self, waiting: &mut Option<Vec<u8>>) -> io::Result<()> {
        let mut modes = self.before.clone();
        modes.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO | LocalModes::IEXTEN);
        modes.local_modes.insert(LocalModes::ISIG);
        modes.input_modes.remove(InputModes::IXON);
        modes.special_codes[SpecialCodeIndex::VSUSP] = NO_KEY;
        modes.special_codes[SpecialCodeIndex::VMIN] = 1;
        modes.special_codes[SpecialCodeIndex::VTIME] = 0;
        tcsetattr(&self.tty, OptionalActions::Now, &modes)?;
        let words = waiting.insert(Vec::new());
        queue!(words, EnterAlternateScreen, Hide)?;
        self.write(words)
    }

    /// Whether the terminal has taken all that was drawn: only then is another picture of use.
    fn is_free(&self) -> io::Result<bool> {
        let mut waiting = self.waiting();
        let waiting = waiting.as_mut().ok_or(io::ErrorKind::NotConnected)?;
        self.write(waiting)?;
        Ok(waiting.is_empty())
    }

    fn send(&self, mut picture: Vec<u8>) -> io::Result<()> {
        let mut waiting = self.waiting();
        let waiting = waiting.as_mut().ok_or(io::ErrorKind::NotConnected)?;
        waiting.append(&mut picture);
        self.write(waiting)
    }

    /// Sends as much as the terminal takes now, and leaves the rest.
    fn write(&self, bytes: &mut Vec<u8>) -> io::Result<()> {
        while !bytes.is_empty() {
            match rustix::io::write(&self.writer, bytes) {
                Ok(sent) => drop(bytes.drain(..sent)),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Whether the terminal takes anything, waiting a moment for that.
    pub(super) fn takes(&self) -> bool {
        let mut one = [PollFd::new(&self.writer, PollFlags::OUT)];
        let _ = poll(&mut one, Some(&LAST_WAIT));
        one[0].revents().contains(PollFlags::OUT)
    }

    /// Sends the last words. Where nobody reads, they take the place of what was not read yet: it
    /// would be seen only to be taken off the screen.
    fn send_last(&self, mut words: Vec<u8>) {
        for _ in 0..LAST_TRIES {
            // Where the terminal is gone there is nothing to be given back.
            if self.write(&mut words).is_err() || words.is_empty() {
                return;
            }
            if !self.takes() {
                let _ = tcflush(&self.writer, QueueSelector::OFlush);
            }
        }
    }
}

impl Screen {
    /// Takes the terminal.
    ///
    /// # Errors
    /// Why that cannot be done, for people.
    pub(super) fn enter(interrupt: &Interrupt) -> Result<Self, String> {
        let tty = terminal()?;
        let failed = |error: io::Error| error.to_string();
        let writer = open_writer().map_err(failed)?;
        let before = tcgetattr(&tty).map_err(|error| error.to_string())?;
        let interrupt = interrupt.clone();
        let hold =
            Arc::new(TerminalHold { waiting: Mutex::default(), writer, tty, before, interrupt });
        let continued = Arc::<AtomicBool>::default();
        let signal = signal_hook::flag::register(SIGCONT, Arc::clone(&continued));
        let signal = signal.map_err(failed)?;
        let screen = Self { hold, shown: Buffer::default(), signal, continued };
        end_at_panic(&screen.hold);
        let entered = screen.hold.take(&mut screen.hold.waiting());
        entered.map_err(failed)?;
        Ok(screen)
    }

    /// Its hold on the terminal.
    pub(super) fn hold(&self) -> Arc<TerminalHold> {
        Arc::clone(&self.hold)
    }

    /// Draws, on all of the terminal as large as it is now; not while it has not taken the picture
    /// before. The terminal is never asked for anything: it might not answer.
    ///
    /// # Errors
    /// If the terminal is gone.
    pub(super) fn draw(&mut self, draw: impl FnOnce(&mut Buffer)) -> io::Result<()> {
        if self.continued.swap(false, Ordering::SeqCst) {
            self.hold.resume()?;
            self.shown = Buffer::default();
        }
        if !self.hold.is_free()? {
            return Ok(());
        }
        let mut next = Buffer::empty(size());
        draw(&mut next);
        let mut picture = Vec::new();
        if self.shown.area != next.area {
            queue!(picture, Clear(ClearType::All))?;
            self.shown = Buffer::empty(next.area);
        }
        CrosstermBackend::new(&mut picture).draw(self.shown.diff(&next).into_iter())?;
        self.shown = next;
        self.hold.send(picture)
    }

    /// Whether the user leaves the view within so many nanoseconds, or the terminal is gone. Ctrl-C
    /// stops the run as well.
    pub(super) fn is_left_within(&self, nanoseconds: u64) -> bool {
        let timeout = Timespec {
            tv_sec: (nanoseconds / 1_000_000_000).cast_signed(),
            tv_nsec: (nanoseconds % 1_000_000_000).cast_signed(),
        };
        let mut one = [PollFd::new(&self.hold.tty, PollFlags::IN)];
        let _ = poll(&mut one, Some(&timeout));
        if one[0].revents().is_empty() {
            return false;
        }
        let mut keys = [0; 64];
        let Ok(count @ 1..) = rustix::io::read(&self.hold.tty, &mut keys) else { return true };
        let has = |key: u8| keys[..count].contains(&key);
        if has(CTRL_C) {
            self.hold.interrupt.set();
        }
        has(CTRL_C) || has(b'q') || has(b'Q')
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.hold.end();
        signal_hook::low_level::unregister(self.signal);
    }
}

/// How long a terminal has to take the last words.
const LAST_WAIT: Timespec = Timespec { tv_sec: 0, tv_nsec: 250_000_000 };

/// Tries to write the last picture: a terminal that takes a piece now and then has a reader.
const LAST_TRIES: u32 = 8;

/// The terminal of standard error, for writes that do not wait.
fn open_writer() -> io::Result<OwnedFd> {
    let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let open = |path| rustix::fs::open(path, flags, Mode::empty());
    let by_name = |_| match tcgetpgrp(io::stderr()) {
        // It is the one that the process belongs to, which anyone may open.
        Ok(_) => open("/dev/tty"),
        Err(error) => Err(error),
    };
    Ok(open("/proc/self/fd/2").or_else(by_name)?)
}

/// The terminal that keys come from; why there is none.
pub(super) fn terminal() -> Result<OwnedFd, String> {
    if !io::stderr().is_terminal() {
        return Err("standard error is not a terminal".into());
    }
    if std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb") {
        return Err("TERM does not name a terminal that can show it".into());
    }
    let stdin = io::stdin();
    let tty = match stdin.is_terminal() {
        true => stdin.as_fd().try_clone_to_owned().map_err(|error| error.to_string())?,
        false => {
            let tty = File::options().read(true).write(true).open("/dev/tty");
            tty.map_err(|_| "no keys can be read from a terminal")?.into()
        }
    };
    if is_foreground(&tty) { Ok(tty) } else { Err("boatload is in the background".into()) }
}

/// Whether the terminal belongs to this process just now.
fn is_foreground(tty: &OwnedFd) -> bool {
    tcgetpgrp(tty).is_ok_and(|group| group == rustix::process::getpgrp())
}

/// All of the terminal, as large as it is now.
fn size() -> Rect {
    tcgetwinsize(io::stderr()).map_or_else(|_| area(0, 0), |size| area(size.ws_col, size.ws_row))
}

/// The area that is drawn on. What a terminal says of its size need not be true, and a picture takes
/// memory and time.
fn area(columns: u16, rows: u16) -> Rect {
    const COMMON: (u16, u16) = (80, 24);
    const MOST: (u16, u16) = (500, 200);
    let (columns, rows) = if columns > 0 && rows > 0 { (columns, rows) } else { COMMON };
    Rect::new(0, 0, columns.min(MOST.0), rows.min(MOST.1))
}

/// Restores the terminal before a panic prints its message.
fn end_at_panic(hold: &Arc<TerminalHold>) {
    let (before, hold) = (std::panic::take_hook(), Arc::clone(hold));
    std::panic::set_hook(Box::new(move |panic| {
        hold.end();
        before(panic);
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_that_says_nothing_or_nonsense_of_its_size_gets_a_picture() {
        assert_eq!(area(123, 45), Rect::new(0, 0, 123, 45));
        assert_eq!(area(0, 45), Rect::new(0, 0, 80, 24));
        assert_eq!(area(u16::MAX, u16::MAX), Rect::new(0, 0, 500, 200));
    }
}
