// Package query parses and validates requests: the query
// string grammar (rs-contract C-4 to C-9), projections, filters, order, expand,
// aggregates, preferences and cursors. A List, Get or Aggregate that leaves this
// package names only declared, granted fields with operands of their type; stores run it
// without further checks.
//
// The package is pure: no SQL, no HTTP, no clock.
package query
