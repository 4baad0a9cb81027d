//! Starts the process that serves a modelled disk, talks to it, and ends it when it does not answer: its
//! requests then fail, where they would wait for ever.

use std::io;
use std::os::fd::BorrowedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use super::control::{ControlSocket, Incoming, ServerAnswer, ServerCommand};
use crate::base::failure::{Failure, Result};
use crate::host::mounts;

/// The command of boatload that serves a disk.
pub(super) const SERVE: &str = "serve-disk";

/// How long the server may take to answer.
const ANSWER_LIMIT: Duration = Duration::from_secs(5);

/// How often it is asked whether it still answers.
const PING_PAUSE: Duration = Duration::from_secs(1);

/// How long a process may take to end that was told to, in looks and the pause before each.
const END_LOOKS: u32 = 200;
const END_PAUSE: Duration = Duration::from_millis(10);

/// A server and the thread that watches it.
pub(super) struct Watchdog {
    server: Arc<Mutex<Server>>,
    /// Ends the thread when it is dropped.
    thread: Option<WatchThread>,
}

struct WatchThread {
    alive: Sender<()>,
    handle: JoinHandle<()>,
}

/// The process, and the connection to it.
struct Server {
    child: Child,
    /// None once it is closed.
    socket: Option<ControlSocket>,
    /// Where what it serves is mounted; none before.
    mount_point: Option<PathBuf>,
    /// Why it does not answer any more.
    failure: Option<Failure>,
}

impl Watchdog {
    /// Starts a server.
    ///
    /// # Errors
    /// If no process can be started.
    pub(super) fn start() -> Result<Self> {
        let cannot = |error: io::Error| Failure::from_system("start the modelled disk", error);
        let (socket, other) = ControlSocket::pair().map_err(cannot)?;
        let mut command = Command::new("/proc/self/exe");
        command.arg0("boatload").arg(SERVE).stdin(other).stdout(Stdio::null());
        // A Ctrl-C in the terminal is meant for this process, which ends the other.
        command.stderr(Stdio::null()).current_dir("/").process_group(0);
        let child = command.spawn().map_err(cannot)?;
        let server = Server { child, socket: Some(socket), mount_point: None, failure: None };
        let mut watchdog = Self { server: Arc::new(Mutex::new(server)), thread: None };
        watchdog.watch().map_err(cannot)?;
        Ok(watchdog)
    }

    fn watch(&mut self) -> io::Result<()> {
        let server = Arc::clone(&self.server);
        let (alive, ended) = channel::<()>();
        let watch = move || {
            while ended.recv_timeout(PING_PAUSE) == Err(RecvTimeoutError::Timeout) {
                let mut server = locked(&server);
                let _ = server.ask(&ServerCommand::TellActivity, &[]);
                if server.failure.is_some() {
                    break;
                }
            }
        };
        let handle = std::thread::Builder::new().name("disk-watchdog".into()).spawn(watch)?;
        self.thread = Some(WatchThread { alive, handle });
        Ok(())
    }

    /// Has the server do something.
    ///
    /// # Errors
    /// What it says, or why it does not answer: then it has ended, and requests to the disk fail.
    pub(super) fn ask(&self, command: &ServerCommand) -> Result<ServerAnswer> {
        self.ask_with(command, &[])
    }

    /// The same with descriptors.
    pub(super) fn ask_with(
        &self,
        command: &ServerCommand,
        descriptors: &[BorrowedFd<'_>],
    ) -> Result<ServerAnswer> {
        locked(&self.server).ask(command, descriptors)
    }

    /// Says where what the server serves is mounted.
    pub(super) fn serves_at(&self, mount_point: &Path) {
        locked(&self.server).mount_point = Some(mount_point.to_path_buf());
    }

    /// Why the server does not answer any more, if that is so.
    pub(super) fn failure(&self) -> Option<Failure> {
        locked(&self.server).failure()
    }

    /// Ends the server.
    pub(super) fn stop(&mut self) {
        if let Some(WatchThread { alive, handle }) = self.thread.take() {
            drop(alive);
            let _ = handle.join();
        }
        locked(&self.server).end();
    }
}

fn locked(server: &Mutex<Server>) -> MutexGuard<'_, Server> {
    server.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Server {
    fn ask(
        &mut self,
        command: &ServerCommand,
        descriptors: &[BorrowedFd<'_>],
    ) -> Result<ServerAnswer> {
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        let Some(socket) = &mut self.socket else {
            return Err(Failure::failed("the modelled disk is closed"));
        };
        let sent = socket.send(command, descriptors);
        match sent.and_then(|()| socket.receive(ANSWER_LIMIT)) {
            Ok(Incoming::Message(ServerAnswer::Refused(sentence), _)) => {
                Err(Failure::failed(sentence))
            }
            Ok(Incoming::Message(answer, _)) => Ok(answer),
            Ok(Incoming::Nothing) => Err(self.give_up(true)),
            Ok(Incoming::End) | Err(_) => Err(self.give_up(false)),
        }
    }

    /// Looks whether the process still runs before it is asked again.
    fn failure(&mut self) -> Option<Failure> {
        let has_ended = matches!(self.child.try_wait(), Ok(Some(_)));
        if self.failure.is_none() && self.socket.is_some() && has_ended {
            self.give_up(false);
        }
        self.failure.clone()
    }

    /// Ends a server that does not answer, which lets all requests to its disk fail.
    fn give_up(&mut self, is_silent: bool) -> Failure {
        let status = if is_silent { None } else { self.wait() };
        let _ = self.child.kill();
        // A server that waits for memory, which is written out to its own disk, cannot even be killed.
        if let Some(mount_point) = &self.mount_point {
            mounts::abort(mount_point);
        }
        self.wait();
        let how = match status {
            None => format!(
                "did not answer for {} s and was ended; was it stopped, or memory short?",
                ANSWER_LIMIT.as_secs()
            ),
            Some(status) => format!("{}; was memory short?", ended_how(status)),
        };
        let failure = Failure::failed(format!(
            "the process that serves the modelled disk {how} What is on that disk can no longer be \
             read or written, so the run ends. What was measured before is kept"
        ));
        self.socket = None;
        self.failure = Some(failure.clone());
        failure
    }

    /// Waits for its end, for some seconds; none if it goes on.
    fn wait(&mut self) -> Option<ExitStatus> {
        for _ in 0..END_LOOKS {
            match self.child.try_wait() {
                Ok(None) => std::thread::sleep(END_PAUSE),
                Ok(Some(status)) => return Some(status),
                Err(_) => return None,
            }
        }
        None
    }

    /// Lets it end in its own way, or else kills it.
    fn end(&mut self) {
        self.socket = None;
        if self.wait().is_none() {
            let _ = self.child.kill();
            self.wait();
        }
    }
}

fn ended_how(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("ended with exit code {code}"),
        (None, Some(signal)) => format!("was killed by signal {signal}"),
        (None, None) => "ended".into(),
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.stop();
    }
}
