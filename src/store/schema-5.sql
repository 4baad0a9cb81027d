-- Schema 5 of boatload's store: runs that were asked for a precision instead of repeats.

ALTER TABLE runs ADD COLUMN
  precision REAL /* most half width of the interval of a rate, as a share of it; NULL if repeats were asked for */;
ALTER TABLE runs ADD COLUMN
  time_limit_seconds REAL /* what the run was to take at most; NULL if repeats were asked for */;
