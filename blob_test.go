package pdpp

import (
	"strings"
	"testing"
)

func TestBlobID(t *testing.T) { // B-1
	hash := strings.Repeat("0a", 32)
	if got, ok := BlobIDOf(hash).SHA256(); got != hash || !ok {
		t.Errorf("SHA256 = %q, %v, want %q", got, ok, hash)
	}
	for _, id := range []BlobID{
		"", "blob_1", BlobID(hash), "blob_sha256_", BlobIDOf(hash[:63]), BlobIDOf(hash + "0"), BlobIDOf(strings.ToUpper(hash)),
		BlobIDOf(hash[:63] + "g"), BlobIDOf(hash[:63] + "/"), "BLOB_SHA256_" + BlobID(hash), " " + BlobIDOf(hash),
	} {
		if got, ok := id.SHA256(); ok {
			t.Errorf("BlobID(%q).SHA256() = %q, want false", id, got)
		}
	}
}

func TestParseMediaType(t *testing.T) { // B-9
	for s, want := range map[string]string{
		"image/png": "image/png", "Image/PNG": "image/png", " text/plain ; charset=utf-8": "text/plain",
		"application/vnd.a-b+json;x": "application/vnd.a-b+json", "x/9": "x/9",
	} {
		if got, ok := ParseMediaType(s); got != want || !ok {
			t.Errorf("ParseMediaType(%q) = %q, %v, want %q", s, got, ok, want)
		}
	}
	for _, s := range []string{
		"", ";", "png", "/png", "image/", "image/png/x", "image/p g", "image/\r\nx", "ima\x00ge/png", "*/*", "image/*", "-a/b", "é/x",
		"text/" + strings.Repeat("x", 128),
	} {
		if got, ok := ParseMediaType(s); ok {
			t.Errorf("ParseMediaType(%q) = %q, want false", s, got)
		}
	}
}

func TestMediaTypeByName(t *testing.T) { // H-20
	for name, want := range map[string]string{
		"a.png": "image/png", "b/IMG.JPG": "image/jpeg", "x.tar.gz": "application/gzip", "noextension": DefaultMediaType, ".pdf": "application/pdf",
		"a.unknown": DefaultMediaType, "": DefaultMediaType, "dot.": DefaultMediaType,
	} {
		if got := MediaTypeByName(name); got != want {
			t.Errorf("MediaTypeByName(%q) = %q, want %q", name, got, want)
		}
	}
	for extension, mediaType := range mediaTypes {
		if got, ok := ParseMediaType(mediaType); got != mediaType || !ok {
			t.Errorf("ParseMediaType(%q) = %q, %v for %s, want it unchanged", mediaType, got, ok, extension)
		}
	}
}
