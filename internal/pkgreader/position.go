package pkgreader

import (
	"slices"

	"pdpp/internal/rawjson"
	"pdpp/internal/rsclient"
)

// position is where the search of one member is in that member's list of hits.
type position struct {
	*Member
	cursor string // of its page in use; "" for its first
	first  int    // the rank of the first hit of that page
	given  int    // hits of that page that were returned, on earlier pages too

	before int // given when this page began
	page   rsclient.Page
	next   string // the cursor of the page after the one in use; "" when there is none
	more   bool   // there is more after the page in use
}

// take receives the page in use. Rows that are not objects are not hits.
func (l *position) take(page rsclient.Page, pages bool) {
	page.Rows = slices.DeleteFunc(page.Rows, func(row []byte) bool { return rawjson.KindOf(row) != rawjson.KindObject })
	l.page = page
	if l.next = page.NextCursor; !pages {
		l.next = ""
	}
	l.more = l.next != "" || page.HasMore != nil && *page.HasMore
	l.given = min(l.given, len(page.Rows))
	l.before = l.given
}

// rank returns the rank of the next hit in the list of the member, from 0.
func (l *position) rank() int { return l.first + l.given }

func (l *position) isUsedUp() bool { return l.given == len(l.page.Rows) }

// isOver reports whether no more hits can be read: all were returned, and there is no
// cursor to further ones.
func (l *position) isOver() bool { return l.isUsedUp() && l.next == "" }

// appendHit appends the next hit, with the member it belongs to (PKG-1), and advances.
func (l *position) appendHit(dst []byte) []byte {
	hit := l.page.Rows[l.given]
	l.given++
	return l.appendAttributed(dst, hit)
}

// appendAttributed appends a hit and adds the members about its source that it lacks.
// An empty value counts as missing.
func (m *Member) appendAttributed(dst, hit []byte) []byte {
	source := [...]struct {
		name, value string
		stated      bool
	}{
		{name: "connection_id", value: m.Connection},
		{name: "connector_key", value: m.ConnectorKey},
		{name: "display_name", value: m.DisplayName},
		{name: "grant_id", value: m.GrantID},
	}
	dst = append(dst, '{')
	from := 1 // hit[from:] is not copied yet
	s := rawjson.Scan(hit)
	for name := range s.Members() {
		for i := range source {
			if string(name) != source[i].name {
				continue
			}
			start := s.Offset() - len(s.Key())
			if isEmpty(s.Value()) {
				dst = append(dst, hit[from:start]...)
				from = min(s.Offset()+1, len(hit)-1) // the comma too
			} else {
				source[i].stated = true
			}
		}
	}
	dst = append(dst, hit[from:len(hit)-1]...)
	if dst[len(dst)-1] == ',' { // the last member was left out
		dst = dst[:len(dst)-1]
	}
	w := rawjson.Writer(dst)
	for _, s := range source {
		if !s.stated {
			w.Optional(s.name, s.value)
		}
	}
	return append(w, '}')
}

func isEmpty(v []byte) bool { return rawjson.KindOf(v) == rawjson.KindNull || string(v) == `""` }
