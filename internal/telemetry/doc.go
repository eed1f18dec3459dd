// Package telemetry tells operators how a server is doing: counts and durations for
// Prometheus, and spans for an OpenTelemetry collector. Both watch the same two
// things, HTTP requests and MCP operations, and both are off unless asked for. A nil
// Telemetry is one that is off, and costs nothing.
//
// Privacy: what a request asked and what it was answered is never recorded, nor are
// tokens, addresses, ids, names of streams or anything else that came from outside.
// Every label and attribute is a word of this program: a route pattern, a method, a
// tool of the registry, an error code. What is none of these is "_OTHER". The
// exceptions are numbers: sizes, durations, status codes and the ids of a trace.
//
// Names are those of the OpenTelemetry conventions for HTTP and MCP. Metrics have
// them as Prometheus writes them: dots become underscores, units are spelled out.
package telemetry
