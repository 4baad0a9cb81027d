//! Measures the time of a request from a process through the kernel to the server of a modelled
//! disk, and back.

use std::path::Path;

use rustix::fs::{Mode, OFlags, SeekFrom, open, seek};
use rustix::io::{Result, pread};

use super::control::PROBE_NS;
use crate::clock::{Clock, RealClock};
use crate::content::AlignedBuffer;
use boatload_plan::phase::DIRECT_BYTES;

/// Enough for a median that a few requests which were held up do not move, in 20 ms.
const PROBES: usize = 65;

/// More than any way takes on a machine that can serve a disk; what takes longer stays visible as late.
const PATH_NS_MAX: u64 = 400_000;

/// The median over some reads; 0 where the device cannot be read.
pub(super) fn path_ns(device: &Path) -> u64 {
    let median = median_read_ns(device).unwrap_or_default();
    median.saturating_sub(PROBE_NS).min(PATH_NS_MAX)
}

/// Of the end of the device, where file systems have next to nothing.
fn median_read_ns(device: &Path) -> Result<u64> {
    let device = open(device, OFlags::RDONLY | OFlags::DIRECT | OFlags::CLOEXEC, Mode::empty())?;
    let bytes = DIRECT_BYTES as usize;
    let offset = seek(&device, SeekFrom::End(0))?.saturating_sub(bytes as u64);
    let offset = offset / bytes as u64 * bytes as u64;
    let mut block = AlignedBuffer::new(bytes);
    let clock = RealClock::new();
    let mut times = [0; PROBES];
    for time in &mut times {
        let begun = clock.now();
        pread(&device, &mut block[..], offset)?;
        *time = clock.nanoseconds(begun, clock.now());
    }
    times.sort_unstable();
    Ok(times[PROBES / 2])
}
