package rs

import (
	"net/http"
	"strconv"
	"strings"

	"pdpp/internal/httpx"
	"pdpp/internal/rawjson"
	"pdpp/internal/store"
)

// mcpPath is the path of the MCP endpoint. A client that knows only the endpoint adds it
// to the path of the metadata document (RFC 9728 §3.1).
const mcpPath = "/mcp"

// isPublic names the paths that need no token and that any page may read (H-56). What
// is missing there is public too, so that a page can see that it is missing.
func isPublic(path string) bool {
	return path == "/" || path == httpx.IconPath || strings.HasPrefix(path, "/.well-known/")
}

// documents are the discovery documents of one R. They name what works and nothing
// else (C-46, H-135).
type documents struct {
	index, resource, mcp document

	rebuilding document // resource, while records are indexed anew
}

// document is a body with its Content-Length.
type document struct {
	body   []byte
	length []string
}

func newDocument(body []byte) document {
	return document{body: body, length: []string{strconv.Itoa(len(body))}}
}

func (s *Server) newDocuments(base string) *documents {
	return &documents{
		index:      newDocument(s.discoveryIndex(base)),
		resource:   newDocument(s.protectedResource(base, "built")),
		rebuilding: newDocument(s.protectedResource(base, "building")),
		mcp:        newDocument(s.protectedMCP(base)),
	}
}

// discovery answers with one of the documents, made once for each R.
func (s *Server) discovery(pick func(*documents) document) handler {
	vary := s.Edge.Vary()
	return func(w http.ResponseWriter, r *http.Request, _ vars) error {
		doc := pick(s.documents.Get(s.Edge.Base(r), s.newDocuments))
		h := w.Header()
		httpx.SetJSON(h)
		h["Cache-Control"] = publicMinute
		h["Vary"] = vary
		h["Content-Length"] = doc.length // on HEAD too (C-1)
		if r.Method == http.MethodHead {
			return nil
		}
		_, err := w.Write(doc.body)
		return err
	}
}

var publicMinute = []string{"public, max-age=60"}

// resource answers with the metadata of /v1, which says whether the search index is
// complete.
func (s *Server) resource(w http.ResponseWriter, r *http.Request, v vars) error {
	var rebuilding bool
	err := s.Store.View(r.Context(), func(v store.View) (err error) {
		rebuilding, err = v.Rebuilding()
		return err
	})
	if err != nil {
		return storageError(err)
	}
	return s.discovery(func(d *documents) document {
		if rebuilding {
			return d.rebuilding
		}
		return d.resource
	})(w, r, v)
}

// discoveryIndex is GET / (H-134).
func (s *Server) discoveryIndex(base string) []byte {
	b := appendText(nil, `{"object":"pdpp_discovery_index","resource_name":`)
	b = rawjson.AppendString(b, s.ProviderName)
	b = appendText(b, `,"links":{"well_known":`)
	b = rawjson.AppendString(b, base+httpx.MetadataPath)
	b = appendMember(b, "schema", base+"/v1/schema")
	b = appendMember(b, "core_query_base", base+"/v1")
	b = appendMember(b, "mcp", base+mcpPath)
	return appendText(b, "}}\n")
}

// protectedResource is the metadata document of /v1 (H-130, RFC 9728).
func (s *Server) protectedResource(base, indexState string) []byte {
	b := appendResource(nil, base, base, s.ProviderName)
	b = appendText(b, `,"pdpp_token_kinds_supported":["owner","client"],"pdpp_self_export_supported":true,`+
		`"pdpp_discovery_hints":{"schema_endpoint":"/v1/schema","query_base":"/v1","streams_endpoint_template":"/v1/streams/{stream}",`+
		`"aggregate":{"endpoint_template":"/v1/streams/{stream}/aggregate"},`+
		`"field_window":{"endpoint_template":"/v1/streams/{stream}/records/{id}/field-window"},`+
		`"search":{"endpoint":"/v1/search","scope_param":"streams[]","filter_requires_single_stream":true},`+
		`"changes_since_bootstrap":"beginning","blob_indirection":"data.blob_ref.fetch_url"`)
	b = appendMember(b, "mcp_endpoint", base+mcpPath)
	b = appendText(b, `},"pdpp_agent_discovery":{"advisory":true,"mcp":{`)
	b = appendEndpoint(b, base)
	b = appendMember(b, "resource_metadata", base+httpx.MetadataPath+mcpPath)
	b = appendText(b, `}},"capabilities":{`+lexicalRetrieval)
	b = appendMember(b, "index_state", indexState)
	return appendText(b, "}}}\n")
}

// protectedMCP is the metadata document of /mcp (H-131). No owner token opens it.
func (s *Server) protectedMCP(base string) []byte {
	b := appendResource(nil, base, base+mcpPath, s.ProviderName+" (MCP)")
	b = appendText(b, `,"pdpp_token_kinds_supported":["client","mcp_package"],"pdpp_agent_discovery":{"advisory":true,"mcp":{`)
	b = appendEndpoint(b, base)
	return appendText(b, "}}}\n")
}

// appendResource appends what all metadata documents begin with; the object stays open.
func appendResource(b []byte, base, resource, name string) []byte {
	b = appendText(b, `{"resource":`)
	b = rawjson.AppendString(b, resource)
	b = appendMember(b, "resource_name", name)
	b = appendText(b, `,"bearer_methods_supported":["header"],"scopes_supported":["pdpp:read"]`)
	return appendMember(b, "pdpp_core_query_base", base+"/v1")
}

// appendEndpoint appends the members that lead an agent to the MCP endpoint, and say
// that it is an adapter over the reads of /v1.
func appendEndpoint(b []byte, base string) []byte {
	b = appendText(b, `"endpoint":`)
	b = rawjson.AppendString(b, base+mcpPath)
	b = appendMember(b, "adapter_over", base+"/v1")
	return appendText(b, `,"transport":"streamable_http","setup_intent":"grant_scoped_read","no_owner_token":true`)
}

// lexicalRetrieval is the capability block of search (C-46), but for the state of the
// index and its end.
const lexicalRetrieval = `"lexical_retrieval":{"supported":true,"endpoint":"/v1/search","cross_stream":true,"snippets":true,` +
	`"default_limit":25,"max_limit":100,"cursor_supported":true,"count_supported":true,"evidence_supported":true,` +
	`"score":{"supported":true,"kind":"bm25","order":"lower_is_better","value_semantics":"implementation_relative"}`
