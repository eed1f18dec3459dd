package as

import (
	"net/http"
	"strings"

	"pdpp/internal/httpx"
)

// AuthorizePath is the path that browsers open.
const AuthorizePath = "/oauth/authorize"

// The other paths of the server.
const (
	pathPAR      = "/oauth/par"
	pathToken    = "/oauth/token"
	pathDevice   = "/oauth/device_authorization"
	pathRegister = "/oauth/register"
	pathRevoke   = "/oauth/revoke"

	grantsPath = "/grants/"
	revokePath = "/revoke"
)

// Handler returns the handler of /oauth/* and of POST /grants/{id}/revoke. It needs the
// middleware that all routes of the server share.
func (s *Server) Handler() http.Handler {
	routes := map[string]http.Handler{
		AuthorizePath: get(AuthorizePath, s.authorize),
		pathPAR:       post(pathPAR, s.endpoint(s.pushRequest)),
		pathToken:     post(pathToken, s.endpoint(s.token)),
		pathDevice:    post(pathDevice, s.endpoint(s.authorizeDevice)),
		pathRevoke:    post(pathRevoke, s.endpoint(s.revoke)),
	}
	if s.Registration {
		routes[pathRegister] = post(pathRegister, s.endpoint(s.registerClient))
	}
	grants := post(grantsPath+"{id}"+revokePath, s.revokeGrant)
	unknown := httpx.Handler(httpx.NotFound)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		noStore(w.Header())
		r = r.WithContext(httpx.WithAddress(r.Context(), s.Edge.ClientAddr(r)))
		path := r.URL.EscapedPath()
		switch h, ok := routes[path]; {
		case ok:
			h.ServeHTTP(w, r)
		case isRevokePath(path):
			grants.ServeHTTP(w, r)
		default:
			unknown.ServeHTTP(w, r)
		}
	})
}

// isRevokePath reports whether a path is /grants/{id}/revoke.
func isRevokePath(path string) bool {
	id, isGrant := strings.CutPrefix(path, grantsPath)
	id, isRevoke := strings.CutSuffix(id, revokePath)
	return isGrant && isRevoke && id != "" && !strings.Contains(id, "/")
}

// endpoint returns a handler that answers errors as OAuth clients expect them (H-140).
func (s *Server) endpoint(h httpx.Handler) httpx.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if err := h(w, r); err != nil {
			return s.refuse(w, r, err)
		}
		return nil
	}
}

func get(path string, h httpx.Handler) http.Handler  { return method(http.MethodGet, path, h) }
func post(path string, h httpx.Handler) http.Handler { return method(http.MethodPost, path, h) }

// method returns a handler for one method of a path. GET does not allow HEAD here, because
// a GET creates an authorization request.
func method(name, path string, h httpx.Handler) http.Handler {
	refuse := httpx.MethodNotAllowed(name)
	return httpx.Handler(func(w http.ResponseWriter, r *http.Request) error {
		httpx.SetRoute(r.Context(), path)
		if r.Method != name {
			return refuse(w, r)
		}
		return h(w, r)
	})
}

// noStore keeps credentials out of caches (H-140).
func noStore(h http.Header) {
	h.Set("Cache-Control", "no-store")
	h.Set("Pragma", "no-cache")
}
