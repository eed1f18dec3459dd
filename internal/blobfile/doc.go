// Package blobfile keeps the bytes of blobs in files beside the database, each
// under the SHA-256 of its content (rs-contract B-1, B-7, B-9). It knows owners by
// number and content by hash; who may read what is decided elsewhere (B-2).
//
// A blob is the file <owner>/<ab>/<cd>/<abcd…>. Owners share nothing: the same
// content is stored once for each of them, so that neither the time a Put takes nor
// anything else tells one owner what another has. Folders are 0700, files 0600
// (H-4).
//
// A file is complete and on the disk before it gets its name, and Put returns only
// when the name is on the disk too. Whatever moment a process ends at, a name
// stands for the whole content or does not exist. What such a process leaves is in
// the folder tmp, and Open removes it when it is a day old.
//
// Nothing outside the folder is ever read or written, and no symbolic link inside
// it is followed: it could lead from one owner to another. Several processes may
// use one folder at the same time.
package blobfile
