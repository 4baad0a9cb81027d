-- Schema 1 of boatload's store. Comments inside a statement stay in the file: `.schema` shows them.

CREATE TABLE hosts (
  -- Machines and places that runs measured: one row for each distinct set of facts.
  id                     INTEGER PRIMARY KEY,   -- what runs.host_id points at
  fingerprint            TEXT NOT NULL UNIQUE,  -- hash (FNV-1a, 128 bits, hexadecimal) of all the other columns
  kernel                 TEXT NOT NULL,         -- kernel name and release
  cpu                    TEXT NOT NULL,         -- model name of the first processor
  cpus                   INTEGER NOT NULL,      -- processors boatload may run on
  memory_bytes           INTEGER NOT NULL,      -- memory of the machine
  filesystem_type        TEXT NOT NULL,         -- as the kernel names it: ext4
  filesystem_source      TEXT NOT NULL,         -- what is mounted: /dev/vda
  filesystem_options     TEXT NOT NULL,         -- mount and superblock options
  filesystem_block_bytes INTEGER NOT NULL,      -- allocation block
  filesystem_total_bytes INTEGER NOT NULL,      -- size of the file system
  device                 TEXT,                  -- the kernel's name of the block device: vda; NULL where there is none
  device_model           TEXT,                  -- the maker's name for it; NULL if unknown
  device_rotational      INTEGER,               -- 1 if it turns, 0 if not; NULL if unknown
  device_scheduler       TEXT,                  -- I/O scheduler; NULL if unknown
  device_write_cache     TEXT,                  -- volatile write cache: write back, write through; NULL if unknown
  device_sector_bytes    INTEGER,               -- logical sector; NULL if unknown
  device_total_bytes     INTEGER,               -- size of the device; NULL if unknown
  device_loop_direct_io  INTEGER                -- loop devices: 1 if it goes around the cache below; NULL for others
);

CREATE TABLE runs (
  -- Executions of a scenario, in the order they began.
  number           INTEGER PRIMARY KEY AUTOINCREMENT,      -- the order they began in this store
  id               TEXT NOT NULL UNIQUE,                   -- the id that commands take
  host_id          INTEGER NOT NULL REFERENCES hosts(id),  -- the machine and the place
  scenario         TEXT NOT NULL,                          -- name of the scenario
  question         TEXT NOT NULL,                          -- the question it asks
  scale            TEXT NOT NULL,                          -- quick, standard or original
  seed             TEXT NOT NULL,                          -- decimal: 64 bits without a sign do not fit an INTEGER
  started          TEXT NOT NULL,                          -- when it began, RFC 3339, UTC
  finished         TEXT,                                   -- when it ended, RFC 3339, UTC; NULL while it runs, or killed
  complete         INTEGER NOT NULL,                       -- 1 if every cell was done
  command          TEXT NOT NULL,                          -- the command line
  boatload         TEXT NOT NULL,                          -- version of boatload
  parameters       TEXT NOT NULL,                          -- JSON array of [name, value], as resolved
  job              TEXT NOT NULL,                          -- text of the job file
  harness_ns       REAL,                                   -- boatload's own cost for each operation; NULL: not a number
  clock            TEXT NOT NULL,                          -- where latencies come from: tsc or monotonic
  repeats          INTEGER NOT NULL,                       -- repeats asked for
  available_bytes  INTEGER NOT NULL,                       -- free for an ordinary user when the run began
  available_inodes INTEGER,                                -- inodes left then; NULL where they are made as needed
  root             INTEGER NOT NULL,                       -- 1 if it ran as root
  drop_caches      INTEGER NOT NULL,                       -- 1 if it could drop the kernel's caches
  cache_probe      TEXT NOT NULL                           -- how it looked into the cache: cachestat, mincore or none
);

CREATE TABLE cells (
  -- One variant at one level in one repeat of a run.
  id          INTEGER PRIMARY KEY AUTOINCREMENT,                   -- the order they began in
  run_id      TEXT NOT NULL REFERENCES runs(id) ON DELETE CASCADE, -- the run
  variant     TEXT NOT NULL,                                       -- what is compared with other variants
  axis        TEXT,                                                -- what grows; NULL without an axis
  level_value REAL,                                                -- value of the axis, in level_unit; NULL without
  level_unit  TEXT,                                                -- count, bytes, percent or nanoseconds; NULL without
  repeat      INTEGER NOT NULL,                                    -- from 1
  complete    INTEGER NOT NULL DEFAULT 0                           -- 1 if every phase of it was done
);
CREATE UNIQUE INDEX cells_once ON cells
  (run_id, variant, ifnull(axis, ''), ifnull(level_value, 0), ifnull(level_unit, ''), repeat);

