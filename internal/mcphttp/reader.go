package mcphttp

import (
	"context"
	"log/slog"
	"net/http"

	"pdpp/internal/auth"
	"pdpp/internal/httpx"
	"pdpp/internal/mcp"
	"pdpp/internal/mcpserve"
	"pdpp/internal/pkgreader"
	"pdpp/internal/rsclient"
)

// server returns the MCP server for one request. note adds facts about a call to the log
// line of the request; if it is nil, each call has a log line of its own.
func (e *Endpoint) server(r *http.Request, id *auth.Identity, note func(context.Context, ...slog.Attr)) *mcpserve.Server {
	base := e.Edge.Base(r)
	identity := e.identities.Get(base, func(base string) *mcpserve.Identity {
		return mcpserve.NewIdentity(base, e.Version, base+httpx.IconPath)
	})
	return mcpserve.New(mcpserve.Config{
		Surface:  &mcp.Surface{RS: e.reader(base, id), Log: e.Log},
		Identity: identity, RequestID: httpx.RequestID(r.Context()), Note: note, Log: e.Log, Now: e.Clock,
	})
}

// reader returns a reader with the grant of the token, or with those of its package
// (H-85).
func (e *Endpoint) reader(base string, id *auth.Identity) rsclient.Reader {
	if id.Package == nil {
		return e.client(base, id.Caller)
	}
	members := make([]pkgreader.Member, len(id.Members))
	for i, m := range id.Members {
		members[i] = pkgreader.Member{
			GrantID: string(m.GrantID), Connection: string(m.Connection), ConnectorKey: string(m.ConnectorKey),
			DisplayName: m.DisplayName, Streams: m.Streams, Unusable: m.Fault,
		}
		if m.Caller != nil {
			members[i].Reader = e.client(base, m.Caller)
		}
	}
	return &pkgreader.Package{
		ID: string(id.Package.ID), URL: base, Members: members, Sealer: e.Cursors, Memory: e.memory, Clock: e.Clock,
		RequestID: httpx.RequestID,
	}
}

// client returns a client of /v1 in memory. Its reads have the Request-Id of the request,
// which is in the context (H-63).
func (e *Endpoint) client(base string, caller *auth.Caller) rsclient.Reader {
	return rsclient.NewInside(base, e.Transport(caller))
}
