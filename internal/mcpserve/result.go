package mcpserve

import (
	"encoding/base64"
	"encoding/json"
	"strconv"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pdpp/internal/mcp"
	"pdpp/internal/rawjson"
)

// result is a result that is written as it is: a JSON object, and what its revision
// adds around it. The SDK sets the metadata.
type result struct {
	sdk.ResultBase
	body   []byte // a JSON object with at least one member
	modern bool   // revision 2026-07-28
	hints  hints
}

// MarshalJSON implements json.Marshaler.
func (r *result) MarshalJSON() ([]byte, error) {
	b := append(make([]byte, 0, len(r.body)+512), r.body[:len(r.body)-1]...)
	if r.modern {
		b = append(b, `,"resultType":"complete"`...)
	}
	if r.modern && r.hints.cache {
		b = r.hints.append(b)
	}
	if len(r.Meta) > 0 {
		meta, err := json.Marshal(r.Meta)
		if err != nil {
			return nil, err
		}
		b = append(append(b, `,"_meta":`...), meta...)
	}
	return append(b, '}'), nil
}

// appendToolResult writes the result of a tool call.
func appendToolResult(b []byte, res *mcp.Result, links bool) []byte {
	b = append(b, `{"content":[`...)
	first := true
	for _, block := range res.Content {
		if block.Link != nil && !links {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = appendBlock(b, block)
	}
	b = append(b, ']')
	if len(res.Structured) > 0 {
		b = append(append(b, `,"structuredContent":`...), res.Structured...)
	}
	if res.IsError {
		b = append(b, `,"isError":true`...)
	}
	return append(b, '}')
}

func appendBlock(b []byte, block mcp.Block) []byte {
	if block.Link == nil {
		b = append(b, `{"type":"text","text":`...)
		return append(rawjson.AppendString(b, block.Text), '}')
	}
	b = append(b, `{"type":"resource_link","uri":`...)
	b = rawjson.AppendString(b, block.Link.URI)
	b = append(b, `,"name":`...)
	b = rawjson.AppendString(b, block.Link.Name)
	if block.Link.MimeType != "" {
		b = append(b, `,"mimeType":`...)
		b = rawjson.AppendString(b, block.Link.MimeType)
	}
	if block.Link.Size > 0 {
		b = append(b, `,"size":`...)
		b = strconv.AppendInt(b, block.Link.Size, 10)
	}
	return append(b, '}')
}

// appendContents writes the result of a resource read.
func appendContents(b []byte, contents []mcp.Content) []byte {
	b = append(b, `{"contents":[`...)
	for i, c := range contents {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"uri":`...)
		b = rawjson.AppendString(b, c.URI)
		b = append(b, `,"mimeType":`...)
		b = rawjson.AppendString(b, c.MimeType)
		if c.Blob != nil {
			b = append(b, `,"blob":"`...)
			b = base64.StdEncoding.AppendEncode(b, c.Blob)
			b = append(b, `"}`...)
			continue
		}
		b = append(b, `,"text":`...)
		b = rawjson.AppendString(b, c.Text)
		b = append(b, '}')
	}
	return append(b, "]}"...)
}
