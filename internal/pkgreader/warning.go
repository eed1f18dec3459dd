package pkgreader

import (
	"bytes"
	"slices"

	"pdpp"
	"pdpp/internal/rawjson"
	"pdpp/internal/rsclient"
)

// maxWarnings bounds the warnings of members that an answer repeats.
const maxWarnings = 50

// warnings are the warnings of a merged answer: its own, then those of its members,
// each once (C-32).
type warnings struct {
	own     [][]byte
	members [][]byte
}

// absence is a member that failed and is missing in the answer.
type absence struct {
	*Member
	code   pdpp.Code
	status int // 0 if there was no answer
}

func absent(m *Member, e *rsclient.Error) absence { return absence{m, e.Code, e.Status} }

// missing warns that a source is missing in the answer (H-93).
func (w *warnings) missing(a absence) {
	o := rawjson.Writer("{")
	o.Text("code", "source_unavailable")
	o.Text("message", "This source did not answer. Its results are missing here.")
	o.Optional("connection_id", a.Connection)
	o.OpenObject("detail")
	o.Optional("connector_key", a.ConnectorKey)
	o.Optional("grant_id", a.GrantID)
	o.OpenObject("error")
	o.Optional("code", string(a.code))
	if a.status != 0 {
		o.Number("status", a.status)
	}
	o.End("}}}")
	w.own = append(w.own, o)
}

// notSearched warns that a stream was requested and not searched (H-90).
func (w *warnings) notSearched(stream string) {
	o := rawjson.Writer("{")
	o.Text("code", "stream_not_granted")
	o.Text("message", "No usable source of this package grants this stream; it was not searched.")
	o.Text("param", "streams")
	o.OpenObject("detail")
	o.Optional("stream", stream)
	o.End("}}")
	w.own = append(w.own, o)
}

// noCursor warns that there are more hits, but no cursor that continues (H-91).
func (w *warnings) noCursor() {
	o := rawjson.Writer("{")
	o.Text("code", "cursor_unavailable")
	o.Text("message", "There are more hits, but no cursor that covers all sources. Search one source at a time with connection_id, and page through it.")
	o.Text("param", "connection_id")
	o.End("}")
	w.own = append(w.own, o)
}

// pageLimited warns that a page ended because of its size (REC-40).
func (w *warnings) pageLimited(pageBytes, returned, limit int) {
	o := rawjson.Writer("{")
	o.Text("code", "page_bytes_limited")
	o.Text("param", "Prefer")
	o.Text("message", "The page reached its size limit. Continue with the cursor.")
	o.OpenObject("detail")
	o.Number("page_bytes", pageBytes)
	o.Number("returned", returned)
	o.Number("limit", limit)
	o.End("}}")
	w.own = append(w.own, o)
}

// repeat adds the warnings of a member, except the one about the size of its page,
// which is not true of the merged page.
func (w *warnings) repeat(list []rsclient.Warning) {
	for _, one := range list {
		isKnown := slices.ContainsFunc(w.members, func(known []byte) bool { return bytes.Equal(known, one.Raw) })
		if one.Code != "page_bytes_limited" && !isKnown && len(w.members) < maxWarnings {
			w.members = append(w.members, one.Raw)
		}
	}
}

func (w *warnings) json() []byte {
	list := rawjson.Writer("[")
	for _, one := range slices.Concat(w.own, w.members) {
		list.Raw(one)
	}
	return append(list, ']')
}
