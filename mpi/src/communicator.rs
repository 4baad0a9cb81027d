//! The ranks of an MPI job as a communicator. No call of MPI waits: each wait is a loop that looks whether the message has
//! come, so that a peer that is gone, a time limit or a signal ends it.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use boatload::run::communicator::{Communicator, MessageError};
use mpi::environment::Universe;
use mpi::topology::Communicator as _;
use mpi::{Rank, Tag, Threading};

use crate::finalize::{Heartbeat, finalize};
use crate::launcher;
use crate::messages::{Posted, return_errors};

/// Messages of a run.
const RUN: Tag = 1;

/// Messages of its end: what came too late for the run stays apart from them.
const END: Tag = 2;

/// A wait first only yields the processor: ranks that reach a barrier last leave it within microseconds.
const YIELDS_FOR: Duration = Duration::from_millis(1);

/// Then it sleeps, an eighth of the time that it has waited, so that it takes no processor from those who measure.
const PAUSE_MIN: Duration = Duration::from_micros(50);
const PAUSE_MAX: Duration = Duration::from_millis(1);

/// How long rank 0 waits at the end for each of the others, which have nothing left to do.
const OTHERS_WITHIN: Duration = Duration::from_secs(10);

/// How often rank 0 says that it lives: while it removes what the run made the others wait for it, however long that takes.
const ALIVE_EVERY: Duration = Duration::from_secs(60);

/// How long they wait for such a sign.
const FIRST_WITHIN: Duration = Duration::from_secs(600);

/// The exit code of a job that MPI ends.
const ABORTED: i32 = 1;

/// This process as a rank of an MPI job.
#[derive(Clone)]
pub(crate) struct MpiCommunicator {
    rank: u32,
    size: u32,
    tag: Tag,
    shared: Arc<Mutex<Traffic>>,
}

/// An MPI job, from its start to its end.
pub(crate) struct MpiJob {
    communicator: MpiCommunicator,
    heartbeat: Heartbeat,
}

impl MpiJob {
    /// Starts MPI.
    ///
    /// # Errors
    /// If it cannot be used.
    pub(crate) fn start() -> Result<Self, String> {
        let communicator = MpiCommunicator::start()?;
        let heartbeat = Heartbeat::start(communicator.at_the_end(), ALIVE_EVERY);
        Ok(Self { communicator, heartbeat })
    }

    /// Its ranks.
    pub(crate) fn communicator(&self) -> MpiCommunicator {
        self.communicator.clone()
    }

    /// Ends MPI in this process, and gives `exit` again. If a rank does not reach the end, MPI ends all of them.
    pub(crate) fn end(self, exit: ExitCode) -> ExitCode {
        let Self { communicator, heartbeat } = self;
        drop(heartbeat);
        let all = finalize(&communicator.at_the_end(), FIRST_WITHIN, OTHERS_WITHIN);
        // What came too late for anybody to want it: libraries complain of messages that nobody received.
        for from in 0..communicator.size {
            while communicator.receive(from, Duration::ZERO).is_ok() {}
        }
        let universe = communicator.traffic().universe.take();
        if let (Err(_), Some(universe)) = (all, &universe) {
            universe.world().abort(ABORTED);
        }
        drop(universe);
        exit
    }
}

/// Messages in transit.
struct Traffic {
    /// None after the end.
    universe: Option<Universe>,
    /// Messages that left too late for whoever sent them.
    leaving: Vec<Posted>,
    /// Messages that have arrived in part, by their tag and sender.
    arriving: BTreeMap<(Tag, u32), Posted>,
}

