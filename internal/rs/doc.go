// Package rs is the resource server: the /v1 routes of rs-contract.md, one file
// per resource. A read takes one snapshot of the store, finds out in it who asks
// (auth.go) and what that caller can reach (package grant), gives the request its
// meaning (package query), and splices stored bytes into the answer (record.go).
//
// Handlers return errors; package httpx answers them. Nothing is written to the
// network before the snapshot has ended, so a slow reader holds nothing open.
package rs
