// Package journeys tests that questions can be answered on the demo data by readers that
// see half of every result: one the text blocks, one the structured output (MS-40). They
// use the official client on a real server. A question that a reader cannot answer with
// its half is a defect of the surface.
//
// The package contains only tests.
package journeys
