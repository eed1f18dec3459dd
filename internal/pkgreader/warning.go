package pkgreader

import (
	"bytes"
	"slices"

	"pdpp"
	"pdpp/internal/rsclient"
)

// Most warnings of members that an answer repeats.
const maxWarnings = 50

// warnings are those of a merged answer: its own, then those of its members, each
// once (C-32).
type warnings struct {
	own     [][]byte
	members [][]byte
}

// absence is a member that failed and is not in the answer.
type absence struct {
	*Member
	code   pdpp.Code
	status int // 0: there was no answer
}

func absent(m *Member, e *rsclient.Error) absence { return absence{m, e.Code, e.Status} }

// missing warns that a source is not in the answer (H-93).
func (w *warnings) missing(a absence) {
	var why, detail, o object
	why.text("code", string(a.code))
	if a.status != 0 {
		why.int("status", a.status)
	}
	detail.text("connector_key", a.ConnectorKey)
	detail.text("grant_id", a.GrantID)
	detail.raw("error", why.close())
	o.text("code", "source_unavailable")
	o.text("message", "This source did not answer; what it has is missing here.")
	o.text("connection_id", a.Connection)
	o.raw("detail", detail.close())
	w.own = append(w.own, o.close())
}

// notSearched warns that a stream was asked for in vain (H-90).
func (w *warnings) notSearched(stream string) {
	var detail, o object
	detail.text("stream", stream)
	o.text("code", "stream_not_granted")
	o.text("message", "No usable source of this package grants this stream; it was not searched.")
	o.text("param", "streams")
	o.raw("detail", detail.close())
	w.own = append(w.own, o.close())
}

// noCursor warns that there is more and no cursor leads there (H-91).
func (w *warnings) noCursor() {
	var o object
	o.text("code", "cursor_unavailable")
	o.text("message", "There is more, but no cursor over all sources. Narrow by connection_id and page through one source at a time.")
	o.text("param", "connection_id")
	w.own = append(w.own, o.close())
}

// pageLimited warns that a page ended by its size (REC-40).
func (w *warnings) pageLimited(pageBytes, returned, limit int) {
	var detail, o object
	detail.int("page_bytes", pageBytes)
	detail.int("returned", returned)
	detail.int("limit", limit)
	o.text("code", "page_bytes_limited")
	o.text("param", "Prefer")
	o.text("message", "The page ended early to stay within its size; go on with the cursor.")
	o.raw("detail", detail.close())
	w.own = append(w.own, o.close())
}

// repeat takes over what a member warns of. That its own page ended by its size says
// nothing about the merged one.
func (w *warnings) repeat(list []rsclient.Warning) {
	for _, one := range list {
		isKnown := slices.ContainsFunc(w.members, func(known []byte) bool { return bytes.Equal(known, one.Raw) })
		if one.Code != "page_bytes_limited" && !isKnown && len(w.members) < maxWarnings {
			w.members = append(w.members, one.Raw)
		}
	}
}

func (w *warnings) json() []byte {
	var list array
	for _, one := range slices.Concat(w.own, w.members) {
		list.add(one)
	}
	return list.close()
}
