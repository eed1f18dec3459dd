// Package evidence says what may be shown of a record's values and states the
// facts about what is not shown: which values are binary (rs-contract EX-8), and
// how a long value is cut to a preview (REC-39). The resource server and its
// readers use the same code, so that they agree.
//
// Values are compact JSON as stored. Nothing is decoded and encoded again: what
// is shown of a string is a prefix of its stored bytes (decision D15). Positions
// and lengths are characters, meaning code points; no cut splits one. A value is
// binary because of what it is or what the manifest declares, never because of
// the name of its field (D12).
package evidence
