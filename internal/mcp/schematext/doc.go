// Package schematext renders schema documents for the tool schema: the text that a model
// reads (MS-88 to MS-92), and the compact document that the adapter derives when a server
// sent another form or too much (MS-84, MS-85). Both stay within the byte budgets of
// limits, and a result that is cut names the call that continues it.
//
// It reads documents as bytes and makes no requests; which calls are valid is decided by
// the caller.
package schematext
