// Package blobfile stores the bytes of blobs in files beside the database, each named by
// the SHA-256 of its content (rs-contract B-1, B-7, B-9). Owners are numbers; who may
// read what is decided elsewhere (B-2).
//
// A blob is the file <owner>/<ab>/<cd>/<abcd…>. Owners share nothing: the same content is
// stored once for each of them, so that neither the time of a Put nor anything else
// reveals to one owner what another has. Folders are 0700, files 0600 (H-4).
//
// A file is complete and on the disk before it gets its name, and Put returns only when
// the name is on the disk too. Whenever a process ends, a name has its whole content or
// does not exist. The files of interrupted uploads are in the folder tmp, and Open
// removes them when they are a day old.
//
// Nothing outside the folder is read or written, and no symbolic link inside it is
// followed: it could lead from one owner to another. Several processes may use one folder
// at the same time.
package blobfile
