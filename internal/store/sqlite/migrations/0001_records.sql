-- Every table carries the subject: subjects.subject, a small number that stands
-- for subject_id in the other tables.

CREATE TABLE meta (
  name  TEXT PRIMARY KEY,
  value BLOB NOT NULL
) WITHOUT ROWID;

INSERT INTO meta VALUES ('generation', 1);

CREATE TABLE subjects (
  subject    INTEGER PRIMARY KEY,
  subject_id TEXT NOT NULL UNIQUE,
  name       TEXT NOT NULL UNIQUE,
  change_seq INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL
);

CREATE TABLE manifests (
  subject       INTEGER NOT NULL REFERENCES subjects,
  connector_key TEXT NOT NULL,
  body          BLOB NOT NULL,
  PRIMARY KEY (subject, connector_key)
) WITHOUT ROWID;

CREATE TABLE connections (
  subject        INTEGER NOT NULL REFERENCES subjects,
  connection_id  TEXT NOT NULL,
  connector_key  TEXT NOT NULL,
  name           TEXT NOT NULL,
  label          TEXT NOT NULL,
  status         TEXT NOT NULL,
  created_at     INTEGER NOT NULL,
  PRIMARY KEY (subject, connection_id),
  UNIQUE (subject, connector_key, name)
) WITHOUT ROWID;

-- One row per (connection, stream). AUTOINCREMENT: numbers are never reused.
CREATE TABLE bindings (
  binding       INTEGER PRIMARY KEY AUTOINCREMENT,
  subject       INTEGER NOT NULL REFERENCES subjects,
  connection_id TEXT NOT NULL,
  stream        TEXT NOT NULL,
  layout        TEXT NOT NULL,
  record_count  INTEGER NOT NULL DEFAULT 0,
  last_ingest   INTEGER,
  UNIQUE (subject, connection_id, stream)
);

CREATE TABLE fields (
  field   INTEGER PRIMARY KEY AUTOINCREMENT,
  subject INTEGER NOT NULL REFERENCES subjects,
  binding INTEGER NOT NULL REFERENCES bindings,
  name    TEXT NOT NULL,
  lexical INTEGER NOT NULL DEFAULT 0, -- its words are in the search index
  token   INTEGER NOT NULL DEFAULT 0, -- its values are, as tokens of this kind
  UNIQUE (binding, name)
);

-- record grows with emitted_at, so that walking it backwards is newest first.
CREATE TABLE records (
  record       INTEGER PRIMARY KEY,
  subject      INTEGER NOT NULL,
  binding      INTEGER NOT NULL,
  id           TEXT NOT NULL,
  emitted_at   INTEGER NOT NULL,
  key_in_data  INTEGER NOT NULL,
  order_key    BLOB NOT NULL,
  consent_time BLOB,
  term_counts  BLOB NOT NULL,
  body         BLOB NOT NULL,
  short_body   BLOB AS (CASE WHEN length(body) <= 2048 THEN body END) VIRTUAL
);

CREATE UNIQUE INDEX records_by_id ON records (binding, id);
-- Lists walk this index. It holds what they show of records with a short body.
CREATE INDEX records_by_order ON records (binding, order_key, subject, id, emitted_at, short_body);
CREATE INDEX records_by_emitted ON records (binding, emitted_at, id);

-- Values too long for the body, in pieces.
CREATE TABLE pieces (
  subject INTEGER NOT NULL,
  record  INTEGER NOT NULL,
  ordinal INTEGER NOT NULL,
  piece   INTEGER NOT NULL,
  start   INTEGER NOT NULL,
  raw     BLOB NOT NULL
);

CREATE UNIQUE INDEX pieces_by_record ON pieces (record, ordinal, piece);

-- Which records have a value, in the order of the records.
CREATE TABLE field_index (
  subject   INTEGER NOT NULL,
  field     INTEGER NOT NULL,
  value     BLOB NOT NULL,
  order_key BLOB NOT NULL,
  record    INTEGER NOT NULL,
  PRIMARY KEY (field, value, order_key, record)
) WITHOUT ROWID;

-- Which value a record has, for fields with a declared range or aggregation.
CREATE TABLE field_values (
  subject INTEGER NOT NULL,
  record  INTEGER NOT NULL,
  field   INTEGER NOT NULL,
  value   BLOB NOT NULL,
  PRIMARY KEY (record, field)
) WITHOUT ROWID;

-- Facts about what happened, never content.
CREATE TABLE changes (
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
  PRIMARY KEY (subject, seq)
) WITHOUT ROWID;

-- secure-delete: entries are taken out of the index at once (REC-37), instead of
-- being marked as deleted and merged away some day. A batch of records fills the
-- hash once, and merging a little later makes bulk loads cheaper.
CREATE VIRTUAL TABLE search USING fts5 (
  terms, content = '', detail = none, tokenize = "ascii tokenchars '.'"
);

INSERT INTO search (search, rank) VALUES ('secure-delete', 1);
INSERT INTO search (search, rank) VALUES ('hashsize', 16777216);
INSERT INTO search (search, rank) VALUES ('automerge', 8);

CREATE TABLE states (
  subject       INTEGER NOT NULL REFERENCES subjects,
  connection_id TEXT NOT NULL,
  stream        TEXT NOT NULL,
  value         BLOB NOT NULL,
  updated_at    INTEGER NOT NULL,
  PRIMARY KEY (subject, connection_id, stream)
) WITHOUT ROWID;

CREATE TABLE clients (
  client_id         TEXT PRIMARY KEY,
  subject           INTEGER NOT NULL REFERENCES subjects,
  name              TEXT NOT NULL,
  registration_mode TEXT NOT NULL,
  created_at        INTEGER NOT NULL
) WITHOUT ROWID;

CREATE UNIQUE INDEX operator_clients ON clients (subject, name) WHERE registration_mode = 'operator';

CREATE TABLE grants (
  grant_id      TEXT PRIMARY KEY,
  subject       INTEGER NOT NULL REFERENCES subjects,
  client_id     TEXT NOT NULL REFERENCES clients,
  connector_key TEXT NOT NULL,
  document      BLOB NOT NULL,
  consumed      INTEGER NOT NULL DEFAULT 0,
  issued_at     INTEGER NOT NULL,
  expires_at    INTEGER,
  revoked_at    INTEGER,
  last_used_at  INTEGER
) WITHOUT ROWID;

CREATE INDEX grants_by_subject ON grants (subject, issued_at);

CREATE TABLE tokens (
  hash         BLOB PRIMARY KEY,
  token_id     TEXT NOT NULL UNIQUE,
  subject      INTEGER NOT NULL REFERENCES subjects,
  kind         TEXT NOT NULL,
  client_id    TEXT,
  grant_id     TEXT,
  audience     TEXT NOT NULL,
  label        TEXT NOT NULL,
  issued_at    INTEGER NOT NULL,
  expires_at   INTEGER NOT NULL,
  revoked_at   INTEGER,
  last_used_at INTEGER
) WITHOUT ROWID;

CREATE INDEX tokens_by_grant ON tokens (subject, grant_id);
