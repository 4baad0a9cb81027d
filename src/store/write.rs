//! Writing a run as it goes: every call is one committed transaction.

mod import;

use rusqlite::{Connection, TransactionBehavior, params};

use super::columns::{Column, Real, Whole, insert, json};
use super::{Problem, Store, disturbances, filesystems, hosts};
use crate::base::failure::Result;
use crate::base::units::Unit;
use crate::host::facts::HostFacts;
use crate::measure::book::ClockSource;
use crate::measure::book::{CellKey, Condition, Finding, MadeFileSystem, Measurement, RunFacts};
use crate::plan::EngineName;
use crate::run::cache::Doubt;

/// A cell of a run in the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellId(i64);

type Work<T> = std::result::Result<T, Problem>;

impl Store {
    /// Notes that a run has begun. Fails if the store has a run with this id.
    pub fn begin_run(&mut self, run: &RunFacts, host: &HostFacts) -> Result<()> {
        self.commit("save a run in", |connection| {
            let host_id = hosts::find_or_insert(connection, host)?;
            write_run(connection, run, host, host_id)
        })
    }

    /// Saves a file system that was made for a variant. Fails if the variant has one already.
    pub fn add_filesystem(&mut self, run_id: &str, made: &MadeFileSystem) -> Result<()> {
        self.commit("save a file system in", |connection| {
            Ok(filesystems::write(connection, run_id, made)?)
        })
    }

    /// Notes that a cell has begun. What an earlier, unfinished attempt at the same cell left is
    /// removed; a finished cell is never begun again, and asking for that fails.
    pub fn begin_cell(&mut self, run_id: &str, key: &CellKey) -> Result<CellId> {
        self.commit("save a cell in", |connection| write_cell(connection, run_id, key).map(CellId))
    }

    /// Saves what one phase gave: the measurement with its errors, histogram and windows. The cell
    /// is the one given here, whatever `measurement.cell` says.
    pub fn add_measurement(&mut self, cell: CellId, measurement: &Measurement) -> Result<()> {
        self.commit("save a measurement in", |connection| {
            write_whole(connection, cell, measurement)
        })
    }

    /// Saves what the place was like when a cell began. The cell is the one given here, whatever
    /// `condition.cell` says.
    pub fn add_condition(&mut self, cell: CellId, condition: &Condition) -> Result<()> {
        self.commit("save a condition in", |connection| {
            write_condition(connection, cell, condition)
        })
    }

    /// Notes that every phase of a cell was done.
    pub fn finish_cell(&mut self, cell: CellId) -> Result<()> {
        self.commit("save a cell in", |connection| {
            let changed =
                connection.execute("UPDATE cells SET complete = 1 WHERE id = ?1", (cell.0,))?;
            one(changed, "it has no such cell")
        })
    }

    /// Saves a conclusion.
    pub fn add_finding(&mut self, run_id: &str, finding: &Finding) -> Result<()> {
        self.commit("save a finding in", |connection| write_finding(connection, run_id, finding))
    }

    /// Notes when a run ended (RFC 3339 in UTC) and whether every cell was done.
    pub fn finish_run(&mut self, run_id: &str, finished: &str, complete: bool) -> Result<()> {
        self.commit("save a run in", |connection| {
            let changed = connection.execute(
                "UPDATE runs SET finished = ?2, complete = ?3 WHERE id = ?1",
                params![run_id, finished, complete],
            )?;
            one(changed, "it has no such run")
        })
    }

    /// Notes how many repeats were made, where a pilot decided that.
    pub fn set_repeats(&mut self, run_id: &str, repeats: u32) -> Result<()> {
        self.commit("save a run in", |connection| {
            let changed = connection
                .execute("UPDATE runs SET repeats = ?2 WHERE id = ?1", params![run_id, repeats])?;
            one(changed, "it has no such run")
        })
    }

