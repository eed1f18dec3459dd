package mcp

import "pdpp/internal/bufpool"

// sheet is the part of a bounded text that items are written to (MS-65). It only
// moves forward: each item gets a share of what is left, and what it does not use is
// there for the next.
type sheet struct {
	room   int  // bytes that are left
	coming int  // items that are still to come
	least  int  // bytes of the smallest share
	ranked bool // an item gets no larger share than one before it that was cut
	most   int  // that share; 0: none was cut
	text   []byte
	lent   *bufpool.Buffer // that text stands in; nil when it is its own
	shown  int
	cut    bool // an item is shortened
}

// add writes an item; false when there is no room for its handle and title, or for a
// part of its text. The first one prints its handle in any case (MS-21).
func (s *sheet) add(it *item) bool {
	share := max(s.least, s.room/max(1, s.coming))
	if s.ranked && s.most > 0 {
		share = min(share, s.most)
	}
	head := it.headSize()
	need := head
	if it.wholeSize() > min(share, s.room) {
		need += it.textSize()
	}
	share = max(need, share)
	s.coming--
	switch {
	case need <= s.room || s.shown == 0 && head <= s.room:
		share = min(share, s.room)
		text, cut := it.fit(s.text, share)
		if cut && (s.most == 0 || share < s.most) {
			s.most = share
		}
		s.put(text, cut)
	case s.shown == 0:
		s.put(append(append(s.text, it.head[:it.handle]...), '\n'), true)
	default:
		s.coming = 0
		return false
	}
	return true
}

// isOpen reports that further items may be shown.
func (s *sheet) isOpen() bool { return s.coming > 0 }

// put takes the text with an item appended.
func (s *sheet) put(text []byte, cut bool) {
	s.room -= len(text) - len(s.text)
	s.text = text
	s.shown++
	s.cut = s.cut || cut
}

// countedToken is how much of a cursor counts against a budget (MS-21).
const countedToken = 1_024

// uncounted is what some tokens have beyond that.
func uncounted(tokens ...string) int {
	n := 0
	for _, t := range tokens {
		n += max(0, idLen(t)-countedToken)
	}
	return n
}
