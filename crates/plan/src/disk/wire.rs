//! Defines every key and value of the file of a disk model as it is written. Required keys are
//! `Option` too, as in a job file: what is wrong is left out, so that the rest can be checked.

use schemars::JsonSchema;
use serde::Deserialize;

use super::tables::{WireExpected, WireFlash, WireHardDisk, WireNetwork};
use crate::wire::WireQuantity;

/// A modelled disk, with exactly one of the tables that say how it works.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WireDisk {
    /// Its name.
    #[schemars(required)]
    pub(super) name: Option<String>,
    /// What it stands for, in a line.
    #[schemars(required)]
    pub(super) about: Option<String>,
    /// Bytes of a logical block, the least that is read or written: 512 (the default) or 4096.
    pub(super) block: Option<WireQuantity>,
    /// Whether a flush makes what was written before it durable: true (the default) or false. `boatload crash`
    /// cuts the power.
    pub(super) honours_flush: Option<bool>,
    /// An arm over turning platters.
    pub(super) hard_disk: Option<WireHardDisk>,
    /// Flash chips behind a link.
    pub(super) flash: Option<WireFlash>,
    /// A volume behind a network.
    pub(super) network: Option<WireNetwork>,
    /// No time at all: a table without keys.
    pub(super) memory: Option<WireMemory>,
    /// What such disks are expected to do.
    pub(super) expected: Option<WireExpected>,
}

/// No time at all.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WireMemory {}
