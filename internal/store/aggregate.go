package store

// Aggregation is the answer to a query.Aggregate. Keys and values are JSON text.
type Aggregation struct {
	Records int64   // visible records that meet the conditions, whatever the metric
	Value   []byte  // of an aggregate without groups
	Groups  []Group // in the order of AG-7
	Other   int64   // records in the groups beyond the limit (AG-9)
}

// Group is the part of an aggregation with one key (AG-8, AG-11).
type Group struct {
	Key   []byte
	Count int64
	Value []byte // nil for a count
}
