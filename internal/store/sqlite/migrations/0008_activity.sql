-- What clients have read, counted by day (store.ReadCount). Never content.
CREATE TABLE reads (
  subject    INTEGER NOT NULL REFERENCES subjects,
  day        INTEGER NOT NULL,
  grant_id   TEXT NOT NULL,
  package_id TEXT NOT NULL,
  via        TEXT NOT NULL,
  stream     TEXT NOT NULL,
  reads      INTEGER NOT NULL,
  records    INTEGER NOT NULL,
  refusals   INTEGER NOT NULL,
  PRIMARY KEY (subject, day, grant_id, package_id, via, stream)
) WITHOUT ROWID;

CREATE INDEX reads_by_day ON reads (day);

-- The latest refusal of a grant, or of a package that was refused as a whole.
CREATE TABLE refusals (
  subject    INTEGER NOT NULL REFERENCES subjects,
  grant_id   TEXT NOT NULL,
  package_id TEXT NOT NULL,
  at         INTEGER NOT NULL,
  via        TEXT NOT NULL,
  code       TEXT NOT NULL,
  PRIMARY KEY (subject, grant_id, package_id)
) WITHOUT ROWID;

-- Changes of rights and refused bearers (S21).
CREATE TABLE audits (
  audit      INTEGER PRIMARY KEY,
  subject    INTEGER NOT NULL, -- 0: of no owner
  day        INTEGER NOT NULL,
  at         INTEGER NOT NULL,
  action     TEXT NOT NULL,
  actor      TEXT NOT NULL,
  client_id  TEXT NOT NULL,
  grant_id   TEXT NOT NULL,
  package_id TEXT NOT NULL,
  token_id   TEXT NOT NULL,
  code       TEXT NOT NULL,
  request_id TEXT NOT NULL,
  address    TEXT NOT NULL,
  times      INTEGER NOT NULL
);

CREATE INDEX audits_by_subject ON audits (subject, at);
CREATE INDEX audits_by_day ON audits (day);
CREATE UNIQUE INDEX refused_bearers ON audits (subject, day, token_id, address, code) WHERE action = 'bearer_refused';
