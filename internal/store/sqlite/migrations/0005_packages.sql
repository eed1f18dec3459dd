-- Several grants of one client behind one token (H-81).
CREATE TABLE packages (
  package_id   TEXT PRIMARY KEY,
  subject      INTEGER NOT NULL REFERENCES subjects,
  client_id    TEXT NOT NULL REFERENCES clients,
  issued_at    INTEGER NOT NULL,
  expires_at   INTEGER,
  revoked_at   INTEGER,
  last_used_at INTEGER
) WITHOUT ROWID;

CREATE INDEX packages_by_subject ON packages (subject, issued_at);

CREATE TABLE members (
  package_id    TEXT NOT NULL REFERENCES packages,
  position      INTEGER NOT NULL,
  subject       INTEGER NOT NULL REFERENCES subjects,
  grant_id      TEXT NOT NULL REFERENCES grants,
  connection_id TEXT NOT NULL,
  PRIMARY KEY (package_id, position),
  UNIQUE (package_id, connection_id)
) WITHOUT ROWID;

-- A package ends with its last member, so that a grant that can still be read with
-- is in one package at most.
CREATE UNIQUE INDEX members_by_grant ON members (grant_id);

ALTER TABLE tokens ADD COLUMN package_id TEXT;
