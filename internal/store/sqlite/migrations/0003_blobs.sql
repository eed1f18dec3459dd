-- Which blobs were uploaded for which connection. Their bytes are in files.
CREATE TABLE blobs (
  subject       INTEGER NOT NULL REFERENCES subjects,
  connection_id TEXT NOT NULL,
  sha256        TEXT NOT NULL,
  mime_type     TEXT NOT NULL,
  size_bytes    INTEGER NOT NULL,
  uploaded_at   INTEGER NOT NULL,
  idle_since    INTEGER, -- when a sweep first saw that no record refers to it
  PRIMARY KEY (subject, connection_id, sha256)
) WITHOUT ROWID;

CREATE INDEX blobs_by_content ON blobs (subject, sha256);

-- The blobs that a field refers to are in the search index, as tokens. Records
-- of before are indexed anew with this migration (see migrate).
ALTER TABLE fields ADD COLUMN blob INTEGER NOT NULL DEFAULT 0;
