package evidence

import (
	"encoding/base64"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pdpp/internal/rawjson"
)

// octets returns n pseudo-random octets.
func octets(n int) []byte {
	b := make([]byte, n)
	r := rand.NewChaCha8([32]byte{1})
	_, _ = r.Read(b)
	return b
}

// filler returns n characters that repeat the alphabet.
func filler(alphabet string, n int) string {
	return strings.Repeat(alphabet, n/len(alphabet)+1)[:n]
}

// lines breaks s into lines of 76 characters.
func lines(s, end string) string {
	var sb strings.Builder
	for part := range slices.Chunk([]byte(s), 76) {
		sb.Write(part)
		sb.WriteString(end)
	}
	return sb.String()
}

func TestDetectBinaryText(t *testing.T) {
	const (
		alnum = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
		no    = int64(-2) // not binary
	)
	std := base64.StdEncoding.EncodeToString(octets(1000))
	url := base64.RawURLEncoding.EncodeToString(octets(1000))
	for name, tt := range map[string]struct {
		content string // the inside of the JSON string
		size    int64
	}{
		"standard":                {std, 1000},
		"padded twice":            {base64.StdEncoding.EncodeToString(octets(400)), 400},
		"url alphabet":            {url, 1000},
		"both alphabets":          {std + "-+" + std[:2], no},
		"255 characters":          {filler(alnum, 255), no},
		"256 characters":          {filler(alnum, 256), 192},
		"255 and a line break":    {filler(alnum, 255) + `\n`, 191},
		"length 1 modulo 4":       {filler(alnum, 257), no},
		"length 2 modulo 4":       {filler(alnum, 258), 193},
		"length 3 modulo 4":       {filler(alnum, 259), 194},
		"three pads":              {filler(alnum, 257) + "===", no},
		"pad in the middle":       {filler(alnum, 200) + "=" + filler(alnum, 200), no},
		"break before the pads":   {filler(alnum, 258) + `\r\n==\r\n`, 193},
		"lines":                   {lines(std, `\n`), 1000},
		"lines, CR LF":            {lines(std, `\r\n`), 1000},
		"lines, long escapes":     {lines(std, `\u000d\u000A`), 1000},
		"escaped slashes":         {strings.ReplaceAll(std, "/", `\/`), 1000},
		"escaped pluses and pads": {strings.NewReplacer("+", `\u002b`, "=", `\u003D`).Replace(std), 1000},
		"a space":                 {std + " ", no},
		"a tab":                   {std + `\t`, no},
		"an umlaut":               {std + "ü", no},
		"an escaped umlaut":       {std + `\u00fc`, no},
		"an emoji":                {std + `\ud83d\ude00`, no},
		"prose":                   {strings.Repeat("Paid by standing order. ", 40), no},
		"letters alone":           {filler(alnum[:52], 300), no},
		"without upper case":      {filler(alnum[26:], 300), no},
		"without lower case":      {filler(alnum[:26]+alnum[52:], 300), no},
		"hexadecimal":             {filler("0123456789abcdef", 512), no},
		"hexadecimal, both cases": {filler("0123456789abcdefABCDEF", 512), 384},
		"15 different":            {filler("ABCDEabcde01234", 300), no},
		"16 different":            {filler("ABCDEabcde012345", 300), 225},
		"starts like a scheme":    {"data" + filler(alnum, 252), 192},
		"empty":                   {"", no},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := DetectBinary([]byte(`"`+tt.content+`"`), false)
			if ok != (tt.size != no) {
				t.Fatalf("DetectBinary(%.300q) = %v, want %v", tt.content, ok, !ok)
			}
			want := Binary{Kind: KindBase64Text, SizeBytes: tt.size}
			if diff := cmp.Diff(want, got); ok && diff != "" {
				t.Errorf("DetectBinary(%.300q) (-want +got):\n%s", tt.content, diff)
			}
		})
	}
}

