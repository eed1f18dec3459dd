package demo

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/adler32"
	"hash/crc32"
	"strings"
)

// The encoders in this file never compress. Their output must be the same bytes with every
// Go release, because the digests are part of the data.

// encodePDF returns a document of one page with the lines in Helvetica.
func encodePDF(lines []string) []byte {
	var page strings.Builder
	page.WriteString("BT /F1 10 Tf 50 790 Td 14 TL\n")
	for _, line := range lines {
		fmt.Fprintf(&page, "(%s) Tj T*\n", winAnsi(line))
	}
	page.WriteString("ET")
	objects := []string{
		"<< /Type /Catalog /Pages 2 0 R >>",
		"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
		"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
		fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream", page.Len(), page.String()),
		"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
	}
	var b bytes.Buffer
	b.WriteString("%PDF-1.4\n")
	offsets := make([]int, len(objects))
	for i, o := range objects {
		offsets[i] = b.Len()
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	start := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, o := range offsets {
		fmt.Fprintf(&b, "%010d 00000 n \n", o)
	}
	fmt.Fprintf(&b, "trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, start)
	return b.Bytes()
}

// winAnsi encodes text for a PDF string in the font's one-byte encoding.
func winAnsi(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\t':
			b.WriteString("    ")
		case r == '(' || r == ')' || r == '\\':
			b.WriteByte('\\')
			b.WriteByte(byte(r))
		case r == '–':
			b.WriteByte(0x96)
		case r >= 0x20 && r < 0x7f || r >= 0xa0 && r <= 0xff:
			b.WriteByte(byte(r))
		default:
			b.WriteByte('?')
		}
	}
	return b.String()
}

// encodePNG returns a picture of colour gradients that are derived from its name.
func encodePNG(name string, width, height int) []byte {
	d := newDice("picture " + name)
	base := [3]int{d.between(40, 180), d.between(40, 180), d.between(40, 180)}
	var pixels bytes.Buffer
	for y := range height {
		pixels.WriteByte(0) // no filter
		for x := range width {
			for c := range 3 {
				pixels.WriteByte(byte(base[c] + (x*(c+1)*24/width+y*(3-c)*24/height)%72))
			}
		}
	}
	header := binary.BigEndian.AppendUint32(nil, uint32(width))
	header = binary.BigEndian.AppendUint32(header, uint32(height))
	header = append(header, 8, 2, 0, 0, 0) // 8 bits, RGB
	out := []byte("\x89PNG\r\n\x1a\n")
	out = chunk(out, "IHDR", header)
	out = chunk(out, "IDAT", stored(pixels.Bytes()))
	return chunk(out, "IEND", nil)
}

func chunk(out []byte, kind string, data []byte) []byte {
	out = binary.BigEndian.AppendUint32(out, uint32(len(data)))
	body := append([]byte(kind), data...)
	out = append(out, body...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(body))
}

// stored returns a zlib stream (RFC 1950) of uncompressed blocks.
func stored(data []byte) []byte {
	const most = 65535
	sum := adler32.Checksum(data)
	out := []byte{0x78, 0x01}
	for first := true; first || len(data) > 0; first = false {
		n := min(len(data), most)
		final := byte(0)
		if n == len(data) {
			final = 1
		}
		out = append(out, final, byte(n), byte(n>>8), byte(^n), byte(^n>>8))
		out = append(out, data[:n]...)
		data = data[n:]
	}
	return binary.BigEndian.AppendUint32(out, sum)
}

// encodeWAV returns one second of a tone, 8 bits at 8 kHz. Its pitch is derived from the
// name.
func encodeWAV(name string) []byte {
	const rate = 8000
	period := newDice("pitch "+name).between(18, 36)
	out := []byte("RIFF")
	out = binary.LittleEndian.AppendUint32(out, 36+rate)
	out = append(out, "WAVEfmt "...)
	out = binary.LittleEndian.AppendUint32(out, 16)
	out = append(out, 1, 0, 1, 0)
	out = binary.LittleEndian.AppendUint32(out, rate)
	out = binary.LittleEndian.AppendUint32(out, rate)
	out = append(out, 1, 0, 8, 0)
	out = append(out, "data"...)
	out = binary.LittleEndian.AppendUint32(out, rate)
	for i := range rate {
		x := i % period * 2 // a triangle wave: integers only
		if x > period {
			x = 2*period - x
		}
		out = append(out, byte(64+x*128/period))
	}
	return out
}
