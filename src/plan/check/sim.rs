//! The simulated file system's truth, checked.

use super::scope::Scope;
use crate::base::errno::Errno;
use crate::base::units::Unit;
use crate::plan::report::{ProblemList, below};
use crate::plan::sim::{Knee, PlannedError, SimModel, SimSpread};
use crate::plan::wire::{WireQuantity, WireSim};

/// Longest time of one request, in nanoseconds: an hour.
const TIME_MAX_NS: u64 = 3_600_000_000_000;
const COUNT_MAX: u64 = 1 << 53;
/// Time never goes back: both together take less than all of it.
const SPREAD_MAX: f64 = 30.0;
const QUEUE_MAX: u64 = 4_096;

/// The model; what is wrong is reported and left at its default.
pub(super) fn read(
    wire: &WireSim,
    place: &str,
    scope: &Scope,
    report: &mut ProblemList,
) -> SimModel {
    let mut reader = Reader { place, scope, report };
    let mut model = SimModel {
        metadata_ns: reader.time("metadata", wire.metadata.as_ref()),
        transfer_ns: reader.time("transfer", wire.transfer.as_ref()),
        transfer_per_kib_ns: reader.time("transfer_per_kib", wire.transfer_per_kib.as_ref()),
        cold_ns: reader.time("cold", wire.cold.as_ref()),
        sync_ns: reader.time("sync", wire.sync.as_ref()),
        directory: wire.directory.unwrap_or_default(),
        directory_cost_ns: reader.time("directory_cost", wire.directory_cost.as_ref()),
        noise: wire.noise.unwrap_or_default(),
        drift_percent: reader
            .number("drift", wire.drift.as_ref(), (Unit::Percent, 0.0, 10_000.0))
            .unwrap_or_default(),
        ..SimModel::default()
    };
    if let Some(spread) = &wire.spread {
        let range = (Unit::Percent, 0.0, SPREAD_MAX);
        let passes = reader.number("spread.passes", spread.passes.as_ref(), range);
        let repeats = reader.number("spread.repeats", spread.repeats.as_ref(), range);
        model.spread = SimSpread {
            passes_percent: passes.unwrap_or_default(),
            repeats_percent: repeats.unwrap_or_default(),
        };
    }
    if let Some(stall) = &wire.stall {
        let every = reader.whole("stall.every", stall.every.as_ref(), (Unit::Count, 1, COUNT_MAX));
        model.stall_every = every.unwrap_or_default();
        model.stall_ns = reader.time("stall.time", stall.time.as_ref());
    }
    model.capacity = reader.whole("capacity", wire.capacity.as_ref(), (Unit::Bytes, 1, COUNT_MAX));
    model.clutter_percent = reader
        .number("clutter", wire.clutter.as_ref(), (Unit::Percent, 0.0, 100.0))
        .unwrap_or_default();
    if let Some(knee) = &wire.knee {
        let at = reader.number("knee.at", knee.at.as_ref(), (Unit::Percent, 0.0, 100.0));
        let factor = reader.number("knee.factor", knee.factor.as_ref(), (Unit::Count, 1.0, 1e3));
        model.knee = at.zip(factor).map(|(at, factor)| Knee { at, factor });
        if wire.capacity.is_none() && !reader.report.is_broken(&below(place, "capacity")) {
            let hint = "add `capacity = \"1GiB\"` to `[sim]`".to_string();
            let found = "a knee without a capacity";
            reader.report.add(
                &below(place, "knee"),
                found,
                "a capacity it is a share of",
                Some(hint),
            );
        }
    }
    if let Some(error) = &wire.error {
        let count = (Unit::Count, 1, COUNT_MAX);
        let operation = reader.whole("error.operation", error.operation.as_ref(), count);
        let errno = error.errno.as_ref().and_then(|name| Errno::from_name(&name.0));
        let planned = operation.zip(errno);
        model.error = planned.map(|(operation, errno)| PlannedError { operation, errno });
    }
    let queue = reader.whole("queue", wire.queue.as_ref(), (Unit::Count, 0, QUEUE_MAX));
    model.queue = queue.and_then(|queue| u32::try_from(queue).ok()).unwrap_or_default();
    model
}

struct Reader<'a> {
    place: &'a str,
    scope: &'a Scope,
    report: &'a mut ProblemList,
}

impl Reader<'_> {
    fn whole(
        &mut self,
        key: &str,
        wire: Option<&WireQuantity>,
        (unit, least, most): (Unit, u64, u64),
    ) -> Option<u64> {
        self.scope.whole(wire?, &below(self.place, key), (unit, least..=most), self.report)
    }

    fn number(
        &mut self,
        key: &str,
        wire: Option<&WireQuantity>,
        (unit, least, most): (Unit, f64, f64),
    ) -> Option<f64> {
        self.scope.number(wire?, &below(self.place, key), (unit, least..=most), self.report)
    }

    fn time(&mut self, key: &str, wire: Option<&WireQuantity>) -> u64 {
        self.whole(key, wire, (Unit::Nanoseconds, 0, TIME_MAX_NS)).unwrap_or_default()
    }
}
