//! boatload measures how a file system's speed changes as something grows.
//!
//! Data flows one way through the stages below; a stage imports only stages before it.
//! ARCHITECTURE.md states what lives where and why.

pub mod analysis;
pub mod base;
pub mod cli;
pub mod host;
pub mod op;
pub mod plan;
pub mod report;
pub mod results;
pub mod run;
pub mod session;
