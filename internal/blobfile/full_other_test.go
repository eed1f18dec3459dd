//go:build !linux

package blobfile

func children() map[string]func(dir string) error {
	return map[string]func(string) error{"put forever": putForever}
}
