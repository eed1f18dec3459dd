package rs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"slices"

	"pdpp"
	"pdpp/internal/auth"
	"pdpp/internal/grant"
	"pdpp/internal/httpx"
	"pdpp/internal/ingest"
	"pdpp/internal/query"
	"pdpp/internal/rawjson"
	"pdpp/internal/store"
)

// ownerRequest is an authenticated request on an owner route (rs-contract §12).
type ownerRequest struct {
	request
	w        http.ResponseWriter
	store    store.Store // checks the token again in every transaction that writes
	manifest *pdpp.Manifest
	conn     pdpp.Connection
	binding  *store.Binding // nil if the route has no stream
}

// write returns the handler of an owner route: it needs an owner token and a connection of
// that owner. The snapshot ends before the body is read.
func (s *Server) write(answer func(*ownerRequest) error, params ...string) handler {
	return func(w http.ResponseWriter, r *http.Request, m match) error {
		who, ctx, leave, err := s.enter(r, httpx.RequestTimeout)
		if err != nil {
			return err
		}
		defer leave()
		q := &ownerRequest{w: w, store: ownerStore{s.Store, s.Auth, who.Bearer}}
		q.request = request{server: s, http: r, ctx: ctx, match: m, now: s.Clock(), hold: httpx.HoldOf(ctx)}
		err = s.view(ctx, func(v store.View) error {
			if err := q.authenticate(v, who); err != nil {
				return err
			}
			return q.openOwner(v, params...)
		})
		if err != nil {
			q.countRefusal(who, err)
			return err
		}
		return answer(q)
	}
}

// ownerStore is the store for the writes of one owner token. A body can take long to
// arrive, and a delete has many transactions, so each transaction checks that the token
// is still valid (I-11).
type ownerStore struct {
	store.Store
	auth   *auth.Authenticator
	bearer auth.Bearer
}

// Update implements store.Store.
func (s ownerStore) Update(ctx context.Context, fn func(store.Tx) error) error {
	return s.Store.Update(ctx, s.checked(fn))
}

// Bulk implements store.Store.
func (s ownerStore) Bulk(ctx context.Context, fn func(store.Tx) error) error {
	return s.Store.Bulk(ctx, s.checked(fn))
}

// checked returns a function that checks the token and then calls fn.
func (s ownerStore) checked(fn func(store.Tx) error) func(store.Tx) error {
	return func(tx store.Tx) error {
		p, err := s.auth.Token(tx, s.bearer)
		if err != nil {
			return err
		}
		if p.Kind != pdpp.TokenOwner {
			return notOwner()
		}
		return fn(tx)
	}
}

func notOwner() error { return pdpp.Errorf(pdpp.CodePermission, "This route is for owner tokens.") }

// openOwner checks the token kind and finds the binding of the path's stream, or only the
// connection on routes without a stream (I-1, I-2). Streams and connections that are out
// of reach are answered as on the read routes (C-23).
func (q *ownerRequest) openOwner(v store.View, params ...string) error {
	if !q.reach.Owner {
		return notOwner()
	}
	if err := q.parse(params...); err != nil {
		return err
	}
	rows, err := q.rows()
	if err != nil {
		return err
	}
	if q.manifest, q.conn, err = q.writeTarget(rows); err != nil {
		return err
	}
	if q.vars.get("stream") != "" {
		q.binding, err = v.Binding(q.reach.Subject, q.conn, rows[0].Stream)
	}
	return err
}

// writeTarget returns the connection that the request writes to, and its manifest. If a
// connector has only one connection, its name is enough (I-1), because collectors of the
// public implementation may not know the connection id. A delete always needs the
// connection.
func (q *ownerRequest) writeTarget(rows []grant.Row) (m *pdpp.Manifest, conn pdpp.Connection, err error) {
	m, here := rows[0].Manifest, rows[0].Connections
	named := (q.sel.Connector != "" || q.vars.get("connector") != "") && q.http.Method != http.MethodDelete
	switch {
	case q.sel.Connection != "" || named && len(here) == 1:
		return m, here[0], nil
	case named:
		return m, conn, q.ambiguous(pdpp.CodeAmbiguousConnection, "This source has several connections.", rows[:1], "")
	}
	return m, conn, pdpp.BadParam("connection_id", "Send connection_id, which is required here.")
}

// rows returns the rows that the path and the selectors name.
func (q *ownerRequest) rows() ([]grant.Row, error) {
	if stream := q.vars.get("stream"); stream != "" {
		return q.reach.Stream(stream, q.sel)
	}
	if _, err := q.reach.Select(q.sel); err != nil {
		return nil, err
	}
	connector := cmp.Or(pdpp.ConnectorKey(q.vars.get("connector")), q.sel.Connector)
	return q.reach.Select(grant.Selector{Connection: q.sel.Connection, Connector: connector})
}

