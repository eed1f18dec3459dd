// Package store is the contract of the record store: what a store keeps, what it
// answers, and what it promises. The executable form of the contract is package
// storetest; every store passes it.
//
// Invariants:
//
//   - Every row belongs to one subject and every read names it; no read crosses
//     subjects (C-21).
//   - A View is one consistent snapshot. An Update is all or nothing, and after it has
//     returned, nothing of it is lost when the process is killed.
//   - A record, its change number, its index entries and its search text are
//     written by one Update (I-7).
//   - Change numbers of a subject are consecutive from 1, in commit order, across
//     all connections and streams. The change log contains ids, numbers, times and
//     field names, but no content of records (R14).
//   - A client that applies a Snapshot and then every page of Changed ends up, once
//     writing stops, with the same records as List. It is never sent a record that was
//     not visible to it at one of its marks.
//   - Bodies are returned byte for byte as Prepare made them: the record's JSON
//     without insignificant white space. A value above LongValue bytes is stored
//     separately, in pieces; the body contains a stub in its place.
//   - Visibility (connection, time, resources) and filters are applied by the
//     store, before limits; List visits in the exact order of REC-7.
//   - Deleting or changing a record erases its former content (REC-37).
//   - A blob is found only through a visible record that refers to it, by tokens
//     that are written with the record, and only when it was uploaded for that
//     record's connection (B-2). A blob that a record refers to is never swept.
//   - A package and its members belong to one subject and one client; a grant is in
//     one package at most, and a connection occurs once in a package (H-82).
//   - Ids of bindings and fields are never reused or reassigned, so they can be
//     cached across snapshots.
//   - The generation grows with every change of manifests and connections.
package store
