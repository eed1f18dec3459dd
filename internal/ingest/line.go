package ingest

import (
	"strconv"
	"strings"
	"time"

	"pdpp"
	"pdpp/internal/rawjson"
	"pdpp/internal/store"
)

// maxCursor bounds the value of a STATE as I-10 bounds stored state.
const maxCursor = 1 << 20

// ParseRecord reads one bare line, {"key","data","emitted_at"?,"op"?} (I-4), of the
// stream s. now is the emitted_at of a line without one. The input shares no memory with
// line. Other members are ignored, except that a line that names another stream is
// refused.
//
// emitted_at and op may be null, which means the same as missing. The data of a delete is
// ignored; it may be an object, null or missing.
func ParseRecord(line []byte, s *pdpp.Stream, now time.Time) (store.Input, *Rejection) {
	return parseRecord(new(arena), line, s, now)
}

func parseRecord(a *arena, line []byte, s *pdpp.Stream, now time.Time) (store.Input, *Rejection) {
	obj, bad := a.object(line)
	if bad != nil {
		return store.Input{}, bad
	}
	p := split(obj)
	if name, ok := rawjson.Text(p.stream); ok && string(name) != s.Name {
		return store.Input{}, badRecord("The line names another stream than " + strconv.Quote(s.Name) + ".")
	}
	return p.record(s, now)
}

// messageKind is the kind of a message of H-21.
type messageKind uint8

const (
	recordMessage messageKind = iota
	stateMessage
	otherMessage // of a type that is skipped
)

// message is one line of a collector's output (H-21).
type message struct {
	kind   messageKind
	stream *pdpp.Stream // nil for otherMessage
	input  store.Input  // of a recordMessage
	cursor []byte       // of a stateMessage: compact JSON, opaque
}

// parseMessage reads one line in the envelope of H-21: {"type":"RECORD",…},
// {"type":"STATE",…}, or a message of another type. With a rejection, the stream of the
// message is set when it is known.
func parseMessage(a *arena, line []byte, m *pdpp.Manifest, now time.Time) (message, *Rejection) {
	obj, bad := a.object(line)
	if bad != nil {
		return message{}, bad
	}
	p := split(obj)
	kind, ok := rawjson.Text(p.kind)
	if !ok {
		return message{}, badRecord("The message has no type; for plain records give --stream NAME.")
	}
	msg := message{kind: otherMessage}
	switch string(kind) {
	case "RECORD":
		msg.kind = recordMessage
	case "STATE":
		msg.kind = stateMessage
	default:
		return msg, nil
	}
	name, ok := rawjson.Text(p.stream)
	if !ok {
		return msg, badRecord("The message names no stream.")
	}
	if msg.stream = m.Stream(string(name)); msg.stream == nil {
		return msg, badRecord("The manifest does not declare the stream of the message; it has: " + streamNames(m) + ".")
	}
	if msg.kind == stateMessage {
		msg.cursor, bad = p.state()
	} else {
		msg.input, bad = p.record(msg.stream, now)
	}
	return msg, bad
}

func streamNames(m *pdpp.Manifest) string {
	var names []string
	for _, s := range m.Streams {
		names = append(names, s.Name)
	}
	return strings.Join(names, ", ")
}

// parts are the members of a line that are read, as raw JSON.
type parts struct {
	kind, stream, key, data, emittedAt, op, cursor []byte
}

func split(obj []byte) parts {
	var p parts
	for name, value := range rawjson.Members(obj) {
		switch string(name) {
		case "type":
			p.kind = value
		case "stream":
			p.stream = value
		case "key":
			p.key = value
		case "data":
			p.data = value
		case "emitted_at":
			p.emittedAt = value
		case "op":
			p.op = value
		case "cursor":
			p.cursor = value
		}
	}
	return p
}

// missing reports whether an optional member is missing or null.
func missing(value []byte) bool { return len(value) == 0 || value[0] == 'n' }

func (p *parts) record(s *pdpp.Stream, now time.Time) (store.Input, *Rejection) {
	in := store.Input{EmittedAt: now}
	var bad *Rejection
	if in.Delete, bad = p.isDelete(); bad != nil {
		return in, bad
	}
	if bad := p.checkData(in.Delete); bad != nil {
		return in, bad
	}
	if !missing(p.emittedAt) {
		var ok bool
		if in.EmittedAt, ok = emittedAt(p.emittedAt); !ok {
			return in, badRecord("emitted_at is not a time.")
		}
	}
	if in.ID, bad = identity(s, p.key, p.data); bad != nil {
		return in, bad
	}
	if !in.Delete {
		in.Data = p.data
	}
	return in, nil
}

func (p *parts) isDelete() (bool, *Rejection) {
	if missing(p.op) {
		return false, nil
	}
	op, _ := rawjson.Text(p.op)
	switch string(op) {
	case "upsert":
		return false, nil
	case "delete":
		return true, nil
	}
	return false, badRecord("op is neither upsert nor delete.")
}

var noData = badRecord("The record has no data.")

func (p *parts) checkData(isDelete bool) *Rejection {
	switch kind := rawjson.KindOf(p.data); {
	case kind == rawjson.KindObject, isDelete && missing(p.data):
		return nil
	case kind == rawjson.KindNone:
		return noData
	}
	return badRecord("data is not an object.")
}

// emittedAt reads a time (C-34). With its offset a time can be outside the years of four
// digits; such a time could not be written in an answer (C-33).
func emittedAt(value []byte) (time.Time, bool) {
	text, ok := rawjson.Text(value)
	if !ok {
		return time.Time{}, false
	}
	t, ok := pdpp.ParseTime(string(text))
	return t, ok && t.Year() >= 0 && t.Year() <= 9999
}

func (p *parts) state() ([]byte, *Rejection) {
	switch {
	case len(p.cursor) == 0:
		return nil, badRecord("The STATE has no cursor.")
	case len(p.cursor) > maxCursor:
		return nil, badRecord("The cursor is longer than 1 MiB.")
	}
	return p.cursor, nil
}
