// Package mcphttp is the hosted MCP endpoint (hosted-auth §2): the surface of package
// mcp over stateless Streamable HTTP, for agents that live elsewhere.
//
// A request's way: the edge (httpx) → Endpoint, which judges token, method, media types
// and size in the order of H-41 → framing, which finds the protocol revision and checks
// its headers → mcpserve.Server.Do → the tool → the /v1 router of package rs, in
// memory and with the caller's rights (H-53).
package mcphttp
