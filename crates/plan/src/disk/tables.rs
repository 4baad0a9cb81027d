//! The tables of a disk model: each key with its unit, its range and what it means, in one place.

use std::ops::RangeInclusive;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::report::{ProblemList, below, element, short};
use crate::wire::WireQuantity;
use boatload_base::units::{Quantity, Unit, bytes, bytes_per_second, counted, duration, grouped};

/// Bytes of a sector, the smallest block.
pub(super) const SECTOR_BYTES: u64 = 512;
/// A petabyte: sums of times over all sectors stay far below 2^64 nanoseconds.
const BYTES_MAX: u64 = 1_000_000_000_000_000;
const RATE: RangeInclusive<u64> = 1_000..=1_000_000_000_000;
const TIME_NS: RangeInclusive<u64> = 0..=10_000_000_000;
const MINUTE_NS: u64 = 60_000_000_000;
const ZONES_MAX: usize = 64;

/// Makes of a list of keys a table as it is written, in which a key that is wrong is left out, and the checked table.
/// `KEY => FIELD: TYPE = KIND [SCHEMA];` is a key; behind `orders`, one key must not be less than another.
macro_rules! disk_table {
    (
        $(#[$about:meta])*
        $table:literal: $wire:ident => $model:ident {
            $($(#[$doc:meta])+ $key:ident => $field:ident: $type:ty = $kind:ident $(($range:expr))? [$($schema:tt)*];)+
        }
        orders { $($more:ident ($more_field:ident) >= $less:ident ($less_field:ident);)* }
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub(super) struct $wire {
            $($(#[$doc])+ #[schemars($($schema)*)] $key: Option<<$kind as DiskKey>::Wire>,)+
        }

        $(#[$about])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $model {
            $($(#[$doc])+ pub $field: $type,)+
        }

        impl $wire {
            /// The checked table, if every key of it is there and right; every problem is reported.
            pub(super) fn read(&self, report: &mut ProblemList) -> Option<$model> {
                let table = &mut DiskTable { name: $table, report };
                $(let $field = $kind$(($range))?.read(table, stringify!($key), self.$key.as_ref());)+
                $(table.not_less(stringify!($more), $more_field, stringify!($less), $less_field);)*
                Some($model { $($field: $field?),+ })
            }
        }
    };
}

disk_table! {
    /// A hard disk. Times are in nanoseconds, rates in bytes a second.
    "hard_disk": WireHardDisk => HardDiskModel {
        /// Bytes that it holds.
        capacity => capacity: u64 = Bytes(1_000_000..=BYTES_MAX) [required, example = "64MiB"];
        /// Surfaces, each with its head: 1 to 64.
        heads => heads: u64 = Count(1..=64) [required, example = 4];
        /// Sectors of 512 bytes on a track of each zone, from the outermost in: up to 64 zones with
        /// equal numbers of cylinders.
        sectors_per_track => sectors_per_track: Vec<u64> = Zones(1..=1_000_000) [required];
        /// Turns in a minute: 600 to 60,000.
        rpm => turn_ns: u64 = TurnTime(600..=60_000) [required, example = 7_200];
        /// Time of a seek to the next cylinder.
        track_to_track => track_to_track_ns: u64 = Time [required, example = "8.5ms"];
        /// Time of a seek over a third of the cylinders.
        average_seek => average_seek_ns: u64 = Time [required, example = "8.5ms"];
        /// Time of a seek over all cylinders.
        full_seek => full_seek_ns: u64 = Time [required, example = "8.5ms"];
        /// Time until another head of the cylinder is on its track.
        head_switch => head_switch_ns: u64 = Time [required, example = "8.5ms"];
        /// What the head needs longer before it may write.
        write_settle => write_settle_ns: u64 = Time [required, example = "8.5ms"];
        /// Fixed time of each command.
        command => command_ns: u64 = Time [required, example = "8.5ms"];
        /// Rate between the disk's memory and the host.
        link => link_rate: u64 = Rate [required, example = "150MB/s"];
        /// Commands that the disk orders as it likes: 1 to 1,024.
        queue => queue: usize = Length(1..=1_024) [required, example = 32];
        /// How much sooner it serves a command for each second that this has waited.
        ageing => ageing_ns: u64 = Time [required, example = "8.5ms"];
        /// Bytes for what was read and read ahead.
        read_buffer => read_buffer: u64 = Bytes(0..=BYTES_MAX) [required, example = "64MiB"];
        /// Places that the read buffer follows at one time: 0 to 256; 0 for no buffer.
        segments => segments: usize = Length(0..=256) [required, example = 32];
        /// Bytes for writes that are acknowledged before they are on the platter; 0 for none.
        write_cache => write_cache: u64 = Bytes(0..=BYTES_MAX) [required, example = "64MiB"];
        /// Separate places that may wait in the write cache: 1 to 65,536.
        write_places => write_places: usize = Length(1..=65_536) [required, example = 32];
        /// Time without requests after which cached writes go to the platters.
        write_delay => write_delay_ns: u64 = Time [required, example = "50ms"];
    }
    orders {
        average_seek (average_seek_ns) >= track_to_track (track_to_track_ns);
        full_seek (full_seek_ns) >= average_seek (average_seek_ns);
    }
}

disk_table! {
    /// A disk of flash chips. Times are in nanoseconds, rates in bytes a second.
    "flash": WireFlash => FlashModel {
        /// Rate between the disk and the host.
        link => link_rate: u64 = Rate [required, example = "150MB/s"];
        /// Time that each command takes of the link.
        command => command_ns: u64 = Time [required, example = "8.5ms"];
        /// Time until a write that is in the buffer is acknowledged.
        acknowledge => acknowledge_ns: u64 = Time [required, example = "8.5ms"];
        /// Chips, or planes of chips, that work in parallel: 1 to 1,024.
        units => units: usize = Length(1..=1_024) [required, example = 32];
        /// Bytes that a unit reads or programs at once: 512 B to 1 MiB.
        page => page: u64 = Bytes(SECTOR_BYTES..=1 << 20) [required, example = "64MiB"];
        /// Time to read a page.
        read => read_ns: u64 = Time [required, example = "8.5ms"];
        /// Time to program a page.
        program => program_ns: u64 = Time [required, example = "8.5ms"];
        /// Bytes for writes that are not programmed yet.
        write_buffer => write_buffer: u64 = Bytes(0..=BYTES_MAX) [required, example = "64MiB"];
        /// Time of a discard.
        discard => discard_ns: u64 = Time [required, example = "8.5ms"];
    }
    orders { write_buffer (write_buffer) >= page (page); }
}

disk_table! {
    /// A volume behind a network. Times are in nanoseconds, rates in bytes a second.
    "network": WireNetwork => NetworkModel {
        /// Median time of a request.
        round_trip => round_trip_ns: u64 = Time [required, example = "8.5ms"];
        /// Time that 99 of 100 requests stay below; not less than the median.
        round_trip_p99 => round_trip_p99_ns: u64 = Time [required, example = "8.5ms"];
        /// Rate of all requests together.
        bandwidth => bandwidth: u64 = Rate [required, example = "150MB/s"];
        /// Requests that are let through in a second.
        operations_per_second => operations_per_second: u64 = Count(1..=1_000_000_000) [required, example = 3_000];
    }
    orders { round_trip_p99 (round_trip_p99_ns) >= round_trip (round_trip_ns); }
}

disk_table! {
    /// What such disks are expected to do: published, derived from that, or chosen. Times are in nanoseconds, rates in
    /// bytes a second.
    "expected": WireExpected => ExpectedFigures {
        /// Mean time of a random read of 4 KiB when nothing else is asked, over the whole disk.
        random_read => random_read_ns: u64 = Time [required, example = "8.5ms"];
        /// Requests under way at once for the next figure.
        queue_depth => queue_depth: u64 = Count(1..=1_024) [required, example = 32];
        /// Random reads of 4 KiB in a second at `queue_depth`.
        queued_reads => queued_reads: u64 = Count(1..=1_000_000_000) [required, example = 10_000];
        /// Rate of sequential reading at the beginning of the disk.
        sequential_read => sequential_read: u64 = Rate [required, example = "150MB/s"];
        /// Rate of sequential reading at the end of the disk, if it differs.
        sequential_read_inner => sequential_read_inner: Option<u64> = OptionalRate [];
    }
    orders {}
}

/// Reports what is wrong with the keys of a table.
pub(super) struct DiskTable<'a> {
    pub(super) name: &'static str,
    pub(super) report: &'a mut ProblemList,
}

impl DiskTable<'_> {
    /// A whole number of a unit in a range.
    fn whole(
        &mut self,
        key: &str,
        wire: &WireQuantity,
        range: &RangeInclusive<u64>,
        unit: &KeyUnit,
    ) -> Option<u64> {
        let whole = (unit.read)(wire).filter(|value| value.is_finite() && *value >= 0.0);
        let whole = whole.map(|value| value.round() as u64).filter(|value| range.contains(value));
        if whole.is_none() {
            let found = match wire {
                WireQuantity::Number(number) => number.to_string(),
                WireQuantity::Text(text) => format!("`{}`", short(text)),
            };
            let [least, most] = [range.start(), range.end()].map(|end| (unit.write)(*end));
            let expected = format!("{} from {least} to {most}", unit.words);
            self.report.add(&below(self.name, key), found, expected);
        }
        whole
    }

    /// Reports a figure that is less than another one that it cannot be less than.
    fn not_less(&mut self, key: &str, value: Option<u64>, other: &str, least: Option<u64>) {
        if value.zip(least).is_some_and(|(value, least)| value < least) {
            let expected = format!("no less than `{other}`");
            self.report.add(&below(self.name, key), "less", expected);
        }
    }
}

/// A kind of key: how it is written, and what it gives.
pub(super) trait DiskKey {
    type Wire;
    type Value;

    /// The value; `None` for a key that is absent, which was reported, or wrong, which is reported now.
    fn read(
        &self,
        table: &mut DiskTable<'_>,
        key: &str,
        wire: Option<&Self::Wire>,
    ) -> Option<Self::Value>;
}

/// A kind of key that gives one whole number: its range, its unit, and the value of the number.
macro_rules! number_kind {
    ($($kind:ident $(($range:ty))?, |$own:ident| $limits:expr, $unit:ident, $value:ty, |$number:ident| $read:expr;)+) => {$(
        pub(super) struct $kind $((pub(super) $range))?;

        impl DiskKey for $kind {
            type Wire = WireQuantity;
            type Value = $value;

            fn read(&self, table: &mut DiskTable<'_>, key: &str, wire: Option<&WireQuantity>) -> Option<$value> {
                let $own = self;
                let $number = table.whole(key, wire?, $limits, &$unit)?;
                $read
            }
        }
    )+};
}

number_kind! {
    Time, |_own| &TIME_NS, A_TIME, u64, |ns| Some(ns);
    Rate, |_own| &RATE, A_RATE, u64, |rate| Some(rate);
    Bytes(RangeInclusive<u64>), |own| &own.0, A_SIZE, u64, |bytes| Some(bytes);
    Count(RangeInclusive<u64>), |own| &own.0, A_COUNT, u64, |count| Some(count);
    Length(RangeInclusive<u64>), |own| &own.0, A_COUNT, usize, |count| usize::try_from(count).ok();
    TurnTime(RangeInclusive<u64>), |own| &own.0, A_COUNT, u64, |rpm| Some(MINUTE_NS / rpm);
}

/// A rate that may be absent.
struct OptionalRate;

impl DiskKey for OptionalRate {
    type Wire = WireQuantity;
    type Value = Option<u64>;

    fn read(
        &self,
        table: &mut DiskTable<'_>,
        key: &str,
        wire: Option<&WireQuantity>,
    ) -> Option<Option<u64>> {
        Some(wire.and_then(|wire| Rate.read(table, key, Some(wire))))
    }
}

/// A count for each zone.
struct Zones(RangeInclusive<u64>);

impl DiskKey for Zones {
    type Wire = Vec<WireQuantity>;
    type Value = Vec<u64>;

    fn read(
        &self,
        table: &mut DiskTable<'_>,
        key: &str,
        wire: Option<&Self::Wire>,
    ) -> Option<Vec<u64>> {
        let list = wire?;
        if list.is_empty() || list.len() > ZONES_MAX {
            let found = counted(list.len() as u64, "zone");
            table.report.add(&below(table.name, key), found, format!("1 to {ZONES_MAX}"));
            return None;
        }
        let each = list.iter().enumerate();
        let each = each.map(|(at, one)| table.whole(&element(key, at), one, &self.0, &A_COUNT));
        // All are read, so that every problem is reported.
        each.collect::<Vec<_>>().into_iter().collect()
    }
}

/// How a number is read, and named in a problem.
struct KeyUnit {
    words: &'static str,
    write: fn(u64) -> String,
    read: fn(&WireQuantity) -> Option<f64>,
}

const A_TIME: KeyUnit = KeyUnit {
    words: "a time such as \"8.5ms\",",
    write: |ns| duration(ns as f64),
    read: |wire| quantity(wire, Unit::Nanoseconds),
};
const A_RATE: KeyUnit = KeyUnit {
    words: "a rate such as \"150MB/s\",",
    write: |rate| format!("{}/s", bytes(rate)),
    read: |wire| match wire {
        WireQuantity::Text(text) => bytes_per_second(text),
        WireQuantity::Number(_) => None,
    },
};
const A_SIZE: KeyUnit = KeyUnit {
    words: "bytes such as \"64MiB\",",
    write: bytes,
    read: |wire| quantity(wire, Unit::Bytes),
};
const A_COUNT: KeyUnit = KeyUnit {
    words: "a whole number",
    write: grouped,
    read: |wire| quantity(wire, Unit::Count).filter(|count| count.fract() == 0.0),
};

/// The value in a unit; a plain number takes it, except that a time without a unit must be 0.
fn quantity(wire: &WireQuantity, unit: Unit) -> Option<f64> {
    let quantity = match wire {
        WireQuantity::Number(number) => Quantity::count(*number),
        WireQuantity::Text(text) => Quantity::parse(text)?,
    };
    let is_plain = quantity.unit == Unit::Count;
    let takes_unit = is_plain && (unit != Unit::Nanoseconds || quantity.value == 0.0);
    (quantity.unit == unit || takes_unit).then_some(quantity.value)
}
