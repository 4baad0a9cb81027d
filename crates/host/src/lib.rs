//! Reads facts, rights, mounts, devices, counters and caches of the machine; makes, mounts and erases
//! file systems. Linux-only code is here and in `run/engine/`.

pub mod block;
pub mod block_device;
pub mod capabilities;
pub(crate) mod control_group;
pub mod cpu;
pub mod disk_activity;
pub mod disturbance;
pub mod erase;
pub mod facts;
#[cfg(any(test, feature = "fixtures"))]
#[allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "for tests only"
)]
pub mod fixture;
pub mod fuse;
pub mod idle;
pub mod io_server;
mod ioctl;
pub mod layout;
pub mod loop_device;
pub mod making;
pub mod memory;
pub mod mounts;
pub mod open;
pub mod page_cache;
pub mod paths;
pub mod process;
pub(crate) mod programs;
pub mod reads;
pub mod settings;
pub mod signatures;
pub mod space;
pub mod stopped_program;
mod sysfs;
pub mod tracing;
pub mod waiting_call;

use boatload_base::errno::Errno;

/// The number of an error of the standard library's file functions.
fn errno(error: &std::io::Error) -> Errno {
    error.raw_os_error().map_or(Errno::EIO, Errno)
}
