//! Runs the `boatload` command on a terminal of its own, as a user does who sits at one.
#![allow(
    dead_code,
    missing_docs,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test panics when it cannot continue"
)]

use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustix::fs::OFlags;
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{Winsize, tcgetattr, tcsetwinsize};

/// A terminal, and what is shown on it.
pub struct Terminal {
    keys: File,
    line: OwnedFd,
    seen: Arc<Mutex<Vec<u8>>>,
    stalled: Arc<AtomicBool>,
}

impl Terminal {
    pub fn new(columns: u16, rows: u16) -> Self {
        let keys = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&keys).unwrap();
        unlockpt(&keys).unwrap();
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let line = ioctl_tiocgptpeer(&keys, flags).unwrap();
        let keys = File::from(keys);
        let seen = Arc::new(Mutex::new(Vec::new()));
        let terminal = Self { keys, line, seen, stalled: Arc::default() };
        terminal.resize(columns, rows);
        let mut screen = terminal.keys.try_clone().unwrap();
        let (seen, stalled) = (Arc::clone(&terminal.seen), Arc::clone(&terminal.stalled));
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = screen.read(&mut bytes) {
                seen.lock().unwrap().extend_from_slice(&bytes[..count]);
                while stalled.load(Ordering::SeqCst) {
                    std::thread::sleep(Duration::from_millis(5));
                }
            }
        });
        terminal
    }

    pub fn resize(&self, columns: u16, rows: u16) {
        let size = Winsize { ws_col: columns, ws_row: rows, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&self.line, size).unwrap();
    }

    /// Nobody reads it any more, and it is full.
    pub fn stalls(&self) {
        self.stalled.store(true, Ordering::SeqCst);
        let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed();
        let path = format!("/proc/self/fd/{}", self.line.as_raw_fd());
        let mut line = File::options().write(true).custom_flags(flags).open(path).unwrap();
        // Whoever read it may take one piece more.
        for _ in 0..20 {
            while line.write(&[b'.'; 1024]).is_ok() {}
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// How it treats keys and lines.
    pub fn modes(&self) -> String {
        format!("{:?}", tcgetattr(&self.line).unwrap())
    }

    pub fn press(&self, keys: &[u8]) {
        (&self.keys).write_all(keys).unwrap();
    }

    /// All that was shown until now, with the sequences that control the terminal.
    pub fn seen(&self) -> String {
        String::from_utf8_lossy(&self.seen.lock().unwrap()).into_owned()
    }

    /// Waits until this is shown.
    #[track_caller]
    pub fn shows(&self, text: &str) {
        for _ in 0..12_000 {
            if self.seen().contains(text) {
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        panic!("a minute has gone without {text:?}:\n{:?}", self.seen());
    }

    /// Starts a command in a session with this terminal.
    pub fn start(&self, command: &Command) -> AtTerminal {
        self.start_into(self.line.try_clone().unwrap(), command)
    }

    /// The same with standard output led elsewhere.
    pub fn start_into(&self, output: impl Into<Stdio>, command: &Command) -> AtTerminal {
        let mut whole = Command::new("setsid");
        let stdio = || Stdio::from(self.line.try_clone().unwrap());
        whole.args(["--ctty", "--wait"]).arg(command.get_program()).args(command.get_args());
        whole
            .env_clear()
            .env("TERM", "xterm-256color")
            .current_dir(command.get_current_dir().unwrap());
        let kept = command.get_envs().filter_map(|(name, value)| Some((name, value?)));
        whole.envs(kept.collect::<Vec<(&OsStr, &OsStr)>>());
        let child = whole.stdin(stdio()).stdout(output).stderr(stdio()).spawn().unwrap();
        AtTerminal(child)
    }
}

/// A process at a terminal; it is ended when it is dropped.
pub struct AtTerminal(Child);

impl AtTerminal {
    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.0), signal).expect("it is still running");
    }

    /// Waits for its end; its exit code.
    #[track_caller]
    pub fn ended(mut self) -> Option<i32> {
        for _ in 0..12_000 {
            if let Some(status) = self.0.try_wait().unwrap() {
                return status.code();
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        panic!("a minute has gone, and it has not ended");
    }
}

impl Drop for AtTerminal {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
