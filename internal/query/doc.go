// Package query is what a request asks for, parsed and validated: the query
// string grammar (rs-contract C-4 to C-9), projections, filters, order, expand,
// aggregates, preferences and cursors. A List, Get or Aggregate that leaves this
// package names only declared, granted fields with operands of their type; stores
// run it as it is.
//
// The package is pure: no SQL, no HTTP, no clock.
package query
