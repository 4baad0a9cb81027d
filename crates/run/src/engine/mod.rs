//! Defines engines, which carry out requests. An engine never reads the clock, retries or prints.

pub(crate) mod delayed;
pub mod device;
pub(crate) mod sim;
pub mod sync;

use boatload_base::errno::Errno;
use boatload_op::Request;
use boatload_op::request::RequestOutcome;

/// Bytes of directory entries that are asked for at a time: what glibc's readdir asks of
/// getdents64(2).
const DIRENT_BYTES: usize = 32 << 10;

/// Which of the operations under way a request belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket(pub u32);

/// A request that a queueing engine has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// Whose.
    pub ticket: Ticket,
    /// What it came to.
    pub outcome: RequestOutcome,
}

/// The answer of an engine to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Submitted {
    /// It was carried out on the spot.
    Done(RequestOutcome),
    /// It is under way; `reap` will tell.
    Queued,
    /// There is no room; hand it in again after a `reap`.
    Full,
}

/// Something that carries requests out.
pub trait Engine {
    /// Operations it can have under way at once; tickets are below this.
    fn depth(&self) -> u32 {
        1
    }

    /// Hands a request in. A ticket has at most one request under way.
    fn submit(&mut self, ticket: Ticket, request: &Request) -> Submitted;

    /// Waits until at least `at_least` queued requests have ended and adds them to `out`.
    /// Only an engine that answers `Queued` is asked.
    ///
    /// # Errors
    /// The error of the queue itself; errors of requests are outcomes.
    fn reap(&mut self, _at_least: u32, _out: &mut Vec<Completion>) -> Result<(), Errno> {
        Ok(())
    }
}
