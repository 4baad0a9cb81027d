-- Schema 2 of boatload's store: what the place was like.

CREATE TABLE conditions (
  -- Figures of the place when a cell began.
  id      INTEGER PRIMARY KEY AUTOINCREMENT,                       -- the order they were looked at in
  cell_id INTEGER NOT NULL REFERENCES cells(id) ON DELETE CASCADE, -- the cell
  name    TEXT NOT NULL,  -- what it tells: space-used, layout-score, files-present
  value   REAL,           -- the figure, in its unit; NULL: not a number
  unit    TEXT NOT NULL   -- count, bytes, percent or nanoseconds
);
CREATE INDEX conditions_of_cell ON conditions (cell_id);
