// Package sqlread answers the reads of the store contract from SQL tables. It
// compiles queries with package sqlgen, merges the rows of several sources into one
// order, and assembles records, matches, changes and aggregates. A database takes
// part through a sqlgen.Dialect and a Conn, so that a second SQL store needs neither
// its own merging nor its own rules of visibility.
package sqlread
