// Package engine is a thin binding to the SQLite engine of modernc.org/sqlite. It has
// connections, cached statements, typed binds and zero-copy columns. Transactions, SQL
// and schema belong to the store.
//
// It exists because reading a page of records through database/sql costs more than
// finding it: every column is boxed and copied. Here a column is a view of the engine's
// memory until the next Step.
//
// A Conn and its statements are used by one goroutine at a time. Only Interrupt may be
// called from any goroutine.
package engine
