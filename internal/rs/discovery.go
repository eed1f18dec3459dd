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
			`"aggregate":{"endpoint_template":"/v1/streams/{stream}/aggregate"},`+
			`"field_window":{"endpoint_template":"/v1/streams/{stream}/records/{id}/field-window"},`+
			`"search":{"endpoint":"/v1/search","scope_param":"streams[]","filter_requires_single_stream":true},`+
			`"changes_since_bootstrap":"beginning","blob_indirection":"data.blob_ref.fetch_url"},`+
			`"capabilities":{`+lexicalRetrieval+`}}`+"\n")
		return sendPublic(w, r, b)
	}
}

// lexicalRetrieval is the capability block of search (C-46). The index is brought up
// to date within the transaction that changes a manifest, so it is always built.
const lexicalRetrieval = `"lexical_retrieval":{"supported":true,"endpoint":"/v1/search","cross_stream":true,"snippets":true,` +
	`"default_limit":25,"max_limit":100,"cursor_supported":true,"count_supported":true,"evidence_supported":true,"index_state":"built",` +
	`"score":{"supported":true,"kind":"bm25","order":"lower_is_better","value_semantics":"implementation_relative"}}`

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
