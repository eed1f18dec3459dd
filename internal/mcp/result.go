package mcp

import "pdpp/internal/bufpool"

// Result is the outcome of a tool call.
type Result struct {
	Structured []byte // structuredContent: a compact JSON object
	Content    []Block
	IsError    bool

	lent *bufpool.Buffer // that Structured stands in; nil when it is its own
}

var resultBuffers bufpool.Pool

// Free gives back the room of a result that has been copied, and of which nothing is
// used any more. Who does not free a result leaves it to the collector.
func (r *Result) Free() {
	if r.lent != nil {
		r.lent.Put(r.Structured)
		r.lent, r.Structured = nil, nil
	}
}

// Block is one block of content: a text, or a link to a resource.
type Block struct {
	Text string
	Link *Link // nil: a text block
}

// Link is a resource_link block (MS-147). It is sent from revision 2025-06-18 on.
type Link struct {
	URI      string
	Name     string
	MimeType string
	Size     int64 // 0: not stated
}
