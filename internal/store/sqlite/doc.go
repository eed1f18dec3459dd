// Package sqlite implements the store contract (package store) on one SQLite file. One
// connection writes, a few read; each View is one read transaction of the write-ahead
// log, each Update one immediate transaction. The reads of records, matches, changes and
// aggregates are those of package sqlread.
//
// Files in the data folder: pdpp.db with its -wal and -shm, and two lock files.
package sqlite
