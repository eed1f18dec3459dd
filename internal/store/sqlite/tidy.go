package sqlite

// tidyPages is about how much of the search index one step of Tidy rewrites: some
// ten milliseconds of work.
const tidyPages = 500

// Tidy implements store.RecordsWriter. Every transaction adds a part to the search
// index, and a search looks into each of them; merging parts of like size keeps
// them few.
func (t *tx) Tidy() (more bool, err error) {
	before := t.conn.TotalChanges()
	if err := t.conn.Exec(`INSERT INTO search (search, rank) VALUES ('merge', ?)`, tidyPages); err != nil {
		return false, err
	}
	return t.conn.TotalChanges()-before >= 2, nil // the statement itself counts as one
}
