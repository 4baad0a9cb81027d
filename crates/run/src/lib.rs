//! Carries out a plan: the clock, the engines, the one hot loop, workers, and the tree on disk.

pub mod backing;
pub mod ballast;
pub mod cache;
pub mod clock;
pub mod communicator;
pub mod content;
pub mod crash;
pub mod disk;
pub mod drive;
pub mod engine;
pub mod guard;
pub mod image;
pub mod interrupt;
pub mod kept_ballast;
pub mod leftover;
pub mod mixed_files;
pub mod mixed_turns;
pub mod remove;
pub mod run_directory;
pub mod run_location;
pub mod site;
pub mod turns;
pub mod unread;
pub mod workers;
