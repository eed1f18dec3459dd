package rs

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"mime"
	"net/http"
	"slices"

	"pdpp"
	"pdpp/internal/grant"
	"pdpp/internal/httpx"
	"pdpp/internal/ingest"
	"pdpp/internal/rawjson"
	"pdpp/internal/store"
)

// ownerRequest is an authenticated request on an owner route (rs-contract §12).
type ownerRequest struct {
	request
	ctx     context.Context
	w       http.ResponseWriter
	catalog *pdpp.Catalog
	conn    pdpp.Connection
}

// write makes the handler of an owner route: an owner token and a connection of
// that owner. The snapshot ends before the body is read.
func (s *Server) write(answer func(*ownerRequest) error) handler {
	return func(w http.ResponseWriter, r *http.Request, vars vars) error {
		token, err := bearer(r)
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(r.Context(), writeTimeout)
		defer cancel()
		q := &ownerRequest{ctx: ctx, w: w}
		q.request = request{server: s, http: r, vars: vars, now: s.Clock()}
		var release func()
		err = s.Store.View(ctx, func(v store.View) error {
			release, err = q.open(v, token, nil)
			if err != nil {
				return err
			}
			return q.openOwner(v)
		})
		if release != nil {
			defer release()
		}
		if err != nil {
			return storageError(err)
		}
		return storageError(answer(q))
	}
}

// openOwner checks the token kind and finds the connection (I-1, I-2).
func (q *ownerRequest) openOwner(v store.View) error {
	if !q.reach.Owner {
		return pdpp.Errorf(pdpp.CodePermission, "This route is for owner tokens.")
	}
	if q.sel.Connection == "" {
		return pdpp.BadParam("connection_id", "connection_id is required here.")
	}
	var err error
	if q.catalog, err = v.Catalog(q.reach.Subject); err != nil {
		return err
	}
	conn, ok := q.catalog.Connection(q.sel.Connection)
	if !ok || q.sel.Connector != "" && q.sel.Connector != conn.Connector {
		return pdpp.Errorf(pdpp.CodeConnectionNotFound, "There is no such connection.")
	}
	q.conn = conn
	return nil
}

// binding finds the stream of the path on the request's connection.
func (q *ownerRequest) binding() (b *store.Binding, err error) {
	if _, err := q.reach.Stream(q.vars["stream"], grant.Selector{}); err != nil {
		return nil, err
	}
	m := q.catalog.Manifest(q.conn.Connector)
	if m == nil || m.Stream(q.vars["stream"]) == nil {
		return nil, pdpp.Errorf(pdpp.CodeNotFound, "The source of this connection declares no such stream.")
	}
	err = q.server.Store.View(q.ctx, func(v store.View) error {
		b, err = v.Binding(q.reach.Subject, q.conn, m.Stream(q.vars["stream"]))
		return err
	})
	return b, err
}

// ingestRecords answers POST /v1/ingest/{stream} (I-1 to I-8).
func ingestRecords(q *ownerRequest) error {
	b, err := q.binding()
	if err != nil {
		return err
	}
	if t, _, _ := mime.ParseMediaType(q.http.Header.Get("Content-Type")); t != "application/x-ndjson" {
		return pdpp.Errorf(pdpp.CodeUnsupportedMediaType, "Send records as application/x-ndjson.")
	}
	result, err := ingest.Batch(q.ctx, q.server.Store, b, q.http.Body, q.now)
	if err != nil {
		return staleError(err)
	}
	return q.sendJSON(append(result.AppendJSON(nil), '\n'))
}

// deleteRecord answers DELETE …/records/{id} (I-9).
func deleteRecord(q *ownerRequest) error {
	b, err := q.binding()
	if err != nil {
		return err
	}
	doc := store.Document{Delete: true, ID: pdpp.RecordID(q.vars["id"]), EmittedAt: q.now}
	err = q.server.Store.Update(q.ctx, func(tx store.Tx) error {
		_, err := tx.Ingest(b, []store.Document{doc}, q.now)
		return err
	})
	return q.sendEmpty(staleError(err))
}

// deleteRecords answers DELETE …/records (I-9).
func deleteRecords(q *ownerRequest) error {
	b, err := q.binding()
	if err != nil {
		return err
	}
	err = q.server.Store.Update(q.ctx, func(tx store.Tx) error {
		_, err := tx.DeleteAll(b, q.now)
		return err
	})
	return q.sendEmpty(staleError(err))
}

