//! The process that serves a modelled disk: it takes its orders from the boatload that started it, and
//! ends with it.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use fuser::{Config, Session, SessionACL};

use super::control::{ControlSocket, Incoming, ServerAnswer, ServerCommand, Timing};
use super::filesystem::{HeldReply, ServedDisk};
use super::power::{ATOMIC_BYTES, CacheLaw, DiskPower};
use super::replies::ReplyQueue;
use super::simulator::DiskSimulator;
use boatload_base::failure::{Exit, Failure, Result};
use boatload_base::files::read_text;
use boatload_host::io_server::{ProcessorsAwake, become_io_server};
use boatload_plan::disk::read_disk_model;

/// Threads that take requests from the kernel.
const READERS: usize = 3;

/// Checks this often whether the parent is ending, when there is no request.
const PAUSE: Duration = Duration::from_millis(250);

/// A flag of a task that is ending, in the ninth field of `/proc/PID/stat` (`PF_EXITING` of
/// linux/sched.h).
const EXITING: u32 = 0x4;

/// Serves a disk that the process at the other end of `control` orders, until that end is closed.
///
/// # Errors
/// If there is no such process.
pub fn serve(control: OwnedFd) -> Result<()> {
    let alone = "serve-disk is how boatload starts itself to serve a modelled disk; on its own it does \
                 nothing";
    let mut control = ControlSocket::passed_on(control).ok_or_else(|| Failure::usage(alone))?;
    // Requests of a thread that is no more would never be answered: its process must end with it.
    std::panic::set_hook(Box::new(|_| std::process::abort()));
    let is_io_flusher = become_io_server();
    let mut server = DiskServer { is_io_flusher, ..DiskServer::default() };
    loop {
        let (command, descriptors) = match control.receive(PAUSE) {
            Ok(Incoming::Message(command, descriptors)) => (command, descriptors),
            Ok(Incoming::Nothing) => {
                server.let_a_dying_parent_go();
                continue;
            }
            Ok(Incoming::End) => return Ok(()),
            Err(error) => return Err(lost(error)),
        };
        let answer = server.obey(command, descriptors);
        let answer = answer.unwrap_or_else(|failure| ServerAnswer::Refused(failure.sentence));
        control.send(&answer, &[]).map_err(lost)?;
    }
}

fn lost(error: std::io::Error) -> Failure {
    Failure::from_system("talk to boatload", error)
}

#[derive(Default)]
struct DiskServer {
    seed: u64,
    is_io_flusher: bool,
    is_full: Arc<AtomicBool>,
    power: Arc<DiskPower>,
    /// How the disk treats its write cache; none before a model is known.
    law: Option<CacheLaw>,
    /// The image, once it is served.
    image: Option<File>,
    /// While requests take a disk's time.
    awake: Option<ProcessorsAwake>,
    queue: Option<Arc<ReplyQueue<HeldReply>>>,
    /// What is served as soon as it is mounted.
    waiting: Option<WaitingConnection>,
}

struct WaitingConnection {
    connection: OwnedFd,
    image: File,
    bytes: u64,
}

impl DiskServer {
    fn obey(&mut self, command: ServerCommand, descriptors: Vec<OwnedFd>) -> Result<ServerAnswer> {
        match command {
            ServerCommand::Begin { model, seed, bytes } => {
                self.seed = seed;
                self.begin(&model, bytes, descriptors)?;
            }
            ServerCommand::Serve => self.serve()?,
            ServerCommand::UseModel(text) => {
                let simulator = self.simulator(&text)?;
                self.queue()?.replace(simulator);
            }
            ServerCommand::SetTiming(timing) => {
                self.queue()?.set_timing(timing);
                let is_timed = timing != Timing::Untimed;
                self.awake =
                    is_timed.then(|| self.awake.take().unwrap_or_else(ProcessorsAwake::begin));
            }
            ServerCommand::FollowCache => {
                self.power.follow(self.law.ok_or_else(not_there)?);
            }
            ServerCommand::CutPower(order) => {
                let image = self.image.as_ref().ok_or_else(not_there)?;
                let failed = |error| Failure::from_system("cut the power of a disk", error);
                self.power.cut(order, image).map_err(failed)?;
            }
            ServerCommand::TellCut => return Ok(ServerAnswer::Cut(self.power.last_cut())),
            ServerCommand::RestorePower => self.power.restore(),
            ServerCommand::TellActivity => {
                let activity = self.queue()?.activity();
                return Ok(ServerAnswer::Activity(Box::new(activity)));
            }
            ServerCommand::TellProgress => {
                let longest = self.queue.as_ref().map(|queue| queue.longest_at_image());
                let longest = longest.unwrap_or_default();
                let is_full = self.is_full.load(Relaxed);
                let is_io_flusher = self.is_io_flusher;
                return Ok(ServerAnswer::Progress { longest, is_io_flusher, is_full });
            }
        }
        Ok(ServerAnswer::Done)
    }

