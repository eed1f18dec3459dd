// Package pdpp contains the types that all packages of a personal data server
// share: records in streams, the sources they come from, the grants under which
// they are read, and the one error type. It contains types and functions without
// side effects. It does no I/O and imports only the standard library. All
// behaviour is in internal/.
package pdpp
