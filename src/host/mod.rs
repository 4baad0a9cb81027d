//! The machine as it is: facts, rights, mounts, devices and their counters, caches and what is
//! proved to be in them. Linux-only code stands here and in `run/engine/`.

pub mod facts;
