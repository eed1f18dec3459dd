package mcp

// Result is the outcome of a tool call.
type Result struct {
	Structured []byte // structuredContent: a compact JSON object
	Content    []Block
	IsError    bool
}

// resultExtra is the usual size of structured output beyond the data of the answer, for the
// first allocation.
const resultExtra = 8 << 10

// Block is one block of content: a text or a link to a resource.
type Block struct {
	Text string
	Link *Link // nil for a text block
}

// Link is a resource_link block (MS-147). It is sent from revision 2025-06-18 on.
type Link struct {
	URI      string
	Name     string
	MimeType string
	Size     int64 // 0 if not stated
}