func TestDetectDataURI(t *testing.T) {
	std := base64.StdEncoding.EncodeToString(octets(1000))
	for name, tt := range map[string]struct {
		content string
		mime    string
		size    int64 // -2: not binary
	}{
		"image":              {"data:image/png;base64," + std, "image/png", 1000},
		"upper case":         {"DATA:Image/PNG;BASE64," + std, "image/png", 1000},
		"escaped":            {`\u0064ata:image\/png;base64,` + std, "image/png", 1000},
		"parameters":         {"data:text/plain;charset=utf-8;base64," + std, "text/plain", 1000},
		"no type":            {"data:;base64," + std, "", 1000},
		"broken base64":      {"data:a/b;base64," + std + "*" + std, "a/b", -1},
		"length 1 modulo 4":  {"data:a/b;base64," + strings.TrimRight(std, "=")[:1333], "a/b", -1},
		"line breaks":        {"data:a/b;base64," + lines(std, `\n`), "a/b", 1000},
		"letters alone":      {"data:a/b;base64," + strings.Repeat("A", 400), "a/b", 300},
		"percent encoding":   {"data:text/plain," + strings.Repeat("a%20", 100), "text/plain", 200},
		"drawing":            {`data:image/svg+xml;utf8,<svg viewBox=\"0 0 9 9\">` + strings.Repeat("é", 300), "image/svg+xml", 623},
		"255 characters":     {"data:a/b," + strings.Repeat("x", 255-9), "", -2},
		"256 characters":     {"data:a/b," + strings.Repeat("x", 256-9), "a/b", 247},
		"255, more bytes":    {"data:a/b," + strings.Repeat("é", 255-9), "", -2},
		"prose":              {"data: " + strings.Repeat("we have it, and it is good. ", 20), "", -2},
		"prose without gap":  {"data:yes, " + strings.Repeat("we have it, and it is good. ", 20), "", -2},
		"comma far away":     {"data:a/b;x=" + strings.Repeat("y", 300) + "," + std, "", -2},
		"no comma":           {"data:a/b;x=" + strings.Repeat("y", 200), "", -2},
		"control in scheme":  {`data\u001aa/b,` + std, "", -2},
		"not at the start":   {" data:image/png;base64," + std, "", -2},
		"type with a letter": {"data:imäge/png;base64," + std, "", -2},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := DetectBinary([]byte(`"`+tt.content+`"`), false)
			if ok != (tt.size != -2) {
				t.Fatalf("DetectBinary(%.300q) = %v, want %v", tt.content, ok, !ok)
			}
			want := Binary{Kind: KindBase64Text, MimeType: tt.mime, SizeBytes: tt.size}
			if diff := cmp.Diff(want, got); ok && diff != "" {
				t.Errorf("DetectBinary(%.300q) (-want +got):\n%s", tt.content, diff)
			}
		})
	}
}

func TestDetectBinaryStringStopsEarly(t *testing.T) {
	read := 0
	chunks := func(yield func([]byte) bool) {
		for range 100 {
			read++
			if !yield([]byte("Paid by standing order. ")) {
				return
			}
		}
	}
	if _, ok := DetectBinaryString(chunks); ok || read != 1 {
		t.Errorf("DetectBinaryString(prose) = %v after %d chunks, want false after 1", ok, read)
	}
}

// pieces splits the content of a JSON string at random character boundaries.
func pieces(t *rapid.T, content []byte) [][]byte {
	var out [][]byte
	for len(content) > 0 {
		piece := rawjson.Prefix(content, rapid.IntRange(1, 300).Draw(t, "piece"))
		out = append(out, piece)
		content = content[len(piece):]
	}
	return out
}

func TestDetectBinaryInPieces(t *testing.T) {
	std := base64.StdEncoding.EncodeToString(octets(500))
	part := rapid.SampledFrom([]string{
		"data:", "data:a/b;base64,", "da", std, std[:77], `\n`, `\u002b`, `\/`, "=",
		"==", "-", ",", "é", `\ud83d\ude00`, "Aa0", "%41",
	})
	rapid.Check(t, func(t *rapid.T) {
		content := []byte(strings.Join(rapid.SliceOfN(part, 0, 8).Draw(t, "parts"), ""))
		whole, isBinary := DetectBinary(slices.Concat([]byte{'"'}, content, []byte{'"'}), false)
		inPieces, ok := DetectBinaryString(slices.Values(pieces(t, content)))
		if ok != isBinary || whole != inPieces && ok {
			t.Fatalf("%q is %v %+v, in pieces %v %+v", content, isBinary, whole, ok, inPieces)
		}
	})
}

// Enough octets are detected in any encoding, with their number.
func TestDetectEncoded(t *testing.T) {
	encodings := []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(192, 2000).Draw(t, "octets")
		text := rapid.SampledFrom(encodings).Draw(t, "encoding").EncodeToString(octets(n))
		b, ok := DetectBinary([]byte(`"`+lines(text, rapid.SampledFrom([]string{"", `\n`}).Draw(t, "end"))+`"`), false)
		if !ok || b.SizeBytes != int64(n) {
			t.Fatalf("%d octets as %.80q… are %v %+v", n, text, ok, b)
		}
	})
}
