package blobfile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"pdpp"
)

func children() map[string]func(dir string) error {
	return map[string]func(string) error{
		"put forever": putForever, "full disk": fullDisk, "file size limit": fileSizeLimit,
	}
}

// fullDisk mounts a disk of one MiB over dir, which only this process sees.
func fullDisk(dir string) error {
	if err := syscall.Mount("none", dir, "tmpfs", 0, "size=1m,mode=700"); err != nil {
		os.Stdout.WriteString("cannot mount: " + err.Error())
		return nil
	}
	s, err := Open(dir, noon)
	if err != nil {
		return err
	}
	return wantRefused(s, dir, 2<<20, syscall.ENOSPC)
}

func fileSizeLimit(dir string) error {
	s, err := Open(dir, noon)
	if err != nil {
		return err
	}
	limit := syscall.Rlimit{Cur: 100_000, Max: 100_000}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	return wantRefused(s, dir, 200_000, syscall.EFBIG)
}

// wantRefused checks that a Put that fails with cause leaves no file.
func wantRefused(s *Store, dir string, size int, cause error) error {
	_, err := s.Put(context.Background(), 7, strings.NewReader(strings.Repeat("x", size)), plenty)
	if pdpp.CodeOf(err) != pdpp.CodeUnavailable || !errors.Is(err, cause) {
		return fmt.Errorf("Put = %w, want %s: %w", err, pdpp.CodeUnavailable, cause)
	}
	left, err2 := os.ReadDir(filepath.Join(dir, tempFolder))
	if err2 != nil || len(left) != 0 {
		return fmt.Errorf("left behind: %v, %w", left, err2)
	}
	if _, err := s.Put(context.Background(), 7, strings.NewReader("small"), plenty); err != nil {
		return fmt.Errorf("a small Put after it: %w", err)
	}
	return nil
}

func TestFullDisk(t *testing.T) {
	cmd := child(t, "full disk", t.TempDir())
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	}
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	if err := cmd.Start(); err != nil {
		t.Skipf("no namespaces here: %v", err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v: %s", err, &problems)
	}
	if strings.HasPrefix(out.String(), "cannot mount") {
		t.Skip(out.String())
	}
}

func TestFileSizeLimit(t *testing.T) {
	dir := t.TempDir()
	if out, err := child(t, "file size limit", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	wantFiles(t, dir, 1)
}
