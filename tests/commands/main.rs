//! The command line: what users type, what it answers, and what it writes.
#![allow(missing_docs, reason = "tests")]

#[path = "../common/command.rs"]
mod command;
#[path = "../common/mod.rs"]
mod common;
#[path = "../common/library.rs"]
mod library;
#[path = "../common/mounts.rs"]
mod mounts;
#[path = "../common/terminal.rs"]
mod terminal;

mod answers;
mod audit;
mod check;
mod cli;
mod cli_mistakes;
mod compare;
mod conventions;
mod disk_command;
mod exports;
mod filesystem_command;
mod first_screens;
mod hostile;
mod packaging;
mod pictures;
mod progress;
mod references;
mod resume;
mod stores;
mod trace;