// staleError asks the caller to repeat a write that met a new declaration.
func staleError(err error) error {
	if !errors.Is(err, store.ErrStale) {
		return err
	}
	return &pdpp.Error{
		Code: pdpp.CodeUnavailable, RetryAfter: 1, Op: "ingest", Err: err,
		Message: "The source's declaration changed during the call; nothing was stored. Send it again.",
	}
}

const maxState = 1 << 20 // I-10

// getState answers GET /v1/state/{connector} (I-10).
func getState(q *ownerRequest) error {
	if err := q.checkConnector(); err != nil {
		return err
	}
	var st store.State
	err := q.server.Store.View(q.ctx, func(v store.View) (err error) {
		st, err = v.State(q.reach.Subject, q.conn.ID)
		return err
	})
	if err != nil {
		return err
	}
	return q.sendState(st)
}

// putState answers PUT /v1/state/{connector}.
func putState(q *ownerRequest) error {
	if err := q.checkConnector(); err != nil {
		return err
	}
	values, err := q.readState()
	if err != nil {
		return err
	}
	m := q.catalog.Manifest(q.conn.Connector)
	for stream := range values {
		if m == nil || m.Stream(stream) == nil {
			return &pdpp.Error{Code: pdpp.CodeNotFound, Stream: stream, Message: "The source declares no such stream."}
		}
	}
	var st store.State
	err = q.server.Store.Update(q.ctx, func(tx store.Tx) (err error) {
		if err := tx.PutState(q.reach.Subject, q.conn.ID, values, q.now); err != nil {
			return err
		}
		st, err = tx.State(q.reach.Subject, q.conn.ID)
		return err
	})
	if err != nil {
		return err
	}
	return q.sendState(st)
}

func (q *ownerRequest) checkConnector() error {
	if string(q.conn.Connector) != q.vars["connector"] {
		return pdpp.Errorf(pdpp.CodeConnectionNotFound, "There is no such connection.")
	}
	return nil
}

func (q *ownerRequest) readState() (map[string]json.RawMessage, error) {
	raw, err := io.ReadAll(io.LimitReader(q.http.Body, maxState+1))
	if err != nil {
		return nil, pdpp.Errorf(pdpp.CodeInvalidRequest, "The body could not be read.")
	}
	if len(raw) > maxState {
		return nil, pdpp.Errorf(pdpp.CodeResourceLimit, "State is at most 1 MiB.")
	}
	bad := pdpp.Errorf(pdpp.CodeInvalidRequest, `The body is {"state":{"<stream>":<any JSON value>}}.`)
	compact, err := rawjson.Compact(nil, raw)
	if err != nil || rawjson.KindOf(compact) != rawjson.KindObject {
		return nil, bad
	}
	state, ok := rawjson.Get(compact, "state")
	if !ok || rawjson.KindOf(state) != rawjson.KindObject {
		return nil, bad
	}
	values := map[string]json.RawMessage{}
	for name, value := range rawjson.Members(state) {
		values[string(name)] = json.RawMessage(value)
	}
	return values, nil
}

func (q *ownerRequest) sendState(st store.State) error {
	b := appendText(nil, `{"object":"stream_state"`)
	b = appendMember(b, "connector_key", string(q.conn.Connector))
	b = appendMember(b, "connection_id", string(q.conn.ID))
	b = appendText(b, `,"state":{`)
	first := true
	for _, s := range slices.Sorted(maps.Keys(st.Values)) {
		if !first {
			b = append(b, ',')
		}
		first = false
		b = rawjson.AppendString(b, s)
		b = append(b, ':')
		b = append(b, st.Values[s]...)
	}
	b = appendText(b, `},"updated_at":`)
	if st.UpdatedAt.IsZero() {
		b = appendText(b, "null")
	} else {
		b = appendTime(b, st.UpdatedAt)
	}
	return q.sendJSON(appendText(b, "}\n"))
}

func (q *ownerRequest) sendJSON(body []byte) error {
	q.body = body
	return q.send(q.w)
}

func (q *ownerRequest) sendEmpty(err error) error {
	if err != nil {
		return err
	}
	httpx.SetJSON(q.w.Header())
	q.w.Header().Del("Content-Type")
	q.w.WriteHeader(http.StatusNoContent)
	return nil
}
