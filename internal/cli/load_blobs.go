package cli

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"pdpp"
	"pdpp/internal/blobfile"
	"pdpp/internal/ingest"
)

// blobInput is a file to store as a blob.
type blobInput struct {
	name string // relative to the folder, with slashes
	path string
	size int64
}

// blobInputs lists the files below a folder; none when dir is "". It returns an error for
// a file that cannot be stored, before any file is (H-20). It does not follow links,
// which could lead anywhere.
func blobInputs(dir, data string) ([]blobInput, error) {
	if dir == "" {
		return nil, nil
	}
	if info, err := os.Stat(dir); err != nil {
		return nil, missing(dir, err)
	} else if !info.IsDir() {
		return nil, pdpp.Errorf(pdpp.CodeInputMissing, "%s is not a folder. Name the folder that contains the files.", dir)
	}
	if within(data, dir) || within(dir, data) {
		return nil, pdpp.Errorf(pdpp.CodeUsage, "--blobs does not accept %s: it overlaps with the data folder %s. Name another folder.", dir, data)
	}
	var out []blobInput
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, e fs.DirEntry, err error) error {
		in := blobInput{name: name, path: filepath.Join(dir, filepath.FromSlash(name))}
		if err == nil && e.Type().IsRegular() {
			err = in.check()
			out = append(out, in)
		}
		if err != nil && pdpp.CodeOf(err) == pdpp.CodeInternal {
			err = missing(in.path, err)
		}
		return err
	})
	return out, err
}

// within reports whether inner is outer or a folder below it.
func within(inner, outer string) bool {
	a, errA := filepath.Abs(inner)
	b, errB := filepath.Abs(outer)
	if errA != nil || errB != nil {
		return false
	}
	rel, err := filepath.Rel(b, a)
	return err == nil && filepath.IsLocal(rel)
}

// check reads the size of a file and makes sure that it can be read.
func (b *blobInput) check() error {
	f, err := os.Open(b.path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if b.size = info.Size(); b.size > ingest.MaxBlob {
		return pdpp.Errorf(pdpp.CodeInvalidInput, "%s is larger than %d MiB, the limit for a blob. Take it out of the folder, then run the command again.", b.path, ingest.MaxBlob>>20)
	}
	return nil
}

// putBlobs stores the files before the records that refer to them, and returns their ids.
// A dry run only computes the ids.
func (l load) putBlobs(ctx context.Context, a *app, s session, t target, inputs []blobInput) ([]ingest.StoredBlob, error) {
	if l.blobs == "" {
		return nil, nil
	}
	if l.dry {
		return storeEach(ctx, a, inputs, func(_ string, r io.Reader) (blobfile.Blob, error) {
			return blobfile.Measure(ctx, r, ingest.MaxBlob)
		})
	}
	dir, err := a.dataFolder()
	if err != nil {
		return nil, err
	}
	var stored []ingest.StoredBlob
	err = a.withBlobs(dir, func(blobs *blobfile.Store) (err error) {
		stored, err = storeEach(ctx, a, inputs, func(mediaType string, r io.Reader) (blobfile.Blob, error) {
			b, err := ingest.PutBlob(ctx, s.store, blobs, ingest.Upload{
				Subject: s.owner.ID, Connection: t.connection.ID, MediaType: mediaType, Content: r,
			}, a.Now())
			return blobfile.Blob{SHA256: b.SHA256, Size: b.Size}, err
		})
		return err
	})
	return stored, err
}

func storeEach(ctx context.Context, a *app, inputs []blobInput, put func(mediaType string, r io.Reader) (blobfile.Blob, error)) ([]ingest.StoredBlob, error) {
	var done, total int64
	for _, in := range inputs {
		total += in.size
	}
	bar := a.newBar()
	defer bar.clear()
	var out []ingest.StoredBlob
	for i, in := range inputs {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		bar.show(step{name: in.name, done: done, total: total, records: int64(i), noun: "file"})
		b, err := in.put(put)
		if err != nil {
			return out, err
		}
		out = append(out, b)
		done += in.size
	}
	return out, nil
}

func (b *blobInput) put(put func(mediaType string, r io.Reader) (blobfile.Blob, error)) (ingest.StoredBlob, error) {
	f, err := os.Open(b.path)
	if err != nil {
		return ingest.StoredBlob{}, missing(b.path, err)
	}
	defer f.Close()
	mediaType := pdpp.MediaTypeByName(b.name)
	stored, err := put(mediaType, f)
	if pdpp.CodeOf(err) == pdpp.CodeInvalidRequest {
		err = missing(b.path, err)
	}
	return ingest.StoredBlob{
		File: b.name, BlobID: pdpp.BlobIDOf(stored.SHA256), SHA256: stored.SHA256, Size: stored.Size, MediaType: mediaType,
	}, err
}

// shownBlobs is the number of blobs that a text answer lists.
const shownBlobs = 20

// blobText formats the list of stored blobs for people.
func blobText(s ingest.Summary) string {
	if s.BlobsStored == nil {
		return ""
	}
	var b strings.Builder
	if len(s.Blobs) > 0 {
		rows := [][]string{{"BLOB", "TYPE", "BYTES", "FILE"}}
		for _, blob := range s.Blobs[:min(len(s.Blobs), shownBlobs)] {
			rows = append(rows, []string{string(blob.BlobID), blob.MediaType, thousands(blob.Size), blob.File})
		}
		b.WriteString(table(rows...))
	}
	if more := *s.BlobsStored - shownBlobs; more > 0 {
		fmt.Fprintf(&b, "… and %s more (--json lists %s)\n", thousands(more), thousands(ingest.MaxListedBlobs))
	}
	fmt.Fprintf(&b, "%s\n", count(*s.BlobsStored, "blob", "blobs"))
	return b.String()
}
