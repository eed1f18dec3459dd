package sqlite

// tidyPages is the approximate number of pages of the search index that one step of Tidy
// rewrites, which takes about ten milliseconds.
const tidyPages = 500

// The search index may contain terms that are only marked as deleted. Merging all parts
// of the index removes them from the file. The first step starts such a merge, later
// steps continue it.
const (
	markedTerms  = "search_marked" // name in meta; missing when no terms are marked
	marksNew     = "new"           // terms were marked since the merge began
	marksMerging = "merging"
)

// Tidy implements store.RecordsWriter. Every transaction adds a part to the search
// index, and a search reads each of them. Merging parts of similar size keeps them few.
func (t *tx) Tidy() (more bool, err error) {
	marks, err := t.Meta(markedTerms)
	if err != nil {
		return false, err
	}
	if string(marks) == marksNew {
		if _, err := t.merge(-tidyPages); err != nil { // negative: of all parts
			return false, err
		}
		return true, t.PutMeta(markedTerms, []byte(marksMerging))
	}
	if more, err = t.merge(tidyPages); err != nil || more || marks == nil {
		return more, err
	}
	t.erased = true
	if err := t.conn.Exec(secureDelete, 1); err != nil {
		return false, err
	}
	return false, t.conn.Exec(`DELETE FROM meta WHERE name = ?`, markedTerms)
}

// Unerased implements store.Records.
func (t *tx) Unerased() (bool, error) {
	marks, err := t.Meta(markedTerms)
	return marks != nil, err
}

// merge merges parts of the search index, up to a number of pages; more reports whether
// there may be more to merge.
func (t *tx) merge(pages int) (more bool, err error) {
	before := t.conn.TotalChanges()
	if err := t.conn.Exec(`INSERT INTO search (search, rank) VALUES ('merge', ?)`, pages); err != nil {
		return false, err
	}
	return t.conn.TotalChanges()-before >= 2, nil // the statement itself counts as one
}
