package rs

import (
	"net/http"
	"strconv"

	"pdpp/internal/httpx"
	"pdpp/internal/rawjson"
)

// isPublic names the paths that need no token and that any page may read (H-56).
func isPublic(path string) bool {
	return path == "/" || path == "/.well-known/oauth-protected-resource"
}

// discoveryIndex answers GET / (H-134).
func (s *Server) discoveryIndex() handler {
	return func(w http.ResponseWriter, r *http.Request, _ vars) error {
		base := s.Edge.Base(r)
		b := appendText(nil, `{"object":"pdpp_discovery_index","resource_name":`)
		b = rawjson.AppendString(b, s.ProviderName)
		b = appendText(b, `,"links":{"well_known":`)
		b = rawjson.AppendString(b, base+"/.well-known/oauth-protected-resource")
		b = appendMember(b, "schema", base+"/v1/schema")
		b = appendMember(b, "core_query_base", base+"/v1")
		return sendPublic(w, r, appendText(b, "}}\n"))
	}
}

// protectedResource answers the metadata document of RFC 9728 (H-130). It names
// what works and nothing else (C-46).
func (s *Server) protectedResource() handler {
	return func(w http.ResponseWriter, r *http.Request, _ vars) error {
		base := s.Edge.Base(r)
		b := appendText(nil, `{"resource":`)
		b = rawjson.AppendString(b, base)
		b = appendMember(b, "resource_name", s.ProviderName)
		b = appendText(b, `,"bearer_methods_supported":["header"],"scopes_supported":["pdpp:read"],"pdpp_core_query_base":`)
		b = rawjson.AppendString(b, base+"/v1")
		b = appendText(b, `,"pdpp_token_kinds_supported":["owner","client"],"pdpp_self_export_supported":true,`+
			`"pdpp_discovery_hints":{"schema_endpoint":"/v1/schema","query_base":"/v1","streams_endpoint_template":"/v1/streams/{stream}",`+
			`"field_window":{"endpoint_template":"/v1/streams/{stream}/records/{id}/field-window"},`+
			`"changes_since_bootstrap":"beginning"},`+
			`"capabilities":{}}`+"\n")
		return sendPublic(w, r, b)
	}
}

func sendPublic(w http.ResponseWriter, r *http.Request, body []byte) error {
	h := w.Header()
	httpx.SetJSON(h)
	h["Cache-Control"] = []string{"public, max-age=60"}
	h["Vary"] = []string{"Host"}
	h["Content-Length"] = []string{strconv.Itoa(len(body))} // on HEAD too (C-1)
	if r.Method == http.MethodHead {
		return nil
	}
	_, err := w.Write(body)
	return err
}
