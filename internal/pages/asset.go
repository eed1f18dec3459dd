package pages

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"net/http"
	"path"
	"strconv"
)

//go:embed static/*
var staticFiles embed.FS

// asset returns the URL of a static file. It contains a hash of the content, so that
// browsers may keep the file for ever.
func asset(name string) string { return "/static/" + name + "?v=" + assets[name].hash }

type staticFile struct {
	hash, kind string
	content    []byte
}

var assets = readAssets()

func readAssets() map[string]staticFile {
	out := map[string]staticFile{}
	kinds := map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8"}
	entries, err := staticFiles.ReadDir("static")
	if err != nil {
		panic(err) // embedded
	}
	for _, e := range entries {
		content, err := staticFiles.ReadFile("static/" + e.Name())
		if err != nil {
			panic(err) // embedded
		}
		sum := sha256.Sum256(content)
		out[e.Name()] = staticFile{hash: hex.EncodeToString(sum[:6]), kind: kinds[path.Ext(e.Name())], content: content}
	}
	return out
}

// static serves the stylesheet and the scripts.
func static(v *visit) error {
	file, ok := assets[v.r.PathValue("file")]
	if !ok {
		return errNoPage
	}
	h := v.w.Header()
	h.Set("Content-Type", file.kind)
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Set("Content-Length", strconv.Itoa(len(file.content)))
	if v.r.Method == http.MethodHead {
		return nil
	}
	_, err := v.w.Write(file.content)
	return err
}
