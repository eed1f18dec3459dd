-- The changes of a binding in their order, and those of one record.
CREATE INDEX changes_by_binding ON changes (binding, seq);
CREATE INDEX changes_by_record ON changes (binding, id, seq);

-- The last change that is no longer in the log.
ALTER TABLE subjects ADD COLUMN pruned_seq INTEGER NOT NULL DEFAULT 0;

-- Which field before_time of new changes is of, and since which generation.
ALTER TABLE bindings ADD COLUMN time_field TEXT;
ALTER TABLE bindings ADD COLUMN retimed INTEGER NOT NULL DEFAULT 0;
