// Package mcphttp is the hosted MCP endpoint (hosted-auth §2): the surface of package
// mcp over stateless Streamable HTTP, for agents on other machines.
//
// A request passes the edge (httpx), then Endpoint, which authenticates it (auth) and
// checks method, media types and size in the order of H-41, then framing, which finds the
// protocol revision and checks its headers. mcpserve.Server.Do calls the tool. The tool
// reads /v1 through the router of package rs, in memory and with the rights of the
// caller (H-53).
package mcphttp
