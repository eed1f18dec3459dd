package mcphttp

import (
	"context"
	"log/slog"
	"net/http"

	"pdpp/internal/httpx"
	"pdpp/internal/mcp"
	"pdpp/internal/mcpserve"
	"pdpp/internal/pkgreader"
	"pdpp/internal/rs"
	"pdpp/internal/rsclient"
)

// server is the surface for one caller. note is where a call is noted; nil for a line
// of the log.
func (e *Endpoint) server(r *http.Request, caller *rs.Caller, note func(context.Context, ...slog.Attr)) *mcpserve.Server {
	base := e.Edge.Base(r)
	identity := e.identities.Get(base, func(base string) *mcpserve.Identity {
		return mcpserve.NewIdentity(base, e.Version, base+httpx.IconPath)
	})
	return mcpserve.New(mcpserve.Config{
		Surface:  &mcp.Surface{RS: e.reader(base, caller), Log: e.Log},
		Identity: identity, RequestID: httpx.RequestID(r.Context()), Note: note, Log: e.Log, Now: e.Clock,
	})
}

// reader reads with the caller's grant, or with those of its package (H-85).
func (e *Endpoint) reader(base string, caller *rs.Caller) rsclient.Reader {
	if caller.Package == "" {
		return e.client(base, caller)
	}
	members := make([]pkgreader.Member, len(caller.Members))
	for i, m := range caller.Members {
		members[i] = pkgreader.Member{
			GrantID: string(m.GrantID), Connection: string(m.Connection), ConnectorKey: string(m.ConnectorKey),
			DisplayName: m.DisplayName, Streams: m.Streams, Unusable: string(m.Fault),
		}
		if m.Caller != nil {
			members[i].Reader = e.client(base, m.Caller)
		}
	}
	return &pkgreader.Package{
		ID: string(caller.Package), URL: base, Members: members, Sealer: e.Cursors, Memory: e.memory, Clock: e.Clock,
		RequestID: httpx.RequestID,
	}
}

// client reads /v1 in memory. The Request-Id of its reads is that of the request
// (H-63): it comes with the context.
func (e *Endpoint) client(base string, caller *rs.Caller) rsclient.Reader {
	if e.Around != nil {
		return rsclient.NewInside(base, e.Around(caller))
	}
	return rsclient.NewInside(base, caller)
}
