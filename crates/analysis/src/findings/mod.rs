//! What is concluded of a run beside its effects, and what effects are told by. METHODOLOGY.md states the criteria.

pub mod bytes_moved;
pub(super) mod device_load;
pub mod disk;
pub mod growth;
pub mod growth_law;
pub mod say;

#[cfg(test)]
pub(crate) mod tests;
