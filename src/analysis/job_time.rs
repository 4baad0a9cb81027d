//! Computes how long each variant took for the whole job, without an axis.

use super::findings::ranking::{job_values, whole_jobs};
use super::statistics::describe::mean;
use crate::base::distinct::each_once;
use crate::results::book::{Book, Measurement};

/// Seconds of all phases with their syncs, the geometric mean over the repeats of which all is valid; none without
/// one, for fewer than two phases, and where there are levels.
pub(super) fn job_seconds(book: &Book, variant: &str) -> Option<f64> {
    let own = book.measurements.iter().filter(|m| m.cell.variant == variant);
    let own: Vec<&Measurement> = own.collect();
    let phases = each_once(own.iter().map(|m| m.phase.as_str()));
    if phases.len() < 2 || own.iter().any(|m| m.cell.level.is_some()) {
        return None;
    }
    let jobs = whole_jobs(&own, &phases);
    let seconds = (-mean(&job_values(&jobs).figures())).exp();
    Some(seconds).filter(|seconds| seconds.is_finite() && !jobs.is_empty())
}
