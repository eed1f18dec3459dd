// Package doctor checks a server from outside, without a credential, and reports problems
// and how to fix them (H-25, H-26). It registers nothing and changes nothing.
//
// A feature that the server itself reports as missing is skipped. A response that was
// changed or blocked between the server and this program, for example by a proxy, is a
// failure.
package doctor
