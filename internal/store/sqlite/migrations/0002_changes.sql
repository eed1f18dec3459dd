-- The log is read binding by binding, each in the order of its changes, and back
-- and forth along the changes of one record. A change knows the record it made, and
-- the record the change: as long as they agree, there was no later one. Nobody has a
-- bookmark from before this, so older changes need not.
CREATE TABLE log (
  subject      INTEGER NOT NULL,
  seq          INTEGER NOT NULL,
  binding      INTEGER NOT NULL,
  id           TEXT NOT NULL,
  deleted      INTEGER NOT NULL,
  existed      INTEGER NOT NULL,
  fields       TEXT NOT NULL,
  before_time  BLOB,
  emitted_at   INTEGER NOT NULL,
  committed_at INTEGER NOT NULL,
  record       INTEGER,
  PRIMARY KEY (binding, seq)
) WITHOUT ROWID;

INSERT INTO log SELECT subject, seq, binding, id, deleted, existed, fields, before_time, emitted_at, committed_at, NULL FROM changes;
DROP TABLE changes;
ALTER TABLE log RENAME TO changes;
CREATE INDEX changes_by_record ON changes (binding, id, seq);
ALTER TABLE records ADD COLUMN change INTEGER NOT NULL DEFAULT 0;

-- The last change that is no longer in the log; and which field before_time of new
-- changes is of, since which generation.
ALTER TABLE bindings ADD COLUMN pruned_seq INTEGER NOT NULL DEFAULT 0;
ALTER TABLE bindings ADD COLUMN time_field TEXT;
ALTER TABLE bindings ADD COLUMN retimed INTEGER NOT NULL DEFAULT 0;
