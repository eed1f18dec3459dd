// Package quote writes strings into texts that models read. Everything that comes from
// records, labels, manifests or messages of a resource server is written as a JSON
// string, so that no value can pass for a line of the text (D14, MS-62), and is cut at
// character boundaries with a mark that states the whole length (MS-63).
//
// It knows strings only: no records, no tools, no calls.
package quote