CREATE TABLE measurements (
  -- What one pass of one phase of one cell gave. Average only rows with valid = 1.
  id                      INTEGER PRIMARY KEY AUTOINCREMENT,                      -- the order they were measured in
  cell_id                 INTEGER NOT NULL REFERENCES cells(id) ON DELETE CASCADE, -- the cell
  phase                   TEXT NOT NULL,     -- name of the phase
  pass                    INTEGER NOT NULL,  -- which of its passes, from 1
  operation               TEXT NOT NULL,     -- create, read, ...
  engine                  TEXT NOT NULL,     -- sync, or sim for a simulated file system
  threads                 INTEGER NOT NULL,  -- workers
  invalid                 TEXT NOT NULL,     -- JSON array of the reasons not to average it in; [] if it is valid
  valid                   INTEGER GENERATED ALWAYS AS (invalid = '[]') VIRTUAL, -- 1 if there is no such reason
  operations              INTEGER NOT NULL,  -- operations that succeeded
  operations_asked        INTEGER NOT NULL,  -- operations that were asked for
  bytes                   INTEGER NOT NULL,  -- bytes of content moved
  seconds                 REAL,              -- first worker's start to last one's end, without the sync; NULL: not a number
  sync_seconds            REAL,              -- the one sync after it, 0 if none was asked; NULL: not a number
  rate_error              REAL,              -- relative standard error of operations / seconds; NULL if unknown
  cpu_user_seconds        REAL,              -- CPU time in user mode; NULL: not a number
  cpu_system_seconds      REAL,              -- CPU time in the kernel; NULL: not a number
  latency_mean_ns         REAL,              -- mean of one operation; NULL: not a number
  latency_min_ns          INTEGER NOT NULL,  -- shortest operation
  latency_p50_ns          INTEGER NOT NULL,  -- half are shorter
  latency_p90_ns          INTEGER NOT NULL,  -- 9 in 10 are shorter
  latency_p99_ns          INTEGER NOT NULL,  -- 99 in 100 are shorter
  latency_p99_9_ns        INTEGER NOT NULL,  -- 999 in 1,000 are shorter
  latency_max_ns          INTEGER NOT NULL,  -- longest operation
  cache_asked             TEXT NOT NULL,     -- cold, warm or as-is
  cache_found             TEXT NOT NULL,     -- cold-verified, warm or unverified
  cache_resident_fraction REAL,              -- share of sampled pages in memory at the start; NULL: nothing sampled
  cache_reason            TEXT,              -- why it was not found as asked; NULL if it was
  device_read_bytes       INTEGER,           -- read by the device, sync included; NULL without a device
  device_write_bytes      INTEGER,           -- written by the device, sync included; NULL without a device
  entries_expected        INTEGER NOT NULL,  -- entries the tree should hold afterwards
  entries_found           INTEGER NOT NULL   -- entries that were counted
);
CREATE INDEX measurements_of_cell ON measurements (cell_id);

CREATE TABLE errors (
  -- Failed operations of a measurement, by the name of their error.
  measurement_id INTEGER NOT NULL REFERENCES measurements(id) ON DELETE CASCADE, -- the measurement
  error          TEXT NOT NULL,     -- name as in errno(3): ENOSPC
  operations     INTEGER NOT NULL,  -- how many failed with it
  PRIMARY KEY (measurement_id, error)
);

CREATE TABLE histograms (
  -- All latencies of a measurement, for tools that read HdrHistogram.
  measurement_id INTEGER PRIMARY KEY REFERENCES measurements(id) ON DELETE CASCADE, -- the measurement
  hdr_v2_ns      BLOB NOT NULL  -- HdrHistogram, V2 encoding, not compressed, values in nanoseconds
);

CREATE TABLE windows (
  -- Slices of a measurement's operations with their own latencies.
  measurement_id INTEGER NOT NULL REFERENCES measurements(id) ON DELETE CASCADE, -- the measurement
  number         INTEGER NOT NULL,  -- which slice, from 0
  first          INTEGER NOT NULL,  -- first operation in it, from 0
  operations     INTEGER NOT NULL,  -- how many it has
  mean_ns        REAL,              -- mean latency; NULL: not a number
  p50_ns         INTEGER NOT NULL,  -- half are shorter
  p99_ns         INTEGER NOT NULL,  -- 99 in 100 are shorter
  max_ns         INTEGER NOT NULL,  -- longest operation
  PRIMARY KEY (measurement_id, number)
);

CREATE TABLE findings (
  -- What boatload concludes from a run.
  id       INTEGER PRIMARY KEY AUTOINCREMENT,                   -- the order they are told in
  run_id   TEXT NOT NULL REFERENCES runs(id) ON DELETE CASCADE, -- the run
  kind     TEXT NOT NULL,  -- warning, growth, knee, slope, ranking, crossover, source or beneath
  sentence TEXT NOT NULL,  -- the conclusion, for people
  figures  TEXT NOT NULL   -- JSON object with the figures of its kind
);
CREATE INDEX findings_of_run ON findings (run_id);
