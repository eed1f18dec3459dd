// Package engine is a thin binding to the SQLite engine that modernc.org/sqlite
// carries. It offers connections, cached statements, typed binds and zero-copy
// columns, and nothing else: transactions, SQL and schema belong to the store.
//
// It exists because a page of records through database/sql costs more than
// finding it: every column is boxed and copied. Here a column is a view of the
// engine's memory until the next Step.
//
// A Conn and its statements are used by one goroutine at a time. Interrupt alone
// may be called from any.
package engine
