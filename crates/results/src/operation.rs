//! Names the operation of a measurement.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::de::{Deserialize, Deserializer, Error};
use serde::{Serialize, Serializer};

use boatload_host::tracing::TracedOperation;
use boatload_op::{Operation, find_operation};
use boatload_plan::Phase;
use boatload_plan::mix::{CHAIN, MIX};
use boatload_plan::phase::{MixPart, SETTLE};

/// What was measured: an operation of jobs, several at once, a traced one that jobs have no name for, or the time until
/// a file system was unmounted.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema)]
#[schemars(with = "String")]
pub enum MeasuredOperation {
    /// An operation of jobs.
    Job(&'static Operation),
    /// A traced operation that no job has.
    Traced(TracedOperation),
    /// Several works at once.
    Mix,
    /// Several operations on one file, one after the other.
    Chain,
    /// What was still written until the unmount.
    Settle,
}

impl MeasuredOperation {
    /// The one with this name.
    pub fn find(name: &str) -> Option<Self> {
        if let Some(several) = [Self::Mix, Self::Chain].into_iter().find(|one| one.name() == name) {
            return Some(several);
        }
        let traced = || TracedOperation::ALL.into_iter().find(|one| one.as_str() == name);
        match find_operation(name) {
            Some(operation) => Some(Self::Job(operation)),
            None if name == SETTLE => Some(Self::Settle),
            None => traced().map(Self::Traced),
        }
    }

    /// What a part of a mix does.
    pub fn of_part(part: &MixPart) -> Self {
        if *part.operation == CHAIN { Self::Chain } else { Self::Job(part.operation) }
    }

    /// What a phase does.
    pub fn of(phase: &Phase) -> Self {
        if phase.mix.is_some() { Self::Mix } else { Self::Job(phase.operation) }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Job(operation) => operation.name,
            Self::Traced(operation) => operation.as_str(),
            Self::Mix => MIX.name,
            Self::Chain => CHAIN.name,
            Self::Settle => SETTLE,
        }
    }
}

impl From<TracedOperation> for MeasuredOperation {
    /// The operation of jobs that it is nearest to, else the traced one.
    fn from(operation: TracedOperation) -> Self {
        find_operation(operation.job_operation()).map_or(Self::Traced(operation), Self::Job)
    }
}

impl Serialize for MeasuredOperation {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for MeasuredOperation {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let name = Cow::<str>::deserialize(from)?;
        Self::find(&name).ok_or_else(|| D::Error::custom(format!("unknown operation `{name}`")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_operation_is_found_by_its_name() {
        let jobs = boatload_op::OPERATIONS.iter().map(MeasuredOperation::Job);
        let traced = TracedOperation::ALL.into_iter().map(MeasuredOperation::from);
        for operation in jobs.chain(traced).chain([
            MeasuredOperation::Settle,
            MeasuredOperation::Mix,
            MeasuredOperation::Chain,
        ]) {
            assert_eq!(MeasuredOperation::find(operation.name()), Some(operation));
        }
        assert_eq!(MeasuredOperation::find(""), None);
        let unlink = MeasuredOperation::from(TracedOperation::Unlink);
        assert_eq!(unlink.name(), "delete");
    }
}
