package as

import (
	"slices"
	"strings"
)

// The audiences of tokens (H-127), in the order in which they are stored.
const (
	audienceREST      = "rest"
	audienceMCP       = "mcp"
	audienceDeveloper = "mcp-developer"
)

// resourcePaths are the resources below R.
var resourcePaths = []struct{ path, audience string }{
	{"", audienceREST}, {"/mcp", audienceMCP}, {"/mcp/developer", audienceDeveloper},
}

var errInvalidTarget = refusal("invalid_target", "A resource is not one of this server, or was not authorized. Use one of protected_resources in the metadata of this server.")

// audiences returns the audiences that resource indicators name (H-142, RFC 8707), each once
// in a fixed order. isOwn reports whether an origin is one of this server. It returns nil
// when there is no indicator.
func audiences(resources []string, isOwn func(origin string) bool) ([]string, error) {
	named := map[string]bool{}
	for _, resource := range resources {
		if resource == "" {
			continue
		}
		audience, ok := audienceOf(resource, isOwn)
		if !ok {
			return nil, errInvalidTarget
		}
		named[audience] = true
	}
	var out []string
	for _, r := range resourcePaths {
		if named[r.audience] {
			out = append(out, r.audience)
		}
	}
	return out, nil
}

// audienceOf returns the audience of one resource. The path must be equal; scheme and host
// are compared by isOwn, which ignores case.
func audienceOf(resource string, isOwn func(string) bool) (string, bool) {
	scheme, rest, ok := strings.Cut(strings.TrimSuffix(resource, "/"), "://")
	if !ok {
		return "", false
	}
	host, path := rest, ""
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		host, path = rest[:i], rest[i:]
	}
	for _, r := range resourcePaths {
		if r.path == path {
			return r.audience, isOwn(scheme + "://" + host)
		}
	}
	return "", false
}

// narrowed returns the audiences of a token: the requested ones, which must be authorized, or
// all authorized ones when none are requested.
func narrowed(authorized, requested []string) ([]string, error) {
	if len(requested) == 0 {
		return authorized, nil
	}
	for _, a := range requested {
		if !slices.Contains(authorized, a) {
			return nil, errInvalidTarget
		}
	}
	return requested, nil
}
