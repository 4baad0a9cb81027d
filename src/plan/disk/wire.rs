//! Defines every key and value of the file of a disk model as it is written. Required keys are
//! `Option` too, as in a job file: what is wrong is left out, so that the rest can be checked.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::plan::wire::WireQuantity;

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

/// A hard disk.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WireHardDisk {
    /// Bytes that it holds.
    #[schemars(required, example = "64MiB")]
    pub(super) capacity: Option<WireQuantity>,
    /// Surfaces, each with its head: 1 to 64.
    #[schemars(required, example = 4)]
    pub(super) heads: Option<WireQuantity>,
    /// Sectors of 512 bytes on a track of each zone, from the outermost in: up to 64 zones with
    /// equal numbers of cylinders.
    #[schemars(required)]
    pub(super) sectors_per_track: Option<Vec<WireQuantity>>,
    /// Turns in a minute: 600 to 60,000.
    #[schemars(required, example = 7_200)]
    pub(super) rpm: Option<WireQuantity>,
    /// Time of a seek to the next cylinder.
    #[schemars(required, example = "8.5ms")]
    pub(super) track_to_track: Option<WireQuantity>,
    /// Time of a seek over a third of the cylinders.
    #[schemars(required, example = "8.5ms")]
    pub(super) average_seek: Option<WireQuantity>,
    /// Time of a seek over all cylinders.
    #[schemars(required, example = "8.5ms")]
    pub(super) full_seek: Option<WireQuantity>,
    /// Time until another head of the cylinder is on its track.
    #[schemars(required, example = "8.5ms")]
    pub(super) head_switch: Option<WireQuantity>,
    /// What the head needs longer before it may write.
    #[schemars(required, example = "8.5ms")]
    pub(super) write_settle: Option<WireQuantity>,
    /// Fixed time of each command.
    #[schemars(required, example = "8.5ms")]
    pub(super) command: Option<WireQuantity>,
    /// Rate between the disk's memory and the host.
    #[schemars(required, example = "150MB/s")]
    pub(super) link: Option<WireQuantity>,
    /// Commands that the disk orders as it likes: 1 to 1,024.
    #[schemars(required, example = 32)]
    pub(super) queue: Option<WireQuantity>,
    /// How much sooner it serves a command for each second that this has waited.
    #[schemars(required, example = "8.5ms")]
    pub(super) ageing: Option<WireQuantity>,
    /// Bytes for what was read and read ahead.
    #[schemars(required, example = "64MiB")]
    pub(super) read_buffer: Option<WireQuantity>,
    /// Places that the read buffer follows at one time: 0 to 256; 0 for no buffer.
    #[schemars(required, example = 32)]
    pub(super) segments: Option<WireQuantity>,
    /// Bytes for writes that are acknowledged before they are on the platter; 0 for none.
    #[schemars(required, example = "64MiB")]
    pub(super) write_cache: Option<WireQuantity>,
    /// Separate places that may wait in the write cache: 1 to 65,536.
    #[schemars(required, example = 32)]
    pub(super) write_places: Option<WireQuantity>,
    /// Time without requests after which cached writes go to the platters.
    #[schemars(required, example = "50ms")]
    pub(super) write_delay: Option<WireQuantity>,
}

/// A disk of flash chips.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WireFlash {
    /// Rate between the disk and the host.
    #[schemars(required, example = "150MB/s")]
    pub(super) link: Option<WireQuantity>,
    /// Time that each command takes of the link.
    #[schemars(required, example = "8.5ms")]
    pub(super) command: Option<WireQuantity>,
    /// Time until a write that is in the buffer is acknowledged.
    #[schemars(required, example = "8.5ms")]
    pub(super) acknowledge: Option<WireQuantity>,
    /// Chips, or planes of chips, that work side by side: 1 to 1,024.
    #[schemars(required, example = 32)]
    pub(super) units: Option<WireQuantity>,
    /// Bytes that a unit reads or programs at once: 512 B to 1 MiB.
    #[schemars(required, example = "64MiB")]
    pub(super) page: Option<WireQuantity>,
    /// Time to read a page.
    #[schemars(required, example = "8.5ms")]
    pub(super) read: Option<WireQuantity>,
    /// Time to program a page.
    #[schemars(required, example = "8.5ms")]
    pub(super) program: Option<WireQuantity>,
    /// Bytes for writes that are not programmed yet.
    #[schemars(required, example = "64MiB")]
    pub(super) write_buffer: Option<WireQuantity>,
    /// Time of a discard.
    #[schemars(required, example = "8.5ms")]
    pub(super) discard: Option<WireQuantity>,
}

/// A volume behind a network.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WireNetwork {
    /// Median time of a request.
    #[schemars(required, example = "8.5ms")]
    pub(super) round_trip: Option<WireQuantity>,
    /// Time that 99 of 100 requests stay below; not less than the median.
    #[schemars(required, example = "8.5ms")]
    pub(super) round_trip_p99: Option<WireQuantity>,
    /// Rate of all requests together.
    #[schemars(required, example = "150MB/s")]
    pub(super) bandwidth: Option<WireQuantity>,
    /// Requests that are let through in a second.
    #[schemars(required, example = 3_000)]
    pub(super) operations_per_second: Option<WireQuantity>,
}

/// No time at all.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WireMemory {}

/// What such disks are expected to do.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WireExpected {
    /// Mean time of a random read of 4 KiB when nothing else is asked, over the whole disk.
    #[schemars(required, example = "8.5ms")]
    pub(super) random_read: Option<WireQuantity>,
    /// Requests under way at once for the next figure.
    #[schemars(required, example = 32)]
    pub(super) queue_depth: Option<WireQuantity>,
    /// Random reads of 4 KiB in a second at `queue_depth`.
    #[schemars(required, example = 10_000)]
    pub(super) queued_reads: Option<WireQuantity>,
    /// Rate of sequential reading at the beginning of the disk.
    #[schemars(required, example = "150MB/s")]
    pub(super) sequential_read: Option<WireQuantity>,
    /// Rate of sequential reading at the end of the disk, if it differs.
    pub(super) sequential_read_inner: Option<WireQuantity>,
}
