-- Schema 4 of boatload's store: what else happened while phases ran, I/Os of the device, how the host is set.
-- In an added column `.schema` keeps a comment only of this form.

ALTER TABLE measurements ADD COLUMN
  device_reads INTEGER /* requests to read that the device completed, after merging; NULL without a device */;
ALTER TABLE measurements ADD COLUMN
  device_writes INTEGER /* requests to write that it completed, after merging; NULL without a device */;
ALTER TABLE measurements ADD COLUMN
  device_flushes INTEGER /* flushes that it completed; NULL where it does not count them */;
ALTER TABLE measurements ADD COLUMN
  device_discard_bytes INTEGER /* what it was told nobody needs any more; NULL without a device */;
ALTER TABLE measurements ADD COLUMN
  worker_spread REAL /* time from the middle worker's end to the last one's over seconds; NULL for one worker */;
ALTER TABLE measurements ADD COLUMN
  slices_ns TEXT /* JSON array: mean latencies of equal slices of the phase, in nanoseconds; [] for too few */;

ALTER TABLE hosts ADD COLUMN settings TEXT /* JSON object: how kernel and processors are set; NULL if unknown */;
ALTER TABLE hosts ADD COLUMN device_physical_sector_bytes INTEGER /* physical sector; NULL if unknown */;
ALTER TABLE hosts ADD COLUMN device_discards INTEGER /* 1 if it takes discards; NULL if unknown */;
ALTER TABLE hosts ADD COLUMN device_requests_max INTEGER /* length of its queue; NULL if unknown */;
ALTER TABLE hosts ADD COLUMN device_read_ahead_bytes INTEGER /* how far is read ahead; NULL if unknown */;
ALTER TABLE hosts ADD COLUMN device_beneath TEXT /* JSON array: its name and those of all beneath it */;
ALTER TABLE hosts ADD COLUMN device_stack TEXT /* JSON array: facts of the devices directly beneath it */;

ALTER TABLE filesystems ADD COLUMN device_physical_sector_bytes INTEGER /* physical sector; NULL if unknown */;
ALTER TABLE filesystems ADD COLUMN device_discards INTEGER /* 1 if it takes discards; NULL if unknown */;
ALTER TABLE filesystems ADD COLUMN device_requests_max INTEGER /* length of its queue; NULL if unknown */;
ALTER TABLE filesystems ADD COLUMN device_read_ahead_bytes INTEGER /* how far is read ahead; NULL if unknown */;
ALTER TABLE filesystems ADD COLUMN device_beneath TEXT /* JSON array: its name and those of all beneath it */;
ALTER TABLE filesystems ADD COLUMN device_stack TEXT /* JSON array: facts of the devices directly beneath it */;

CREATE TABLE disturbances (
  -- What else happened on the machine during a measurement and its sync. NULL: nothing tells it.
  measurement_id          INTEGER PRIMARY KEY REFERENCES measurements(id) ON DELETE CASCADE, -- the measurement
  seconds                 REAL,     -- how long was watched: a little longer than the phase and its sync
  cpu_pressure_seconds    REAL,     -- time in which some process waited for a processor
  io_pressure_seconds     REAL,     -- time in which some process waited for a disk
  memory_pressure_seconds REAL,     -- time in which some process waited for memory
  cpu_seconds             REAL,     -- time of all processors, idle or not
  steal_seconds           REAL,     -- of it, what the hypervisor gave to others
  others_cpu_seconds      REAL,     -- of it, what others than boatload used, threads of the kernel among them
  others_user_seconds     REAL,     -- the part of that in user mode
  others_read_bytes       INTEGER,  -- read by other processes, from any disk
  others_write_bytes      INTEGER,  -- written by other processes, to any disk
  others_unseen           INTEGER,  -- processes whose bytes boatload may not see
  beneath_read_bytes      INTEGER,  -- what the disk beneath read beyond the loop device or partition
  beneath_write_bytes     INTEGER,  -- what it wrote beyond that
  core_throttles          INTEGER,  -- how often processors were slowed down by heat
  group_throttles         INTEGER,  -- how often the control group was kept from the processors
  frequency_share         REAL,     -- highest frequency of a processor at the end over the highest there is
  clock_changed           INTEGER,  -- 1 if the kernel took another clock source
  clock_error             REAL      -- how much faster the clock of latencies went than the kernel's, relative
);
