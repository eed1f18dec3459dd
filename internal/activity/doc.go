// Package activity records how tokens and grants are used: when a token was last used
// (H-17), what was read with each grant (H-196), and which requests were refused (H-197).
//
// Requests only change counters in memory. A Recorder writes them every few seconds, all in
// one transaction, because every commit makes readers of the store drop what they have
// cached. Nothing that is recorded has content: streams are named by the grant, routes and
// tools by the program.
package activity
