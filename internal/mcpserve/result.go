package mcpserve

import (
	"encoding/base64"

	"pdpp/internal/mcp"
	"pdpp/internal/rawjson"
)

// writeToolResult writes the result of a tool call. Link blocks need revision 2025-06-18.
func writeToolResult(w *rawjson.Writer, res *mcp.Result, links bool) {
	w.Object()
	w.OpenArray("content")
	for _, block := range res.Content {
		if block.Link == nil || links {
			writeBlock(w, block)
		}
	}
	w.End("]")
	if len(res.Structured) > 0 {
		w.Member("structuredContent", res.Structured)
	}
	if res.IsError {
		w.Flag("isError", true)
	}
	w.End("}")
}

func writeBlock(w *rawjson.Writer, block mcp.Block) {
	if block.Link == nil {
		w.Literal(`{"type":"text"`)
		w.Text("text", block.Text)
		w.End("}")
		return
	}
	w.Literal(`{"type":"resource_link"`)
	w.Text("uri", block.Link.URI)
	w.Text("name", block.Link.Name)
	w.Optional("mimeType", block.Link.MimeType)
	if block.Link.Size > 0 {
		w.Key("size")
		w.Int(block.Link.Size)
	}
	w.End("}")
}

// writeContents writes the result of a resource read.
func writeContents(w *rawjson.Writer, contents []mcp.Content) {
	w.Object()
	w.OpenArray("contents")
	for _, c := range contents {
		w.Object()
		w.Text("uri", c.URI)
		w.Text("mimeType", c.MimeType)
		if c.Blob != nil {
			w.Key("blob")
			*w = append(base64.StdEncoding.AppendEncode(append(*w, '"'), c.Blob), '"')
		} else {
			w.Text("text", c.Text)
		}
		w.End("}")
	}
	w.End("]}")
}
