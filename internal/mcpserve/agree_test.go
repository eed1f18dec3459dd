package mcpserve

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pdpp/internal/mcp"
)

// TestAgreesWithSDK compares our responses with those of the official SDK's server for
// the same surface, handshake included, in every revision.
func TestAgreesWithSDK(t *testing.T) {
	requests := []string{
		`{"method":"ping"}`,
		`{"method":"server/discover","params":{}}`,
		`{"method":"tools/list","params":{}}`,
		`{"method":"tools/list","params":{"cursor":"x"}}`,
		`{"method":"resources/list","params":{}}`,
		`{"method":"resources/templates/list","params":{}}`,
		`{"method":"tools/call","params":{"name":"query_records","arguments":{"stream":"entries"}}}`,
		`{"method":"tools/call","params":{"name":"fetch","arguments":{"id":"cin_a1/entries:ent_31"}}}`,
		`{"method":"tools/call","params":{"name":"fetch","arguments":{"id":"entries:nobody"}}}`,
		`{"method":"tools/call","params":{"name":"fetch","arguments":{"id":7}}}`,
		`{"method":"tools/call","params":{"name":"schema"}}`,
		`{"method":"tools/call","params":{"name":"no such tool","arguments":{}}}`,
		`{"method":"resources/read","params":{"uri":"` + recordURI("ent_31") + `"}}`,
		`{"method":"resources/read","params":{"uri":"` + recordURI("nobody") + `"}}`,
		`{"method":"tools/delete","params":{}}`,
	}
	for _, era := range eras {
		t.Run(era, func(t *testing.T) {
			surface, w := ledger(t, fixedRequestID{})
			ours := talk(t, func(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
				return Serve(ctx, New(config(surface, io.Discard)), in, out)
			})
			theirs := talk(t, func(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
				return sdkServer(t, surface, w.URL).Run(ctx, &sdk.IOTransport{Reader: in, Writer: out})
			})
			all := requests
			if era != Modern {
				all = append([]string{`{"method":"initialize","params":{"protocolVersion":"` + era + `","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`}, all...)
			}
			compare(t, era, all, ours, theirs)
		})
	}
}

// compare sends requests to both servers. Of errors only the codes must agree. The SDK
// lists tools by name, and sends the cache hints of MS-14 in older revisions too.
func compare(t *testing.T, era string, requests []string, ours, theirs func(string) map[string]any) {
	t.Helper()
	byName := cmpopts.SortSlices(func(a, b any) bool { return nameOf(a) < nameOf(b) })
	for i, request := range requests {
		line := frame(t, i, request, era)
		got, want := ours(line), theirs(line)
		for _, answer := range []map[string]any{got, want} {
			if e, ok := answer["error"].(map[string]any); ok {
				answer["error"] = e["code"]
			}
		}
		if result, ok := want["result"].(map[string]any); ok && era != Modern {
			delete(result, "cacheScope")
			delete(result, "ttlMs")
		}
		if diff := cmp.Diff(want, got, byName); diff != "" {
			t.Errorf("%s (-SDK +ours):\n%s", line, diff)
		}
	}
}

func nameOf(v any) string {
	object, _ := v.(map[string]any)
	name, _ := object["name"].(string)
	return name
}

// frame returns a request of a revision with an id.
func frame(t *testing.T, id int, request, era string) string {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(request), &m); err != nil {
		t.Fatal(err)
	}
	m["jsonrpc"], m["id"] = "2.0", id
	if params, ok := m["params"].(map[string]any); ok && era == Modern {
		params["_meta"] = modernMeta(era)
	}
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// talk starts a server and returns a function that sends it a line and reads the response.
func talk(t *testing.T, serve func(context.Context, io.ReadCloser, io.WriteCloser) error) func(string) map[string]any {
	t.Helper()
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- serve(context.Background(), in, out) }()
	t.Cleanup(func() {
		toServer.Close()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	})
	lines := bufio.NewReader(fromServer)
	return func(line string) (answer map[string]any) {
		t.Helper()
		if _, err := io.WriteString(toServer, line+"\n"); err != nil {
			t.Fatal(err)
		}
		text, err := lines.ReadBytes('\n')
		if err == nil {
			err = json.Unmarshal(text, &answer)
		}
		if err != nil {
			t.Fatalf("%v in the response to %s: %q", err, line, text)
		}
		return answer
	}
}

