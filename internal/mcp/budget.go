package mcp

// sheet is the part of a bounded text that items are written to (MS-65). It only
// moves forward: each item gets a share of what is left, and what it does not use is
// there for the next.
type sheet struct {
	room   int // bytes that are left
	coming int // items that are still to come
	least  int // bytes of the smallest share
	text   []byte
	shown  int
	cut    bool // an item is shortened
	beside bool // an item has its connection beside the handle
}

// add writes an item; false when there is no room for its handle and title. The first
// one prints its handle in any case (MS-21).
func (s *sheet) add(it *item) bool {
	need := len(it.head) + 1
	if len(it.parts) > 0 {
		need += len(moreFields(len(it.parts)))
	}
	share := max(need, s.least, s.room/max(1, s.coming))
	s.coming--
	switch {
	case need <= s.room:
		text, cut := it.fit(s.text, min(share, s.room))
		s.put(it, text, cut)
	case s.shown == 0:
		s.put(it, append(append(s.text, it.head[:it.handle]...), '\n'), true)
	default:
		return false
	}
	return true
}

// put takes the text with an item appended.
func (s *sheet) put(it *item, text []byte, cut bool) {
	s.room -= len(text) - len(s.text)
	s.text = text
	s.shown++
	s.cut = s.cut || cut
	s.beside = s.beside || it.ref.beside != ""
}

// countedToken is how much of a cursor counts against a budget (MS-21).
const countedToken = 1_024

// uncounted is what some tokens have beyond that.
func uncounted(tokens ...string) int {
	n := 0
	for _, t := range tokens {
		n += max(0, len(quoteID(t))-countedToken)
	}
	return n
}
