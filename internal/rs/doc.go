// Package rs is the resource server: the /v1 routes of rs-contract.md, one file per
// resource. A read takes one snapshot of the store. In it package auth authenticates the
// token and returns what it can reach, package query interprets the parameters, and the
// handler splices stored bytes into the answer (record.go).
//
// Handlers return errors; package httpx answers them. Nothing is written to the network
// before the snapshot has ended, so a slow client keeps no snapshot open.
package rs