// sdkServer returns a server of the official SDK with the tools and resources of a surface.
func sdkServer(t *testing.T, surface *mcp.Surface, provider string) *sdk.Server {
	t.Helper()
	s := sdk.NewServer(&sdk.Implementation{Name: "pdpp", Title: "PDPP personal data (read-only)", Version: "1.2.3", WebsiteURL: provider}, &sdk.ServerOptions{
		Instructions:              mcp.Instructions,
		Capabilities:              &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}, Resources: &sdk.ResourceCapabilities{}},
		SupportedProtocolVersions: Versions(),
		SetCacheable: func(_ context.Context, req sdk.Request, c *sdk.Cacheable) {
			c.TTLMs, c.CacheScope = 300_000, "private"
			if _, ok := req.(*sdk.ReadResourceRequest); ok {
				c.TTLMs = 0
			}
		},
	})
	var list sdk.ListToolsResult
	if err := json.Unmarshal(mcp.Tools().List(), &list); err != nil {
		t.Fatal(err)
	}
	for _, tool := range list.Tools {
		s.AddTool(tool, func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return sdkResult(surface.Call(ctx, mcp.Tools().Lookup(tool.Name), req.Params.Arguments), req.ProtocolVersion()), nil
		})
	}
	var templates sdk.ListResourceTemplatesResult
	if err := json.Unmarshal(mcp.Templates(), &templates); err != nil {
		t.Fatal(err)
	}
	for _, template := range templates.ResourceTemplates {
		s.AddResourceTemplate(template, func(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			contents, failure := surface.ReadResource(ctx, req.Params.URI)
			code := int64(CodeNotFound) // MS-204
			if req.ProtocolVersion() == Modern {
				code = CodeParams
			}
			return sdkContents(contents, failure, code)
		})
	}
	return s
}

func sdkResult(res *mcp.Result, revision string) *sdk.CallToolResult {
	out := &sdk.CallToolResult{StructuredContent: json.RawMessage(slices.Clone(res.Structured)), IsError: res.IsError}
	for _, block := range res.Content {
		if block.Link == nil {
			out.Content = append(out.Content, &sdk.TextContent{Text: block.Text})
		} else if revision != Batches {
			link := &sdk.ResourceLink{URI: block.Link.URI, Name: block.Link.Name, MIMEType: block.Link.MimeType}
			if block.Link.Size > 0 {
				link.Size = &block.Link.Size
			}
			out.Content = append(out.Content, link)
		}
	}
	return out
}

func sdkContents(contents []mcp.Content, failure *mcp.ResourceError, notFound int64) (*sdk.ReadResourceResult, error) {
	switch {
	case failure != nil && failure.Kind == mcp.ResourceNotFound:
		return nil, &jsonrpc.Error{Code: notFound, Message: failure.Message}
	case failure != nil:
		return nil, &jsonrpc.Error{Code: CodeParams, Message: failure.Message}
	}
	out := &sdk.ReadResourceResult{}
	for _, c := range contents {
		out.Contents = append(out.Contents, &sdk.ResourceContents{URI: c.URI, MIMEType: c.MimeType, Text: c.Text, Blob: c.Blob})
	}
	return out, nil
}

// fixedRequestID sets one Request-Id on all reads, so that their answers can be compared.
type fixedRequestID struct{}

func (fixedRequestID) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.Header.Set("Request-Id", "req_"+strings.Repeat("0", 32))
	return http.DefaultTransport.RoundTrip(req)
}

func recordURI(record string) string {
	return mcp.Handle{Connection: "cin_a1", Stream: "entries", Record: record}.URI()
}
