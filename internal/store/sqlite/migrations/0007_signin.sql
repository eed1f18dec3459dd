-- A client that registered itself may have grants of several owners: each of them has a
-- row for it, with the name that they saw when they approved it.
CREATE TABLE clients_of_owners (
  subject           INTEGER NOT NULL REFERENCES subjects,
  client_id         TEXT NOT NULL,
  name              TEXT NOT NULL,
  registration_mode TEXT NOT NULL,
  created_at        INTEGER NOT NULL,
  PRIMARY KEY (subject, client_id)
) WITHOUT ROWID;

INSERT INTO clients_of_owners SELECT subject, client_id, name, registration_mode, created_at FROM clients;
DROP TABLE clients;
ALTER TABLE clients_of_owners RENAME TO clients;
CREATE UNIQUE INDEX operator_clients ON clients (subject, name) WHERE registration_mode = 'operator';

-- The access tokens of one authorization. They are revoked together.
ALTER TABLE tokens ADD COLUMN family TEXT;
CREATE INDEX tokens_by_family ON tokens (family) WHERE family IS NOT NULL;

-- The state of sign-in and authorization (store.Entry).
CREATE TABLE entries (
  kind         TEXT NOT NULL,
  key          TEXT NOT NULL,
  subject      INTEGER NOT NULL DEFAULT 0, -- 0: of no owner, or of none yet
  parent       TEXT,
  body         BLOB NOT NULL,
  created_at   INTEGER NOT NULL,
  delete_after INTEGER,
  PRIMARY KEY (kind, key)
) WITHOUT ROWID;

CREATE INDEX entries_by_subject ON entries (kind, subject, created_at) WHERE subject <> 0;
CREATE INDEX entries_by_parent ON entries (kind, parent, created_at) WHERE parent IS NOT NULL;
CREATE INDEX entries_by_end ON entries (delete_after) WHERE delete_after IS NOT NULL;
