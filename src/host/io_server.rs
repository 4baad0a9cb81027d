//! Makes this process one that serves a block device without being held up: by memory it would have to
//! write out through itself, by its own pages on a disk, or by other processes on its processor.
#![expect(unsafe_code, reason = "system calls that no safe wrapper has")]

use std::num::NonZeroU64;

use rustix::mm::MlockAllFlags;
use rustix::process::Signal;

use super::mounts::enter_private_mounts;

/// Above ordinary processes; what else has a real-time priority goes first.
const PRIORITY: libc::c_int = 1;

/// To be called before any thread is started: threads inherit all of it. What this process may not do
/// is left out; it then serves as well as an ordinary process can.
pub fn become_io_server() {
    let _ = rustix::thread::set_name(c"boatload-disk");
    // When nobody watches it any more, its requests must fail and not wait.
    let _ = rustix::process::set_parent_process_death_signal(Some(Signal::KILL));
    // What its parent mounts on its disk must not be kept mounted by it: the last process that sees
    // a mount unmounts it when it ends, for which this one would have to serve itself.
    let _ = enter_private_mounts();
    // Memory that it needs is not got by writing to its own disk (PR_SET_IO_FLUSHER(2const)).
    let _ = rustix::process::configure_io_flusher_behavior(true);
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
    // What is there is brought in and stays; buffers stay from their first use on.
    let _ = rustix::mm::mlockall(MlockAllFlags::CURRENT);
    let _ = rustix::mm::mlockall(MlockAllFlags::FUTURE | MlockAllFlags::ONFAULT);
    take_priority();
}

fn take_priority() {
    // SAFETY: all fields are plain numbers, for which zero is valid.
    let mut parameter: libc::sched_param = unsafe { std::mem::zeroed() };
    parameter.sched_priority = PRIORITY;
    // SAFETY: the call reads one `sched_param`, which the reference keeps alive.
    unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const parameter) };
}