    /// Does all of `work` or nothing of it.
    fn commit<T>(&mut self, doing: &str, work: impl FnOnce(&Connection) -> Work<T>) -> Result<T> {
        let done = (|| {
            let transaction =
                self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let value = work(&transaction)?;
            transaction.commit()?;
            Ok(value)
        })();
        done.map_err(|problem| self.failure(doing, &problem))
    }
}

fn one(changed: usize, otherwise: &str) -> Work<()> {
    if changed == 1 { Ok(()) } else { Err(Problem::Told(format!("{otherwise}."))) }
}

fn write_run(connection: &Connection, run: &RunFacts, host: &HostFacts, host_id: i64) -> Work<()> {
    let parameters = json(&run.parameters)?;
    let columns: &[Column] = &[
        ("id", &run.id),
        ("host_id", &host_id),
        ("scenario", &run.scenario),
        ("question", &run.question),
        ("scale", &run.scale.word()),
        ("seed", &run.seed.to_string()),
        ("started", &run.started),
        ("finished", &run.finished),
        ("complete", &run.complete),
        ("command", &run.command),
        ("boatload", &run.boatload),
        ("parameters", &parameters),
        ("job", &run.job),
        ("harness_ns", &Real(run.harness_ns)),
        ("clock", &run.clock.map(ClockSource::word)),
        ("repeats", &run.repeats),
        ("precision", &run.precision.map(Real)),
        ("time_limit_seconds", &run.time_limit_seconds.map(Real)),
        ("available_bytes", &Whole(host.filesystem.available_bytes)),
        ("available_inodes", &host.filesystem.available_inodes.map(Whole)),
        ("root", &host.rights.root),
        ("drop_caches", &host.rights.drop_caches),
        ("cache_probe", &host.rights.cache_probe),
    ];
    insert(connection, "runs", columns)?;
    Ok(())
}

fn write_cell(connection: &Connection, run_id: &str, key: &CellKey) -> Work<i64> {
    let axis = key.level.as_ref().map(|level| &level.axis);
    let value = key.level.as_ref().map(|level| Real(level.value));
    let unit = key.level.as_ref().map(|level| Unit::word(level.unit));
    connection.execute(
        "DELETE FROM cells WHERE complete = 0 AND run_id = ?1 AND variant = ?2 AND axis IS ?3 \
         AND level_value IS ?4 AND level_unit IS ?5 AND repeat = ?6",
        params![run_id, key.variant, axis, value, unit, key.repeat],
    )?;
    let columns: &[Column] = &[
        ("run_id", &run_id),
        ("variant", &key.variant),
        ("axis", &axis),
        ("level_value", &value),
        ("level_unit", &unit),
        ("repeat", &key.repeat),
    ];
    Ok(insert(connection, "cells", columns)?)
}

fn write_condition(connection: &Connection, cell: CellId, condition: &Condition) -> Work<()> {
    let columns: &[Column] = &[
        ("cell_id", &cell.0),
        ("name", &condition.name.word()),
        ("value", &Real(condition.value)),
        ("unit", &condition.unit.word()),
    ];
    insert(connection, "conditions", columns)?;
    Ok(())
}

fn write_finding(connection: &Connection, run_id: &str, finding: &Finding) -> Work<()> {
    let figures = json(&finding.figures)?;
    let columns: &[Column] = &[
        ("run_id", &run_id),
        ("kind", &finding.kind),
        ("sentence", &finding.sentence),
        ("figures", &figures),
    ];
    insert(connection, "findings", columns)?;
    Ok(())
}

/// A measurement with all that belongs to it.
fn write_whole(connection: &Connection, cell: CellId, measurement: &Measurement) -> Work<()> {
    let id = write_measurement(connection, cell, measurement)?;
    write_errors(connection, id, measurement)?;
    write_histogram(connection, id, &measurement.histogram)?;
    if let Some(disturbance) = &measurement.disturbance {
        disturbances::write(connection, id, disturbance)?;
    }
    write_windows(connection, id, measurement)
}

