//! Reading runs back, whole or in summary.

use std::collections::BTreeMap;

use rusqlite::{OptionalExtension, Row, params};

use super::columns::{Real, Whole, Word, from_json, later};
use super::{Problem, Store, disturbances, filesystems, hosts, migrations};
use crate::base::failure::{Failure, Result, shown};
use crate::measure::book::*;
use crate::plan::{EngineName, Scale};

/// A run in one line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunSummary {
    /// Its id.
    pub id: String,
    /// The scenario's name.
    pub scenario: String,
    /// How much of it was run.
    pub scale: Scale,
    /// When it began, RFC 3339 in UTC.
    pub started: String,
    /// When it ended; none while it runs or if it was killed.
    pub finished: Option<String>,
    /// Whether every cell was done.
    pub complete: bool,
    /// Type of the file system that its directory lies on.
    pub filesystem: String,
    /// Types of the file systems that were made for it and measured instead, each once, in the
    /// order they were made; empty if none was.
    pub made: Vec<String>,
    /// Name of the block device under the directory; none where there is none.
    pub device: Option<String>,
    /// Measurements saved.
    pub measurements: u64,
    /// How many of them are invalid.
    pub invalid: u64,
}

/// Most candidates that a message lists.
const CANDIDATES: usize = 8;

type Work<T> = std::result::Result<T, Problem>;

impl Store {
    /// The id of the run that `asked` stands for: an id, a prefix that no other run has, or `last`
    /// for the one that began last. Fails with what to do if there is none or more than one.
    pub fn find_run(&self, asked: &str) -> Result<String> {
        let ids = self.candidates(asked).map_err(|problem| self.failure("read", &problem))?;
        match ids.as_slice() {
            [id] => Ok(id.clone()),
            ids if ids.iter().any(|id| id == asked) => Ok(asked.to_string()),
            [] => Err(self.nothing_found(asked)),
            ids => Err(ambiguous(asked, ids)),
        }
    }

    /// Whether there is a run with just this id.
    pub fn has_run(&self, id: &str) -> Result<bool> {
        let found = self.connection.prepare_cached("SELECT 1 FROM runs WHERE id = ?1");
        let found = found.and_then(|mut query| query.exists((id,)));
        found.map_err(|error| self.failure("read", &error.into()))
    }

    /// All runs, newest first.
    pub fn runs(&self) -> Result<Vec<RunSummary>> {
        self.read_runs().map_err(|problem| self.failure("read", &problem))
    }

    fn read_runs(&self) -> Work<Vec<RunSummary>> {
        let mut runs = self.read_rows(
            "SELECT runs.*, hosts.filesystem_type, hosts.device, \
               count(measurements.id) AS measured, \
               coalesce(sum(NOT measurements.valid), 0) AS invalid_count \
             FROM runs JOIN hosts ON hosts.id = runs.host_id \
               LEFT JOIN cells ON cells.run_id = runs.id \
               LEFT JOIN measurements ON measurements.cell_id = cells.id \
             GROUP BY runs.number ORDER BY runs.started DESC, runs.number DESC",
            (),
            read_summary,
        )?;
        for run in &mut runs {
            for made in self.load_filesystems(&run.id)? {
                if !run.made.contains(&made.kind) {
                    run.made.push(made.kind);
                }
            }
        }
        Ok(runs)
    }

    /// A run with everything it gave so far. `id` is a whole id, as [`Store::find_run`] gives.
    pub fn load(&self, id: &str) -> Result<Book> {
        let book = self.load_book(id).map_err(|problem| self.failure("read", &problem))?;
        book.ok_or_else(|| self.nothing_found(id))
    }

    /// Operations per second of each phase in the newest complete run of a scenario on a file
    /// system of this type on this device: what to expect of the next. Simulated runs do not
    /// count, nor do those that measured file systems made for them; empty if there is no such run.
    pub fn phase_rates(
        &self,
        scenario: &str,
        filesystem_kind: &str,
        device: Option<&str>,
    ) -> Result<BTreeMap<String, f64>> {
        let rates = self.read_rates(scenario, filesystem_kind, device);
        rates.map_err(|problem| self.failure("read", &problem))
    }

