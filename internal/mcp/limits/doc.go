// Package limits has the sizes of the MCP surface (MS-20): budgets of texts and of
// structured output, lengths of previews, bounds of reads. Tools, texts and tests share
// them. The limits of requests to a resource server are in rsclient.
package limits
