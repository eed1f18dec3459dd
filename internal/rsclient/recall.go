package rsclient

// Recall is what a search says about the matches that it did not rank.
// Numbers are -1 when they are not stated.
type Recall struct {
	Bounded          bool // more matches may exist than were ranked
	Ranked           int
	Limit            int
	TruncatedSources int
}

// Recall reads meta.recall. Nothing is inferred from a page without it (MS-127).
func (p Page) Recall() Recall {
	v := object(p.Meta, "recall")
	return Recall{
		Bounded: isFalse(v, "complete") || text(v, "ranking_scope") == "candidate_window",
		Ranked:  number(v, "ranked_candidate_count"), Limit: number(v, "candidate_window_limit"),
		TruncatedSources: number(v, "truncated_source_count"),
	}
}
