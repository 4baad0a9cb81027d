//! Waiting until a device has nothing to do, so that a phase is not timed with the work of the one
//! before, or of others.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::host::device::BlockDevice;
use crate::host::idle::look;

/// How long it is waited from one look to the next.
const PAUSE: Duration = Duration::from_millis(20);

/// The device must be idle this often in a row: between two requests of a busy one lies little.
const LOOKS_IDLE: u32 = 3;

/// Looks at most: a second. What is at work for longer is not what the phase before left.
const LOOKS_MAX: u32 = 50;

/// Waits until the device is idle, but not for ever; whether it is. None if nothing tells.
pub fn wait_until_idle(device: &BlockDevice, stop: &AtomicBool) -> Option<bool> {
    let mut idle = 0;
    for _ in 0..LOOKS_MAX {
        idle = if look(device)?.is_idle() { idle + 1 } else { 0 };
        if idle == LOOKS_IDLE {
            return Some(true);
        }
        if stop.load(Ordering::Relaxed) {
            break;
        }
        std::thread::sleep(PAUSE);
    }
    Some(false)
}
