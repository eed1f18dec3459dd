// Package npmtest runs real MCP clients from npm in tests: the official TypeScript clients,
// the Inspector and the conformance suite, with a Node of their own. package.json has their
// versions. Tests are skipped where npm or its packages are missing.
package npmtest
