// Package rawjson handles JSON as bytes. Record payloads are kept and emitted as
// received (rs-contract C-33): numbers keep their digits, strings their escapes
// and code points, objects the order of their keys. Nothing here builds a tree
// and nothing goes through float64.
//
// Compact is the only gate for foreign bytes: it verifies everything (grammar,
// UTF-8, nesting, unique keys) in one pass; CompactRelayed is the same without
// unique keys, for answers of other servers. All other functions expect bytes that these
// accepted, and are fast because they trust them; for other bytes their results are
// meaningless, but they neither panic nor loop.
//
// There are three ways to read an object: Get finds one member, Index finds all of them
// for many look-ups, and iteration visits them in order: Members and Elements over one
// value, a Scanner over nested ones and where the bytes as written matter.
//
// A stored object may have stubs in place of long values: a NUL byte, any bytes
// but NUL, a NUL byte. NUL never occurs in JSON, so a stub is never mistaken.
package rawjson