    fn queue(&self) -> Result<&Arc<ReplyQueue<HeldReply>>> {
        self.queue.as_ref().ok_or_else(not_there)
    }

    fn simulator(&mut self, model: &str) -> Result<DiskSimulator> {
        let model = read_disk_model(model)
            .map_err(|problems| Failure::failed(problems.report("the model of a disk")))?;
        let block_bytes = model.block_bytes.max(ATOMIC_BYTES);
        self.law = Some(CacheLaw { block_bytes, honours_flush: model.honours_flush });
        Ok(DiskSimulator::new(&model, self.seed))
    }

    fn begin(&mut self, model: &str, bytes: u64, descriptors: Vec<OwnedFd>) -> Result<()> {
        let queue = Arc::new(ReplyQueue::new(self.simulator(model)?));
        let Ok([connection, image]) = <[OwnedFd; 2]>::try_from(descriptors) else {
            return Err(Failure::failed("no connection and no image were passed on"));
        };
        self.waiting = Some(WaitingConnection { connection, image: image.into(), bytes });
        let replies = Arc::clone(&queue);
        start_thread("disk-replies", move || replies.keep_deadlines())?;
        self.queue = Some(queue);
        Ok(())
    }

    fn serve(&mut self) -> Result<()> {
        let Some(WaitingConnection { connection, image, bytes }) = self.waiting.take() else {
            return Err(Failure::failed("no connection was passed on"));
        };
        let failed = |error| Failure::from_system("serve a modelled disk", error);
        self.image = Some(image.try_clone().map_err(failed)?);
        let (queue, is_full) = (Arc::clone(self.queue()?), Arc::clone(&self.is_full));
        let disk = ServedDisk::new(queue, image, bytes, is_full, Arc::clone(&self.power));
        let mut config = Config::default();
        config.n_threads = Some(READERS);
        let session =
            Session::from_fd(disk, connection, SessionACL::All, config).map_err(failed)?;
        // It ends when the disk is unmounted and no loop device has its file any more; before, nobody would
        // take its requests.
        start_thread("disk-session", move || {
            if session.run().is_err() {
                std::process::exit(Exit::Failed as i32);
            }
        })
    }

    /// What a killed boatload had mounted is unmounted by the kernel while it ends, and written out
    /// through this process: nobody waits for a disk's time then.
    fn let_a_dying_parent_go(&self) {
        let Some(parent) = rustix::process::getppid() else { return };
        let stat = read_text(format!("/proc/{}/stat", parent.as_raw_nonzero()));
        if let (Some(queue), true) = (&self.queue, stat.is_ok_and(|stat| is_exiting(&stat))) {
            queue.set_timing(Timing::Untimed);
        }
    }
}

/// The name, the second field, is in parentheses and may have any character (proc_pid_stat(5)).
fn is_exiting(stat: &str) -> bool {
    let after_name = stat.rsplit_once(')').map_or("", |(_, after)| after);
    let flags = after_name.split_whitespace().nth(6).and_then(|word| word.parse::<u32>().ok());
    flags.is_some_and(|flags| flags & EXITING != 0)
}

fn not_there() -> Failure {
    Failure::failed("the modelled disk is not there yet")
}

fn start_thread(name: &str, work: impl FnOnce() + Send + 'static) -> Result<()> {
    let started = std::thread::Builder::new().name(name.into()).spawn(work);
    started.map(drop).map_err(|error| Failure::from_system("start a thread", error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_is_ending_is_told_by_its_flags_whatever_its_name() {
        let stat = |flags: u32| format!("7 (a) b) (c) D 1 7 7 0 -1 {flags} 0 0");
        assert!(is_exiting(&stat(0x40_0004)) && !is_exiting(&stat(0x40_0100)));
        assert!(!is_exiting("") && !is_exiting("7 (a"));
    }
}