impl MpiCommunicator {
    /// Starts MPI.
    ///
    /// # Errors
    /// If it cannot be used.
    fn start() -> Result<Self, String> {
        let started = mpi::initialize_with_threading(Threading::Serialized);
        let (universe, threading) = started.ok_or("MPI was started twice")?;
        if threading < Threading::Serialized {
            return Err(format!(
                "the MPI library gives the thread level {threading:?}, and boatload-mpi needs MPI_THREAD_SERIALIZED: use a library \
                 that was built with threads"
            ));
        }
        return_errors()?;
        let world = universe.world();
        let (rank, size) = (number(world.rank()), number(world.size()));
        launcher::check(size)?;
        let traffic =
            Traffic { universe: Some(universe), leaving: Vec::new(), arriving: BTreeMap::new() };
        Ok(Self { rank, size, tag: RUN, shared: Arc::new(Mutex::new(traffic)) })
    }

    /// The same ranks, with messages of the end of the run.
    fn at_the_end(&self) -> Self {
        Self { tag: END, ..self.clone() }
    }

    fn traffic(&self) -> MutexGuard<'_, Traffic> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Communicator for MpiCommunicator {
    fn rank(&self) -> u32 {
        self.rank
    }

    fn size(&self) -> u32 {
        self.size
    }

    fn send(&self, to: u32, message: &[u8], within: Duration) -> Result<(), MessageError> {
        let (to, wait) = (rank_of(to)?, Wait::new(within));
        // Held for each call, so that there is one at a time.
        let posted = {
            let _traffic = self.traffic();
            Posted::send(message.to_vec(), to, self.tag)
        };
        let mut posted = posted.map_err(MessageError::Broken)?;
        loop {
            let mut traffic = self.traffic();
            posted = match posted.into_message().map_err(MessageError::Broken)? {
                Ok(_) => return Ok(()),
                Err(posted) => posted,
            };
            if wait.is_over() {
                // MPI still reads it, and may deliver it later.
                traffic.leaving.push(posted);
                return Err(MessageError::TimedOut);
            }
            drop(traffic);
            // The receiver may not be there yet, or takes it bit by bit, which continues only while MPI is called.
            wait.pause(PAUSE_MIN);
        }
    }

    fn receive(&self, from: u32, within: Duration) -> Result<Vec<u8>, MessageError> {
        let (source, wait) = (rank_of(from)?, Wait::new(within));
        loop {
            let mut traffic = self.traffic();
            let mut pause_max = PAUSE_MAX;
            let posted = match traffic.arriving.remove(&(self.tag, from)) {
                Some(posted) => Some(posted),
                None => Posted::receive(source, self.tag).map_err(MessageError::Broken)?,
            };
            if let Some(posted) = posted {
                match posted.into_message().map_err(MessageError::Broken)? {
                    Ok(message) => return Ok(message),
                    Err(posted) => {
                        traffic.arriving.insert((self.tag, from), posted);
                    }
                }
                pause_max = Duration::ZERO;
            }
            drop(traffic);
            if wait.is_over() {
                return Err(MessageError::TimedOut);
            }
            wait.pause(pause_max);
        }
    }
}

/// A wait that takes little of the processor.
struct Wait {
    begun: Instant,
    within: Duration,
}

impl Wait {
    fn new(within: Duration) -> Self {
        Self { begun: Instant::now(), within }
    }

    fn is_over(&self) -> bool {
        self.begun.elapsed() >= self.within
    }

    /// Waits before the next look, no longer than that.
    fn pause(&self, pause_max: Duration) {
        let waited = self.begun.elapsed();
        if waited < YIELDS_FOR || pause_max.is_zero() {
            return std::thread::yield_now();
        }
        let pause = (waited / 8).max(PAUSE_MIN).min(pause_max);
        std::thread::sleep(pause.min(self.within.saturating_sub(waited)));
    }
}

/// A rank as MPI counts.
fn rank_of(rank: u32) -> Result<Rank, MessageError> {
    Rank::try_from(rank).map_err(|_| MessageError::Broken(format!("MPI has no rank {rank}")))
}

/// A number of MPI's that is not negative.
fn number(of: Rank) -> u32 {
    of.unsigned_abs()
}

#[cfg(test)]
mod tests;
