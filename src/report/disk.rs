//! Makes the table of what the disk did in each phase, where its requests were watched.

use super::names::level_value;
use super::table::{Table, TableColumn, TitledTable};
use super::text::{number, short_seconds};
use crate::analysis::Analysis;
use crate::analysis::disk_use::DiskUse;
use crate::base::units;

type DiskColumn = TableColumn<DiskUse>;

const COLUMNS: [DiskColumn; 8] = [
    DiskColumn::numbers("requests", |one| figure(one.requests_per_operation())),
    DiskColumn::numbers("seeks", |one| percent(one.seek_share())),
    DiskColumn::numbers("distance", |one| match one.seek_distance_bytes() {
        Some(bytes) => units::bytes(bytes as u64).replace(' ', ""),
        None => "-".into(),
    }),
    DiskColumn::numbers("queue", |one| figure(one.queue_depth())),
    DiskColumn::numbers("seek", |one| short_seconds(one.seconds_each(|disk| disk.seek_seconds))),
    DiskColumn::numbers("rotation", |one| {
        short_seconds(one.seconds_each(|disk| disk.rotation_seconds))
    }),
    DiskColumn::numbers("transfer", |one| {
        short_seconds(one.seconds_each(|disk| disk.transfer_seconds))
    }),
    DiskColumn::numbers("flushes", |one| {
        figure(one.activity.flushes.map(|all| all as f64 / f64::from(one.n.max(1))))
    }),
];

fn figure(value: Option<f64>) -> String {
    value.map_or_else(|| "-".into(), |value| number(value, 3))
}

fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "-".into(), |share| format!("{}%", number(share * 100.0, 2)))
}

/// What the disk did: a line for each variant in each phase; `None` where nobody watched it.
pub(super) fn disk_table(analysis: &Analysis<'_>) -> Option<TitledTable> {
    let all = analysis.disk_uses();
    all.first()?;
    let table = Table::by_phase(all, |one| &one.phase, |one| &one.variant, &COLUMNS);
    let level = all.iter().find_map(|one| one.level.as_ref());
    let level = level.map(|level| format!(" at {}", level_value(level))).unwrap_or_default();
    let title = format!(
        "what the disk saw{level}: its requests for each operation, the share of reads and writes that do \
         not begin where the one before ended and their mean distance from there, the mean number of \
         requests at the disk, and its time and flushes in each measurement"
    );
    Some(TitledTable { title, table })
}