    fn read_rates(
        &self,
        scenario: &str,
        filesystem_kind: &str,
        device: Option<&str>,
    ) -> Work<BTreeMap<String, f64>> {
        let on_the_place = if migrations::has_filesystems(&self.connection)? {
            "runs.id NOT IN (SELECT run_id FROM filesystems)"
        } else {
            "true"
        };
        let query = format!(
            "WITH real AS (\
               SELECT runs.number, m.phase, m.operations, m.seconds FROM runs \
                 JOIN hosts ON hosts.id = runs.host_id JOIN cells ON cells.run_id = runs.id \
                 JOIN measurements m ON m.cell_id = cells.id \
               WHERE runs.complete AND m.valid AND m.engine <> ?4 AND m.seconds > 0 \
                 AND {on_the_place} AND scenario = ?1 AND filesystem_type = ?2 AND device IS ?3) \
             SELECT phase, sum(operations) / sum(seconds) FROM real \
             WHERE number = (SELECT max(number) FROM real) GROUP BY phase"
        );
        let rates = self.read_rows(
            &query,
            params![scenario, filesystem_kind, device, EngineName::Sim.word()],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )?;
        Ok(rates.into_iter().collect())
    }

    fn candidates(&self, asked: &str) -> Work<Vec<String>> {
        if asked == "last" {
            let newest = "SELECT id FROM runs ORDER BY started DESC, number DESC LIMIT 1";
            return self.read_rows(newest, (), |row| row.get(0));
        }
        self.read_rows(
            "SELECT id FROM runs WHERE ?1 <> '' AND substr(id, 1, length(?1)) = ?1 \
             ORDER BY started DESC, number DESC",
            (asked,),
            |row| row.get(0),
        )
    }

    fn nothing_found(&self, asked: &str) -> Failure {
        match self.runs() {
            Err(failure) => failure,
            Ok(runs) if runs.is_empty() => Failure::failed(format!(
                "the store {} has no runs yet; `boatload run` makes one",
                shown(&self.path)
            )),
            Ok(_) => Failure::usage(format!(
                "no run has an id that begins with \"{}\"; `boatload runs` lists them",
                shown(asked)
            )),
        }
    }

    fn load_book(&self, id: &str) -> Work<Option<Book>> {
        // One snapshot, also while a run is writing.
        let _snapshot = self.connection.unchecked_transaction()?;
        let both = "SELECT * FROM runs JOIN hosts ON hosts.id = runs.host_id WHERE runs.id = ?1";
        let read = |row: &Row| Ok((read_run(row)?, hosts::read(row)?));
        let found = self.connection.prepare_cached(both)?.query_row((id,), read).optional()?;
        let Some((run, host)) = found else {
            return Ok(None);
        };
        let findings = self.read_rows(
            "SELECT kind, sentence, figures FROM findings WHERE run_id = ?1 ORDER BY id",
            (id,),
            read_finding,
        )?;
        Ok(Some(Book {
            run,
            host,
            filesystems: self.load_filesystems(id)?,
            measurements: self.load_measurements(id)?,
            conditions: self.load_conditions(id)?,
            findings,
        }))
    }

    fn load_filesystems(&self, run_id: &str) -> Work<Vec<MadeFileSystem>> {
        if !migrations::has_filesystems(&self.connection)? {
            return Ok(Vec::new());
        }
        let query = "SELECT * FROM filesystems WHERE run_id = ?1 ORDER BY id";
        self.read_rows(query, (run_id,), filesystems::read)
    }

