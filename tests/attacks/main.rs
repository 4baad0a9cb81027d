//! What somebody else on the machine, a document from elsewhere or a slip of the keyboard tries on boatload.
#![allow(missing_docs, reason = "tests")]

#[path = "../common/command.rs"]
mod command;
#[path = "../common/mod.rs"]
mod common;

mod directories;
mod documents;
mod outputs;
