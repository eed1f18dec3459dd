// Package sqlite keeps a store in one SQLite file (see package store for the
// contract). One connection writes, a few read; each View is one read
// transaction of the write-ahead log, each Update one immediate transaction.
//
// Files in the data folder: pdpp.db with its -wal and -shm.
package sqlite
