//! Keeps the machine from delaying a modelled disk: its server by memory it would have to write out through
//! itself, by its own pages on a disk, by other processes on its processor, or by processors that sleep; its
//! user by the last two.
#![expect(unsafe_code, reason = "system calls that no safe wrapper has")]

use std::fs::File;
use std::io::Write;
use std::num::NonZeroU64;

use rustix::mm::MlockAllFlags;
use rustix::process::Signal;

use super::mounts::enter_private_mounts;

/// Above ordinary processes; what else has a real-time priority goes first.
const PRIORITY: libc::c_int = 1;

/// To be called before any thread is started: threads inherit all of it. What this process may not do
/// is left out; it then serves as well as an ordinary process can. Says whether the kernel spares it from
/// writing to its own disk to get memory.
pub fn become_io_server() -> bool {
    let _ = rustix::thread::set_name(c"boatload-disk");
    // When nobody watches it any more, its requests must fail and not wait.
    let _ = rustix::process::set_parent_process_death_signal(Some(Signal::KILL));
    // What its parent mounts on its disk must not be kept mounted by it: the last process that sees
    // a mount unmounts it when it ends, for which this one would have to serve itself.
    let _ = enter_private_mounts();
    // Memory that it needs is not got by writing to its own disk (PR_SET_IO_FLUSHER(2const)).
    let is_io_flusher = rustix::process::configure_io_flusher_behavior(true).is_ok();
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
    // What is there is brought in and stays; buffers stay from their first use on.
    let _ = rustix::mm::mlockall(MlockAllFlags::CURRENT);
    let _ = rustix::mm::mlockall(MlockAllFlags::FUTURE | MlockAllFlags::ONFAULT);
    take_priority();
    is_io_flusher
}

/// Keeps processors with nothing to do from sleeping until it is dropped, where that is allowed: to wake one
/// takes longer than some requests, and how long differs from machine to machine, and with what else is
/// running (Documentation/power/pm_qos_interface.rst).
pub struct ProcessorsAwake {
    _held: Option<File>,
}

impl ProcessorsAwake {
    /// From now on.
    pub fn begin() -> Self {
        let longest_us = 0_i32.to_ne_bytes();
        let hold = || {
            let mut file = File::options().write(true).open("/dev/cpu_dma_latency")?;
            file.write_all(&longest_us)?;
            Ok::<File, std::io::Error>(file)
        };
        Self { _held: hold().ok() }
    }
}

/// The least that the kernel takes.
const TURN_NS: u64 = 100_000;

/// `struct sched_attr` of linux/sched/types.h in its first form.
#[repr(C)]
struct SchedulingAttributes {
    size: u32,
    policy: u32,
    flags: u64,
    nice: i32,
    priority: u32,
    runtime_ns: u64,
    deadline_ns: u64,
    period_ns: u64,
}

/// The largest share of a processor that an ordinary thread can have: 99% beside one of niceness 0.
const LEAST_NICE: i32 = -20;

/// Lets this thread, and those that it starts, go before other processes, so that a disk whose time is
/// known is not kept waiting by what else the machine does: short turns, so that after a wait it goes
/// before a thread that computes, whose turn would last some milliseconds (sched_setattr(2),
/// `sched_runtime`, since Linux 6.12; no effect before), and nearly the whole of a processor while it
/// computes itself. What the user has set stays.
pub fn take_precedence() {
    // SAFETY: the call takes a number and touches no memory.
    if unsafe { libc::sched_getscheduler(0) } != libc::SCHED_OTHER {
        return;
    }
    let nice = rustix::process::getpriority_process(None).unwrap_or_default();
    // To be less nice takes a right that not everyone has.
    if nice == 0 && set_ordinary_turns(LEAST_NICE) {
        return;
    }
    set_ordinary_turns(nice);
}

/// Whether the kernel took it.
fn set_ordinary_turns(nice: i32) -> bool {
    let attributes = SchedulingAttributes {
        size: size_of::<SchedulingAttributes>() as u32,
        policy: libc::SCHED_OTHER as u32,
        flags: 0,
        nice,
        priority: 0,
        runtime_ns: TURN_NS,
        deadline_ns: 0,
        period_ns: 0,
    };
    // SAFETY: the call reads one `sched_attr`, whose size is in it, and which the reference keeps alive.
    unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0) == 0 }
}

fn take_priority() {
    // SAFETY: all fields are plain numbers, for which zero is valid.
    let mut parameter: libc::sched_param = unsafe { std::mem::zeroed() };
    parameter.sched_priority = PRIORITY;
    // SAFETY: the call reads one `sched_param`, which the reference keeps alive.
    unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const parameter) };
}
