//! Limits how long names and texts may be, in job files and in run documents alike.

/// Most bytes of a name that a job file gives: to itself, a variant, a phase, an axis, a parameter.
pub const NAME_BYTES_MAX: usize = 60;

/// Most bytes of any other text that is shown: questions, paths, mount options, reasons.
pub const TEXT_BYTES_MAX: usize = 64 << 10;
