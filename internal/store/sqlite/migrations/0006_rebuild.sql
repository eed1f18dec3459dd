-- When a stream is declared so that its records are indexed in another way, they are
-- indexed anew in small transactions, also after a restart.
ALTER TABLE bindings ADD COLUMN layouts INTEGER NOT NULL DEFAULT 0; -- how many it had before the one of now
ALTER TABLE bindings ADD COLUMN indexed_to TEXT; -- the last id that was indexed anew; NULL: all are
ALTER TABLE bindings ADD COLUMN stale TEXT;      -- what reads cannot rely on until then
CREATE INDEX bindings_rebuilt ON bindings (binding) WHERE indexed_to IS NOT NULL;

-- bindings.layouts when the record was indexed.
ALTER TABLE records ADD COLUMN layout INTEGER NOT NULL DEFAULT 0;

-- How fields stood in the search text under former layouts, as long as there are
-- records of them: the search index has to be told what to take out.
CREATE TABLE former_fields (
  subject INTEGER NOT NULL REFERENCES subjects,
  binding INTEGER NOT NULL,
  layout  INTEGER NOT NULL,
  name    TEXT NOT NULL,
  field   INTEGER NOT NULL,
  lexical INTEGER NOT NULL,
  token   INTEGER NOT NULL,
  blob    INTEGER NOT NULL,
  PRIMARY KEY (binding, layout, name)
) WITHOUT ROWID;

-- Parts of the search index are merged in small steps (Tidy, automerge), never many at
-- once while others wait.
INSERT INTO search (search, rank) VALUES ('crisismerge', 64);

-- Older programs did not note which terms were only marked as gone. All parts of the
-- index are merged once, so that none are left.
INSERT INTO meta SELECT 'search_marked', 'new' WHERE EXISTS (SELECT 1 FROM records);
