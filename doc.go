// Package pdpp is the vocabulary of a personal data server: records in streams,
// the sources they come from, the grants under which they are read, and the one
// error type. It holds plain types and pure rules; it does no I/O and imports
// only the standard library. All behaviour is in internal/.
package pdpp
