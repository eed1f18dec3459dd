package rs

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"pdpp"
	"pdpp/internal/httpx"
)

// methods are the handlers of one path.
type methods map[string]handler

// handler answers a request whose path matched a route.
type handler func(w http.ResponseWriter, r *http.Request, m match) error

// match is the route that a path matched, and the decoded variables of the path.
type match struct {
	pattern string
	vars    vars
}

// vars are the variables of a path. None is empty.
type vars []variable

type variable struct{ name, value string }

// get returns a variable; "" when the path has none of this name.
func (vs vars) get(name string) string {
	for _, v := range vs {
		if v.name == name {
			return v.value
		}
	}
	return ""
}

type route struct {
	pattern string
	methods methods
}

// route dispatches on the escaped path (C-3): segments are decoded once, the path is not
// cleaned, and a trailing slash is significant.
func (s *Server) route(w http.ResponseWriter, r *http.Request) error {
	path := r.URL.EscapedPath()
	for _, rt := range s.routes {
		if !matches(rt.pattern, path) {
			continue
		}
		httpx.SetRoute(r.Context(), rt.pattern)
		method := r.Method
		if method == http.MethodHead {
			method = http.MethodGet
		}
		h, ok := rt.methods[method]
		if !ok {
			return httpx.MethodNotAllowed(rt.methods.allow())(w, r)
		}
		vars, err := decode(capture(rt.pattern, path))
		if err != nil {
			return err
		}
		return h(w, r, match{rt.pattern, vars})
	}
	return httpx.NotFound(w, r)
}

// matches compares a path with a pattern segment by segment.
func matches(pattern, path string) bool {
	for {
		p, patternRest, patternMore := strings.Cut(pattern, "/")
		v, pathRest, pathMore := strings.Cut(path, "/")
		if isVariable := strings.HasPrefix(p, "{") && v != ""; p != v && !isVariable || patternMore != pathMore {
			return false
		}
		if !patternMore {
			return true
		}
		pattern, path = patternRest, pathRest
	}
}

// capture returns the raw values of the variables of a pattern that matches.
func capture(pattern, path string) vars {
	out := make(vars, 0, 2)
	for more := true; more; {
		var p, v string
		p, pattern, more = strings.Cut(pattern, "/")
		v, path, _ = strings.Cut(path, "/")
		if name, ok := strings.CutPrefix(p, "{"); ok {
			out = append(out, variable{strings.TrimSuffix(name, "}"), v})
		}
	}
	return out
}

// decode percent-decodes each variable once (C-3).
func decode(raw vars) (vars, error) {
	for i, v := range raw {
		s, err := url.PathUnescape(v.value)
		if err != nil || !utf8.ValidString(s) || strings.IndexByte(s, 0) >= 0 {
			return nil, pdpp.Errorf(pdpp.CodeInvalidRequest, "A segment of the path is not valid UTF-8 or contains NUL.")
		}
		raw[i].value = s
	}
	return raw, nil
}

func (m methods) allow() string {
	var names []string
	for name := range m {
		names = append(names, name)
		if name == http.MethodGet {
			names = append(names, http.MethodHead)
		}
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}
