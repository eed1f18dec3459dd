package store

// A record number is its emitted_at in milliseconds, followed by a counter of this size.
const counterBits = 20

// Numbers assigns record numbers within one transaction. The zero value is ready to use.
type Numbers struct {
	slot, last int64 // the millisecond that was asked for last, and the number it got; 0: none
	freed      map[int64]struct{}
}

// Next returns the next number for an emitted_at. If a millisecond has no free number, it
// takes one of the next; only the order among such records is then not exact. top returns
// the greatest number below a limit that a record has, math.MinInt64 if there is none.
func (n *Numbers) Next(ms int64, top func(limit int64) (int64, error)) (int64, error) {
	const farthest = 1<<42 - 1 // 139 years before and after 1970; other times are clamped
	ms = min(max(ms, -farthest), farthest)
	if next := n.unused(n.last + 1); ms == n.slot && n.last != 0 && next>>counterBits == ms {
		n.last = next
		return next, nil
	}
	n.slot = ms
	for ; ; ms++ {
		highest, err := top((ms + 1) << counterBits)
		if err != nil {
			return 0, err
		}
		if n.last = n.unused(max(ms<<counterBits, highest+1)); n.last>>counterBits == ms {
			return n.last, nil
		}
	}
}

// Free notes that a record was removed. The transaction does not use its number again.
func (n *Numbers) Free(record int64) {
	if n.freed == nil {
		n.freed = map[int64]struct{}{}
	}
	n.freed[record] = struct{}{}
}

// unused returns the first number from record on that was not freed.
func (n *Numbers) unused(record int64) int64 {
	for {
		if _, ok := n.freed[record]; !ok {
			return record
		}
		record++
	}
}
