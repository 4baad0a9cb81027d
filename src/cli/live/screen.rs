//! The terminal while the view is on it: entered, drawn on, listened to, and given back as it was.

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Read, Stderr, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ratatui::backend::CrosstermBackend;
use ratatui::buffer::Buffer;
use ratatui::crossterm::cursor::{Hide, Show};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen};
use ratatui::layout::Rect;
use ratatui::{Terminal, TerminalOptions, Viewport};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{
    InputModes, LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcgetpgrp,
    tcgetwinsize, tcsetattr,
};
use signal_hook::SigId;
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU};

/// Signals after which something is to be done at once.
const SIGNALS: [i32; 6] = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU, SIGCONT];

/// What Ctrl-C is where the terminal sends no signal for it.
const CTRL_C: u8 = 3;

/// Switches a key off (`_POSIX_VDISABLE` of Linux).
const NO_KEY: u8 = 0;

/// What a user did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// The view is not wanted any more.
    Leave,
    /// The run is not wanted any more.
    Stop,
    /// A signal came, or the run is over.
    Woken,
}

/// A terminal with a view on it.
pub(super) struct Screen {
    terminal: Terminal<CrosstermBackend<BufWriter<Stderr>>>,
    tenure: Arc<Tenure>,
    wakes: UnixStream,
    signals: Vec<SigId>,
    /// Whether the process was stopped meanwhile, and who ran it then had the terminal.
    continued: Arc<AtomicBool>,
}

/// What the terminal was like, and whether it is still to be made so again.
pub(super) struct Tenure {
    holds: AtomicBool,
    tty: OwnedFd,
    before: Termios,
    waker: UnixStream,
}

impl Tenure {
    /// Whether the view is on the terminal.
    pub(super) fn holds(&self) -> bool {
        self.holds.load(Ordering::SeqCst)
    }

    /// Gives the terminal back as it was; once.
    pub(super) fn end(&self) {
        if self.holds.swap(false, Ordering::SeqCst) {
            // Where the terminal is gone there is nothing to be given back.
            let _ = execute!(io::stderr(), LeaveAlternateScreen, Show);
            let _ = tcsetattr(&self.tty, OptionalActions::Now, &self.before);
        }
    }

    /// Takes the terminal again after the process was stopped. One that belongs to somebody else by
    /// now is left alone.
    fn resume(&self) -> io::Result<()> {
        if is_foreground(&self.tty) {
            return self.begin();
        }
        self.holds.store(false, Ordering::SeqCst);
        Err(io::ErrorKind::NotConnected.into())
    }

    /// Ends a wait for keys.
    pub(super) fn wake(&self) {
        let _ = (&self.waker).write(b"w");
    }

    /// Keys come one by one and are not echoed. Ctrl-C stays a signal, for the whole of the run as it
    /// is without a view; Ctrl-Z would stop what is being measured and leave the view behind.
    fn begin(&self) -> io::Result<()> {
        let mut modes = self.before.clone();
        modes.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO | LocalModes::IEXTEN);
        modes.local_modes.insert(LocalModes::ISIG);
        modes.input_modes.remove(InputModes::IXON);
        modes.special_codes[SpecialCodeIndex::VSUSP] = NO_KEY;
        modes.special_codes[SpecialCodeIndex::VMIN] = 1;
        modes.special_codes[SpecialCodeIndex::VTIME] = 0;
        tcsetattr(&self.tty, OptionalActions::Now, &modes)?;
        self.holds.store(true, Ordering::SeqCst);
        execute!(io::stderr(), EnterAlternateScreen, Hide)
    }
}

