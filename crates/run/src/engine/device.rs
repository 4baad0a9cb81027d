//! Reads a block device, one pread(2) for each block, from a node that is open for reading only.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use super::Engine;
use crate::content::AlignedBuffer;
use boatload_base::errno::Errno;
use boatload_op::Request;
use boatload_op::request::RequestOutcome;
use boatload_plan::Phase;

/// One worker's engine.
pub struct DeviceEngine {
    /// The device, or why it could not be opened as the phase wants it.
    device: Result<Arc<OwnedFd>, Errno>,
    buffer: AlignedBuffer,
}

impl DeviceEngine {
    /// An engine that reads at most `block` bytes at a time.
    pub fn new(device: Result<Arc<OwnedFd>, Errno>, block: u32) -> Self {
        Self { device, buffer: AlignedBuffer::new(block as usize) }
    }

    /// The memory of one, in bytes.
    pub fn bytes(phase: &Phase) -> u64 {
        phase.block.into()
    }
}

impl Engine for DeviceEngine {
    #[inline]
    fn carry_out(&mut self, request: &Request) -> RequestOutcome {
        let device = self.device.as_ref().map_err(|errno| *errno)?;
        match *request {
            Request::ReadBlock { place, bytes } => {
                let offset = place.number() * u64::from(bytes);
                let buffer = &mut self.buffer[..bytes as usize];
                Ok(rustix::io::pread(device, buffer, offset)? as u64)
            }
            // A device holds no names, and nothing is written to it.
            _ => Err(Errno::EBADF),
        }
    }
}
