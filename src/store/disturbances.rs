//! What else happened while measurements were made.

use rusqlite::{Connection, OptionalExtension, Result, Row};

use super::columns::{Column, Whole, insert};
use crate::measure::book::Disturbance;

pub(super) fn write(connection: &Connection, measurement: i64, of: &Disturbance) -> Result<()> {
    let columns: &[Column] = &[
        ("measurement_id", &measurement),
        ("seconds", &of.seconds),
        ("cpu_pressure_seconds", &of.cpu_pressure_seconds),
        ("io_pressure_seconds", &of.io_pressure_seconds),
        ("memory_pressure_seconds", &of.memory_pressure_seconds),
        ("cpu_seconds", &of.cpu_seconds),
        ("steal_seconds", &of.steal_seconds),
        ("others_cpu_seconds", &of.others_cpu_seconds),
        ("others_user_seconds", &of.others_user_seconds),
        ("others_read_bytes", &of.others_read_bytes.map(Whole)),
        ("others_write_bytes", &of.others_write_bytes.map(Whole)),
        ("others_unseen", &of.others_unseen.map(Whole)),
        ("beneath_read_bytes", &of.beneath_read_bytes.map(Whole)),
        ("beneath_write_bytes", &of.beneath_write_bytes.map(Whole)),
        ("core_throttles", &of.core_throttles.map(Whole)),
        ("group_throttles", &of.group_throttles.map(Whole)),
        ("frequency_share", &of.frequency_share),
        ("clock_changed", &of.clock_changed),
        ("clock_error", &of.clock_error),
    ];
    insert(connection, "disturbances", columns)?;
    Ok(())
}

/// That of one measurement; none if nobody looked.
pub(super) fn load(connection: &Connection, measurement: i64) -> Result<Option<Disturbance>> {
    connection
        .prepare_cached("SELECT * FROM disturbances WHERE measurement_id = ?1")?
        .query_row((measurement,), read)
        .optional()
}

fn read(row: &Row) -> Result<Disturbance> {
    let whole = |name| row.get::<_, Option<Whole>>(name).map(|w| w.map(|w| w.0));
    Ok(Disturbance {
        seconds: row.get("seconds")?,
        cpu_pressure_seconds: row.get("cpu_pressure_seconds")?,
        io_pressure_seconds: row.get("io_pressure_seconds")?,
        memory_pressure_seconds: row.get("memory_pressure_seconds")?,
        cpu_seconds: row.get("cpu_seconds")?,
        steal_seconds: row.get("steal_seconds")?,
        others_cpu_seconds: row.get("others_cpu_seconds")?,
        others_user_seconds: row.get("others_user_seconds")?,
        others_read_bytes: whole("others_read_bytes")?,
        others_write_bytes: whole("others_write_bytes")?,
        others_unseen: whole("others_unseen")?,
        beneath_read_bytes: whole("beneath_read_bytes")?,
        beneath_write_bytes: whole("beneath_write_bytes")?,
        core_throttles: whole("core_throttles")?,
        group_throttles: whole("group_throttles")?,
        frequency_share: row.get("frequency_share")?,
        clock_changed: row.get("clock_changed")?,
        clock_error: row.get("clock_error")?,
    })
}