fn write_measurement(connection: &Connection, cell: CellId, m: &Measurement) -> Work<i64> {
    let (invalid, slices) = (json(&m.invalid)?, json(&m.slices_ns)?);
    let columns: &[Column] = &[
        ("cell_id", &cell.0),
        ("phase", &m.phase),
        ("pass", &m.pass),
        ("operation", &m.operation),
        ("engine", &m.engine.map(EngineName::word)),
        ("threads", &m.threads),
        ("invalid", &invalid),
        ("operations", &Whole(m.operations)),
        ("operations_asked", &Whole(m.operations_asked)),
        ("bytes", &Whole(m.bytes)),
        ("seconds", &Real(m.seconds)),
        ("sync_seconds", &Real(m.sync_seconds)),
        ("rate_error", &m.rate_error.map(Real)),
        ("cpu_user_seconds", &Real(m.cpu_user_seconds)),
        ("cpu_system_seconds", &Real(m.cpu_system_seconds)),
        ("latency_mean_ns", &Real(m.latency.mean)),
        ("latency_min_ns", &Whole(m.latency.min)),
        ("latency_p50_ns", &Whole(m.latency.p50)),
        ("latency_p90_ns", &Whole(m.latency.p90)),
        ("latency_p99_ns", &Whole(m.latency.p99)),
        ("latency_p99_9_ns", &Whole(m.latency.p99_9)),
        ("latency_max_ns", &Whole(m.latency.max)),
        ("cache_asked", &m.cache.asked.word()),
        ("cache_found", &m.cache.found.word()),
        ("cache_resident_fraction", &m.cache.resident_fraction.map(Real)),
        ("cache_reason", &m.cache.reason.map(Doubt::word)),
        ("device_read_bytes", &m.device_read_bytes.map(Whole)),
        ("device_write_bytes", &m.device_write_bytes.map(Whole)),
        ("device_reads", &m.device_reads.map(Whole)),
        ("device_writes", &m.device_writes.map(Whole)),
        ("device_flushes", &m.device_flushes.map(Whole)),
        ("device_discard_bytes", &m.device_discard_bytes.map(Whole)),
        ("worker_spread", &m.worker_spread),
        ("slices_ns", &slices),
        ("space_bytes", &m.space_bytes),
        ("inodes", &m.inodes),
        ("idle", &m.idle),
        ("entries_expected", &Whole(m.entries_expected)),
        ("entries_found", &Whole(m.entries_found)),
    ];
    Ok(insert(connection, "measurements", columns)?)
}

fn write_errors(connection: &Connection, id: i64, measurement: &Measurement) -> Work<()> {
    for (error, count) in &measurement.errors {
        let columns: &[Column] =
            &[("measurement_id", &id), ("error", error), ("operations", &Whole(*count))];
        insert(connection, "errors", columns)?;
    }
    Ok(())
}

fn write_histogram(connection: &Connection, id: i64, bytes: &[u8]) -> Work<()> {
    if !bytes.is_empty() {
        insert(connection, "histograms", &[("measurement_id", &id), ("hdr_v2_ns", &bytes)])?;
    }
    Ok(())
}

fn write_windows(connection: &Connection, id: i64, measurement: &Measurement) -> Work<()> {
    for (number, window) in measurement.windows.iter().enumerate() {
        let columns: &[Column] = &[
            ("measurement_id", &id),
            ("number", &Whole(number as u64)),
            ("first", &Whole(window.first)),
            ("operations", &Whole(window.operations)),
            ("mean_ns", &Real(window.mean_ns)),
            ("p50_ns", &Whole(window.p50_ns)),
            ("p99_ns", &Whole(window.p99_ns)),
            ("max_ns", &Whole(window.max_ns)),
        ];
        insert(connection, "windows", columns)?;
    }
    Ok(())
}
