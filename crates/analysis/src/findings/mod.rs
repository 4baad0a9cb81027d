//! What is concluded of a run beside its effects, and what effects are told by. METHODOLOGY.md states the criteria.

pub(super) mod device_load;
pub mod disk;
pub mod growth;
pub mod law;
pub mod say;
pub mod source;

#[cfg(test)]
pub(crate) mod tests;
