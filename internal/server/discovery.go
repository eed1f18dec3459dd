package server

import (
	"io"
	"net/http"
	"strconv"
	"strings"

	"pdpp"
	"pdpp/internal/httpx"
	"pdpp/internal/rawjson"
	"pdpp/internal/store"
)

// The discovery documents. They name only what works (C-46, H-135). $R is the public
// origin, $NAME the name of the provider, $INDEX the state of the search index, $DEFAULT
// and $MAX the limits of a page.
const (
	// indexDocument is GET / (H-134).
	indexDocument = `{"object":"pdpp_discovery_index","resource_name":"$NAME","links":{"well_known":"$R/.well-known/oauth-protected-resource",` +
		`"well_known_authorization_server":"$R/.well-known/oauth-authorization-server","schema":"$R/v1/schema","core_query_base":"$R/v1","mcp":"$R/mcp"}}` + "\n"

	// resourceDocument is the metadata of /v1 (H-130, RFC 9728).
	resourceDocument = `{"resource":"$R","resource_name":"$NAME",` + commonMetadata +
		`"pdpp_token_kinds_supported":["owner","client"],"pdpp_self_export_supported":true,` +
		`"pdpp_discovery_hints":{"schema_endpoint":"/v1/schema","query_base":"/v1","streams_endpoint_template":"/v1/streams/{stream}",` +
		`"aggregate":{"endpoint_template":"/v1/streams/{stream}/aggregate"},` +
		`"field_window":{"endpoint_template":"/v1/streams/{stream}/records/{id}/field-window"},` +
		`"search":{"endpoint":"/v1/search","scope_param":"streams[]","filter_requires_single_stream":true},` +
		`"changes_since_bootstrap":"beginning","blob_indirection":"data.blob_ref.fetch_url","mcp_endpoint":"$R/mcp"},` +
		`"pdpp_agent_discovery":{"advisory":true,"recommended_flow":"pdpp connect",` +
		`"cli":{"bin_name":"pdpp","connect_command":"pdpp connect $R","no_owner_token":true},"mcp":{` + mcpEndpoint + `,"resource_metadata":"$R/.well-known/oauth-protected-resource/mcp"}},` +
		`"capabilities":{"lexical_retrieval":{"supported":true,"endpoint":"/v1/search","cross_stream":true,"snippets":true,` +
		`"default_limit":$DEFAULT,"max_limit":$MAX,"cursor_supported":true,"count_supported":true,"evidence_supported":true,` +
		`"score":{"supported":true,"kind":"bm25","order":"lower_is_better","value_semantics":"implementation_relative"},"index_state":"$INDEX"}}}` + "\n"

	// mcpDocument is the metadata of /mcp (H-131). Owner tokens are not accepted there.
	mcpDocument = `{"resource":"$R/mcp","resource_name":"$NAME (MCP)",` + commonMetadata +
		`"pdpp_token_kinds_supported":["client","mcp_package"],"pdpp_agent_discovery":{"advisory":true,"mcp":{` + mcpEndpoint + "}}}\n"

	commonMetadata = `"authorization_servers":["$R"],"bearer_methods_supported":["header"],"scopes_supported":["pdpp:read"],` +
		`"authorization_details_types_supported":["https://pdpp.dev/data-access"],"resource_documentation":"$R/setup","pdpp_core_query_base":"$R/v1",`

	// mcpEndpoint is the part of a document that describes /mcp.
	mcpEndpoint = `"endpoint":"$R/mcp","adapter_over":"$R/v1","transport":"streamable_http","setup_intent":"grant_scoped_read","no_owner_token":true`
)

// documents are the discovery documents for one public origin (R).
type documents struct {
	index, resource, mcp, as document

	rebuilding document // resource, while the search index is rebuilt
}

// document is a body with its Content-Length.
type document struct {
	body   string
	length []string
}

func newDocument(body string) document { return document{body, []string{strconv.Itoa(len(body))}} }

func (s *Server) newDocuments(base string) *documents {
	fill := func(text, indexState string) document {
		body := strings.NewReplacer("$R", escaped(base), "$NAME", escaped(s.ProviderName), "$INDEX", indexState,
			"$DEFAULT", strconv.Itoa(pdpp.DefaultPage), "$MAX", strconv.Itoa(pdpp.MaxPage)).Replace(text)
		return newDocument(body)
	}
	return &documents{
		index: fill(indexDocument, ""), mcp: fill(mcpDocument, ""), as: newDocument(string(s.as.Metadata(base))),
		resource: fill(resourceDocument, "built"), rebuilding: fill(resourceDocument, "building"),
	}
}

// escaped returns s as it is written inside a JSON string.
func escaped(s string) string {
	quoted := rawjson.AppendString(nil, s)
	return string(quoted[1 : len(quoted)-1])
}

// document answers with one of the documents, built once for each R.
func (s *Server) document(pick func(*documents) document) httpx.Handler {
	vary := s.Edge.Vary()
	return func(w http.ResponseWriter, r *http.Request) error {
		doc := pick(s.documents.Get(s.Edge.Base(r), s.newDocuments))
		h := w.Header()
		httpx.SetJSON(h)
		h["Cache-Control"] = publicMinute
		h["Vary"] = vary
		h["Content-Length"] = doc.length // on HEAD too (C-1)
		if r.Method == http.MethodHead {
			return nil
		}
		_, err := io.WriteString(w, doc.body)
		return err
	}
}

var publicMinute = []string{"public, max-age=60"}

// resource answers with the metadata of /v1, which says whether the search index is
// complete.
func (s *Server) resource(w http.ResponseWriter, r *http.Request) error {
	var rebuilding bool
	err := s.Store.View(r.Context(), func(v store.View) (err error) {
		rebuilding, err = v.Rebuilding()
		return err
	})
	if err != nil {
		return err
	}
	return s.document(func(d *documents) document {
		if rebuilding {
			return d.rebuilding
		}
		return d.resource
	})(w, r)
}
