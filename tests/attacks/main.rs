//! What somebody else on the machine, or a document from elsewhere, tries on boatload.
#![allow(missing_docs, reason = "tests")]

#[path = "../common/command.rs"]
mod command;

mod documents;
