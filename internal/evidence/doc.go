// Package evidence renders what a hit or a card shows of a record, and the facts about
// what it omits (rs-contract §8): titles and event times (EX-3, EX-4), cards (EX-2),
// excerpts and snippets (EX-6), links to the rest, binary detection (EX-8) and previews
// of long values (REC-39). The resource server and its readers use this code, so that
// they agree (EX-1, EVID-3).
//
// The package does no I/O and no access control: its input is projected data, the
// declarations about it, and the texts that were searched. It treats no field specially
// because of its connector or its name, except the few names that the document contract
// defines (D7). A value is binary because of its content or its declaration, never
// because of its name (D12).
//
// Numbers and previews are spliced as stored, never decoded and encoded again (D15).
// Positions and lengths are characters, that is code points, and no cut splits one.
// Control and bidirectional characters are removed from titles, values and excerpts
// (EX-7); identifiers are exact.
package evidence