    fn load_measurements(&self, run_id: &str) -> Work<Vec<Measurement>> {
        let watched = migrations::has_disturbances(&self.connection)?;
        let mut measurements = self.read_rows(
            "SELECT measurements.*, variant, axis, level_value, level_unit, repeat, hdr_v2_ns \
             FROM measurements JOIN cells ON cells.id = cell_id \
               LEFT JOIN histograms ON measurement_id = measurements.id \
             WHERE run_id = ?1 ORDER BY measurements.id",
            (run_id,),
            |row| Ok((row.get::<_, i64>("id")?, read_measurement(row)?)),
        )?;
        for (id, measurement) in &mut measurements {
            let errors = self.read_rows(
                "SELECT error, operations FROM errors WHERE measurement_id = ?1",
                (*id,),
                |row| Ok((row.get(0)?, row.get::<_, Whole>(1)?.0)),
            )?;
            if watched {
                measurement.disturbance = disturbances::load(&self.connection, *id)?;
            }
            measurement.errors = errors.into_iter().collect();
            measurement.windows = self.read_rows(
                "SELECT * FROM windows WHERE measurement_id = ?1 ORDER BY number",
                (*id,),
                read_window,
            )?;
        }
        Ok(measurements.into_iter().map(|(_, measurement)| measurement).collect())
    }

    fn load_conditions(&self, run_id: &str) -> Work<Vec<Condition>> {
        if !migrations::has_conditions(&self.connection)? {
            return Ok(Vec::new());
        }
        self.read_rows(
            "SELECT conditions.*, variant, axis, level_value, level_unit, repeat \
             FROM conditions JOIN cells ON cells.id = cell_id \
             WHERE run_id = ?1 ORDER BY conditions.id",
            (run_id,),
            read_condition,
        )
    }

    fn read_rows<T>(
        &self,
        query: &str,
        values: impl rusqlite::Params,
        read: impl FnMut(&Row) -> rusqlite::Result<T>,
    ) -> Work<Vec<T>> {
        let mut statement = self.connection.prepare_cached(query)?;
        let rows = statement.query_map(values, read)?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }
}

fn ambiguous(asked: &str, ids: &[String]) -> Failure {
    let mut listed: Vec<_> = ids.iter().take(CANDIDATES).map(String::as_str).collect();
    if ids.len() > CANDIDATES {
        listed.push("...");
    }
    Failure::usage(format!(
        "\"{}\" is the beginning of {} runs: {}; give more of the id",
        shown(asked),
        ids.len(),
        listed.join(", ")
    ))
}

fn read_summary(row: &Row) -> rusqlite::Result<RunSummary> {
    Ok(RunSummary {
        id: row.get("id")?,
        scenario: row.get("scenario")?,
        scale: row.get::<_, Word<_>>("scale")?.0,
        started: row.get("started")?,
        finished: row.get("finished")?,
        complete: row.get("complete")?,
        filesystem: row.get("filesystem_type")?,
        made: Vec::new(),
        device: row.get("device")?,
        measurements: row.get::<_, Whole>("measured")?.0,
        invalid: row.get::<_, Whole>("invalid_count")?.0,
    })
}

fn read_run(row: &Row) -> rusqlite::Result<RunFacts> {
    let seed: String = row.get("seed")?;
    Ok(RunFacts {
        id: row.get("id")?,
        scenario: row.get("scenario")?,
        question: row.get("question")?,
        scale: row.get::<_, Word<_>>("scale")?.0,
        seed: from_json(&seed)?,
        started: row.get("started")?,
        finished: row.get("finished")?,
        command: row.get("command")?,
        boatload: row.get("boatload")?,
        complete: row.get("complete")?,
        parameters: from_json(&row.get::<_, String>("parameters")?)?,
        job: row.get("job")?,
        harness_ns: row.get::<_, Real>("harness_ns")?.0,
        clock: row.get::<_, Option<Word<_>>>("clock")?.map(|word| word.0),
        repeats: row.get("repeats")?,
        precision: later::<Real>(row, "precision")?.map(|share| share.0),
        time_limit_seconds: later::<Real>(row, "time_limit_seconds")?.map(|seconds| seconds.0),
        reference: None,
    })
}

