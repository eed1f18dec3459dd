package cli

import (
	"context"
	"time"

	"pdpp/internal/blobfile"
	"pdpp/internal/ingest"
	"pdpp/internal/store"
)

// noUnknownBlobs is the answer when nothing was found. Files of the last hour are not
// checked, because their uploads may still be running (H-30).
const noUnknownBlobs = "The store knows every blob file that is older than an hour."

// blobsUnknown is `pdpp blobs unknown` (H-30).
type blobsUnknown struct {
	Remove bool `help:"Remove these files. This cannot be undone."`
	jsonFlag
}

// unknownAnswer is the object of H-30.
type unknownAnswer struct {
	Files        int64   `json:"files"`
	Bytes        int64   `json:"bytes"`
	Newest       *string `json:"newest"`
	StoreIsOlder bool    `json:"store_is_older"`
	Removed      bool    `json:"removed"`
}

// Run implements the command.
func (c *blobsUnknown) Run(ctx context.Context, a *app) error {
	if err := a.haveStore(); err != nil {
		return err
	}
	dir, err := a.dataFolder()
	if err != nil {
		return err
	}
	var found ingest.UnknownBlobs
	err = a.withStore(ctx, func(st store.Store) error {
		return a.withBlobsAsIs(dir, func(files *blobfile.Store) error {
			if found, err = ingest.FindUnknownBlobs(ctx, st, files, a.Now()); err != nil || !c.Remove {
				return err
			}
			older := found.StoreIsOlder
			found, err = ingest.RemoveUnknownBlobs(ctx, st, files, a.Now())
			found.StoreIsOlder = older
			return err
		})
	})
	if err != nil {
		return err
	}
	if c.JSON {
		return a.printJSON(unknownAnswer{found.Files, found.Bytes, orNull(newestOf(found)), found.StoreIsOlder, c.Remove})
	}
	return a.print(c.text(found, a.self(), dir))
}

func (c *blobsUnknown) text(found ingest.UnknownBlobs, program, dir string) string {
	switch {
	case found.Files == 0:
		return noUnknownBlobs + "\n"
	case c.Remove:
		return "Removed " + unknownText(found) + ".\n"
	}
	return "Found " + unknownText(found) + ".\n" + unknownAdvice(found, program, dir) + "\n"
}

// unknownText describes the found files as part of a sentence.
func unknownText(u ingest.UnknownBlobs) string {
	return count(u.Files, "file", "files") + " (" + thousands(u.Bytes) + " bytes) of blobs that the store does not know, the newest from " + newestOf(u)
}

// unknownAdvice says where such files may come from and what to do.
func unknownAdvice(u ingest.UnknownBlobs, program, dir string) string {
	remove := "If this pdpp.db is the right one, remove the files: " + program + " --data " + quote(dir) + " blobs unknown --remove"
	if u.StoreIsOlder {
		return "The store seems to be older than its blobs. Put the newer pdpp.db back. " + remove
	}
	return "Interrupted uploads leave such files, and so does a replaced pdpp.db. " + remove
}

func newestOf(u ingest.UnknownBlobs) string {
	if u.Files == 0 {
		return ""
	}
	return u.Newest.UTC().Format(time.RFC3339)
}
