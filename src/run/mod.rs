//! Carrying a plan out: the clock, the engines, the one hot loop, workers, and the tree on disk.

pub mod ballast;
pub mod buffer;
pub mod cache;
pub mod census;
pub mod clock;
pub mod content;
pub mod drive;
pub mod engine;
pub mod evidence;
pub mod gate;
pub mod ground;
pub mod idle;
pub mod interrupt;
pub mod kept;
pub mod place;
pub mod remove;
pub mod site;
pub mod workers;
