package rs

import (
	"log/slog"
	"net/http"
	"time"

	"pdpp/internal/auth"
	"pdpp/internal/blobfile"
	"pdpp/internal/httpx"
	"pdpp/internal/query"
	"pdpp/internal/store"
)

// Config configures a resource server.
type Config struct {
	Store   store.Store
	Blobs   *blobfile.Store
	Cursors *query.Sealer
	Auth    *auth.Authenticator // records reads, too
	Limiter *httpx.Limiter      // per token (H-67)
	Rate    httpx.Rate          // per token; 0 also removes the limit on concurrent reads
	Log     *slog.Logger
	Clock   func() time.Time
}

// Server serves /v1, to requests from outside and to reads inside the process (H-53). It
// is safe for concurrent use.
type Server struct {
	Config
	http.Handler
	turns  fairShare
	routes []route
}

// New returns a resource server.
func New(cfg Config) *Server {
	s := &Server{Config: cfg, turns: newFairShare(cfg.Rate)}
	s.routes, s.Handler = s.table(), httpx.Handler(s.route)
	return s
}

// table lists every path with its methods.
func (s *Server) table() []route {
	return []route{
		{"/v1/connectors", methods{"GET": s.read(cheap, listConnectors)}},
		{"/v1/streams", methods{"GET": s.read(cheap, listStreams)}},
		{"/v1/streams/{stream}", methods{"GET": s.read(cheap, streamMetadata)}},
		{"/v1/schema", methods{"GET": s.read(cheap, schema, "view", "detail", "stream")}},
		{"/v1/streams/{stream}/records", methods{
			"GET":    s.read(unlessPlain, listRecords, "limit", "cursor", "order", "sort", "count", "fields", "view", "filter", "expand", "expand_limit", "changes_since"),
			"DELETE": s.write(deleteRecords),
		}},
		{"/v1/streams/{stream}/records/{id}", methods{
			"GET":    s.read(unlessPlain, getRecord, "fields", "view", "expand", "expand_limit"),
			"DELETE": s.write(deleteRecord),
		}},
		{"/v1/streams/{stream}/records/{id}/field-window", methods{"GET": s.read(cheap, fieldWindow, query.WindowParams...)}},
		{"/v1/streams/{stream}/aggregate", methods{"GET": s.read(expensive, aggregate, query.AggregateParams...)}},
		{"/v1/search", methods{"GET": s.read(expensive, search, query.SearchParams...)}},
		{"/v1/blobs", methods{"POST": s.write(postBlob, "mime_type", "stream", "record_key", "run_id")}},
		{"/v1/blobs/{blob_id}", methods{"GET": s.read(cheap, getBlob)}},
		{"/v1/ingest/{stream}", methods{"POST": s.write(ingestRecords, "run_id")}},
		{"/v1/state/{connector}", methods{"GET": s.write(getState, "grant_id", "run_id"), "PUT": s.write(putState, "grant_id", "run_id")}},
	}
}
