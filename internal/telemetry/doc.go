// Package telemetry measures a server: counts and durations for Prometheus, and spans
// for an OpenTelemetry collector. Both cover HTTP requests and MCP operations, and both
// are off by default. A nil Telemetry is off and costs nothing.
//
// Privacy: telemetry never contains requests, results, tokens, addresses, ids, names of
// streams or other text from outside. Every label and attribute is a constant of this
// program: a route pattern, a method, a tool of the registry, an error code. Any other
// value becomes "_OTHER". The exceptions are numbers: sizes, durations, status codes and
// trace ids.
//
// Names follow the OpenTelemetry conventions for HTTP and MCP. Metrics use the form of
// Prometheus: dots become underscores, units are written out.
package telemetry
