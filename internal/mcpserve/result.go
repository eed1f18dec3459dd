package mcpserve

import (
	"encoding/base64"
	"strconv"

	"pdpp/internal/mcp"
	"pdpp/internal/rawjson"
)

// appendToolResult appends the result of a tool call. Link blocks need revision
// 2025-06-18.
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

// appendContents appends the result of a resource read.
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
