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

use rustix::process::Signal;

use super::control::{ControlSocket, Incoming, ServerAnswer, ServerCommand};
use boatload_base::failure::{Failure, Result};
use boatload_host::mounts;

/// The command of boatload that serves a disk.
pub(super) const SERVE: &str = "serve-disk";

/// How long the server may take to answer.
const ANSWER_LIMIT: Duration = Duration::from_secs(5);

/// How long one read or write of its image may take.
const IMAGE_LIMIT: Duration = Duration::from_secs(10);

/// Asks this often whether it still answers, and makes progress with its image.
const PING_PAUSE: Duration = Duration::from_secs(1);

/// Checks this many times, with this pause before each, whether a process that was asked to end has ended.
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

/// Why a server is given up.
#[derive(Clone, Copy)]
enum GivenUp {
    /// It took too long to answer.
    Silent,
    /// It closed the connection or broke it.
    Gone,
    /// It waits for its image, spared from writing to its own disk or not.
    Stuck { is_io_flusher: bool },
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
        command.env_clear().arg0("boatload").arg(SERVE).stdin(other).stdout(Stdio::null());
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
                server.ask_for_progress();
                if server.socket.is_none() {
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
        let mut server = locked(&self.server);
        match &server.failure {
            Some(failure) => Err(failure.clone()),
            None => server.exchange(command, descriptors),
        }
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
    fn exchange(
        &mut self,
        command: &ServerCommand,
        descriptors: &[BorrowedFd<'_>],
    ) -> Result<ServerAnswer> {
        let Some(socket) = &mut self.socket else {
            return Err(Failure::failed("the modelled disk is closed"));
        };
        match socket.send(command, descriptors) {
            Ok(()) => {}
            Err(error) if is_end(&error) => return Err(self.give_up(GivenUp::Gone)),
            Err(error) => return Err(Failure::from_system("order a modelled disk", error)),
        }
        match socket.receive(ANSWER_LIMIT) {
            Ok(Incoming::Message(ServerAnswer::Refused(sentence), _)) => {
                Err(Failure::failed(sentence))
            }
            Ok(Incoming::Message(answer, _)) => Ok(answer),
            Ok(Incoming::Nothing) => Err(self.give_up(GivenUp::Silent)),
            Ok(Incoming::End) | Err(_) => Err(self.give_up(GivenUp::Gone)),
        }
    }

    /// Gives it up if it waits for its image: that it answers here says nothing of its other threads. One
    /// whose image is full keeps running, so that what is there can be unmounted.
    fn ask_for_progress(&mut self) {
        let answer = self.exchange(&ServerCommand::TellProgress, &[]);
        let Ok(ServerAnswer::Progress { longest, is_io_flusher, is_full }) = answer else { return };
        if longest > IMAGE_LIMIT {
            self.give_up(GivenUp::Stuck { is_io_flusher });
        } else if is_full && self.failure.is_none() {
            self.failure = Some(Failure::failed(
                "the image of the modelled disk is full: what it lies in has no room for what was written \
                 to it, so the run ends. What was measured before is kept. Take a smaller --size or scale, \
                 or have more room there",
            ));
        }
    }

    /// Checks whether the process still runs and makes progress, before the next request to it.
    fn failure(&mut self) -> Option<Failure> {
        let has_ended = matches!(self.child.try_wait(), Ok(Some(_)));
        if self.socket.is_some() && has_ended {
            self.give_up(GivenUp::Gone);
        } else if self.socket.is_some() {
            self.ask_for_progress();
        }
        self.failure.clone()
    }

    /// Ends a server that does not answer, which lets all requests to its disk fail.
    fn give_up(&mut self, why: GivenUp) -> Failure {
        let status = if matches!(why, GivenUp::Gone) { self.wait() } else { None };
        let _ = self.child.kill();
        // A server that waits for memory, which is written out to its own disk, cannot even be killed.
        if let Some(mount_point) = &self.mount_point {
            mounts::abort(mount_point);
        }
        self.wait();
        let failure = Failure::failed(format!(
            "the process that serves the modelled disk {} What is on that disk can no longer be \
             read or written, so the run ends. What was measured before is kept",
            lost_how(why, status)
        ));
        self.socket = None;
        self.failure = Some(failure.clone());
        failure
    }

    /// Waits for its end, for some seconds; `None` if it keeps running.
    fn wait(&mut self) -> Option<ExitStatus> {
        for _ in 0..END_LOOKS {
            match self.child.try_wait() {
                Ok(None) => boatload_base::patience::pause(END_PAUSE),
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

/// Whether a message could not be sent because there is nobody to get it.
fn is_end(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset)
}

/// What became of a server, for a sentence about it.
fn lost_how(why: GivenUp, status: Option<ExitStatus>) -> String {
    let (answer, image) = (ANSWER_LIMIT.as_secs(), IMAGE_LIMIT.as_secs());
    match (why, status) {
        (GivenUp::Silent, _) => {
            format!("did not answer for {answer} s and was ended; was it stopped, or memory short?")
        }
        (GivenUp::Stuck { is_io_flusher: true }, _) => format!(
            "waited for its image for more than {image} s and was ended; was memory short, or the disk \
             below too slow?"
        ),
        (GivenUp::Stuck { is_io_flusher: false }, _) => format!(
            "waited for its image for more than {image} s and was ended: memory was short, and without \
             CAP_SYS_RESOURCE the kernel lets it wait for its own disk then."
        ),
        (GivenUp::Gone, Some(status)) => ended_how(status),
        (GivenUp::Gone, None) => "closed the connection and was ended.".into(),
    }
}

fn ended_how(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("ended with exit code {code}."),
        (None, Some(signal)) if signal == Signal::KILL.as_raw() => {
            format!("was killed by signal {signal}; was memory short?")
        }
        (None, Some(signal)) => format!("was ended by signal {signal}."),
        (None, None) => "ended.".into(),
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.stop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sentence_says_what_became_of_the_server_and_names_no_time_that_was_not_waited() {
        let ended = |status| lost_how(GivenUp::Gone, Some(ExitStatus::from_raw(status)));
        assert_eq!(ended(9), "was killed by signal 9; was memory short?");
        assert_eq!(ended(6), "was ended by signal 6.");
        assert_eq!(ended(1 << 8), "ended with exit code 1.");
        assert_eq!(lost_how(GivenUp::Gone, None), "closed the connection and was ended.");
        let silent = lost_how(GivenUp::Silent, None);
        assert!(silent.starts_with("did not answer for 5 s and was ended"), "{silent}");
        for (is_io_flusher, cause) in [(true, "was memory short, or the disk"), (false, "CAP_SYS")]
        {
            let stuck = lost_how(GivenUp::Stuck { is_io_flusher }, None);
            assert!(stuck.contains("for more than 10 s") && stuck.contains(cause), "{stuck}");
        }
    }

    #[test]
    fn only_an_end_that_is_closed_gives_a_server_up_when_nothing_can_be_sent() {
        let error = |kind| io::Error::from(kind);
        assert!(is_end(&error(io::ErrorKind::BrokenPipe)));
        assert!(is_end(&error(io::ErrorKind::ConnectionReset)));
        assert!(!is_end(&error(io::ErrorKind::InvalidInput)));
    }
}
