//! Defines findings: each kind with its figures and its sentence.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::answer::AnswerFinding;
use super::effect_finding::EffectFinding;
use super::findings::bytes_moved::{DestinationFinding, LowerCacheFinding, SourceFinding};
use super::findings::disk::DiskFinding;
use super::warnings::table::WarningFinding;

/// What boatload concludes from a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Finding {
    /// What the whole run answers to its question.
    Answer(AnswerFinding),
    /// How many times as long something takes as something else.
    Effect(Box<EffectFinding>),
    /// Where what was read came from.
    Source(SourceFinding),
    /// How much of what was written reached the device.
    Destination(DestinationFinding),
    /// Whether something below the kernel caches.
    LowerCache(LowerCacheFinding),
    /// What the disk did for each operation.
    Disk(DiskFinding),
    /// What a reader must know before trusting a figure.
    Warning(WarningFinding),
}

impl Finding {
    /// The finding in one sentence, for people.
    pub fn sentence(&self) -> String {
        match self {
            Self::Answer(found) => found.sentence(),
            Self::Effect(found) => found.sentence(),
            Self::Source(found) => found.sentence(),
            Self::Destination(found) => found.sentence(),
            Self::LowerCache(found) => found.sentence(),
            Self::Disk(found) => found.sentence(),
            Self::Warning(found) => found.sentence.clone(),
        }
    }

    /// What to do about it; empty where nothing is to be done.
    pub fn hint(&self) -> &str {
        match self {
            Self::Warning(found) => &found.hint,
            _ => "",
        }
    }

    /// Whether it is a warning.
    pub fn is_warning(&self) -> bool {
        matches!(self, Self::Warning(_))
    }
}

/// A finding as documents have it: with its sentence. That is ignored when it is read.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FindingDocument<'a> {
    /// The finding in one sentence. A warning and an answer have it among their figures.
    #[serde(skip_serializing_if = "Option::is_none")]
    sentence: Option<String>,
    #[serde(flatten)]
    finding: &'a Finding,
}

impl<'a> From<&'a Finding> for FindingDocument<'a> {
    fn from(finding: &'a Finding) -> Self {
        let has_own = finding.is_warning() || matches!(finding, Finding::Answer(_));
        let sentence = (!has_own).then(|| finding.sentence());
        Self { sentence, finding }
    }
}
