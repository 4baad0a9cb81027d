//! Job files, and runs of them through the library, mostly on the simulated file system.
#![allow(missing_docs, reason = "tests")]

#[path = "../common/command.rs"]
mod command;
#[path = "../common/mod.rs"]
mod common;
#[path = "../common/library.rs"]
mod library;

mod chunks;
mod conclusions;
mod direct_jobs;
mod disk_jobs;
mod filesystem_jobs;
mod job_files;
mod mixes;
mod prepare_jobs;
mod script;
mod sim_runs;
mod until_decided;
