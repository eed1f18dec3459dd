// Package evidence says what may be shown of a record and states the facts about
// what is not shown (rs-contract §8). It is the one place for titles and event
// times (EX-3, EX-4), cards (EX-2), excerpts and snippets (EX-6), the ways to read
// on, binary detection (EX-8) and previews of long values (REC-39). The resource
// server and its readers use the same code, so that they agree (EX-1, EVID-3).
//
// It does no I/O and makes no choice about access: it is given projected data,
// what was declared about it, and texts that were searched. Nothing is promoted
// because of a connector or the name of a field, except the few names that the
// document contract itself defines (D7). A value is binary because of what it is
// or what the manifest declares, never because of its name (D12).
//
// Numbers and previews are spliced as stored, never decoded and encoded again
// (D15). Positions and lengths are characters, meaning code points; no cut splits
// one. In titles, values and excerpts control and bidirectional characters are
// removed (EX-7); identifiers are exact.
package evidence