fn read_measurement(row: &Row) -> rusqlite::Result<Measurement> {
    let whole = |name| row.get::<_, Whole>(name).map(|w| w.0);
    let maybe_whole = |name| row.get::<_, Option<Whole>>(name).map(|w| w.map(|w| w.0));
    let real = |name| row.get::<_, Real>(name).map(|r| r.0);
    let later_whole = |name| later::<Whole>(row, name).map(|w| w.map(|w| w.0));
    let slices = later::<String>(row, "slices_ns")?;
    Ok(Measurement {
        cell: read_cell(row)?,
        phase: row.get("phase")?,
        pass: row.get("pass")?,
        operation: row.get("operation")?,
        engine: row.get::<_, Option<Word<_>>>("engine")?.map(|word| word.0),
        threads: row.get("threads")?,
        invalid: from_json(&row.get::<_, String>("invalid")?)?,
        operations: whole("operations")?,
        operations_asked: whole("operations_asked")?,
        errors: BTreeMap::new(),
        bytes: whole("bytes")?,
        seconds: real("seconds")?,
        sync_seconds: real("sync_seconds")?,
        rate_error: row.get("rate_error")?,
        cpu_user_seconds: real("cpu_user_seconds")?,
        cpu_system_seconds: real("cpu_system_seconds")?,
        latency: read_latency(row)?,
        cache: CacheReport {
            asked: row.get::<_, Word<_>>("cache_asked")?.0,
            found: row.get::<_, Word<_>>("cache_found")?.0,
            resident_fraction: row.get("cache_resident_fraction")?,
            reason: row.get::<_, Option<Word<_>>>("cache_reason")?.map(|word| word.0),
        },
        device_read_bytes: maybe_whole("device_read_bytes")?,
        device_write_bytes: maybe_whole("device_write_bytes")?,
        device_reads: later_whole("device_reads")?,
        device_writes: later_whole("device_writes")?,
        device_flushes: later_whole("device_flushes")?,
        device_discard_bytes: later_whole("device_discard_bytes")?,
        worker_spread: later(row, "worker_spread")?,
        slices_ns: slices.as_deref().map_or(Ok(Vec::new()), from_json)?,
        disturbance: None,
        space_bytes: later(row, "space_bytes")?,
        inodes: later(row, "inodes")?,
        idle: later(row, "idle")?,
        entries_expected: whole("entries_expected")?,
        entries_found: whole("entries_found")?,
        windows: Vec::new(),
        histogram: row.get::<_, Option<Vec<u8>>>("hdr_v2_ns")?.unwrap_or_default(),
    })
}

fn read_cell(row: &Row) -> rusqlite::Result<CellKey> {
    let level = match row.get::<_, Option<String>>("axis")? {
        None => None,
        Some(axis) => Some(Level {
            axis,
            value: row.get::<_, Real>("level_value")?.0,
            unit: row.get::<_, Word<_>>("level_unit")?.0,
        }),
    };
    Ok(CellKey { variant: row.get("variant")?, level, repeat: row.get("repeat")? })
}

fn read_latency(row: &Row) -> rusqlite::Result<Latency> {
    let whole = |name| row.get::<_, Whole>(name).map(|w| w.0);
    Ok(Latency {
        mean: row.get::<_, Real>("latency_mean_ns")?.0,
        min: whole("latency_min_ns")?,
        p50: whole("latency_p50_ns")?,
        p90: whole("latency_p90_ns")?,
        p99: whole("latency_p99_ns")?,
        p99_9: whole("latency_p99_9_ns")?,
        max: whole("latency_max_ns")?,
    })
}

fn read_window(row: &Row) -> rusqlite::Result<Window> {
    let whole = |name| row.get::<_, Whole>(name).map(|w| w.0);
    Ok(Window {
        first: whole("first")?,
        operations: whole("operations")?,
        mean_ns: row.get::<_, Real>("mean_ns")?.0,
        p50_ns: whole("p50_ns")?,
        p99_ns: whole("p99_ns")?,
        max_ns: whole("max_ns")?,
    })
}

fn read_condition(row: &Row) -> rusqlite::Result<Condition> {
    Ok(Condition {
        cell: read_cell(row)?,
        name: row.get::<_, Word<_>>("name")?.0,
        value: row.get::<_, Real>("value")?.0,
        unit: row.get::<_, Word<_>>("unit")?.0,
    })
}

fn read_finding(row: &Row) -> rusqlite::Result<Finding> {
    Ok(Finding {
        kind: row.get("kind")?,
        sentence: row.get("sentence")?,
        figures: from_json(&row.get::<_, String>("figures")?)?,
    })
}
