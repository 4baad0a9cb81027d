-- The schema of boatload's store. Comments inside a statement stay in the file: `.schema` shows them.

CREATE TABLE runs (
  -- Executions of a scenario, in the order they were stored.
  number   INTEGER PRIMARY KEY AUTOINCREMENT,  -- the order they were stored
  id       TEXT NOT NULL UNIQUE,               -- the id that commands take
  document TEXT NOT NULL,                      -- the run document as JSON, without its measurements: docs/RUN.md
  tag      TEXT UNIQUE,                        -- a name that commands take for it; NULL without one
  note     TEXT,                               -- what somebody noted of it; NULL without one
  origin   TEXT,                               -- what `boatload resume` needs beside the document, as JSON; NULL if it was imported
  scenario TEXT AS (document ->> '$.run.scenario') STORED,     -- the scenario's name
  started  TEXT AS (document ->> '$.run.started') STORED,      -- when it began, RFC 3339 in UTC
  finished TEXT AS (document ->> '$.run.finished') STORED,     -- when it ended; NULL while it runs or if it was killed
  complete INTEGER AS (document ->> '$.run.complete') STORED   -- 1 if every cell was done
) STRICT;

CREATE TABLE measurement_documents (
  -- What one pass of one phase of one cell gave, in the order it was measured.
  number   INTEGER PRIMARY KEY AUTOINCREMENT,                       -- the order they were measured
  run_id   TEXT NOT NULL REFERENCES runs(id) ON DELETE CASCADE,     -- the run
  document TEXT NOT NULL,                                           -- the measurement as JSON: docs/RUN.md
  valid    INTEGER AS (json_array_length(document, '$.invalid') = 0) STORED   -- 0 if it must not be averaged in
) STRICT;

CREATE TABLE finished_cells (
  -- Cells that are done, in their order, for `boatload resume`.
  number   INTEGER PRIMARY KEY AUTOINCREMENT,                       -- the order they were done
  run_id   TEXT NOT NULL REFERENCES runs(id) ON DELETE CASCADE,     -- the run
  document TEXT NOT NULL                                            -- which cell, how many measurements the run had by then, and what it took, as JSON
) STRICT;

CREATE INDEX cells_of_run ON finished_cells (run_id);

CREATE INDEX measurements_of_run ON measurement_documents (run_id);

CREATE VIEW measurements AS
  -- The measurements by the keys that queries ask for most; `document` has all of them.
  SELECT number, run_id, valid,
    document ->> '$.variant' AS variant,
    document ->> '$.level.axis' AS axis,
    document ->> '$.level.value' AS level,
    document ->> '$.repeat' AS repeat,
    document ->> '$.phase' AS phase,
    document ->> '$.pass' AS pass,
    document ->> '$.operation' AS operation,
    document ->> '$.engine' AS engine,
    document ->> '$.threads' AS threads,
    document ->> '$.operations' AS operations,
    document ->> '$.bytes' AS bytes,
    document ->> '$.seconds' AS seconds,
    document ->> '$.sync_seconds' AS sync_seconds,
    document ->> '$.latency_ns.p50' AS latency_p50_ns,
    document ->> '$.latency_ns.p99' AS latency_p99_ns,
    document ->> '$.latency_ns.max' AS latency_max_ns,
    document ->> '$.cache.asked' AS cache_asked,
    document ->> '$.cache.found' AS cache_found,
    document ->> '$.device_read_bytes' AS device_read_bytes,
    document ->> '$.device_write_bytes' AS device_write_bytes,
    document
  FROM measurement_documents;
