// Package rawjson handles JSON as bytes. Record payloads are kept and emitted as received
// (rs-contract C-33): numbers keep their digits, strings their escapes and code points,
// objects the order of their keys. Values are not decoded into Go values or float64.
//
// JSON from outside enters through Compact, which checks everything in one pass: grammar,
// UTF-8, nesting, unique keys. CompactRelayed is for answers of other servers and accepts
// repeated keys. All other functions expect output of these two, and are fast because
// they do not check it again. For other bytes their results are meaningless, but they do
// not panic or loop forever.
//
// There are three ways to read an object: Get finds one member, Index finds all of them
// for many look-ups, and iteration visits them in order: Members and Elements over one
// value, a Scanner over nested ones and where the bytes as written matter.
//
// A stored object may have stubs in place of long values: a NUL byte, any bytes except
// NUL, a NUL byte. NUL never occurs in JSON, so a stub cannot be confused with a value.
package rawjson
