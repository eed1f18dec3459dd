// Package sqlgen compiles validated queries to SQL. It is the only place that
// builds SQL text from parts; the parts are constants, and everything that comes
// from a request is an argument.
//
// All SQL stores share the tables it names: records, field_index, field_values and
// changes above all (see the migrations of package sqlite). What differs between
// databases is in a Dialect.
package sqlgen
