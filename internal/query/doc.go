// Package query parses and validates requests: the query string grammar (rs-contract C-4
// to C-9), projections, filters, order, expand, aggregates, preferences and cursors. The
// List, Get and Aggregate values that this package returns name only declared and granted
// fields, with operands of the right type. Stores run them without further checks.
//
// The package uses no SQL, no HTTP and no clock.
package query