impl Screen {
    /// Takes the terminal.
    ///
    /// # Errors
    /// Why that cannot be done, for people.
    pub(super) fn enter() -> Result<Self, String> {
        let tty = terminal()?;
        let failed = |error: io::Error| error.to_string();
        let (waker, wakes) = UnixStream::pair().map_err(failed)?;
        wakes.set_nonblocking(true).map_err(failed)?;
        waker.set_nonblocking(true).map_err(failed)?;
        let before = tcgetattr(&tty).map_err(|error| error.to_string())?;
        let tenure = Arc::new(Tenure { holds: AtomicBool::new(false), tty, before, waker });
        let viewport = Viewport::Fixed(size());
        let backend = CrosstermBackend::new(BufWriter::new(io::stderr()));
        let options = TerminalOptions { viewport };
        let terminal = Terminal::with_options(backend, options).map_err(failed)?;
        let (signals, continued) = (Vec::new(), Arc::default());
        let mut screen = Self { terminal, tenure, wakes, signals, continued };
        let flag = Arc::clone(&screen.continued);
        screen.signals.push(signal_hook::flag::register(SIGCONT, flag).map_err(failed)?);
        for signal in SIGNALS {
            let waker = screen.tenure.waker.try_clone().map_err(failed)?;
            let id = signal_hook::low_level::pipe::register(signal, waker).map_err(failed)?;
            screen.signals.push(id);
        }
        end_at_panic(&screen.tenure);
        screen.tenure.begin().map_err(failed)?;
        Ok(screen)
    }

    /// Its hold on the terminal.
    pub(super) fn tenure(&self) -> Arc<Tenure> {
        Arc::clone(&self.tenure)
    }

    /// Draws, on all of the terminal as large as it is now.
    ///
    /// # Errors
    /// If the terminal is gone.
    pub(super) fn draw(&mut self, draw: impl FnOnce(&mut Buffer)) -> io::Result<()> {
        if self.continued.swap(false, Ordering::SeqCst) {
            self.tenure.resume()?;
            self.terminal.clear()?;
        }
        let size = size();
        if self.terminal.get_frame().area() != size {
            self.terminal.resize(size)?;
        }
        self.terminal.draw(|frame| draw(frame.buffer_mut()))?;
        Ok(())
    }

    /// What was done, waiting for it so long at most; none if nothing was.
    pub(super) fn event(&mut self, nanoseconds: u64) -> Option<Event> {
        let timeout = Timespec {
            tv_sec: (nanoseconds / 1_000_000_000).cast_signed(),
            tv_nsec: (nanoseconds % 1_000_000_000).cast_signed(),
        };
        let wakes = self.wakes.as_fd();
        let mut both = [
            PollFd::from_borrowed_fd(wakes, PollFlags::IN),
            PollFd::from_borrowed_fd(self.tenure.tty.as_fd(), PollFlags::IN),
        ];
        // A signal that cuts it short has left its byte as well.
        let _ = poll(&mut both, Some(&timeout));
        let is_ready = both.map(|one| !one.revents().is_empty());
        if is_ready[0] {
            let _ = (&self.wakes).read(&mut [0; 64]);
            return Some(Event::Woken);
        }
        is_ready[1].then(|| self.key()).flatten()
    }

    fn key(&self) -> Option<Event> {
        let mut keys = [0; 64];
        match rustix::io::read(&self.tenure.tty, &mut keys) {
            // The terminal is gone.
            Ok(0) | Err(_) => Some(Event::Leave),
            Ok(count) => {
                let keys = &keys[..count];
                let has = |key: u8| keys.contains(&key);
                let leaves = has(b'q') || has(b'Q');
                has(CTRL_C).then_some(Event::Stop).or(leaves.then_some(Event::Leave))
            }
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.tenure.end();
        for id in self.signals.drain(..) {
            signal_hook::low_level::unregister(id);
        }
    }
}

/// The terminal that keys come from; why there is none.
fn terminal() -> Result<OwnedFd, String> {
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
    const COMMON: (u16, u16) = (80, 24);
    let told = tcgetwinsize(io::stderr()).ok().map(|size| (size.ws_col, size.ws_row));
    let (columns, rows) = told.filter(|(c, r)| *c > 0 && *r > 0).unwrap_or(COMMON);
    Rect::new(0, 0, columns, rows)
}

/// What a panic says is to be read, on a terminal that is as it was.
fn end_at_panic(tenure: &Arc<Tenure>) {
    let (before, tenure) = (std::panic::take_hook(), Arc::clone(tenure));
    std::panic::set_hook(Box::new(move |panic| {
        tenure.end();
        before(panic);
    }));
}
