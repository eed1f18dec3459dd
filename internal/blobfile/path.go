package blobfile

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"pdpp"
)

// errNotPlain says that something stands where only the store puts things.
var errNotPlain = errors.New("neither a plain folder nor a plain file")

// ValidHash reports whether hash is a SHA-256 as this package writes it: 64
// lower-case hexadecimal digits.
func ValidHash(hash string) bool {
	_, ok := pdpp.BlobIDOf(hash).SHA256()
	return ok
}

// place is where the content of hash is kept for owner; false when there can be no
// such place. Nothing else makes names of blobs.
func place(owner int64, hash string) (string, bool) {
	if owner <= 0 || !ValidHash(hash) {
		return "", false
	}
	return path.Join(strconv.FormatInt(owner, 10), hash[:2], hash[2:4], hash), true
}

// parse is the inverse of place.
func parse(name string) (owner int64, hash string, ok bool) {
	first, _, _ := strings.Cut(name, "/")
	owner, err := strconv.ParseInt(first, 10, 64)
	hash = path.Base(name)
	if err != nil {
		return 0, "", false
	}
	back, ok := place(owner, hash)
	return owner, hash, ok && back == name
}

// parents lists the folders that name is in, outermost first, without the root.
func parents(name string) []string {
	var list []string
	for i, c := range name {
		if c == '/' {
			list = append(list, name[:i])
		}
	}
	return list
}

// makeFolder makes sure that name is a folder and no link to one.
func (s *Store) makeFolder(name string) error {
	err := s.root.Mkdir(name, folderMode)
	if err == nil || !errors.Is(err, fs.ErrExist) {
		return err
	}
	return s.checkFolder(name)
}

// checkFolder refuses a link: os.Root follows those that stay inside, and one
// owner's folder could be another's.
func (s *Store) checkFolder(name string) error {
	info, err := s.root.Lstat(name)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s: %w", name, errNotPlain)
	}
	return err
}

// find gives the facts of the blob file name, fs.ErrNotExist when there is none. A
// link or anything else that is no plain file is an error, wherever on the way.
func (s *Store) find(name string) (fs.FileInfo, error) {
	for _, folder := range parents(name) {
		if err := s.checkFolder(folder); err != nil {
			return nil, err
		}
	}
	info, err := s.root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: %w", name, errNotPlain)
	}
	return info, nil
}

// syncParents makes the name of a file last, and those of the folders it is in.
// Any of them may be new, made by this call or by another that has not come as far
// yet; for one that is not, this costs next to nothing.
func (s *Store) syncParents(name string) error {
	for _, folder := range append(parents(name), ".") {
		if err := s.syncFolder(folder); err != nil {
			return err
		}
	}
	return nil
}
