// Package doctor checks a server from outside, without a credential, and reports problems
// and how to fix them (H-25, H-26). It registers nothing and changes nothing.
//
// A feature that the server itself reports as missing is skipped. A response that
// something in between changes or blocks is a failure.
package doctor