// ingestRecords answers POST /v1/ingest/{stream} (I-1 to I-8).
func ingestRecords(q *ownerRequest) error {
	if t, _, _ := mime.ParseMediaType(q.http.Header.Get("Content-Type")); t != "application/x-ndjson" {
		return pdpp.Errorf(pdpp.CodeUnsupportedMediaType, "Send records as application/x-ndjson.")
	}
	if q.http.ContentLength > ingest.MaxBatchBytes {
		return pdpp.Errorf(pdpp.CodeResourceLimit, "One call takes at most %d MiB. Nothing was stored. Send it in parts.", ingest.MaxBatchBytes>>20)
	}
	body, err := q.heldBody()
	if err != nil {
		return err
	}
	result, err := ingest.Batch(q.ctx, q.store, q.binding, body, q.now)
	if err != nil {
		return staleError(err)
	}
	return q.sendJSON(append(result.AppendJSON(nil), '\n'))
}

// deleteRecord answers DELETE …/records/{id} (I-9).
func deleteRecord(q *ownerRequest) error {
	doc := store.Document{Delete: true, ID: pdpp.RecordID(q.vars.get("id")), EmittedAt: q.now}
	err := q.store.Update(q.ctx, func(tx store.Tx) error {
		_, err := tx.Ingest(q.binding, []store.Document{doc}, q.now)
		return err
	})
	return q.sendEmpty(deleteFailure(err, 0))
}

// deleteRecords answers DELETE …/records (I-9).
func deleteRecords(q *ownerRequest) error {
	var begin query.Mark // records ingested after it are kept
	err := q.server.view(q.ctx, func(v store.View) (err error) {
		begin, err = v.Horizon(q.reach.Subject)
		return err
	})
	if err != nil {
		return err
	}
	total := int64(0)
	for deleted := int64(1); deleted > 0; total += deleted {
		err := q.store.Bulk(q.ctx, func(tx store.Tx) (err error) {
			deleted, err = tx.DeleteAll(q.binding, begin.Number, q.now)
			return err
		})
		if err != nil {
			return deleteFailure(err, total)
		}
	}
	return q.sendEmpty(nil)
}

// deleteFailure adds to an error how much of the delete was done (I-9).
func deleteFailure(err error, deleted int64) error {
	if deleted == 0 {
		return pdpp.AddMessage(staleError(err), "Nothing was changed.")
	}
	return pdpp.AddMessage(staleError(err), fmt.Sprintf("%d records were deleted before the failure.", deleted))
}

// staleError returns the 503 for a write during which the manifest changed, and any other
// error unchanged.
func staleError(err error) error {
	if !errors.Is(err, store.ErrStale) {
		return err
	}
	return &pdpp.Error{
		Code: pdpp.CodeUnavailable, RetryAfter: 1, Op: "ingest", Err: err,
		Message: "The manifest of this source changed during the call. Repeat the call.",
	}
}

const maxState = 1 << 20 // I-10

// checkStateParams refuses grant_id. State belongs to a connection. A collector run that
// covers only the data of one grant must not change it.
func (q *ownerRequest) checkStateParams() error {
	if q.params.Has("grant_id") {
		return pdpp.BadParam("grant_id", "State is kept for a connection, not for a grant. Leave grant_id out to use the connection's.")
	}
	return nil
}

// getState answers GET /v1/state/{connector} (I-10).
func getState(q *ownerRequest) error {
	if err := q.checkStateParams(); err != nil {
		return err
	}
	var st store.State
	err := q.server.view(q.ctx, func(v store.View) (err error) {
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
	if err := q.checkStateParams(); err != nil {
		return err
	}
	values, err := q.readState()
	if err != nil {
		return err
	}
	for stream := range values {
		if q.manifest.Stream(stream) == nil {
			return &pdpp.Error{Code: pdpp.CodeNotFound, Stream: stream, Message: "The source declares no such stream."}
		}
	}
	var st store.State
	err = q.store.Update(q.ctx, func(tx store.Tx) (err error) {
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

// readState reads the body of PUT /v1/state/{connector} (I-10): the values by stream.
func (q *ownerRequest) readState() (map[string]json.RawMessage, error) {
	body, err := q.heldBody()
	if err != nil {
		return nil, err
	}
	raw, err := io.ReadAll(io.LimitReader(body, maxState+1))
	if pdpp.CodeOf(err) == pdpp.CodeUnavailable {
		return nil, err
	}
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
	b := rawjson.Writer(`{"object":"stream_state"`)
	b.Text("connector_key", string(q.conn.Connector))
	b.Text("connection_id", string(q.conn.ID))
	b.OpenObject("state")
	for _, s := range slices.Sorted(maps.Keys(st.Values)) {
		b.Member(s, st.Values[s])
	}
	b.End("}")
	if st.UpdatedAt.IsZero() {
		b.Null("updated_at")
	} else {
		writeTime(&b, "updated_at", st.UpdatedAt)
	}
	b.End("}\n")
	return q.sendJSON(b)
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
