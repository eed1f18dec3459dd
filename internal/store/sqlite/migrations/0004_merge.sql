-- Housekeeping merges the parts of the search index two by two (Tidy); while
-- records are written, more of them may pile up.
INSERT INTO search (search, rank) VALUES ('usermerge', 2);
