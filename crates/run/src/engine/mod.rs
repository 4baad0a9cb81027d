//! Defines engines, which carry out requests. An engine never reads the clock, retries or prints.

pub(crate) mod delayed;
pub mod device;
pub(crate) mod sim;
pub mod sync;

use boatload_op::Request;
use boatload_op::request::RequestOutcome;

/// Bytes of directory entries that are asked for at a time: what glibc's readdir asks of
/// getdents64(2).
const DIRENT_BYTES: usize = 32 << 10;

/// Something that carries requests out.
pub trait Engine {
    /// Carries a request out and returns when it has ended.
    fn carry_out(&mut self, request: &Request) -> RequestOutcome;
}
