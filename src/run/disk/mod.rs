//! Stands in for a disk whose times are known.

pub mod figures;
mod flash;
mod geometry;
mod hard_disk;
mod network;
mod ranges;
mod request;
pub mod simulator;
