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

// errNotPlain means that there is a link or special file where the store expects its
// own.
var errNotPlain = errors.New("neither a plain folder nor a plain file")

// validHash reports whether hash is a SHA-256 as this package writes it: 64 lower-case
// hexadecimal digits.
func validHash(hash string) bool {
	_, ok := pdpp.BlobIDOf(hash).SHA256()
	return ok
}

// place returns the file name of an owner's content; false when owner or hash is
// malformed. Only place builds names of blobs.
func place(owner int64, hash string) (string, bool) {
	if owner <= 0 || !validHash(hash) {
		return "", false
	}
	return path.Join(strconv.FormatInt(owner, 10), hash[:2], hash[2:4], hash), true
}

// parse returns the owner and hash of a name that place returned.
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

// makeFolder creates the folder name unless it exists. It refuses a link.
func (s *Store) makeFolder(name string) error {
	err := s.root.Mkdir(name, folderMode)
	if err == nil || !errors.Is(err, fs.ErrExist) {
		return err
	}
	return s.checkFolder(name)
}

// checkFolder refuses a link: os.Root follows links that stay inside, and one could lead
// from one owner's folder to another's.
func (s *Store) checkFolder(name string) error {
	info, err := s.root.Lstat(name)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s: %w", name, errNotPlain)
	}
	return err
}

// find returns the FileInfo of the blob file name; fs.ErrNotExist when there is none. It
// refuses links and special files, also among the folders of name.
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

// syncParents makes the names of a file and of its folders durable. Any of them may be
// new, created by this call or by a concurrent one that has not synced yet. For an old
// folder the sync costs almost nothing.
func (s *Store) syncParents(name string) error {
	for _, folder := range append(parents(name), ".") {
		if err := s.syncFolder(folder); err != nil {
			return err
		}
	}
	return nil
}
