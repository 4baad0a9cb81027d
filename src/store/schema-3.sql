-- Schema 3 of boatload's store: file systems that were made for a run, and what phases took of them.
-- In an added column `.schema` keeps a comment only of this form.

ALTER TABLE measurements ADD COLUMN
  space_bytes INTEGER /* taken of the file system, sync included; negative: given back; NULL: unknown */;
ALTER TABLE measurements ADD COLUMN
  inodes INTEGER /* inodes taken; NULL where the file system does not count them */;
ALTER TABLE measurements ADD COLUMN
  idle INTEGER /* 1 if the device had nothing to do at the start; NULL without a device */;

CREATE TABLE filesystems (
  -- File systems that were made for the variants of a run.
  id                    INTEGER PRIMARY KEY AUTOINCREMENT, -- the order they were asked for
  run_id                TEXT NOT NULL REFERENCES runs(id) ON DELETE CASCADE, -- the run
  variant               TEXT NOT NULL,     -- the variant whose cells each had it anew
  type                  TEXT NOT NULL,     -- as the kernel names it: ext4
  mkfs                  TEXT,              -- the command, with DEVICE for the device; NULL if mounting was all
  mkfs_version          TEXT,              -- what the program says of its own version; NULL if nothing
  mount_asked           TEXT NOT NULL,     -- mount options that were asked for; empty: the defaults
  options               TEXT NOT NULL,     -- mount and superblock options, as the kernel showed them
  place                 TEXT NOT NULL,     -- where it was made: image, device or memory
  device                TEXT,              -- the block device under it; NULL without one
  device_model          TEXT,              -- the maker's name for it; NULL if unknown
  device_rotational     INTEGER,           -- 1 if it turns, 0 if not; NULL if unknown
  device_scheduler      TEXT,              -- I/O scheduler; NULL if unknown
  device_write_cache    TEXT,              -- volatile write cache: write back, write through; NULL if unknown
  device_sector_bytes   INTEGER,           -- logical sector; NULL if unknown
  device_total_bytes    INTEGER,           -- size of the device; NULL if unknown
  device_loop_direct_io INTEGER,           -- loop devices: 1 if it goes around the cache below; NULL for others
  device_bytes          INTEGER NOT NULL,  -- what mkfs was given to fill
  block_bytes           INTEGER NOT NULL,  -- allocation block
  total_bytes           INTEGER NOT NULL,  -- its size when it was empty
  available_bytes       INTEGER NOT NULL,  -- free for an ordinary user when it was empty
  inodes                INTEGER,           -- its inodes when it was empty; NULL where they are made as needed
  trimmed               INTEGER NOT NULL   -- 1 if the device was told before each that nothing on it was needed
);
CREATE UNIQUE INDEX filesystems_once ON filesystems (run_id, variant);
