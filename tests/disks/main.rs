//! Real file systems, block devices and the host: what only the kernel can show.
#![allow(missing_docs, reason = "tests")]

#[path = "../common/command.rs"]
mod command;
#[path = "../common/mod.rs"]
mod common;
#[path = "../common/library.rs"]
mod library;
#[path = "../common/mounts.rs"]
mod mounts;

mod chroot;
mod crash;
mod device;
mod engine_on_disk;
mod filesystems_real;
mod filling;
mod host_making;
mod host_real;
mod layout_real;
mod limits;
mod mix_calls;
mod modelled_disk;
mod modelled_runs;
mod real_fs;
mod refused_calls;
mod scenario_real;
mod silly_renames;
mod tree_on_disk;
mod uncounted;
