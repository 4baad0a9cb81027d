//! boatload measures how a file system's speed changes as something grows.
//!
//! Data flows one way through the stages below; a stage imports only stages before it.
//! ARCHITECTURE.md tells what lives where and why.

pub mod base;
pub mod cli;
pub mod host;
pub mod measure;
pub mod op;
pub mod plan;
pub mod report;
pub mod run;
pub mod session;
pub mod store;
