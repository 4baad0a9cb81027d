//! boatload measures how a file system's speed changes as something grows.
//!
//! Data flows one way through the stages below; a stage imports only stages before it.
//! ARCHITECTURE.md states what lives where and why.

pub use boatload_analysis as analysis;
pub use boatload_base as base;
pub use boatload_cli as cli;
pub use boatload_host as host;
pub use boatload_op as op;
pub use boatload_plan as plan;
pub use boatload_report as report;
pub use boatload_results as results;
pub use boatload_run as run;
pub use boatload_session as session;
