// Package journeys holds tests that walk from a question to its answer on the demo
// data, with readers that see half of every result: one the text blocks, one the
// structured output (MS-40). They speak to the real server binding through the
// official client. What a reader cannot do from its half is a fault of the surface.
//
// It has no code of its own besides tests.
package journeys
